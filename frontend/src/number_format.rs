//! Number formats in addition to `shared::report::format`: plurals, sizes and durations.

pub(crate) use shared::report::format::{
    abbreviate_millions, format_count, format_two_digit_fraction, spell_out_iso_date,
};

/// Formats the bounds of a fraction, as in `[.92, .94]`.
pub(crate) fn format_fraction_interval(low: f64, high: f64) -> String {
    shared::report::format::format_interval([low, high])
}

/// Formats a count with the singular or plural of its noun, as in `1 instance` and `2 instances`.
pub(crate) fn format_count_with_noun(value: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        format_count(value),
        if value == 1 { one } else { many }
    )
}

/// Formats a duration, as in `3 s`, `1:12` and `2:05:00`.
pub(crate) fn format_duration(seconds: f64) -> String {
    shared::report::format::format_duration_seconds(seconds.max(0.0).round() as u64)
}

/// Formats how long something took, as in `less than 0.1 s`, `3.7 s` and `1:12`.
pub(crate) fn format_elapsed_time(seconds: f64) -> String {
    match seconds {
        ..0.1 => "less than 0.1 s".to_owned(),
        0.1..10.0 => format!("{seconds:.1} s"),
        _ => format_duration(seconds),
    }
}

/// Formats a size, as in `812 kB` and `42 MB`.
pub(crate) fn format_byte_size(value: f64) -> String {
    match value {
        ..1e3 => format!("{value:.0} B"),
        ..1e6 => format!("{:.0} kB", value / 1e3),
        ..1e9 => format!("{:.0} MB", value / 1e6),
        _ => format!("{:.1} GB", value / 1e9),
    }
}

/// Returns the step of the diverging scale for a fraction, from −5 to 5.
pub(crate) fn fraction_to_color_step(fraction: f64) -> i32 {
    shared::plot::diverging_color_step_of_fraction(fraction).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_read_as_people_write_them() {
        let times = [0.01, 3.72, 72.0, 7500.0].map(format_elapsed_time);
        assert_eq!(times, ["less than 0.1 s", "3.7 s", "1:12", "2:05:00"]);
        assert_eq!([812e3, 42e6].map(format_byte_size), ["812 kB", "42 MB"]);
        assert_eq!(format_count_with_noun(1, "pair", "pairs"), "1 pair");
    }
}

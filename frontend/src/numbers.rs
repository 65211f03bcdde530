//! Numbers as readers see them (design rules: digits, signs, separators).

/// A fraction: `.93`, `1.00` only if it is 1, `>.99` and `<.01` otherwise.
pub(crate) fn fraction(value: f64) -> String {
    if value >= 1.0 {
        return "1.00".to_owned();
    }
    if value <= 0.0 {
        return ".00".to_owned();
    }
    let hundredths = (value * 100.0).round();
    if hundredths >= 100.0 {
        return ">.99".to_owned();
    }
    if hundredths < 1.0 {
        return "<.01".to_owned();
    }
    format!(".{hundredths:02.0}")
}

/// The bounds of a fraction: `[.92, .94]`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("[{}, {}]", fraction(low), fraction(high))
}

/// A difference or an effect with its sign: `+.12`, `−.03`.
pub(crate) fn signed(value: f64) -> String {
    let hundredths = (value.abs() * 100.0).round();
    let sign = if hundredths == 0.0 {
        ""
    } else if value < 0.0 {
        "−"
    } else {
        "+"
    };
    if hundredths >= 100.0 {
        return format!("{sign}{:.2}", hundredths / 100.0);
    }
    format!("{sign}.{hundredths:02.0}")
}

/// A number with a fixed count of digits and a true minus: `−0.17`.
pub(crate) fn decimal(value: f64, digits: usize) -> String {
    format!("{value:.digits$}").replace('-', "−")
}

/// A count in full: `14,057`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count on a card: `14,057`, `25.5 M`.
pub(crate) fn short_count(value: u64) -> String {
    if value < 1_000_000 {
        return count(value);
    }
    format!("{:.1} M", value as f64 / 1e6)
}

/// `1 instance`, `2 instances`.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A p value: `< .001` or two digits that count.
pub(crate) fn p_value(value: f64) -> String {
    if value < 0.001 {
        return "< .001".to_owned();
    }
    let text = if value < 0.1 {
        format!("{value:.3}")
    } else {
        format!("{value:.2}")
    };
    text.trim_start_matches('0').to_owned()
}

/// A duration: `3 s`, `1:12`, `2:05:00`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ),
    }
}

/// How long something took: `less than 0.1 s`, `3.7 s`, `1:12`.
pub(crate) fn took(seconds: f64) -> String {
    match seconds {
        ..0.1 => "less than 0.1 s".to_owned(),
        0.1..10.0 => format!("{seconds:.1} s"),
        _ => duration(seconds),
    }
}

/// A size: `812 kB`, `42 MB`.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        ..1e3 => format!("{value:.0} B"),
        ..1e6 => format!("{:.0} kB", value / 1e3),
        ..1e9 => format!("{:.0} MB", value / 1e6),
        _ => format!("{:.1} GB", value / 1e9),
    }
}

/// A day: `2026-11-14` to `14 November 2026`; anything else as it is.
pub(crate) fn day(date: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut parts = date.get(..10).unwrap_or(date).split('-');
    let part = |it: Option<&str>| it.and_then(|it| it.parse::<usize>().ok());
    match (part(parts.next()), part(parts.next()), part(parts.next())) {
        (Some(year), Some(month @ 1..=12), Some(day)) => {
            format!("{day} {} {year}", MONTHS[month - 1])
        }
        _ => date.to_owned(),
    }
}

/// The first characters of a hash: `3f9a c21e`.
pub(crate) fn hash(hex: &str) -> String {
    match (hex.get(..4), hex.get(4..8)) {
        (Some(a), Some(b)) => format!("{a} {b}"),
        _ => hex.to_owned(),
    }
}

/// Step of the diverging scale, −5 to 5, for a fraction.
pub(crate) fn step(fraction: f64) -> i32 {
    (10.0 * (fraction - 0.5)).round().clamp(-5.0, 5.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_one_only_when_all_are() {
        let shown = [1.0, 0.9999, 0.93, 0.5, 0.004, 0.0].map(fraction);
        assert_eq!(shown, ["1.00", ">.99", ".93", ".50", "<.01", ".00"]);
    }

    #[test]
    fn a_difference_carries_a_true_minus() {
        assert_eq!(
            [0.12, -0.03, 0.0, -1.0].map(signed),
            ["+.12", "−.03", ".00", "−1.00"]
        );
    }

    #[test]
    fn counts_are_grouped_by_three() {
        assert_eq!(
            [7, 999, 14_057, 1_234_567].map(count),
            ["7", "999", "14,057", "1,234,567"]
        );
        assert_eq!(short_count(25_500_000), "25.5 M");
    }

    #[test]
    fn durations_and_days_read_as_people_write_them() {
        assert_eq!(
            [3.2, 72.0, 7500.0].map(duration),
            ["3 s", "1:12", "2:05:00"]
        );
        assert_eq!(day("2026-11-14"), "14 November 2026");
    }

    #[test]
    fn small_p_values_are_a_bound() {
        assert_eq!(
            [0.0002, 0.012, 0.43].map(p_value),
            ["< .001", ".012", ".43"]
        );
    }

    #[test]
    fn chance_is_the_middle_of_the_scale() {
        assert_eq!([0.0, 0.44, 0.5, 0.93, 1.0].map(step), [-5, -1, 0, 4, 5]);
    }
}

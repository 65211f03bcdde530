//! Numbers formatted for readers.
//!
//! Fractions and estimates have two digits after the point, so that the numbers of a column can be
//! compared. A minus is a true minus sign, and a missing value is an en dash.

use crate::stats::EstimateWithInterval;

/// The placeholder of a missing value, an en dash.
pub const MISSING: &str = "–";

const MINUS: &str = "−";

/// Formats a fraction with two digits: `.93`. `1.00` and `.00` mean exactly all and none; values
/// that would round to them are `>.99` and `<.01`.
pub fn format_two_digit_fraction(value: f64) -> String {
    share(value)
}

/// Formats the bounds of a fraction: `[.92, .94]`; of any other number: `[−.30, 1.70]`.
pub fn format_interval(bounds: [f64; 2]) -> String {
    let [low, high] = bounds.map(|it| within(it, bounds));
    format!("[{low}, {high}]")
}

/// Formats a fraction with its bounds: `.93 [.92, .94]`; any other number: `1.30 [1.00, 1.70]`.
pub fn format_estimate(estimate: &EstimateWithInterval) -> String {
    let bounds = estimate.interval;
    format!(
        "{} {}",
        within(estimate.value, bounds),
        format_interval(bounds)
    )
}

/// Formats an effect or a difference: `+.12`, `−.03`; zero has no sign.
pub fn format_signed_fraction(value: f64) -> String {
    format_signed_fraction_with_digits(value, 2)
}

/// Formats the bounds of an effect or a difference: `[−.03, +.20]`.
pub fn format_signed_interval(bounds: [f64; 2]) -> String {
    format_signed_interval_with_digits(bounds, 2)
}

/// Formats the bounds of an effect or a difference with `digits` decimals: `[+.001, +.008]`.
pub fn format_signed_interval_with_digits(bounds: [f64; 2], digits: u8) -> String {
    let [low, high] = bounds.map(|it| format_signed_fraction_with_digits(it, digits));
    format!("[{low}, {high}]")
}

/// Formats an effect or a difference with its bounds: `+.12 [−.03, +.20]`. If all three are small,
/// they have a third or a fourth digit: `+.004 [+.001, +.008]`.
pub fn format_signed_estimate(estimate: &EstimateWithInterval) -> String {
    let digits = decimals_of_signed_estimate(estimate);
    format!(
        "{} {}",
        format_signed_fraction_with_digits(estimate.value, digits),
        format_signed_interval_with_digits(estimate.interval, digits)
    )
}

/// Returns the number of decimals for an effect or a difference and its bounds: 2, or up to 4 if
/// all three are small.
pub fn decimals_of_signed_estimate(estimate: &EstimateWithInterval) -> u8 {
    let [low, high] = estimate.interval;
    let largest = [low, estimate.value, high].map(f64::abs);
    match largest.into_iter().fold(0.0, f64::max) {
        0.0 | 0.05.. => 2,
        0.005.. => 3,
        _ => 4,
    }
}

/// Formats an effect or a difference with `digits` decimals: `+.0013`; zero has no sign.
pub fn format_signed_fraction_with_digits(value: f64, digits: u8) -> String {
    let sign = match value {
        0.0 => "",
        ..0.0 => MINUS,
        _ => "+",
    };
    format!("{sign}{}", share_with_digits(value.abs(), digits.into()))
}

/// Formats a score or a margin with `digits` decimals: `22.40`, `−0.17`.
pub fn format_score(value: f64, digits: u8) -> String {
    let digits = usize::from(digits);
    let sign = if value < 0.0 { MINUS } else { "" };
    format!("{sign}{:.digits$}", value.abs())
}

/// Returns the number of decimals for scores whose highest and lowest differ by `spread`: four
/// significant digits, so 2 for BM25 (tens), 4 for a cosine (tenths), and at most 6.
pub fn score_decimals_for_spread(spread: f64) -> u8 {
    if !spread.is_finite() || spread <= 0.0 {
        return 2;
    }
    (3.0 - libm::floor(libm::log10(spread))).clamp(0.0, 6.0) as u8
}

/// Formats a count in full: `14,057`.
pub fn format_count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count where space is limited: `14,057`, `25.5 M`.
pub fn abbreviate_millions(value: u64) -> String {
    if value < 1_000_000 {
        return format_count(value);
    }
    let tenths = value.saturating_add(50_000) / 100_000;
    format!("{}.{} M", format_count(tenths / 10), tenths % 10)
}

/// Formats a p-value: `< .001`, or two significant digits: `.0042`, `.034`, `.43`.
pub fn format_p_value(value: f64) -> String {
    let digits = match value {
        ..0.001 => return "< .001".to_owned(),
        ..0.01 => 4,
        ..0.1 => 3,
        _ => 2,
    };
    share_with_digits(value, digits)
}

/// Formats a p-value with its name: `p < .001`, `p = .034`.
pub fn format_named_p_value(value: f64) -> String {
    let p = format_p_value(value);
    let equals = if p.starts_with(['<', '>']) { "" } else { "= " };
    format!("p {equals}{p}")
}

/// Returns a number that was formatted here with no-break spaces, so that a sentence of a page does
/// not break in it. Files have plain spaces.
pub fn keep_on_one_line(number: &str) -> String {
    number.replace(' ', "\u{a0}")
}

/// Formats a difference of which only the order of magnitude matters: `4.8e-7`, or `0`.
pub fn format_in_scientific_notation(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    format!("{value:.1e}")
}

/// Formats a share, a share of work or a confidence level in whole per cent: `42 %`. `0 %` and
/// `100 %` mean exactly none and all.
pub fn format_percent(value: f64) -> String {
    let percent = libm::round(value.clamp(0.0, 1.0) * 100.0);
    let percent = match value > 0.0 && value < 1.0 {
        true => percent.clamp(1.0, 99.0),
        false => percent,
    };
    format!("{percent:.0} %")
}

/// Formats a duration: `3 s`, `1:12`, `2:05:00`.
pub fn format_duration_seconds(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes}:{rest:02}"),
        3600.. => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Formats a date: `2026-11-14` as `14 November 2026`; any other text is unchanged.
pub fn spell_out_iso_date(iso: &str) -> String {
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
    let numbers: Vec<Option<usize>> = iso.split('-').map(|it| it.parse().ok()).collect();
    match numbers[..] {
        [Some(year), Some(month @ 1..=12), Some(day @ 1..=31)] => {
            format!("{day} {} {year}", MONTHS[month - 1])
        }
        _ => iso.to_owned(),
    }
}

/// Returns the beginning of a hash, enough to compare two by eye: `3f9a c21e`.
pub fn shorten_hash(hex: &str) -> String {
    match (hex.get(..4), hex.get(4..8)) {
        (Some(first), Some(second)) => format!("{first} {second}"),
        _ => hex.to_owned(),
    }
}

/// Formats a number; as a fraction if its bounds are fractions.
fn within(value: f64, bounds: [f64; 2]) -> String {
    match bounds.iter().all(|it| (0.0..=1.0).contains(it)) {
        true => share(value),
        false => rounded(value, 2),
    }
}

/// Joins names for a sentence: `TFC1, TP and LNC1`.
pub fn join_with_and(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

fn share(value: f64) -> String {
    share_with_digits(value, 2)
}

fn share_with_digits(value: f64, digits: usize) -> String {
    let shown = rounded(value, digits);
    let is_zero = shown.bytes().all(|it| matches!(it, b'0' | b'.'));
    match value > 0.0 && value < 1.0 {
        true if is_zero => format!("<.{}1", "0".repeat(digits - 1)),
        true if shown.starts_with('1') => format!(">.{}", "9".repeat(digits)),
        _ => shown,
    }
}

/// Formats without a zero before the decimal point, and without a sign if only zeros remain.
fn rounded(value: f64, digits: usize) -> String {
    let exact = format!("{:.digits$}", value.abs());
    let is_zero = exact.bytes().all(|it| matches!(it, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { MINUS } else { "" };
    format!("{sign}{}", exact.strip_prefix('0').unwrap_or(&exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_in_a_column_have_two_decimals() {
        let shown = [[0.5, 0.8], [-0.304, 1.7]].map(format_interval);
        assert_eq!(shown, ["[.50, .80]", "[−.30, 1.70]"]);
    }

    #[test]
    fn a_number_that_is_no_fraction_is_rounded_as_any() {
        let shown = |value, interval| format_estimate(&EstimateWithInterval { value, interval });
        assert_eq!(shown(0.96, [0.7, 1.3]), ".96 [.70, 1.30]");
        assert_eq!(shown(0.04, [-0.3, 0.3]), ".04 [−.30, .30]");
        assert_eq!(shown(-0.04, [-0.8, -0.02]), "−.04 [−.80, −.02]");
        assert_eq!(shown(0.96, [0.7, 0.98]), ".96 [.70, .98]");
        assert_eq!(shown(12.34, [11.96, 12.5]), "12.34 [11.96, 12.50]");
    }

    #[test]
    fn a_fraction_is_one_only_when_all_are_and_zero_only_when_none() {
        let shown = [
            1.0, 0.9999, 0.9951, 0.9949, 0.93, 0.5, 0.005001, 0.004, 0.0, -0.0,
        ];
        assert_eq!(
            shown.map(format_two_digit_fraction),
            [
                "1.00", ">.99", ">.99", ".99", ".93", ".50", ".01", "<.01", ".00", ".00"
            ]
        );
    }

    #[test]
    fn an_estimate_has_two_digits_whatever_its_interval() {
        let shown = |value, interval| format_estimate(&EstimateWithInterval { value, interval });
        assert_eq!(shown(0.931, [0.926, 0.937]), ".93 [.93, .94]");
        assert_eq!(shown(0.8, [0.7, 0.9]), ".80 [.70, .90]");
        assert_eq!(shown(0.66, [0.5, 0.71]), ".66 [.50, .71]");
        assert_eq!(shown(0.97, [0.62, 1.0]), ".97 [.62, 1.00]");
        assert_eq!(shown(0.002, [0.0, 0.4]), "<.01 [.00, .40]");
        assert_eq!(shown(1.0, [1.0, 1.0]), "1.00 [1.00, 1.00]");
    }

    #[test]
    fn a_difference_carries_a_true_minus() {
        let shown = [0.12, -0.03, 0.0, -0.0, -1.0, 0.001, -1.24].map(format_signed_fraction);
        assert_eq!(
            shown,
            ["+.12", "−.03", ".00", ".00", "−1.00", "+<.01", "−1.24"]
        );
    }

    #[test]
    fn small_differences_have_more_digits() {
        let shown =
            |value, interval| format_signed_estimate(&EstimateWithInterval { value, interval });
        assert_eq!(shown(0.12, [-0.031, 0.2]), "+.12 [−.03, +.20]");
        assert_eq!(shown(0.0042, [0.0003, 0.0079]), "+.004 [+<.001, +.008]");
        assert_eq!(shown(-0.0021, [-0.0042, 0.0]), "−.0021 [−.0042, .0000]");
        assert_eq!(shown(0.0, [0.0, 0.0]), ".00 [.00, .00]");
        assert_eq!(shown(0.0, [-1.0, 1.0]), ".00 [−1.00, +1.00]");
        assert_eq!(format_signed_interval([-0.03, 0.001]), "[−.03, +<.01]");
        assert_eq!(
            format_signed_interval_with_digits([0.0006, 0.0022], 4),
            "[+.0006, +.0022]"
        );
    }

    #[test]
    fn what_rounds_to_zero_from_below_has_no_sign() {
        assert_eq!(
            [-0.004, -0.006].map(format_two_digit_fraction),
            [".00", "−.01"]
        );
        assert_eq!(format_interval([-0.004, 0.03]), "[.00, .03]");
        assert_eq!(format_interval([-0.04, 0.3]), "[−.04, .30]");
    }

    #[test]
    fn scores_keep_their_zero() {
        assert_eq!(format_score(22.4, 2), "22.40");
        assert_eq!(format_score(-0.17, 2), "−0.17");
        assert_eq!(format_score(-0.0, 2), "0.00");
        assert_eq!(format_score(0.87794611, 4), "0.8779");
        assert_eq!(
            [24.0, 8.5, 0.4, 107_906.0, 1e-9, 0.0].map(score_decimals_for_spread),
            [2, 3, 4, 0, 6, 2]
        );
    }

    #[test]
    fn counts_are_grouped_by_three() {
        let shown = [0, 7, 999, 14_057, 1_234_567].map(format_count);
        assert_eq!(shown, ["0", "7", "999", "14,057", "1,234,567"]);
        let short =
            [14_057, 999_999, 25_460_000, 1_960_000, 4_200_000_000].map(abbreviate_millions);
        assert_eq!(short, ["14,057", "999,999", "25.5 M", "2.0 M", "4,200.0 M"]);
    }

    #[test]
    fn p_has_two_digits_that_count() {
        let shown = [0.0002, 0.001, 0.0042, 0.034, 0.43, 0.999, 1.0].map(format_p_value);
        assert_eq!(
            shown,
            ["< .001", ".0010", ".0042", ".034", ".43", ">.99", "1.00"]
        );
        let named = [0.0002, 0.034, 0.999].map(format_named_p_value);
        assert_eq!(named, ["p < .001", "p = .034", "p >.99"]);
    }

    #[test]
    fn times_and_days_are_written_as_people_write_them() {
        assert_eq!(
            [3, 72, 7500].map(format_duration_seconds),
            ["3 s", "1:12", "2:05:00"]
        );
        assert_eq!(
            [0.0, 0.001, 0.3955, 0.999, 1.0].map(format_percent),
            ["0 %", "1 %", "40 %", "99 %", "100 %"]
        );
        assert_eq!(spell_out_iso_date("2026-11-14"), "14 November 2026");
        assert_eq!(
            ["2026-13-14", "yesterday", ""].map(spell_out_iso_date),
            ["2026-13-14", "yesterday", ""]
        );
        assert_eq!(
            [
                shorten_hash("3f9ac21e77"),
                shorten_hash("ab"),
                shorten_hash("")
            ],
            ["3f9a c21e", "ab", ""]
        );
    }
}

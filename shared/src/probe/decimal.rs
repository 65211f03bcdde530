//! Decimal numbers in the names of probes, as integers of their last place: exact, and a program
//! that only reads names needs no tables of powers for them.

/// Parses digits with an optional decimal point, such as `2`, `0.25` or `.5`. Returns the number in
/// units of 10^−`n_places`, or `None` if the text is anything else, has more decimal places that
/// are not zero, or does not fit 32 bits.
pub(super) fn parse_decimal(text: &str, n_places: usize) -> Option<u32> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let places = places.trim_end_matches('0');
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let has_digits = text.bytes().any(|it| it.is_ascii_digit());
    if !has_digits || !is_number(whole) || !is_number(places) || places.len() > n_places {
        return None;
    }
    format!("0{whole}{places:0<n_places$}").parse().ok()
}

/// Formats a number that is given in units of 10^−`n_places`, without trailing zeros, so that
/// [`parse_decimal`] returns the same integer for it.
pub(super) fn format_decimal(value: u32, n_places: usize) -> String {
    let digits = format!("{value:0>width$}", width = n_places + 1);
    let (whole, places) = digits.split_at(digits.len() - n_places);
    let number = format!("{whole}.{places}");
    number
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly() {
        let read = [
            ("2", 200),
            ("0.25", 25),
            (".5", 50),
            ("7.", 700),
            ("1.100", 110),
            ("00.07", 7),
            ("42949672.95", u32::MAX),
        ];
        for (text, value) in read {
            assert_eq!(parse_decimal(text, 2), Some(value), "{text}");
        }
        let refused = [
            "",
            ".",
            "1.001",
            "1e2",
            "+1",
            "-1",
            "1.2.3",
            "42949672.96",
            "inf",
            "1 ",
        ];
        for text in refused {
            assert_eq!(parse_decimal(text, 2), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_written_as_floating_point_numbers_are() {
        for value in (0..20_000).chain([u32::MAX]) {
            let written = format_decimal(value, 3);
            assert_eq!(written, format!("{}", f64::from(value) / 1000.0));
            assert_eq!(parse_decimal(&written, 3), Some(value));
        }
    }
}

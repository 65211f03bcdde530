//! The fields of a form that decide which axioms apply: length tolerance, minimum number of
//! query-term occurrences, and further axioms.

use shared::error::Error;
use shared::probe::{MiningThresholds, Probe};

use super::form::parse_integer_at_least;

/// The label of the length tolerance δ.
pub(crate) const LENGTH_TOLERANCE_LABEL: &str = "Length tolerance δ (terms, or inf)";

/// The label of the minimum number of query-term occurrences.
pub(crate) const MIN_QUERY_TERMS_LABEL: &str = "Minimum query-term occurrences";

/// The label of the list of further axioms.
pub(crate) const FURTHER_AXIOMS_LABEL: &str =
    "Further axioms and axiom formulas, for example: prox1, tfc1 & tp";

/// The length tolerance that stands for no limit.
const NO_LIMIT: &str = "inf";

/// Returns the default length tolerance, that of [`MiningThresholds::STANDARD`].
pub(crate) fn default_length_tolerance() -> String {
    let terms = MiningThresholds::STANDARD.length_tolerance_terms;
    terms.map_or(NO_LIMIT.to_owned(), |it| it.to_string())
}

/// Parses a length tolerance in terms; `inf` means no limit.
pub(crate) fn parse_length_tolerance(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        NO_LIMIT => Ok(None),
        text => parse_integer_at_least(text, 0, ", or inf for no limit").map(Some),
    }
}

/// Parses a list of further axioms and formulas, and leaves out those that are already selected.
pub(crate) fn parse_axioms_except_selected(
    list: &str,
    selected: &[Probe],
) -> Result<Vec<Probe>, String> {
    let list = list.trim();
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Probe::parse_list(list, true).map_err(Error::message_without_field)?;
    found.retain(|it| !selected.contains(it));
    Ok(found)
}

//! Explains in sentences why documents are an instance, and the verdict of a ranker.

use shared::probe::{Axiom, PreconditionQuantity, Probe, ScoreClaimKind};
use shared::report::{format, precondition};
use shared::study::instance_details::{InstanceDetails, RankerInstanceVerdict};
use shared::verdict::VerdictOutcome;

use crate::widgets::term_contributions::{claim_margin, format_signed_score};
use crate::widgets::verdict::effect_label_of_outcome;

/// Returns the sentence that states how the documents differ and what follows from it.
pub(super) fn difference_and_expectation_sentence(shown: &InstanceDetails) -> String {
    match shown.probe.is_axiom() {
        true => format!(
            "{}, so {}.",
            difference_clause(shown),
            expectation_clause(shown)
        ),
        false => format!(
            "{}. {}.",
            difference_clause(shown),
            expectation_clause(shown)
        ),
    }
}

/// Returns the clause that states the expected preference of an instance: what its axiom demands,
/// or which outcome of a behavioral test counts as positive.
pub(super) fn expectation_clause(shown: &InstanceDetails) -> String {
    match shown.probe {
        Probe::Manipulation(_) => {
            return "Positive: the ranker prefers the edited document".to_owned();
        }
        Probe::Transfer(it) if it.is_symmetric => {
            return "Positive: the two scores differ".to_owned();
        }
        Probe::Transfer(_) | Probe::MeasureAndMatch(_) => {
            return "Positive: the ranker prefers document 1".to_owned();
        }
        _ => {}
    }
    let name = shown.probe.name();
    let says = match shown.claim.kind() {
        ScoreClaimKind::Higher => "document 1 should score higher",
        ScoreClaimKind::NotLower => "document 1 should not score lower",
        ScoreClaimKind::Different => "the two scores should differ",
        ScoreClaimKind::DiminishingGain => "the second step should gain less than the first",
    };
    format!("{name} predicts that {says}")
}

/// Returns the clause that states how the documents differ.
fn difference_clause(shown: &InstanceDetails) -> String {
    match shown.probe {
        Probe::Axiom(Axiom::Tfc1) => match extra_terms_text(shown, 0, 1) {
            Some(more) => format!("Document 1 contains {more}{}", length_clause(shown)),
            None => format!(
                "Document 1 contains more query-term occurrences{}",
                length_clause(shown)
            ),
        },
        Probe::Axiom(Axiom::Tfc2) => {
            match (extra_terms_text(shown, 1, 0), extra_terms_text(shown, 2, 1)) {
                (Some(first), Some(second)) if first == second => {
                    format!(
                        "Document 2 contains {first} than document 1, and document 3 contains \
                         {first} than document 2"
                    )
                }
                _ => "Each step adds the same number of query-term occurrences".to_owned(),
            }
        }
        Probe::Axiom(Axiom::Mtdc) => {
            match (extra_terms_text(shown, 0, 1), extra_terms_text(shown, 1, 0)) {
                (Some(first), Some(second)) => format!(
                    "Document 1 contains {first}, document 2 contains {second}, and the terms \
                     of document 1 are rarer"
                ),
                _ => "Document 1 contains the rarer query terms".to_owned(),
            }
        }
        Probe::Axiom(Axiom::Lnc1) => {
            let same = has_equal_counts(shown);
            let terms = if same {
                "Both documents contain each query term equally often"
            } else {
                "The documents differ in their query-term counts"
            };
            match length_difference(shown) {
                gap if gap > 0 => format!("{terms}, and document 2 is {} longer", terms_text(gap)),
                _ => format!("{terms}, and document 2 repeats one other word"),
            }
        }
        Probe::Axiom(Axiom::Lnc2) => match times(shown) {
            Some(times) => format!(
                "Document 1 is document 2 repeated {} times",
                format::format_count(times)
            ),
            None => "Document 1 repeats document 2".to_owned(),
        },
        Probe::Axiom(Axiom::Tp) => match distances(shown) {
            Some((first, second)) => format!(
                "The two closest query terms are {} apart in document 1 and {} apart in \
                 document 2",
                terms_text(first),
                format::format_count(second.unsigned_abs())
            ),
            None => "Two query terms are closer together in document 1".to_owned(),
        },
        Probe::Axiom(Axiom::Stmc1) => similarity_clause(
            shown,
            "The other words of document 1 are semantically closer to the query than those of \
             document 2",
            "The other words of document 1 are semantically farther from the query than those \
             of document 2",
        ),
        Probe::Axiom(Axiom::Stmc2) => {
            "Document 1 contains more query-term occurrences than document 2, and the other words \
             of both have about the same meaning"
                .to_owned()
        }
        Probe::Axiom(Axiom::Stmc3) => similarity_clause(
            shown,
            "Document 2 repeats query terms more often, but the other words of document 1 are \
             semantically closer to the query",
            "The other words of document 1 are semantically farther from the query than those \
             of document 2",
        ),
        Probe::Manipulation(it) => {
            let about = it.probe_description().statement.trim_end_matches('.');
            format!(
                "Document 1 is an edited copy of document 2: {}",
                decapitalize(about)
            )
        }
        Probe::Transfer(it) => format!(
            "Documents 1 and 2 are a pair from the transfer set {}",
            it.name.as_str()
        ),
        Probe::MeasureAndMatch(it) => format!(
            "Both documents have the same {}, and document 1 has the larger {}",
            it.control.slug(),
            it.variable.slug()
        ),
        Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_)) => match shown.preconditions.last() {
            Some(last) => format!(
                "The axiom prefers document 1 to document 2 ({}: {})",
                precondition::precondition_label(
                    last.quantity,
                    last.relation,
                    precondition::EVERY_QUERY_TERM,
                ),
                last.value.map_or(format::MISSING.to_owned(), |it| {
                    precondition::format_precondition_value(last.quantity, it)
                })
            ),
            None => "The axiom prefers document 1 to document 2".to_owned(),
        },
    }
}

/// Converts the first letter to lower case, for use after a colon.
fn decapitalize(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Returns `first` or `second`: the name of the document that is more similar to the query,
/// according to the precondition about similarity.
fn similarity_clause(shown: &InstanceDetails, first: &str, second: &str) -> String {
    let lead = shown.preconditions.iter().find_map(|it| match it.quantity {
        PreconditionQuantity::SimilarityLead { near, .. } => Some(near),
        _ => None,
    });
    if lead == Some(2) { second } else { first }.to_owned()
}

/// Lists the query terms that one document contains more often than another, as in `“ice” one more
/// time`.
fn extra_terms_text(shown: &InstanceDetails, one: usize, other: usize) -> Option<String> {
    let (one, other) = (shown.docs.get(one)?, shown.docs.get(other)?);
    let counts = one
        .term_counts
        .iter()
        .zip(&other.term_counts)
        .zip(&shown.terms);
    let leads = counts.filter(|((one, other), _)| one > other);
    let said = leads
        .map(|((one, other), term)| format!("“{}” {}", term.surface_form, times_text(one - other)));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format::join_with_and(&said))
}

fn times_text(times: u32) -> String {
    match times {
        1 => "one more time".to_owned(),
        2 => "two more times".to_owned(),
        _ => format!("{} more times", format::format_count(u64::from(times))),
    }
}

/// Returns the clause about the difference in length of the first two documents, as it follows
/// their contents.
fn length_clause(shown: &InstanceDetails) -> String {
    match length_difference(shown) {
        0 => " and is equally long".to_owned(),
        gap if gap < 0 => format!(" and is {} longer", terms_text(gap)),
        gap => format!(" and is {} shorter", terms_text(gap)),
    }
}

/// Returns the length of document 2 minus that of document 1, in terms.
fn length_difference(shown: &InstanceDetails) -> i64 {
    let length = |text: usize| shown.docs.get(text).map_or(0, |it| i64::from(it.n_terms));
    length(1) - length(0)
}

fn terms_text(n: i64) -> String {
    crate::number_format::format_count_with_noun(n.unsigned_abs(), "term", "terms")
}

fn has_equal_counts(shown: &InstanceDetails) -> bool {
    shown
        .docs
        .windows(2)
        .all(|it| it[0].term_counts == it[1].term_counts)
}

fn times(shown: &InstanceDetails) -> Option<u64> {
    let length = |text: usize| shown.docs.get(text).map(|it| u64::from(it.n_terms));
    let (repeated, once) = (length(0)?, length(1)?);
    (once > 0 && repeated % once == 0).then(|| repeated / once)
}

fn distances(shown: &InstanceDetails) -> Option<(i64, i64)> {
    let distance = |text: usize| shown.docs.get(text)?.term_distance.map(i64::from);
    distance(0).zip(distance(1))
}

/// Returns the sentence about the verdict of a ranker, with the term that contributes most if it is
/// known.
pub(super) fn ranker_verdict_sentence(
    shown: &InstanceDetails,
    said: &RankerInstanceVerdict,
) -> String {
    let name = &said.ranker.label;
    let Some(verdict) = said.verdict else {
        return format!("{name} did not score all documents.");
    };
    let by = format::format_score(verdict.margin.abs(), score_digits_for_margin(said));
    if !shown.probe.is_axiom() {
        let first = match (shown.claim.kind(), verdict.margin) {
            (_, 0.0) => format!("{name} gives both the same score"),
            (ScoreClaimKind::Different, _) => format!("The scores of {name} differ by {by}"),
            (_, margin) if margin > 0.0 => format!("{name} scores document 1 higher by {by}"),
            _ => format!("{name} scores document 1 lower by {by}"),
        };
        let within = match verdict.outcome {
            VerdictOutcome::Tied if verdict.margin != 0.0 => ", within ε",
            VerdictOutcome::Tied | VerdictOutcome::Satisfied | VerdictOutcome::Violated => "",
        };
        let effect = effect_label_of_outcome(Some(verdict.outcome));
        return format!("{first}{within}: effect {effect}.");
    }
    let first = match (shown.claim.kind(), verdict.outcome) {
        (ScoreClaimKind::Higher | ScoreClaimKind::NotLower, VerdictOutcome::Satisfied) => {
            format!("{name} scores document 1 higher by {by}.")
        }
        (ScoreClaimKind::Higher | ScoreClaimKind::NotLower, VerdictOutcome::Violated) => {
            format!("{name} scores document 1 lower by {by}.")
        }
        (ScoreClaimKind::Different, VerdictOutcome::Satisfied | VerdictOutcome::Violated) => {
            format!("The scores of {name} differ by {by}.")
        }
        (
            ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different,
            VerdictOutcome::Tied,
        ) => {
            return format!("The scores of {name} are tied.");
        }
        (ScoreClaimKind::DiminishingGain, VerdictOutcome::Satisfied) => {
            format!("With {name}, the second step gains {by} less than the first.")
        }
        (ScoreClaimKind::DiminishingGain, VerdictOutcome::Violated) => {
            format!("With {name}, the second step gains {by} more than the first.")
        }
        (ScoreClaimKind::DiminishingGain, VerdictOutcome::Tied) => {
            return format!("{name} gives both steps the same gain.");
        }
    };
    match deciding_term_sentence(shown, said, verdict.margin) {
        Some(more) => format!("{first} {more}"),
        None => first,
    }
}

/// Returns the sentence about the term that contributes most to the margin.
fn deciding_term_sentence(
    shown: &InstanceDetails,
    said: &RankerInstanceVerdict,
    margin: f64,
) -> Option<String> {
    let same = |it: &&shared::study::instance_details::TermScoreContributions| {
        it.ranker.fingerprint == said.ranker.fingerprint
    };
    let found = shown.contributions.iter().find(same)?;
    let parts = found.terms.iter().zip(&shown.terms);
    let parts = parts.map(|(row, term)| (claim_margin(shown.claim, row), &term.surface_form));
    // The term that contributes most in the direction of the margin.
    let most = parts.max_by(|a, b| (a.0 * margin).total_cmp(&(b.0 * margin)))?;
    let counts = most.0 * margin > 0.0 && shown.terms.len() > 1;
    counts.then(|| {
        format!(
            "“{}” contributes most in this direction: {}.",
            most.1,
            format_signed_score(most.0, score_digits_for_margin(said))
        )
    })
}

/// Returns the number of digits for a ranker's scores, with more of them if its margin is small.
pub(super) fn score_digits_for_margin(said: &RankerInstanceVerdict) -> u8 {
    let highest = said
        .scores
        .iter()
        .flatten()
        .fold(0.0, |most: f64, it| most.max(it.abs()));
    let of_scores = format::score_decimals_for_spread(highest);
    let margin = said.verdict.map_or(0.0, |it| it.margin.abs());
    let of_margin = if margin > 0.0 {
        format::score_decimals_for_spread(margin).saturating_sub(2)
    } else {
        0
    };
    of_scores.max(of_margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::{AxiomVariant, ScoreClaim};
    use shared::score::{RankerInfo, RankerKind};
    use shared::study::instance_details::{
        HighlightedText, InstanceDocument, QueryTermInfo, TermScoreContributions,
    };
    use shared::verdict::VerdictWithMargin;

    fn bm25() -> RankerInfo {
        RankerInfo {
            spec: "bm25".to_owned(),
            label: "BM25".to_owned(),
            detail: String::new(),
            kind: RankerKind::Lexical,
            fingerprint: "f".to_owned(),
            note: None,
        }
    }

    fn shown(probe: impl Into<Probe>, counts: [[u32; 2]; 2], lengths: [u32; 2]) -> InstanceDetails {
        let probe = probe.into();
        let term = |written: &str, rarity| QueryTermInfo {
            term: written.to_owned(),
            surface_form: written.to_owned(),
            count: 1,
            df: 1,
            cf: 1,
            rarity_rank: rarity,
        };
        let texts = counts
            .into_iter()
            .zip(lengths)
            .map(|(counts, n_terms)| InstanceDocument {
                id: String::new(),
                title: String::new(),
                text: HighlightedText::default(),
                n_terms,
                term_counts: counts.to_vec(),
                term_distance: Some(n_terms),
                grade: None,
                query_similarity: None,
                linguistic_spans: Vec::new(),
            });
        InstanceDetails {
            study_title: String::new(),
            number: 0,
            probe,
            variant: AxiomVariant::Fixed,
            query_id: String::new(),
            query: HighlightedText::default(),
            terms: vec![term("glaciers", 0), term("valleys", 1)],
            docs: texts.collect(),
            claim: match probe.claim_kind(AxiomVariant::Fixed) {
                ScoreClaimKind::NotLower => ScoreClaim::NotLower {
                    winner: 0,
                    loser: 1,
                },
                _ => ScoreClaim::Higher {
                    winner: 0,
                    loser: 1,
                },
            },
            preconditions: Vec::new(),
            verdicts: Vec::new(),
            has_withheld_texts: false,
            contributions: vec![TermScoreContributions {
                ranker: bm25(),
                terms: vec![vec![9.08, 9.41], vec![9.24, 8.89]],
                length: vec![0.0; 2],
                background: 0.0,
                scores: vec![18.32, 18.30],
            }],
        }
    }

    #[test]
    fn a_claim_says_what_tells_the_texts_apart() {
        let said = [
            difference_and_expectation_sentence(&shown(Axiom::Tfc1, [[2, 5], [2, 4]], [88, 80])),
            difference_and_expectation_sentence(&shown(Axiom::Mtdc, [[2, 1], [1, 2]], [80, 80])),
            difference_and_expectation_sentence(&shown(Axiom::Lnc1, [[2, 1], [2, 1]], [80, 81])),
            difference_and_expectation_sentence(&shown(Axiom::Lnc2, [[6, 3], [2, 1]], [90, 30])),
            difference_and_expectation_sentence(&shown(Axiom::Tp, [[1, 1], [1, 1]], [1, 12])),
        ];
        assert_eq!(
            said,
            [
                "Document 1 contains “valleys” one more time and is 8 terms longer, so TFC1 predicts that document 1 should score higher.",
                "Document 1 contains “glaciers” one more time, document 2 contains “valleys” one more time, and the terms of document 1 are rarer, so M-TDC predicts that document 1 should not score lower.",
                "Both documents contain each query term equally often, and document 2 is 1 term longer, so LNC1 predicts that document 1 should not score lower.",
                "Document 1 is document 2 repeated 3 times, so LNC2 predicts that document 1 should not score lower.",
                "The two closest query terms are 1 term apart in document 1 and 12 apart in document 2, so TP predicts that document 1 should score higher.",
            ]
        );
    }

    #[test]
    fn a_behaviour_says_when_it_is_positive_and_prefers_no_text_itself() {
        let of = |slug: &str| shown(slug.parse::<Probe>().unwrap(), [[1, 1], [1, 1]], [9, 9]);
        let manipulated = of("case-fold");
        assert_eq!(
            difference_and_expectation_sentence(&manipulated),
            "Document 1 is an edited copy of document 2: all letters become lower case. Positive: the ranker prefers the edited document."
        );
        let pair = of("transfer:fluency");
        assert_eq!(
            difference_and_expectation_sentence(&pair),
            "Documents 1 and 2 are a pair from the transfer set fluency. Positive: the ranker prefers document 1."
        );
        let by = |margin: f64, outcome| {
            let verdict = Some(VerdictWithMargin { outcome, margin });
            let ranker = bm25();
            let (scores, truncated) = (vec![Some(18.32), Some(18.30)], vec![false; 2]);
            let typical_margin = None;
            ranker_verdict_sentence(
                &manipulated,
                &RankerInstanceVerdict {
                    ranker,
                    scores,
                    truncated,
                    verdict,
                    typical_margin,
                },
            )
        };
        assert_eq!(
            [
                by(0.2, VerdictOutcome::Satisfied),
                by(-0.2, VerdictOutcome::Violated),
                by(-0.2, VerdictOutcome::Tied),
                by(0.0, VerdictOutcome::Tied)
            ],
            [
                "BM25 scores document 1 higher by 0.20: effect +1.",
                "BM25 scores document 1 lower by 0.20: effect −1.",
                "BM25 scores document 1 lower by 0.20, within ε: effect 0.",
                "BM25 gives both the same score: effect 0.",
            ]
        );
    }

    #[test]
    fn the_term_that_decided_has_the_sign_of_the_margin() {
        let shown = shown(Axiom::Tfc1, [[2, 5], [2, 4]], [88, 80]);
        let by = |margin: f64, outcome| {
            let verdict = Some(VerdictWithMargin { outcome, margin });
            ranker_verdict_sentence(
                &shown,
                &RankerInstanceVerdict {
                    ranker: bm25(),
                    scores: vec![Some(18.32), Some(18.30)],
                    truncated: vec![false; 2],
                    verdict,
                    typical_margin: None,
                },
            )
        };
        assert_eq!(
            by(0.02, VerdictOutcome::Satisfied),
            "BM25 scores document 1 higher by 0.020. “valleys” contributes most in this direction: +0.350."
        );
        assert_eq!(
            by(-0.17, VerdictOutcome::Violated),
            "BM25 scores document 1 lower by 0.17. “glaciers” contributes most in this direction: −0.33."
        );
        assert_eq!(
            by(0.0, VerdictOutcome::Tied),
            "The scores of BM25 are tied."
        );
    }
}

//! A study whose lists are varied, and random requests for lists.

use super::{InstanceListOptions, InstanceSort};
use crate::probe::ProbeInstances;
use crate::score::{RankerKind, RankerQueryDocumentScores};
use crate::study::controls::{InstanceSubset, StudyPageControls};
use crate::study::{Study, fixture};
use crate::verdict::VerdictOutcome;

/// Makes a study with two splits, several relevant documents, and five rankers: BM25, QL, one with
/// ties and missing scores, one with truncated documents, and one whose tied scores are not equal
/// to the last digit.
pub(in crate::study) fn study_with_five_rankers() -> Study {
    let words = ["river", "bank", "mud", "tide", "the", "silt"];
    let text = |at: usize| {
        let words = (0..2 + at % 5).map(|it| words[(at / 3 + it * it + at * it) % 6]);
        words.collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..30).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let queries = [
        "river bank",
        "the mud of the river",
        "tide",
        "the bank",
        "none",
        "mud tide silt",
    ];
    let mut study = fixture::study_with_queries(&queries, &texts, 30);
    for (query, docs) in [("q1", ["3", "7"]), ("q3", ["4", "21"]), ("q5", ["8", "9"])] {
        let grades = docs.map(|it| (it.to_owned(), 1));
        study.qrels.0.insert(query.to_owned(), grades.into());
    }
    let bm25 = study.scores[0].clone();
    let mut add = |name: &str, kind, value: &dyn Fn(usize, f64) -> Option<f64>| {
        let mut ranker = bm25.ranker.clone();
        (ranker.fingerprint, ranker.kind) = (name.to_owned(), kind);
        let values = bm25.scores_in_pair_order().iter().enumerate();
        let values = values.map(|(at, it)| value(at, it.unwrap())).collect();
        let mut scores = RankerQueryDocumentScores::new(ranker, values, &study.pairs).unwrap();
        if name == "truncating" {
            scores.truncated = (0..study.pairs.len() as u32).step_by(3).collect();
        }
        study.upsert_scores_by_fingerprint(scores).unwrap();
    };
    add("holes", RankerKind::Neural, &|at, _| {
        (at % 7 != 0).then_some((at % 3) as f64)
    });
    add("truncating", RankerKind::Neural, &|at, it| {
        Some(it + (at * at % 11) as f64 / 7.0)
    });
    add("noisy", RankerKind::Lexical, &|at, it| {
        Some(libm::round(it * 2.0) + (at % 5) as f64 * 1e-12)
    });
    study
}

fn find_margins(study: &Study, instances: &ProbeInstances, row: usize) -> Vec<f64> {
    let scores = &study.scores[row];
    let width = scores.ranker.kind.default_tie_threshold();
    crate::verdict::compute_verdicts(instances, &study.pairs, scores, width)
        .flatten()
        .map(|it| it.margin)
        .collect()
}

/// Returns a random request for a page of a list; `below` draws a number below another.
pub(in crate::study) fn random_listing(
    study: &Study,
    instances: &ProbeInstances,
    row: usize,
    below: &mut dyn FnMut(usize) -> usize,
) -> InstanceListOptions {
    let margins = find_margins(study, instances, row);
    let limit_of_margin = |one_in: usize, below: &mut dyn FnMut(usize) -> usize| {
        (!margins.is_empty() && below(one_in) == 0).then(|| margins[below(margins.len())])
    };
    InstanceListOptions {
        controls: StudyPageControls {
            subset: [
                InstanceSubset::All,
                InstanceSubset::All,
                InstanceSubset::Untruncated,
                InstanceSubset::WithRelevant,
            ][below(4)],
            split: [None, None, Some("train"), Some("test")][below(4)].map(str::to_owned),
            tie_threshold: (below(20) == 0).then_some(0.25),
            length_tolerance: (below(20) == 0).then_some(1),
            ..StudyPageControls::default()
        },
        probe: instances.probe,
        ranker: row.to_string(),
        outcome: [
            None,
            None,
            Some(VerdictOutcome::Satisfied),
            Some(VerdictOutcome::Tied),
            Some(VerdictOutcome::Violated),
        ][below(5)],
        query_filter: if below(20) == 0 { "river" } else { "" }.to_owned(),
        min_margin: limit_of_margin(4, below),
        max_margin: limit_of_margin(4, below),
        review_status: None,
        sort: [
            InstanceSort::MostInstructive,
            InstanceSort::Query,
            InstanceSort::MarginAscending,
            InstanceSort::MarginDescending,
            InstanceSort::AbsoluteMargin,
        ][below(5)],
        offset: match below(3) {
            0 => 0,
            _ => below(instances.len()) as u64,
        },
        limit: 1 + below(30) as u64,
    }
}

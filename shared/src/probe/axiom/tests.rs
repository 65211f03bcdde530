//! The axioms on documents that can be checked by eye, and mining against the preconditions.

mod documents;
mod mining;

use expect_test::Expect;

use super::*;
use crate::index::Index;
use crate::probe::MiningResult;
use crate::probe::mining::{Miner, QueryPool};
use crate::text::Analyzer;

const EXACT: Limits = Limits {
    length_tolerance_terms: Some(0),
    ..Limits::STANDARD
};
const ANY_LENGTH: Limits = Limits {
    length_tolerance_terms: None,
    ..Limits::STANDARD
};

/// Reads lines `query …`, then `name …` for each document, and checks all instances with their
/// preconditions.
fn check(axiom: Axiom, mode: AxiomVariant, limits: &Limits, fixture: &str, expected: Expect) {
    let mut lines = fixture.trim().lines().map(str::trim);
    let query = lines.next().unwrap().strip_prefix("query").unwrap().trim();
    let docs: Vec<(&str, &str)> = lines
        .map(|it| it.split_once(' ').unwrap_or((it, "")))
        .collect();
    let index = Index::build(&Analyzer::default(), docs.iter().map(|it| it.1)).unwrap();
    let pool: Vec<u32> = (0..docs.len() as u32).collect();
    let miner = Miner {
        index: &index,
        word_vectors: None,
        probes: &[(Probe::Axiom(axiom), mode)],
        limits,
    };
    let shard = miner.mine(&QueryPool::without_grades(query, &pool));
    let mined = MiningResult::collect(&[(Probe::Axiom(axiom), mode)], vec![shard]);
    let terms = index.query_terms(query);
    let mut out = String::new();
    for claim in mined.instances[0].claims_of(0) {
        let texts: Vec<_> = claim
            .docs()
            .iter()
            .map(|&it| mined.study_docs[it as usize])
            .collect();
        let ids: Vec<String> = texts
            .iter()
            .map(|it| it.id(docs[it.doc() as usize].0))
            .collect();
        let counted: Vec<DocumentFeatures> = texts
            .iter()
            .map(|it| {
                let times = match it {
                    crate::probe::mining::StudyDocument::Original { .. } => 1,
                    crate::probe::mining::StudyDocument::Repeated { times, .. } => *times,
                };
                let body = index.terms(it.doc()).repeat(times as usize);
                let mut counted = DocumentFeatures::with_other_terms(&body, &terms);
                counted.record_positions(&body, &terms);
                counted
            })
            .collect();
        let case = QueryContext::new(&terms, &counted, limits, index.totals());
        let preconditions = axiom.preconditions(mode, &case);
        assert!(
            preconditions.iter().all(MeasuredPrecondition::holds),
            "{preconditions:?}"
        );
        let sign = match claim.kind() {
            ClaimKind::Higher => " > ",
            ClaimKind::NotLower => " >= ",
            ClaimKind::Different => " <> ",
            ClaimKind::DiminishingGain => " .. ",
        };
        out += &format!("{}\n", ids.join(sign));
    }
    expected.assert_eq(&out);
}

//! The axioms on documents that can be checked by eye, and mining against the preconditions.

mod documents;
mod mining;

use expect_test::{Expect, expect};

use super::*;
use crate::index::Index;
use crate::probe::MiningResult;
use crate::probe::mining::{InstanceMiner, PooledQuery};
use crate::text::Analyzer;

const EXACT: MiningThresholds = MiningThresholds {
    length_tolerance_terms: Some(0),
    ..MiningThresholds::STANDARD
};
const ANY_LENGTH: MiningThresholds = MiningThresholds {
    length_tolerance_terms: None,
    ..MiningThresholds::STANDARD
};

/// Checks that an axiom has no instances among the documents.
fn check_none(axiom: Axiom, mode: AxiomVariant, fixture: &str) {
    check(axiom, mode, &EXACT, fixture, expect![""]);
}

/// Reads lines `query …`, then `name …` for each document, and checks all instances with their
/// preconditions.
fn check(
    axiom: Axiom,
    mode: AxiomVariant,
    limits: &MiningThresholds,
    fixture: &str,
    expected: Expect,
) {
    let mut lines = fixture.trim().lines().map(str::trim);
    let query = lines.next().unwrap().strip_prefix("query").unwrap().trim();
    let docs: Vec<(&str, &str)> = lines
        .map(|it| it.split_once(' ').unwrap_or((it, "")))
        .collect();
    let index = Index::build(&Analyzer::default(), docs.iter().map(|it| it.1)).unwrap();
    let pool: Vec<u32> = (0..docs.len() as u32).collect();
    let miner = InstanceMiner {
        index: &index,
        word_vectors: None,
        probes: &[(Probe::Axiom(axiom), mode)],
        limits,
    };
    let shard = miner.mine_pooled_query(&PooledQuery::from_ungraded_docs(query, &pool));
    let mined = MiningResult::from_query_results(&[(Probe::Axiom(axiom), mode)], vec![shard]);
    let terms = index.query_term_statistics(query);
    let mut out = String::new();
    for claim in mined.instances[0].claims_of_query(0) {
        let texts: Vec<_> = claim
            .docs_in_claim_order()
            .iter()
            .map(|&it| mined.study_docs[it as usize])
            .collect();
        let ids: Vec<String> = texts
            .iter()
            .map(|it| it.id(docs[it.source_doc() as usize].0))
            .collect();
        let counted: Vec<DocumentFeatures> = texts
            .iter()
            .map(|it| {
                let times = match it {
                    crate::probe::mining::OriginalOrDerivedDocument::Original { .. } => 1,
                    crate::probe::mining::OriginalOrDerivedDocument::Repeated { times, .. } => {
                        *times
                    }
                };
                let body = index
                    .term_sequence_of_doc(it.source_doc())
                    .repeat(times as usize);
                let mut counted = DocumentFeatures::from_terms_including_non_query(&body, &terms);
                counted.record_query_term_positions(&body, &terms);
                counted
            })
            .collect();
        let case = QueryPoolFeatures::without_word_vectors(
            &terms,
            &counted,
            limits,
            index.collection_totals(),
        );
        let preconditions = axiom.measure_preconditions(mode, &case);
        assert!(
            preconditions.iter().all(MeasuredPrecondition::holds),
            "{preconditions:?}"
        );
        let sign = match claim.kind() {
            ScoreClaimKind::Higher => " > ",
            ScoreClaimKind::NotLower => " >= ",
            ScoreClaimKind::Different => " <> ",
            ScoreClaimKind::DiminishingGain => " .. ",
        };
        out += &format!("{}\n", ids.join(sign));
    }
    expected.assert_eq(&out);
}

//! Preferences of the package ir_axioms 1.2.5 among a few texts, stored with how they were made
//! (`tests/ir_axioms/preferences.py`), against variant `code`; and what variant
//! `fixed` changes.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

use std::collections::BTreeMap;

use serde::Deserialize;
use shared::index::{Index, IndexBuilder};
use shared::probe::mining::{InstanceMiner, PooledQuery};
use shared::probe::{Axiom, AxiomVariant, MiningResult, MiningThresholds, Probe};
use shared::text::{Analyzer, Stemmer};
use shared::word_vectors::{IndexedWordVectors, WordVectors};

#[derive(Deserialize)]
struct Stored {
    package: String,
    vectors: BTreeMap<String, Vec<f32>>,
    queries: Vec<String>,
    texts: Vec<String>,
    /// For each query and text a sign for each other text.
    preferences: BTreeMap<String, Vec<Vec<String>>>,
}

fn stored() -> Stored {
    let stored = include_str!("ir_axioms/preferences.json");
    let stored: Stored = serde_json::from_str(stored).unwrap();
    assert_eq!(stored.package, "ir_axioms 1.2.5");
    stored
}

/// For each query and text whether it is preferred to each other.
fn ours(stored: &Stored, probe: Probe, mode: AxiomVariant) -> Vec<Vec<Vec<bool>>> {
    let analyzer = Analyzer {
        stemmer: Stemmer::None,
        ..Analyzer::default()
    };
    let mut builder = IndexBuilder::with_analyzer(analyzer).with_stored_tokens();
    stored.texts.iter().for_each(|it| builder.add_document(it));
    let index: Index = builder.finish().unwrap();
    let mut vectors = WordVectors::with_dimensions(3);
    for (word, vector) in &stored.vectors {
        assert_eq!(vectors.add_word(word, vector), Ok(true));
    }
    let rows = vectors.token_rows_of_index(&index);
    let known = IndexedWordVectors::new(&vectors, &index, &rows);
    let asked = [(probe, mode)];
    let miner = InstanceMiner {
        index: &index,
        word_vectors: Some(&known),
        probes: &asked,
        limits: &MiningThresholds::STANDARD,
    };
    let n = stored.texts.len();
    let pool: Vec<u32> = (0..n as u32).collect();
    let mined = |query: &String| {
        let mined = MiningResult::from_query_results(
            &asked,
            vec![miner.mine_pooled_query(&PooledQuery::from_ungraded_docs(query, &pool))],
        );
        let mut preferred = vec![vec![false; n]; n];
        for claim in mined.instances[0].claims_of_query(0) {
            let texts = claim.docs_in_claim_order();
            let doc = |at: usize| mined.study_docs[texts[at] as usize].source_doc() as usize;
            preferred[doc(0)][doc(1)] = true;
        }
        preferred
    };
    stored.queries.iter().map(mined).collect()
}

fn theirs(stored: &Stored, name: &str) -> Vec<Vec<Vec<bool>>> {
    let row = |it: &String| it.chars().map(|it| it == '+').collect();
    let of_query = |it: &Vec<String>| it.iter().map(row).collect();
    stored.preferences[name].iter().map(of_query).collect()
}

fn n_differing(a: &[Vec<Vec<bool>>], b: &[Vec<Vec<bool>>]) -> usize {
    let flat = |it: &[Vec<Vec<bool>>]| it.concat().concat();
    flat(a).iter().zip(flat(b)).filter(|(a, b)| *a != b).count()
}

#[test]
fn mode_code_prefers_what_the_package_prefers() {
    let stored = stored();
    for probe in Axiom::all_ir_axioms().map(Probe::Axiom) {
        let theirs = theirs(&stored, &probe.slug());
        assert!(theirs.concat().concat().contains(&true), "{probe:?}");
        let ours = ours(&stored, probe, AxiomVariant::Code);
        assert_eq!(n_differing(&ours, &theirs), 0, "{probe:?}");
    }
}

#[test]
fn a_formula_prefers_what_the_package_prefers() {
    let stored = stored();
    let formulas: Vec<&String> = stored
        .preferences
        .keys()
        .filter(|it| it.contains(['&', '|', '%', '+']))
        .collect();
    assert_eq!(formulas.len(), 5);
    for name in formulas {
        let probe: Probe = name.parse().unwrap();
        assert!(matches!(probe, Probe::Axiom(Axiom::Formula(_))));
        let ours = ours(&stored, probe, AxiomVariant::Code);
        assert_eq!(n_differing(&ours, &theirs(&stored, name)), 0, "{name}");
    }
}

/// The variants `code` and `fixed` differ only in the corrected defects.
#[test]
fn the_mended_defects_are_those_that_are_told_of() {
    let stored = stored();
    for probe in Axiom::all_ir_axioms().map(Probe::Axiom) {
        let fixed = ours(&stored, probe, AxiomVariant::Fixed);
        let n = n_differing(&fixed, &theirs(&stored, &probe.slug()));
        let told = probe
            .probe_description()
            .known_issues
            .contains("variant code");
        assert_eq!(n > 0, told, "{probe:?} differs in {n}");
        // Whatever is preferred, the reverse is not.
        for query in &fixed {
            for (a, row) in query.iter().enumerate() {
                for (b, &preferred) in row.iter().enumerate() {
                    assert!(!(preferred && query[b][a]), "{probe:?} {a} {b}");
                }
            }
        }
    }
}

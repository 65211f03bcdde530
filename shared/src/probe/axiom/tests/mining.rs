//! Mining against the preconditions of the instances, over many documents.

use std::collections::BTreeMap;

use super::*;
use crate::index::IndexBuilder;
use crate::probe::ProbeInstances;
use crate::probe::features::NonQueryWordVectorFeatures;
use crate::rank::max_score::tests::seeded_random_generator;
use crate::word_vectors::{IndexedWordVectors, WordVectors};

/// Documents over a few words, so that every axiom has many instances.
fn texts(n: usize) -> Vec<String> {
    let mut next = seeded_random_generator(11);
    let words = ["river", "bank", "tide", "mud", "stone", "sand"];
    (0..n)
        .map(|_| {
            let len = next(9);
            let text: Vec<&str> = (0..len).map(|_| words[next(6) as usize]).collect();
            text.join(" ")
        })
        .collect()
}

fn index_with_tokens(docs: &[impl AsRef<str>]) -> Index {
    let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
    docs.iter().for_each(|it| builder.add_document(it.as_ref()));
    builder.finish().unwrap()
}

#[test]
fn an_instance_is_mined_iff_all_its_preconditions_hold() {
    let texts = texts(40);
    let index = index_with_tokens(&texts);
    let vectors = vectors();
    let rows = vectors.token_rows_of_index(&index);
    let known = IndexedWordVectors::new(&vectors, &index, &rows);
    let pool: Vec<u32> = (0..texts.len() as u32).collect();
    let mut n_mined: BTreeMap<(Axiom, AxiomVariant), usize> = BTreeMap::new();
    for query in ["river bank tide", "river river bank", "river unseen"] {
        let terms = index.query_term_statistics(query);
        let asked = known.bag_of_query_word_vectors(query);
        let words = known.query_term_vector_rows(query, &terms);
        let alike = known.pairwise_query_term_similarities(&words);
        let counted: Vec<DocumentFeatures> = pool
            .iter()
            .map(|&it| {
                let mut counted = DocumentFeatures::from_terms_including_non_query(
                    &index.term_sequence_of_doc(it),
                    &terms,
                );
                counted.record_query_term_positions(&index.term_sequence_of_doc(it), &terms);
                let mut meaning = NonQueryWordVectorFeatures::from_document_and_query_bags(
                    known.bag_of_non_query_word_vectors(it, &terms),
                    &asked,
                );
                meaning.word_similarities =
                    Some(known.mean_and_nearest_query_similarity(it, &terms, &words));
                counted.semantics = Some(meaning);
                counted
            })
            .collect();
        for limits in [
            EXACT,
            MiningThresholds::STANDARD,
            ANY_LENGTH,
            MiningThresholds {
                min_query_term_occurrences: 2,
                relative_tolerance: 0.8,
                ..EXACT
            },
        ] {
            for &mode in AxiomVariant::ALL {
                let formulas = ["tfc1 & m_and", "prox1 | -tp % m_and % div if len"];
                let formulas = formulas.map(|it| Axiom::Formula(it.parse().unwrap()));
                // LNC2 has documents that are not in the pool.
                let all = Axiom::ALL.iter().copied().filter(|it| *it != Axiom::Lnc2);
                for axiom in all.chain(Axiom::all_ir_axioms()).chain(formulas) {
                    let arity = axiom.claim_kind(mode).arity();
                    let case = QueryPoolFeatures {
                        query: &terms,
                        pool: &counted,
                        limits: &limits,
                        totals: index.collection_totals(),
                        term_similarities: &alike,
                    };
                    let mined = axiom.find_instances_in_pool(mode, &case).positions;
                    let mut mined: Vec<&[u32]> = mined.chunks(arity).filter(tried).collect();
                    mined.sort_unstable();
                    let tuples = tuples(pool.len() as u32, arity);
                    let holds = |places: &&[u32]| {
                        let texts: Vec<DocumentFeatures> = places
                            .iter()
                            .map(|&it| counted[it as usize].clone())
                            .collect();
                        let preconditions =
                            axiom.measure_preconditions(mode, &case.with_replaced_pool(&texts));
                        preconditions.iter().all(MeasuredPrecondition::holds)
                    };
                    *n_mined.entry((axiom, mode)).or_default() += mined.len();
                    let expected: Vec<&[u32]> = tuples.chunks(arity).filter(holds).collect();
                    assert_eq!(mined, expected, "{axiom:?} {mode:?} {query} {limits:?}");
                }
            }
        }
    }
    // An axiom without instances would be compared with nothing.
    let empty: Vec<_> = n_mined.iter().filter(|it| *it.1 == 0).collect();
    assert!(empty.is_empty(), "{empty:?}");
}

#[test]
fn a_document_is_repeated_iff_all_preconditions_of_the_repetition_hold() {
    let texts = texts(40);
    let index = Index::build(&Analyzer::default(), texts.iter().map(|it| it.as_str())).unwrap();
    let terms = index.query_term_statistics("river bank");
    let repeated = |doc: u32, times: u32| {
        DocumentFeatures::from_terms_including_non_query(
            &index.term_sequence_of_doc(doc).repeat(times as usize),
            &terms,
        )
    };
    let docs = 0..texts.len() as u32;
    let pool: Vec<DocumentFeatures> = docs.clone().map(|it| repeated(it, 1)).collect();
    let limits = MiningThresholds {
        max_repeated_doc_terms: 9,
        fill_length_terms: 11,
        max_fillable_doc_terms: 4,
        ..MiningThresholds::STANDARD
    };
    let case =
        QueryPoolFeatures::without_word_vectors(&terms, &pool, &limits, index.collection_totals());
    for &mode in AxiomVariant::ALL {
        let holds = |&(doc, times): &(u32, u32)| {
            let pair = [repeated(doc, times), repeated(doc, 1)];
            let preconditions =
                Axiom::Lnc2.measure_preconditions(mode, &case.with_replaced_pool(&pair));
            preconditions.iter().all(MeasuredPrecondition::holds)
        };
        let every = docs
            .clone()
            .flat_map(|doc| (1..=12).map(move |it| (doc, it)));
        let expected: Vec<(u32, u32)> = every.filter(holds).collect();
        assert!(!expected.is_empty(), "{mode:?}");
        let mined = Axiom::Lnc2.find_instances_in_pool(mode, &case).derived;
        assert_eq!(mined, expected, "{mode:?}");
    }
}

/// Vectors of all words but one, so that no two documents are exactly alike.
fn vectors() -> WordVectors {
    WordVectors::from_words_and_vectors(&[
        ("river", [1.0, 0.2, 0.0]),
        ("bank", [0.1, 1.0, 0.1]),
        ("tide", [0.9, 0.1, 0.3]),
        ("mud", [-0.5, 0.4, 0.8]),
        ("stone", [0.2, -0.9, 0.4]),
    ])
}

#[test]
fn likeness_is_looked_up_by_tokens_before_stemming_and_without_the_query() {
    let vectors = WordVectors::from_words_and_vectors(&[
        ("river", [1.0, 0.0]),
        ("rivers", [0.0, 1.0]),
        ("streams", [0.9, 0.1]),
        ("money", [0.1, 0.9]),
    ]);
    let docs = ["rivers streams", "river money"];
    let index = index_with_tokens(&docs);
    let rows = vectors.token_rows_of_index(&index);
    let known = IndexedWordVectors::new(&vectors, &index, &rows);
    let mine = |mode| {
        let mined = mine_two(Axiom::Stmc1, mode, &index, &known);
        mined
            .claims_of_query(0)
            .map(|it| it.docs_in_claim_order())
            .collect::<Vec<_>>()
    };
    // `rivers` has the term of the query, so that only `streams` and `money` count.
    assert_eq!(mine(AxiomVariant::Fixed), [[0, 1]]);
    assert_eq!(mine(AxiomVariant::Code), [[1, 0]]);
}

/// The words of both documents have the same three vectors in another order, so that the means
/// differ only by the rounding of the sums.
#[test]
fn equal_means_are_equal_whatever_their_rounding() {
    let (a, b, c) = ([1e-4, 1.0, 0.0], [7e-4, 1.0, 0.0], [1.0, 0.0, 0.5]);
    let vectors = WordVectors::from_words_and_vectors(&[
        ("river", [0.6, 0.0, 0.7]),
        ("tide", a),
        ("mud", b),
        ("stone", c),
        ("sand", c),
        ("reed", a),
        ("silt", b),
    ]);
    let docs = ["tide mud stone", "sand reed silt"];
    let index = index_with_tokens(&docs);
    let rows = vectors.token_rows_of_index(&index);
    let known = IndexedWordVectors::new(&vectors, &index, &rows);
    let terms = index.query_term_statistics("river");
    let words = known.query_term_vector_rows("river", &terms);
    let mean = |doc: u32| {
        known
            .mean_and_nearest_query_similarity(doc, &terms, &words)
            .mean_cosine
    };
    assert!(mean(0) > mean(1));
    for &mode in AxiomVariant::ALL {
        let stmc1 = Axiom::IrAxioms(IrAxiomsAxiom::Stmc1IrAxioms);
        let mined = mine_two(stmc1, mode, &index, &known);
        assert_eq!(mined.len(), 0, "{mode:?}");
    }
}

/// Mines the first two documents of an index for the query `river`.
fn mine_two(
    axiom: Axiom,
    mode: AxiomVariant,
    index: &Index,
    known: &IndexedWordVectors<'_>,
) -> ProbeInstances {
    let asked = [(Probe::Axiom(axiom), mode)];
    let miner = InstanceMiner {
        index,
        word_vectors: Some(known),
        probes: &asked,
        limits: &EXACT,
    };
    let shard = miner.mine_pooled_query(&PooledQuery::from_ungraded_docs("river", &[0, 1]));
    MiningResult::from_query_results(&asked, vec![shard])
        .instances
        .remove(0)
}

/// A third of the triples that share a pair is enough to find an error.
fn tried(places: &&[u32]) -> bool {
    places.len() == 2 || places.iter().sum::<u32>() % 3 == 0
}

/// Returns all ordered tuples of distinct numbers below `n`, concatenated, ascending.
fn tuples(n: u32, arity: usize) -> Vec<u32> {
    let mut all = Vec::new();
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            match arity {
                2 => all.extend([a, b]),
                _ => (0..n)
                    .filter(|&c| c != a && c != b && tried(&&[a, b, c][..]))
                    .for_each(|c| all.extend([a, b, c])),
            }
        }
    }
    all
}

#[test]
fn a_cap_draws_the_same_instances_every_time_and_says_how_many_there_were() {
    let texts = texts(40);
    let index = Index::build(&Analyzer::default(), texts.iter().map(|it| it.as_str())).unwrap();
    let pool: Vec<u32> = (0..texts.len() as u32).collect();
    let asked = [(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)];
    let mine = |limits: &MiningThresholds| {
        let miner = InstanceMiner {
            index: &index,
            word_vectors: None,
            probes: &asked,
            limits,
        };
        let shard = miner.mine_pooled_query(&PooledQuery::from_ungraded_docs("river bank", &pool));
        MiningResult::from_query_results(&asked, vec![shard])
            .instances
            .remove(0)
    };
    let all = mine(&MiningThresholds::STANDARD);
    let capped = mine(&MiningThresholds {
        max_per_query: Some(20),
        ..MiningThresholds::STANDARD
    });
    assert_eq!((capped.len(), &capped.n_found), (20, &all.n_found));
    assert!((capped.sampled_fraction() - 20.0 / all.len() as f64).abs() < 1e-12);
    assert_eq!(
        capped,
        mine(&MiningThresholds {
            max_per_query: Some(20),
            ..MiningThresholds::STANDARD
        })
    );
    let other_seed = MiningThresholds {
        max_per_query: Some(20),
        seed: 43,
        ..MiningThresholds::STANDARD
    };
    assert_ne!(capped, mine(&other_seed));
}

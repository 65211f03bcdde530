//! Known answers: the instances and scores of a collection of three documents, and the score of a
//! small neural model.

use shared::index::Index;
use shared::index::term_statistics::QueryTermStatistics;
use shared::probe::mining::{InstanceMiner, PooledQuery};
use shared::probe::{Axiom, AxiomVariant, MiningResult, MiningThresholds, Probe};
use shared::rank::{Bm25, LexicalRanker, QueryLikelihood};
use shared::text::Analyzer;

use super::CheckProblem;
use crate::models::ModelRegistry;

const QUERY: &str = "river bank";

/// Documents of equal length: TFC1 prefers each to those after it.
const DOCUMENTS: [&str; 3] = ["river bank river", "river bank mud", "bank mud mud"];

/// The axioms that are mined, each with the number of its instances in the pool of [`DOCUMENTS`].
/// For TFC2 the three documents are one instance: the second *river* adds less than the first.
const INSTANCES: [(Axiom, usize); 2] = [(Axiom::Tfc1, 3), (Axiom::Tfc2, 1)];

/// The digest of these instances, as in a study.
const INSTANCES_DIGEST: &str = "ea96287a974d320aade76de6ad54aa1ecead288747aa733655d8241dc1f92742";

/// The bits of the scores of [`DOCUMENTS`]. A test computes them from the formulas.
const BM25_BITS: [u64; 3] = [
    0x3fe8_f402_9284_e3cc,
    0x3fe3_5028_ad9d_8c85,
    0x3fc1_178e_8227_e47a,
];
const QUERY_LIKELIHOOD_BITS: [u64; 3] = [
    0xc001_9176_76c5_bbbc,
    0xc001_93ea_7aad_030a,
    0xc001_965f_3f63_d0b5,
];

/// A model of the demo with its score for [`QUERY`] and the first of [`DOCUMENTS`].
const NEURAL_MODEL: &str = "tiny-cross-encoder:cross";
const NEURAL_FINGERPRINT: &str = "25988b3f1b9c07f9583a0fd623b1f0525b028a65c62e1ce2db7cf96e5bea86c0";
const NEURAL_SCORE: f64 = 4.707_009;

/// The largest difference between scores of the model on different processors.
const NEURAL_TOLERANCE: f64 = 1e-4;

fn index() -> Result<Index, CheckProblem> {
    let index = Index::build(&Analyzer::default(), DOCUMENTS);
    index.map_err(|it| it.to_string().into())
}

/// Mines [`DOCUMENTS`] and compares the instances with the known ones.
pub(super) fn check_mining() -> Result<(), CheckProblem> {
    let probes = INSTANCES.map(|(axiom, _)| (Probe::Axiom(axiom), AxiomVariant::Fixed));
    let index = index()?;
    let miner = InstanceMiner {
        index: &index,
        word_vectors: None,
        probes: &probes,
        limits: &MiningThresholds::STANDARD,
    };
    let pooled = PooledQuery::from_ungraded_docs(QUERY, &[0, 1, 2]);
    let mined = MiningResult::from_query_results(&probes, vec![miner.mine_pooled_query(&pooled)]);
    for (found, (axiom, expected)) in mined.instances.iter().zip(INSTANCES) {
        if found.len() != expected {
            let name = axiom.name();
            let n_found = found.len();
            return Err(format!("{name} has {n_found} instances instead of {expected}").into());
        }
    }
    let digest = mined.digest_instances(&["q"], |doc| format!("d{doc}"));
    match digest == INSTANCES_DIGEST {
        true => Ok(()),
        false => Err(format!("the instances of a known collection are others: {digest}").into()),
    }
}

/// Scores [`DOCUMENTS`] and compares the bits with the known ones.
pub(super) fn check_lexical_scores() -> Result<(), CheckProblem> {
    let known: [(LexicalRanker, [u64; 3]); 2] = [
        (Bm25::DEFAULT.into(), BM25_BITS),
        (QueryLikelihood::DEFAULT.into(), QUERY_LIKELIHOOD_BITS),
    ];
    let index = index()?;
    for (ranker, bits) in known {
        let scores = lexical_scores(&index, &ranker);
        if scores.map(f64::to_bits) != bits {
            let (name, _) = ranker.display_name_and_parameters();
            let known = bits.map(f64::from_bits);
            return Err(format!("{name} gives {scores:?} instead of {known:?}").into());
        }
    }
    Ok(())
}

fn lexical_scores(index: &Index, ranker: &LexicalRanker) -> [f64; 3] {
    let terms = index.query_term_statistics(QUERY);
    let scorer = ranker.prepare_query_scorer(&terms, &index.collection_totals());
    [0, 1, 2].map(|doc| {
        let count = |term: &QueryTermStatistics| match term.term_no {
            Some(term) => index.count_occurrences_in_doc(term, doc),
            None => 0,
        };
        let counts: Vec<u32> = terms.iter().map(count).collect();
        scorer.score(&counts, index.document_length(doc))
    })
}

/// Scores a known pair with a model of the demo, if it is loaded.
pub(super) fn check_neural_score(models: &ModelRegistry) -> Result<(), CheckProblem> {
    let loaded = models.loaded_rankers();
    let Some(ranker) = loaded
        .iter()
        .find(|it| it.about.fingerprint == NEURAL_FINGERPRINT)
    else {
        return Ok(());
    };
    let text = [DOCUMENTS[0].to_owned()];
    let scored = ranker.score_documents_in_detail(QUERY, &text)?;
    match scored.as_slice() {
        [it] if (it.score - NEURAL_SCORE).abs() <= NEURAL_TOLERANCE => Ok(()),
        other => {
            let found: Vec<f64> = other.iter().map(|it| it.score).collect();
            Err(format!("{NEURAL_MODEL} gives {found:?} instead of {NEURAL_SCORE}").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_scores_are_those_of_the_formulas() {
        let near = |found: [u64; 3], expected: [f64; 3]| {
            for (found, expected) in found.map(f64::from_bits).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        };
        // All documents have the average length, so a term has idf · 2.2 tf / (tf + 1.2).
        let (river, bank) = (1.6_f64.ln(), (8.0 / 7.0_f64).ln());
        near(BM25_BITS, [river * 4.4 / 3.2 + bank, river + bank, bank]);
        // Each of the three terms is a third of the collection; μ is 2500.
        let mu = 2_500.0;
        let term = |tf: f64| ((tf + mu / 3.0) / (3.0 + mu)).ln();
        let (none, one, two) = (term(0.0), term(1.0), term(2.0));
        near(QUERY_LIKELIHOOD_BITS, [two + one, one + one, none + one]);
    }

    #[test]
    fn the_small_cross_encoder_gives_the_known_score() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tiny-cross-encoder");
        let models =
            ModelRegistry::with_models_or_default(&[folder.to_owned()], neural::Device::Cpu);
        let models = models.unwrap();
        let ranker = models.get_or_load_ranker(NEURAL_MODEL).unwrap();
        let scored = ranker.score_documents_in_detail(QUERY, &[DOCUMENTS[0].to_owned()]);
        let score = scored.unwrap()[0].score;
        assert_eq!(ranker.about.fingerprint, NEURAL_FINGERPRINT, "{score}");
        check_neural_score(&models).unwrap();
    }

    #[test]
    fn known_answers_are_found_again() {
        check_mining().unwrap();
        check_lexical_scores().unwrap();
    }
}

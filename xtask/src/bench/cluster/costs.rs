//! What a study of MS MARCO passages with ten rankers and nine axioms would cost.

use super::super::table::BenchTable;
use super::shards::{MeasuredShard, by_stage};
use anyhow::{Context, Result};

/// The number of passages in the collection MS MARCO.
const N_PASSAGES: f64 = 8_841_823.0;

/// Queries of the small and of the full development set.
const N_QUERIES: [f64; 2] = [6_980.0, 101_093.0];

/// Documents per query.
const DEPTHS: [f64; 2] = [100.0, 1_000.0];

/// CPU seconds of MiniLM, six layers, for a pair as a cross-encoder and for a passage as a
/// bi-encoder: two threads read 128.1 pairs and encode 135.9 passages of TREC DL 2019 per second
/// (`BENCHMARKS.md`).
const CPU_SECONDS_OF_PAIR: f64 = 2.0 / 128.1;
const CPU_SECONDS_OF_PASSAGE: f64 = 2.0 / 135.9;

/// Pairs per second of a cross-encoder of the size of BERT-base on a V100, by the model card of
/// `cross-encoder/ms-marco-electra-base`. No GPU was measured here.
const GPU_PAIRS_PER_SECOND: f64 = 340.0;

/// Operations of BERT-base, of those of MiniLM: 12 layers of 768 units, and 6 of 384.
const BERT_BASE: f64 = 8.0;

/// Passages per second and core that are indexed, and megabytes and milliseconds of BM25's top 100
/// for each of 34,163 passages (`BENCHMARKS.md`).
const INDEXED_PER_SECOND: f64 = 285_113.0;
const INDEX_MB: f64 = 21.8 / 34_163.0;
const TOP_100_MS: f64 = 1.11 / 43.0 / 34_163.0;

/// What a neural ranker reads once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScoredUnit {
    /// Each document, whatever the number of queries.
    Document,
    /// Each pair of query and document.
    Pair,
}

/// A ranker of ABNIRML (MacAvaney et al., TACL 2022) whose cost is estimated.
struct CostedRanker {
    name: &'static str,
    unit: ScoredUnit,
    /// Operations in the layers for a token that is read, of those of MiniLM.
    operations: f64,
}

/// The neural rankers. A T5 also computes the keys and values of its decoder for each token that it
/// reads; DT5Q is a T5-B that generates four queries of eight tokens for a passage of 80.
const NEURAL_RANKERS: [CostedRanker; 8] = [
    CostedRanker {
        name: "SBERT",
        unit: ScoredUnit::Document,
        operations: BERT_BASE,
    },
    CostedRanker {
        name: "ANCE",
        unit: ScoredUnit::Document,
        operations: BERT_BASE,
    },
    CostedRanker {
        name: "ColBERT",
        unit: ScoredUnit::Document,
        operations: BERT_BASE,
    },
    CostedRanker {
        name: "EPIC",
        unit: ScoredUnit::Document,
        operations: BERT_BASE,
    },
    CostedRanker {
        name: "DT5Q",
        unit: ScoredUnit::Document,
        operations: BERT_BASE * 1.75,
    },
    CostedRanker {
        name: "VBERT",
        unit: ScoredUnit::Pair,
        operations: BERT_BASE,
    },
    CostedRanker {
        name: "T5-B",
        unit: ScoredUnit::Pair,
        operations: BERT_BASE * 7.0 / 6.0,
    },
    CostedRanker {
        name: "T5-L",
        unit: ScoredUnit::Pair,
        operations: BERT_BASE * 32.0 / 9.0 * 7.0 / 6.0,
    },
];

/// All rankers: the neural ones, BM25 and LGBM.
const N_RANKERS: usize = NEURAL_RANKERS.len() + 2;

impl CostedRanker {
    fn cpu_seconds(&self) -> f64 {
        self.operations
            * match self.unit {
                ScoredUnit::Document => CPU_SECONDS_OF_PASSAGE,
                ScoredUnit::Pair => CPU_SECONDS_OF_PAIR,
            }
    }

    fn gpu_seconds(&self) -> f64 {
        self.operations / BERT_BASE / GPU_PAIRS_PER_SECOND
    }
}

/// What the shards of a study have shown.
#[derive(Debug)]
pub(super) struct MeasuredRates {
    /// The number of documents per query.
    depth: f64,
    /// To mine a query and to score its pairs with two lexical rankers.
    mining_seconds: f64,
    mining_bytes: f64,
    /// Pairs to score for each document of a query: more than one because of derived documents.
    pairs: f64,
    /// Bytes of a score.
    score_bytes: f64,
}

impl MeasuredRates {
    pub(super) fn new(
        shards: &[MeasuredShard],
        n_queries: usize,
        depth: usize,
    ) -> Result<MeasuredRates> {
        let stages = by_stage(shards);
        let total = |stage: &str, of: fn(&MeasuredShard) -> f64| {
            let shards = stages.get(stage);
            let shards = shards.with_context(|| format!("no shards of `{stage}`"))?;
            Ok::<_, anyhow::Error>(shards.iter().map(|it| of(it)).sum::<f64>())
        };
        let n_pairs = total("score", |it| it.manifest.n_rows as f64)?;
        let (n_queries, depth) = (n_queries as f64, depth as f64);
        Ok(MeasuredRates {
            depth,
            mining_seconds: total("mine", |it| it.manifest.seconds)? / n_queries,
            mining_bytes: total("mine", |it| it.manifest.n_bytes as f64)? / n_queries,
            pairs: n_pairs / (n_queries * depth),
            score_bytes: total("score", |it| it.manifest.n_bytes as f64)? / n_pairs,
        })
    }

    fn cost(&self, n_queries: f64, depth: f64) -> StudyEstimate {
        let n_pairs = n_queries * depth * self.pairs;
        let n_documents = n_pairs.min(N_PASSAGES);
        let neural = |of: fn(&CostedRanker) -> f64| -> f64 {
            let each = NEURAL_RANKERS.iter().map(|it| {
                of(it)
                    * match it.unit {
                        ScoredUnit::Document => n_documents,
                        ScoredUnit::Pair => n_pairs,
                    }
            });
            each.sum()
        };
        // An axiom compares the documents of a query in pairs.
        let growth = (depth / self.depth).powi(2);
        let search = TOP_100_MS / 1e3 * N_PASSAGES;
        StudyEstimate {
            n_pairs,
            n_documents,
            mining_seconds: n_queries * (self.mining_seconds * growth + search),
            scoring_seconds: neural(CostedRanker::cpu_seconds),
            gpu_seconds: neural(CostedRanker::gpu_seconds),
            mining_bytes: n_queries * self.mining_bytes * growth,
            score_bytes: n_pairs * N_RANKERS as f64 * self.score_bytes,
        }
    }
}

/// The estimated cost of a study.
#[derive(Debug)]
struct StudyEstimate {
    n_pairs: f64,
    n_documents: f64,
    mining_seconds: f64,
    scoring_seconds: f64,
    gpu_seconds: f64,
    mining_bytes: f64,
    score_bytes: f64,
}

/// Adds a table for each ranker and one of studies, with what is assumed.
pub(super) fn add_costs(rates: &MeasuredRates, table: &mut BenchTable) {
    let mut rankers = vec![
        "| ranker | reads once | operations (MiniLM: 1) | CPU, one core | GPU (V100) |".to_owned(),
        "|---|---|---:|---:|---:|".to_owned(),
        "| BM25 | | | with mining | |".to_owned(),
        "| LGBM | | | not measured | |".to_owned(),
    ];
    for it in NEURAL_RANKERS {
        rankers.push(format!(
            "| {} | {} | {:.1} | {:.0} ms | {:.1} ms |",
            it.name,
            match it.unit {
                ScoredUnit::Document => "each document",
                ScoredUnit::Pair => "each pair",
            },
            it.operations,
            it.cpu_seconds() * 1e3,
            it.gpu_seconds() * 1e3
        ));
    }
    table.section(
        "Estimated: a document or a pair of MS MARCO passages",
        rankers,
    );
    let mut studies = vec![
        "| queries | documents each | pairs | distinct documents, at most | CPU of mining | of \
         neural scores | or GPU (V100) | outputs of mining | of ten rankers |"
            .to_owned(),
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for n_queries in N_QUERIES {
        for depth in DEPTHS {
            let it = rates.cost(n_queries, depth);
            studies.push(format!(
                "| {n_queries} | {depth} | {:.1} M | {:.1} M | {:.1} h | {:.0} h | {:.1} h | {} | \
                 {} |",
                it.n_pairs / 1e6,
                it.n_documents / 1e6,
                it.mining_seconds / 3600.0,
                it.scoring_seconds / 3600.0,
                it.gpu_seconds / 3600.0,
                gigabytes(it.mining_bytes),
                gigabytes(it.score_bytes)
            ));
        }
    }
    table.section(
        "Estimated: MS MARCO passages, nine axioms, ten rankers of ABNIRML",
        studies,
    );
    table.note(format!(
        "Estimates, measured: mining takes {:.1} ms and {:.0} bytes for a query with {} documents, \
         and a score {:.1} bytes. {:.2} pairs are scored for each document that is wanted: some \
         queries have fewer documents, some documents have no instance, and others are derived. On \
         one core MiniLM reads a pair in {:.1} ms and encodes a passage in {:.1} ms, and a BM25 \
         search of 8.8 M passages takes {:.1} ms (from the first table, in proportion to the number \
         of passages).",
        rates.mining_seconds * 1e3,
        rates.mining_bytes,
        rates.depth,
        rates.score_bytes,
        rates.pairs,
        CPU_SECONDS_OF_PAIR * 1e3,
        CPU_SECONDS_OF_PASSAGE * 1e3,
        TOP_100_MS * N_PASSAGES,
    ));
    table.note(format!(
        "Estimates, extrapolated: mining grows with the square of the number of documents. Other \
         rankers take the time of MiniLM in proportion to the operations in their layers; DT5Q, \
         which generates token by token, takes longer than that. The GPU is that of a model card, \
         {GPU_PAIRS_PER_SECOND} pairs/s for the size of BERT-base. Left out: queries (each executor \
         encodes all of them once), MaxSim, features of LGBM, and reading the collection (each \
         executor that mines indexes it in {:.0} s and needs {:.1} GB of memory for it).",
        N_PASSAGES / INDEXED_PER_SECOND,
        INDEX_MB * N_PASSAGES / 1e3
    ));
}

fn gigabytes(bytes: f64) -> String {
    match bytes >= 1e12 {
        true => format!("{:.1} TB", bytes / 1e12),
        false => format!("{:.1} GB", bytes / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplications in the layers of an encoder for a token: four square matrices of attention
    /// and two of the feed-forward network for each layer.
    fn encoder(layers: f64, units: f64, inner: f64) -> f64 {
        layers * (4.0 * units * units + 2.0 * units * inner)
    }

    #[test]
    fn operations_are_those_of_the_layers() {
        let mini_lm = encoder(6.0, 384.0, 1536.0);
        let check = |name: &str, expected: f64| {
            let ranker = NEURAL_RANKERS.iter().find(|it| it.name == name).unwrap();
            let ratio = ranker.operations / (expected / mini_lm);
            assert!((ratio - 1.0).abs() < 1e-3, "{name}: {ratio}");
        };
        check("VBERT", encoder(12.0, 768.0, 3072.0));
        // Keys and values of each layer of the decoder.
        let t5 = |layers: f64, units: f64, inner: f64| {
            encoder(layers, units, inner) + layers * 2.0 * units * units
        };
        check("T5-B", t5(12.0, 768.0, 3072.0));
        check("T5-L", t5(24.0, 1024.0, 4096.0));
        // A decoder attends twice, to itself and with keys and values that are there, and each of
        // its tokens has 32,128 logits.
        let generated = t5(12.0, 768.0, 3072.0) + 768.0 * 32_128.0;
        let per_token = 4.0 * 8.0 / 80.0 * generated;
        check("DT5Q", t5(12.0, 768.0, 3072.0) + per_token);
    }

    #[test]
    fn documents_are_read_once_and_pairs_for_each_query() {
        let rates = MeasuredRates {
            depth: 100.0,
            mining_seconds: 0.0,
            mining_bytes: 10.0,
            pairs: 1.0,
            score_bytes: 2.0,
        };
        let small = rates.cost(1_000.0, 100.0);
        let deep = rates.cost(1_000_000.0, 1_000.0);
        assert_eq!((small.n_documents, small.n_pairs), (1e5, 1e5));
        assert_eq!((deep.n_documents, deep.n_pairs), (N_PASSAGES, 1e9));
        assert_eq!((small.mining_bytes, small.score_bytes), (1e4, 2e6));
        // A hundred times as much for each query.
        assert_eq!(deep.mining_bytes, 1e9);
    }
}

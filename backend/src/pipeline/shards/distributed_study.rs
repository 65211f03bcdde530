//! The side of the driver: which shards a study has, and how their outputs enter it.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::collection::Collection;
use shared::rank::LexicalRanker;
use shared::score::rescoring::ScoreStabilityRecord;
use shared::study::StudyDefinition;
use shared::study::preparation::MinedQuery;

use super::study_inputs::StudyInputFiles;
use super::{ShardEngine, ShardWork, StudyShard, decode, encode, input_name};
use crate::error::{Error, ShardError};
use crate::models::{NeuralRanker, PairScore, QueryDocumentPairsWithTexts, TOKEN_BUDGET};
use crate::remote_ranker::RemoteRanker;
use crate::store::partial_scores::PartialScores;

/// The number of outputs that are read at the same time.
const OUTPUTS_AT_A_TIME: usize = 8;

/// How much work a shard has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardSizes {
    /// Queries to mine.
    pub queries: usize,
    /// Batches of pairs to score with neural rankers.
    pub batches: usize,
    /// Pairs to score with a remote ranker, rounded to whole requests.
    pub remote_pairs: usize,
}

/// A study whose shards are computed on several machines.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StudyJob {
    /// SHA-256, in hex, of everything that determines the shards and their outputs.
    pub id: String,
    /// The name of the study.
    pub study: String,
    /// The number of threads that compute a batch of pairs, which affects rounding.
    pub n_threads: usize,
    /// The size of its shards.
    pub sizes: ShardSizes,
}

/// Machines that compute the shards of a study.
pub struct StudyCluster {
    /// How much work a shard has.
    pub sizes: ShardSizes,
    /// Opens the engine for the study.
    pub open_engine: Box<EngineOpener>,
}

/// Opens the engine of a study.
pub type EngineOpener = dyn Fn(&StudyJob) -> Result<Box<dyn ShardEngine>, ShardError>;

/// The engine that computes the shards of a study, for the functions that create it.
pub(crate) struct DistributedStudy {
    engine: Box<dyn ShardEngine>,
    sizes: ShardSizes,
    /// The lexical rankers of the study.
    lexical_rankers: Vec<LexicalRanker>,
    /// The scores of each of them by query, once the queries have been mined.
    lexical_scores: Mutex<Vec<Option<Vec<Vec<f64>>>>>,
}

/// A query that was mined, with the scores of its pairs by lexical ranker.
#[derive(Serialize, Deserialize)]
pub(super) struct MinedQueryWithScores {
    pub(super) mined: MinedQuery,
    pub(super) lexical: Vec<Vec<f64>>,
}

/// Rankers, queries and pairs that all batches of a stage share.
#[derive(Serialize, Deserialize)]
pub(super) struct RankersInput {
    /// The spec of each ranker, and the hash of its weights and settings.
    pub(super) rankers: Vec<RankerInput>,
    pub(super) queries: Vec<String>,
    pub(super) pairs: Vec<(u32, u32)>,
}

/// A neural ranker, with what an executor needs to load it and to compare it with the driver's.
#[derive(Serialize, Deserialize)]
pub(super) struct RankerInput {
    pub(super) spec: String,
    pub(super) fingerprint: String,
    /// The term statistics of a doc2query ranker, as JSON.
    pub(super) statistics: Option<String>,
}

/// The documents of a batch, each with its number.
#[derive(Serialize, Deserialize)]
pub(super) struct BatchInput {
    pub(super) number: u32,
    pub(super) documents: Vec<(u32, String)>,
}

/// The scores of a batch by ranker.
#[derive(Serialize, Deserialize)]
pub(super) struct BatchScores {
    pub(super) number: u32,
    pub(super) scores: Vec<Vec<PairScore>>,
}

/// Pairs with their texts, for one ranker.
#[derive(Serialize, Deserialize)]
pub(super) struct PairsInput<R> {
    pub(super) ranker: R,
    pub(super) queries: Vec<String>,
    pub(super) documents: Vec<String>,
    pub(super) pairs: Vec<(u32, u32)>,
}

impl<R> PairsInput<R> {
    /// Takes some pairs with the queries and documents that they need, in their order.
    fn of_pairs(
        ranker: R,
        listed: &QueryDocumentPairsWithTexts<'_>,
        pairs: impl Iterator<Item = u32>,
    ) -> PairsInput<R> {
        let pairs: Vec<(u32, u32)> = pairs.map(|it| listed.pairs[it as usize]).collect();
        let number = |side: fn(&(u32, u32)) -> u32| {
            let mut needed: Vec<u32> = pairs.iter().map(side).collect();
            needed.sort_unstable();
            needed.dedup();
            needed
        };
        let (queries, documents) = (number(|it| it.0), number(|it| it.1));
        let place = |among: &[u32], it: u32| among.partition_point(|&other| other < it) as u32;
        let texts = |among: &[u32], all: &[String]| {
            let each = among.iter().map(|&it| all[it as usize].clone());
            each.collect()
        };
        PairsInput {
            ranker,
            pairs: pairs
                .iter()
                .map(|&(query, text)| (place(&queries, query), place(&documents, text)))
                .collect(),
            queries: texts(&queries, listed.queries),
            documents: texts(&documents, listed.documents),
        }
    }

    /// Returns the pairs with their texts.
    pub(super) fn listed(&self) -> QueryDocumentPairsWithTexts<'_> {
        QueryDocumentPairsWithTexts {
            queries: &self.queries,
            documents: &self.documents,
            pairs: &self.pairs,
        }
    }
}

impl DistributedStudy {
    /// Opens the engine for a study whose vocabularies have been loaded, and stores the inputs that
    /// mining needs.
    pub(crate) fn begin(
        definition: &StudyDefinition,
        collection: &Collection,
        folder: &Path,
        cluster: &StudyCluster,
    ) -> Result<DistributedStudy, Error> {
        let sizes = cluster.sizes;
        let files = StudyInputFiles::collect(definition, collection, folder)?;
        let n_threads = rayon::current_num_threads();
        let settings = [
            env!("CARGO_PKG_VERSION").to_owned(),
            n_threads.to_string(),
            format!("{sizes:?}"),
        ];
        let job = StudyJob {
            id: files.hash_with_settings(&settings),
            study: definition.name.clone(),
            n_threads,
            sizes,
        };
        let engine = (cluster.open_engine)(&job)?;
        for (name, content) in files.inputs {
            engine.put_input(&name, content)?;
        }
        let rankers = definition.rankers.iter();
        let lexical_rankers: Vec<LexicalRanker> =
            rankers.filter_map(|it| it.parse().ok()).collect();
        Ok(DistributedStudy {
            engine,
            sizes,
            lexical_scores: Mutex::new(lexical_rankers.iter().map(|_| None).collect()),
            lexical_rankers,
        })
    }

    /// Mines queries and passes them on in order.
    pub(crate) fn mine_queries(
        &self,
        n_queries: usize,
        take: &mut dyn FnMut(Vec<MinedQuery>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let starts = (0..n_queries).step_by(self.sizes.queries.max(1));
        let shards = starts.zip(0..).map(|(from, number)| StudyShard {
            number,
            work: ShardWork::MineQueries {
                queries: from..n_queries.min(from + self.sizes.queries.max(1)),
            },
        });
        let shards: Vec<StudyShard> = shards.collect();
        self.engine.compute_shards(&shards)?;
        let mut lexical: Vec<Vec<Vec<f64>>> = vec![Vec::new(); self.lexical_rankers.len()];
        for queries in self.outputs::<Vec<MinedQueryWithScores>>(&shards) {
            let queries = queries?;
            let mut mined = Vec::with_capacity(queries.len());
            for query in queries {
                for (all, scores) in lexical.iter_mut().zip(query.lexical) {
                    all.push(scores);
                }
                mined.push(query.mined);
            }
            take(mined)?;
        }
        let mut kept = self.locked_lexical_scores();
        *kept = lexical.into_iter().map(Some).collect();
        Ok(())
    }

    /// Returns the scores of the lexical ranker at an index by query, once.
    pub(crate) fn take_lexical_scores(&self, ranker: usize) -> Option<Vec<Vec<f64>>> {
        self.locked_lexical_scores().get_mut(ranker)?.take()
    }

    fn locked_lexical_scores(&self) -> std::sync::MutexGuard<'_, Vec<Option<Vec<Vec<f64>>>>> {
        let scores = self.lexical_scores.lock();
        scores.unwrap_or_else(PoisonError::into_inner)
    }

    /// Scores the batches of rankers that encode texts in the same way, and adds them to their
    /// partial scores.
    pub(crate) fn score_batches(
        &self,
        rankers: &[&NeuralRanker],
        listed: &QueryDocumentPairsWithTexts<'_>,
        drafts: &mut [PartialScores],
    ) -> Result<(), Error> {
        let Some(first) = rankers.first() else {
            return Ok(());
        };
        let batches = first.plan_scoring_batches(listed.documents, listed.pairs, TOKEN_BUDGET)?;
        let common = RankersInput {
            rankers: rankers
                .iter()
                .map(|it| ranker_input(it))
                .collect::<Result<_, _>>()?,
            queries: listed.queries.to_vec(),
            pairs: listed.pairs.to_vec(),
        };
        let common = self.put("rankers", &common)?;
        let mut shards = Vec::new();
        for (some, number) in batches.chunks(self.sizes.batches.max(1)).zip(0..) {
            let from = number as usize * self.sizes.batches.max(1);
            let input = some
                .iter()
                .zip(from as u32..)
                .map(|(texts, number)| BatchInput {
                    number,
                    documents: texts
                        .iter()
                        .map(|&it| (it, listed.documents[it as usize].clone()))
                        .collect(),
                });
            let input: Vec<BatchInput> = input.collect();
            shards.push(StudyShard {
                number,
                work: ShardWork::ScoreBatches {
                    common: common.clone(),
                    batches: self.put("batches", &input)?,
                },
            });
        }
        self.engine.compute_shards(&shards)?;
        for batches in self.outputs::<Vec<BatchScores>>(&shards) {
            for batch in batches? {
                for (draft, scores) in drafts.iter_mut().zip(batch.scores) {
                    draft.insert_batch_kept_elsewhere(batch.number, scores);
                }
            }
        }
        Ok(())
    }

    /// Scores pairs again under other conditions.
    pub(crate) fn rescore_sample(
        &self,
        ranker: &NeuralRanker,
        listed: &QueryDocumentPairsWithTexts<'_>,
        sample: &[u32],
    ) -> Result<Option<ScoreStabilityRecord>, Error> {
        let input = PairsInput::of_pairs(ranker_input(ranker)?, listed, sample.iter().copied());
        let shard = StudyShard {
            number: 0,
            work: ShardWork::RescorePairs {
                pairs: self.put("pairs", &input)?,
            },
        };
        self.engine.compute_shards(std::slice::from_ref(&shard))?;
        let bytes = self.engine.read_outputs(std::slice::from_ref(&shard))?;
        let record: Option<ScoreStabilityRecord> = serde_json::from_slice(&bytes[0])
            .map_err(|error| ShardError::permanent(format!("{}: {error}", shard.name())))?;
        Ok(record.map(|mut record| {
            for it in &mut record.rescored {
                it.pairs = sample.to_vec();
            }
            record
        }))
    }

    /// Scores the pairs that `draft` lacks with a remote ranker, in the requests that it would get
    /// from one machine.
    pub(crate) fn send_requests(
        &self,
        ranker: &RemoteRanker,
        listed: &QueryDocumentPairsWithTexts<'_>,
        draft: &mut PartialScores,
    ) -> Result<(), Error> {
        let missing = RemoteRanker::missing_pairs(listed, draft);
        let mut shards = Vec::new();
        let mut pairs_of_shards = Vec::new();
        let mut from = 0;
        let requests = ranker.group_into_requests(listed, &missing);
        for (at, request) in requests.iter().enumerate() {
            let is_last = at + 1 == requests.len();
            if request.end - from < self.sizes.remote_pairs.max(1) && !is_last {
                continue;
            }
            let pairs = &missing[from..request.end];
            let input = PairsInput::of_pairs(ranker.clone(), listed, pairs.iter().copied());
            let number = shards.len() as u32;
            pairs_of_shards.push(pairs);
            shards.push(StudyShard {
                number,
                work: ShardWork::SendRequests {
                    pairs: self.put("pairs", &input)?,
                },
            });
            from = request.end;
        }
        self.engine.compute_shards(&shards)?;
        let outputs = self.outputs::<Vec<PairScore>>(&shards);
        for (scores, pairs) in outputs.zip(pairs_of_shards) {
            let mut scores = scores?;
            for it in &mut scores {
                it.pair = pairs[it.pair as usize];
            }
            // As in the partial scores of one machine, the first pair identifies a batch.
            draft.insert_batch_kept_elsewhere(pairs[0], scores);
        }
        Ok(())
    }

    /// Stores an input under a name that begins with `kind` and ends with the hash of its content.
    fn put<T: Serialize>(&self, kind: &str, input: &T) -> Result<String, ShardError> {
        let content = encode(input)?;
        let name = input_name(kind, &content);
        self.engine.put_input(&name, content)?;
        Ok(name)
    }

    /// Reads and decodes the outputs of shards in their order.
    fn outputs<'a, T: DeserializeOwned + 'a>(
        &'a self,
        shards: &'a [StudyShard],
    ) -> impl Iterator<Item = Result<T, ShardError>> + 'a {
        shards.chunks(OUTPUTS_AT_A_TIME).flat_map(move |some| {
            let outputs = match self.engine.read_outputs(some) {
                Ok(outputs) => outputs,
                Err(error) => return vec![Err(error)],
            };
            let outputs = some.iter().zip(outputs);
            let decoded = outputs.map(|(shard, output)| decode(&shard.name(), &output));
            decoded.collect()
        })
    }
}

fn ranker_input(ranker: &NeuralRanker) -> Result<RankerInput, Error> {
    let statistics = ranker.term_frequencies();
    let json = statistics.map(serde_json::to_string).transpose();
    Ok(RankerInput {
        spec: ranker.spec_for_other_machines(),
        fingerprint: ranker.about.fingerprint.clone(),
        statistics: json.map_err(|error| ShardError::permanent(error.to_string()))?,
    })
}

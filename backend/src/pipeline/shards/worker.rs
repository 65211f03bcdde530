//! The side of an executor: computes shards from their inputs.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use neural::{Device, DeviceAndPrecision};
use shared::rank::LexicalRanker;
use shared::study::preparation::QueryMiner;

use super::distributed_study::{
    BatchInput, BatchScores, MinedQueryWithScores, PairsInput, RankerInput, RankersInput,
};
use super::study_inputs::prepare_collection;
use super::{ShardInputs, ShardWork, StudyJob, StudyShard, decode, encode, read_checked};
use crate::config::register_models;
use crate::error::{Error, ShardError};
use crate::models::{ModelRegistry, NeuralRanker, RankersWithQueries};
use crate::remote_ranker::RemoteRanker;
use crate::store::partial_scores::PartialScores;

/// The output of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardOutput {
    /// The number of queries or pairs.
    pub n_rows: u64,
    /// The encoded output.
    pub content: Vec<u8>,
}

/// Computes shards, several at a time, and keeps what the shards of a study share: the prepared
/// collection, the models and the encoded queries.
pub struct ShardWorker {
    models: Vec<String>,
    computing: DeviceAndPrecision,
    n_slots: usize,
    mining: Mutex<Option<(String, MiningService)>>,
    rankers: Mutex<Option<(String, Arc<RankersWithQueries>)>>,
    registry: Mutex<Option<Arc<ModelRegistry>>>,
}

impl ShardWorker {
    /// Creates a worker that mines up to `n_slots` shards at a time, with models as given on the
    /// command line.
    pub(crate) fn with_models(
        models: Vec<String>,
        computing: DeviceAndPrecision,
        n_slots: usize,
    ) -> ShardWorker {
        ShardWorker {
            models,
            computing,
            n_slots,
            mining: Mutex::default(),
            rankers: Mutex::default(),
            registry: Mutex::default(),
        }
    }

    /// Describes what decides the rounding of neural scores beside weights and threads: the kind of
    /// device, and the vector units of the processor.
    pub fn processor(&self) -> String {
        match self.computing.device {
            Device::Cpu => format!("cpu {}{}", std::env::consts::ARCH, vector_units()),
            Device::Cuda(_) => "cuda".to_owned(),
            Device::Metal(_) => "metal".to_owned(),
        }
    }

    /// Computes a shard of a study.
    pub fn compute(
        &self,
        job: &StudyJob,
        shard: &StudyShard,
        inputs: &Arc<dyn ShardInputs>,
    ) -> Result<ShardOutput, ShardError> {
        match &shard.work {
            ShardWork::MineQueries { queries } => self.mine(job, queries.clone(), inputs),
            ShardWork::ScoreBatches { common, batches } => {
                ensure_same_threads(job)?;
                self.end_mining_of(job);
                self.score(job, common, batches, &**inputs)
            }
            ShardWork::RescorePairs { pairs } => {
                ensure_same_threads(job)?;
                self.rescore(pairs, &**inputs)
            }
            ShardWork::SendRequests { pairs } => send_requests(pairs, &**inputs),
        }
    }

    fn mine(
        &self,
        job: &StudyJob,
        queries: Range<usize>,
        inputs: &Arc<dyn ShardInputs>,
    ) -> Result<ShardOutput, ShardError> {
        let answer = {
            let mut mining = self.mining.lock().unwrap_or_else(PoisonError::into_inner);
            let service = match &mut *mining {
                Some((id, service)) if *id == job.id => service,
                other => {
                    // The collection of another study is freed when its last shard is mined.
                    *other = None;
                    let service = MiningService::start(inputs.clone(), self.n_slots);
                    &mut other.insert((job.id.clone(), service)).1
                }
            };
            service.ask(queries)
        };
        let mined = match answer.recv() {
            Ok(mined) => mined,
            Err(mpsc::RecvError) => {
                // The service has ended; the next attempt starts another one.
                *self.mining.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Err(ShardError::transient("mining has ended unexpectedly"))
            }
        };
        let mined = mined.inspect_err(|_| {
            *self.mining.lock().unwrap_or_else(PoisonError::into_inner) = None;
        })?;
        Ok(ShardOutput {
            n_rows: mined.len() as u64,
            content: encode(&mined)?,
        })
    }

    /// Frees the collection of a study whose queries have been mined.
    fn end_mining_of(&self, job: &StudyJob) {
        let mut mining = self.mining.lock().unwrap_or_else(PoisonError::into_inner);
        mining.take_if(|it| it.0 == job.id);
    }

    fn score(
        &self,
        job: &StudyJob,
        common: &str,
        batches: &str,
        inputs: &dyn ShardInputs,
    ) -> Result<ShardOutput, ShardError> {
        let rankers = self.rankers_with_queries(job, common, inputs)?;
        let batches: Vec<BatchInput> = decode(batches, &read_checked(inputs, batches)?)?;
        let mut scored = Vec::with_capacity(batches.len());
        for batch in &batches {
            scored.push(BatchScores {
                number: batch.number,
                scores: rankers.score_batch(&batch.documents)?,
            });
        }
        let n_pairs = scored.iter().flat_map(|it| &it.scores).map(Vec::len);
        Ok(ShardOutput {
            n_rows: n_pairs.sum::<usize>() as u64,
            content: encode(&scored)?,
        })
    }

    /// Returns the rankers of an input with their encoded queries. Those of one input are kept.
    fn rankers_with_queries(
        &self,
        job: &StudyJob,
        common: &str,
        inputs: &dyn ShardInputs,
    ) -> Result<Arc<RankersWithQueries>, ShardError> {
        let key = format!("{} {common}", job.id);
        // Other shards wait, so that queries are encoded once.
        let mut kept = self.rankers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, rankers)) = &*kept
            && *of == key
        {
            return Ok(rankers.clone());
        }
        *kept = None;
        let input: RankersInput = decode(common, &read_checked(inputs, common)?)?;
        let rankers = self.load(&input.rankers)?;
        let encoded = RankersWithQueries::encode(rankers, &input.queries, &input.pairs)?;
        let encoded = Arc::new(encoded);
        *kept = Some((key, encoded.clone()));
        Ok(encoded)
    }

    fn rescore(&self, pairs: &str, inputs: &dyn ShardInputs) -> Result<ShardOutput, ShardError> {
        let input: PairsInput<RankerInput> = decode(pairs, &read_checked(inputs, pairs)?)?;
        let ranker = self.load(std::slice::from_ref(&input.ranker))?.remove(0);
        let sample: Vec<u32> = (0..input.pairs.len() as u32).collect();
        let record = ranker.rescore_sample_under_conditions(&input.listed(), &sample, &|| true);
        // The scores are complete even if this check fails.
        let record = record.unwrap_or_else(|error| {
            tracing::warn!("{}: no certificate: {error}", input.ranker.spec);
            None
        });
        let content = serde_json::to_vec(&record);
        Ok(ShardOutput {
            n_rows: input.pairs.len() as u64,
            content: content.map_err(|error| ShardError::permanent(error.to_string()))?,
        })
    }

    /// Loads rankers. Returns an error if one of them has other weights or another precision than
    /// that of the driver.
    fn load(&self, rankers: &[RankerInput]) -> Result<Vec<NeuralRanker>, ShardError> {
        let specs: Vec<String> = rankers.iter().map(|it| it.spec.clone()).collect();
        let registry = {
            let mut kept = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
            let fits = |it: &&Arc<ModelRegistry>| {
                specs.iter().all(|spec| it.get_or_load_ranker(spec).is_ok())
            };
            match kept.as_ref().filter(fits) {
                Some(registry) => registry.clone(),
                None => {
                    let registry = register_models(&self.models, &specs, self.computing)?;
                    kept.insert(Arc::new(registry)).clone()
                }
            }
        };
        let ranker = |input: &RankerInput| {
            let ranker = registry.get_or_load_ranker(&input.spec);
            let ranker = ranker.map_err(|error| match error {
                Error::ModelNotFound { .. } | Error::Input(_) => ShardError::permanent(format!(
                    "{error}; give each executor the model by `--model`"
                )),
                error => error.into(),
            })?;
            if ranker.about.fingerprint != input.fingerprint {
                return Err(ShardError::permanent(format!(
                    "{}: this executor has other weights or another precision than the driver \
                     ({}); give all machines the same model files",
                    input.spec, ranker.about.detail
                )));
            }
            let Some(statistics) = &input.statistics else {
                return Ok((*ranker).clone());
            };
            let statistics: crate::models::QueryTermFrequencies = serde_json::from_str(statistics)
                .map_err(|error| ShardError::permanent(error.to_string()))?;
            Ok(ranker.with_term_frequencies(statistics))
        };
        rankers.iter().map(ranker).collect()
    }
}

/// Returns the vector units of this processor that the matrix products use.
#[cfg(target_arch = "x86_64")]
fn vector_units() -> &'static str {
    match (
        std::arch::is_x86_feature_detected!("avx512f"),
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma"),
    ) {
        (true, _) => " avx512f",
        (false, true) => " avx2 fma",
        (false, false) => "",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vector_units() -> &'static str {
    ""
}

/// Returns an error if this process computes a batch with another number of threads than the driver
/// would.
fn ensure_same_threads(job: &StudyJob) -> Result<(), ShardError> {
    let own = rayon::current_num_threads();
    if own == job.n_threads {
        return Ok(());
    }
    Err(ShardError::permanent(format!(
        "this executor computes a batch of pairs with {own} threads and the driver with {}, which \
         affects rounding; start both with the same number in the variable RAYON_NUM_THREADS",
        job.n_threads
    )))
}

fn send_requests(pairs: &str, inputs: &dyn ShardInputs) -> Result<ShardOutput, ShardError> {
    let input: PairsInput<RemoteRanker> = decode(pairs, &read_checked(inputs, pairs)?)?;
    let mut unstored = PartialScores::empty_without_file();
    let scored = input
        .ranker
        .score_pairs(&input.listed(), &mut unstored, |_| {});
    // Each request was tried as often as the settings of the ranker allow.
    let scored = scored.map_err(|error| ShardError::permanent(error.to_string()))?;
    Ok(ShardOutput {
        n_rows: scored.len() as u64,
        content: encode(&scored)?,
    })
}

/// Threads that mine the queries of one prepared collection.
struct MiningService {
    requests: mpsc::Sender<MiningRequest>,
}

type MinedQueries = Result<Vec<MinedQueryWithScores>, ShardError>;

struct MiningRequest {
    queries: Range<usize>,
    answer: mpsc::Sender<MinedQueries>,
}

impl MiningService {
    /// Prepares the collection on a thread of its own, and mines on `n_slots` more.
    fn start(inputs: Arc<dyn ShardInputs>, n_slots: usize) -> MiningService {
        let (requests, asked) = mpsc::channel();
        thread::spawn(move || serve(&*inputs, &Mutex::new(asked), n_slots.max(1)));
        MiningService { requests }
    }

    fn ask(&self, queries: Range<usize>) -> mpsc::Receiver<MinedQueries> {
        let (answer, answered) = mpsc::channel();
        // If the service has ended, nobody answers.
        let _ = self.requests.send(MiningRequest { queries, answer });
        answered
    }
}

fn serve(inputs: &dyn ShardInputs, asked: &Mutex<mpsc::Receiver<MiningRequest>>, n_slots: usize) {
    let next = || {
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.recv().ok()
    };
    let refuse_all = |error: &ShardError| {
        while let Some(request) = next() {
            let _ = request.answer.send(Err(error.clone()));
        }
    };
    let (definition, prepared) = match prepare_collection(inputs) {
        Ok(prepared) => prepared,
        Err(error) => return refuse_all(&error),
    };
    let miner = match prepared.query_miner() {
        Ok(miner) => miner,
        Err(error) => return refuse_all(&ShardError::permanent(error.to_string())),
    };
    let rankers = definition.rankers.iter();
    let rankers: Vec<LexicalRanker> = rankers.filter_map(|it| it.parse().ok()).collect();
    let n_queries = prepared.collection.queries.len();
    thread::scope(|scope| {
        for _ in 0..n_slots {
            scope.spawn(|| {
                while let Some(request) = next() {
                    let mined = match request.queries.end <= n_queries {
                        true => Ok(mine(&miner, request.queries, &rankers)),
                        false => Err(ShardError::permanent(format!(
                            "there are {n_queries} queries, not {}",
                            request.queries.end
                        ))),
                    };
                    // The task may have been canceled.
                    let _ = request.answer.send(mined);
                }
            });
        }
    });
}

fn mine(
    miner: &QueryMiner<'_>,
    queries: Range<usize>,
    rankers: &[LexicalRanker],
) -> Vec<MinedQueryWithScores> {
    let of_query = |query: usize| {
        let mined = miner.mine_query(query);
        let each = rankers.iter();
        let lexical = each.map(|it| miner.score_lexically(query, &mined, it));
        MinedQueryWithScores {
            lexical: lexical.collect(),
            mined,
        }
    };
    queries.map(of_query).collect()
}

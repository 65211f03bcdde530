//! A study whose shards are computed apart is the study that is computed at once.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use shared::study::{Study, StudyDefinition};

use super::*;
use crate::config::register_models;
use crate::demo::embedded_demo_collection;
use crate::error::ShardError;
use crate::pipeline::{NewStudy, ParallelExecutor, StudyReplacementPolicy, create_or_resume_study};
use crate::remote_ranker::tests::request;
use crate::store::DataFolder;

/// The inputs and outputs of shards, which a worker of this process computes.
struct InMemoryEngine {
    job: StudyJob,
    worker: Arc<ShardWorker>,
    inputs: Arc<InMemoryInputs>,
    outputs: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

#[derive(Default)]
struct InMemoryInputs(Mutex<BTreeMap<String, Vec<u8>>>);

impl ShardInputs for InMemoryInputs {
    fn read_input(&self, name: &str) -> Result<Vec<u8>, ShardError> {
        Ok(self.0.lock().unwrap()[name].clone())
    }
}

impl ShardEngine for InMemoryEngine {
    fn put_input(&self, name: &str, content: Vec<u8>) -> Result<(), ShardError> {
        let mut inputs = self.inputs.0.lock().unwrap();
        let before = inputs.insert(name.to_owned(), content.clone());
        assert!(before.is_none_or(|it| it == content), "{name}");
        Ok(())
    }

    fn compute_shards(&self, shards: &[StudyShard]) -> Result<(), ShardError> {
        let inputs: Arc<dyn ShardInputs> = self.inputs.clone();
        // The last one first: their order does not matter.
        for shard in shards.iter().rev() {
            let output = self.worker.compute(&self.job, shard, &inputs)?;
            assert!(output.n_rows > 0, "{}", shard.name());
            let mut outputs = self.outputs.lock().unwrap();
            let before = outputs.insert(shard.name(), output.content);
            assert_eq!(before, None, "two shards are named {}", shard.name());
        }
        Ok(())
    }

    fn read_outputs(&self, shards: &[StudyShard]) -> Result<Vec<Vec<u8>>, ShardError> {
        let outputs = self.outputs.lock().unwrap();
        let each = shards.iter().map(|it| outputs[&it.name()].clone());
        Ok(each.collect())
    }
}

/// Starts a service that scores a document by its length and the length of the query. Returns its
/// address.
fn start_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/rerank", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let asked = request(&connection);
            let asked: Value = serde_json::from_str(asked.rsplit('\n').next().unwrap()).unwrap();
            let n_query = asked["query"].as_str().unwrap().len();
            let texts = asked["texts"].as_array().unwrap().iter().enumerate();
            let scores = texts.map(|(at, text)| {
                let n = text.as_str().unwrap().len();
                json!({"index": at, "score": n as f64 / n_query as f64})
            });
            let body = Value::Array(scores.collect()).to_string();
            let n_bytes = body.len();
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\ncontent-length: {n_bytes}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}

fn definition(service: &str) -> StudyDefinition {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let models = models.display();
    let text = format!(
        "name = \"parts\"\n\
         collection = \"demo\"\n\
         n_queries = 5\n\
         pool = \"rank:bm25:6\"\n\
         probes = [\"tfc1\", \"lnc2\", \"tp\", \"reverse-words\"]\n\
         rankers = [\"bm25\", \"{models}/tiny-epic:epic\", \"ql\", \
                    \"{models}/tiny-doc2query:doc2query\", \"{service}?texts=3\"]\n\
         audit = [{{ stemmer = \"none\" }}]\n\
         [limits]\n\
         repeated_terms = 60\n\
         manipulated = 1\n\
         [[transfers]]\n\
         name = \"fluency\"\n\
         file = \"transfer/fluency.jsonl\"\n"
    );
    StudyDefinition::from_toml("study.toml", &text).unwrap()
}

/// Creates the study in a data folder, with the shards apart or at once.
fn create(definition: &StudyDefinition, data: &Path, cluster: Option<StudyCluster>) -> Study {
    let models = register_models(&[], &definition.rankers, neural::Device::Cpu).unwrap();
    let study = NewStudy {
        definition: definition.clone(),
        collection: embedded_demo_collection().unwrap(),
        finished: StudyReplacementPolicy::Keep,
        executor: ParallelExecutor::default(),
        cluster,
    };
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    create_or_resume_study(study, &demo, &DataFolder::open(data).unwrap(), &models).unwrap()
}

#[test]
fn a_study_of_shards_is_that_of_one_process() {
    let [alone, together] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let definition = definition(&start_service());
    let expected = create(&definition, alone.path(), None);
    assert!(expected.n_unscored_rankers() == 0 && !expected.transfer_pair_counts.is_empty());

    let names: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
    let outputs = names.clone();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let models = ["tiny-epic", "tiny-doc2query"].map(|it| folder.join(it).display().to_string());
    let cluster = StudyCluster {
        sizes: ShardSizes {
            queries: 2,
            batches: 1,
            remote_pairs: 7,
        },
        open_engine: Box::new(move |job| {
            let computing = neural::Device::Cpu.into();
            Ok(Box::new(InMemoryEngine {
                job: job.clone(),
                worker: Arc::new(ShardWorker::with_models(models.to_vec(), computing, 2)),
                inputs: Arc::default(),
                outputs: outputs.clone(),
            }))
        }),
    };
    let found = create(&definition, together.path(), Some(cluster));
    let names = names.lock().unwrap();
    let count = |stage: &str| names.keys().filter(|it| it.starts_with(stage)).count();
    assert!(count("mine-") >= 3, "{:?}", names.keys());
    assert!(count("score-") >= 4, "{:?}", names.keys());
    assert!(count("remote-score-") >= 2, "{:?}", names.keys());
    assert_eq!(count("rescore-"), 2, "{:?}", names.keys());
    for (expected, found) in expected.scores.iter().zip(&found.scores) {
        assert!(expected == found, "{}", expected.ranker.spec);
    }
    assert!(expected == found);
}

#[test]
fn an_executor_with_other_threads_or_weights_is_refused() {
    let job = StudyJob {
        id: "0".repeat(64),
        study: "parts".to_owned(),
        n_threads: rayon::current_num_threads() + 1,
        sizes: ShardSizes {
            queries: 1,
            batches: 1,
            remote_pairs: 1,
        },
    };
    let inputs = Arc::new(InMemoryInputs::default());
    let rankers = distributed_study::RankersInput {
        rankers: vec![distributed_study::RankerInput {
            spec: "tiny-epic:epic".to_owned(),
            fingerprint: "of other weights".to_owned(),
            statistics: None,
        }],
        queries: Vec::new(),
        pairs: Vec::new(),
    };
    let content = encode(&rankers).unwrap();
    let name = input_name("rankers", &content);
    let shard = StudyShard {
        number: 0,
        work: ShardWork::ScoreBatches {
            common: name.clone(),
            batches: "batches".to_owned(),
        },
    };
    let mut stored = inputs.0.lock().unwrap();
    stored.insert(name.clone(), content.clone());
    drop(stored);
    let inputs: Arc<dyn ShardInputs> = inputs;
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-epic");
    let models = vec![model.display().to_string()];
    let worker = ShardWorker::with_models(models, neural::Device::Cpu.into(), 1);
    let error = worker.compute(&job, &shard, &inputs).unwrap_err();
    assert!(
        error.message.contains("RAYON_NUM_THREADS") && !error.is_transient,
        "{error}"
    );
    let job = StudyJob {
        n_threads: rayon::current_num_threads(),
        ..job
    };
    let error = worker.compute(&job, &shard, &inputs).unwrap_err();
    assert!(
        error.message.contains("other weights") && !error.is_transient,
        "{error}"
    );
    // What is damaged on the way is not used.
    let damaged = Arc::new(InMemoryInputs::default());
    let mut stored = damaged.0.lock().unwrap();
    stored.insert(name, content[1..].to_vec());
    drop(stored);
    let damaged: Arc<dyn ShardInputs> = damaged;
    let error = worker.compute(&job, &shard, &damaged).unwrap_err();
    assert!(error.message.contains("is damaged"), "{error}");
}

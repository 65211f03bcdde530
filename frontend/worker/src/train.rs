//! Trains word vectors on the documents of the Workbench.

use shared::api::ErrorResponse;
use shared::api::worker::{TrainedVectorsSummary, WorkerPipelineStage, WorkerResponse};
use shared::collection::Document;
use shared::index::{Index, IndexBuilder};
use shared::text::Analyzer;
use shared::word_vectors::glove::{
    CooccurrenceCounts, GloveCorpus, GloveSettings, GloveTrainer, GloveTrainingShard,
};
use wasm_bindgen::JsValue;

use crate::messages::{self, ProgressReporter, ThrottledReportOutcome};
use crate::study_requests::to_error_response;
use crate::{STATE, worker_problem};

/// The number of documents that are processed between two reports of progress.
const DOCUMENTS_PER_STEP: usize = 200;

/// Trains word vectors, and yields to other messages between steps.
pub(crate) async fn train_word_vectors(
    number: u64,
    analyzer: Analyzer,
    settings: GloveSettings,
) -> Result<(WorkerResponse, JsValue), ErrorResponse> {
    settings.validate().map_err(to_error_response)?;
    let docs = STATE.with_borrow(|it| it.documents_of_all_files());
    if docs.is_empty() {
        return Err(worker_problem(
            "There are no documents to train on. Add documents first.",
        ));
    }
    let mut watch = TrainingMonitor {
        number,
        clock: ProgressReporter::for_task(number),
    };
    let Some(index) = build_index(&docs, analyzer, &mut watch).await? else {
        return Ok((WorkerResponse::Canceled, JsValue::UNDEFINED));
    };
    drop(docs);
    let corpus = GloveCorpus::with_frequent_words(&index, settings).map_err(to_error_response)?;
    let Some(counted) = count_neighbors(&corpus, &mut watch).await else {
        return Ok((WorkerResponse::Canceled, JsValue::UNDEFINED));
    };
    let mut trainer = GloveTrainer::from_corpus_and_cooccurrences(corpus, vec![counted]);
    loop {
        let (done, of) = trainer.finished_and_total_rounds();
        if watch
            .is_stopped(WorkerPipelineStage::TrainVectors, done.into(), of.into())
            .await
        {
            return Ok((WorkerResponse::Canceled, JsValue::UNDEFINED));
        }
        if done == of {
            break;
        }
        trainer.train_round(|shards| shards.into_iter().map(GloveTrainingShard::train).collect());
    }
    let (costs, n_pairs) = (
        trainer.mean_cost_of_each_pass().to_vec(),
        trainer.n_cooccurring_pairs() as u64,
    );
    let vectors = trainer.into_word_vectors();
    let mut text = String::new();
    for row in 0..vectors.len() as u32 {
        text += &vectors.to_glove_line(row);
        text.push('\n');
    }
    let trained = TrainedVectorsSummary {
        n_words: vectors.len() as u64,
        n_dims: vectors.n_dims() as u64,
        n_cooccurrences: n_pairs,
        loss: [costs.first(), costs.last()].map(|it| it.copied().unwrap_or_default()),
    };
    Ok((
        WorkerResponse::VectorsTrained(trained),
        messages::create_text_blob(&text)?,
    ))
}

/// Reports progress and checks whether the task was canceled.
struct TrainingMonitor {
    number: u64,
    clock: ProgressReporter,
}

impl TrainingMonitor {
    async fn is_stopped(&mut self, stage: WorkerPipelineStage, done: u64, of: u64) -> bool {
        if self.clock.report_if_due(stage, done, of, None) == ThrottledReportOutcome::Sent {
            messages::yield_to_event_loop().await;
            return STATE.with_borrow(|it| it.canceled_task == Some(self.number));
        }
        false
    }
}

/// Builds the index of the documents; returns none if the task was canceled.
async fn build_index(
    docs: &[Document],
    analyzer: Analyzer,
    watch: &mut TrainingMonitor,
) -> Result<Option<Index>, ErrorResponse> {
    let mut builder = IndexBuilder::with_analyzer(analyzer).with_stored_tokens();
    for some in docs.chunks(DOCUMENTS_PER_STEP) {
        some.iter()
            .for_each(|it| builder.add_document(it.text_with_title()));
        let done = builder.n_docs() as u64;
        if watch
            .is_stopped(WorkerPipelineStage::Index, done, docs.len() as u64)
            .await
        {
            return Ok(None);
        }
    }
    builder.finish().map(Some).map_err(to_error_response)
}

/// Counts the co-occurrences of words; returns none if the task was canceled.
async fn count_neighbors(
    corpus: &GloveCorpus<'_>,
    watch: &mut TrainingMonitor,
) -> Option<CooccurrenceCounts> {
    let mut counted = CooccurrenceCounts::default();
    let n_docs = corpus.n_docs();
    for from in (0..n_docs).step_by(DOCUMENTS_PER_STEP) {
        let to = n_docs.min(from + DOCUMENTS_PER_STEP as u32);
        counted.count_more_docs(corpus, from..to);
        if watch
            .is_stopped(
                WorkerPipelineStage::CountCooccurrences,
                to.into(),
                n_docs.into(),
            )
            .await
        {
            return None;
        }
    }
    Some(counted)
}

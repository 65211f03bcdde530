//! Evaluates any model beside the controls that trained rankers have.

use std::collections::BTreeMap;

use shared::probe::CandidatePoolSpec;
use shared::report::{self, ReportTable};
use shared::training::MeasureValues;

use super::examples::{PreparedCandidates, SplitCandidates, measure_values, standard_errors};
use super::pools::CandidatePools;
use super::ranker_in_training::RankerToEvaluate;
use crate::collection_files::CollectionWithReadReport;
use crate::error::Error;
use crate::models::{NeuralRanker, QueryDocumentPairsWithTexts};
use crate::pipeline;
use crate::store::partial_scores::PartialScores;

/// The name that all queries get as their split if none is named.
const ALL: &str = "all";

/// The queries and candidates of an evaluation.
pub(crate) struct EvaluationRequest {
    /// The split of the queries; `None` for all queries.
    pub split: Option<String>,
    /// The split of the queries that the model was trained on.
    pub training_split: Option<String>,
    /// The candidates besides judged documents.
    pub pool: CandidatePoolSpec,
    /// The seed of the choice of another query.
    pub seed: u64,
}

/// The effectiveness of a model and of its controls.
pub(crate) struct ModelEvaluation {
    /// What a user has to know first, see [`report::effectiveness_warnings`].
    pub warnings: Vec<String>,
    /// The measures of the model and of its controls.
    pub table: ReportTable,
}

/// Evaluates the ranking of the candidates by a model and by its controls.
pub(crate) fn evaluate_model(
    ranker: &NeuralRanker,
    mut loaded: CollectionWithReadReport,
    request: &EvaluationRequest,
) -> Result<ModelEvaluation, Error> {
    let pools = CandidatePools::compute(&request.pool, &loaded.collection, &loaded.folder)?;
    let training = request.training_split.as_deref();
    let training = training.map(|it| SplitCandidates::select(&loaded.collection, it, &pools));
    let training = training.transpose()?;
    let split = request.split.as_deref();
    if split.is_none() {
        let queries = &mut loaded.collection.queries;
        queries
            .iter_mut()
            .for_each(|it| it.split = Some(ALL.to_owned()));
    }
    let collection = &loaded.collection;
    let candidates = SplitCandidates::select(collection, split.unwrap_or(ALL), &pools)?;
    let index = match ranker.needs_term_statistics() {
        true => pipeline::build_index(collection, &Default::default())?,
        false => shared::index::Index::build(&Default::default(), [])?,
    };
    let queries = collection.queries.iter().map(|it| it.text.as_str());
    let ranker = ranker.with_statistics_of_index(&index, queries);
    let candidates = PreparedCandidates::prepare(collection, candidates, &ranker)?;
    let values = candidates.evaluate(&ranker)?;
    let mut controls = candidates.evaluate_controls(&ranker, training.as_ref(), request.seed)?;
    controls.standard_error = standard_errors(&values);
    if training.is_none() {
        controls.candidates_and_those_in_training = [0; 2];
    }
    let own: MeasureValues = measure_values(&values.mean);
    let name = ranker.about.label.as_str();
    Ok(ModelEvaluation {
        warnings: report::effectiveness_warnings(&own, &controls, split),
        table: report::effectiveness_and_controls_table(&[(name, &own)], &controls, split),
    })
}

impl RankerToEvaluate for NeuralRanker {
    type Pair = [String; 2];

    fn name(&self) -> &str {
        &self.about.spec
    }

    fn reads_titles(&self) -> bool {
        self.reads_titles()
    }

    fn prepare_pair(&self, query: &str, document: &str) -> Result<[String; 2], Error> {
        Ok([query, document].map(str::to_owned))
    }

    fn score_pairs(&self, pairs: &[&[String; 2]]) -> Result<Vec<f64>, Error> {
        let numbered = |side: usize| {
            let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
            let mut texts: Vec<String> = Vec::new();
            let of_pair = pairs.iter().map(|pair| {
                *numbers.entry(&pair[side]).or_insert_with(|| {
                    texts.push(pair[side].clone());
                    texts.len() as u32 - 1
                })
            });
            let of_pair: Vec<u32> = of_pair.collect();
            (of_pair, texts)
        };
        let ((query_numbers, queries), (numbers, documents)) = (numbered(0), numbered(1));
        let numbers: Vec<(u32, u32)> = query_numbers.into_iter().zip(numbers).collect();
        let listed = QueryDocumentPairsWithTexts {
            queries: &queries,
            documents: &documents,
            pairs: &numbers,
        };
        let mut scores = vec![0.0; pairs.len()];
        for it in self.score_pairs(&listed, &mut PartialScores::empty_without_file(), |_| {})? {
            scores[it.pair as usize] = it.score;
        }
        Ok(scores)
    }
}

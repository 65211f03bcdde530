//! LambdaMART: an ensemble of regression trees over the ranking features of a query and a document.
//!
//! Its folder has `config.json` with the names of the features, `statistics.json` with those of the
//! collection it was trained on, and the trees as `model.json`, which XGBoost reads too.

use hessboost::model::{BoostedModel, ImportanceType, Iterations, ModelFormat};
use neural::{ModelFileContents, QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shared::rank::LexicalRanker;
use shared::score::ranking_features::{
    N_RANKING_FEATURES, RankingFeature, RankingFeatureExtractor, RankingFeatureValues,
};

/// The files of a LambdaMART folder: configuration, statistics of the collection, and trees.
pub(crate) const LAMBDAMART_FILES: [&str; 3] = ["config.json", "statistics.json", "model.json"];

/// `model_type` in the configuration.
const MODEL_TYPE: &str = "lambdamart";

/// Maximum size of the trees, in bytes: that of about 100,000 leaves.
const MAX_TREE_BYTES: usize = 64 << 20;

/// Maximum depth of a tree; one with the maximum number of leaves of a recipe can be this deep.
const MAX_DEPTH: usize = 1024;

/// The configuration of a LambdaMART ranker, `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LambdaMartConfig {
    model_type: String,
    /// The features, in the order in which the trees number them.
    features: Vec<RankingFeature>,
    /// The lexical rankers of the first two features.
    lexical_rankers: [String; 2],
}

impl LambdaMartConfig {
    /// Creates the configuration of all features with these lexical rankers.
    pub(crate) fn new(lexical_rankers: [LexicalRanker; 2]) -> LambdaMartConfig {
        LambdaMartConfig {
            model_type: MODEL_TYPE.to_owned(),
            features: RankingFeature::ALL.to_vec(),
            lexical_rankers: lexical_rankers.map(|it| it.to_string()),
        }
    }

    /// Returns the contents of `config.json`.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("a configuration has only texts")
    }

    /// Whether `config.json` is that of a LambdaMART ranker.
    pub(super) fn is_supported_config(config: &[u8]) -> bool {
        serde_json::from_slice::<LambdaMartConfig>(config)
            .is_ok_and(|it| it.model_type == MODEL_TYPE)
    }

    fn parse(config: &[u8]) -> Result<[LexicalRanker; 2], neural::Error> {
        let config: LambdaMartConfig = parse_json(LAMBDAMART_FILES[0], config)?;
        if config.model_type != MODEL_TYPE || config.features != RankingFeature::ALL {
            let names = RankingFeature::ALL.map(RankingFeature::name).join(", ");
            let reason = format!("the model type must be `{MODEL_TYPE}`, the features {names}");
            return Err(refuse(LAMBDAMART_FILES[0], &reason));
        }
        let [first, second] = config.lexical_rankers.map(|it| it.parse());
        match (first, second) {
            (Ok(first), Ok(second)) => Ok([first, second]),
            (Err(error), _) | (_, Err(error)) => Err(refuse(LAMBDAMART_FILES[0], &error)),
        }
    }
}

/// The trees of a LambdaMART ranker.
#[derive(Clone)]
pub(crate) struct LambdaMartTrees(BoostedModel);

impl LambdaMartTrees {
    /// Parses the trees. Returns an error if there is none, if they are of another kind than those
    /// of a training, or if a number is not finite.
    pub(crate) fn from_json(json: &[u8]) -> Result<LambdaMartTrees, neural::Error> {
        let invalid = |reason: &dyn ToString| Err(refuse(LAMBDAMART_FILES[2], reason));
        if json.len() > MAX_TREE_BYTES {
            return invalid(&format!("it has more than {MAX_TREE_BYTES} bytes"));
        }
        let model = match BoostedModel::decode(json, ModelFormat::XgboostJson) {
            Ok(model) => model,
            Err(error) => return invalid(&error),
        };
        let trees = model.trees();
        let is_of_training = model.n_features() == N_RANKING_FEATURES
            && model.n_outputs() == 1
            && model.linear().is_none()
            && !trees.is_empty()
            && trees
                .iter()
                .all(|it| !it.is_vector_leaf() && it.linear_leaves().is_none());
        if !is_of_training {
            return invalid(&format!(
                "it must have trees with one score over {N_RANKING_FEATURES} features"
            ));
        }
        if trees.iter().any(|it| it.depth() > MAX_DEPTH) {
            return invalid(&format!("a tree is deeper than {MAX_DEPTH}"));
        }
        Ok(LambdaMartTrees(model))
    }

    /// Takes the trees of a training.
    pub(crate) fn from_training(model: &BoostedModel) -> Result<LambdaMartTrees, neural::Error> {
        // What is trained further and what is loaded have the same bits.
        let json = model.encode(ModelFormat::XgboostJson);
        LambdaMartTrees::from_json(&json.map_err(|it| refuse(LAMBDAMART_FILES[2], &it))?)
    }

    /// Returns the contents of `model.json`.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, neural::Error> {
        let json = self.0.encode(ModelFormat::XgboostJson);
        json.map_err(|it| refuse(LAMBDAMART_FILES[2], &it))
    }

    /// Returns the trees to train further.
    pub(crate) fn as_boosted_model(&self) -> &BoostedModel {
        &self.0
    }

    /// Returns the number of leaves of all trees.
    pub(crate) fn n_leaves(&self) -> usize {
        self.0.trees().iter().map(|it| it.num_leaves()).sum()
    }

    /// Returns each feature with its importance: the sum of the gains of its splits, as a fraction
    /// of the gains of all splits.
    pub(crate) fn feature_importances(&self) -> Vec<(RankingFeature, f64)> {
        let gains = self.0.feature_importance(ImportanceType::TotalGain);
        let total: f64 = gains.values().sum();
        let share = |at: usize| match gains.get(&at) {
            Some(gain) if total > 0.0 => gain / total,
            _ => 0.0,
        };
        let features = RankingFeature::ALL.into_iter().enumerate();
        features.map(|(at, it)| (it, share(at))).collect()
    }

    /// Returns the score of each pair, higher is better, unbounded.
    pub(crate) fn score(&self, pairs: &[&RankingFeatureValues]) -> Result<Vec<f64>, neural::Error> {
        let score = |values: &&RankingFeatureValues| {
            let score = self.0.predict_row(&values[..], Iterations::Best);
            score
                .map_err(|it| refuse(LAMBDAMART_FILES[2], &it))
                .map(f64::from)
        };
        pairs.par_iter().map(score).collect()
    }
}

/// A LambdaMART ranker, from text to score.
pub(crate) struct LambdaMartRanker {
    features: RankingFeatureExtractor,
    trees: LambdaMartTrees,
    fingerprint: String,
}

impl LambdaMartRanker {
    /// Reads and checks the files of a trained ranker: `statistics.json` in place of a tokenizer,
    /// and `model.json` in place of weights.
    pub(crate) fn load(files: &ModelFileContents) -> Result<LambdaMartRanker, neural::Error> {
        let rankers = LambdaMartConfig::parse(&files.config)?;
        let statistics = parse_json(LAMBDAMART_FILES[1], &files.tokenizer)?;
        let features = RankingFeatureExtractor::new(statistics, rankers);
        Ok(LambdaMartRanker {
            features: features.map_err(|it| refuse(LAMBDAMART_FILES[1], &it))?,
            trees: LambdaMartTrees::from_json(&files.weights)?,
            fingerprint: files.fingerprint_for_use(MODEL_TYPE, usize::MAX),
        })
    }

    /// Returns the numbers of the words of a query or of a document, with their spans.
    pub(super) fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> TokenizedText {
        let words = self.features.word_numbers_with_spans(text);
        let (mut byte, mut n_chars) = (0, 0);
        let mut char_position = |end: u32| {
            n_chars += text[byte..end as usize].chars().count() as u32;
            byte = end as usize;
            n_chars
        };
        let spans = words.iter().map(|it| {
            let start = char_position(it.1.start);
            (start, char_position(it.1.end))
        });
        let spans = spans.collect();
        TokenizedText {
            role: side,
            ids: words.into_iter().map(|it| it.0).collect(),
            spans,
            truncated: false,
        }
    }

    /// Joins the words of a query and of a document.
    pub(super) fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        QueryDocumentTokenSequence {
            ids: [&query.ids[..], &text.ids].concat(),
            document_start: query.ids.len(),
            n_document_tokens: text.ids.len(),
            truncated: false,
        }
    }

    /// Returns the score of each pair, higher is better, unbounded; always finite.
    pub(super) fn score_pairs(
        &self,
        pairs: &[&QueryDocumentTokenSequence],
    ) -> Result<Vec<f64>, neural::Error> {
        let values = pairs.iter().map(|it| {
            let (query, document) = it.ids.split_at(it.document_start);
            self.features.compute(query, document)
        });
        let values: Vec<RankingFeatureValues> = values.collect();
        self.trees.score(&values.iter().collect::<Vec<_>>())
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over its files.
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

fn parse_json<T: serde::de::DeserializeOwned>(
    file: &'static str,
    json: &[u8],
) -> Result<T, neural::Error> {
    serde_json::from_slice(json).map_err(|it| refuse(file, &it))
}

fn refuse(file: &'static str, reason: &dyn ToString) -> neural::Error {
    neural::Error::LambdaMart {
        file,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests;

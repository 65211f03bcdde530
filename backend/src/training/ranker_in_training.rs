//! What evaluations need of a ranker, whatever it is made of, and trainings of a network.

use neural::training::{NamedVariable, UpdateScores};
use neural::{
    FineTunedRanker, ForwardMode, InteractionNetwork, InteractionRanker, PreparedPair,
    TokenizedPair,
};

use super::words;
use crate::error::Error;

/// A ranker, in training or not, as evaluations use it.
pub(super) trait RankerToEvaluate: Sync {
    /// A query and a document as the ranker reads them.
    type Pair: Send + Sync;

    /// Returns the name of the model, such as `drmm`.
    fn name(&self) -> &str;

    /// Whether a document is its title and its body, or its body alone.
    fn reads_titles(&self) -> bool;

    /// Prepares a query and a document.
    fn prepare_pair(&self, query: &str, document: &str) -> Result<Self::Pair, Error>;

    /// Returns the score of each pair, higher is better.
    fn score_pairs(&self, pairs: &[&Self::Pair]) -> Result<Vec<f64>, Error>;
}

/// A ranker whose weights are trained by the gradients of a loss.
pub(super) trait NetworkInTraining: RankerToEvaluate {
    /// Returns the trained variables with their names, always in the same order.
    fn variables(&self) -> &[NamedVariable];

    /// Returns the number of trained weights.
    fn n_parameters(&self) -> usize {
        let variables = self.variables().iter();
        variables.map(|(_, it)| it.elem_count()).sum()
    }

    /// Returns the files of the ranker other than the weights, by name.
    fn files(&self) -> Vec<(&'static str, Vec<u8>)>;

    /// Computes the scores of pairs with their graph.
    fn compute_scores(
        &self,
        pairs: &[&Self::Pair],
        mode: ForwardMode,
    ) -> Result<UpdateScores, neural::Error>;

    /// Returns the weights as a safetensors file.
    fn to_weights(&self) -> Result<Vec<u8>, neural::Error>;

    /// Makes [`RankerToEvaluate::score_pairs`] use the weights of the last update.
    fn update_scorer(&mut self, weights: &[u8]) -> Result<(), neural::Error>;

    /// Makes [`RankerToEvaluate::score_pairs`] use other weights, after the last update.
    fn use_weights(&mut self, weights: &[u8]) -> Result<(), neural::Error>;
}

impl NetworkInTraining for InteractionNetwork {
    fn variables(&self) -> &[NamedVariable] {
        self.variables()
    }

    fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let words = self.vocabulary().words();
        vec![
            ("config.json", self.config().to_json().into_bytes()),
            ("tokenizer.json", InteractionRanker::tokenizer_json(words)),
        ]
    }

    fn compute_scores(
        &self,
        pairs: &[&PreparedPair],
        mode: ForwardMode,
    ) -> Result<UpdateScores, neural::Error> {
        Ok(self.forward(pairs, mode)?.into())
    }

    fn to_weights(&self) -> Result<Vec<u8>, neural::Error> {
        self.to_safetensors()
    }

    fn update_scorer(&mut self, _weights: &[u8]) -> Result<(), neural::Error> {
        Ok(())
    }

    fn use_weights(&mut self, weights: &[u8]) -> Result<(), neural::Error> {
        let words = self.vocabulary().words().to_vec();
        let config = self.config().to_json();
        *self = InteractionNetwork::load(config.as_bytes(), weights, words)?;
        Ok(())
    }
}

impl RankerToEvaluate for FineTunedRanker {
    type Pair = TokenizedPair;

    fn name(&self) -> &str {
        self.kind().name()
    }

    fn reads_titles(&self) -> bool {
        self.settings().read_titles
    }

    fn prepare_pair(&self, query: &str, document: &str) -> Result<TokenizedPair, Error> {
        let pair = self.tokenize_pair(query, document);
        pair.map_err(Error::model_error_converter("that is trained"))
    }

    fn score_pairs(&self, pairs: &[&TokenizedPair]) -> Result<Vec<f64>, Error> {
        let scores = self.score(pairs);
        scores.map_err(Error::model_error_converter("that is trained"))
    }
}

impl NetworkInTraining for FineTunedRanker {
    fn variables(&self) -> &[NamedVariable] {
        self.variables()
    }

    fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let files = self.named_files().into_iter();
        files.map(|(name, bytes)| (name, bytes.to_vec())).collect()
    }

    fn compute_scores(
        &self,
        pairs: &[&TokenizedPair],
        mode: ForwardMode,
    ) -> Result<UpdateScores, neural::Error> {
        self.forward(pairs, mode)
    }

    fn to_weights(&self) -> Result<Vec<u8>, neural::Error> {
        self.to_safetensors()
    }

    fn update_scorer(&mut self, weights: &[u8]) -> Result<(), neural::Error> {
        self.use_weights(weights)
    }

    fn use_weights(&mut self, weights: &[u8]) -> Result<(), neural::Error> {
        self.use_scorer_weights(weights.to_vec())
    }
}

impl RankerToEvaluate for InteractionNetwork {
    type Pair = PreparedPair;

    fn name(&self) -> &str {
        self.config().kind().name()
    }

    fn reads_titles(&self) -> bool {
        self.config().reads_titles
    }

    fn prepare_pair(&self, query: &str, document: &str) -> Result<PreparedPair, Error> {
        let vocabulary = self.vocabulary();
        let (query, document) = (
            words::ids(vocabulary, query),
            words::ids(vocabulary, document),
        );
        Ok(self.prepare(&query, &document))
    }

    fn score_pairs(&self, pairs: &[&PreparedPair]) -> Result<Vec<f64>, Error> {
        let scores = self.score(pairs);
        let scores = scores.map_err(Error::model_error_converter("that is trained"))?;
        Ok(scores.into_iter().map(f64::from).collect())
    }
}

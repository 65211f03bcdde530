//! What evaluations need of a ranker in training, whatever it is made of.

use neural::{InteractionNetwork, PreparedPair};

use super::words;
use crate::error::Error;

/// A ranker in training, as evaluations use it.
pub(super) trait RankerInTraining: Sync {
    /// A query and a document as the ranker reads them.
    type Pair: Send + Sync;

    /// Returns the name of the model, such as `drmm`.
    fn name(&self) -> &str;

    /// Whether a document is its title and its body, or its body alone.
    fn reads_titles(&self) -> bool;

    /// Prepares a query and a document.
    fn prepare_pair(&self, query: &str, document: &str) -> Self::Pair;

    /// Returns the score of each pair, higher is better.
    fn score_pairs(&self, pairs: &[&Self::Pair]) -> Result<Vec<f64>, Error>;
}

impl RankerInTraining for InteractionNetwork {
    type Pair = PreparedPair;

    fn name(&self) -> &str {
        self.config().kind().name()
    }

    fn reads_titles(&self) -> bool {
        self.config().reads_titles
    }

    fn prepare_pair(&self, query: &str, document: &str) -> PreparedPair {
        let vocabulary = self.vocabulary();
        self.prepare(
            &words::ids(vocabulary, query),
            &words::ids(vocabulary, document),
        )
    }

    fn score_pairs(&self, pairs: &[&PreparedPair]) -> Result<Vec<f64>, Error> {
        let scores = self.score(pairs);
        let scores = scores.map_err(Error::model_error_converter("that is trained"))?;
        Ok(scores.into_iter().map(f64::from).collect())
    }
}

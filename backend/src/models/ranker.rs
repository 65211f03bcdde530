//! A neural ranker in memory, and its description.

use std::sync::Arc;

use neural::{
    Colbert, ComputeTarget, CrossEncoder, EmbeddingKind, EmbeddingModel, Epic, ModelFiles, MonoT5,
    Precision, QueryAugmentation, RankerConfig, Splade,
};
use sha2::{Digest, Sha256};
use shared::score::{RankerInfo, RankerKind};

use crate::error::Error;
use crate::models::ModelEntry;
use crate::models::architecture::{IndependentEncoder, JointEncoder, ScoringModel};
use crate::models::forward_passes::{ForwardPassMonitor, InferenceCounts};
use crate::models::passages::PassageStrategy;
use crate::models::spec::{ModelUse, spec};

/// Maximum number of tokens of a document, as sentence-transformers has it for MiniLM.
const MAX_TOKENS: usize = 256;

/// Maximum number of tokens of a pair of query and document, the length that cross-encoders are
/// trained on.
pub(super) const MAX_PAIR_TOKENS: usize = 512;

/// Maximum number of tokens of a query and of a document, as EPIC was trained.
const MAX_EPIC_PIECES: usize = 512;

/// A model with its use and passages. Clones share the weights.
#[derive(Clone)]
pub(crate) struct NeuralRanker {
    /// The spec, label, description and fingerprint of the ranker.
    pub about: RankerInfo,
    /// SHA-256 of the weight file in hex, as the hub shows it.
    pub weights_sha256: String,
    /// Size of the weight file in bytes.
    pub(super) weights_bytes: u64,
    /// Maximum number of tokens of a document, for cross-encoders including the query. `None` if
    /// the model files define it differently.
    pub(super) max_tokens: Option<u64>,
    pub(super) reader: Arc<ScoringModel>,
    pub(super) monitor: Arc<ForwardPassMonitor>,
    pub(super) passages: PassageStrategy,
    /// The source of the model, to load it again with other settings.
    pub(super) place: ModelEntry,
    pub(super) model_use: ModelUse,
    pub(super) computing: ComputeTarget,
}

impl NeuralRanker {
    pub(super) fn load(
        place: &ModelEntry,
        files: &ModelFiles,
        used: ModelUse,
        siblings: &[Arc<NeuralRanker>],
        computing: ComputeTarget,
    ) -> Result<NeuralRanker, Error> {
        let name = place.name.as_str();
        // Errors in the configuration are reported when the model is loaded.
        let most = files.max_tokens().unwrap_or(MAX_PAIR_TOKENS);
        let reader = match used {
            ModelUse::Dense(matching) => dense(files, matching, most, siblings, computing)
                .map(|it| ScoringModel::Independent(Box::new(IndependentEncoder::Dense(it)))),
            ModelUse::Splade => Splade::load(files, MAX_TOKENS.min(most), computing)
                .map(|it| ScoringModel::Independent(Box::new(IndependentEncoder::Sparse(it)))),
            ModelUse::CrossEncoder => {
                CrossEncoder::load(files, MAX_PAIR_TOKENS.min(most), computing)
                    .map(|it| ScoringModel::Joint(JointEncoder::Cross(Box::new(it))))
            }
            ModelUse::Colbert => Colbert::load(files, computing)
                .map(|it| ScoringModel::Independent(Box::new(IndependentEncoder::Colbert(it)))),
            ModelUse::Epic => Epic::load(files, MAX_EPIC_PIECES.min(most), computing)
                .map(|it| ScoringModel::Independent(Box::new(IndependentEncoder::Epic(it)))),
            ModelUse::MonoT5 => MonoT5::load(files, MAX_PAIR_TOKENS, computing)
                .map(|it| ScoringModel::Joint(JointEncoder::Mono(Box::new(it)))),
        };
        let reader = reader.map_err(Error::model(name))?;
        let short = match name {
            "all-MiniLM-L6-v2" => "MiniLM",
            other => other,
        };
        let (label, detail, note) = match used {
            ModelUse::Splade => (
                format!("{short} SPLADE"),
                "weights of the vocabulary, ln(1 + relu), maximum over places".to_owned(),
                None,
            ),
            ModelUse::CrossEncoder => (
                short.to_owned(),
                "cross-encoder, query and text read together".to_owned(),
                None,
            ),
            ModelUse::Colbert => (format!("{short} ColBERT"), of_colbert(&reader), None),
            ModelUse::Epic => (
                format!("{short} EPIC"),
                "salience of query tokens, expansion and quality of the text".to_owned(),
                None,
            ),
            ModelUse::MonoT5 => (
                short.to_owned(),
                "monoT5, log-probability of true against false".to_owned(),
                None,
            ),
            ModelUse::Dense(EmbeddingKind::BiEncoder) => {
                let (pooling, similarity) = match reader.independent() {
                    Some(IndependentEncoder::Dense(it)) => (it.pooling(), it.similarity()),
                    Some(
                        IndependentEncoder::Sparse(_)
                        | IndependentEncoder::Colbert(_)
                        | IndependentEncoder::Epic(_),
                    )
                    | None => Default::default(),
                };
                let (pooling, similarity) = (pooling.name(), similarity.name());
                let detail = format!("bi-encoder, {pooling} pooling, {similarity}");
                (short.to_owned(), detail, None)
            }
            ModelUse::Dense(EmbeddingKind::LateInteraction) => (
                format!("{short} late interaction"),
                "sum over query tokens of the best cosine".to_owned(),
                Some("not fine-tuned for late interaction".to_owned()),
            ),
        };
        let about = RankerInfo {
            spec: spec(name, used, PassageStrategy::Truncate),
            label,
            detail,
            kind: RankerKind::Neural,
            fingerprint: match &reader {
                ScoringModel::Independent(it) => it.fingerprint().to_owned(),
                ScoringModel::Joint(it) => it.fingerprint().to_owned(),
            },
            note,
        };
        Ok(NeuralRanker {
            about,
            weights_sha256: shared::collection::encode_hex(&Sha256::digest(&files.weights)),
            weights_bytes: files.weights.len() as u64,
            max_tokens: bound(files, used, most),
            reader: Arc::new(reader),
            monitor: Arc::default(),
            passages: PassageStrategy::Truncate,
            place: place.clone(),
            model_use: used,
            computing,
        })
    }
}

impl NeuralRanker {
    /// Adds the precision to description and fingerprint, since scores depend on it.
    pub(super) fn with_precision_label(mut self, precision: Precision) -> NeuralRanker {
        if precision != Precision::F32 {
            let about = &mut self.about;
            about.detail += &format!("; in {precision}");
            let both = format!("{} {precision}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        self
    }

    /// Returns a ranker with the same weights and another passage strategy.
    pub(super) fn with_passages(&self, reading: PassageStrategy) -> NeuralRanker {
        let mut read = self.clone();
        if reading != PassageStrategy::Truncate {
            let about = &mut read.about;
            about.spec += &reading.to_string();
            about.label += reading.label();
            about.detail += &reading.detail();
            let both = format!("{} {reading}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        read.passages = reading;
        read
    }

    /// Returns the spec with passages of the default length, if this ranker has passages of another
    /// length.
    pub(crate) fn spec_with_usual_passages(&self) -> Option<String> {
        let usual = self.passages.default_length();
        (usual != self.passages).then(|| spec(&self.place.name, self.model_use, usual))
    }

    /// Returns whether another ranker encodes every text in the same way, so that one forward pass
    /// serves both.
    pub(crate) fn has_same_encoding(&self, other: &NeuralRanker) -> bool {
        let models = self.dense().zip(other.dense());
        self.passages == other.passages
            && models.is_some_and(|(one, another)| one.has_same_encoding(another))
    }

    /// Returns the model if it encodes texts as dense vectors.
    pub(super) fn dense(&self) -> Option<&EmbeddingModel> {
        match self.reader.independent()? {
            IndependentEncoder::Dense(model) => Some(model),
            IndependentEncoder::Sparse(_)
            | IndependentEncoder::Colbert(_)
            | IndependentEncoder::Epic(_) => None,
        }
    }

    /// Returns what the model has read since it was loaded, for all callers.
    pub(crate) fn inference_counts(&self) -> InferenceCounts {
        self.monitor.counts()
    }

    /// Returns the reason why the model currently cannot score: its device had no memory even for a
    /// single text.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.monitor.out_of_memory_reason()
    }

    /// Returns the activation function of the feed-forward layers.
    pub(super) fn activation(&self) -> Option<String> {
        match &*self.reader {
            // Configurations with another activation are rejected.
            ScoringModel::Independent(_) | ScoringModel::Joint(JointEncoder::Cross(_)) => {
                Some("GELU by erf".to_owned())
            }
            ScoringModel::Joint(JointEncoder::Mono(_)) => None,
        }
    }
}

/// Loads a dense model. The encoder is shared with a sibling that was loaded from the same files.
fn dense(
    files: &ModelFiles,
    matching: EmbeddingKind,
    most: usize,
    siblings: &[Arc<NeuralRanker>],
    computing: ComputeTarget,
) -> Result<EmbeddingModel, neural::Error> {
    let max_tokens = MAX_TOKENS.min(most);
    let same = siblings.iter().filter(|it| it.computing == computing);
    for sibling in same {
        if let Some(model) = sibling.dense()
            && let Some(model) = model.with_kind(files, matching, max_tokens)?
        {
            return Ok(model);
        }
    }
    EmbeddingModel::load(files, matching, max_tokens, computing)
}

/// Returns the maximum number of tokens of a document for a use of a model with `most` positions.
fn bound(files: &ModelFiles, used: ModelUse, most: usize) -> Option<u64> {
    let usual = match used {
        ModelUse::Dense(_) | ModelUse::Splade => MAX_TOKENS,
        ModelUse::MonoT5 => return Some(MAX_PAIR_TOKENS as u64),
        ModelUse::CrossEncoder => return Some(MAX_PAIR_TOKENS.min(most) as u64),
        ModelUse::Epic => MAX_EPIC_PIECES,
        ModelUse::Colbert => return None,
    };
    let ranker = files.ranker_config.as_deref().unwrap_or_default();
    let declared = RankerConfig::parse(ranker).unwrap_or_default();
    Some(declared.max_document_tokens.unwrap_or(usual.min(most)) as u64)
}

/// Describes how a ColBERT model computes scores.
fn of_colbert(reader: &ScoringModel) -> String {
    let Some(IndependentEncoder::Colbert(model)) = reader.independent() else {
        return String::new();
    };
    let markers = match model.marker_tokens() {
        None => "no markers".to_owned(),
        Some([query, text]) => format!("markers {query} and {text}"),
    };
    let masks = match model.augmentation() {
        QueryAugmentation::None => "no augmentation",
        QueryAugmentation::Unattended => "query filled up with [MASK]",
        QueryAugmentation::Attended => "query filled up with [MASK] that all look at",
    };
    let width = model.dimension();
    format!("sum of the best cosines, {width} dimensions a token, {markers}, {masks}")
}

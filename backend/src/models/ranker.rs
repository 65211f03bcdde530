//! A model in memory, and what is told of it.

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

/// Pieces of a text that a model reads at most, as sentence-transformers has it for MiniLM.
const MAX_TOKENS: usize = 256;

/// Pieces of a query and a text that are read together, as cross-encoders are trained for.
pub(super) const MAX_PAIR_TOKENS: usize = 512;

/// Pieces of a query, and of a text, as EPIC was trained.
const MAX_EPIC_PIECES: usize = 512;

/// A model with what it is used for. A copy shares its weights.
#[derive(Clone)]
pub(crate) struct NeuralRanker {
    /// What is shown of it.
    pub about: RankerInfo,
    /// SHA-256 of the file of weights, in hex, as hubs show it.
    pub weights_sha256: String,
    /// Size of that file.
    pub(super) weights_bytes: u64,
    /// The most pieces of a text; a cross-encoder counts the query with it. None where the files
    /// say it in a way of their own.
    pub(super) max_tokens: Option<u64>,
    pub(super) reader: Arc<ScoringModel>,
    pub(super) monitor: Arc<ForwardPassMonitor>,
    pub(super) passages: PassageStrategy,
    /// Where it came from, to be loaded once more otherwise.
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
        // A configuration that cannot be read is told of by what loads it.
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
                "salience of query pieces, expansion and quality of the text".to_owned(),
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
                "sum over query pieces of the best cosine".to_owned(),
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
    /// Fewer bits make another ranker.
    pub(super) fn with_precision_label(mut self, precision: Precision) -> NeuralRanker {
        if precision != Precision::F32 {
            let about = &mut self.about;
            about.detail += &format!("; in {precision}");
            let both = format!("{} {precision}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        self
    }

    /// The same weights in the same memory, another way to read long texts.
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

    /// The spec with passages of the usual length, if it reads passages of another.
    pub(crate) fn spec_with_usual_passages(&self) -> Option<String> {
        let usual = self.passages.default_length();
        (usual != self.passages).then(|| spec(&self.place.name, self.model_use, usual))
    }

    /// Whether another ranker reads every text as this one does, so that one forward pass serves
    /// both.
    pub(crate) fn has_same_encoding(&self, other: &NeuralRanker) -> bool {
        let models = self.dense().zip(other.dense());
        self.passages == other.passages
            && models.is_some_and(|(one, another)| one.has_same_encoding(another))
    }

    /// Its model, if that makes one or more dense vectors of a text.
    pub(super) fn dense(&self) -> Option<&EmbeddingModel> {
        match self.reader.independent()? {
            IndependentEncoder::Dense(model) => Some(model),
            IndependentEncoder::Sparse(_)
            | IndependentEncoder::Colbert(_)
            | IndependentEncoder::Epic(_) => None,
        }
    }

    /// What it has read since it was loaded, whoever asked.
    pub(crate) fn inference_counts(&self) -> InferenceCounts {
        self.monitor.counts()
    }

    /// Why it cannot score at present, if its device had no memory even for a single text.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.monitor.out_of_memory_reason()
    }

    /// The nonlinearity of the feed-forward layers, for people.
    pub(super) fn activation(&self) -> Option<String> {
        match &*self.reader {
            // Any other is refused when the configuration is read.
            ScoringModel::Independent(_) | ScoringModel::Joint(JointEncoder::Cross(_)) => {
                Some("GELU by erf".to_owned())
            }
            ScoringModel::Joint(JointEncoder::Mono(_)) => None,
        }
    }
}

/// With the encoder of a model that was loaded from the same files, if there is one.
fn dense(
    files: &ModelFiles,
    matching: EmbeddingKind,
    most: usize,
    siblings: &[Arc<NeuralRanker>],
    computing: ComputeTarget,
) -> Result<EmbeddingModel, neural::Error> {
    let max_pieces = MAX_TOKENS.min(most);
    let same = siblings.iter().filter(|it| it.computing == computing);
    for sibling in same {
        if let Some(model) = sibling.dense()
            && let Some(model) = model.with_kind(files, matching, max_pieces)?
        {
            return Ok(model);
        }
    }
    EmbeddingModel::load(files, matching, max_pieces, computing)
}

/// The most pieces of a text that `used` reads of a model whose positions end at `most`.
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

/// What a ColBERT compares, for people.
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
    format!("sum of the best cosines, {width} numbers a piece, {markers}, {masks}")
}

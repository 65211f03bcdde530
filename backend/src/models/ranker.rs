//! A neural ranker in memory, and its description.

use std::sync::Arc;

use neural::{
    Colbert, ColbertQueryAugmentation, CrossEncoder, DeviceAndPrecision, Doc2Query,
    EmbeddingRankerKind, EpicRanker, FloatPrecision, InteractionRanker, InteractionRankerKind,
    ModelFileContents, MonoT5, NeuralRankerConfig, SingleOrMultiVectorRanker, Splade,
};
use sha2::{Digest, Sha256};
use shared::score::RankerInfo;

use crate::error::Error;
use crate::models::architecture::{
    JointInputModel, SeparateInputEncoder, SeparateOrJointInputModel,
};
use crate::models::document_expansion::{
    DEFAULT_QUERIES, DocumentExpander, ExpansionState, describe_expansion,
};
use crate::models::forward_passes::{CountedForwardPassRunner, SequenceAndTokenCounts};
use crate::models::lambdamart::LambdaMartRanker;
use crate::models::passages::LongDocumentStrategy;
use crate::models::spec::{NeuralRankerKind, format_model_spec};
use crate::models::{ModelEntry, Source};

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
    /// Whether a document is its title and its body, or its body alone.
    reads_titles: bool,
    pub(super) reader: Arc<SeparateOrJointInputModel>,
    pub(super) monitor: Arc<CountedForwardPassRunner>,
    pub(super) passages: LongDocumentStrategy,
    /// The source of the model, to load it again with other settings.
    pub(super) place: ModelEntry,
    pub(super) model_use: NeuralRankerKind,
    pub(super) computing: DeviceAndPrecision,
    /// Only used by a doc2query ranker.
    pub(super) expansion: ExpansionState,
}

impl NeuralRanker {
    pub(super) fn load_from_file_contents(
        place: &ModelEntry,
        files: &ModelFileContents,
        used: NeuralRankerKind,
        siblings: &[Arc<NeuralRanker>],
        computing: DeviceAndPrecision,
    ) -> Result<NeuralRanker, Error> {
        let name = place.name.as_str();
        // Errors in the configuration are reported when the model is loaded.
        let most = files.encoder_max_tokens().unwrap_or(MAX_PAIR_TOKENS);
        let reader = match used {
            NeuralRankerKind::Dense(matching) => dense(files, matching, most, siblings, computing)
                .map(|it| {
                    SeparateOrJointInputModel::Independent(Box::new(SeparateInputEncoder::Dense(
                        it,
                    )))
                }),
            NeuralRankerKind::Splade => {
                Splade::load(files, MAX_TOKENS.min(most), computing).map(|it| {
                    SeparateOrJointInputModel::Independent(Box::new(SeparateInputEncoder::Sparse(
                        it,
                    )))
                })
            }
            NeuralRankerKind::CrossEncoder => {
                CrossEncoder::load(files, MAX_PAIR_TOKENS.min(most), computing).map(|it| {
                    SeparateOrJointInputModel::Joint(JointInputModel::Cross(Box::new(it)))
                })
            }
            NeuralRankerKind::Colbert => Colbert::load(files, computing).map(|it| {
                SeparateOrJointInputModel::Independent(Box::new(SeparateInputEncoder::Colbert(it)))
            }),
            NeuralRankerKind::Epic => EpicRanker::load(files, MAX_EPIC_PIECES.min(most), computing)
                .map(|it| {
                    SeparateOrJointInputModel::Independent(Box::new(SeparateInputEncoder::Epic(it)))
                }),
            NeuralRankerKind::MonoT5 => MonoT5::load(files, MAX_PAIR_TOKENS, computing)
                .map(|it| SeparateOrJointInputModel::Joint(JointInputModel::Mono(Box::new(it)))),
            NeuralRankerKind::Doc2Query => Doc2Query::load(files, MAX_PAIR_TOKENS, computing)
                .map(DocumentExpander::with_model)
                .map(|it| SeparateOrJointInputModel::Expanded(Box::new(it))),
            NeuralRankerKind::Interaction(_) => InteractionRanker::load(files).map(|it| {
                SeparateOrJointInputModel::Joint(JointInputModel::Interaction(Box::new(it)))
            }),
            NeuralRankerKind::LambdaMart => LambdaMartRanker::load(files).map(|it| {
                SeparateOrJointInputModel::Joint(JointInputModel::LambdaMart(Box::new(it)))
            }),
        };
        let reader = reader.map_err(Error::model_error_converter(name))?;
        let declared = files.ranker_config().unwrap_or_default();
        let short = match (&declared.label, name) {
            (Some(label), _) => label,
            (None, "all-MiniLM-L6-v2") => "MiniLM",
            (None, other) => other,
        };
        let (label, detail, note) = match used {
            NeuralRankerKind::Splade => (
                format!("{short} SPLADE"),
                "weights of the vocabulary, ln(1 + relu), maximum over places".to_owned(),
                None,
            ),
            NeuralRankerKind::CrossEncoder => (
                short.to_owned(),
                "cross-encoder, query and text read together".to_owned(),
                None,
            ),
            NeuralRankerKind::Colbert => (format!("{short} ColBERT"), of_colbert(&reader), None),
            NeuralRankerKind::Epic => (
                format!("{short} EPIC"),
                "salience of query tokens, expansion and quality of the text".to_owned(),
                None,
            ),
            NeuralRankerKind::MonoT5 => (
                short.to_owned(),
                "monoT5, log-probability of true against false".to_owned(),
                None,
            ),
            NeuralRankerKind::Doc2Query => (
                format!("{short} doc2query"),
                describe_expansion(DEFAULT_QUERIES),
                Some("statistics of the documents without generated queries".to_owned()),
            ),
            NeuralRankerKind::Interaction(kind) => (
                short.to_owned(),
                description_of_network(kind).to_owned(),
                None,
            ),
            NeuralRankerKind::LambdaMart => (
                short.to_owned(),
                "LambdaMART, regression trees over features of query and document".to_owned(),
                None,
            ),
            NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder) => {
                let (pooling, similarity) = match reader.as_separate_input_encoder() {
                    Some(SeparateInputEncoder::Dense(it)) => {
                        (it.pooling(), it.similarity_measure())
                    }
                    Some(
                        SeparateInputEncoder::Sparse(_)
                        | SeparateInputEncoder::Colbert(_)
                        | SeparateInputEncoder::Epic(_),
                    )
                    | None => Default::default(),
                };
                let (pooling, similarity) = (pooling.display_name(), similarity.display_name());
                let detail = format!("bi-encoder, {pooling} pooling, {similarity}");
                (short.to_owned(), detail, None)
            }
            NeuralRankerKind::Dense(EmbeddingRankerKind::LateInteraction) => (
                format!("{short} late interaction"),
                "sum over query tokens of the best cosine".to_owned(),
                Some("not fine-tuned for late interaction".to_owned()),
            ),
        };
        let about = RankerInfo {
            spec: format_model_spec(name, used, LongDocumentStrategy::Truncate),
            label,
            detail,
            kind: used.ranker_kind(),
            fingerprint: reader.fingerprint().to_owned(),
            note: match (declared.note, note) {
                (Some(own), Some(of_use)) => Some(format!("{own}; {of_use}")),
                (own, of_use) => own.or(of_use),
            },
        };
        Ok(NeuralRanker {
            about,
            weights_sha256: shared::collection::encode_hex(&Sha256::digest(&files.weights)),
            weights_bytes: files.weights.len() as u64,
            max_tokens: bound(files, used, most),
            reads_titles: match &reader {
                SeparateOrJointInputModel::Joint(JointInputModel::Interaction(it)) => {
                    it.reads_titles()
                }
                SeparateOrJointInputModel::Joint(_)
                | SeparateOrJointInputModel::Independent(_)
                | SeparateOrJointInputModel::Expanded(_) => declared.read_titles.unwrap_or(true),
            },
            reader: Arc::new(reader),
            monitor: Arc::default(),
            passages: LongDocumentStrategy::Truncate,
            place: place.clone(),
            model_use: used,
            computing,
            expansion: ExpansionState::default(),
        })
    }
}

impl NeuralRanker {
    /// Returns a spec that other machines understand: with the name on the hub if the model is from
    /// there, and with the last part of its folder otherwise.
    pub(crate) fn spec_for_other_machines(&self) -> String {
        let spec = &self.about.spec;
        match (&self.place.source, self.place.aliases.first()) {
            (Source::Hub(_), Some(alias)) => {
                let rest = spec.strip_prefix(&self.place.name).unwrap_or_default();
                format!("{alias}{rest}")
            }
            (Source::Hub(_) | Source::Folder(_), _) => spec.clone(),
        }
    }

    /// Adds the precision to description and fingerprint, since scores depend on it.
    pub(super) fn with_precision_in_fingerprint(
        mut self,
        precision: FloatPrecision,
    ) -> NeuralRanker {
        if precision != FloatPrecision::F32 {
            let about = &mut self.about;
            about.detail += &format!("; in {precision}");
            let both = format!("{} {precision}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        self
    }

    /// Returns a ranker with the same weights and another passage strategy.
    pub(super) fn with_long_document_strategy(
        &self,
        reading: LongDocumentStrategy,
    ) -> NeuralRanker {
        let mut read = self.clone();
        if reading != LongDocumentStrategy::Truncate {
            let about = &mut read.about;
            about.spec += &reading.to_string();
            about.label += reading.label_suffix();
            about.detail += &reading.description_suffix();
            let both = format!("{} {reading}", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
        }
        read.passages = reading;
        read
    }

    /// Returns the spec with passages of the default length and the default number of generated
    /// queries, if this ranker has others.
    pub(crate) fn spec_with_default_settings(&self) -> Option<String> {
        let usual = self.passages.with_default_length();
        let has_others = usual != self.passages || self.expansion.n_queries != DEFAULT_QUERIES;
        has_others.then(|| format_model_spec(&self.place.name, self.model_use, usual))
    }

    /// Returns whether another ranker encodes every text in the same way, so that one forward pass
    /// serves both.
    pub(crate) fn has_same_encoding(&self, other: &NeuralRanker) -> bool {
        let models = self.as_dense_encoder().zip(other.as_dense_encoder());
        self.passages == other.passages
            && models.is_some_and(|(one, another)| one.encodes_identically_to(another))
    }

    /// Returns the model if it encodes texts as dense vectors.
    pub(super) fn as_dense_encoder(&self) -> Option<&SingleOrMultiVectorRanker> {
        match self.reader.as_separate_input_encoder()? {
            SeparateInputEncoder::Dense(model) => Some(model),
            SeparateInputEncoder::Sparse(_)
            | SeparateInputEncoder::Colbert(_)
            | SeparateInputEncoder::Epic(_) => None,
        }
    }

    /// Returns what the model has read since it was loaded, for all callers.
    pub(crate) fn sequence_and_token_counts(&self) -> SequenceAndTokenCounts {
        self.monitor.sequence_and_token_counts()
    }

    /// Returns the reason why the model currently cannot score: its device had no memory even for a
    /// single text.
    pub(crate) fn out_of_memory_reason(&self) -> Option<String> {
        self.monitor.recent_out_of_memory_reason()
    }

    /// Whether the model scores a document with its title, as all do but some trained rankers.
    pub(crate) fn reads_titles(&self) -> bool {
        self.reads_titles
    }

    /// Returns the activation function of the feed-forward layers.
    pub(super) fn feed_forward_activation(&self) -> Option<String> {
        match &*self.reader {
            // Configurations with another activation are rejected.
            SeparateOrJointInputModel::Independent(_)
            | SeparateOrJointInputModel::Joint(JointInputModel::Cross(_)) => {
                Some("GELU by erf".to_owned())
            }
            SeparateOrJointInputModel::Joint(
                JointInputModel::Mono(_)
                | JointInputModel::Interaction(_)
                | JointInputModel::LambdaMart(_),
            )
            | SeparateOrJointInputModel::Expanded(_) => None,
        }
    }
}

/// Loads a dense model. The encoder is shared with a sibling that was loaded from the same files.
fn dense(
    files: &ModelFileContents,
    matching: EmbeddingRankerKind,
    most: usize,
    siblings: &[Arc<NeuralRanker>],
    computing: DeviceAndPrecision,
) -> Result<SingleOrMultiVectorRanker, neural::Error> {
    let max_tokens = MAX_TOKENS.min(most);
    let same = siblings.iter().filter(|it| it.computing == computing);
    for sibling in same {
        if let Some(model) = sibling.as_dense_encoder()
            && let Some(model) = model.for_kind_sharing_encoder(files, matching, max_tokens)?
        {
            return Ok(model);
        }
    }
    SingleOrMultiVectorRanker::load(files, matching, max_tokens, computing)
}

/// Returns the maximum number of tokens of a document for a use of a model with `most` positions.
fn bound(files: &ModelFileContents, used: NeuralRankerKind, most: usize) -> Option<u64> {
    let usual = match used {
        NeuralRankerKind::Dense(_) | NeuralRankerKind::Splade => MAX_TOKENS,
        NeuralRankerKind::MonoT5 | NeuralRankerKind::Doc2Query => {
            return Some(MAX_PAIR_TOKENS as u64);
        }
        NeuralRankerKind::CrossEncoder => return Some(MAX_PAIR_TOKENS.min(most) as u64),
        NeuralRankerKind::Epic => MAX_EPIC_PIECES,
        NeuralRankerKind::Colbert
        | NeuralRankerKind::Interaction(_)
        | NeuralRankerKind::LambdaMart => return None,
    };
    let ranker = files.ranker_config.as_deref().unwrap_or_default();
    let declared = NeuralRankerConfig::parse(ranker).unwrap_or_default();
    Some(declared.max_document_tokens.unwrap_or(usual.min(most)) as u64)
}

/// Describes how a network over interactions computes scores.
fn description_of_network(kind: InteractionRankerKind) -> &'static str {
    match kind {
        InteractionRankerKind::Drmm => "DRMM, histograms of cosines with a term gate",
        InteractionRankerKind::Anmm => "aNMM, sums of cosines in bins with a term gate",
        InteractionRankerKind::Duet => "Duet of exact matches and word vectors",
        InteractionRankerKind::MatchPyramid => "MatchPyramid, convolutions over inner products",
        InteractionRankerKind::Knrm => "KNRM, kernels over cosines",
        InteractionRankerKind::ConvKnrm => "Conv-KNRM, kernels over cosines of word n-grams",
    }
}

/// Describes how a ColBERT model computes scores.
fn of_colbert(reader: &SeparateOrJointInputModel) -> String {
    let Some(SeparateInputEncoder::Colbert(model)) = reader.as_separate_input_encoder() else {
        return String::new();
    };
    let markers = match model.marker_tokens() {
        None => "no markers".to_owned(),
        Some([query, text]) => format!("markers {query} and {text}"),
    };
    let masks = match model.query_augmentation() {
        ColbertQueryAugmentation::None => "no augmentation",
        ColbertQueryAugmentation::Unattended => "query filled up with [MASK]",
        ColbertQueryAugmentation::Attended => "query filled up with [MASK] that all look at",
    };
    let width = model.vector_dimension();
    format!("sum of the best cosines, {width} dimensions a token, {markers}, {masks}")
}

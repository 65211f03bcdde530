//! ColBERT: a vector for each token, and for each query token its best match in the document
//! (Khattab and Zaharia, SIGIR 2020, arXiv:2004.12832; ColBERTv2: Santhanam et al., NAACL 2022).
//!
//! `s(q, d) = Σᵢ maxⱼ cos(qᵢ, dⱼ)` over vectors `W x`, where `x` is a hidden state. A query is
//! encoded as `[CLS] [Q] tokens [SEP] [MASK] … [MASK]`, filled up to a maximum length, a document
//! as `[CLS] [D] tokens [SEP]`. Which special tokens are used, and which are compared, are settings
//! ([`ColbertPreset`] names those of papers). They are read from `ranker.toml`, or else from
//! `artifact.metadata`, which Stanford's code writes next to a model.
//!
//! Tensor names are those of `HF_ColBERT` in that code: the encoder's under its prefix, `bert.`,
//! and `linear.weight`, without a bias. Where punctuation of documents is left out, early versions
//! of that code compared vectors of zeros in its place, later versions none; here there is none.
//!
//! Shapes: `t` tokens of a text, `h` hidden units, `w` numbers of a vector.

use rayon::prelude::*;
use serde::Deserialize;

use crate::bert::LinearLayer;
use crate::bert_cpu;
use crate::config::{EncoderConfig, check_max_tokens};
use crate::device::DeviceAndPrecision;
use crate::embedding::{self, SingleOrMultiVectorEncoding, TokenPairCosines};
use crate::encoder::TransformerEncoder;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::ranker_config::{
    ColbertConfig, ColbertPreset, ColbertQueryAugmentation, ColbertSpecialTokenKind,
    NeuralRankerConfig, PunctuationPolicy, RankerArchitecture,
};
use crate::tokenization::{
    EncoderInput, InputTokenizer, QueryOrDocumentRole, TokenLimits, TokenizedText,
};
use crate::weights::ModelWeights;

/// An encoder trained for late interaction.
pub struct Colbert {
    cutter: InputTokenizer,
    encoder: TransformerEncoder,
    setting: ColbertSetting,
    /// Ids of the document tokens that are encoded but not compared.
    punctuation: Vec<u32>,
    /// `h` to `w`.
    linear: LinearLayer,
    fingerprint: String,
}

impl Colbert {
    /// Whether `config.json` describes a ColBERT model, as Stanford's code writes it.
    pub fn is_supported_config(config: &[u8]) -> bool {
        EncoderConfig::parse(config).is_ok_and(|it| it.is_colbert)
    }

    /// Reads and checks the files and loads the encoder on the device of `computing`. The maximum
    /// numbers of tokens come from the files or the presets: 32 for a query, 180 for a document.
    pub fn load(
        files: &ModelFileContents,
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<Colbert, Error> {
        let config = EncoderConfig::parse(&files.config)?;
        let declared = files.ranker_config_if_architecture_matches(RankerArchitecture::Colbert)?;
        let preset = declared.colbert.as_ref().and_then(|it| it.preset);
        let artifact = match preset {
            None => files
                .colbert_metadata
                .as_deref()
                .map(Artifact::read)
                .transpose()?,
            Some(_) => None,
        };
        let plan = ColbertPlan::of(&declared, artifact.as_ref(), config.max_tokens());
        if config.modern.is_some() && plan.augmentation == ColbertQueryAugmentation::Unattended {
            return Err(Error::NeuralRankerConfig {
                reason:
                    "`augmentation` in ranker.toml has to be attended or none: each token of a \
                         ModernBERT is looked at"
                        .to_owned(),
            });
        }
        // `[CLS]`, a marker, a token and `[SEP]`.
        let least = 3 + usize::from(plan.markers.is_some());
        check_max_tokens(plan.bounds.query, least, &config)?;
        check_max_tokens(plan.bounds.document, least, &config)?;

        let most = plan.bounds.larger_limit();
        let cutter = InputTokenizer::load(&files.tokenizer, config.vocab_size, most)?;
        let sides = declared.token_limits_and_prompts(most, &config)?;
        let cutter = cutter.with_limits_and_prompts(plan.bounds, sides.prompts)?;
        cutter.check_prompts_fit(TokenLimits {
            query: plan.bounds.query + 1 - least,
            document: plan.bounds.document + 1 - least,
        })?;
        let punctuation = match plan.punctuation {
            PunctuationPolicy::Kept => Vec::new(),
            PunctuationPolicy::Skipped => punctuation(&cutter)?,
        };
        let weights =
            ModelWeights::from_safetensors_bytes(&files.weights, config.family.tensor_prefix())?;
        let bare = weights.without_tensor_prefix();
        let (h, name) = (config.hidden_size, "linear.weight");
        let rows = bare.n_tensor_rows(name, h)?;
        if let Some(dim) = artifact.and_then(|it| it.dim)
            && dim != rows
        {
            let expected = format!("{rows}, the rows of `{name}`");
            return refuse("dim", &dim.to_string(), &expected);
        }
        let weight = bare.read_tensor(name, &[rows, h])?;
        Ok(Colbert {
            setting: ColbertSetting::of(plan, &cutter)?,
            cutter,
            encoder: TransformerEncoder::load(&weights, config, most, computing)?,
            punctuation,
            linear: LinearLayer::from_output_major_weight(&weight, vec![0.0; rows], h),
            fingerprint: files.fingerprint_for_use("colbert", most),
        })
    }

    /// Returns the tokens of a query or of a document, with special tokens.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        let (cls, sep) = self.cutter.cls_and_sep_ids();
        let marker = self.setting.marker(side);
        let bound = self.setting.bounds.for_role(side);
        let beside = 2 + usize::from(marker.is_some());
        let inner = self
            .cutter
            .tokenize_prompt_and_text(side, text, bound - beside)?;
        let mut ids = vec![cls];
        ids.extend(marker);
        ids.extend(inner.ids);
        ids.push(sep);
        if let (QueryOrDocumentRole::Query, Some(mask)) = (side, self.setting.mask) {
            ids.resize(bound, mask);
        }
        Ok(TokenizedText {
            role: side,
            ids,
            spans: inner.spans,
            truncated: inner.truncated,
        })
    }

    /// Runs one forward pass over queries and documents, which may be mixed.
    pub fn encode(
        &self,
        batch: &[&TokenizedText],
    ) -> Result<Vec<SingleOrMultiVectorEncoding>, Error> {
        let inputs = batch.iter().map(|it| self.input(it));
        let inputs: Vec<EncoderInput<'_>> = inputs.collect::<Result<_, _>>()?;
        let states = self.encoder.forward(&inputs)?;
        let each = states.split_by_input().into_par_iter().zip(batch);
        each.map(|(hidden, text)| self.vectors(hidden, text))
            .collect()
    }

    /// Returns the sum over the query's vectors of the best cosine with one of the document's;
    /// always finite. If no token of the document is compared, each best cosine is -1, the minimum.
    pub fn score(
        &self,
        query: &SingleOrMultiVectorEncoding,
        text: &SingleOrMultiVectorEncoding,
    ) -> f64 {
        embedding::max_sim_score(query, text)
    }

    /// Returns the cosines behind the score. Special tokens have an empty span.
    pub fn token_pair_cosines(
        &self,
        query: &SingleOrMultiVectorEncoding,
        text: &SingleOrMultiVectorEncoding,
    ) -> TokenPairCosines {
        embedding::token_pair_cosines(&self.cutter, query, text)
    }

    /// Returns the number of dimensions of a vector.
    pub fn vector_dimension(&self) -> usize {
        self.linear.bias.len()
    }

    /// Returns the marker tokens after `[CLS]` of queries and of documents.
    pub fn marker_tokens(&self) -> Option<[String; 2]> {
        let markers = self.setting.markers?;
        Some(markers.map(|it| self.cutter.id_to_token(it)))
    }

    /// Returns how short queries are filled up.
    pub fn query_augmentation(&self) -> ColbertQueryAugmentation {
        self.setting.augmentation
    }

    /// Returns a token as in the vocabulary.
    pub fn id_to_token(&self, id: u32) -> String {
        self.cutter.id_to_token(id)
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files of the model and the
    /// maximum number of tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the positions of tokens in `text.ids`, which this model must have created.
    fn layout(&self, text: &TokenizedText) -> Result<InputLayout, Error> {
        let first = 1 + usize::from(self.setting.marker(text.role).is_some());
        let sep = first + text.spans.len();
        let n = match (text.role, self.setting.mask) {
            (QueryOrDocumentRole::Query, Some(_)) => self.setting.bounds.query,
            _ => sep + 1,
        };
        if text.ids.len() != n || sep >= n {
            let (ids, spans) = (text.ids.len(), text.spans.len());
            let reason = format!("{ids} tokens, {spans} spans");
            return Err(Error::InvalidTokens { reason });
        }
        Ok(InputLayout { first, sep })
    }

    /// Returns the positions in `text.ids` of the tokens whose vectors are compared.
    pub(crate) fn compared_positions(&self, text: &TokenizedText) -> Result<Vec<usize>, Error> {
        let InputLayout { first, sep } = self.layout(text)?;
        let is_compared = |(at, id): &(usize, &u32)| {
            let special = match *at {
                0 => Some(ColbertSpecialTokenKind::Cls),
                at if at < first => Some(ColbertSpecialTokenKind::Marker),
                at if at < sep => None,
                at if at == sep => Some(ColbertSpecialTokenKind::Sep),
                _ => Some(ColbertSpecialTokenKind::Mask),
            };
            match special {
                Some(special) => self.setting.keeps(text.role).contains(&special),
                None => text.role == QueryOrDocumentRole::Query || !self.punctuation.contains(id),
            }
        };
        let positions = text.ids.iter().enumerate().filter(is_compared);
        Ok(positions.map(|it| it.0).collect())
    }

    pub(crate) fn input<'a>(&self, text: &'a TokenizedText) -> Result<EncoderInput<'a>, Error> {
        let attended = match self.setting.augmentation {
            ColbertQueryAugmentation::None | ColbertQueryAugmentation::Unattended => {
                self.layout(text)?.sep + 1
            }
            ColbertQueryAugmentation::Attended => {
                self.layout(text)?;
                text.ids.len()
            }
        };
        Ok(EncoderInput {
            n_attended: attended,
            ..EncoderInput::from_tokenized_text(text)
        })
    }

    /// Computes the vectors that are compared from hidden states `[t, h]`.
    fn vectors(
        &self,
        hidden: &[f32],
        text: &TokenizedText,
    ) -> Result<SingleOrMultiVectorEncoding, Error> {
        let InputLayout { first, sep } = self.layout(text)?;
        let width = self.vector_dimension();
        let all = bert_cpu::multiply_rows_by_weights(hidden, &self.linear); // [t, w]
        let end = text.spans.last().map_or(0, |it| it.1);
        let (mut numbers, mut tokens) = (Vec::new(), Vec::new());
        for at in self.compared_positions(text)? {
            numbers.extend_from_slice(&all[at * width..(at + 1) * width]);
            let span = match at {
                _ if at < first => (0, 0),
                _ if at < sep => text.spans[at - first],
                _ => (end, end),
            };
            tokens.push((text.ids[at], span));
        }
        SingleOrMultiVectorEncoding::from_unnormalized_token_vectors(numbers, width, tokens)
    }
}

/// The position of the first content token of a text, and that of `[SEP]`.
struct InputLayout {
    first: usize,
    sep: usize,
}

/// How a model encodes and compares, with tokens by name.
struct ColbertPlan {
    bounds: TokenLimits,
    /// The markers of queries and of documents.
    markers: Option<[String; 2]>,
    augmentation: ColbertQueryAugmentation,
    punctuation: PunctuationPolicy,
    query_keeps: Vec<ColbertSpecialTokenKind>,
    text_keeps: Vec<ColbertSpecialTokenKind>,
}

impl ColbertPlan {
    /// Creates the plan; `artifact` is used only without a preset.
    fn of(declared: &NeuralRankerConfig, artifact: Option<&Artifact>, most: usize) -> ColbertPlan {
        let choices = declared.colbert.clone().unwrap_or_default();
        let mut plan =
            ColbertPlan::preset(choices.preset.unwrap_or(ColbertPreset::Khattab2020), most);
        if let Some(artifact) = artifact {
            artifact.change(&mut plan);
        }
        let ColbertConfig {
            preset: _,
            markers,
            augmentation,
            punctuation,
            scored_query_specials: query_keeps,
            scored_document_specials: text_keeps,
        } = choices;
        if let Some(markers) = markers {
            plan.markers = markers.try_into().ok();
        }
        plan.augmentation = augmentation.unwrap_or(plan.augmentation);
        plan.punctuation = punctuation.unwrap_or(plan.punctuation);
        plan.query_keeps = query_keeps.unwrap_or(plan.query_keeps);
        plan.text_keeps = text_keeps.unwrap_or(plan.text_keeps);
        plan.bounds.query = declared.max_query_tokens.unwrap_or(plan.bounds.query);
        plan.bounds.document = declared.max_document_tokens.unwrap_or(plan.bounds.document);
        plan
    }

    fn preset(preset: ColbertPreset, most: usize) -> ColbertPlan {
        let (markers, augmentation) = match preset {
            ColbertPreset::Khattab2020 => {
                let markers = ["[unused0]", "[unused1]"].map(str::to_owned);
                (Some(markers), ColbertQueryAugmentation::Unattended)
            }
            ColbertPreset::Formal2021 => (None, ColbertQueryAugmentation::None),
        };
        ColbertPlan {
            bounds: TokenLimits {
                query: most.min(32),
                document: most.min(180),
            },
            markers,
            augmentation,
            punctuation: PunctuationPolicy::Skipped,
            query_keeps: vec![
                ColbertSpecialTokenKind::Cls,
                ColbertSpecialTokenKind::Marker,
                ColbertSpecialTokenKind::Sep,
                ColbertSpecialTokenKind::Mask,
            ],
            text_keeps: vec![
                ColbertSpecialTokenKind::Cls,
                ColbertSpecialTokenKind::Marker,
                ColbertSpecialTokenKind::Sep,
            ],
        }
    }
}

/// The plan with token ids instead of names.
struct ColbertSetting {
    bounds: TokenLimits,
    markers: Option<[u32; 2]>,
    augmentation: ColbertQueryAugmentation,
    /// The token that fills up a query.
    mask: Option<u32>,
    query_keeps: Vec<ColbertSpecialTokenKind>,
    text_keeps: Vec<ColbertSpecialTokenKind>,
}

impl ColbertSetting {
    fn of(plan: ColbertPlan, cutter: &InputTokenizer) -> Result<ColbertSetting, Error> {
        let id = |token: &str| {
            cutter
                .token_to_id(token)
                .ok_or_else(|| Error::MissingMarkerToken {
                    token: token.to_owned(),
                })
        };
        let markers = match &plan.markers {
            Some([query, text]) => Some([id(query)?, id(text)?]),
            None => None,
        };
        let mask = match plan.augmentation {
            ColbertQueryAugmentation::None => None,
            ColbertQueryAugmentation::Unattended | ColbertQueryAugmentation::Attended => {
                let mask = cutter
                    .token_to_id("[MASK]")
                    .or_else(|| cutter.token_to_id("<mask>"));
                Some(mask.map_or_else(|| id("[MASK]"), Ok)?)
            }
        };
        Ok(ColbertSetting {
            bounds: plan.bounds,
            markers,
            augmentation: plan.augmentation,
            mask,
            query_keeps: plan.query_keeps,
            text_keeps: plan.text_keeps,
        })
    }

    fn marker(&self, side: QueryOrDocumentRole) -> Option<u32> {
        let [query, text] = self.markers?;
        Some(match side {
            QueryOrDocumentRole::Query => query,
            QueryOrDocumentRole::Document => text,
        })
    }

    fn keeps(&self, side: QueryOrDocumentRole) -> &[ColbertSpecialTokenKind] {
        match side {
            QueryOrDocumentRole::Query => &self.query_keeps,
            QueryOrDocumentRole::Document => &self.text_keeps,
        }
    }
}

/// The fields of `artifact.metadata` that are used.
#[derive(Deserialize)]
struct Artifact {
    dim: Option<usize>,
    query_maxlen: Option<usize>,
    doc_maxlen: Option<usize>,
    query_token_id: Option<String>,
    doc_token_id: Option<String>,
    mask_punctuation: Option<bool>,
    attend_to_mask_tokens: Option<bool>,
    similarity: Option<String>,
    interaction: Option<String>,
}

const ARTIFACT: &str = "artifact.metadata";

fn refuse<T>(field: &'static str, found: &str, expected: &str) -> Result<T, Error> {
    Err(Error::UnsupportedModule {
        file: ARTIFACT.to_owned(),
        field,
        found: found.to_owned(),
        expected: expected.to_owned(),
    })
}

impl Artifact {
    fn read(json: &[u8]) -> Result<Artifact, Error> {
        let found: Artifact =
            serde_json::from_slice(json).map_err(|source| Error::SentenceTransformersConfig {
                file: ARTIFACT.to_owned(),
                source,
            })?;
        for (field, value, expected) in [
            ("similarity", &found.similarity, "cosine"),
            ("interaction", &found.interaction, "colbert"),
        ] {
            if let Some(other) = value
                && other != expected
            {
                return refuse(field, other, expected);
            }
        }
        match (&found.query_token_id, &found.doc_token_id) {
            (Some(_), None) => refuse("doc_token_id", "absent", "there, as query_token_id is"),
            (None, Some(_)) => refuse("query_token_id", "absent", "there, as doc_token_id is"),
            (Some(_), Some(_)) | (None, None) => Ok(found),
        }
    }

    fn change(&self, plan: &mut ColbertPlan) {
        plan.bounds.query = self.query_maxlen.unwrap_or(plan.bounds.query);
        plan.bounds.document = self.doc_maxlen.unwrap_or(plan.bounds.document);
        if let (Some(query), Some(text)) = (&self.query_token_id, &self.doc_token_id) {
            plan.markers = Some([query.clone(), text.clone()]);
        }
        match self.mask_punctuation {
            Some(true) => plan.punctuation = PunctuationPolicy::Skipped,
            Some(false) => plan.punctuation = PunctuationPolicy::Kept,
            None => {}
        }
        match self.attend_to_mask_tokens {
            Some(true) => plan.augmentation = ColbertQueryAugmentation::Attended,
            Some(false) => plan.augmentation = ColbertQueryAugmentation::Unattended,
            None => {}
        }
    }
}

/// Returns the ids of the 32 ASCII punctuation marks, the first token of each. A mark that the
/// vocabulary lacks is skipped, since the unknown token would leave out texts in other scripts too.
fn punctuation(cutter: &InputTokenizer) -> Result<Vec<u32>, Error> {
    let marks = (b'!'..=b'~').filter(u8::is_ascii_punctuation);
    let mut ids = Vec::new();
    for mark in marks {
        let mark = char::from(mark).to_string();
        let first = cutter.text_to_first_token_id(&mark)?;
        ids.extend(first.filter(|&it| Some(it) != cutter.unknown_token_id()));
    }
    Ok(ids)
}

//! Fine-tuning: a cross-encoder or a ColBERT made of an encoder, to be trained on judgments.
//!
//! The encoder may be any that this crate reads, except for ModernBERT. Its head is that of the
//! folder if it has one, and random otherwise. On the CPU the encoder computes in f32 with passes
//! of its own; on a GPU with candle's operations, in f32 or bf16, where the parameters and the
//! states of the optimizer stay f32.

mod cpu_pass;
mod files;
mod graph;
mod head;
mod parameters;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Deref;

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, Storage, Tensor, Var};
use serde::{Deserialize, Serialize};

use crate::colbert::Colbert;
use crate::config::EncoderConfig;
use crate::cross_encoder::{ClassificationHead, CrossEncoder};
use crate::device::DeviceAndPrecision;
use crate::dropout::{Dropout, ForwardMode};
use crate::embedding::SingleOrMultiVectorEncoding;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::random::RandomStream;
use crate::tokenization::{
    EncoderInput, QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText,
};
use crate::training::UpdateScores;
use crate::weights::ModelWeights;
use cpu_pass::EncoderPass;
use files::{head_shapes, ranker_config_json, ranker_toml, to_safetensors};
use graph::EncoderGraph;
use parameters::EncoderParameters;

/// The largest number of tokens of a pair.
const MAX_PAIR_TOKENS: usize = 512;

/// The number of pairs that are scored at once.
const BATCH_SIZE: usize = 64;

/// A ranker that can be made of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FineTunedRankerKind {
    /// Query and document are encoded together; see [`CrossEncoder`].
    CrossEncoder,
    /// Query and document are encoded separately, a vector for each token; see [`Colbert`].
    Colbert,
}

impl FineTunedRankerKind {
    /// Lists both kinds of rankers.
    pub const ALL: [FineTunedRankerKind; 2] = [
        FineTunedRankerKind::CrossEncoder,
        FineTunedRankerKind::Colbert,
    ];

    /// Returns the name, as in recipes.
    pub fn name(self) -> &'static str {
        match self {
            FineTunedRankerKind::CrossEncoder => "cross-encoder",
            FineTunedRankerKind::Colbert => "colbert",
        }
    }
}

/// The table `[encoder]` of a recipe: what is made of an encoder, and which tokens it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSettings {
    /// The maximum number of tokens of a query, including special ones.
    pub max_query_tokens: usize,
    /// The maximum number of tokens of a document, including special ones.
    pub max_document_tokens: usize,
    /// The number of labels of a cross-encoder: with 1 the score is the logit, with 2 it is the
    /// log-probability of the second label.
    pub n_labels: usize,
    /// The number of elements of a vector of ColBERT.
    pub vector_dimension: usize,
    /// The probability that an element is dropped during training, from 0 to below 1.
    pub dropout: f64,
    /// Whether a document is its title and its body, or its body alone.
    pub read_titles: bool,
    /// Where the numbers are from.
    pub source: String,
}

/// A query and a document as tokens.
#[derive(Clone, Debug)]
pub enum TokenizedPair {
    /// Query and document in one sequence, for a cross-encoder.
    Joined(QueryDocumentTokenSequence),
    /// Query and document each in a sequence of its own, for ColBERT.
    Separate([TokenizedText; 2]),
}

/// A cross-encoder or a ColBERT in training.
pub struct FineTunedRanker {
    kind: FineTunedRankerKind,
    settings: EncoderSettings,
    config: EncoderConfig,
    computing: DeviceAndPrecision,
    device: candle_core::Device,
    /// All files but the weights.
    files: ModelFileContents,
    /// Those of the encoder, in the order of [`EncoderParameters`], and then those of the head.
    variables: Vec<(String, Var)>,
    encoder: EncoderParameters<Var>,
    /// Tokenizes, and scores with the weights of [`FineTunedRanker::use_scorer_weights`].
    scorer: Scorer,
}

/// The ranker as a loaded folder has it.
enum Scorer {
    CrossEncoder(Box<CrossEncoder>),
    Colbert(Box<Colbert>),
}

impl Scorer {
    fn load(
        kind: FineTunedRankerKind,
        files: &ModelFileContents,
        computing: DeviceAndPrecision,
    ) -> Result<Scorer, Error> {
        Ok(match kind {
            FineTunedRankerKind::CrossEncoder => {
                let most = files.encoder_max_tokens().unwrap_or(MAX_PAIR_TOKENS);
                let most = most.min(MAX_PAIR_TOKENS);
                Scorer::CrossEncoder(Box::new(CrossEncoder::load(files, most, computing)?))
            }
            FineTunedRankerKind::Colbert => {
                Scorer::Colbert(Box::new(Colbert::load(files, computing)?))
            }
        })
    }
}

impl FineTunedRanker {
    /// Makes a ranker of the encoder in `files`, which reads not more tokens than the encoder.
    /// Layers of the head that the files lack are random: the same seed gives the same weights on
    /// every machine.
    pub fn from_encoder(
        kind: FineTunedRankerKind,
        settings: EncoderSettings,
        files: &ModelFileContents,
        computing: impl Into<DeviceAndPrecision>,
        seed: u64,
    ) -> Result<FineTunedRanker, Error> {
        let computing = computing.into();
        let most = EncoderConfig::parse(&files.config)?.max_tokens();
        let settings = EncoderSettings {
            max_query_tokens: settings.max_query_tokens.min(most),
            max_document_tokens: settings.max_document_tokens.min(most),
            ..settings
        };
        let config = ranker_config_json(kind, &settings, &files.config)?;
        let mut files_of_ranker = ModelFileContents {
            config,
            tokenizer: files.tokenizer.clone(),
            ranker_config: Some(ranker_toml(kind, &settings)),
            ..ModelFileContents::default()
        };
        let config = EncoderConfig::parse(&files_of_ranker.config)?;
        let device = computing.device.open_candle_device()?;
        let prefix = config.family.tensor_prefix();
        let weights = ModelWeights::from_safetensors_bytes(&files.weights, prefix)?;
        let variable =
            |values: Vec<f32>, shape: &[usize]| match values.iter().all(|it| it.is_finite()) {
                true => Ok(Var::from_vec(values, shape, &device)?),
                false => Err(Error::NotFinite),
            };
        let names = EncoderParameters::names(&config);
        let encoder =
            names.try_map(|it| variable(weights.read_tensor(&it.name, &it.shape)?, &it.shape))?;
        let names = names.into_values().into_iter();
        let names = names.map(|it| format!("{prefix}{}", it.name));
        let copies = encoder.try_map(|it| Ok::<_, Error>(it.clone()))?;
        let mut variables: Vec<(String, Var)> = names.zip(copies.into_values()).collect();
        let bare = weights.without_tensor_prefix();
        for (number, (name, shape, bound)) in head_shapes(kind, &settings, &config)
            .into_iter()
            .enumerate()
        {
            let of_encoder = name.strip_prefix(prefix);
            let known = match of_encoder {
                Some(name) if weights.has_tensor(name) => Some(weights.read_tensor(name, &shape)?),
                None if bare.has_tensor(&name) => Some(bare.read_tensor(&name, &shape)?),
                Some(_) | None => None,
            };
            let n = shape.iter().product();
            let values = known.unwrap_or_else(|| {
                RandomStream::select(seed, &[number as u64]).uniform_numbers(n, bound)
            });
            variables.push((name, variable(values, &shape)?));
        }
        files_of_ranker.weights = to_safetensors(&variables)?;
        let scorer = Scorer::load(kind, &files_of_ranker, computing)?;
        files_of_ranker.weights = Vec::new();
        Ok(FineTunedRanker {
            kind,
            settings,
            config,
            computing,
            device,
            files: files_of_ranker,
            variables,
            encoder,
            scorer,
        })
    }

    /// Returns what is made of the encoder.
    pub fn kind(&self) -> FineTunedRankerKind {
        self.kind
    }

    /// Returns the settings of the recipe.
    pub fn settings(&self) -> &EncoderSettings {
        &self.settings
    }

    /// Returns the trained variables with their names, always in the same order.
    pub fn variables(&self) -> &[(String, Var)] {
        &self.variables
    }

    /// Returns the files of the ranker other than the weights, by name.
    pub fn named_files(&self) -> Vec<(&'static str, &[u8])> {
        let files = &self.files;
        let mut named: Vec<(&'static str, &[u8])> = vec![
            ("config.json", &files.config),
            ("tokenizer.json", &files.tokenizer),
        ];
        named.extend(
            files
                .ranker_config
                .iter()
                .map(|it| ("ranker.toml", it.as_slice())),
        );
        named
    }

    /// Returns all weights as a safetensors file.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, Error> {
        to_safetensors(&self.variables)
    }

    /// Makes [`FineTunedRanker::score`] compute with these weights, a safetensors file.
    pub fn use_scorer_weights(&mut self, weights: Vec<u8>) -> Result<(), Error> {
        self.files.weights = weights;
        let scorer = Scorer::load(self.kind, &self.files, self.computing);
        self.files.weights = Vec::new();
        self.scorer = scorer?;
        Ok(())
    }

    /// Returns the tokens of a query and a document.
    pub fn tokenize_pair(&self, query: &str, document: &str) -> Result<TokenizedPair, Error> {
        let (of_query, of_document) = (QueryOrDocumentRole::Query, QueryOrDocumentRole::Document);
        Ok(match &self.scorer {
            Scorer::CrossEncoder(it) => {
                let query = it.tokenize(of_query, query)?;
                TokenizedPair::Joined(
                    it.join_tokenized_pair(&query, &it.tokenize(of_document, document)?),
                )
            }
            Scorer::Colbert(it) => {
                let query = it.tokenize(of_query, query)?;
                TokenizedPair::Separate([query, it.tokenize(of_document, document)?])
            }
        })
    }

    /// Returns the score of each pair as the folder of the ranker gives it; always finite.
    pub fn score(&self, pairs: &[&TokenizedPair]) -> Result<Vec<f64>, Error> {
        let mut scores = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(BATCH_SIZE) {
            match &self.scorer {
                Scorer::CrossEncoder(scorer) => {
                    let joined: Result<Vec<_>, Error> =
                        pairs.iter().map(|it| it.joined()).collect();
                    scores.extend(scorer.score_pairs(&joined?)?);
                }
                Scorer::Colbert(scorer) => {
                    let batch = DistinctTexts::of(pairs)?;
                    let encoded: Vec<SingleOrMultiVectorEncoding> = scorer.encode(&batch.texts)?;
                    let pairs = batch.pairs.iter();
                    scores.extend(pairs.map(|&[query, document]| {
                        scorer.score(&encoded[query], &encoded[document])
                    }));
                }
            }
        }
        match scores.iter().all(|it| it.is_finite()) {
            true => Ok(scores),
            false => Err(Error::NotFinite),
        }
    }

    /// Computes the score of each pair with a graph, `[pairs]`. With two labels it is the
    /// difference of the logits.
    pub fn forward(
        &self,
        pairs: &[&TokenizedPair],
        mode: ForwardMode,
    ) -> Result<UpdateScores, Error> {
        let (inputs, heads) = self.inputs(pairs)?;
        let dropout = self.settings.dropout as f32;
        let of_head = Dropout::for_layer(mode, 0, dropout);
        if !self.computing.is_cpu_f32() {
            let hidden = self.graph_states(&inputs, mode)?;
            return Ok(self.head_scores(&hidden, &heads, of_head)?.into());
        }
        let parameters = self
            .encoder
            .try_map(|it| Ok::<_, Error>(it.as_tensor().clone()))?;
        let config = self.config.clone();
        let run = move |inputs: &[OwnedInput], run: &mut dyn FnMut(&EncoderPass<'_>)| {
            let numbers = parameters.try_map(storage_of)?;
            let numbers_in_pass = numbers.try_map(|it| numbers_of(it))?;
            run(&EncoderPass {
                config: &config,
                parameters: &numbers_in_pass,
                texts: &borrow_inputs(inputs),
                mode,
                dropout,
            });
            Ok::<(), Error>(())
        };
        let mut tape = None;
        run(&inputs, &mut |pass| tape = Some(pass.forward()))?;
        let mut tape = tape.expect("the pass was run");
        let h = self.config.hidden_size;
        let numbers = std::mem::take(&mut tape.hidden);
        let n = numbers.len() / h;
        let hidden = Var::from_vec(numbers, (n, h), &self.device)?;
        let rows = self.head_scores(&hidden, &heads, of_head)?;
        let variables: Vec<Var> = self.variables.iter().map(|it| it.1.clone()).collect();
        let add_gradients = move |gradients: &mut GradStore| {
            let Some(gradient) = gradients.remove(&hidden) else {
                return Ok(());
            };
            let gradient = gradient.flatten_all()?.to_vec1::<f32>()?;
            let mut of_parameters = None;
            let mut tape = Some(tape);
            run(&inputs, &mut |pass| {
                let tape = tape.take().expect("the pass is run once");
                of_parameters = Some(pass.backward(tape, gradient.clone()));
            })?;
            let of_parameters = of_parameters.expect("the pass was run").into_values();
            for (variable, gradient) in variables.iter().zip(of_parameters) {
                let gradient = Tensor::from_vec(gradient, variable.shape(), variable.device())?;
                gradients.insert(variable, gradient);
            }
            Ok(())
        };
        Ok(UpdateScores {
            rows,
            preferences: None,
            add_gradients: Some(Box::new(add_gradients)),
        })
    }

    /// Computes the last hidden states with candle's operations.
    fn graph_states(&self, inputs: &[OwnedInput], mode: ForwardMode) -> Result<Tensor, Error> {
        let tensor = |it: &Var| Ok::<_, Error>(it.as_tensor().clone());
        let graph = EncoderGraph {
            config: &self.config,
            parameters: &self.encoder.try_map(tensor)?,
            device: &self.device,
            dtype: self.computing.precision.candle_dtype(),
            mode,
            dropout: self.settings.dropout as f32,
        };
        Ok(graph.forward(&borrow_inputs(inputs))?)
    }

    /// Returns the inputs of the encoder for a batch, and where the heads find their states.
    fn inputs(&self, pairs: &[&TokenizedPair]) -> Result<(Vec<OwnedInput>, HeadRows), Error> {
        match &self.scorer {
            Scorer::CrossEncoder(_) => {
                let joined = pairs.iter().map(|it| it.joined());
                let joined: Vec<_> = joined.collect::<Result<_, Error>>()?;
                let mut first = 0;
                let rows = joined.iter().map(|it| {
                    first += it.ids.len() as u32;
                    first - it.ids.len() as u32
                });
                let rows = HeadRows::Pairs(rows.collect());
                let inputs = joined.into_iter().map(|it| OwnedInput {
                    ids: it.ids.clone(),
                    second_segment_start: it.document_start,
                    n_attended: it.ids.len(),
                });
                Ok((inputs.collect(), rows))
            }
            Scorer::Colbert(scorer) => {
                let batch = DistinctTexts::of(pairs)?;
                let (mut inputs, mut rows, mut first) = (Vec::new(), Vec::new(), 0);
                for text in &batch.texts {
                    let input = scorer.input(text)?;
                    let compared = scorer.compared_positions(text)?.into_iter();
                    rows.push(compared.map(|it| (first + it) as u32).collect());
                    first += text.ids.len();
                    inputs.push(OwnedInput {
                        ids: text.ids.clone(),
                        second_segment_start: input.second_segment_start,
                        n_attended: input.n_attended,
                    });
                }
                let pairs = batch.pairs;
                Ok((inputs, HeadRows::Texts { rows, pairs }))
            }
        }
    }

    fn head_scores(
        &self,
        hidden: &Tensor,
        rows: &HeadRows,
        dropout: Option<Dropout>,
    ) -> Result<Tensor, Error> {
        let n_head = head_shapes(self.kind, &self.settings, &self.config).len();
        let head = &self.variables[self.variables.len() - n_head..];
        let tensor = |at: usize| head[at].1.as_tensor().clone();
        Ok(match rows {
            HeadRows::Pairs(first) => {
                let layers = [[tensor(0), tensor(1)], [tensor(2), tensor(3)]];
                let head = ClassificationHead::of(self.config.family);
                head.scores(hidden, first, [&layers[0], &layers[1]], dropout)?
            }
            HeadRows::Texts { rows, pairs } => {
                let pairs = pairs.iter().map(|it| it.map(|it| rows[it].as_slice()));
                head::late_interaction_scores(hidden, &tensor(0), &pairs.collect::<Vec<_>>())?
            }
        })
    }
}

impl TokenizedPair {
    fn joined(&self) -> Result<&QueryDocumentTokenSequence, Error> {
        match self {
            TokenizedPair::Joined(it) => Ok(it),
            TokenizedPair::Separate(_) => Err(foreign_pair()),
        }
    }
}

fn foreign_pair() -> Error {
    Error::InvalidTokens {
        reason: "the pair is of another kind of ranker".to_owned(),
    }
}

/// The rows of hidden states that a head reads.
enum HeadRows {
    /// The first token of each pair.
    Pairs(Vec<u32>),
    /// The compared tokens of each text, and the query and the document of each pair.
    Texts {
        rows: Vec<Vec<u32>>,
        pairs: Vec<[usize; 2]>,
    },
}

/// The texts of a batch, each once, and the query and the document of each pair.
struct DistinctTexts<'a> {
    texts: Vec<&'a TokenizedText>,
    pairs: Vec<[usize; 2]>,
}

impl<'a> DistinctTexts<'a> {
    fn of(pairs: &[&'a TokenizedPair]) -> Result<DistinctTexts<'a>, Error> {
        let mut texts: Vec<&TokenizedText> = Vec::new();
        let mut known: HashMap<(usize, &[u32]), usize> = HashMap::new();
        let mut places = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let TokenizedPair::Separate(both) = pair else {
                return Err(foreign_pair());
            };
            let mut place = [0; 2];
            for (side, text) in both.iter().enumerate() {
                place[side] = *known.entry((side, &text.ids)).or_insert_with(|| {
                    texts.push(text);
                    texts.len() - 1
                });
            }
            places.push(place);
        }
        Ok(DistinctTexts {
            texts,
            pairs: places,
        })
    }
}

/// An input of an encoder with its own ids.
struct OwnedInput {
    ids: Vec<u32>,
    second_segment_start: usize,
    n_attended: usize,
}

fn borrow_inputs(inputs: &[OwnedInput]) -> Vec<EncoderInput<'_>> {
    let inputs = inputs.iter().map(|it| EncoderInput {
        ids: &it.ids,
        second_segment_start: it.second_segment_start,
        n_attended: it.n_attended,
    });
    inputs.collect()
}

/// Returns the storage of a tensor, from which [`numbers_of`] borrows without a copy.
fn storage_of(tensor: &Tensor) -> Result<impl Deref<Target = Storage> + '_, Error> {
    let (storage, layout) = tensor.storage_and_layout();
    match layout.contiguous_offsets() {
        Some((0, _)) => Ok(storage),
        _ => Err(candle_core::Error::Msg("a variable is not contiguous".to_owned()).into()),
    }
}

fn numbers_of(storage: &Storage) -> Result<&[f32], Error> {
    match storage {
        Storage::Cpu(CpuStorage::F32(numbers)) => Ok(numbers),
        _ => Err(candle_core::Error::Msg("a variable is not f32 on the CPU".to_owned()).into()),
    }
}

//! monoT5: a T5 reads a query and a document together and predicts whether the document is
//! relevant.
//!
//! Nogueira, Jiang, Pradeep and Lin (Findings of EMNLP 2020), arXiv:2003.06713. The prompt is
//! `Query: q Document: d Relevant:`; the score is the log-softmax of `▁true` over the logits of the
//! tokens `▁true` and `▁false` at the first step of the decoder.
//!
//! If query and document are too long together, the longer one is truncated first and the prompt is
//! kept, so that some of both is always read. The parts are tokenized separately and joined: tokens
//! of a T5 do not cross white space, which is checked when the model is loaded.

use rayon::prelude::*;

use crate::bert_cpu;
use crate::cross_encoder::log_softmax_of_first_logit;
use crate::device::DeviceAndPrecision;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::ranker_config::RankerArchitecture;
use crate::t5::{self, T5, T5Config, T5Tokenizer};
use crate::tokenization::{
    EncoderInput, QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText,
    longest_first_truncated_lengths,
};

/// A ranker that scores pairs with a T5.
pub struct MonoT5 {
    model: T5,
    words: T5Tokenizer,
    prompt: Prompt,
    /// The ids of `▁true` and `▁false`.
    true_false_ids: [u32; 2],
    max_tokens: usize,
    fingerprint: String,
}

/// The tokens of the prompt around the query and the document.
struct Prompt {
    query: Vec<u32>,
    document: Vec<u32>,
    /// Includes the end token.
    relevant: Vec<u32>,
}

impl MonoT5 {
    /// Whether `config.json` describes a T5 with an output. The folder does not tell whether it was
    /// trained to generate `true` and `false`.
    pub fn is_supported_config(config: &[u8]) -> bool {
        T5Config::is_generative_config(config)
    }

    /// Reads and checks the files. The prompt with query and document has at most `max_tokens`
    /// tokens. Computes on the CPU only.
    pub fn load(
        files: &ModelFileContents,
        max_tokens: usize,
        device: DeviceAndPrecision,
    ) -> Result<Self, Error> {
        let config = T5Config::parse(&files.config)?;
        let declared = files.ranker_config_if_architecture_matches(RankerArchitecture::MonoT5)?;
        declared.check_no_limits_or_prompts("a monoT5, whose prompt is its own")?;
        let words = T5Tokenizer::load(&files.tokenizer, config.vocab_size)?;
        let prompt = Prompt::of(&words, config.eos_token_id)?;
        // One token of the query and one of the document.
        t5::check_t5_max_tokens(max_tokens, prompt.len() + 2)?;
        Ok(MonoT5 {
            true_false_ids: [words.token_to_id("▁true")?, words.token_to_id("▁false")?],
            model: T5::load(files, config, device)?,
            words,
            prompt,
            max_tokens,
            fingerprint: files.fingerprint_for_use("monot5", max_tokens),
        })
    }

    /// Returns the tokens of a query or of a document, without special ones, at most `max_tokens`.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.words
            .tokenize_without_end_token(side, text, self.max_tokens)
    }

    /// Fills the prompt; if query and document are too long, the longer one is truncated first.
    pub fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        let room = self.max_tokens - self.prompt.len();
        let (n_query, n_text) =
            longest_first_truncated_lengths(query.ids.len(), text.ids.len(), room);
        let cut = n_query < query.ids.len() || n_text < text.ids.len();
        let mut ids = self.prompt.query.clone();
        ids.extend(&query.ids[..n_query]);
        ids.extend(&self.prompt.document);
        let second = ids.len();
        ids.extend(&text.ids[..n_text]);
        ids.extend(&self.prompt.relevant);
        QueryDocumentTokenSequence {
            ids,
            document_start: second,
            n_document_tokens: n_text,
            truncated: cut || query.truncated || text.truncated,
        }
    }

    /// Returns the score of each pair, at most 0, higher is better; always finite.
    pub fn score_pairs(&self, batch: &[&QueryDocumentTokenSequence]) -> Result<Vec<f64>, Error> {
        let logits = self.true_false_logits(batch)?;
        let scores = logits.into_iter().map(|[yes, no]| {
            let score = log_softmax_of_first_logit(yes, no);
            score.is_finite().then_some(score).ok_or(Error::NotFinite)
        });
        scores.collect()
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files of the model and the
    /// maximum number of tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the logits of `▁true` and `▁false` for each pair.
    pub(crate) fn true_false_logits(
        &self,
        batch: &[&QueryDocumentTokenSequence],
    ) -> Result<Vec<[f64; 2]>, Error> {
        let check =
            |it: &&QueryDocumentTokenSequence| self.model.check_token_ids(&it.ids, self.max_tokens);
        batch.iter().try_for_each(check)?;
        let inputs: Vec<EncoderInput<'_>> = batch
            .iter()
            .map(|it| EncoderInput::single_segment(&it.ids))
            .collect();
        let (shares, parallelism) = bert_cpu::split_texts_among_threads(&inputs);
        let of_share = |share: &[EncoderInput<'_>]| {
            let states = self.model.encode(share, parallelism); // [t, h]
            let mut rest = states.as_slice();
            let texts: Vec<&[f32]> = share
                .iter()
                .map(|it| {
                    let (own, others) = rest.split_at(it.ids.len() * self.model.config().d_model);
                    rest = others;
                    own
                })
                .collect();
            self.ask(&texts, parallelism)
        };
        let shares: Vec<Vec<[f64; 2]>> = shares.into_par_iter().map(of_share).collect();
        Ok(shares.concat())
    }

    /// Runs the first step of the decoder on the states of each prompt, `[l, h]`.
    fn ask(&self, texts: &[&[f32]], parallelism: gemm::Parallelism) -> Vec<[f64; 2]> {
        let decoder = self.model.create_decoder(1);
        let states = decoder.compute_first_token_states(texts, parallelism); // [r, h]
        let of_pair = |it: &[f32]| {
            self.true_false_ids
                .map(|token| decoder.token_logit(it, token))
        };
        let each = states.chunks_exact(self.model.config().d_model);
        each.map(of_pair).collect()
    }
}

impl Prompt {
    fn of(words: &T5Tokenizer, end: u32) -> Result<Prompt, Error> {
        let cut = |text: &str| {
            words
                .tokenize_without_end_token(QueryOrDocumentRole::Document, text, usize::MAX)
                .map(|it| it.ids)
        };
        let prompt = Prompt {
            query: cut("Query:")?,
            document: cut("Document:")?,
            relevant: cut("Relevant:")?,
        };
        let parts = [
            &prompt.query,
            &cut("a b")?,
            &prompt.document,
            &prompt.relevant,
        ];
        if parts.map(Vec::as_slice).concat() != cut("Query: a b Document: Relevant:")? {
            let reason = "tokens reach over white space, which those of a T5 do not";
            return Err(Error::Tokenizer(reason.to_owned()));
        }
        let mut relevant = prompt.relevant;
        relevant.push(end);
        Ok(Prompt { relevant, ..prompt })
    }

    fn len(&self) -> usize {
        self.query.len() + self.document.len() + self.relevant.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t5::tests::fixtures;

    #[test]
    fn logits_of_both_answers_equal_the_reference() {
        for (files, fixture) in fixtures() {
            let max_tokens = fixture["max_pieces"].as_u64().unwrap() as usize;
            let model = MonoT5::load(&files, max_tokens, crate::Device::Cpu.into()).unwrap();
            let pairs = fixture["pairs"].as_array().unwrap();
            let made: Vec<QueryDocumentTokenSequence> = pairs
                .iter()
                .map(|it| {
                    let text = |name: &str| {
                        model
                            .tokenize(QueryOrDocumentRole::Document, it[name].as_str().unwrap())
                            .unwrap()
                    };
                    model.join_tokenized_pair(&text("query"), &text("text"))
                })
                .collect();
            let found = model
                .true_false_logits(&made.iter().collect::<Vec<_>>())
                .unwrap();
            let mut worst = 0.0_f64;
            for (found, expected) in found.iter().zip(pairs) {
                for (found, name) in found.iter().zip(["yes", "no"]) {
                    worst = worst.max((found - expected[name].as_f64().unwrap()).abs());
                }
            }
            println!("largest difference of a logit: {worst:.1e}");
            assert!(worst < 1e-4, "{worst}");
        }
    }
}

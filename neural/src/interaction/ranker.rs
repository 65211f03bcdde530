//! An interaction ranker as a folder of files has it, with the words that it knows.

use serde_json::json;

use crate::error::Error;
use crate::interaction::{
    InteractionConfig, InteractionNetwork, InteractionNetworkConfig, InteractionRankerKind,
    PreparedPair,
};
use crate::model_files::ModelFileContents;
use crate::tokenization::{QueryDocumentTokenSequence, QueryOrDocumentRole, TokenizedText};
use crate::tokenizer::HfTokenizer;

/// The token of unknown words, with the id 0; the network leaves it out.
const UNKNOWN: &str = "[UNK]";

/// A word: letters and digits of ASCII, after lower-casing.
const WORD: &str = "[a-z0-9]+";

/// A ranker over the interactions of query terms with document terms, from text to score. Words
/// that its vocabulary does not have are left out.
pub struct InteractionRanker {
    network: InteractionNetwork,
    words: HfTokenizer,
    fingerprint: String,
}

impl InteractionRanker {
    /// Returns the network that `config.json` describes, or `None` if it is of another model.
    pub fn kind_of_config(config: &[u8]) -> Option<InteractionRankerKind> {
        InteractionConfig::parse(config).ok().map(|it| it.kind())
    }

    /// Reads and checks the files of a trained ranker.
    pub fn load(files: &ModelFileContents) -> Result<InteractionRanker, Error> {
        let config = InteractionConfig::parse(&files.config)?;
        let words = HfTokenizer::from_json(&files.tokenizer, u32::MAX as usize)?;
        let mut tokens = words.tokens_by_id()?;
        if tokens.first().is_none_or(|it| it != UNKNOWN) {
            let reason = format!("the token with the id 0 is not {UNKNOWN}");
            return Err(Error::Tokenizer(reason));
        }
        tokens.remove(0);
        Ok(InteractionRanker {
            network: InteractionNetwork::load(&files.config, &files.weights, tokens)?,
            words,
            fingerprint: files.fingerprint_for_use("interaction", config.max_document_terms),
        })
    }

    /// Returns the contents of `tokenizer.json` for the words with the ids from 1. A text is
    /// lower-cased; its words are the longest sequences of ASCII letters and digits.
    pub fn tokenizer_json(words: &[String]) -> Vec<u8> {
        let unknown = std::iter::once(UNKNOWN);
        let ids = unknown.chain(words.iter().map(String::as_str)).zip(0..);
        let ids: serde_json::Map<String, serde_json::Value> = ids
            .map(|(word, id): (&str, u32)| (word.to_owned(), id.into()))
            .collect();
        let tokenizer = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": WORD},
                "behavior": "Removed",
                "invert": true,
            },
            "post_processor": null,
            "decoder": null,
            "model": {"type": "WordLevel", "vocab": ids, "unk_token": UNKNOWN},
        });
        tokenizer.to_string().into_bytes()
    }

    /// Returns the words of a text as [`InteractionRanker::tokenizer_json`] defines them.
    pub fn words_of(text: &str) -> Vec<String> {
        let lower: String = text.chars().flat_map(char::to_lowercase).collect();
        let is_other = |it: char| !matches!(it, 'a'..='z' | '0'..='9');
        let words = lower.split(is_other).filter(|it| !it.is_empty());
        words.map(str::to_owned).collect()
    }

    /// Returns the ids of the words of a query or of a document; 0 for unknown words.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.words.tokenize_without_specials(side, text, usize::MAX)
    }

    /// Joins the words of a query and of a document.
    pub fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        let config = self.network.config();
        let reads_all = matches!(
            config.network,
            InteractionNetworkConfig::Drmm(_) | InteractionNetworkConfig::Anmm(_)
        );
        // Unknown words, which have the id 0, do not count.
        let end_of_known = |it: &TokenizedText, n_known: usize| {
            let known = it.ids.iter().enumerate().filter(|it| *it.1 > 0);
            known.map(|it| it.0).nth(n_known)
        };
        let end_of_document = match reads_all {
            true => None,
            false => end_of_known(text, config.max_document_terms),
        };
        let is_query_cut = end_of_known(query, config.max_query_terms).is_some();
        QueryDocumentTokenSequence {
            ids: [&query.ids[..], &text.ids].concat(),
            document_start: query.ids.len(),
            n_document_tokens: end_of_document.unwrap_or(text.ids.len()),
            truncated: is_query_cut || end_of_document.is_some(),
        }
    }

    /// Returns the score of each pair, higher is better, unbounded; always finite.
    pub fn score_pairs(&self, batch: &[&QueryDocumentTokenSequence]) -> Result<Vec<f64>, Error> {
        let pairs: Vec<PreparedPair> = batch
            .iter()
            .map(|it| {
                let (query, document) = it.ids.split_at(it.document_start);
                self.network.prepare(query, document)
            })
            .collect();
        let scores = self.network.score(&pairs.iter().collect::<Vec<_>>())?;
        Ok(scores.into_iter().map(f64::from).collect())
    }

    /// Whether a document is its title and its body, or its body alone.
    pub fn reads_titles(&self) -> bool {
        self.network.config().reads_titles
    }

    /// Returns the configuration of the network.
    pub fn config(&self) -> &InteractionConfig {
        self.network.config()
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over its files.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

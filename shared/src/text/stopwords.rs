//! Stop lists.

use serde::{Deserialize, Deserializer};

use super::Stopwords;

/// English function words: articles, pronouns, prepositions, conjunctions, auxiliaries and question
/// words. The list is sorted and our own, based on the word classes of grammars. It includes the
/// tokens that the `alnum` tokenizer makes of contractions (`s`, `t`, `ll`).
pub const EN_FUNCTION: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "against",
    "all",
    "although",
    "am",
    "among",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "down",
    "during",
    "each",
    "either",
    "few",
    "for",
    "from",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "ll",
    "m",
    "may",
    "me",
    "might",
    "mine",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "neither",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "onto",
    "or",
    "other",
    "ought",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "re",
    "s",
    "shall",
    "she",
    "should",
    "since",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "though",
    "through",
    "to",
    "under",
    "unless",
    "until",
    "up",
    "upon",
    "us",
    "ve",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Returns whether a token in lower case is a stop word.
pub(crate) fn is_stop_word(stopwords: &Stopwords, token: &str) -> bool {
    match stopwords {
        Stopwords::None => false,
        Stopwords::EnFunction => EN_FUNCTION.binary_search(&token).is_ok(),
        Stopwords::List(words) => words.binary_search_by(|it| it.as_str().cmp(token)).is_ok(),
    }
}

/// Returns the fraction of the words of a text that are not English function words; 1 if it has no
/// word.
pub(crate) fn content_word_share(text: &str) -> f64 {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '\'');
    let (mut n_words, mut n_content) = (0_u32, 0_u32);
    for word in words.filter(|it| !it.is_empty()) {
        n_words += 1;
        n_content += u32::from(!is_stop_word(&Stopwords::EnFunction, word));
    }
    match n_words {
        0 => 1.0,
        n => f64::from(n_content) / f64::from(n),
    }
}

/// Parses a stop list from a text with one word per line; empty lines and lines that start with `#`
/// are ignored.
pub fn parse_stop_list(text: &str) -> Stopwords {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    Stopwords::List(in_order(lines.map(str::to_lowercase).collect()))
}

/// Reads the words of a [`Stopwords::List`], which may be in any order.
pub(super) fn deserialize_stop_words<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<String>, D::Error> {
    Vec::deserialize(from).map(in_order)
}

/// Returns the distinct words in the order that the search requires.
fn in_order(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Analyzer;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(EN_FUNCTION.is_sorted());
    }

    #[test]
    fn a_custom_list_is_sorted_lower_cased_and_without_repetition() {
        let words = ["and", "the"].map(str::to_owned).to_vec();
        assert_eq!(
            parse_stop_list("# mine\nThe\n\nand\nthe\n"),
            Stopwords::List(words)
        );
    }

    #[test]
    fn a_list_is_read_in_any_order() {
        let read: Stopwords =
            serde_json::from_str(r#"{"list": ["the", "of", "the", "a"]}"#).unwrap();
        let words = ["a", "of", "the"];
        assert!(words.iter().all(|it| is_stop_word(&read, it)), "{read:?}");
        assert_eq!(read, Stopwords::List(words.map(str::to_owned).to_vec()));
        let file = r#"stopwords = { list = ["the", "a", "of"] }"#;
        let analyzer: Analyzer = toml::from_str(file).unwrap();
        assert_eq!(analyzer.stopwords, read);
    }
}

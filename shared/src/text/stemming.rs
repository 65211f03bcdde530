//! Stemming by the algorithms of the Snowball project.

use std::borrow::Cow;

use snowball_stemmers_rs::Algorithm;

use super::Stemmer;

/// A stemmer that is ready for use.
pub(crate) struct TokenStemmer(Option<snowball_stemmers_rs::Stemmer>);

impl TokenStemmer {
    pub(crate) fn with_algorithm(stemmer: Stemmer) -> TokenStemmer {
        let algorithm = match stemmer {
            Stemmer::None => return TokenStemmer(None),
            Stemmer::Porter => Algorithm::Porter,
            Stemmer::Porter2 => Algorithm::English,
        };
        TokenStemmer(Some(snowball_stemmers_rs::Stemmer::create(algorithm)))
    }

    /// Returns the stem of a token in lower case.
    pub(crate) fn stem<'a>(&self, token: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(stemmer) => stemmer.stem(token),
            None => Cow::Borrowed(token),
        }
    }
}

//! Stemming by the algorithms of the Snowball project.

use std::borrow::Cow;

use snowball_stemmers_rs::Algorithm;

use super::Stemmer;

/// A stemmer that is ready to use.
pub(crate) struct Stem(Option<snowball_stemmers_rs::Stemmer>);

impl Stem {
    pub(crate) fn new(stemmer: Stemmer) -> Stem {
        let algorithm = match stemmer {
            Stemmer::None => return Stem(None),
            Stemmer::Porter => Algorithm::Porter,
            Stemmer::Porter2 => Algorithm::English,
        };
        Stem(Some(snowball_stemmers_rs::Stemmer::create(algorithm)))
    }

    /// The stem of a lower-cased token.
    pub(crate) fn of<'a>(&self, token: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(stemmer) => stemmer.stem(token),
            None => Cow::Borrowed(token),
        }
    }
}

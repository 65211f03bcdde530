//! The analyzer fields of a form: tokenizer, stop list and stemmer, with the values used in
//! addresses.

use shared::text::{Analyzer, Stemmer};

/// The analyzer that is chosen in a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnalyzerChoice {
    /// The tokenizer: `alnum` or `unicode`; `wordpiece` where a form takes a vocabulary.
    pub(crate) tokenizer: String,
    /// The stop list: `none` or `en-function`; `list` where a form takes a file.
    pub(crate) stopwords: String,
    /// The stemmer: `none`, `porter` or `porter2`.
    pub(crate) stemmer: String,
}

impl AnalyzerChoice {
    /// Returns the default analyzer of a form: [`Analyzer::default`].
    pub(crate) fn default_choice() -> AnalyzerChoice {
        let analyzer = Analyzer::default();
        AnalyzerChoice {
            tokenizer: analyzer.tokenizer.name().to_owned(),
            stopwords: "none".to_owned(),
            stemmer: analyzer.stemmer.name().to_owned(),
        }
    }

    /// Parses the parameters of an address; missing ones have their default values.
    pub(crate) fn from_parameters(word: impl Fn(&str) -> Option<String>) -> AnalyzerChoice {
        let usual = AnalyzerChoice::default_choice();
        AnalyzerChoice {
            tokenizer: word("tokenizer").unwrap_or(usual.tokenizer),
            stopwords: word("stopwords").unwrap_or(usual.stopwords),
            stemmer: word("stemmer").unwrap_or(usual.stemmer),
        }
    }

    /// Returns the parameters of an address.
    pub(crate) fn to_parameters(&self) -> [(&'static str, String); 3] {
        [
            ("tokenizer", self.tokenizer.clone()),
            ("stopwords", self.stopwords.clone()),
            ("stemmer", self.stemmer.clone()),
        ]
    }
}

/// Returns the values and display names of the stemmers.
pub(crate) fn stemmer_options() -> Vec<(&'static str, &'static str)> {
    let named = Stemmer::ALL.iter().map(|&it| match it {
        Stemmer::None => (it.name(), "none"),
        Stemmer::Porter => (it.name(), "Porter"),
        Stemmer::Porter2 => (it.name(), "Porter 2"),
    });
    named.collect()
}

//! The analyzer fields of a form: tokenizer, stop list and stemmer, with the values used in
//! addresses.

use shared::error::Error;
use shared::text::{Analyzer, Stemmer, Stopwords, Tokenizer};

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
    pub(crate) fn from_address_parameters(word: impl Fn(&str) -> Option<String>) -> AnalyzerChoice {
        let usual = AnalyzerChoice::default_choice();
        AnalyzerChoice {
            tokenizer: word("tokenizer").unwrap_or(usual.tokenizer),
            stopwords: word("stopwords").unwrap_or(usual.stopwords),
            stemmer: word("stemmer").unwrap_or(usual.stemmer),
        }
    }

    /// Returns the parameters of an address.
    pub(crate) fn to_address_parameters(&self) -> [(&'static str, String); 3] {
        [
            ("tokenizer", self.tokenizer.clone()),
            ("stopwords", self.stopwords.clone()),
            ("stemmer", self.stemmer.clone()),
        ]
    }

    /// Returns the analyzer, or why it is invalid. A tokenizer or a stop list that was read from a
    /// file is used in place of the chosen name.
    pub(crate) fn to_analyzer(
        &self,
        tokenizer: Option<Tokenizer>,
        stopwords: Option<Stopwords>,
    ) -> Result<Analyzer, String> {
        let named = || {
            self.tokenizer
                .parse::<Tokenizer>()
                .map_err(Error::message_without_field)
        };
        let stemmer = self.stemmer.parse::<Stemmer>();
        let analyzer = Analyzer {
            tokenizer: tokenizer.map_or_else(named, Ok)?,
            max_tokens: None,
            stopwords: stopwords.map_or_else(|| self.parse_stopwords(), Ok)?,
            stemmer: stemmer.map_err(Error::message_without_field)?,
        };
        analyzer.validate().map_err(Error::message_without_field)?;
        Ok(analyzer)
    }

    fn parse_stopwords(&self) -> Result<Stopwords, String> {
        match self.stopwords.as_str() {
            "none" => Ok(Stopwords::None),
            "en-function" => Ok(Stopwords::EnFunction),
            other => Err(format!(
                "`{other}` is not a list of stop words; use none or en-function"
            )),
        }
    }
}

/// Returns the values and display names of the tokenizers that need no vocabulary.
pub(crate) fn tokenizer_select_options() -> Vec<(&'static str, &'static str)> {
    let all = Tokenizer::WITHOUT_VOCABULARY.iter();
    all.map(|it| (it.name(), it.label())).collect()
}

/// Returns the values and display names of the stop lists that need no file.
pub(crate) fn stop_list_select_options() -> Vec<(&'static str, &'static str)> {
    vec![("none", "none"), ("en-function", "English function words")]
}

/// Returns the values and display names of the stemmers.
pub(crate) fn stemmer_select_options() -> Vec<(&'static str, &'static str)> {
    let all = Stemmer::ALL.iter();
    all.map(|it| (it.name(), it.label())).collect()
}

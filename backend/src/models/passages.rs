//! Passages of long documents, and how their scores are combined.
//!
//! Without a suffix, a document is read from its beginning, as far as the model reads. `+firstp`
//! reads the first passage, `+maxp` takes the maximum of the passage scores and `+meanp` their mean
//! (Dai and Callan, SIGIR 2019, arXiv:1905.09217: FirstP, MaxP and SumP; a mean does not grow with
//! the length). As in that paper, passages have 150 words and start every 75 words, unless other
//! numbers are given: `+maxp=100/50`.

use std::fmt;

/// Default length and stride of passages, in words.
const DEFAULT_PASSAGE: (usize, usize) = (150, 75);

/// Maximum length of a passage in words. No model reads as many; larger values are errors.
const MOST_WORDS: usize = 10_000;

/// Maximum number of passages per document. Words after them are not read, and the document counts
/// as truncated.
const MAX_PASSAGES: usize = 200;

/// How a ranker reads a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LongDocumentStrategy {
    /// One input from the beginning, truncated at the model's limit.
    #[default]
    Truncate,
    /// Passages of a fixed number of words.
    Passages(PassageSettings),
}

/// The size of passages and how their scores are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PassageSettings {
    aggregation: PassageAggregation,
    /// Length of a passage in words separated by white space.
    n_words: usize,
    /// Distance between the starts of consecutive passages, in words.
    stride: usize,
}

/// How the score of a document is computed from passage scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassageAggregation {
    First,
    Max,
    Mean,
}

/// The parts of a document that are read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocumentPassages<'a> {
    /// The passages, at least one.
    pub passages: Vec<&'a str>,
    /// Whether some words of the document are in no passage.
    pub truncated: bool,
}

impl LongDocumentStrategy {
    /// Splits the passage suffix off a spec. An unknown suffix remains part of the spec.
    pub(super) fn split_off_suffix(spec: &str) -> (&str, LongDocumentStrategy) {
        let parsed = || {
            let (before, ending) = spec.rsplit_once('+')?;
            Some((before, LongDocumentStrategy::parse(ending)?))
        };
        parsed().unwrap_or((spec, LongDocumentStrategy::Truncate))
    }

    fn parse(ending: &str) -> Option<LongDocumentStrategy> {
        let (name, (n_words, stride)) = match ending.split_once('=') {
            Some((name, size)) => {
                let (n_words, stride) = size.split_once('/')?;
                (name, (n_words.parse().ok()?, stride.parse().ok()?))
            }
            None => (ending, DEFAULT_PASSAGE),
        };
        let how = match name {
            "firstp" => PassageAggregation::First,
            "maxp" => PassageAggregation::Max,
            "meanp" => PassageAggregation::Mean,
            _ => return None,
        };
        // A stride longer than the passage would skip words.
        let sound = n_words <= MOST_WORDS && (1..=n_words).contains(&stride);
        sound.then_some(LongDocumentStrategy::Passages(PassageSettings {
            aggregation: how,
            n_words,
            stride,
        }))
    }

    /// Returns the passages of a document.
    pub(super) fn split_document(self, text: &str) -> DocumentPassages<'_> {
        let LongDocumentStrategy::Passages(cut) = self else {
            return DocumentPassages {
                passages: vec![text],
                truncated: false,
            };
        };
        let most = match cut.aggregation {
            PassageAggregation::First => 1,
            PassageAggregation::Max | PassageAggregation::Mean => MAX_PASSAGES,
        };
        let begin = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let words: Vec<(usize, usize)> = text
            .split_whitespace()
            .map(|it| (begin(it), begin(it) + it.len()))
            .collect();
        let mut passages = Vec::new();
        let mut first = 0;
        let mut last = 0;
        while passages.len() < most {
            last = words.len().min(first + cut.n_words);
            let Some(inside) = words.get(first..last).filter(|it| !it.is_empty()) else {
                break;
            };
            passages.push(&text[inside[0].0..inside[inside.len() - 1].1]);
            if last == words.len() {
                break;
            }
            first += cut.stride;
        }
        if passages.is_empty() {
            passages.push(&text[..0]);
        }
        DocumentPassages {
            passages,
            truncated: last < words.len(),
        }
    }

    /// Computes the score of a document from its passage scores.
    pub(super) fn combine_scores(self, scores: &[f64]) -> f64 {
        match self.is_mean() {
            true => scores.iter().sum::<f64>() / scores.len() as f64,
            false => scores[best(scores)],
        }
    }

    /// Returns the same strategy with passages of the default length.
    pub(super) fn with_default_length(self) -> LongDocumentStrategy {
        let (n_words, stride) = DEFAULT_PASSAGE;
        match self {
            LongDocumentStrategy::Truncate => LongDocumentStrategy::Truncate,
            LongDocumentStrategy::Passages(PassageSettings {
                aggregation: how, ..
            }) => LongDocumentStrategy::Passages(PassageSettings {
                aggregation: how,
                n_words,
                stride,
            }),
        }
    }

    fn is_mean(self) -> bool {
        matches!(
            self,
            LongDocumentStrategy::Passages(it) if it.aggregation == PassageAggregation::Mean
        )
    }

    /// Returns the index of the passage that determines the score; `None` for the mean of several
    /// passages.
    pub(super) fn best_passage_index(self, scores: &[f64]) -> Option<usize> {
        match self.is_mean() {
            true => (scores.len() == 1).then_some(0),
            false => Some(best(scores)),
        }
    }

    /// Returns a description to append to that of the model; empty without passages.
    pub(super) fn description_suffix(self) -> String {
        let LongDocumentStrategy::Passages(cut) = self else {
            return String::new();
        };
        let (n_words, stride) = (cut.n_words, cut.stride);
        match cut.aggregation {
            PassageAggregation::First => format!("; the first {n_words} words"),
            PassageAggregation::Max => {
                format!("; best of passages of {n_words} words, every {stride}")
            }
            PassageAggregation::Mean => {
                format!("; mean over passages of {n_words} words, every {stride}")
            }
        }
    }

    /// Returns a suffix for the label of the model, such as ` MaxP`.
    pub(super) fn label_suffix(self) -> &'static str {
        match self {
            LongDocumentStrategy::Truncate => "",
            LongDocumentStrategy::Passages(cut) => match cut.aggregation {
                PassageAggregation::First => " FirstP",
                PassageAggregation::Max => " MaxP",
                PassageAggregation::Mean => " MeanP",
            },
        }
    }
}

/// Returns the index of the best score, the first one in case of ties.
fn best(scores: &[f64]) -> usize {
    let mut best = 0;
    for (at, &it) in scores.iter().enumerate() {
        // NaN is kept, so that it is detected.
        if it > scores[best] || it.is_nan() {
            best = at;
        }
    }
    best
}

/// Formats the suffix of a spec, such as `+maxp=100/50`.
impl fmt::Display for LongDocumentStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongDocumentStrategy::Passages(cut) = self else {
            return Ok(());
        };
        let name = match cut.aggregation {
            PassageAggregation::First => "firstp",
            PassageAggregation::Max => "maxp",
            PassageAggregation::Mean => "meanp",
        };
        match (cut.n_words, cut.stride) {
            DEFAULT_PASSAGE => write!(f, "+{name}"),
            (n_words, stride) => write!(f, "+{name}={n_words}/{stride}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(spec: &str, text: &'a str) -> DocumentPassages<'a> {
        LongDocumentStrategy::split_off_suffix(spec)
            .1
            .split_document(text)
    }

    #[test]
    fn endings_are_read_and_written() {
        for (spec, name, written) in [
            ("m:bi+maxp", "m:bi", "+maxp"),
            ("m+meanp=100/50", "m", "+meanp=100/50"),
            ("m+firstp=150/75", "m", "+firstp"),
            // Invalid strides, missing strides and unknown suffixes are part of the name.
            ("m+maxp=10/20", "m+maxp=10/20", ""),
            ("m+maxp=0/0", "m+maxp=0/0", ""),
            ("m+maxp=10000/1", "m", "+maxp=10000/1"),
            ("m+maxp=10001/1", "m+maxp=10001/1", ""),
            ("m+sump", "m+sump", ""),
            ("c++", "c++", ""),
        ] {
            let (found, reading) = LongDocumentStrategy::split_off_suffix(spec);
            assert_eq!((found, reading.to_string().as_str()), (name, written));
        }
    }

    #[test]
    fn passages_overlap_and_reach_the_end() {
        let found = read("m+maxp=4/2", "a b  c\nd e f g");
        assert_eq!(found.passages, ["a b  c\nd", "c\nd e f", "e f g"]);
        assert!(!found.truncated);
        let found = read("m+meanp=3/3", " a b c d ");
        assert_eq!(found.passages, ["a b c", "d"]);
        let found = read("m+firstp=2/1", "a b c");
        assert_eq!(found.passages, ["a b"]);
        assert!(found.truncated, "c is not read");
        assert!(!read("m+firstp=3/1", "a b c").truncated);
        assert_eq!(read("m", " a b ").passages, [" a b "]);
        for ending in ["m+maxp", "m+firstp", "m"] {
            let found = read(ending, "");
            assert_eq!((found.passages, found.truncated), (vec![""], false));
        }
    }

    #[test]
    fn a_text_without_end_has_so_many_passages_and_no_more() {
        let text = "word ".repeat(100_000);
        let found = read("m+maxp=2/1", &text);
        assert_eq!(
            (found.passages.len(), found.truncated),
            (MAX_PASSAGES, true)
        );
    }

    #[test]
    fn scores_of_passages_become_one() {
        let of = |spec: &str| {
            LongDocumentStrategy::split_off_suffix(spec)
                .1
                .combine_scores(&[0.5, 2.0, -1.0])
        };
        assert_eq!((of("m+maxp"), of("m+meanp")), (2.0, 0.5));
        assert_eq!(
            LongDocumentStrategy::split_off_suffix("m+firstp")
                .1
                .combine_scores(&[0.5]),
            0.5
        );
        assert!(
            LongDocumentStrategy::split_off_suffix("m+maxp")
                .1
                .combine_scores(&[0.5, f64::NAN])
                .is_nan()
        );
    }
}

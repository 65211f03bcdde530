//! Long texts: which passages of a text a ranker reads, and what becomes of their scores.
//!
//! Without an ending a text is read from its beginning as far as the model reads. `+firstp` reads
//! the first passage, `+maxp` takes the best score of all passages and `+meanp` their mean (Dai and
//! Callan, SIGIR 2019, arXiv:1905.09217, there FirstP, MaxP and, as a sum, SumP; a mean does not
//! grow with length). A passage has 150 words and begins 75 words after the one before, as there,
//! unless it is said otherwise: `+maxp=100/50`.

use std::fmt;

/// Words of a passage, and from the beginning of one to that of the next.
const DEFAULT_PASSAGE: (usize, usize) = (150, 75);

/// Words of a passage at most. No model reads as many, and a bound is told rather than a number
/// that nobody meant.
const MOST_WORDS: usize = 10_000;

/// Passages of a text at most; what comes after them is left out, and told.
const MAX_PASSAGES: usize = 200;

/// How a ranker reads a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PassageStrategy {
    /// From the beginning, as far as it goes.
    #[default]
    Truncate,
    /// In passages.
    Passages(PassageSettings),
}

/// How a text is cut into passages, and which of them count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PassageSettings {
    aggregation: PassageAggregation,
    /// Of a passage, separated by white space.
    n_words: usize,
    /// From the beginning of a passage to that of the next, in words.
    stride: usize,
}

/// Which passages count, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassageAggregation {
    First,
    Max,
    Mean,
}

/// What is read of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocumentPassages<'a> {
    /// At least one.
    pub passages: Vec<&'a str>,
    /// Whether words of the text are in none of them.
    pub truncated: bool,
}

impl PassageStrategy {
    /// Takes the ending off a spec; what is no such ending is left where it is.
    pub(super) fn parse_suffix(spec: &str) -> (&str, PassageStrategy) {
        let parsed = || {
            let (before, ending) = spec.rsplit_once('+')?;
            Some((before, PassageStrategy::parse(ending)?))
        };
        parsed().unwrap_or((spec, PassageStrategy::Truncate))
    }

    fn parse(ending: &str) -> Option<PassageStrategy> {
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
        // A longer stride would pass over words.
        let sound = n_words <= MOST_WORDS && (1..=n_words).contains(&stride);
        sound.then_some(PassageStrategy::Passages(PassageSettings {
            aggregation: how,
            n_words,
            stride,
        }))
    }

    /// What is read of a text.
    pub(super) fn split_document(self, text: &str) -> DocumentPassages<'_> {
        let PassageStrategy::Passages(cut) = self else {
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

    /// The score of a text from those of its passages, in order.
    pub(super) fn combine(self, scores: &[f64]) -> f64 {
        match self.is_mean() {
            true => scores.iter().sum::<f64>() / scores.len() as f64,
            false => scores[best(scores)],
        }
    }

    /// The same with passages of the usual length.
    pub(super) fn default_length(self) -> PassageStrategy {
        let (n_words, stride) = DEFAULT_PASSAGE;
        match self {
            PassageStrategy::Truncate => PassageStrategy::Truncate,
            PassageStrategy::Passages(PassageSettings {
                aggregation: how, ..
            }) => PassageStrategy::Passages(PassageSettings {
                aggregation: how,
                n_words,
                stride,
            }),
        }
    }

    fn is_mean(self) -> bool {
        matches!(self, PassageStrategy::Passages(it) if it.aggregation == PassageAggregation::Mean)
    }

    /// The passage whose matches are those of the text's score, if it is that of one passage.
    pub(super) fn best_passage(self, scores: &[f64]) -> Option<usize> {
        match self.is_mean() {
            true => (scores.len() == 1).then_some(0),
            false => Some(best(scores)),
        }
    }

    /// For people, to stand after what is said of the model; empty where texts are read whole.
    pub(super) fn detail(self) -> String {
        let PassageStrategy::Passages(cut) = self else {
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

    /// For people, to stand after the name of the model.
    pub(super) fn label(self) -> &'static str {
        match self {
            PassageStrategy::Truncate => "",
            PassageStrategy::Passages(cut) => match cut.aggregation {
                PassageAggregation::First => " FirstP",
                PassageAggregation::Max => " MaxP",
                PassageAggregation::Mean => " MeanP",
            },
        }
    }
}

/// The passage with the best score, the first of equal ones.
fn best(scores: &[f64]) -> usize {
    let mut best = 0;
    for (at, &it) in scores.iter().enumerate() {
        // What is no number stays none, to be found.
        if it > scores[best] || it.is_nan() {
            best = at;
        }
    }
    best
}

/// The ending of a spec.
impl fmt::Display for PassageStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PassageStrategy::Passages(cut) = self else {
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
        PassageStrategy::parse_suffix(spec).1.split_document(text)
    }

    #[test]
    fn endings_are_read_and_written() {
        for (spec, name, written) in [
            ("m:bi+maxp", "m:bi", "+maxp"),
            ("m+meanp=100/50", "m", "+meanp=100/50"),
            ("m+firstp=150/75", "m", "+firstp"),
            // No stride over words, none at all, none of ours: all part of a name.
            ("m+maxp=10/20", "m+maxp=10/20", ""),
            ("m+maxp=0/0", "m+maxp=0/0", ""),
            ("m+maxp=10000/1", "m", "+maxp=10000/1"),
            ("m+maxp=10001/1", "m+maxp=10001/1", ""),
            ("m+sump", "m+sump", ""),
            ("c++", "c++", ""),
        ] {
            let (found, reading) = PassageStrategy::parse_suffix(spec);
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
            PassageStrategy::parse_suffix(spec)
                .1
                .combine(&[0.5, 2.0, -1.0])
        };
        assert_eq!((of("m+maxp"), of("m+meanp")), (2.0, 0.5));
        assert_eq!(
            PassageStrategy::parse_suffix("m+firstp").1.combine(&[0.5]),
            0.5
        );
        assert!(
            PassageStrategy::parse_suffix("m+maxp")
                .1
                .combine(&[0.5, f64::NAN])
                .is_nan()
        );
    }
}

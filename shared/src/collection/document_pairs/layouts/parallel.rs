//! Parallel files of sentences and their references: lines with the same number correspond.
//!
//! - JFLEG (Napoles, Sakaguchi and Tetreault, EACL 2017): a learner's sentence and four
//!   corrections. As in the published code, corrections that change nothing are kept.
//! - GYAFC (Rao and Tetreault, NAACL 2018): an informal sentence and four formal ones, or a formal
//!   sentence and four informal ones; the formal one is preferred in both directions.
//! - WikiTurk, as read by ABNIRML (Xu et al., TACL 2016): a sentence of Wikipedia and eight
//!   simplifications, in lower case.
//!
//! Files of different length are an error, since pairing their lines up to the length of the
//! shorter file would pair sentences that do not correspond.

use std::io::Read;

use super::{ConvertedPairDataset, DatasetTransferPair};
use crate::collection::FileInput;
use crate::collection::lines::rows::validate_record_id;
use crate::collection::lines::{FileSizeLimits, LineReader};
use crate::error::{Error, FileReadReport};

/// The lines of a file, including those that cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentenceFile {
    name: String,
    /// Each line, trimmed, or the reason why it cannot be used.
    lines: Vec<Result<String, String>>,
}

/// The preferred text of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferredPairSide {
    /// The reference, for example a correction or a simplification.
    Reference,
    /// The source, if the references are worse than it.
    Source,
}

/// Reads a file with one sentence per line.
pub fn read_one_sentence_per_line(file: FileInput<'_, impl Read>) -> Result<SentenceFile, Error> {
    let name = file.name;
    let mut texts = SentenceFile {
        name: name.to_owned(),
        lines: Vec::new(),
    };
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    while let Some(line) = lines.next_line()? {
        texts.lines.push(line.text.map(|it| it.trim().to_owned()));
    }
    Ok(texts)
}

impl SentenceFile {
    /// Returns the name of the file from which the sentences were read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a line by its number, counted from 1; `None` if it is missing, empty or cannot be
    /// used.
    pub fn line_by_number(&self, number: u64) -> Option<&str> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let text = self.lines.get(at)?.as_deref().ok()?;
        Some(text).filter(|it| !it.is_empty())
    }

    /// Returns the number of lines without the blank ones at the end.
    fn filled(&self) -> usize {
        let blank = |it: &Result<String, String>| it.as_ref().is_ok_and(String::is_empty);
        let last = self.lines.iter().rposition(|it| !blank(it));
        last.map_or(0, |it| it + 1)
    }

    fn check(&self, at: usize) -> Result<&str, String> {
        match &self.lines[at] {
            Ok(text) if text.is_empty() => Err("the line is empty".to_owned()),
            Ok(text) => Ok(text),
            Err(reason) => Err(reason.clone()),
        }
    }
}

/// Pairs each line of a source with the same line of its references. Line 7 of the set `dev` is the
/// group `dev-7` with the pairs `dev-7:0`, `dev-7:1` and so on.
///
/// A line that cannot be used loses only its own pairs and is reported for its file; files of
/// different length are an error.
pub fn align_sentence_files(
    set: &str,
    source: &SentenceFile,
    references: &[SentenceFile],
    preferred: PreferredPairSide,
) -> Result<ConvertedPairDataset, Error> {
    validate_record_id(set).map_err(|it| Error::unreadable_file(source.name(), it))?;
    let n_lines = require_equal_line_counts(source, references)?;
    let (mut converted, mut reading) = (ConvertedPairDataset::default(), FileReadReport::default());
    for at in 0..n_lines {
        let line = at as u64 + 1;
        let sentence = match source.check(at) {
            Ok(it) => it,
            Err(reason) => {
                let reason = format!("{reason}; its references are skipped");
                reading.refuse_row(source.name(), line, reason);
                continue;
            }
        };
        let group = format!("{set}-{line}");
        let n_before = converted.pairs.len();
        for (number, texts) in references.iter().enumerate() {
            let reference = match texts.check(at) {
                Ok(it) => it,
                Err(reason) => {
                    reading.refuse_row(texts.name(), line, reason);
                    continue;
                }
            };
            let (a, b) = match preferred {
                PreferredPairSide::Reference => (reference, sentence),
                PreferredPairSide::Source => (sentence, reference),
            };
            converted.pairs.push(DatasetTransferPair {
                id: format!("{group}:{number}"),
                query: None,
                a: a.to_owned(),
                b: b.to_owned(),
                group: Some(group.clone()),
            });
        }
        if converted.pairs.len() > n_before {
            reading.n_rows += 1;
        }
    }
    converted.reading = reading;
    Ok(converted)
}

/// Returns the number of lines of all files. Blank lines at the end count only if all files have
/// the same number of lines; other differences in length are an error.
pub fn require_equal_line_counts(
    source: &SentenceFile,
    references: &[SentenceFile],
) -> Result<usize, Error> {
    let n_lines = source.lines.len();
    if references.iter().all(|it| it.lines.len() == n_lines) {
        return Ok(n_lines);
    }
    let n_filled = source.filled();
    match references.iter().find(|it| it.filled() != n_filled) {
        None => Ok(n_filled),
        Some(other) => Err(Error::unreadable_file(
            other.name(),
            format!(
                "the line count is {}, but that of {} is {n_filled}: lines with the same number \
                 must correspond, so use files from the same download",
                other.filled(),
                source.name()
            ),
        )),
    }
}

/// Replaces the brackets of the Penn Treebank, `-LRB-` or `-lrb-` and so on, by the original ones.
pub fn restore_penn_brackets_in_pairs(converted: &mut ConvertedPairDataset) {
    for pair in &mut converted.pairs {
        pair.a = restore_penn_brackets(&pair.a);
        pair.b = restore_penn_brackets(&pair.b);
    }
}

/// Returns a sentence with its original brackets.
pub(super) fn restore_penn_brackets(text: &str) -> String {
    const ESCAPED: [(&str, &str); 12] = [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        ("-lrb-", "("),
        ("-rrb-", ")"),
        ("-lsb-", "["),
        ("-rsb-", "]"),
        ("-lcb-", "{"),
        ("-rcb-", "}"),
    ];
    let replace = |text: String, (escaped, bracket): &(&str, &str)| match text.contains(escaped) {
        true => text.replace(escaped, bracket),
        false => text,
    };
    ESCAPED.iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, bytes: &[u8]) -> SentenceFile {
        read_one_sentence_per_line(FileInput::without_progress(name, bytes)).unwrap()
    }

    fn shown(converted: &ConvertedPairDataset) -> Vec<(&str, &str, &str, &str)> {
        let pairs = converted.pairs.iter();
        pairs
            .map(|it| {
                let group = it.group.as_deref().unwrap();
                (it.id.as_str(), group, it.a.as_str(), it.b.as_str())
            })
            .collect()
    }

    #[test]
    fn every_reference_is_a_pair_also_one_that_changes_nothing() {
        let source = texts("dev.src", "\u{feff}it go .\r\nshe sleep . \r\n".as_bytes());
        let references = [
            texts("dev.ref0", b"it goes .\nshe sleep .\n"),
            texts("dev.ref1", b"it went .\nshe sleeps ."),
        ];
        let found = align_sentence_files("dev", &source, &references, PreferredPairSide::Reference)
            .unwrap();
        assert_eq!(
            shown(&found),
            [
                ("dev-1:0", "dev-1", "it goes .", "it go ."),
                ("dev-1:1", "dev-1", "it went .", "it go ."),
                ("dev-2:0", "dev-2", "she sleep .", "she sleep ."),
                ("dev-2:1", "dev-2", "she sleeps .", "she sleep ."),
            ]
        );
        assert_eq!((found.reading.n_rows, found.reading.n_refused), (2, 0));
    }

    #[test]
    fn the_formal_text_is_preferred_whichever_is_the_source() {
        let formal = texts("formal", b"I am not certain.\n");
        let informal = [texts("informal.ref0", b"dunno\n")];
        let found =
            align_sentence_files("tune-formal", &formal, &informal, PreferredPairSide::Source)
                .unwrap();
        let expected = [(
            "tune-formal-1:0",
            "tune-formal-1",
            "I am not certain.",
            "dunno",
        )];
        assert_eq!(shown(&found), expected);
    }

    #[test]
    fn a_line_that_cannot_be_used_costs_its_own_pairs() {
        let source = texts("s", b"one\n\nthree\nfo\xffur\n");
        let references = [texts("r0", b"a\nb\n\nd\n"), texts("r1", b"e\nf\ng\nh\n")];
        let found =
            align_sentence_files("test", &source, &references, PreferredPairSide::Reference)
                .unwrap();
        let ids: Vec<&str> = found.pairs.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["test-1:0", "test-1:1", "test-3:1"]);
        let refused = found.reading.refused.iter();
        let refused: Vec<String> = refused.map(|it| it.to_string()).collect();
        assert!(
            refused[0].starts_with("s, line 2: the line is empty"),
            "{refused:?}"
        );
        assert!(refused[1].starts_with("r0, line 3: "), "{refused:?}");
        assert!(refused[2].starts_with("s, line 4: byte 3 "), "{refused:?}");
        assert!(refused[2].contains("save the file as UTF-8"), "{refused:?}");
        assert_eq!((found.reading.n_rows, found.reading.n_refused), (2, 3));
    }

    #[test]
    fn files_of_different_length_do_not_belong_together() {
        let source = texts("dev.src", b"one\ntwo\n");
        let short = [texts("dev.ref0", b"a\nb\n"), texts("dev.ref1", b"a\n")];
        let error =
            align_sentence_files("dev", &source, &short, PreferredPairSide::Reference).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("dev.ref1: the line count is 1, but that of dev.src is 2"),
            "{error}"
        );
        // A blank line at the end is not a sentence.
        let blank = [texts("dev.ref0", b"a\nb\n\n \n")];
        let found =
            align_sentence_files("dev", &source, &blank, PreferredPairSide::Reference).unwrap();
        assert_eq!((found.pairs.len(), found.reading.n_refused), (2, 0));
    }

    #[test]
    fn brackets_are_put_back_in_either_case() {
        let norm = texts("norm", b"the -lrb- old -rrb- river\n");
        let turk = [texts("turk.0", b"a -LSB- b -RCB- -lr b-\n")];
        let mut found =
            align_sentence_files("tune", &norm, &turk, PreferredPairSide::Reference).unwrap();
        restore_penn_brackets_in_pairs(&mut found);
        let expected = [("tune-1:0", "tune-1", "a [ b } -lr b-", "the ( old ) river")];
        assert_eq!(shown(&found), expected);
    }

    #[test]
    fn lines_are_counted_from_1() {
        let found = texts("informal.qids", b"7-q\n_\n\n");
        let lines = [0, 1, 2, 3, 4].map(|it| found.line_by_number(it));
        assert_eq!(lines, [None, Some("7-q"), Some("_"), None, None]);
    }
}

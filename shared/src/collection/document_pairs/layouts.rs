//! Conversion of datasets, in the layout in which they are distributed, into pairs of texts.
//!
//! These are the datasets of dataset transfer (MacAvaney et al., ABNIRML, TACL 2022, section 3.3).
//! Pairs of two equal texts are kept: a study counts them and leaves them out. The references of
//! one sentence are a group.

pub mod parallel;
pub mod stories;
pub mod tsv;
pub mod factuality;

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use super::DatasetTransferPair;
use crate::collection::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, feed_nonblank_lines_to_parser,
};
use crate::collection::{FileContentAndReportResult, FileInput};
use crate::error::{Error, FileReadReport};

/// A dataset that was converted to pairs of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConvertedPairDataset {
    /// The pairs, in the order of the files.
    pub pairs: Vec<DatasetTransferPair>,
    /// Accepted and rejected rows over all files; a row is a source sentence with its references,
    /// a story or a line of a table.
    pub reading: FileReadReport,
    /// The numbers of valid rows that give no pair, by reason.
    pub left_out: BTreeMap<RowExclusionReason, u64>,
}

/// A converted dataset, or the reason why it cannot be read.
pub type ConvertedPairDatasetResult = Result<ConvertedPairDataset, Error>;

/// The reason why a valid row gives no pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowExclusionReason {
    /// The story is not in the subset.
    NotInSample,
    /// The two sentences are no paraphrases.
    NoParaphrase,
    /// The question has no answer, or more than one.
    NotOneAnswer,
    /// The passage does not contain the answer.
    AnswerNotInPassage,
    /// A token of the answer occurs in the question, as in "A or B?".
    AnswerInQuestion,
    /// No other question has an answer of the same type with the same number of tokens.
    NoOtherAnswer,
}

impl ConvertedPairDataset {
    /// Adds another part of the same dataset.
    pub fn merge(&mut self, other: ConvertedPairDataset) {
        self.pairs.extend(other.pairs);
        self.reading.merge(other.reading);
        for (why, n) in other.left_out {
            *self.left_out.entry(why).or_default() += n;
        }
    }

    /// Counts a row that gives no pair.
    pub fn count_excluded_row(&mut self, why: RowExclusionReason) {
        *self.left_out.entry(why).or_default() += 1;
    }

    /// Sets the query of each pair without one to that of its group.
    pub fn fill_missing_queries_from_groups<'a>(
        &mut self,
        query: impl Fn(&str) -> Option<&'a str>,
    ) {
        for pair in self.pairs.iter_mut().filter(|it| it.query.is_none()) {
            let asked = pair.group.as_deref().and_then(&query);
            pair.query = asked.map(str::to_owned);
        }
    }
}

/// Titles by the id of the document.
pub type TitlesByDocId = BTreeMap<String, String>;

/// Reads `id<TAB>title`. Of two rows with the same id the first is kept.
pub fn read_document_titles(
    file: FileInput<'_, impl Read>,
) -> FileContentAndReportResult<TitlesByDocId> {
    let (mut titles, mut seen) = (TitlesByDocId::new(), IdFirstOccurrences::default());
    let reading = feed_nonblank_lines_to_parser(file, |line, row| {
        let (id, title) = row
            .split_once('\t')
            .ok_or_else(|| "no tab; expected an id, a tab and the title".to_owned())?;
        let title = title.trim();
        if title.is_empty() {
            return Err("the title is empty".to_owned());
        }
        seen.validate_and_insert_id(id, line)?;
        titles.insert(id.to_owned(), title.to_owned());
        Ok(AcceptedRowWarnings::new())
    })?;
    Ok((titles, reading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_read_by_id() {
        let file = "\u{feff}7\tHow do bats sleep?\r\n8\n7\tAgain?\r\n9\t \n1 0\tx\n";
        let (titles, reading) =
            read_document_titles(FileInput::without_progress("t.tsv", file.as_bytes())).unwrap();
        let found: Vec<_> = titles.iter().map(|it| (&**it.0, &**it.1)).collect();
        assert_eq!(found, [("7", "How do bats sleep?")]);
        let refused: Vec<u64> = reading.refused.iter().map(|it| it.line).collect();
        assert_eq!((reading.n_rows, refused), (1, vec![2, 3, 4, 5]));
    }

    #[test]
    fn a_query_is_that_of_the_group() {
        let pair = |group: Option<&str>, query: Option<&str>| DatasetTransferPair {
            group: group.map(str::to_owned),
            query: query.map(str::to_owned),
            ..DatasetTransferPair::default()
        };
        let mut converted = ConvertedPairDataset {
            pairs: vec![
                pair(Some("s"), None),
                pair(Some("s"), Some("own")),
                pair(Some("t"), None),
                pair(None, None),
            ],
            ..ConvertedPairDataset::default()
        };
        converted.fill_missing_queries_from_groups(|group| (group == "s").then_some("found"));
        let queries = converted.pairs.iter().map(|it| it.query.as_deref());
        assert!(queries.eq([Some("found"), Some("own"), None, None]));
    }
}

//! Pairs in tab-separated tables.
//!
//! - MSR Paraphrase Corpus (Dolan and Brockett, IWP 2005): `Quality`, `#1 ID`, `#2 ID`, `#1
//!   String`, `#2 String`; `Quality` 1 means that the two are paraphrases. Neither is preferred.
//! - WikiTurk (Xu et al., TACL 2016), the organized tables: an id, a sentence of Wikipedia and
//!   eight simplifications.
//! - Wiki Neutrality Corpus (Pryzant et al., AAAI 2020), `biased.full`: counted from 0, column 0 is
//!   a revision, column 3 the biased sentence and column 4 the neutral one, as written; columns 1
//!   and 2 are the same sentences in subword tokens.
//!
//! A quotation mark has no special meaning in these tables: reading them as CSV loses rows.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::RangeBounds;

use super::parallel::restore_penn_brackets;
use super::{
    ConvertedPairDataset, ConvertedPairDatasetResult, DatasetTransferPair, RowExclusionReason,
};
use crate::collection::FileInput;
use crate::collection::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, column_count_error, feed_nonblank_lines_to_parser,
    quote_text, validate_record_id,
};

/// Reads one table of the MSR Paraphrase Corpus; `set`, for example `train`, is the prefix of the
/// ids.
pub fn read_msr_paraphrase_table(
    set: &str,
    file: FileInput<'_, impl Read>,
) -> ConvertedPairDatasetResult {
    let (mut seen, mut n_heads) = (IdFirstOccurrences::default(), 0);
    let layout = Layout {
        n_columns: 5..=5,
        words: "5 columns: a row is Quality, #1 ID, #2 ID, #1 String and #2 String",
    };
    let mut found = read_table(file, layout, |found, line, cells| {
        let [quality, first, second, a, b] = cells;
        if (line, quality) == (1, "Quality") {
            n_heads += 1;
            return Ok(AcceptedRowWarnings::new());
        }
        let [a, b] = filled([("#1 String", a), ("#2 String", b)])?;
        let id = format!("{set}-{first}-{second}");
        match quality {
            "1" => {
                seen.validate_and_insert_id(&id, line)?;
                found.pairs.push(DatasetTransferPair {
                    id,
                    a,
                    b,
                    ..DatasetTransferPair::default()
                });
            }
            "0" => found.count_excluded_row(RowExclusionReason::NoParaphrase),
            _ => return Err(format!("Quality is {}, not 0 or 1", quote_text(quality))),
        }
        Ok(AcceptedRowWarnings::new())
    })?;
    // The header is not a pair.
    found.reading.n_rows -= n_heads;
    Ok(found)
}

/// Reads one organized table of WikiTurk; `set`, for example `tune`, is the prefix of the ids.
pub fn read_wikiturk_table(
    set: &str,
    file: FileInput<'_, impl Read>,
) -> ConvertedPairDatasetResult {
    let mut seen = IdFirstOccurrences::default();
    let layout = Layout {
        n_columns: 10..=10,
        words: "10 columns: a row is an id, a sentence and eight simplifications",
    };
    read_table(file, layout, |found, line, cells| {
        let [id, source, simple @ ..]: [&str; 10] = cells;
        let [source] = filled([("the sentence", source)])?;
        let source = restore_penn_brackets(&source);
        let group = format!("{set}-{id}");
        seen.validate_and_insert_id(&group, line)?;
        let mut warnings = AcceptedRowWarnings::new();
        for (number, text) in simple.iter().enumerate() {
            if text.is_empty() {
                warnings.push(format!("simplification {number} is empty and is skipped"));
                continue;
            }
            found.pairs.push(DatasetTransferPair {
                id: format!("{group}:{number}"),
                query: None,
                a: restore_penn_brackets(text),
                b: source.clone(),
                group: Some(group.clone()),
            });
        }
        Ok(warnings)
    })
}

/// Reads `biased.full` of the Wiki Neutrality Corpus. The sentences of one revision are a group.
pub fn read_wiki_neutrality_corpus(file: FileInput<'_, impl Read>) -> ConvertedPairDatasetResult {
    let mut of_revision: BTreeMap<String, u64> = BTreeMap::new();
    let layout = Layout {
        n_columns: 5..,
        words: "at least 5 columns: a row of `biased.full` has a revision id, the biased and \
             the neutral sentence as tokens, and both sentences as plain text",
    };
    read_table(file, layout, |found, _, cells| {
        let [revision, _, _, biased, neutral] = cells;
        validate_record_id(revision)?;
        let [neutral, biased] = filled([
            ("the neutral sentence", neutral),
            ("the biased sentence", biased),
        ])?;
        let number = of_revision.entry(revision.to_owned()).or_default();
        found.pairs.push(DatasetTransferPair {
            id: format!("{revision}:{number}"),
            query: None,
            a: neutral,
            b: biased,
            group: Some(revision.to_owned()),
        });
        *number += 1;
        Ok(AcceptedRowWarnings::new())
    })
}

/// The expected layout of a row.
struct Layout<R> {
    n_columns: R,
    /// The description in the error message for a row with too few or too many columns.
    words: &'static str,
}

/// Passes the first cells of each row to `row`, which adds their pairs or returns why it cannot.
fn read_table<R: RangeBounds<usize>, const N: usize>(
    file: FileInput<'_, impl Read>,
    layout: Layout<R>,
    mut row: impl FnMut(
        &mut ConvertedPairDataset,
        u64,
        [&str; N],
    ) -> Result<AcceptedRowWarnings, String>,
) -> ConvertedPairDatasetResult {
    let mut found = ConvertedPairDataset::default();
    let reading = feed_nonblank_lines_to_parser(file, |line, text| {
        let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
        match cells.first_chunk() {
            Some(first) if layout.n_columns.contains(&cells.len()) => row(&mut found, line, *first),
            Some(_) | None => Err(column_count_error(cells.len(), layout.words)),
        }
    })?;
    Ok(ConvertedPairDataset { reading, ..found })
}

/// Returns the texts of named cells; it is an error if one is empty.
fn filled<const N: usize>(cells: [(&str, &str); N]) -> Result<[String; N], String> {
    match cells.iter().find(|it| it.1.is_empty()) {
        Some((what, _)) => Err(format!("{what} is empty")),
        None => Ok(cells.map(|it| it.1.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: &ConvertedPairDataset) -> Vec<(&str, &str, &str)> {
        let pairs = found.pairs.iter();
        pairs
            .map(|it| (it.id.as_str(), it.a.as_str(), it.b.as_str()))
            .collect()
    }

    fn refused(found: &ConvertedPairDataset) -> Vec<u64> {
        found.reading.refused.iter().map(|it| it.line).collect()
    }

    #[test]
    fn paraphrases_alone_are_pairs() {
        let file = "\u{feff}Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n\
                    1\t7\t8\tHe called it \"odd.\tIt was odd, he said.\r\n\
                    0\t9\t10\tIt rose.\tIt fell.\r\n\
                    1\t11\t12\tOnly one.\r\n\
                    2\t13\t14\tone\ttwo\r\n\
                    1\t7\t8\tagain\tagain\r\n\
                    1\t15\t16\t\"Same.\"\t\"Same.\"\r\n\
                    1\t17\t18\t \ttwo\r\n";
        let found = read_msr_paraphrase_table(
            "train",
            FileInput::without_progress("t.txt", file.as_bytes()),
        )
        .unwrap();
        assert_eq!(
            pairs(&found),
            [
                ("train-7-8", "He called it \"odd.", "It was odd, he said."),
                ("train-15-16", "\"Same.\"", "\"Same.\""),
            ]
        );
        assert_eq!(found.left_out[&RowExclusionReason::NoParaphrase], 1);
        assert_eq!(
            (found.reading.n_rows, refused(&found)),
            (3, vec![4, 5, 6, 8])
        );
    }

    #[test]
    fn each_simplification_is_preferred_to_its_sentence() {
        let file = "0\tA -LRB- small -RRB- town .\ta\tb\tc\td -lrb- e -rrb-\te\tf\tg\th\n\
                    1\tno\ta\tb\tc\td\te\tf\tg\n\
                    2\tgap\ta\t\tc\td\te\tf\tg\th\n\
                    0\tagain\ta\tb\tc\td\te\tf\tg\th\n\
                    3\n";
        let found = read_wikiturk_table(
            "tune",
            FileInput::without_progress("t.tsv", file.as_bytes()),
        )
        .unwrap();
        assert_eq!(found.pairs.len(), 15);
        let pair = &found.pairs[3];
        assert_eq!(
            (pair.id.as_str(), pair.a.as_str(), pair.b.as_str()),
            ("tune-0:3", "d ( e )", "A ( small ) town .")
        );
        assert_eq!(pair.group.as_deref(), Some("tune-0"));
        assert_eq!(found.pairs[8].id, "tune-2:0");
        assert_eq!(found.pairs[9].id, "tune-2:2");
        assert_eq!((found.reading.n_rows, found.reading.n_warned), (2, 1));
        assert_eq!(refused(&found), [2, 4, 5]);
    }

    #[test]
    fn the_neutral_text_is_preferred_to_the_biased_one() {
        let file = "42\ta gre ##at cit\ta cit\tA great city.\tA city.\tDET ADJ NOUN\tdet amod\n\
                    42\tx\ty\tOf course it is.\tIt is.\n\
                    43\tx\ty\tbiased only\n\
                    4 4\tx\ty\tone\ttwo\n\
                    45\tx\ty\tSame.\tSame.\n";
        let found = read_wiki_neutrality_corpus(FileInput::without_progress(
            "biased.full",
            file.as_bytes(),
        ))
        .unwrap();
        assert_eq!(
            pairs(&found),
            [
                ("42:0", "A city.", "A great city."),
                ("42:1", "It is.", "Of course it is."),
                ("45:0", "Same.", "Same."),
            ]
        );
        assert_eq!(found.pairs[1].group.as_deref(), Some("42"));
        assert_eq!((found.reading.n_rows, refused(&found)), (3, vec![3, 4]));
    }
}

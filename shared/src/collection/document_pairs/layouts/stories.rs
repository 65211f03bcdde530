//! News stories and their summaries, one file per story: the summary is preferred to the story.
//!
//! - XSum (Narayan, Cohen and Lapata, EMNLP 2018): `ID.summary` with the sections `[SN]URL[SN]`,
//!   `[SN]TITLE[SN]`, `[SN]FIRST-SENTENCE[SN]` and `[SN]RESTBODY[SN]`. The first sentence is the
//!   summary, the title is the query.
//! - CNN and Daily Mail (Hermann et al., NIPS 2015): `ID.story`, an article followed by one or more
//!   `@highlight` blocks, which are the summary. The files have no titles.
//!
//! ABNIRML uses about a tenth of each: the stories for which the first byte of a digest is
//! divisible by 10.

use std::io::Read;

use sha2::{Digest, Sha256};

use super::{ConvertedPairDataset, DatasetTransferPair};
use crate::collection::FileInput;
use crate::collection::lines::rows::{quote_text, validate_record_id};
use crate::collection::lines::{FileSizeLimits, LineReader};
use crate::error::Error;

/// The layout of a story file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoryFileLayout {
    /// `ID.summary`.
    Xsum,
    /// `ID.story`.
    Cnndm,
}

/// The stories of a dataset that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewsStorySampleSize {
    /// The tenth that ABNIRML uses.
    Tenth,
    /// All stories.
    All,
}

impl StoryFileLayout {
    /// Returns the end of the file names, as in `.story`.
    pub fn file_extension(self) -> &'static str {
        match self {
            StoryFileLayout::Xsum => ".summary",
            StoryFileLayout::Cnndm => ".story",
        }
    }

    /// Returns whether a story is in a subset.
    pub fn is_story_in_sample(self, sample: NewsStorySampleSize, id: &str) -> bool {
        let digest = match self {
            StoryFileLayout::Xsum => Sha256::digest(format!("{id}{}", self.file_extension())),
            StoryFileLayout::Cnndm => Sha256::digest(id),
        };
        sample == NewsStorySampleSize::All || digest[0].is_multiple_of(10)
    }

    /// Reads a story with this id from a file with this name; a story that cannot be used is
    /// rejected.
    pub fn read_story_into_dataset(
        self,
        id: &str,
        name: &str,
        bytes: impl Read,
        into: &mut ConvertedPairDataset,
    ) {
        let taken = validate_record_id(id)
            .map_err(|it| (1, it))
            .and_then(|()| lines(name, bytes))
            .and_then(|lines| match self {
                StoryFileLayout::Xsum => xsum(&lines),
                StoryFileLayout::Cnndm => cnndm(&lines),
            });
        match taken {
            Ok(parts) => {
                into.reading.n_rows += 1;
                into.pairs.push(DatasetTransferPair {
                    id: id.to_owned(),
                    query: parts.title,
                    a: parts.summary,
                    b: parts.body,
                    group: Some(id.to_owned()),
                });
            }
            Err((line, reason)) => into.reading.refuse_row(name, line, reason),
        }
    }
}

/// The parts of a story.
struct Parts {
    title: Option<String>,
    summary: String,
    body: String,
}

/// The line and the reason of a rejection.
type Refused = (u64, String);

/// Reads the lines of one story. The longest stories have about 100 kB.
fn lines(name: &str, bytes: impl Read) -> Result<Vec<String>, Refused> {
    let bounds = FileSizeLimits {
        total_bytes: 16 << 20,
        ..FileSizeLimits::FILES
    };
    let file = FileInput::without_progress(name, bytes);
    let whole = |it: Error| match it {
        Error::File { reason, .. } => (1, reason),
        it => (1, it.to_string()),
    };
    let (mut read, mut found) = (LineReader::open(file, bounds).map_err(whole)?, Vec::new());
    while let Some(line) = read.next_line().map_err(whole)? {
        let text = line.text.map_err(|it| (line.number, it))?;
        found.push(text.trim().to_owned());
    }
    Ok(found)
}

fn xsum(lines: &[String]) -> Result<Parts, Refused> {
    const SECTIONS: [&str; 4] = ["URL", "TITLE", "FIRST-SENTENCE", "RESTBODY"];
    let mut begins: [Option<usize>; 4] = [None; 4];
    for (at, line) in lines.iter().enumerate() {
        let inner = line
            .strip_prefix("[SN]")
            .and_then(|it| it.strip_suffix("[SN]"));
        let Some(place) = inner.and_then(|it| SECTIONS.iter().position(|name| *name == it)) else {
            continue;
        };
        if begins[place].is_some() {
            return Err((at as u64 + 1, format!("a second {}", quote_text(line))));
        }
        begins[place] = Some(at);
    }
    let section = |place: usize| {
        let Some(at) = begins[place] else {
            let reason = format!(
                "no line `[SN]{}[SN]`: a story has `[SN]URL[SN]`, `[SN]TITLE[SN]`, \
                 `[SN]FIRST-SENTENCE[SN]` and `[SN]RESTBODY[SN]`",
                SECTIONS[place]
            );
            return Err((lines.len().max(1) as u64, reason));
        };
        let next = begins.iter().flatten().filter(|it| **it > at).min();
        let to = next.copied().unwrap_or(lines.len());
        Ok((at as u64 + 1, text_of(&lines[at + 1..to])))
    };
    let filled = |place: usize| {
        let (line, text) = section(place)?;
        match text.is_empty() {
            true => Err((
                line,
                format!("there is no text after `[SN]{}[SN]`", SECTIONS[place]),
            )),
            false => Ok(text),
        }
    };
    let title = section(1)?.1.replace('\n', " ");
    Ok(Parts {
        title: Some(title).filter(|it| !it.is_empty()),
        summary: filled(2)?,
        body: filled(3)?,
    })
}

fn cnndm(lines: &[String]) -> Result<Parts, Refused> {
    let mut blocks = lines.split(|it| it == "@highlight");
    let body = text_of(blocks.next().unwrap_or_default());
    if body.is_empty() {
        return Err((1, "the article is empty".to_owned()));
    }
    let highlights: Vec<String> = blocks.map(text_of).filter(|it| !it.is_empty()).collect();
    if highlights.is_empty() {
        let reason = "no `@highlight` line is followed by text: a story has at least one";
        return Err((lines.len() as u64, reason.to_owned()));
    }
    Ok(Parts {
        title: None,
        summary: highlights.join("\n"),
        body,
    })
}

/// Joins lines to one text, without blank lines at either end.
fn text_of(lines: &[String]) -> String {
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "\u{feff}[SN]URL[SN]\r\nhttp://news.example/1\r\n\r\n\
        [SN]TITLE[SN]\r\nThe lighthouse\r\n\r\n\
        [SN]FIRST-SENTENCE[SN]\r\n\r\nA lighthouse was saved.\r\n\r\n\
        [SN]RESTBODY[SN]\r\nIt stands on a cliff.\r\nNobody said [SN]TITLE[SN] in it.\r\n";

    fn read(story: StoryFileLayout, bytes: &[u8]) -> ConvertedPairDataset {
        let mut found = ConvertedPairDataset::default();
        story.read_story_into_dataset("7", "7.file", bytes, &mut found);
        found
    }

    #[track_caller]
    fn refused(story: StoryFileLayout, bytes: &[u8], said: &str) {
        let found = read(story, bytes);
        assert_eq!((found.pairs.len(), found.reading.n_refused), (0, 1));
        let reason = found.reading.refused[0].to_string();
        assert!(reason.contains(said), "{reason}");
    }

    #[test]
    fn the_first_sentence_is_preferred_to_the_rest() {
        let found = read(StoryFileLayout::Xsum, SUMMARY.as_bytes());
        let expected = DatasetTransferPair {
            id: "7".to_owned(),
            query: Some("The lighthouse".to_owned()),
            a: "A lighthouse was saved.".to_owned(),
            b: "It stands on a cliff.\nNobody said [SN]TITLE[SN] in it.".to_owned(),
            group: Some("7".to_owned()),
        };
        assert_eq!(found.pairs, [expected]);
        let untitled = SUMMARY.replace("The lighthouse\r\n", "");
        assert_eq!(
            read(StoryFileLayout::Xsum, untitled.as_bytes()).pairs[0].query,
            None
        );
    }

    #[test]
    fn a_summary_lacks_no_section() {
        let without = |what: &str| SUMMARY.replace(what, "");
        let body = without("[SN]RESTBODY[SN]\r\n");
        refused(
            StoryFileLayout::Xsum,
            body.as_bytes(),
            "line 12: no line `[SN]RESTBODY[SN]`",
        );
        let first = without("A lighthouse was saved.");
        refused(
            StoryFileLayout::Xsum,
            first.as_bytes(),
            "line 7: there is no text after `[SN]FIRST-SENTENCE[SN]`",
        );
        let twice = format!("{SUMMARY}[SN]TITLE[SN]\r\n");
        refused(
            StoryFileLayout::Xsum,
            twice.as_bytes(),
            "line 14: a second `[SN]TITLE[SN]`",
        );
        refused(
            StoryFileLayout::Xsum,
            b"",
            "line 1: no line `[SN]TITLE[SN]`",
        );
        refused(
            StoryFileLayout::Xsum,
            b"[SN]TITLE[SN]\na\xff",
            "line 2: byte 2",
        );
    }

    #[test]
    fn highlights_are_preferred_to_their_article() {
        let story =
            "It rained.\n\nAll day.\n\n@highlight\n\nRain\n\n@highlight\n\n@highlight\n\nSun\n";
        let found = read(StoryFileLayout::Cnndm, story.as_bytes());
        let pair = &found.pairs[0];
        assert_eq!(
            (pair.a.as_str(), pair.b.as_str()),
            ("Rain\nSun", "It rained.\n\nAll day.")
        );
        assert_eq!(
            (pair.query.as_deref(), pair.group.as_deref()),
            (None, Some("7"))
        );
        refused(
            StoryFileLayout::Cnndm,
            b"\n\n@highlight\n\nRain\n",
            "the article is empty",
        );
        refused(
            StoryFileLayout::Cnndm,
            b"It rained.\n\n@highlight\n",
            "line 3: no `@highlight` line",
        );
        refused(StoryFileLayout::Cnndm, b"\x1f\x8b\x08damaged", "line 1: ");
    }

    /// The ids are the numbers below 100; the expected counts were computed with `hashlib`.
    #[test]
    fn the_sample_is_a_tenth_by_digest() {
        let sampled = |story: StoryFileLayout| {
            let ids = (0..100).map(|it: u32| it.to_string());
            let ids = ids.filter(|it| story.is_story_in_sample(NewsStorySampleSize::Tenth, it));
            ids.collect::<Vec<String>>().join(" ")
        };
        assert_eq!(
            sampled(StoryFileLayout::Xsum),
            "8 10 25 29 33 35 45 50 51 54 61"
        );
        assert_eq!(
            sampled(StoryFileLayout::Cnndm),
            "15 22 53 57 73 85 92 93 99"
        );
        assert!(StoryFileLayout::Xsum.is_story_in_sample(NewsStorySampleSize::All, "1"));
    }
}

//! Reader for files of word vectors: the text format of GloVe, and the text and binary formats of
//! word2vec, detected from the first bytes.
//!
//! - GloVe: `word number number …`, one word per line.
//! - word2vec, text: the same below a line `words dimensions`.
//! - word2vec, binary: that line, then for each word its characters, a space, and its numbers as
//!   little-endian 32-bit floats; a line break after each word is allowed.

use std::io::{BufRead, Cursor, Read};

use super::WordVectors;
use crate::collection::lines::{FileLine, FileSizeLimits, LimitedDecompressedReader, LineReader};
use crate::collection::{FileContentAndReportResult, FileInput};
use crate::error::{Error, FileReadReport};

/// The maximum number of dimensions: four times that of the largest common vectors.
const MOST_DIMS: usize = 4_096;

/// The longest word, in bytes.
const LONGEST_WORD: u64 = 1_000;

/// Reads a file of word vectors. An invalid row is rejected with its reason; of two rows for a word
/// the first is kept.
pub fn read_word_vectors(
    file: FileInput<'_, impl Read>,
) -> FileContentAndReportResult<WordVectors> {
    let name = file.name;
    let mut bytes = LimitedDecompressedReader::open(file, FileSizeLimits::FILES)?;
    let stopped =
        |it: std::io::Error| Error::unreadable_file(name, format!("reading stopped: {it}"));
    let mut first = Vec::new();
    bytes
        .by_ref()
        .take(FileSizeLimits::FILES.line_bytes)
        .read_until(b'\n', &mut first)
        .map_err(stopped)?;
    let text = str::from_utf8(&first).unwrap_or_default().trim();
    let (vectors, reading) = match header(text) {
        Some((_, n_dims)) => {
            check_dims(name, n_dims)?;
            let mut start = Vec::new();
            let few = 2 * LONGEST_WORD;
            let n_read = bytes.by_ref().take(few).read_to_end(&mut start);
            n_read.map_err(stopped)?;
            let text = is_text(&start);
            let bytes = Cursor::new(start).chain(bytes);
            if text {
                read_text(name, bytes, Some(n_dims))?
            } else {
                read_binary(name, bytes, n_dims)?
            }
        }
        None => read_text(name, Cursor::new(first).chain(bytes), None)?,
    };
    if vectors.is_empty() {
        return Err(Error::unreadable_file(
            name,
            "no line has a word followed by numbers; add a GloVe or word2vec file",
        ));
    }
    Ok((vectors, reading))
}

/// Parses the header `words dimensions`.
fn header(line: &str) -> Option<(u64, usize)> {
    let (words, dims) = line.split_once(' ')?;
    Some((words.parse().ok()?, dims.trim().parse().ok()?))
}

fn check_dims(name: &str, n_dims: usize) -> Result<(), Error> {
    if (1..=MOST_DIMS).contains(&n_dims) {
        return Ok(());
    }
    Err(Error::unreadable_file(
        name,
        format!("vectors have {n_dims} dimensions; at most {MOST_DIMS} are supported"),
    ))
}

/// Returns whether the text after the first word looks like a number.
fn is_text(start: &[u8]) -> bool {
    let Some(space) = start.iter().position(|&it| it == b' ') else {
        return true;
    };
    let numbers = &start[space + 1..];
    let written = |it: &u8| it.is_ascii_digit() || b" +-.eE\r".contains(it);
    let mut row = numbers
        .split(|&it| it == b'\n')
        .next()
        .unwrap_or_default()
        .iter();
    row.by_ref().take(8).all(written) && !numbers.is_empty()
}

fn read_text(
    name: &str,
    bytes: impl Read,
    n_dims: Option<usize>,
) -> Result<(WordVectors, FileReadReport), Error> {
    let mut reading = FileReadReport::default();
    let mut vectors = n_dims.map(WordVectors::with_dimensions);
    // The header has been read already.
    let before = u64::from(n_dims.is_some());
    let file = FileInput::without_progress(name, bytes);
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    let mut numbers = Vec::new();
    while let Some(FileLine { number, text }) = lines.next_line()? {
        let line = number + before;
        if text.as_ref().is_ok_and(|it| it.trim_ascii().is_empty()) {
            continue;
        }
        let taken = text.and_then(|row| {
            let n_dims = match &vectors {
                Some(it) => it.n_dims(),
                None => row.split_ascii_whitespace().count().saturating_sub(1),
            };
            // A word can contain spaces; the numbers are the last fields of the row.
            let mut fields = row.trim_end().rsplitn(n_dims + 1, ' ');
            numbers.clear();
            for field in fields.by_ref().take(n_dims) {
                let number: f32 = field
                    .parse()
                    .map_err(|_| format!("`{}` is not a number", shown(field)))?;
                numbers.push(number);
            }
            numbers.reverse();
            let word = fields.next().unwrap_or_default();
            if word.is_empty() || numbers.is_empty() {
                return Err(format!("expected a word and {n_dims} numbers"));
            }
            if vectors.is_none() {
                check_dims(name, n_dims).map_err(|it| it.to_string())?;
            }
            let vectors = vectors.get_or_insert_with(|| WordVectors::with_dimensions(n_dims));
            vectors.add_word(word, &numbers)
        });
        keep(&mut reading, name, line, taken);
    }
    Ok((vectors.unwrap_or_default(), reading))
}

fn read_binary(
    name: &str,
    mut bytes: impl BufRead,
    n_dims: usize,
) -> Result<(WordVectors, FileReadReport), Error> {
    let mut reading = FileReadReport::default();
    let mut vectors = WordVectors::with_dimensions(n_dims);
    let (mut word, mut numbers) = (Vec::new(), vec![0; n_dims * 4]);
    for row in 1.. {
        let stopped = |it: std::io::Error| {
            Error::unreadable_file(name, format!("reading stopped at word {row}: {it}"))
        };
        word.clear();
        let n_bytes = bytes
            .by_ref()
            .take(LONGEST_WORD)
            .read_until(b' ', &mut word)
            .map_err(stopped)?;
        if word.trim_ascii().is_empty() && n_bytes < 2 {
            break;
        }
        if !word.ends_with(b" ") {
            return Err(Error::unreadable_file(
                name,
                format!("word {row} is incomplete; the file is truncated or not a word2vec file"),
            ));
        }
        bytes.read_exact(&mut numbers).map_err(stopped)?;
        let vector = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|it| f32::from_le_bytes(*it));
        let vector: Vec<f32> = vector.collect();
        let taken = match str::from_utf8(word.trim_ascii()) {
            Ok(word) => vectors.add_word(word, &vector),
            Err(_) => Err("the word is not UTF-8".to_owned()),
        };
        keep(&mut reading, name, row, taken);
    }
    Ok((vectors, reading))
}

fn keep(reading: &mut FileReadReport, name: &str, line: u64, taken: Result<bool, String>) {
    match taken {
        Ok(true) => reading.n_rows += 1,
        Ok(false) => reading.refuse_row(
            name,
            line,
            "the word already has a vector, which is \
             kept",
        ),
        Err(reason) => reading.refuse_row(name, line, reason),
    }
}

/// Returns the start of a field, for a message.
fn shown(field: &str) -> String {
    let start: String = field.chars().take(20).collect();
    start.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Result<(WordVectors, FileReadReport), Error> {
        read_word_vectors(FileInput::without_progress("v.txt", bytes))
    }

    const GLOVE: &[u8] = b"the 0 2\nof 3 4\n. . . 1 0\n";

    #[test]
    fn the_three_layouts_give_the_same_vectors() {
        let (glove, reading) = read_all(GLOVE).unwrap();
        assert_eq!((reading.n_rows, reading.n_refused), (3, 0));
        assert_eq!(
            glove.vector_at_row(glove.row_of_word("of").unwrap()),
            [0.6, 0.8]
        );
        assert_eq!(glove.word_at_row(2), ". . .");
        let (text, _) = read_all(&[b"3 2\n", GLOVE].concat()).unwrap();
        assert_eq!(text, glove);
        let mut binary = b"2 2\n".to_vec();
        for (word, vector) in [("the", [0.0_f32, 2.0]), ("of", [3.0, 4.0])] {
            binary.extend(format!("{word} ").bytes());
            vector.iter().for_each(|it| binary.extend(it.to_le_bytes()));
            binary.push(b'\n');
        }
        let (binary, reading) = read_all(&binary).unwrap();
        assert_eq!((reading.n_rows, reading.n_refused), (2, 0));
        assert_eq!(binary, glove.subset_of_words(["the", "of"]));
    }

    #[test]
    fn wrong_rows_are_refused_with_line_and_reason() {
        let (vectors, reading) =
            read_all(b"2 2\na 1 0\nb 1 x\nc 1\nd 0 0\na 0 1\ne nan 1\nf 0 1\n").unwrap();
        assert_eq!(vectors.len(), 2);
        let said: Vec<String> = reading
            .refused
            .iter()
            .map(|it| format!("{}: {}", it.line, it.reason))
            .collect();
        assert_eq!(
            said,
            [
                "3: `x` is not a number",
                "4: `c` is not a number",
                "5: a vector of zeros has no direction",
                "6: the word already has a vector, which is kept",
                "7: a value is infinite or NaN",
            ]
        );
    }

    #[test]
    fn what_is_no_file_of_vectors_says_so() {
        for bytes in [
            &b""[..],
            b"2 0\n",
            b"1 99999999\n",
            b"just words here\n",
            b"2 2\nab\x00\x01\x02",
        ] {
            assert!(read_all(bytes).is_err(), "{bytes:?}");
        }
        let cut = read_all(b"2 2\nthe \x00\x01\x02").unwrap_err();
        assert!(cut.to_string().contains("v.txt"), "{cut}");
    }
}

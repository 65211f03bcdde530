//! A file of any kind as numbered lines of text, one at a time.
//!
//! A damaged row never costs the rest of its file: what is wrong with a line is said of that
//! line, and reading goes on. Only a file that cannot be read to its end is an [`Error`].
//! gzip and Zstandard are unpacked on the way, told by their first bytes. Memory is bounded
//! by [`FileSizeLimits`] whatever the file holds.

mod decompression;
pub(super) mod rows;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

use decompression::DecompressedStream;

use crate::error::Error;

/// How much a file may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizeLimits {
    /// Longest line, in bytes.
    pub line_bytes: u64,
    /// Longest file once unpacked, in bytes.
    pub total_bytes: u64,
    /// An archive may unpack to this many bytes at any ratio.
    pub free_bytes: u64,
    /// An archive that unpacks to more than `free_bytes` may do so to this many times its size.
    pub expansion: u64,
}

impl FileSizeLimits {
    /// For every file that people bring.
    ///
    /// - A line is one document. The longest of MS MARCO's documents have about 1.5 MB.
    /// - The unpacked passages of MS MARCO v2, the largest public collection of this kind,
    ///   are about 60 GB.
    /// - Prose packs to a third or a tenth. gzip cannot do more than 1032 times, and does so
    ///   only for one repeated byte: 200 times is no text. Small repetitive files stay allowed.
    pub const FILES: FileSizeLimits = FileSizeLimits {
        line_bytes: 16 << 20,
        total_bytes: 64 << 30,
        free_bytes: 64 << 20,
        expansion: 200,
    };
}

/// The lines of a file, each read into the same buffer.
pub struct LineReader<'a> {
    name: &'a str,
    bytes: BufReader<DecompressedStream<'a>>,
    bounds: FileSizeLimits,
    line: u64,
    buffer: Vec<u8>,
}

/// The bytes of a file, unpacked and within bounds.
pub(crate) struct DecompressedReader<'a>(BufReader<DecompressedStream<'a>>);

impl<'a> DecompressedReader<'a> {
    /// As [`LineReader::open`], for a file that is not made of lines.
    pub(crate) fn open(
        name: &str,
        bytes: impl Read + 'a,
        bounds: FileSizeLimits,
        progress: &'a mut dyn FnMut(u64),
    ) -> Result<DecompressedReader<'a>, Error> {
        let bytes = DecompressedStream::open(Box::new(bytes), bounds, progress)
            .map_err(|error| Error::file(name, error))?;
        Ok(DecompressedReader(BufReader::with_capacity(
            decompression::CHUNK_BYTES,
            bytes,
        )))
    }
}

impl Read for DecompressedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

impl BufRead for DecompressedReader<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, n_bytes: usize) {
        self.0.consume(n_bytes);
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Without its line break (LF or CRLF) and without a byte order mark; or why it cannot be
    /// used.
    pub text: Result<&'a str, String>,
}

impl<'a> LineReader<'a> {
    /// Looks at the first bytes and gets ready to unpack. `name` stands in every message;
    /// `progress` hears how many bytes of the file (packed, if it is) have been read, whenever
    /// that changes. To stop early, let `bytes` return an error.
    pub fn open(
        name: &'a str,
        bytes: impl Read + 'a,
        bounds: FileSizeLimits,
        progress: &'a mut dyn FnMut(u64),
    ) -> Result<LineReader<'a>, Error> {
        let DecompressedReader(bytes) = DecompressedReader::open(name, bytes, bounds, progress)?;
        Ok(LineReader {
            name,
            bytes,
            bounds,
            line: 0,
            buffer: Vec::new(),
        })
    }

    /// The next line, none at the end of the file.
    pub fn next_line(&mut self) -> Result<Option<TextLine<'_>>, Error> {
        self.buffer.clear();
        self.line += 1;
        let at_most = self.bounds.line_bytes + 1; // one for the line break
        let n_bytes = (&mut self.bytes)
            .take(at_most)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| self.stopped(error))?;
        if n_bytes == 0 {
            return Ok(None);
        }
        if n_bytes as u64 == at_most && !self.buffer.ends_with(b"\n") {
            let rest = self
                .bytes
                .skip_until(b'\n')
                .map_err(|error| self.stopped(error))?;
            let reason = format!(
                "a line of {}, longer than the {} allowed per row; is a line break missing?",
                size(n_bytes as u64 + rest as u64),
                size(self.bounds.line_bytes),
            );
            return Ok(Some(TextLine {
                number: self.line,
                text: Err(reason),
            }));
        }
        let text = text(content(&self.buffer, self.line));
        Ok(Some(TextLine {
            number: self.line,
            text,
        }))
    }

    fn stopped(&self, reason: std::io::Error) -> Error {
        Error::file(
            self.name,
            format!("reading stopped at line {}: {reason}", self.line),
        )
    }
}

/// Returns the text of a file, unpacked, in which every line is needed and ends with a line feed.
pub fn read_text(
    name: &str,
    bytes: impl Read,
    progress: &mut dyn FnMut(u64),
) -> Result<String, Error> {
    let mut lines = LineReader::open(name, bytes, FileSizeLimits::FILES, progress)?;
    let mut all = String::new();
    while let Some(TextLine { number: line, text }) = lines.next_line()? {
        all += text.map_err(|reason| Error::Line {
            file: name.to_owned(),
            line,
            reason,
        })?;
        all.push('\n');
    }
    Ok(all)
}

/// A line without its break, the first without a byte order mark.
fn content(bytes: &[u8], line: u64) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let mark: &[u8] = if line == 1 { b"\xEF\xBB\xBF" } else { b"" };
    bytes.strip_prefix(mark).unwrap_or(bytes)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        format!(
            "byte {} of the line (0x{:02X}) is not valid UTF-8; save the file as UTF-8",
            at + 1,
            bytes[at]
        )
    })
}

/// A number of bytes for people: `50 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        10_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        10_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
    }
}

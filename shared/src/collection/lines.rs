//! Reads a file of any kind as numbered lines of text, one at a time.
//!
//! An invalid row never loses the rest of its file: the problem is reported with the line number,
//! and reading continues. Only a file that cannot be read to its end is an [`Error`]. gzip and
//! Zstandard files are recognized by their first bytes and decompressed. Memory is bounded by
//! [`FileSizeLimits`] whatever the file contains.

mod decompression;
pub(super) mod rows;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

use decompression::DecompressedStream;

use crate::collection::FileInput;
use crate::error::Error;

/// Limits on the size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizeLimits {
    /// The longest line, in bytes.
    pub line_bytes: u64,
    /// The largest file after decompression, in bytes.
    pub total_bytes: u64,
    /// Up to this size after decompression, in bytes, any compression ratio is allowed.
    pub free_bytes: u64,
    /// The maximum compression ratio of a file that is larger than `free_bytes` after
    /// decompression.
    pub expansion: u64,
}

impl FileSizeLimits {
    /// The limits for every file that users provide.
    ///
    /// - A line is one document. The longest documents of MS MARCO have about 1.5 MB.
    /// - The passages of MS MARCO v2, the largest public collection of this kind, are about 60 GB
    ///   after decompression.
    /// - Prose is compressed to between a third and a tenth. gzip reaches at most 1032 times, and
    ///   only for one repeated byte; a ratio of 200 is not text. Small repetitive files are
    ///   allowed.
    pub const FILES: FileSizeLimits = FileSizeLimits {
        line_bytes: 16 << 20,
        total_bytes: 64 << 30,
        free_bytes: 64 << 20,
        expansion: 200,
    };
}

/// Reads the lines of a file, each into the same buffer.
pub struct LineReader<'a> {
    name: &'a str,
    bytes: BufReader<DecompressedStream<'a>>,
    bounds: FileSizeLimits,
    line: u64,
    buffer: Vec<u8>,
}

/// The decompressed bytes of a file, within limits.
pub(crate) struct LimitedDecompressedReader<'a>(BufReader<DecompressedStream<'a>>);

impl<'a> LimitedDecompressedReader<'a> {
    /// Opens a file that does not consist of lines, as [`LineReader::open`].
    pub(crate) fn open(
        file: FileInput<'a, impl Read>,
        bounds: FileSizeLimits,
    ) -> Result<LimitedDecompressedReader<'a>, Error> {
        let bytes = DecompressedStream::open(Box::new(file.bytes), bounds, file.progress)
            .map_err(|error| Error::unreadable_file(file.name, error))?;
        Ok(LimitedDecompressedReader(BufReader::with_capacity(
            decompression::CHUNK_BYTES,
            bytes,
        )))
    }
}

impl Read for LimitedDecompressedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

impl BufRead for LimitedDecompressedReader<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, n_bytes: usize) {
        self.0.consume(n_bytes);
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// The line number, counted from 1.
    pub number: u64,
    /// The text without its line break (LF or CRLF) and without a byte order mark, or the reason
    /// why it cannot be used.
    pub text: Result<&'a str, String>,
}

impl<'a> LineReader<'a> {
    /// Reads the first bytes of a file and prepares decompression. To stop early, let the bytes
    /// return an error.
    pub fn open(
        file: FileInput<'a, impl Read>,
        bounds: FileSizeLimits,
    ) -> Result<LineReader<'a>, Error> {
        let name = file.name;
        let LimitedDecompressedReader(bytes) = LimitedDecompressedReader::open(file, bounds)?;
        Ok(LineReader {
            name,
            bytes,
            bounds,
            line: 0,
            buffer: Vec::new(),
        })
    }

    /// Returns the next line; `None` at the end of the file.
    pub fn next_line(&mut self) -> Result<Option<FileLine<'_>>, Error> {
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
            return Ok(Some(FileLine {
                number: self.line,
                text: Err(reason),
            }));
        }
        let text = text(content(&self.buffer, self.line));
        Ok(Some(FileLine {
            number: self.line,
            text,
        }))
    }

    fn stopped(&self, reason: std::io::Error) -> Error {
        Error::unreadable_file(
            self.name,
            format!("reading stopped at line {}: {reason}", self.line),
        )
    }
}

/// Returns the decompressed text of a file, with a line feed after every line. A line that cannot
/// be used is an error.
pub fn read_decompressed_text(file: FileInput<'_, impl Read>) -> Result<String, Error> {
    let name = file.name;
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    let mut all = String::new();
    while let Some(FileLine { number: line, text }) = lines.next_line()? {
        all += text.map_err(|reason| Error::Line {
            file: name.to_owned(),
            line,
            reason,
        })?;
        all.push('\n');
    }
    Ok(all)
}

/// Returns a line without its line break, and the first line without a byte order mark.
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

/// Formats a number of bytes for people: `50 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        10_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        10_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
    }
}

//! Decompression of files within size limits.
//!
//! It handles gzip (RFC 1952) with several members and Zstandard (RFC 8878) with several frames, as
//! written by `cat`, `pigz` and `pzstd`. The format is detected from the first bytes, since file
//! names can be wrong.

use std::error::Error as _;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{FileSizeLimits, size};
use crate::collection::ByteProgressCallback;

/// The number of bytes that are requested at once. In the browser each request is a round trip.
pub(super) const CHUNK_BYTES: usize = 1 << 16;

/// The largest Zstandard window, which is held in memory, in bytes: the limit of the `zstd` program
/// (`ZSTD_WINDOWLOG_LIMIT_DEFAULT`), 8 times the window of its highest ordinary level.
const WINDOW_BYTES: u64 = 1 << 27;

/// The decompressed content of a file.
pub(super) struct DecompressedStream<'a> {
    packed: Compression<'a>,
    bounds: FileSizeLimits,
    n_bytes: u64,
}

/// The compression of a file with its decoder.
enum Compression<'a> {
    Not(Source<'a>),
    Gzip(MultiGzDecoder<Source<'a>>),
    Zstd(Zstd<'a>),
}

impl<'a> DecompressedStream<'a> {
    /// Detects the compression from the first bytes of a file.
    pub(super) fn open(
        bytes: Box<dyn Read + 'a>,
        bounds: FileSizeLimits,
        progress: Option<ByteProgressCallback<'a>>,
    ) -> io::Result<DecompressedStream<'a>> {
        let mut counted = CountingReader {
            bytes,
            n_bytes: 0,
            progress,
        };
        let mut head = Vec::new();
        counted.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        let kind = CompressionFormat::of(&head)?;
        let source = BufReader::with_capacity(CHUNK_BYTES, Cursor::new(head).chain(counted));
        let packed = match kind {
            CompressionFormat::Plain => Compression::Not(source),
            CompressionFormat::Gzip => Compression::Gzip(MultiGzDecoder::new(source)),
            CompressionFormat::Zstd => Compression::Zstd(Zstd {
                source,
                frame: None,
            }),
        };
        Ok(DecompressedStream {
            packed,
            bounds,
            n_bytes: 0,
        })
    }
}

impl Read for DecompressedStream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (n_bytes, source) = match &mut self.packed {
            Compression::Not(source) => (source.read(into)?, &*source),
            Compression::Gzip(gzip) => {
                let n_bytes = gzip
                    .read(into)
                    .map_err(|it| DecompressionError::decoding("gzip", it))?;
                (n_bytes, gzip.get_ref())
            }
            Compression::Zstd(zstd) => (zstd.read(into)?, &zstd.source),
        };
        let n_packed = source.get_ref().get_ref().1.n_bytes;
        self.n_bytes += n_bytes as u64;
        let allowed = self
            .bounds
            .free_bytes
            .max(n_packed.saturating_mul(self.bounds.expansion));
        match &self.packed {
            Compression::Gzip(_) | Compression::Zstd(_) if self.n_bytes > allowed => {
                let times = self.bounds.expansion;
                Err(DecompressionError::Expands {
                    packed: n_packed,
                    unpacked: self.n_bytes,
                    times,
                }
                .into())
            }
            _ if self.n_bytes > self.bounds.total_bytes => Err(DecompressionError::TooLong {
                bytes: self.bounds.total_bytes,
            }
            .into()),
            _ => Ok(n_bytes),
        }
    }
}

/// The bytes of the file, from the start, although the first ones have been read already.
type Source<'a> = BufReader<Chain<Cursor<Vec<u8>>, CountingReader<'a>>>;

/// A reader that reports how many bytes it has read.
struct CountingReader<'a> {
    bytes: Box<dyn Read + 'a>,
    n_bytes: u64,
    progress: Option<ByteProgressCallback<'a>>,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.bytes.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error, // readers retry
            _ => DecompressionError::Source(error.to_string()).into(),
        })?;
        if n_bytes > 0 {
            self.n_bytes += n_bytes as u64;
            if let Some(progress) = &mut self.progress {
                progress(self.n_bytes);
            }
        }
        Ok(n_bytes)
    }
}

/// The compression format of a file, detected from its first bytes.
enum CompressionFormat {
    Plain,
    Gzip,
    Zstd,
}

/// The number of bytes that [`CompressionFormat::of`] reads.
const HEAD_BYTES: u64 = 7;

impl CompressionFormat {
    fn of(head: &[u8]) -> Result<CompressionFormat, DecompressionError> {
        match head {
            [0x1F, 0x8B, ..] => Ok(CompressionFormat::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Ok(CompressionFormat::Zstd),
            // A skippable frame, which can come first.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Ok(CompressionFormat::Zstd),
            [b'P', b'K', 3, 4, ..] => Err(DecompressionError::Foreign("a zip archive")),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => {
                Err(DecompressionError::Foreign("an xz archive"))
            }
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..] => {
                Err(DecompressionError::Foreign("a bzip2 archive"))
            }
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Err(DecompressionError::Utf16),
            _ => Ok(CompressionFormat::Plain),
        }
    }
}

/// A sequence of Zstandard frames.
struct Zstd<'a> {
    source: Source<'a>,
    /// `None` between two frames.
    frame: Option<Box<FrameDecoder>>,
}

impl Zstd<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else {
                match self.next_frame()? {
                    Some(frame) => self.frame = Some(Box::new(frame)),
                    None => return Ok(0),
                }
                continue;
            };
            let n_bytes = frame.read(into)?;
            if n_bytes > 0 {
                return Ok(n_bytes);
            }
            if !frame.is_finished() {
                // One block at a time, so that at most a window and a block are in memory.
                frame
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(DecompressionError::zstd)?;
                continue;
            }
            // The decoder computes the checksum, but does not compare it.
            let expected = frame.get_checksum_from_data();
            if expected.is_some() && expected != frame.get_calculated_checksum() {
                return Err(DecompressionError::Damaged("zstd").into());
            }
            self.frame = None;
        }
    }

    /// Reads the header of the next frame; `None` at the end of the file.
    fn next_frame(&mut self) -> io::Result<Option<FrameDecoder>> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(None);
            }
            let mut frame = FrameDecoder::new();
            frame.set_max_window_size(WINDOW_BYTES);
            let length = match frame.init(&mut self.source) {
                Ok(()) => return Ok(Some(frame)),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => u64::from(length),
                Err(error) => return Err(DecompressionError::zstd(error)),
            };
            if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                return Err(DecompressionError::CutOff("zstd").into());
            }
        }
    }
}

/// The reason why a file cannot be read to its end. It is wrapped in an [`io::Error`].
#[derive(Debug, Clone, thiserror::Error)]
enum DecompressionError {
    #[error("the {0} archive is cut off, copy it again")]
    CutOff(&'static str),
    #[error("the {0} archive is damaged, copy it again")]
    Damaged(&'static str),
    #[error(
        "the first {} expand to {}, more than {times} times as much; if you trust the file, \
         decompress it first",
        size(*packed),
        size(*unpacked)
    )]
    Expands {
        packed: u64,
        unpacked: u64,
        times: u64,
    },
    #[error("there are more than {}, split the file", size(*bytes))]
    TooLong { bytes: u64 },
    #[error("this is {0}, give it unpacked or as .gz or .zst")]
    Foreign(&'static str),
    #[error("this is UTF-16, save it as UTF-8")]
    Utf16,
    #[error(
        "the zstd archive needs a window of {}, more than the allowed {}; recompress it without \
         `--long`",
        size(*bytes),
        size(WINDOW_BYTES)
    )]
    Window { bytes: u64 },
    #[error("the zstd archive uses a dictionary; recompress it without one")]
    Dictionary,
    #[error("{0}")]
    Source(String),
}

impl DecompressionError {
    /// Converts an error of a decoder, unless the underlying reader failed.
    fn decoding(kind: &'static str, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ if error
                .get_ref()
                .is_some_and(|it| it.is::<DecompressionError>()) =>
            {
                error
            }
            io::ErrorKind::UnexpectedEof => DecompressionError::CutOff(kind).into(),
            _ => DecompressionError::Damaged(kind).into(),
        }
    }

    fn zstd(error: FrameDecoderError) -> io::Error {
        match error {
            FrameDecoderError::DictNotProvided { .. } => {
                return DecompressionError::Dictionary.into();
            }
            FrameDecoderError::WindowSizeTooBig { requested, .. } => {
                return DecompressionError::Window { bytes: requested }.into();
            }
            _ => {}
        }
        // If the cause is a read error, it is somewhere in the chain of sources.
        let mut causes = std::iter::successors(error.source(), |&it| it.source());
        match causes.find_map(|it| it.downcast_ref::<io::Error>()) {
            Some(io) => match io
                .get_ref()
                .and_then(|it| it.downcast_ref::<DecompressionError>())
            {
                Some(stop) => stop.clone().into(),
                None => DecompressionError::decoding("zstd", io.kind().into()),
            },
            None => DecompressionError::Damaged("zstd").into(),
        }
    }
}

impl From<DecompressionError> for io::Error {
    fn from(stop: DecompressionError) -> io::Error {
        io::Error::other(stop)
    }
}

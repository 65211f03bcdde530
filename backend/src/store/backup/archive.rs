//! A gzip-compressed tar file in which every member has a checksum.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

use super::{HEAD, files};
use crate::error::Error;
use crate::remedy;

const SUMS: &str = "SHA256SUMS";

/// Maximum size of a member in bytes, far above the files of a data folder.
const MAX_BYTES: u64 = 1 << 42;
/// Maximum size of the checksums in bytes, which are held in memory: enough for half a million
/// files.
const MAX_BYTES_OF_SUMS: usize = 1 << 26;
/// Maximum size in bytes of the headers between two members, such as long names, which are held in
/// memory.
const MAX_BYTES_BETWEEN: u64 = 1 << 20;
const MAX_BYTES_OF_HEAD: u64 = 1 << 16;
const MAX_BYTES_OF_NAME: usize = 500;
const MAX_DEPTH: usize = 12;

/// Writes the members of an archive in sequence.
pub(super) struct ArchiveWriter<W: Write> {
    tar: tar::Builder<GzEncoder<W>>,
    sums: String,
    made_s: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub(super) fn from_writer(out: W) -> ArchiveWriter<W> {
        ArchiveWriter {
            tar: tar::Builder::new(GzEncoder::new(out, Compression::fast())),
            sums: String::new(),
            made_s: jiff::Timestamp::now().as_second().unsigned_abs(),
        }
    }

    /// Adds a member with the first `n_bytes` bytes of `from`. Returns an error if there are fewer.
    pub(super) fn add_member(
        &mut self,
        name: &str,
        n_bytes: u64,
        from: impl Read,
    ) -> io::Result<()> {
        if self.sums.len() > MAX_BYTES_OF_SUMS {
            let reason = "these are too many files for a backup; copy the data folder itself";
            return Err(io::Error::other(reason));
        }
        let mut summed = HashingReader::new(from.take(n_bytes));
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(n_bytes);
        header.set_mode(0o644);
        header.set_mtime(self.made_s);
        self.tar.append_data(&mut header, name, &mut summed)?;
        if summed.n_bytes != n_bytes {
            let reason = format!("{name} changed while it was copied; make the backup again");
            return Err(io::Error::other(reason));
        }
        self.sums += &summed.line(name);
        Ok(())
    }

    /// Writes the checksums and finishes the file.
    pub(super) fn write_checksums_and_finish(mut self) -> io::Result<W> {
        let sums = std::mem::take(&mut self.sums);
        self.add_member(SUMS, sums.len() as u64, sums.as_bytes())?;
        self.tar.into_inner()?.finish()
    }
}

/// Unpacks an archive into a folder. The caller must not use the files if this returns an error,
/// since the checksums are compared at the end. The first member is passed to `accept` before
/// anything else is read.
pub(super) fn unpack_archive(
    packed: impl Read,
    backup: &Path,
    to: &Path,
    accept: impl FnOnce(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let unreadable = |it: io::Error| damaged_backup_error(backup, &it.to_string());
    let left = Cell::new(MAX_BYTES_BETWEEN);
    let bounded = LimitedReader {
        inner: GzDecoder::new(BufReader::new(packed)),
        left: &left,
    };
    let mut archive = tar::Archive::new(bounded);
    let mut members = archive.entries().map_err(unreadable)?;
    let mut accept = Some(accept);
    let mut sums = String::new();
    loop {
        left.set(MAX_BYTES_BETWEEN);
        let Some(member) = members.next() else {
            return Err(damaged_backup_error(
                backup,
                "it was cut off: it ends without its checksums",
            ));
        };
        let mut member = member.map_err(unreadable)?;
        left.set(u64::MAX);
        let name = checked_name(&member).map_err(|it| damaged_backup_error(backup, &it))?;
        if let Some(accept) = accept.take() {
            let mut json = Vec::new();
            let first = (&mut member).take(MAX_BYTES_OF_HEAD);
            let mut first = HashingReader::new(first);
            first.read_to_end(&mut json).map_err(unreadable)?;
            if name != HEAD {
                return Err(damaged_backup_error(
                    backup,
                    &format!("it does not begin with {HEAD}"),
                ));
            }
            accept(&json)?;
            sums += &first.line(HEAD);
            continue;
        }
        if sums.len() > MAX_BYTES_OF_SUMS || member.size() > MAX_BYTES {
            return Err(damaged_backup_error(
                backup,
                &format!("{name}: it is larger than a backup can be"),
            ));
        }
        if name == SUMS {
            let mut found = String::new();
            let mut listed = (&mut member).take(sums.len() as u64 + 1);
            listed.read_to_string(&mut found).map_err(unreadable)?;
            if found != sums {
                return Err(damaged_backup_error(backup, &differing(&sums, &found)));
            }
            break;
        }
        sums += &write(&mut member, &to.join(&name), &name)
            .map_err(|it| it.told(backup, &to.join(&name)))?;
    }
    // Only some zeros and the checksum of gzip are left.
    left.set(MAX_BYTES_BETWEEN);
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(unreadable)?;
    Ok(())
}

/// Returns the error for an invalid backup.
pub(super) fn damaged_backup_error(backup: &Path, reason: &str) -> Error {
    Error::CorruptData {
        what: backup.display().to_string(),
        reason: format!("{reason}; nothing was restored, choose another backup"),
    }
}

/// The reason why a member could not be unpacked: the backup or the disk.
enum Failed {
    Backup(String),
    Disk(io::Error),
}

impl Failed {
    fn told(self, backup: &Path, path: &Path) -> Error {
        match self {
            Failed::Backup(reason) => damaged_backup_error(backup, &reason),
            Failed::Disk(error) => {
                Error::io_error_converter(path, remedy::ANOTHER_DATA_FOLDER)(error)
            }
        }
    }
}

/// Writes a member to a new file and returns its line of checksums.
fn write(member: &mut impl Read, path: &Path, name: &str) -> Result<String, Failed> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failed::Disk)?;
    }
    let mut file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Failed::Backup(format!("{name} is in it twice")));
        }
        Err(error) => return Err(Failed::Disk(error)),
    };
    let mut summed = HashingReader::new(member);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n_read = summed
            .read(&mut buffer)
            .map_err(|it| Failed::Backup(format!("{name}: {it}")))?;
        if n_read == 0 {
            break;
        }
        file.write_all(&buffer[..n_read]).map_err(Failed::Disk)?;
    }
    file.sync_all().map_err(Failed::Disk)?;
    Ok(summed.line(name))
}

/// Returns the name of a member if it is a valid file name below the folder.
fn checked_name<R: Read>(member: &tar::Entry<'_, R>) -> Result<String, String> {
    let bytes = member.path_bytes();
    let name = String::from_utf8_lossy(&bytes).into_owned();
    let parts: Vec<&str> = name.split('/').collect();
    let known = match parts[..] {
        [HEAD | SUMS] | ["database", _] => true,
        ["files", part, _, ..] => files::PARTS.contains(&part),
        _ => false,
    };
    let is_name = |part: &&str| {
        !matches!(*part, "" | "." | "..")
            && !part.contains(|it: char| it.is_control() || matches!(it, '\\' | ':'))
    };
    let fits = name.len() <= MAX_BYTES_OF_NAME && parts.len() <= MAX_DEPTH;
    if !(known && fits && parts.iter().all(is_name)) {
        let shown: String = name.chars().take(100).collect();
        return Err(format!("{shown:?} is no place for a file of a backup"));
    }
    if member.header().entry_type() != tar::EntryType::Regular {
        return Err(format!("{name} is no file"));
    }
    Ok(name)
}

/// Returns the error message for different checksums, which names the first member concerned.
fn differing(expected: &str, found: &str) -> String {
    let lines = expected.lines().zip(found.lines());
    let first = lines.into_iter().find(|(a, b)| a != b);
    match first.and_then(|(line, _)| line.split_once("  ")) {
        Some((_, name)) => format!("{name} is not what was put there: its checksum is another"),
        None => "its list of checksums is another".to_owned(),
    }
}

/// A reader that fails when more than `left` bytes are read.
struct LimitedReader<'a, R> {
    inner: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for LimitedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        let left = self
            .left
            .get()
            .checked_sub(n_read as u64)
            .ok_or_else(|| io::Error::other("a name in it is longer than a backup can have"))?;
        self.left.set(left);
        Ok(n_read)
    }
}

/// A reader that computes the SHA-256 of what is read.
struct HashingReader<R> {
    inner: R,
    hasher: Sha256,
    n_bytes: u64,
}

impl<R: Read> HashingReader<R> {
    fn new(inner: R) -> HashingReader<R> {
        HashingReader {
            inner,
            hasher: Sha256::new(),
            n_bytes: 0,
        }
    }

    /// Formats the checksum as `sha256sum` does.
    fn line(self, name: &str) -> String {
        format!("{}  {name}\n", encode_hex(&self.hasher.finalize()))
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..n_read]);
        self.n_bytes += n_read as u64;
        Ok(n_read)
    }
}

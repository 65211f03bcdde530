//! SHA-256 checksums of stored files, so that damaged files are detected before they are used.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

use crate::error::Error;

/// Checksums that this process has computed, with the state of the file at that time.
static KNOWN: Mutex<BTreeMap<PathBuf, (State, String)>> = Mutex::new(BTreeMap::new());

/// A file that was modified within this time may be modified again without a new time stamp, since
/// the time stamps of file systems are coarse.
const UNSETTLED: Duration = Duration::from_secs(2);

/// The state of a file, which changes when the file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    n_bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl State {
    fn of(file: &File) -> io::Result<State> {
        let metadata = file.metadata()?;
        Ok(State {
            n_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&metadata),
            #[cfg(not(unix))]
            inode: 0,
        })
    }

    fn is_settled(&self) -> bool {
        let age = self.modified.and_then(|it| it.elapsed().ok());
        age.is_some_and(|it| it > UNSETTLED)
    }
}

/// Opens a file and verifies its checksum. The file is read for that only once, and again after it
/// has been modified.
pub(crate) fn open_and_verify_checksum(
    path: &Path,
    expected: &str,
    way_out: &'static str,
) -> Result<File, Error> {
    let file = File::open(path).map_err(Error::io_error_converter(path, way_out))?;
    let found = of_file(&file, path).map_err(Error::io_error_converter(path, way_out))?;
    match found == expected {
        true => Ok(file),
        false => Err(damaged(path, way_out)),
    }
}

/// Reads a file again and verifies its checksum, also if it was verified before and looks the same:
/// a disk changes bytes without a time stamp. `keep_on` is called with the size of each chunk;
/// where it returns false, the rest is not read.
pub(crate) fn reread_and_verify_checksum(
    path: &Path,
    expected: &str,
    way_out: &'static str,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Result<(), Error> {
    let failed = || Error::io_error_converter(path, way_out);
    let file = File::open(path).map_err(failed())?;
    let mut hasher = Sha256::new();
    let mut is_stopped = false;
    let read = read_file_in_chunks(&file, |part| {
        hasher.update(part);
        is_stopped = !keep_on(part.len());
        match is_stopped {
            true => Err(io::Error::other("stopped")),
            false => Ok(()),
        }
    });
    match read {
        Err(_) if is_stopped => return Ok(()),
        read => read.map_err(failed())?,
    }
    match encode_hex(&hasher.finalize()) == expected {
        true => Ok(()),
        false => Err(damaged(path, way_out)),
    }
}

/// Returns the checksum of a file, in hex.
pub(crate) fn file_checksum(path: &Path) -> io::Result<String> {
    of_file(&File::open(path)?, path)
}

fn of_file(mut file: &File, path: &Path) -> io::Result<String> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let state = State::of(file)?;
    if let Some((_, sum)) = known().get(path).filter(|it| it.0 == state) {
        return Ok(sum.clone());
    }
    let mut hasher = Sha256::new();
    read_file_in_chunks(file, |part| {
        hasher.update(part);
        Ok(())
    })?;
    file.rewind()?;
    let sum = encode_hex(&hasher.finalize());
    if state.is_settled() && State::of(file)? == state {
        known().insert(path.to_owned(), (state, sum.clone()));
    }
    Ok(sum)
}

/// Reads a file to its end and calls `take` with each chunk.
pub(crate) fn read_file_in_chunks(
    mut file: &File,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            n_bytes => take(&buffer[..n_bytes])?,
        }
    }
}

fn damaged(path: &Path, way_out: &str) -> Error {
    Error::CorruptData {
        what: path.display().to_string(),
        reason: format!("its checksum is not that of what was written; {way_out}"),
    }
}

/// The start of a JSON object that contains its own checksum.
const SEAL: &[u8] = br#"{"sha256":""#;
/// The bytes after the checksum.
const CLOSED: &[u8] = b"\",";
/// Number of characters of a checksum in hex.
const SUM: usize = 64;

/// Adds a checksum to a JSON object, as its first field. It covers the whole object with this field
/// empty.
pub(crate) fn add_json_checksum(json: &[u8]) -> Vec<u8> {
    let fields = json.strip_prefix(b"{").expect("JSON of a struct");
    let sum = seal_of([CLOSED, fields]);
    [SEAL, sum.as_bytes(), CLOSED, fields].concat()
}

fn seal_of<const N: usize>(rest: [&[u8]; N]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(SEAL);
    rest.iter().for_each(|it| hasher.update(it));
    encode_hex(&hasher.finalize())
}

/// Reads a file that [`add_json_checksum`] has created, and verifies its checksum. Files of earlier
/// versions have no checksum and start with `unsealed`.
pub(crate) fn read_checksummed_json_bytes(
    path: &Path,
    unsealed: &str,
    way_out: &'static str,
) -> Result<Vec<u8>, Error> {
    let bytes = fs::read(path).map_err(Error::io_error_converter(path, way_out))?;
    let sealed = bytes.strip_prefix(SEAL);
    let is_whole = match sealed.and_then(|it| it.split_at_checked(SUM)) {
        Some((sum, rest)) => sum == seal_of([rest]).as_bytes(),
        None => bytes.starts_with(unsealed.as_bytes()),
    };
    match is_whole {
        true => Ok(bytes),
        false => Err(damaged(path, way_out)),
    }
}

/// File with the checksums of a folder, in the format of `sha256sum -c`.
const SUMS: &str = "SHA256SUMS";

/// Writes the checksums of all files of a folder into that folder.
pub(crate) fn write_folder_checksums(folder: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    list(folder, "", &mut names)?;
    names.sort();
    let mut lines = String::new();
    for name in names {
        lines += &format!("{}  {name}\n", file_checksum(&folder.join(&name))?);
    }
    fs::write(folder.join(SUMS), lines)
}

/// Lists the files below a folder, by their relative paths.
fn list(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| {
            let reason = format!("{} is not UTF-8: rename it", name.display());
            io::Error::other(reason)
        })?;
        match entry.path().is_dir() {
            true => list(&entry.path(), &format!("{prefix}{name}/"), names)?,
            false => names.push(format!("{prefix}{name}")),
        }
    }
    Ok(())
}

/// Returns an error if the files of a folder differ from the checksums of
/// [`write_folder_checksums`]. Files that were added later are ignored, and so are folders without
/// checksums.
pub(crate) fn verify_folder_checksums(folder: &Path, way_out: &'static str) -> Result<(), Error> {
    let path = folder.join(SUMS);
    let lines = match fs::read_to_string(&path) {
        Ok(lines) => lines,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(damaged(&path, way_out));
        }
        Err(error) => return Err(Error::io_error_converter(&path, way_out)(error)),
    };
    for line in lines.split_inclusive('\n') {
        let line = line.strip_suffix('\n').and_then(|it| it.split_once("  "));
        let Some((sum, name)) = line.filter(|it| it.0.len() == SUM) else {
            return Err(damaged(&path, way_out));
        };
        open_and_verify_checksum(&folder.join(name), sum, way_out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all versions of `bytes` with one bit flipped.
    fn each_flip(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
        (0..bytes.len() * 8).map(|at| {
            let mut flipped = bytes.to_vec();
            flipped[at / 8] ^= 1 << (at % 8);
            flipped
        })
    }

    #[test]
    fn a_sealed_file_is_read_as_it_was_written_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("study.json");
        let read = || read_checksummed_json_bytes(&path, "{\"study\":", "make it again");
        let json = br#"{"study":{"n":1}}"#;
        let sealed = add_json_checksum(json);
        fs::write(&path, &sealed).unwrap();
        assert_eq!(read().unwrap(), sealed);
        let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(value["study"]["n"], 1);
        // The checksum as another program would compute it.
        let sum = value["sha256"].as_str().unwrap();
        let emptied = String::from_utf8(sealed.clone()).unwrap().replace(sum, "");
        assert_eq!(encode_hex(&Sha256::digest(emptied)), sum);

        for flipped in each_flip(&sealed) {
            fs::write(&path, flipped).unwrap();
            let error = read().unwrap_err().to_string();
            assert!(error.contains("study.json is damaged"), "{error}");
            assert!(error.contains("make it again"), "{error}");
        }
        fs::write(&path, &sealed[..20]).unwrap();
        assert!(read().is_err());
        fs::write(&path, json).unwrap();
        assert_eq!(read().unwrap(), json);
    }

    #[test]
    fn a_file_is_read_again_after_it_was_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("scores");
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let write = |text: &str, modified: SystemTime| {
            fs::write(&path, text).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(modified).unwrap();
        };
        write("one", long_ago);
        let one = file_checksum(&path).unwrap();
        assert!(KNOWN.lock().unwrap().contains_key(&path));
        // The change is not detected with the same time stamp, which shows that the file was not
        // read again.
        write("two", long_ago);
        assert_eq!(file_checksum(&path).unwrap(), one);
        write("two", long_ago + Duration::from_secs(1));
        assert_ne!(file_checksum(&path).unwrap(), one);
        // Recently written files are read each time.
        fs::write(&path, "one").unwrap();
        assert_eq!(file_checksum(&path).unwrap(), one);
        fs::write(&path, "two").unwrap();
        assert_ne!(file_checksum(&path).unwrap(), one);
    }

    /// As on a disk that loses a bit, which has no time stamp.
    #[test]
    fn a_change_without_a_time_stamp_is_found_by_reading_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("scores");
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(long_ago).unwrap();
        };
        write("one");
        let sum = file_checksum(&path).unwrap();
        let reread = || reread_and_verify_checksum(&path, &sum, "make it again", |_| true);
        reread().unwrap();
        write("two");
        assert!(open_and_verify_checksum(&path, &sum, "make it again").is_ok());
        let error = reread().unwrap_err().to_string();
        assert!(error.contains("scores is damaged"), "{error}");
        write("one");
        reread().unwrap();
    }

    #[test]
    fn a_flipped_bit_in_a_folder_names_the_file() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        fs::create_dir(folder.join("runs")).unwrap();
        let check = || verify_folder_checksums(folder, "import it again");
        for name in ["qrels.tsv", "runs/a.run"] {
            fs::write(folder.join(name), "q 0 d 1\n").unwrap();
        }
        check().unwrap();
        write_folder_checksums(folder).unwrap();
        check().unwrap();
        fs::write(folder.join("runs/later.run"), "").unwrap();
        check().unwrap();
        for name in ["qrels.tsv", "runs/a.run", SUMS] {
            let whole = fs::read(folder.join(name)).unwrap();
            for flipped in each_flip(&whole) {
                fs::write(folder.join(name), &flipped).unwrap();
                let error = check().expect_err(name).to_string();
                assert!(error.contains("import it again"), "{name}: {error}");
                // A changed name in the list refers to a file that does not exist.
                assert!(error.contains(name) || name == SUMS, "{name}: {error}");
            }
            fs::write(folder.join(name), whole).unwrap();
        }
        fs::remove_file(folder.join("qrels.tsv")).unwrap();
        let error = check().unwrap_err().to_string();
        assert!(error.contains("qrels.tsv"), "{error}");
    }
}

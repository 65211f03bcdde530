//! SHA-256 of files and folders, to verify downloads and to detect changes.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// SHA-256 of a file, in lower-case hexadecimal digits.
pub(crate) fn file(path: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    add_bytes(&mut hash, path)?;
    Ok(hex(hash))
}

/// SHA-256 over names and contents of all files in the folders, in the order of their paths;
/// a path that does not exist counts as an empty folder.
pub(crate) fn files_below(paths: &[PathBuf]) -> Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for path in &files {
        hash.update(path.to_string_lossy().as_bytes());
        hash.update([0]);
        let n_bytes = add_bytes(&mut hash, path)?;
        hash.update(n_bytes.to_le_bytes());
    }
    Ok(hex(hash))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        let entries = fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
        for entry in entries {
            collect(&entry?.path(), files)?;
        }
    }
    Ok(())
}

fn add_bytes(hash: &mut Sha256, path: &Path) -> Result<u64> {
    let name = || format!("reading {}", path.display());
    let mut file = fs::File::open(path).with_context(name)?;
    let mut buffer = vec![0; 1 << 16];
    let mut n_bytes = 0_u64;
    loop {
        let n_read = file.read(&mut buffer).with_context(name)?;
        if n_read == 0 {
            break;
        }
        n_bytes += n_read as u64;
        hash.update(&buffer[..n_read]);
    }
    Ok(n_bytes)
}

fn hex(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_digest_everyone_computes() {
        let folder = scratch("digest-file");
        fs::write(folder.join("abc"), "abc").unwrap();
        // The first example of FIPS 180-2, appendix B.1.
        assert_eq!(
            file(&folder.join("abc")).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
    }

    #[test]
    fn contents_names_and_borders_count() {
        let folder = scratch("digest-folder");
        let digest = |files: &[(&str, &str)]| {
            let inner = scratch("digest-folder/inner");
            for (name, text) in files {
                fs::write(inner.join(name), text).unwrap();
            }
            files_below(&[inner, folder.join("absent")]).unwrap()
        };
        let before = digest(&[("a", "1"), ("b", "2")]);
        assert_eq!(before, digest(&[("b", "2"), ("a", "1")]));
        assert_ne!(before, digest(&[("a", "1"), ("b", "3")]));
        assert_ne!(before, digest(&[("a", "1"), ("c", "2")]));
        assert_ne!(before, digest(&[("a", "12"), ("b", "")]));
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        folder
    }
}

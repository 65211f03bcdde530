//! Rules about files: names, sizes, and paths that exist on one machine only.

use super::{File, Finding};
use std::path::Path;

/// File names that say nothing about their content.
const EMPTY_NAMES: [&str; 5] = ["mod.rs", "utils.rs", "helpers.rs", "common.rs", "types.rs"];
const MAX_BYTES: u64 = 2_000_000;
/// The same for the weights of a small model.
const MAX_WEIGHTS_BYTES: u64 = 4_000_000;

pub(super) fn check(files: &[File], machine_folders: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if EMPTY_NAMES.contains(&name) {
            findings.push(Finding::at(
                &file.path,
                format!("`{name}` says nothing: name the thing (and `name.rs` beside `name/`)"),
            ));
        }
        let is_weights = file.path.starts_with("models/") && name == "model.safetensors";
        let most = if is_weights {
            MAX_WEIGHTS_BYTES
        } else {
            MAX_BYTES
        };
        if file.n_bytes > most {
            let (n, most) = (file.n_bytes, most / 1_000_000);
            let text = format!("{n} bytes: above {most} MB, must it be in the repository?");
            findings.push(Finding::at(&file.path, text));
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(folder) = machine_folders.iter().find(|it| names_path(line, it)) {
                findings.push(Finding::at_line(
                    &file.path,
                    index + 1,
                    format!("`{folder}` is a path of somebody's machine"),
                ));
            }
        }
    }
    findings
}

/// Returns folders that exist on one machine only: home folders and the checkout itself.
pub(super) fn machine_folders(root: &Path) -> Vec<String> {
    let mut folders: Vec<String> = ["home", "root", "Users"].map(|it| format!("/{it}/")).into();
    folders.push(root.display().to_string());
    if let Ok(home) = std::env::var("HOME")
        && home.len() > 1
    {
        folders.push(home.trim_end_matches('/').to_owned() + "/");
    }
    folders
}

/// Returns whether a path in the line starts with the folder, rather than a URL containing it.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|it| it.is_alphanumeric() || "._-~/}".contains(it))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    #[test]
    fn names_that_say_nothing_are_found() {
        let files = [
            file("shared/src/text/mod.rs", ""),
            file("backend/src/utils.rs", ""),
        ];
        let found = shown(&check(&files, &[]));
        assert!(
            found.contains("shared/src/text/mod.rs: `mod.rs` says nothing"),
            "{found}"
        );
        assert!(
            found.contains("backend/src/utils.rs: `utils.rs` says nothing"),
            "{found}"
        );
        assert_eq!(check(&[file("shared/src/text.rs", "")], &[]), []);
    }

    #[test]
    fn large_files_are_found() {
        let large = File {
            n_bytes: 2_000_001,
            ..file("demo/corpus.jsonl", "")
        };
        let found = shown(&check(&[large], &[]));
        assert!(
            found.starts_with("demo/corpus.jsonl: 2000001 bytes"),
            "{found}"
        );
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let folders = ["/ho".to_owned() + "me/"];
        let text = format!("one\nlet data = \"{}ann/data\";\n", folders[0]);
        let found = shown(&check(&[file("backend/src/main.rs", &text)], &folders));
        assert!(found.starts_with("backend/src/main.rs:2: "), "{found}");
        let address = format!("https://example.org{}page\n", folders[0]);
        assert_eq!(check(&[file("README.md", &address)], &folders), []);
    }
}

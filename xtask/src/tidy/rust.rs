//! Rules about one Rust file: what it must begin with and what it must not contain.

use super::{File, Finding, code};

const MAX_COLUMNS: usize = 100;
const MANY_LINES: usize = 500;

pub(super) fn check(file: &File) -> Vec<Finding> {
    let File { path, text, .. } = file;
    let mut findings = Vec::new();
    // A file of tests says what it is for by its name.
    if !text.starts_with("//!") && !path.ends_with("/tests.rs") {
        let what = "begins without a `//!` line that says what the file is for";
        findings.push(Finding::at_line(path, 1, what));
    }
    let n_lines = text.lines().count();
    if n_lines > MANY_LINES {
        let what = format!("{n_lines} lines: one thing, or two?");
        findings.push(Finding::at(path, what).warning());
    }
    let code = code::mask_source(text);
    for (index, line) in text.lines().enumerate() {
        let n_columns = line.chars().count();
        // rustfmt cannot break a string either, and a test reads best with its whole.
        let only_string = index >= file.first_test_line && line.matches('"').count() >= 2;
        if n_columns > MAX_COLUMNS && !code.continues_string[index] && !only_string {
            let what = format!("{n_columns} columns, above {MAX_COLUMNS}");
            findings.push(Finding::at_line(path, index + 1, what));
        }
        if code.lines[index].contains("#[ignore") {
            let what = "`#[ignore`: a test runs, or is not there";
            findings.push(Finding::at_line(path, index + 1, what));
        }
    }
    findings
}

/// Finds out in each file where its tests begin: the whole file, when the file of a module
/// above declares it for tests only.
pub(super) fn find_tests(files: &mut [File]) {
    let declared: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in files {
        let whole = file.path.starts_with("tests/")
            || file.path.contains("/tests/")
            || file.path.ends_with("/tests.rs")
            || declared.contains(&file.path);
        file.first_test_line = if whole { 0 } else { block_of_tests(&file.text) };
    }
}

/// The paths of the modules that a file declares for tests only.
fn test_modules(file: &File) -> Vec<String> {
    let folder = match file.path.strip_suffix(".rs") {
        Some(path) if path.ends_with("/lib") || path.ends_with("/main") => {
            path.rsplit_once('/').map_or("", |(folder, _)| folder)
        }
        Some(path) => path,
        None => return Vec::new(),
    };
    let modules = after_test_mark(&file.text).filter_map(|(_, line)| {
        let name = line.split("mod ").nth(1)?.strip_suffix(';')?;
        Some(format!("{folder}/{name}.rs"))
    });
    modules.collect()
}

/// The index of the line from which on everything is tests: they close the file.
fn block_of_tests(text: &str) -> usize {
    let block = after_test_mark(text).find(|(_, line)| line.contains('{'));
    block.map_or(usize::MAX, |(index, _)| index)
}

/// The lines that stand below a `#[cfg(test)]`, with their indices.
fn after_test_mark(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let pairs = text.lines().zip(text.lines().skip(1)).enumerate();
    let marked = pairs.filter(|(_, (mark, _))| *mark == "#[cfg(test)]");
    marked.map(|(index, (_, line))| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    fn check_text(path: &str, text: &str) -> Vec<Finding> {
        let mut files = [file(path, text)];
        find_tests(&mut files);
        check(&files[0])
    }

    #[track_caller]
    fn check_one(path: &str, code: &str, expected: &str) {
        let found = shown(&check_text(path, &format!("//! What it is for.\n{code}\n")));
        assert_eq!(found.trim_end(), expected);
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        let found = shown(&check_text("shared/src/rank.rs", "use x;\n"));
        assert!(
            found.starts_with("shared/src/rank.rs:1: begins without"),
            "{found}"
        );
    }

    #[test]
    fn long_lines_are_found() {
        let line = format!("// {}", "é".repeat(98));
        check_one(
            "backend/src/a.rs",
            &line,
            "backend/src/a.rs:2: 101 columns, above 100",
        );
        check_one("backend/src/a.rs", &line[..line.len() - 2], "");
        check_one(
            "backend/src/a.rs",
            &format!("let snapshot = r#\"\n{line}\"#;"),
            "",
        );
    }

    #[test]
    fn long_files_are_looked_at_twice() {
        let findings = check_text("backend/src/a.rs", &"//! Long.\n".repeat(501));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].weight, super::super::Severity::Warning);
    }

    #[test]
    fn tests_that_are_switched_off_are_found() {
        let ignored = "#[ignore = \"slow\"]";
        let found = "backend/src/a.rs:2: `#[ignore`: a test runs, or is not there";
        check_one("backend/src/a.rs", ignored, found);
        check_one("backend/src/a.rs", &format!("say(r#\"{ignored}\"#);"), "");
        check_one("backend/src/a.rs", &format!("let c = 1; // {ignored}"), "");
    }

    #[test]
    fn a_module_for_tests_is_tests() {
        let mut files = [
            file(
                "shared/src/report.rs",
                "//! A.\n#[cfg(test)]\nmod fixture;\n",
            ),
            file(
                "shared/src/lib.rs",
                "//! A.\n#[cfg(test)]\npub(crate) mod golden;\n",
            ),
            file("shared/src/report/fixture.rs", "//! A.\n"),
            file("shared/src/golden.rs", "//! A.\n"),
        ];
        find_tests(&mut files);
        let first = files.map(|it| it.first_test_line);
        assert_eq!(first, [usize::MAX, usize::MAX, 0, 0]);
    }
}

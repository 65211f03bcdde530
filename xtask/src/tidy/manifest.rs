//! Every dependency of the workspace has a reason, and the settings of clippy are complete.

use super::Finding;

/// A reason is a comment at the end of the line. Our own crates need none.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.starts_with("[workspace.dependencies]");
            continue;
        }
        let Some((name, rest)) = line.split_once('=') else {
            continue;
        };
        if !inside || name.starts_with('#') || rest.contains("path = ") {
            continue;
        }
        if comment(rest).is_none() {
            let what = format!("`{}` has no reason: end the line with one", name.trim());
            findings.push(Finding::at_line(path, index + 1, what));
        }
    }
    findings
}

/// What clippy finds only where it is told to: code that is not finished, and a panic without a
/// reason.
const LINTS: [&str; 4] = ["dbg_macro", "todo", "unimplemented", "unwrap_used"];

/// The workspace sets the lints, and each crate takes them over.
pub(super) fn check_lints(path: &str, text: &str) -> Vec<Finding> {
    if !text.contains("[workspace]") {
        let what = "does not take over the workspace's lints";
        let taken = text.contains("[lints]\nworkspace = true");
        return Vec::from_iter((!taken).then(|| Finding::at(path, what)));
    }
    let missing = LINTS.iter().filter(|lint| {
        let set = format!("\n{lint} = \"warn\"");
        !text.contains(&set)
    });
    missing
        .map(|lint| Finding::at(path, format!("does not set clippy's lint `{lint}`")))
        .collect()
}

/// What stands behind the first `#` outside quotes.
fn comment(text: &str) -> Option<&str> {
    let mut quoted = false;
    let at = text.find(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    })?;
    Some(text[at + 1..].trim()).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;

    #[test]
    fn a_dependency_without_reason_is_found() {
        let text = "[workspace.dependencies]\n\
                    shared = { path = \"shared\" }\n\
                    # browser\n\
                    libm = \"0.2\" # the same bits everywhere\n\
                    left-pad = \"1#2\"\n\
                    [profile.dev]\n\
                    opt-level = 1\n";
        assert_eq!(
            shown(&check("Cargo.toml", text)),
            "Cargo.toml:5: `left-pad` has no reason: end the line with one\n",
        );
    }

    #[test]
    fn lints_that_are_not_set_are_found() {
        let all = LINTS.map(|lint| format!("{lint} = \"warn\"\n")).concat();
        let workspace = format!("[workspace]\n[workspace.lints.clippy]\n{all}");
        assert_eq!(check_lints("Cargo.toml", &workspace), []);
        let lacking = workspace.replace("todo", "# todo");
        assert_eq!(
            shown(&check_lints("Cargo.toml", &lacking)),
            "Cargo.toml: does not set clippy's lint `todo`\n",
        );
        let taken = "[package]\n[lints]\nworkspace = true\n";
        assert_eq!(check_lints("shared/Cargo.toml", taken), []);
        assert_eq!(
            shown(&check_lints("shared/Cargo.toml", "[package]\n")),
            "shared/Cargo.toml: does not take over the workspace's lints\n",
        );
    }

    #[test]
    fn clippy_keeps_shared_pure_and_fetching_in_one_file() {
        let shared = include_str!("../../../shared/clippy.toml");
        for path in [
            "HashMap",
            "HashSet",
            "fs::read",
            "env::var",
            "Instant",
            "SystemTime",
        ] {
            assert!(shared.contains(&format!("::{path}\"")), "{path}");
        }
        let frontend = include_str!("../../../frontend/clippy.toml");
        for path in ["http::Request", "Instant::now", "Window::fetch_with_str"] {
            assert!(frontend.contains(&format!("::{path}\"")), "{path}");
        }
        for text in [shared, frontend, include_str!("../../../clippy.toml")] {
            assert!(text.contains("allow-unwrap-in-tests = true"));
        }
    }
}

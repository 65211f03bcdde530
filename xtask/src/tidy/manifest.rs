//! Every dependency of the workspace says why it is one.

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
}

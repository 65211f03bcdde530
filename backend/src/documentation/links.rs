//! Turns the links of files in the repository into links of the site.

use super::VERBATIM_FILES;
use super::pages::PAGES;

/// Finds the addresses that links lead to.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkResolver<'a> {
    /// The path of the site on its host, without a slash at its end.
    pub base: &'a str,
}

impl LinkResolver<'_> {
    /// Returns the address of the target of a link in a file of the repository; none if the target
    /// is not part of the site, as source files are not.
    pub(super) fn resolve(&self, file: &str, target: &str) -> Option<String> {
        if target.starts_with('#') || target.contains("://") || target.starts_with("mailto:") {
            return Some(target.to_owned());
        }
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (target, String::new()),
        };
        let path = join_path(file, path);
        let base = self.base;
        if let Some(page) = PAGES.iter().find(|it| it.file == path) {
            return Some(format!("{base}/docs/{}/{anchor}", page.name));
        }
        // A file outside of `docs/` is published below it.
        let is_published = |it: &&(&str, &str)| it.0.strip_prefix("docs/") == Some(&*path);
        let published = VERBATIM_FILES.iter().find(is_published)?;
        Some(format!("{base}/{}", published.0))
    }
}

/// Returns the path of a file that another file names relative to its own folder.
fn join_path(file: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_files_lead_to_pages() {
        let check = |file: &str, target: &str, expected: Option<&str>| {
            let links = LinkResolver { base: "/some/path" };
            assert_eq!(links.resolve(file, target).as_deref(), expected, "{target}");
        };
        let guide = "docs/guide/rankers.md";
        check(guide, "tutorial.md#x", Some("/some/path/docs/tutorial/#x"));
        check(guide, "../glossary.md", Some("/some/path/docs/glossary/"));
        check(
            "docs/glossary.md",
            "guide/axioms.md",
            Some("/some/path/docs/axioms/"),
        );
        check(
            guide,
            "../../models/README.md",
            Some("/some/path/docs/small-models/"),
        );
        let study = "../../studies/rennings2019-wikiqa.toml";
        let published = "/some/path/docs/studies/rennings2019-wikiqa.toml";
        check(guide, study, Some(published));
        check(guide, "../../CONTRIBUTING.md", None);
        check(guide, "#x", Some("#x"));
        check(guide, "https://a.example/b", Some("https://a.example/b"));
    }
}

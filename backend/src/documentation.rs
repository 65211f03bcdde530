//! The documentation site below `/docs`: the guide, the glossary and the reference of the command
//! line as pages that need no JavaScript, and a search that needs no server.
//!
//! [`PAGES`] lists the pages in their order. [`documentation_files`] makes all files, which the
//! server sends and a static host can hold.

mod pages;
mod command_line;
mod markdown;
mod links;
mod layout;
mod search_index;
#[cfg(test)]
mod tests;

use clap::Command;

use layout::DocumentationSite;
use links::LinkResolver;
use markdown::{RenderedMarkdown, render_markdown};
use pages::{DocumentationPageSource, PAGES};

/// A file of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentationFile {
    /// The path below the root of the site, such as `docs/tutorial/index.html`.
    pub path: String,
    /// The text of the file.
    pub contents: String,
}

/// What answers requests for the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentationHost {
    /// A server of Axioscope, which also describes its API at `/api/docs`.
    Server,
    /// A host of files.
    StaticHost,
}

/// Files that are published as they are.
const VERBATIM_FILES: [(&str, &str); 4] = [
    (
        "docs/icon.svg",
        include_str!("../../frontend/style/icon.svg"),
    ),
    ("docs/script.js", include_str!("documentation/script.js")),
    (
        "docs/studies/rennings2019-cmu-wiki-qa.toml",
        include_str!("../../studies/rennings2019-cmu-wiki-qa.toml"),
    ),
    (
        "docs/studies/rennings2019-wikiqa.toml",
        include_str!("../../studies/rennings2019-wikiqa.toml"),
    ),
];

/// The styles of the pages of the app, and those of the documentation.
const STYLE: &str = concat!(
    include_str!("../../frontend/style/axioscope.css"),
    include_str!("../../frontend/style/pages.css"),
    include_str!("documentation/style.css")
);

/// Returns all files of the documentation.
///
/// `base` is the path of the site on its host, without a slash at its end: empty for a site at the
/// root, or as in `/some/path`. Every link starts with it. The reference describes `command`.
pub(crate) fn documentation_files(
    base: &str,
    host: DocumentationHost,
    command: &Command,
) -> Vec<DocumentationFile> {
    let links = LinkResolver { base };
    let site = DocumentationSite { base, host };
    let rendered: Vec<RenderedMarkdown> = PAGES
        .iter()
        .map(|page| {
            let text = match page.source {
                DocumentationPageSource::Markdown(text) => text.to_owned(),
                DocumentationPageSource::CommandLine => {
                    command_line::describe_command_line(command)
                }
            };
            render_markdown(&text, |target| links.resolve(page.file, target))
        })
        .collect();
    let pages = PAGES.iter().zip(&rendered);
    let mut files = vec![
        file("docs/index.html", layout::overview_page(site)),
        file("docs/search/index.html", layout::search_page(site)),
        file(
            "docs/search.json",
            search_index::search_index(base, pages.clone()),
        ),
        file("docs/style.css", STYLE.to_owned()),
    ];
    files.extend(pages.map(|(page, content)| {
        let path = format!("docs/{}/index.html", page.name);
        file(&path, layout::documentation_page(site, page, content))
    }));
    files.extend(VERBATIM_FILES.map(|(path, text)| file(path, text.to_owned())));
    files
}

/// Returns the paths of the pages of the documentation, the overview first.
pub(crate) fn documentation_paths() -> impl Iterator<Item = String> {
    let pages = PAGES.iter().map(|page| format!("/docs/{}/", page.name));
    std::iter::once("/docs/".to_owned()).chain(pages)
}

fn file(path: &str, contents: String) -> DocumentationFile {
    DocumentationFile {
        path: path.to_owned(),
        contents,
    }
}

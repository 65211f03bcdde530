//! The file that the search of the documentation reads: every section of every page.

use serde::Serialize;

use super::markdown::RenderedMarkdown;
use super::pages::DocumentationPage;

/// A section that the search finds.
#[derive(Debug, Serialize)]
struct SearchableSection<'a> {
    /// The title of the page.
    page: &'a str,
    /// The heading of the section.
    heading: &'a str,
    /// The address of the section.
    href: String,
    /// The text below the heading.
    text: &'a str,
}

/// Returns the sections of the pages as JSON, in the order of the pages.
pub(super) fn search_index<'a>(
    base: &str,
    pages: impl Iterator<Item = (&'a DocumentationPage, &'a RenderedMarkdown)>,
) -> String {
    let sections: Vec<SearchableSection> = pages
        .flat_map(|(page, content)| content.sections.iter().map(move |it| (page, it)))
        .map(|(page, section)| SearchableSection {
            page: page.title,
            heading: &section.heading,
            href: format!("{base}/docs/{}/#{}", page.name, section.anchor),
            text: &section.text,
        })
        .collect();
    serde_json::to_string(&sections).expect("texts are JSON")
}

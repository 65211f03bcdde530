//! The frame around the pages of the documentation: header, search, contents and footer.

use std::fmt::Write;

use shared::report::markup::escape_markup;

use super::DocumentationHost;
use super::markdown::RenderedMarkdown;
use super::pages::{DocumentationPage, DocumentationPart, PAGES};

/// The place of the pages: a path, and what answers requests for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentationSite<'a> {
    /// The path of the site on its host, without a slash at its end.
    pub base: &'a str,
    /// What answers the requests.
    pub host: DocumentationHost,
}

/// The link to the description that a server gives of its own API, and what it leads to.
const API_REFERENCE: (&str, &str) = (
    "Requests and types",
    "Every request to this server and its reply, with an example, from its OpenAPI document.",
);

/// What differs between the pages.
struct PageFrameTexts<'a> {
    title: &'a str,
    description: &'a str,
    /// The page that the contents mark as the current one, with its sections.
    current: Option<(&'a DocumentationPage, &'a RenderedMarkdown)>,
    /// The content, as HTML.
    main: &'a str,
}

impl DocumentationSite<'_> {
    /// Returns whether the list of a part ends with the description that a server gives of its API.
    fn has_api_reference(self, part: DocumentationPart) -> bool {
        part == DocumentationPart::Reference && self.host == DocumentationHost::Server
    }
}

/// Returns a page of the guide.
pub(super) fn documentation_page(
    site: DocumentationSite,
    page: &DocumentationPage,
    content: &RenderedMarkdown,
) -> String {
    let base = site.base;
    let at = PAGES.iter().position(|it| it.name == page.name);
    let neighbor = |at: Option<usize>, rel: &str, label: &str| {
        let Some(page) = at.and_then(|it| PAGES.get(it)) else {
            return String::new();
        };
        format!(
            "<a rel=\"{rel}\" href=\"{base}/docs/{}/\"><span>{label}</span> {}</a>",
            page.name,
            escape_markup(page.title)
        )
    };
    let previous = neighbor(at.and_then(|it| it.checked_sub(1)), "prev", "Previous");
    let next = neighbor(at.map(|it| it + 1), "next", "Next");
    let main = format!(
        "<article>{}</article>\
         <nav class=\"neighbors\" aria-label=\"Previous and next page\">{previous}{next}</nav>",
        content.html
    );
    in_frame(
        site,
        &PageFrameTexts {
            title: page.title,
            description: page.description,
            current: Some((page, content)),
            main: &main,
        },
    )
}

/// Returns the page that lists all others with their descriptions.
pub(super) fn overview_page(site: DocumentationSite) -> String {
    let base = site.base;
    let mut main = String::from(
        "<h1>Documentation</h1><p class=\"lead\">Axioscope shows why a ranker ranks as it does. \
         Start with the tutorial; the other pages answer one question each.</p>",
    );
    for part in DocumentationPart::ALL {
        let _ = write!(main, "<h2>{}</h2><dl class=\"pages\">", part.heading());
        for page in part.pages() {
            let _ = write!(
                main,
                "<dt><a href=\"{base}/docs/{}/\">{}</a></dt><dd>{}</dd>",
                page.name,
                escape_markup(page.title),
                escape_markup(page.description)
            );
        }
        if site.has_api_reference(part) {
            let (title, description) = API_REFERENCE;
            let _ = write!(
                main,
                "<dt><a href=\"{base}/api/docs\">{title}</a></dt><dd>{description}</dd>"
            );
        }
        main.push_str("</dl>");
    }
    in_frame(
        site,
        &PageFrameTexts {
            title: "Documentation",
            description: "Tutorial, how-to guides, reference and explanations of Axioscope.",
            current: None,
            main: &main,
        },
    )
}

/// Returns the page that shows the results of the search.
pub(super) fn search_page(site: DocumentationSite) -> String {
    let base = site.base;
    let main = format!(
        "<h1>Search the documentation</h1>\
         <noscript><p>The search needs JavaScript. Without it, follow the \
         <a href=\"{base}/docs/\">list of all pages</a> and search within a page.</p></noscript>\
         <p id=\"search-status\" role=\"status\"></p>\
         <ol id=\"search-results\" data-index=\"{base}/docs/search.json\"></ol>"
    );
    in_frame(
        site,
        &PageFrameTexts {
            title: "Search",
            description: "Search all sections of the documentation of Axioscope.",
            current: None,
            main: &main,
        },
    )
}

fn in_frame(site: DocumentationSite, page: &PageFrameTexts) -> String {
    let base = site.base;
    let title = match page.title {
        "Documentation" => "Documentation · Axioscope".to_owned(),
        title => format!("{} · Axioscope documentation", escape_markup(title)),
    };
    format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{description}">
<link rel="icon" href="{base}/docs/icon.svg">
<link rel="stylesheet" href="{base}/docs/style.css">
<script src="{base}/docs/script.js"></script>
</head>
<body class="documentation">
<a class="skip" href="#main">Skip to content</a>
<header class="site">
<a class="brand" href="{base}/">
<img src="{base}/docs/icon.svg" width="18" height="18" alt="">
Axioscope
</a>
<nav aria-label="Site">
<a href="{base}/">Studies</a>
<a href="{base}/playground">Playground</a>
<a href="{base}/docs/" aria-current="true">Documentation</a>
</nav>
</header>
<div class="columns">
<div class="side">
<form role="search" action="{base}/docs/search/">
<label class="unseen" for="search">Search the documentation</label>
<input id="search" name="q" type="search" maxlength="200" placeholder="Search" autocomplete="off">
<button class="btn">Search</button>
</form>
<nav class="chapters" aria-label="Documentation">
<details><summary>Contents</summary>{contents}</details>
</nav>
</div>
<main id="main" tabindex="-1">
{main}
</main>
</div>
<footer class="foot"><p>
<a href="{base}/">Axioscope</a> ·
<a href="{base}/docs/">Documentation</a> ·
<a href="{base}/docs/privacy/">Privacy</a>
</p></footer>
</body>
</html>
"##,
        description = escape_markup(page.description),
        contents = contents(site, page),
        main = page.main,
    )
}

/// Returns the list of all pages, with the sections of the current one.
fn contents(site: DocumentationSite, page: &PageFrameTexts) -> String {
    let base = site.base;
    let mut list = String::new();
    for part in DocumentationPart::ALL {
        let _ = write!(list, "<p>{}</p><ul>", part.heading());
        for listed in part.pages() {
            let current = page.current.filter(|it| it.0.name == listed.name);
            let mark = if current.is_some() {
                " aria-current=\"page\""
            } else {
                ""
            };
            let sections = current.map(|it| sections(it.1)).unwrap_or_default();
            let _ = write!(
                list,
                "<li><a href=\"{base}/docs/{}/\"{mark}>{}</a>{sections}</li>",
                listed.name,
                escape_markup(listed.title)
            );
        }
        if site.has_api_reference(part) {
            let _ = write!(
                list,
                "<li><a href=\"{base}/api/docs\">{}</a></li>",
                API_REFERENCE.0
            );
        }
        list.push_str("</ul>");
    }
    list
}

/// Returns links to the sections of the second level; nothing if there are none.
fn sections(content: &RenderedMarkdown) -> String {
    let sections = content.sections.iter().filter(|it| it.level == 2);
    let items: String = sections
        .map(|it| {
            let heading = escape_markup(&it.heading);
            format!("<li><a href=\"#{}\">{heading}</a></li>", it.anchor)
        })
        .collect();
    if items.is_empty() {
        items
    } else {
        format!("<ul>{items}</ul>")
    }
}

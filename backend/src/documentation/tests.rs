use std::collections::{BTreeMap, BTreeSet};

use clap::CommandFactory;

use super::*;
use crate::cli::Cli;
use pages::DocumentationPart;

/// The pages of the site that are not documentation.
const OTHER_PAGES: [&str; 3] = ["/", "/playground", "/api/docs"];

/// Files of the repository that the site does not have; only the text of a link to them is shown.
const UNPUBLISHED: [&str; 8] = [
    "../../CONTRIBUTING.md",
    "../tests/reference/small_models.py",
    "tiny-bert/README.md",
    "tiny-colbert/README.md",
    "tiny-cross-encoder/README.md",
    "tiny-doc2query/README.md",
    "tiny-epic/README.md",
    "tiny-monot5/README.md",
];

fn files(base: &str, host: DocumentationHost) -> BTreeMap<String, String> {
    let files = documentation_files(base, host, &Cli::command());
    let n_files = files.len();
    let by_path: BTreeMap<_, _> = files.into_iter().map(|it| (it.path, it.contents)).collect();
    assert_eq!(by_path.len(), n_files, "two files have one path");
    by_path
}

/// Returns the values of an attribute, with HTML entities as they are.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    let rest = html.split(opening.as_str()).skip(1);
    rest.filter_map(|it| Some(it.split_once('"')?.0)).collect()
}

/// Returns the links of all files that lead to nothing.
fn broken_links(base: &str, host: DocumentationHost) -> Vec<String> {
    let files = files(base, host);
    let mut broken = Vec::new();
    for (path, html) in files.iter().filter(|it| it.0.ends_with(".html")) {
        let targets = ["href", "src", "action", "data-index"].map(|it| attributes(html, it));
        for target in targets
            .into_iter()
            .flatten()
            .filter(|it| !it.contains("://"))
        {
            let (address, anchor) = target.split_once('#').unwrap_or((target, ""));
            let found = match address.strip_prefix(base) {
                _ if address.is_empty() => Some(html),
                Some(page) if OTHER_PAGES.contains(&page) => continue,
                Some(page) => match page.strip_suffix('/') {
                    Some(page) => files.get(&format!("{}/index.html", &page[1..])),
                    None => files.get(&page[1..]),
                },
                None => None,
            };
            let is_there =
                found.is_some_and(|it| anchor.is_empty() || attributes(it, "id").contains(&anchor));
            if !is_there {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    broken
}

#[test]
fn every_link_and_anchor_exists_below_any_path() {
    for base in ["", "/some/path"] {
        for host in [DocumentationHost::Server, DocumentationHost::StaticHost] {
            let broken = broken_links(base, host);
            assert!(broken.is_empty(), "{}", broken.join("\n"));
        }
    }
}

#[test]
fn a_static_host_is_asked_for_files_only() {
    let has_api = |host| {
        let files = files("", host);
        files
            .values()
            .filter(|it| it.contains("href=\"/api/docs\""))
            .count()
    };
    assert_eq!(has_api(DocumentationHost::StaticHost), 0);
    assert!(has_api(DocumentationHost::Server) > PAGES.len());
}

#[test]
fn only_links_to_source_files_are_dropped() {
    let mut dropped = BTreeSet::new();
    let links = LinkResolver { base: "" };
    for page in PAGES {
        if let DocumentationPageSource::Markdown(text) = page.source {
            for event in pulldown_cmark::Parser::new(text) {
                if let pulldown_cmark::Event::Start(pulldown_cmark::Tag::Link { dest_url, .. }) =
                    event
                    && links.resolve(page.file, &dest_url).is_none()
                {
                    dropped.insert(dest_url.into_string());
                }
            }
        }
    }
    assert_eq!(
        dropped.iter().map(String::as_str).collect::<Vec<_>>(),
        UNPUBLISHED
    );
}

#[test]
fn every_file_of_the_guide_is_a_page() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide");
    for file in std::fs::read_dir(guide).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let path = format!("docs/guide/{name}");
        assert!(
            PAGES.iter().any(|it| it.file == path),
            "{path} is not in the table of pages"
        );
    }
}

#[test]
fn pages_have_one_title_an_own_description_and_distinct_anchors() {
    let files = files("", DocumentationHost::Server);
    let mut descriptions = BTreeSet::new();
    for page in PAGES {
        let html = &files[&format!("docs/{}/index.html", page.name)];
        let heading = html
            .split("<h1")
            .nth(1)
            .and_then(|it| it.split_once('>'))
            .unwrap()
            .1;
        assert!(
            heading.starts_with(&format!("{}</h1>", page.title)),
            "{}",
            page.name
        );
        assert_eq!(html.matches("<h1").count(), 1, "{}", page.name);
        let title = format!("<title>{} · Axioscope documentation</title>", page.title);
        assert!(html.contains(&title), "{}", page.name);
        assert!(descriptions.insert(page.description), "{}", page.name);
        assert!(
            html.contains("<meta name=\"description\" content=\""),
            "{}",
            page.name
        );
        assert_eq!(
            html.matches("aria-current=\"page\"").count(),
            1,
            "{}",
            page.name
        );
        let ids = attributes(html, "id");
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "{}",
            page.name
        );
        // The content security policy allows no inline scripts.
        assert_eq!(html.matches("<script").count(), 1, "{}", page.name);
    }
}

#[test]
fn the_parts_follow_each_other_and_so_do_the_pages() {
    let in_parts: Vec<_> = DocumentationPart::ALL
        .into_iter()
        .flat_map(DocumentationPart::pages)
        .map(|it| it.name)
        .collect();
    let listed: Vec<_> = PAGES.iter().map(|it| it.name).collect();
    assert_eq!(in_parts, listed);
    let files = files("/base", DocumentationHost::Server);
    for pair in PAGES.windows(2) {
        let (first, second) = (pair[0].name, pair[1].name);
        let next = format!("rel=\"next\" href=\"/base/docs/{second}/\"");
        assert!(
            files[&format!("docs/{first}/index.html")].contains(&next),
            "{first}"
        );
        let previous = format!("rel=\"prev\" href=\"/base/docs/{first}/\"");
        assert!(
            files[&format!("docs/{second}/index.html")].contains(&previous),
            "{second}"
        );
    }
}

#[test]
fn the_reference_has_every_command() {
    fn names(command: &Command) -> Vec<String> {
        let below = command
            .get_subcommands()
            .filter(|it| it.get_name() != "help" && !it.is_hide_set());
        let below = below.flat_map(names);
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        std::iter::once(name).chain(below).collect()
    }
    let mut command = Cli::command();
    command.build();
    let names = names(&command);
    assert!(names.len() > 30, "{names:?}");
    let html = &files("", DocumentationHost::Server)["docs/command-line/index.html"];
    for name in &names[1..] {
        assert!(
            html.contains(&format!("id=\"{}\"", name.replace(' ', "-"))),
            "{name}"
        );
    }
    assert!(html.contains("<code>--security-contact &lt;URI&gt;</code>"));
    assert!(html.contains("<code>AXIOSCOPE_SECURITY_CONTACT</code>"));
}

#[test]
fn the_search_has_every_section() {
    let files = files("/base", DocumentationHost::StaticHost);
    let sections: Vec<serde_json::Value> =
        serde_json::from_str(&files["docs/search.json"]).unwrap();
    let headings: usize = PAGES
        .iter()
        .map(|it| &files[&format!("docs/{}/index.html", it.name)])
        .map(|it| ["<h1", "<h2", "<h3", "<h4"].map(|mark| it.matches(mark).count()))
        .map(|it| it.into_iter().sum::<usize>())
        .sum();
    assert_eq!(sections.len(), headings);
    let found = sections.iter().find(|it| it["heading"] == "TFC1").unwrap();
    assert_eq!(found["page"], "Glossary");
    assert_eq!(found["href"], "/base/docs/glossary/#tfc1");
    assert!(found["text"].as_str().unwrap().len() > 20);
}

//! The sitemap (sitemaps.org, version 0.9) and the feed of studies (Atom, RFC 4287).

use std::fmt::Write;

use shared::report::markup::escape_markup;
use shared::report::study_summary_finding;
use shared::site::study_page_paths;
use shared::study::overview::StudySummary;

use super::study_page::study_path;
use crate::documentation::documentation_paths;

/// The pages besides those of studies that search engines should show.
const PAGES: [&str; 5] = [
    "/",
    "/playground/",
    "/workbench/",
    "/reproductions/",
    "/about/",
];

/// The pages of a study with nothing to show without parameters.
const WITH_PARAMETERS: [&str; 2] = ["/instances/", "/instance/"];

/// Returns the sitemap; `address` makes a URL of a path of the site.
pub(super) fn sitemap(summaries: &[StudySummary], address: &dyn Fn(&str) -> String) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                   <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        .to_owned();
    let mut add = |path: &str, changed: Option<&str>| {
        let location = escape_markup(&address(path));
        let changed = changed.map(|it| format!("<lastmod>{}</lastmod>", escape_markup(it)));
        let changed = changed.unwrap_or_default();
        let _ = writeln!(out, "<url><loc>{location}</loc>{changed}</url>");
    };
    for page in PAGES
        .into_iter()
        .map(str::to_owned)
        .chain(documentation_paths())
    {
        add(&page, None);
    }
    for summary in summaries {
        let paths = study_page_paths(&summary.name);
        for path in paths.filter(|path| !WITH_PARAMETERS.iter().any(|it| path.ends_with(it))) {
            add(&path, Some(&summary.created));
        }
    }
    out + "</urlset>\n"
}

/// Returns the feed, whose entries are the studies in the order of `summaries`.
pub(super) fn feed(summaries: &[StudySummary], address: &dyn Fn(&str) -> String) -> String {
    let [home, feed] = ["/", "/feed.xml"].map(|it| escape_markup(&address(it)));
    let newest = summaries.iter().map(|it| it.created.as_str()).max();
    let newest = escape_markup(newest.unwrap_or("1970-01-01"));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>Axioscope: studies</title>\n<id>{home}</id>\n<updated>{newest}T00:00:00Z</updated>\n\
         <author><name>Axioscope</name></author>\n\
         <link href=\"{home}\"/>\n<link rel=\"self\" href=\"{feed}\"/>\n"
    );
    for summary in summaries {
        let url = escape_markup(&address(&study_path(&summary.name)));
        let finding = study_summary_finding(summary).unwrap_or_default();
        let description = format!("{finding} {}", summary.description);
        let [title, description, created] =
            [&summary.title, &description, &summary.created].map(|it| escape_markup(it.trim()));
        let _ = writeln!(
            out,
            "<entry><title>{title}</title><id>{url}</id><link href=\"{url}\"/>\
             <updated>{created}T00:00:00Z</updated><summary>{description}</summary></entry>"
        );
    }
    out + "</feed>\n"
}

//! What a reader without JavaScript, a search engine or an archive sees of a study.

use std::fmt::Write;

use shared::first_paint::{HOME_HEADING, HOME_LEAD};
use shared::plot::{self, FigureTheme};
use shared::report::markup::escape_markup;
use shared::report::{
    most_violated_axioms_finding, study_summary_finding, study_tables, table_to_html,
};
use shared::study::overview::{StudyOverview, StudySummary};

/// The tables that are for readers; the others repeat them for programs.
const TABLES: [&str; 4] = ["fractions", "axioms", "rankers", "stability"];

/// The files with the heat map in both themes.
const HEATMAPS: [(&str, FigureTheme); 2] = [
    ("heatmap.svg", FigureTheme::Light),
    ("heatmap-dark.svg", FigureTheme::Dark),
];

/// Returns the path of a study's own page.
pub(super) fn study_path(name: &str) -> String {
    format!("/studies/{name}/")
}

/// Returns the heat map of a study as files, with their names.
pub(super) fn heatmap_files(overview: &StudyOverview) -> [(&'static str, String); 2] {
    let figure = plot::draw_study_heatmap_figure(overview);
    HEATMAPS.map(|(file, theme)| (file, plot::figure_to_svg(&figure, theme)))
}

/// Returns what the picture of a study shows.
pub(super) fn picture_text(summary: &StudySummary) -> String {
    plot::draw_heatmap_thumbnail(summary).alt_text
}

/// Returns the description of a study, its heat map and its tables as HTML; `address` makes an
/// address of a path of the site.
pub(super) fn readable_study(overview: &StudyOverview, address: &dyn Fn(&str) -> String) -> String {
    let mut out = format!(
        "<p><a href=\"{}\">See all studies</a></p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
        escape_markup(&address("/")),
        escape_markup(&overview.title),
        escape_markup(&overview.description)
    );
    if let Some(finding) = most_violated_axioms_finding(overview) {
        let _ = writeln!(out, "<p>{}</p>", escape_markup(&finding));
    }
    let [light, dark] = HEATMAPS.map(|(file, _)| {
        let path = format!("{}{file}", study_path(&overview.name));
        escape_markup(&address(&path))
    });
    let alt = plot::draw_study_heatmap_figure(overview).alt_text;
    let _ = writeln!(
        out,
        "<figure><picture><source srcset=\"{dark}\" media=\"(prefers-color-scheme: dark)\">\
         <img src=\"{light}\" alt=\"{}\"></picture></figure>",
        escape_markup(&alt)
    );
    let tables = study_tables(overview).into_iter();
    for table in tables.filter(|it| TABLES.contains(&&*it.name)) {
        out += &table_to_html(&table);
    }
    out + "<p>The instances, figures and comparisons of this study need JavaScript.</p>\n"
}

/// Returns a link to the page of a study that can be read without JavaScript.
pub(super) fn link_to_study(summary: &StudySummary, address: &dyn Fn(&str) -> String) -> String {
    format!(
        "<p>This page needs JavaScript. <a href=\"{}\">The tables of {}</a> need none.</p>\n",
        escape_markup(&address(&study_path(&summary.name))),
        escape_markup(&summary.title)
    )
}

/// Returns the list of all studies.
pub(super) fn readable_list(
    summaries: &[StudySummary],
    address: &dyn Fn(&str) -> String,
) -> String {
    let [heading, lead] = [HOME_HEADING, HOME_LEAD].map(escape_markup);
    let mut out =
        format!("<h1>{heading}</h1>\n<p class=\"lead\">{lead}</p>\n<h2>Studies</h2>\n<ul>\n");
    for summary in summaries {
        let _ = writeln!(
            out,
            "<li><a href=\"{}\">{}</a> ({}). {} {}</li>",
            escape_markup(&address(&study_path(&summary.name))),
            escape_markup(&summary.title),
            escape_markup(&summary.created),
            escape_markup(&study_summary_finding(summary).unwrap_or_default()),
            escape_markup(&summary.description)
        );
    }
    out + "</ul>\n<p>All other pages need JavaScript.</p>\n"
}

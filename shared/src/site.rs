//! What a static site and its pages agree on: where the pages are, and which of them are files.

use crate::reproduce::ReproduciblePaper;

/// The attribute of the root element with the path below which the pages are, without a slash at
/// its end.
pub const BASE_PATH_ATTRIBUTE: &str = "data-base-path";

/// The attribute of the root element of pages whose host has only files.
pub const STATIC_HOST_ATTRIBUTE: &str = "data-static-host";

/// The pages that are not about a study.
const PAGES: [&str; 13] = [
    "/",
    "/studies/",
    "/reproductions/",
    "/compare-studies/",
    "/playground/",
    "/workbench/",
    "/trainings/",
    "/annotation/tasks/",
    "/annotation/tasks/new/",
    "/join/",
    "/people/",
    "/operator/",
    "/about/",
];

/// The pages of a study, below its address. Those of an instance and of lists of instances have
/// their values in the query string.
const STUDY_PAGES: [&str; 10] = [
    "",
    "figures/",
    "late-interaction/",
    "compare/",
    "behavioral-tests/",
    "human-judgments/",
    "reproducibility/",
    "trial/",
    "instances/",
    "instance/",
];

/// Returns the paths of the pages of a static site that are not about a study.
pub fn page_paths() -> Vec<String> {
    let tables = ReproduciblePaper::ALL.iter().flat_map(|paper| {
        let numbers = paper.reproducible_table_numbers().iter();
        numbers.map(move |table| format!("/reproductions/{}/tables/{table}/", paper.short_name()))
    });
    let pages = PAGES.iter().map(|it| (*it).to_owned());
    pages.chain(tables).collect()
}

/// Returns the paths of the pages of a study; its own page is the first.
pub fn study_page_paths(study: &str) -> impl Iterator<Item = String> {
    STUDY_PAGES
        .iter()
        .map(move |page| format!("/studies/{study}/{page}"))
}

//! The addresses that pages had before. They were cited and shared, so they lead to the page.

use shared::reproduce::ReproduciblePaper;

use crate::routes::{PageRoute, PathValues, escape, parse_parameters, query_string};
use crate::site_host::{SiteHost, site_address};

/// An address that a page had: its old path, its present path, and the parameters with other names.
/// The present path may contain parameters; values of the old path that it does not contain are
/// parameters.
type OldAddress = (&'static str, &'static str, &'static [Renaming]);

/// The old and the present name of a parameter.
type Renaming = (&'static str, &'static str);

/// The parameters of the controls, and those of a list of instances.
const LIST: &[Renaming] = &[
    ("mode", "variant"),
    ("delta", "length_tolerance"),
    ("tie", "tie_threshold"),
    ("only", "subset"),
    ("q", "query_filter"),
    ("from", "min_margin"),
    ("to", "max_margin"),
    ("at", "position"),
];

const STUDY: &[Renaming] = &[
    ("mode", "variant"),
    ("delta", "length_tolerance"),
    ("tie", "tie_threshold"),
    ("only", "subset"),
    ("show", "view"),
    ("width", "test_tie_threshold"),
    ("of", "documents"),
    ("ranker", "matrix_ranker"),
    ("against", "reference"),
];

const COMPARISON: &[Renaming] = &[
    ("queries", "subset"),
    ("from", "min_relevant_grade"),
    ("stop", "stopwords"),
    ("of", "selection"),
    ("part", "page"),
];

/// The parameters of the Playground, whose path is the old one.
pub(crate) const PLAYGROUND: &[Renaming] = &[
    ("text1", "doc1"),
    ("text2", "doc2"),
    ("text3", "doc3"),
    ("axiom", "probe"),
    ("mode", "variant"),
    ("delta", "length_tolerance"),
];

/// The parameters of the Workbench, whose path is the old one.
pub(crate) const WORKBENCH: &[Renaming] = &[
    ("k", "depth"),
    ("modes", "variants"),
    ("delta", "length_tolerance"),
    ("per_query", "max_per_query"),
    ("n_queries", "max_queries"),
    ("of", "instances"),
];

/// Every old address. The first one that leads to a page is used.
const OLD_ADDRESSES: &[OldAddress] = &[
    ("/study/:study", "/studies/:study", STUDY),
    ("/study/:study/figures", "/studies/:study/figures", STUDY),
    (
        "/study/:study/behaviours",
        "/studies/:study/behavioral-tests",
        STUDY,
    ),
    ("/study/:study/said", "/studies/:study/human-judgments", &[]),
    (
        "/study/:study/inside",
        "/studies/:study/late-interaction/:ranker",
        &[("word", "term")],
    ),
    (
        "/study/:study/inside",
        "/studies/:study/late-interaction",
        &[("word", "term")],
    ),
    (
        "/study/:study/differ",
        "/studies/:study/compare",
        COMPARISON,
    ),
    (
        "/study/:study/:probe/:ranker",
        "/studies/:study/rankers/:ranker/probes/:probe/instances",
        LIST,
    ),
    (
        "/study/:study/:probe/:variant/instance/:number",
        "/studies/:study/probes/:probe/instances/:number",
        LIST,
    ),
    ("/replay", "/reproductions/:paper/tables/:table", &[]),
    ("/replay", "/reproductions", &[]),
    ("/review", "/annotation/tasks", &[]),
    ("/review/new", "/annotation/tasks/new", &[]),
    ("/review/try/:study", "/studies/:study/trial", &[]),
    ("/review/:task", "/annotation/tasks/:task", &[]),
    (
        "/review/:task/curate",
        "/annotation/tasks/:task/curate",
        &[("part", "tab")],
    ),
];

/// The values of parameters that were written in another way: the present name of the parameter,
/// the old value and the present one.
const VALUES: &[(&str, &str, &str)] = &[
    ("subset", "whole", "untruncated"),
    ("subset", "relevant", "with-relevant"),
    ("subset", "found", "with-retrieved-relevant"),
    ("sort", "margin-up", "margin-ascending"),
    ("sort", "margin-down", "margin-descending"),
    ("sort", "closest", "absolute-margin"),
];

/// Returns the present address of a page with a path and a query string that it had before; none if
/// no page had this path, or if it would lead to no page.
pub(crate) fn present_address(path: &str, search: &str) -> Option<String> {
    let path = SiteHost::current().path_below_base(path)?;
    let path = path.strip_suffix('/').unwrap_or(path);
    OLD_ADDRESSES.iter().find_map(|(old, new, renamings)| {
        let PathValues(values) = PathValues::match_path(old, path)?;
        let values = values.into_iter().map(|(name, it)| (name.to_owned(), it));
        let parameters = parse_parameters(search).into_iter();
        let parameters = parameters.flat_map(|(name, value)| present(renamings, &name, value));
        let values: Vec<(String, String)> = values.chain(parameters).collect();
        let address = fill(new, values.clone()).filter(|it| is_page_address(it));
        address.or_else(|| fill(new, with_last_table(new, values)?))
    })
}

/// Returns whether the path of an address is that of a page.
fn is_page_address(address: &str) -> bool {
    let path = address.split('?').next().unwrap_or_default();
    PageRoute::parse(path, "").is_some()
}

/// Returns the values with the last table of their paper, which is shown in place of a table that
/// is missing or unknown; none if the address has no table, or the paper is unknown.
fn with_last_table(
    pattern: &str,
    mut values: Vec<(String, String)>,
) -> Option<Vec<(String, String)>> {
    if !pattern.ends_with("/:table") {
        return None;
    }
    let paper = values.iter().find(|it| it.0 == "paper")?;
    let paper: ReproduciblePaper = paper.1.parse().ok()?;
    let table = paper.reproducible_table_numbers().last()?;
    values.retain(|it| it.0 != "table");
    values.push(("table".to_owned(), table.to_string()));
    Some(values)
}

/// Returns the lookup of parameters by their present names in an address that may have old ones.
pub(crate) fn with_old_names(
    renamings: &'static [Renaming],
    get: impl Fn(&str) -> Option<String>,
) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let old = renamings.iter().find(|it| it.1 == name);
        get(name).or_else(|| get(old?.0))
    }
}

/// Returns the present names and values of a parameter.
fn present(renamings: &[Renaming], name: &str, value: String) -> Vec<(String, String)> {
    let split = |parts: Option<(&str, &str)>, names: [&str; 2]| {
        let parts = parts.into_iter().flat_map(|(a, b)| [a, b]);
        let named = names.into_iter().zip(parts);
        named
            .map(|(name, it)| (name.to_owned(), it.to_owned()))
            .collect()
    };
    match name {
        "cell" => return split(value.split_once('.'), ["probe", "ranker"]),
        "behaviour" => return split(value.rsplit_once('.'), ["test", "test_ranker"]),
        _ => {}
    }
    let renamed = renamings.iter().find(|it| it.0 == name);
    let name = renamed.map_or(name, |it| it.1);
    let same = VALUES.iter().find(|it| (it.0, it.1) == (name, &*value));
    let value = match (name, same) {
        (_, Some((_, _, value))) => (*value).to_owned(),
        // Pages were counted from 0.
        ("page", None) => value
            .parse::<u64>()
            .map_or(value, |it| it.saturating_add(1).to_string()),
        _ => value,
    };
    vec![(name.to_owned(), value)]
}

/// Returns the address with the values in the path, and the others as parameters; none if a value
/// of the path is missing.
fn fill(pattern: &str, mut values: Vec<(String, String)>) -> Option<String> {
    let mut address = String::new();
    for part in pattern.split('/').skip(1) {
        address.push('/');
        match part.strip_prefix(':') {
            Some(name) => {
                let at = values
                    .iter()
                    .position(|it| it.0 == name && !it.1.is_empty())?;
                address.push_str(&escape(&values.remove(at).1));
            }
            None => address.push_str(part),
        }
    }
    Some(site_address(&address) + &query_string(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_old_address_leads_to_its_page() {
        for (old, new) in [
            ("/study/demo", "/studies/demo"),
            ("/study/demo/", "/studies/demo"),
            ("/study/a%20b", "/studies/a%20b"),
            (
                "/study/demo?mode=code&delta=4&tie=0.05&only=relevant&split=dev&show=table",
                "/studies/demo?variant=code&length_tolerance=4&tie_threshold=0.05\
                 &subset=with-relevant&split=dev&view=table",
            ),
            ("/study/demo?only=whole", "/studies/demo?subset=untruncated"),
            (
                "/study/demo?cell=tfc1.2",
                "/studies/demo?probe=tfc1&ranker=2",
            ),
            (
                "/study/demo?cell=mtdc.relevance",
                "/studies/demo?probe=mtdc&ranker=relevance",
            ),
            (
                "/study/demo?width=0.25&ranker=2&of=not-relevant\
                 &behaviour=match%3Alength~0.5%3Arelevance.3",
                "/studies/demo?test_tie_threshold=0.25&matrix_ranker=2&documents=not-relevant\
                 &test=match%3Alength~0.5%3Arelevance&test_ranker=3",
            ),
            (
                "/study/demo/figures?split=dev&against=1&measure=2",
                "/studies/demo/figures?split=dev&reference=1&measure=2",
            ),
            (
                "/study/demo/behaviours?width=0",
                "/studies/demo/behavioral-tests?test_tie_threshold=0",
            ),
            ("/study/demo/said", "/studies/demo/human-judgments"),
            ("/study/demo/inside", "/studies/demo/late-interaction"),
            (
                "/study/demo/inside?ranker=1&word=c%2B%2B&query=0&doc=d%201",
                "/studies/demo/late-interaction/1?term=c%2B%2B&query=0&doc=d%201",
            ),
            (
                "/study/demo/differ?a=2&b=run%3Aa.run&queries=found&from=2&stop=none&part=3\
                 &sort=loss",
                "/studies/demo/compare?a=2&b=run%3Aa.run&subset=with-retrieved-relevant\
                 &min_relevant_grade=2&stopwords=none&page=4&sort=loss",
            ),
            (
                "/study/demo/differ?of=begins.what%20is&query=q1",
                "/studies/demo/compare?selection=begins.what%20is&query=q1",
            ),
            (
                "/study/demo/tp/3?outcome=violated&q=ice%20%26%20snow&from=-2.5&to=1&sort=closest",
                "/studies/demo/rankers/3/probes/tp/instances?outcome=violated\
                 &query_filter=ice%20%26%20snow&min_margin=-2.5&max_margin=1&sort=absolute-margin",
            ),
            (
                "/study/demo/match%3Alength%3Arelevance/paper/instance/0?ranker=1&at=7&tie=0",
                "/studies/demo/probes/match%3Alength%3Arelevance/instances/0?variant=paper&ranker=1\
                 &position=7&tie_threshold=0",
            ),
            ("/replay", "/reproductions"),
            (
                "/replay?paper=rennings2019&table=1&study=demo",
                "/reproductions/rennings2019/tables/1?study=demo",
            ),
            ("/replay?study=demo", "/reproductions?study=demo"),
            (
                "/replay?paper=rennings2019",
                "/reproductions/rennings2019/tables/2",
            ),
            (
                "/replay?paper=camara2020&table=99&study=demo",
                "/reproductions/camara2020/tables/3?study=demo",
            ),
            ("/review", "/annotation/tasks"),
            ("/review/new?study=demo", "/annotation/tasks/new?study=demo"),
            ("/review/7", "/annotation/tasks/7"),
            ("/review/7/curate", "/annotation/tasks/7/curate"),
            (
                "/review/7/curate?part=results",
                "/annotation/tasks/7/curate?tab=results",
            ),
            ("/review/try/demo?seed=7", "/studies/demo/trial?seed=7"),
        ] {
            let (path, search) = old.split_once('?').unwrap_or((old, ""));
            assert_eq!(present_address(path, search).as_deref(), Some(new), "{old}");
            let (path, search) = new.split_once('?').unwrap_or((new, ""));
            assert!(PageRoute::parse(path, "").is_some(), "{new}");
            assert_eq!(present_address(path, search), None, "{new}");
        }
        for present in [
            "/",
            "/about",
            "/join",
            "/workbench",
            "/nothing",
            "/review/7/x/y",
            "/review/x",
            "/study",
            "/study/demo/nothing/0",
            "/study/demo/tfc1/fixed/instance/x",
        ] {
            assert_eq!(present_address(present, ""), None, "{present}");
        }
    }
}

use super::*;
use shared::probe::Axiom;
use shared::site::{page_paths, study_page_paths};

fn study() -> String {
    "demo".to_owned()
}

/// An example of each page, and its path on a server.
fn pages_and_paths() -> Vec<(PageRoute, &'static str)> {
    let (probe, task) = (Probe::Axiom(Axiom::Tfc1), TaskId(7));
    let test: Probe = "match:length:relevance".parse().unwrap();
    let table = PaperTable {
        paper: ReproduciblePaper::Camara2020,
        table: 3,
    };
    vec![
        (PageRoute::Studies, "/"),
        (PageRoute::Study { study: study() }, "/studies/demo"),
        (
            PageRoute::Figures { study: study() },
            "/studies/demo/figures",
        ),
        (
            PageRoute::LateInteraction {
                study: study(),
                ranker: None,
            },
            "/studies/demo/late-interaction",
        ),
        (
            PageRoute::LateInteraction {
                study: study(),
                ranker: Some("minilm-late".to_owned()),
            },
            "/studies/demo/late-interaction/minilm-late",
        ),
        (
            PageRoute::CompareRankers { study: study() },
            "/studies/demo/compare",
        ),
        (
            PageRoute::BehavioralTests { study: study() },
            "/studies/demo/behavioral-tests",
        ),
        (
            PageRoute::HumanJudgments { study: study() },
            "/studies/demo/human-judgments",
        ),
        (
            PageRoute::Reproducibility { study: study() },
            "/studies/demo/reproducibility",
        ),
        (PageRoute::Trial { study: study() }, "/studies/demo/trial"),
        (
            PageRoute::Instances {
                study: study(),
                probe,
                ranker: "bm25".to_owned(),
            },
            "/studies/demo/rankers/bm25/probes/tfc1/instances",
        ),
        (
            PageRoute::Instance {
                study: study(),
                probe: test,
                number: 0,
            },
            "/studies/demo/probes/match%3Alength%3Arelevance/instances/0",
        ),
        (PageRoute::Reproductions { table: None }, "/reproductions"),
        (
            PageRoute::Reproductions { table: Some(table) },
            "/reproductions/camara2020/tables/3",
        ),
        (PageRoute::CompareStudies, "/compare-studies"),
        (PageRoute::Playground, "/playground"),
        (PageRoute::Workbench, "/workbench"),
        (PageRoute::Trainings, "/trainings"),
        (
            PageRoute::Training {
                training: "my-drmm".to_owned(),
            },
            "/trainings/my-drmm",
        ),
        (PageRoute::ReviewTasks, "/annotation/tasks"),
        (PageRoute::NewTask, "/annotation/tasks/new"),
        (PageRoute::AnnotateTask { task }, "/annotation/tasks/7"),
        (PageRoute::CurateTask { task }, "/annotation/tasks/7/curate"),
        (PageRoute::Join, "/join"),
        (PageRoute::People, "/people"),
        (PageRoute::Operator, "/operator"),
        (PageRoute::About, "/about"),
        (
            PageRoute::AxiomExample { axiom: probe },
            "/about/axioms/tfc1",
        ),
    ]
}

#[test]
fn every_page_is_found_where_it_says_it_is() {
    let pages = pages_and_paths();
    // The list of studies has a second address, and so have the two pages with instances.
    assert_eq!(PageRoute::parse("/studies", ""), Some(PageRoute::Studies));
    assert_eq!(pages.len() + 3, ROUTES.len());
    for (page, path) in pages {
        assert_eq!(page.href(), path);
        assert_eq!(PageRoute::parse(path, ""), Some(page.clone()));
        let slash = format!("{}/", path.trim_end_matches('/'));
        assert_eq!(PageRoute::parse(&slash, ""), Some(page));
    }
    for none in [
        "",
        "/annotation",
        "/annotation/tasks/x",
        "/annotation/tasks/7/curate/8",
        "/join/7",
        "/studies/demo/rankers/bm25/probes/nothing/instances",
        "/studies/demo/probes/tfc1/instances/x",
        "/reproductions/camara2020/tables/99",
        "/study",
        "/study/demo",
        "/studies/demo/rankers/bm25/probes/tfc1",
        "/studies/demo/probes/nothing/instances/0",
    ] {
        assert_eq!(PageRoute::parse(none, ""), None, "{none}");
    }
}

#[test]
fn a_host_of_files_has_a_file_for_every_page_that_needs_no_server() {
    let none = || None::<(&str, String)>;
    let files: Vec<String> = page_paths()
        .into_iter()
        .chain(study_page_paths("demo"))
        .collect();
    let mut n_reached = 0;
    for base_path in ["", "/some/path"] {
        let base_path = base_path.to_owned();
        let host = SiteHost {
            base_path,
            has_only_files: true,
        };
        for (page, _) in pages_and_paths() {
            let of_server = matches!(
                page,
                PageRoute::Training { .. }
                    | PageRoute::AnnotateTask { .. }
                    | PageRoute::CurateTask { .. }
            );
            let example = matches!(page, PageRoute::AxiomExample { .. });
            let address = page.href_on(&host, none());
            let (path, search) = address.split_once('?').unwrap_or((&address, ""));
            assert_eq!(
                PageRoute::parse_on(&host, path, search),
                Some(page),
                "{address}"
            );
            let file = path.strip_prefix(&host.base_path).unwrap().to_owned();
            assert_eq!(files.contains(&file), !of_server && !example, "{address}");
            n_reached += usize::from(files.contains(&file));
        }
        let page = PageRoute::Instance {
            study: study(),
            probe: "match:length:relevance".parse().unwrap(),
            number: 7,
        };
        assert_eq!(
            page.href_on(&host, [("ranker", "bm25".to_owned())]),
            host.address(
                "/studies/demo/instance/?probe=match%3Alength%3Arelevance&number=7&ranker=bm25"
            )
        );
    }
    // Each file but those of the other tables is the page of an example.
    let n_tables = files.iter().filter(|it| it.contains("/tables/")).count();
    let n_files = files
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    assert!(n_reached >= n_files - n_tables, "{n_reached} of {n_files}");
}

#[test]
fn addresses_elsewhere_on_a_host_are_no_pages_of_the_site() {
    let host = SiteHost {
        base_path: "/some/path".to_owned(),
        has_only_files: true,
    };
    let at = |path: &str| PageRoute::parse_on(&host, path, "");
    assert_eq!(at("/some/path"), Some(PageRoute::Studies));
    assert_eq!(at("/some/path/"), Some(PageRoute::Studies));
    assert_eq!(at("/some/path/about/"), Some(PageRoute::About));
    for elsewhere in ["/", "/about", "/some/pathabout", "/some"] {
        assert_eq!(at(elsewhere), None, "{elsewhere}");
    }
}

#[test]
fn a_page_below_another_belongs_to_it() {
    assert!(PageRoute::ReviewTasks.contains("/annotation/tasks/7"));
    assert!(PageRoute::ReviewTasks.contains("/people"));
    assert!(!PageRoute::ReviewTasks.contains("/peoples"));
    assert!(PageRoute::Trainings.contains("/trainings/my-drmm"));
    let reproductions = PageRoute::Reproductions { table: None };
    assert!(!PageRoute::ReviewTasks.contains("/reproductions"));
    assert!(reproductions.contains("/reproductions/camara2020/tables/3"));
    let page = PageRoute::Instances {
        study: study(),
        probe: Probe::Axiom(Axiom::Tfc1),
        ranker: "bm25".to_owned(),
    };
    assert!(PageRoute::Studies.contains(&page.href()));
    assert!(!PageRoute::About.contains(&page.href()));
}

#[test]
fn a_page_stays_mounted_for_another_instance_or_ranker() {
    let stays = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|it| PageRoute::parse(it, "").unwrap());
        from.stays_mounted_for(&to)
    };
    let instance = "/studies/demo/probes/tfc1/instances/0";
    assert!(stays(instance, "/studies/demo/probes/tp/instances/3"));
    assert!(!stays(instance, "/studies/demo"));
    let analysis = "/studies/demo/late-interaction";
    assert!(stays(
        analysis,
        "/studies/demo/late-interaction/minilm-late"
    ));
    assert!(stays(
        "/studies/demo/late-interaction/minilm-late",
        analysis
    ));
    assert!(!stays(analysis, "/studies/other/late-interaction"));
    assert!(!stays(analysis, instance));
}

#[test]
fn reserved_characters_are_escaped() {
    assert_eq!(unescape("match%3Alength"), "match:length");
    assert_eq!(unescape("100%"), "100%");
    let parameters = parse_parameters("?a=x+%2B&b&c=1=2&");
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|it| (&*it.0, &*it.1)).collect();
    assert_eq!(parameters, [("a", "x +"), ("b", ""), ("c", "1=2")]);
    assert_eq!(escape("c++ ~_.-"), "c%2B%2B%20~_.-");
    let parameters = [("query_filter", "ice & snow=1"), ("a b", "it's (x)!*")];
    let parameters = parameters.map(|(name, it)| (name, it.to_owned()));
    let text = query_string(parameters.clone());
    assert_eq!(
        text,
        "?query_filter=ice%20%26%20snow%3D1&a%20b=it%27s%20%28x%29%21%2A"
    );
    let parsed = parse_parameters(&text);
    let parsed = parsed.iter().map(|it| (&*it.0, it.1.clone()));
    assert!(parsed.eq(parameters));
    assert_eq!(query_string(None::<(&str, String)>), "");
}

//! A static site below a path of a file server that knows nothing of its pages, in two browser
//! engines.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::front_end;
use super::static_server::StaticServer;
use super::tab::with_tab;
use super::webkit::WebKitTab;
use crate::harness::{TestHome, demo_folder, study_file, study_lines};

const BASE: &str = "/some/path";

/// The addresses of the site to which the page links, without their fragments.
const LINKS: &str = "return [...document.querySelectorAll('a[href]')]
    .map(it => new URL(it.href))
    .filter(it => it.origin === location.origin)
    .map(it => it.pathname + it.search)";

/// Whether the page has its content.
const IS_READY: &str = "return document.querySelector('main h1') !== null
    && document.querySelector('main :is(.waiting, .loading, .until, .waits)') === null
    && document.getElementById('first-paint') === null
    && document.readyState === 'complete'";

/// Keeps what a page says of errors, in `errors`.
const COLLECT_ERRORS: &str = "window.errors = [];
    addEventListener('securitypolicyviolation', it => errors.push(it.violatedDirective));
    addEventListener('unhandledrejection', it => errors.push(String(it.reason)));
    addEventListener('error', it => errors.push(String(it.message)), true)";

#[test]
fn every_page_of_a_static_site_is_a_file() {
    if front_end().is_none() {
        return;
    }
    let home = TestHome::new();
    let rest = study_lines("rank:bm25:20", &["tfc1", "lnc1"], &["bm25", "ql"]);
    home.make_study(study_file(
        "demo",
        "Bread & <bridges>",
        demo_folder(),
        &rest,
    ));
    home.make_study(study_file("bare", "No texts", demo_folder(), &rest));
    let build = format!(
        "site build --study demo --without-texts bare --out site --base {BASE}/ \
         --layout ranges --public-url https://axioscope.example"
    );
    home.run(&build).expect_success();
    // The folder of a build is replaced, and no other.
    home.run(&build).expect_success();
    home.expect_refused(
        "site build --study demo --out data",
        "choose an empty folder",
    );
    home.expect_refused("site build --study nothing --out none", "nothing");
    home.expect_refused(
        "site build --study demo --without-texts demo --out none",
        "`demo` is named twice",
    );

    let page = home.read("site/studies/demo/index.html");
    for part in [
        "<title>Bread &amp; &lt;bridges&gt; · Axioscope</title>",
        "content=\"https://axioscope.example/some/path/studies/demo/preview.png\"",
        "<th scope=\"row\">BM25</th>",
        "src=\"/some/path/studies/demo/heatmap.svg\"",
    ] {
        assert!(page.contains(part), "{part} in\n{page}");
    }
    let notice = "<p class=\"text\">This study was published without document texts.";
    assert!(!page.contains(notice));
    let without_texts = home.read("site/studies/bare/index.html");
    assert!(without_texts.contains(notice), "{without_texts}");
    let sitemap = home.read("site/sitemap.xml");
    let feed = home.read("site/feed.xml");
    for url in ["/studies/demo/", "/studies/bare/"] {
        let url = format!("https://axioscope.example{BASE}{url}");
        assert!(sitemap.contains(&format!("<loc>{url}</loc>")), "{sitemap}");
        assert!(feed.contains(&format!("<link href=\"{url}\"/>")), "{feed}");
    }

    let host = StaticServer::start_without_start_page(BTreeMap::from([(BASE, home.path("site"))]));
    let mut in_chromium = BTreeSet::new();
    with_tab(&host.origin, |tab| {
        // Up to three addresses of a page, with different parameters.
        let opened = open_every_link(3, |address| {
            tab.open(address);
            tab.wait_until(&format!("the page {address}"), IS_READY);
            assert_eq!(tab.count("main .failure"), 0, "{address}");
            tab.js(LINKS, &[])
        });
        assert_eq!(host.missing_paths(), [""; 0]);
        in_chromium.clone_from(&opened);
        for page in [
            "/studies/demo/instance/",
            "/studies/bare/instances/",
            "/about/",
        ] {
            let page = format!("{BASE}{page}");
            assert!(
                opened.iter().any(|it| it.starts_with(&page)),
                "{page}: {opened:?}"
            );
        }
        // Both studies have the same instances and scores.
        tab.open(&format!("{BASE}/compare-studies/?first=demo&second=bare"));
        tab.wait_for_text("None of 4 results differs by more than chance.");
        tab.wait_for_text("No texts");
        // A page that is no file is the host's, and shows the site.
        tab.open(&format!("{BASE}/nothing"));
        tab.wait_for_text("Page not found");
        tab.expect_in_console("404");
    });
    host.forget_missing_paths();
    let Some(tab) = WebKitTab::start(&host.origin) else {
        return;
    };
    let in_webkit = open_every_link(1, |address| {
        tab.open(address);
        tab.js(COLLECT_ERRORS);
        tab.wait_until(&format!("the page {address}"), IS_READY);
        let errors =
            tab.js("return [...errors, document.querySelector('main .failure')?.innerText]");
        assert_eq!(errors, json!([null]), "{address}");
        tab.js(LINKS)
    });
    assert_eq!(host.missing_paths(), [""; 0]);
    assert_eq!(pages(&in_webkit), pages(&in_chromium));
}

/// Returns the paths of addresses, without parameters.
fn pages(addresses: &BTreeSet<String>) -> BTreeSet<&str> {
    let paths = addresses.iter().filter_map(|it| it.split('?').next());
    paths.collect()
}

/// Opens every page that can be reached by links, with at most `most_of_a_page` different query
/// strings, and returns the addresses. `links_of_page` opens a page and returns its links.
fn open_every_link(
    most_of_a_page: usize,
    links_of_page: impl Fn(&str) -> Value,
) -> BTreeSet<String> {
    let first = format!("{BASE}/");
    let mut seen = BTreeSet::from([first.clone()]);
    let mut opened_of_page: BTreeMap<String, usize> = BTreeMap::new();
    let mut next = VecDeque::from([first]);
    while let Some(address) = next.pop_front() {
        let links = links_of_page(&address);
        for link in links
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it.as_str())
        {
            assert!(link.starts_with(&format!("{BASE}/")), "{link} on {address}");
            let page = link.split('?').next().unwrap_or_default();
            let n_opened = opened_of_page.entry(page.to_owned()).or_default();
            if *n_opened < most_of_a_page && seen.insert(link.to_owned()) {
                *n_opened += 1;
                next.push_back(link.to_owned());
            }
        }
    }
    seen
}

//! A host of files only: the front end and an exported study, and no server.

use std::collections::BTreeMap;
use std::path::Path;

use shared::study::Definition;

use super::host::Host;
use super::tab::{Role, with_tab};
use super::{named, skip};
use crate::harness::Home;

#[test]
fn without_a_server_studies_playground_and_workbench_work() {
    let Some(dist) = named("AXIOSCOPE_DIST").filter(|it| it.join("index.html").is_file()) else {
        return skip("no front end");
    };
    let home = Home::new();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let text = std::fs::read_to_string(demo.join("study.toml")).unwrap();
    let mut definition = Definition::from_toml("study.toml", &text).unwrap();
    definition
        .rankers
        .retain(|it| it.parse::<shared::rank::Ranker>().is_ok());
    definition.collection = demo.display().to_string();
    home.write("study.toml", definition.to_toml());
    home.run("study run study.toml").done();
    home.run("study export demo --out studies").done();

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = Host::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/");
        tab.click(Role::Link, "Glaciers, bread and bridges");
        tab.at("/study/demo");
        tab.until(
            "the map",
            "return document.querySelectorAll('[role=grid] a.cell[data-step]').length >= 12",
        );
        tab.click(Role::Radio, "code");
        tab.at("/study/demo?mode=code");
        tab.open("/study/demo/lnc1/1?outcome=satisfied");
        tab.until(
            "rows",
            "return document.querySelectorAll('a.line').length > 5",
        );
        tab.click_at("a.line");
        tab.see("Which term decided it");

        tab.open("/playground");
        tab.click(Role::Button, "LNC1 example");
        tab.until(
            "an axiom that applies",
            "return !!document.querySelector('.holds .verdict.ok')",
        );
        tab.see("Neural scoring is off: this page comes from a host of files only");

        tab.open("/workbench");
        tab.click(Role::Button, "Load the sample");
        tab.until(
            "three files",
            "return document.querySelectorAll('table.files tbody tr').length === 3",
        );
        tab.click(Role::Button, "Make the study");
        tab.see("Made in");
        tab.see("Neural scoring is off: this page comes from a host of files only");
    });
}

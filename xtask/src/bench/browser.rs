//! Benchmarks in the browser: the same work as the native program, and the first view of the page.

use super::table::{BenchRow, BenchTable};
use super::timing_process::number;
use super::{BenchContext, RUNS, median, text};
use crate::{process, setup, web};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;

/// The text before the times of the measured collection in the output of the parity test.
const PARITY_LINE: &str = "trecdl-passage: index, mine and score: natively ";

/// Measures native and browser times, as printed by the parity test in release mode.
pub(super) fn parity(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let place = bench.place;
    let collection = bench.collection()?;
    let data = collection
        .parent()
        .context("the collection lies in no folder")?;
    let tools = setup::web(place)?;
    web::build(place, &tools, web::WebProfile::Release)?;
    let browser = setup::browser::find_or_install(place)?;
    let (mut natively, mut inside) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut test = tools.command("cargo");
        test.args([
            "test",
            "--release",
            "--locked",
            "--package",
            "tests",
            "--test",
            "end_to_end",
        ])
        .args(["parity::trecdl", "--", "--nocapture"])
        .env("AXIOSCOPE_DIST", place.dist())
        .env("AXIOSCOPE_DATA", data)
        .env("CHROMIUM", &browser.chromium)
        .env("CHROMEDRIVER", &browser.chromedriver)
        .env("AXIOSCOPE_AXE", &browser.axe);
        let told = process::output_of(&mut test).context("the parity test failed")?;
        let line = told
            .lines()
            .find_map(|it| it.split_once(PARITY_LINE))
            .map(|it| it.1);
        let (here, there) = line
            .and_then(times)
            .context("the parity test told no times")?;
        natively.push(here);
        inside.push(there);
    }
    let (here, there) = (median(natively), median(inside));
    let seconds = |it: f64| format!("{it:.2} s");
    table.add(BenchRow {
        name: "index + mine + score in the worker, against native".to_owned(),
        ours: seconds(there),
        peer: seconds(here),
        ratio: format!("{:.2}× the time", there / here),
        target: "≤ 2×",
        is_met: there <= 2.0 * here,
    });
    table.add_without_peer(
        "the same, altogether in the worker",
        seconds(there),
        "< 10 s",
        there < 10.0,
    );
    Ok(())
}

/// Parses the native and the browser time from text such as `0.10 s, in the worker 0.20 s, ratio
/// 2.00`.
fn times(said: &str) -> Option<(f64, f64)> {
    let mut words = said.split_whitespace().filter_map(|it| it.parse().ok());
    Some((words.next()?, words.next()?))
}

/// Measures the size and the time of the first view of the page, from localhost.
pub(super) fn first_view(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let place = bench.place;
    let dist = place.dist();
    if !dist.join("index.html").is_file() {
        bail!("no front end in dist/: run `cargo xtask web`");
    }
    let browser = setup::browser::find_or_install(place)?;
    let mut node = Command::new("node");
    node.args([
        text(&bench.script("first_view.mjs")),
        text(&dist),
        text(&browser.chromium),
        RUNS.to_string(),
    ]);
    let answer =
        process::output_of(&mut node).context("first_view.mjs failed: is node on PATH?")?;
    let told: Value = serde_json::from_str(&answer)?;
    let bytes = number(&told, "brotli_bytes")?;
    let paints = told["paints_ms"]
        .as_array()
        .context("no paints were told")?;
    let paint = median(paints.iter().filter_map(Value::as_f64).collect());
    table.add_without_peer(
        "wasm + js + css of the first view, brotli",
        format!("{:.0} kB", bytes / 1e3),
        "≤ 500 kB",
        bytes <= 500e3,
    );
    table.add_without_peer(
        "first contentful paint from localhost",
        format!("{paint:.0} ms"),
        "< 1 s",
        paint < 1000.0,
    );
    table.note(format!(
        "First view: {}.",
        told["files"].as_str().unwrap_or_default()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_times_of_the_parity_test_are_read() {
        let said = "0.10 s, in the worker 0.20 s, ratio 2.00";
        assert_eq!(super::times(said), Some((0.10, 0.20)));
    }
}

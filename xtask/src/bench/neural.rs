//! Encoding against PyTorch on the CPU: same model, texts and threads.

use super::asked::number;
use super::table::{Row, Table};
use super::{Bench, RUNS, median, peers, text};
use crate::{process, setup};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

/// Passages encoded in a run.
const TEXTS: usize = 192;

pub(super) fn measure(bench: &Bench<'_>, table: &mut Table) -> Result<()> {
    let model = setup::model::get(bench.place)?;
    let program = bench.example("neural", "throughput")?;
    let texts = bench.folder.join("passages.txt");
    let given = fs::read_to_string(bench.given().join("texts.jsonl"))
        .context("no passages to encode: measure the part lexical first")?;
    // Every tenth, so that lengths vary as in the collection.
    let passages = given.lines().step_by(10).take(TEXTS);
    let passages: Result<Vec<String>, _> = passages.map(serde_json::from_str).collect();
    let passages: Vec<String> = passages?.iter().map(|it| it.replace('\n', " ")).collect();
    fs::write(&texts, passages.join("\n"))?;

    let python = peers::neural_python(bench);
    if let Err(error) = &python {
        table.left_out("PyTorch", &format!("{error:#}"));
    }
    let n_threads = std::thread::available_parallelism()
        .map_or(1, |it| it.get())
        .to_string();
    let script = bench.place.root.join("neural/examples/throughput.py");
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut ours = Command::new(&program);
        ours.args([&model, &texts])
            .env("RAYON_NUM_THREADS", &n_threads);
        here.push(rate(&mut ours)?);
        if let Ok(python) = &python {
            let mut peer = Command::new(python);
            peer.args([text(&script), text(&model), text(&texts), n_threads.clone()]);
            there.push(rate(peer.env("OMP_WAIT_POLICY", "PASSIVE"))?);
        }
    }
    if let Ok(python) = &python {
        for package in ["torch", "transformers"] {
            table.version(format!("{package} {}", peers::version(python, package)));
        }
    }
    let here = median(here);
    let there = (!there.is_empty()).then(|| median(there));
    let shown = |rate: f64| format!("{rate:.1} texts/s");
    let ratio = there.map(|it| here / it);
    table.add(Row {
        what: format!("MiniLM encodes {TEXTS} passages, {n_threads} threads, f32, PyTorch"),
        ours: shown(here),
        peer: there.map_or_else(|| "left out".to_owned(), shown),
        ratio: ratio.map_or_else(String::new, |it| format!("{it:.2}×")),
        target: "≥ 1×",
        met: ratio.is_some_and(|it| it >= 1.0),
    });
    Ok(())
}

fn rate(command: &mut Command) -> Result<f64> {
    let answer =
        process::answer(command).with_context(|| format!("`{}` failed", process::line(command)))?;
    number(&serde_json::from_str(&answer)?, "sequences_per_s")
}

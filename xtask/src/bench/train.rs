//! Training against PyTorch: updates per second of each interaction ranker and of rankers made of
//! MiniLM, with random texts of the lengths of WikiQA and the same batches.

use super::table::{BenchRow, BenchTable};
use super::{BenchContext, RUNS, median, peers};
use crate::{process, setup};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// The seconds for which a run computes updates of each network.
const SECONDS: &str = "2";

/// The seconds for which a run fine-tunes each ranker.
const FINE_TUNING_SECONDS: &str = "15";

/// The updates per second of each run, by network.
type UpdateRates = BTreeMap<String, Vec<f64>>;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = bench.example("neural", "train_interaction")?;
    let python = peers::neural_python(bench)?;
    for package in ["torch", "transformers"] {
        table.version(format!("{package} {}", peers::version(&python, package)));
    }
    let script = bench
        .place
        .root
        .join("neural/examples/train_interaction.py");
    let n_threads = std::thread::available_parallelism().map_or(1, |it| it.get());
    let n_threads = n_threads.to_string();
    let mut with_peer = |name: &str, commands: &dyn Fn() -> [Command; 2]| -> Result<()> {
        let (mut ours, mut peer) = (UpdateRates::new(), UpdateRates::new());
        for _ in 0..RUNS {
            let [mut program, mut script] = commands();
            collect_rates(program.env("RAYON_NUM_THREADS", &n_threads), &mut ours)?;
            collect_rates(script.env("OMP_WAIT_POLICY", "PASSIVE"), &mut peer)?;
        }
        for (network, rates) in ours {
            let rates_of_peer = peer
                .remove(&network)
                .context("the peer has every network")?;
            let (ours, peer) = (median(rates), median(rates_of_peer));
            table.add(BenchRow {
                name: format!("{name} {network}"),
                ours: format!("{ours:.4} updates/s"),
                peer: format!("PyTorch {peer:.4} updates/s"),
                ratio: format!("{:.2}×", ours / peer),
                target: "≥ .9×",
                is_met: ours / peer >= 0.9,
            });
        }
        Ok(())
    };
    with_peer("training", &|| {
        let mut ours = Command::new(&program);
        ours.arg(SECONDS);
        let mut peer = Command::new(&python);
        peer.arg(&script).args([&n_threads, SECONDS]);
        [ours, peer]
    })?;
    let folder = setup::model::get(bench.place)?;
    let program = bench.example("neural", "fine_tune")?;
    let script = bench.place.root.join("neural/examples/fine_tune.py");
    with_peer("fine-tuning", &|| {
        let mut ours = Command::new(&program);
        ours.arg(&folder).arg(FINE_TUNING_SECONDS);
        let mut peer = Command::new(&python);
        peer.arg(&script).arg(&folder);
        peer.args([&n_threads, FINE_TUNING_SECONDS]);
        [ours, peer]
    })?;
    table.note(format!(
        "Training: forward and backward pass of {n_threads} threads and plain gradient descent, \
         batches of 200 pairs, of 32 for KNRM and Conv-KNRM; histograms are computed before. The \
         layers of PyTorch are its own, composed as in the reference implementations."
    ));
    table.note(format!(
        "Fine-tuning: MiniLM (six layers of 384 units), {n_threads} threads, f32, batches of 4 \
         queries with 4 documents each; forward and backward pass, clipping and AdamW. PyTorch \
         with the encoder of transformers and SDPA attention."
    ));
    Ok(())
}

/// Runs a program that prints a line of JSON for each network.
fn collect_rates(command: &mut Command, rates: &mut UpdateRates) -> Result<()> {
    let printed = process::output_of(command).context("timing the training of networks")?;
    for line in printed.lines() {
        let line: Value = serde_json::from_str(line)?;
        let network = line["model"].as_str().context("a line names its network")?;
        let rate = line["updates_per_s"].as_f64();
        let rate = rate.context("a line has the updates per second")?;
        rates.entry(network.to_owned()).or_default().push(rate);
    }
    Ok(())
}

//! Training of the interaction rankers against PyTorch: updates per second of each network, with
//! random texts of the lengths of WikiQA and the same batches.

use super::table::{BenchRow, BenchTable};
use super::{BenchContext, RUNS, median, peers};
use crate::process;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// The seconds for which a run computes updates of each network.
const SECONDS: &str = "2";

/// The updates per second of each run, by network.
type UpdateRates = BTreeMap<String, Vec<f64>>;

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = bench.example("neural", "train_interaction")?;
    let python = peers::torch_python(bench)?;
    table.version(format!("torch {}", peers::version(&python, "torch")));
    let script = bench
        .place
        .root
        .join("neural/examples/train_interaction.py");
    let n_threads = std::thread::available_parallelism().map_or(1, |it| it.get());
    let n_threads = n_threads.to_string();
    let (mut ours, mut peer) = (UpdateRates::new(), UpdateRates::new());
    for _ in 0..RUNS {
        let mut command = Command::new(&program);
        command.arg(SECONDS).env("RAYON_NUM_THREADS", &n_threads);
        collect_rates(&mut command, &mut ours)?;
        let mut command = Command::new(&python);
        command.arg(&script).args([&n_threads, SECONDS]);
        collect_rates(command.env("OMP_WAIT_POLICY", "PASSIVE"), &mut peer)?;
    }
    for (network, rates) in ours {
        let rates_of_peer = peer
            .remove(&network)
            .context("the peer has every network")?;
        let (ours, peer) = (median(rates), median(rates_of_peer));
        table.add(BenchRow {
            name: format!("training {network}"),
            ours: format!("{ours:.0} updates/s"),
            peer: format!("PyTorch {peer:.1} updates/s"),
            ratio: format!("{:.1}×", ours / peer),
            target: "≥ .9×",
            is_met: ours / peer >= 0.9,
        });
    }
    table.note(format!(
        "Training: forward and backward pass of {n_threads} threads and plain gradient descent, \
         batches of 200 pairs, of 32 for KNRM and Conv-KNRM; histograms are computed before. The \
         layers of PyTorch are its own, composed as in the reference implementations."
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

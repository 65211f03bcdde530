//! Benchmarks against other programs: medians of alternating runs, as a table in `BENCHMARKS.md`.
//!
//! The other programs (peers) are installed into `target/bench/`. Those that are not available are
//! listed as left out.

mod peers;
mod timing_process;
mod process_stat;
mod timed_run;
mod random_collection;
mod lexical;
mod browser;
mod neural;
mod train;
mod cuda;
mod scale;
mod instance_lists;
mod growth;
mod load;
mod visitors;
mod annotation;
mod server;
mod cluster;
mod table;

use crate::paths::ProjectPaths;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use table::{BenchTable, MachineInfo};

/// Number of runs of each program; the programs take turns.
const RUNS: usize = 5;

const PARTS: [&str; 9] = [
    "lexical", "scale", "parity", "page", "neural", "train", "served", "visitors", "review",
];

/// Parts that run only when they are named: that for a GPU, that of the cluster, and rehearsals of
/// both, whose figures mean nothing.
const OPTIONAL_PARTS: [&str; 4] = ["cuda", "cuda-rehearsal", "cluster", "cluster-rehearsal"];

/// Measures the named parts, or all that need neither a GPU nor the cluster. `BENCHMARKS.md` is
/// written only if all parts were measured.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<()> {
    let known = [PARTS.as_slice(), &OPTIONAL_PARTS].concat();
    if let Some(unknown) = args.iter().find(|it| !known.contains(&it.as_str())) {
        bail!(
            "there is no part `{unknown}`: take some of {}",
            known.join(", ")
        );
    }
    let folder = place.target.join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let bench = BenchContext { place, folder };
    let mut machine = MachineInfo::detect(place);
    let mut table = BenchTable::default();
    let asked = |part: &&str| match args {
        [] => PARTS.contains(part),
        _ => args.iter().any(|it| it == part),
    };
    for part in known.into_iter().filter(asked) {
        println!("bench: {part}");
        let done = match part {
            "lexical" => lexical::measure(&bench, &mut table),
            "scale" => scale::measure(&bench, &mut table),
            "parity" => browser::parity(&bench, &mut table),
            "page" => browser::first_view(&bench, &mut table),
            "neural" => neural::measure(&bench, &mut table),
            "train" => train::measure(&bench, &mut table),
            "served" => load::measure(&bench, &mut table),
            "visitors" => visitors::measure(&bench, &mut table),
            "review" => annotation::measure(&bench, &mut table),
            "cuda" => cuda::measure(&bench, &mut table),
            "cluster" => cluster::measure(&bench, &mut table),
            "cluster-rehearsal" => cluster::rehearse(&bench, &mut table),
            _ => cuda::rehearse(&bench, &mut table),
        };
        if let Err(error) = done {
            table.left_out(part, &format!("{error:#}"));
        }
    }
    machine.end();
    let text = table.markdown(&machine);
    println!("\n{text}");
    if args.is_empty() {
        let file = place.root.join("BENCHMARKS.md");
        fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

/// The paths that benchmarks use.
struct BenchContext<'a> {
    place: &'a ProjectPaths,
    /// The folder of the peers and their input.
    folder: PathBuf,
}

impl BenchContext<'_> {
    /// Returns the folder of the public collections, which may be absent: `AXIOSCOPE_DATA`, or else
    /// the one next to the checkout.
    fn data(&self) -> PathBuf {
        let set = std::env::var_os("AXIOSCOPE_DATA").filter(|it| !it.is_empty());
        set.map_or_else(|| self.place.root.join("../shared/data"), PathBuf::from)
    }

    /// Returns the folder `trecdl-passage` of the public collections.
    fn collection(&self) -> Result<PathBuf> {
        let folder = self.data().join("trecdl-passage");
        if !folder.join("corpus.jsonl.gz").is_file() {
            bail!("no trecdl-passage: set AXIOSCOPE_DATA to the folder that holds it");
        }
        Ok(folder)
    }

    /// Returns the path of a script that runs a peer.
    fn script(&self, name: &str) -> PathBuf {
        self.place.root.join("xtask/bench").join(name)
    }

    /// Builds an example of the workspace in release mode and returns its path.
    fn example(&self, package: &str, name: &str) -> Result<PathBuf> {
        self.example_with(package, name, &[])
    }

    /// Same as [`BenchContext::example`], with additional arguments for cargo.
    fn example_with(&self, package: &str, name: &str, more: &[&str]) -> Result<PathBuf> {
        let mut build = std::process::Command::new("cargo");
        build.args([
            "build",
            "--release",
            "--locked",
            "--package",
            package,
            "--example",
            name,
        ]);
        build.args(more);
        crate::process::run(build.current_dir(&self.place.root))?;
        let program = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        Ok(self.place.target.join("release/examples").join(program))
    }

    fn given(&self) -> PathBuf {
        self.folder.join("given")
    }
}

/// Returns the median; of an even number of values the upper one.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

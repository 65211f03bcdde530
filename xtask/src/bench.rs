//! Speed against other programs: medians of alternating runs, as a table in `BENCHMARKS.md`.
//!
//! Peers are installed into `target/bench/`; one that cannot be installed is skipped and named.

mod peers;
mod timing_process;
mod lexical;
mod browser;
mod neural;
mod cuda;
mod scale;
mod load;
mod annotation;
mod server;
mod table;

use crate::paths::ProjectPaths;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use table::{BenchTable, MachineInfo};

/// Runs of each side, one after the other in turn.
const RUNS: usize = 5;

const PARTS: [&str; 7] = [
    "lexical", "scale", "parity", "page", "neural", "served", "review",
];

/// Parts that are measured only when named: a GPU, and the same without one, where the figures mean
/// nothing.
const OPTIONAL_PARTS: [&str; 2] = ["cuda", "cuda-rehearsal"];

/// Measures the named parts, or all that need no GPU; only a run of all is written down.
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
            "served" => load::measure(&bench, &mut table),
            "review" => annotation::measure(&bench, &mut table),
            "cuda" => cuda::measure(&bench, &mut table),
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

/// Where everything is.
struct BenchContext<'a> {
    place: &'a ProjectPaths,
    /// Peers, and what they are given.
    folder: PathBuf,
}

impl BenchContext<'_> {
    /// `trecdl-passage`, below `AXIOSCOPE_DATA` or beside the checkout.
    fn collection(&self) -> Result<PathBuf> {
        let set = std::env::var_os("AXIOSCOPE_DATA").filter(|it| !it.is_empty());
        let data = set.map_or_else(|| self.place.root.join("../shared/data"), PathBuf::from);
        let folder = data.join("trecdl-passage");
        if !folder.join("corpus.jsonl.gz").is_file() {
            bail!("no trecdl-passage: set AXIOSCOPE_DATA to the folder that holds it");
        }
        Ok(folder)
    }

    /// A script of ours, for a peer.
    fn script(&self, name: &str) -> PathBuf {
        self.place.root.join("xtask/bench").join(name)
    }

    /// An example of the workspace, built in release.
    fn example(&self, package: &str, name: &str) -> Result<PathBuf> {
        self.example_with(package, name, &[])
    }

    /// The same with further arguments for cargo.
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

/// The middle of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

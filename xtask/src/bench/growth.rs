//! How time, memory and files of a study grow with its collection.

use super::random_collection::write_random_collection;
use super::table::BenchTable;
use super::text;
use super::timed_run::timed;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Numbers of documents; each study has a query for a hundred of them.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// What a study of one size takes.
struct StudyCost {
    n_docs: usize,
    millions: f64,
    seconds: f64,
    most_mib: f64,
    megabytes: f64,
}

/// Makes a study of each size: six axioms, three lexical rankers, 100 documents for each query.
pub(super) fn measure(program: &Path, folder: &Path, table: &mut BenchTable) -> Result<()> {
    let mut costs = Vec::new();
    for n_docs in SIZES {
        costs.push(make_study(
            program,
            &folder.join(n_docs.to_string()),
            n_docs,
        )?);
    }
    let mut lines = vec![
        "| documents | queries | instances | time | most memory | files |".to_owned(),
        "|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for it in &costs {
        lines.push(format!(
            "| {} | {} | {:.2} M | {:.1} s | {:.0} MiB | {:.0} MB |",
            it.n_docs,
            it.n_docs / 100,
            it.millions,
            it.seconds,
            it.most_mib,
            it.megabytes
        ));
    }
    // The slope of a line through the logarithms of the last two sizes: 1 is linear growth.
    let [.., middle, last] = &costs[..] else {
        unreachable!("there are three sizes");
    };
    let slope = |of: fn(&StudyCost) -> f64| {
        let growth = of(last) / of(middle);
        growth.log10() / (last.n_docs as f64 / middle.n_docs as f64).log10()
    };
    lines.push(format!(
        "| growth from {} to {}, as a power | | {:.2} | {:.2} | {:.2} | {:.2} |",
        middle.n_docs,
        last.n_docs,
        slope(|it| it.millions),
        slope(|it| it.seconds),
        slope(|it| it.most_mib),
        slope(|it| it.megabytes)
    ));
    table.section("A study of six axioms and three lexical rankers", lines);
    Ok(())
}

fn make_study(program: &Path, folder: &Path, n_docs: usize) -> Result<StudyCost> {
    write_random_collection(folder, n_docs, n_docs / 100)?;
    let study = folder.join("study.toml");
    let definition = format!(
        "format = 1\nname = \"growth\"\ntitle = \"Growth\"\ncollection = {:?}\n\
         pool = \"rank:bm25:100\"\nprobes = [\"tfc1\", \"tfc2\", \"mtdc\", \"lnc1\", \"lnc2\", \
         \"tp\"]\nmodes = [\"fixed\"]\nrankers = [\"bm25\", \"ql\", \"bm25:k1=0.9,b=0.4\"]\n\
         analyzer = {{ stemmer = \"none\" }}\n",
        text(&folder.join("collection"))
    );
    fs::write(&study, definition)?;
    let data = folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    let mut run = Command::new(program);
    run.args(["--data", &text(&data), "study", "run", &text(&study)]);
    let made = timed(&mut run)?;
    let mut bytes = 0;
    for entry in fs::read_dir(data.join("studies/growth"))? {
        bytes += entry?.metadata()?.len();
    }
    let mut list = Command::new(program);
    let listed = list
        .args(["--data", &text(&data), "study", "list"])
        .output()?
        .stdout;
    let listed = String::from_utf8_lossy(&listed);
    let n_instances = listed
        .split_once(" instances")
        .map(|it| it.0.rsplit('\t').next());
    let n_instances = n_instances.flatten().and_then(|it| it.parse::<u64>().ok());
    let n_instances = n_instances.context("no number of instances")?;
    fs::remove_dir_all(&data)?;
    Ok(StudyCost {
        n_docs,
        millions: n_instances as f64 / 1e6,
        seconds: made.seconds,
        most_mib: made.most_mib,
        megabytes: bytes as f64 / 1e6,
    })
}

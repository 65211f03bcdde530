//! Cross-encoders of three sizes with random weights on an NVIDIA GPU, against PyTorch on the same
//! GPU. Measured only when named.

use super::neural::{
    BenchEngines, EngineTask, against, given, max_score_difference, pairs, pass, rate, scores,
};
use super::table::{BenchRow, BenchTable};
use super::timing_process::number;
use super::{BenchContext, RUNS, median};
use crate::{process, setup};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The size of a cross-encoder.
struct Size {
    name: &'static str,
    /// Hidden size, layers, attention heads, intermediate size.
    numbers: [usize; 4],
}

/// The device, the models and the amount of work.
struct Setting {
    device: &'static str,
    /// The models. The first one also reads pairs of natural length; the last one is compared with
    /// the matrix rate of the device.
    sizes: &'static [Size],
    /// Number of tokens in a pass over pairs of equal length.
    n_pieces: usize,
    /// Number of pairs per query, for pairs of natural length.
    n_each: usize,
    /// Number of pairs whose scores are compared with those of the CPU.
    n_checked: usize,
}

const GPU: Setting = Setting {
    device: "cuda",
    sizes: &[
        Size {
            name: "MiniLM-6",
            numbers: [384, 6, 12, 1536],
        },
        Size {
            name: "BERT-base",
            numbers: [768, 12, 12, 3072],
        },
        Size {
            name: "BERT-large",
            numbers: [1024, 24, 16, 4096],
        },
    ],
    n_pieces: 1 << 18,
    n_each: 50,
    n_checked: 256,
};

const CPU_SETTING: Setting = Setting {
    device: "cpu",
    sizes: &[Size {
        name: "BERT-tiny",
        numbers: [128, 2, 2, 512],
    }],
    n_pieces: 1 << 12,
    n_each: 1,
    n_checked: 8,
};

/// The length of a pair in tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Natural,
    Exactly(usize),
}

pub(super) fn measure(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let ask = ["--query-gpu=name,driver_version", "--format=csv,noheader"];
    let gpus = process::output_of(Command::new("nvidia-smi").args(ask)).filter(|it| !it.is_empty());
    let gpus =
        gpus.context("no GPU: `nvidia-smi`, of NVIDIA's driver, is not there or finds none")?;
    table.version(format!(
        "GPU, driver: {}",
        gpus.lines().next().unwrap_or_default()
    ));
    let cuda = ["--features", "cuda"];
    let program = bench.example_with("neural", "throughput", &cuda).context(
        "no build with CUDA, which needs the CUDA toolkit, its `nvcc` on PATH, and a C++ compiler",
    )?;
    all(bench, &GPU, program, table)
}

/// Runs the same benchmark on the CPU with a small model, to test it without a GPU.
pub(super) fn rehearse(bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
    let program = bench.example("neural", "throughput")?;
    all(bench, &CPU_SETTING, program, table)
}

fn all(
    bench: &BenchContext<'_>,
    setting: &Setting,
    program: PathBuf,
    table: &mut BenchTable,
) -> Result<()> {
    let engines = BenchEngines::new(bench, program, table);
    table.note(format!(
        "Cross-encoders: every weight drawn at random; % of TFLOP/s: useful operations, of what a \
         product of large matrices reaches on the device in that precision in the same runs. \
         Scores of the first {} pairs are compared with those of the CPU in f32; neighbors: pairs \
         that follow each other.",
        setting.n_checked
    ));
    for (at, size) in setting.sizes.iter().enumerate() {
        let folder = model(bench, &engines, size)?;
        let natural = (at == 0).then_some(Length::Natural);
        for length in [Length::Exactly(128), Length::Exactly(512)]
            .into_iter()
            .chain(natural)
        {
            let case = Case {
                setting,
                engines: &engines,
                size,
                folder: &folder,
                length,
            };
            if let Err(error) = case.measure(bench, table) {
                table.left_out(size.name, &format!("{error:#}"));
            }
        }
    }
    Ok(())
}

/// Creates a model folder that both engines can read.
fn model(bench: &BenchContext<'_>, engines: &BenchEngines<'_>, size: &Size) -> Result<PathBuf> {
    let folder = bench.folder.join(size.name);
    if !folder.join("model.safetensors").is_file() {
        let python = engines.python.as_ref();
        let python = python.context("the cross-encoders are made with PyTorch")?;
        let mut make = Command::new(python);
        make.arg(bench.script("cross_encoder.py"));
        make.args([&setup::model::get(bench.place)?, &folder]);
        process::run(make.args(size.numbers.map(|it| it.to_string())))?;
    }
    Ok(folder)
}

/// A model with pairs of one length.
struct Case<'a> {
    setting: &'a Setting,
    engines: &'a BenchEngines<'a>,
    size: &'a Size,
    folder: &'a Path,
    length: Length,
}

impl Case<'_> {
    fn measure(&self, bench: &BenchContext<'_>, table: &mut BenchTable) -> Result<()> {
        let (file, max_pieces, length) = match self.length {
            Length::Natural => {
                let file = pairs(bench, self.setting.n_each)?;
                (file, 512, "natural lengths".to_owned())
            }
            Length::Exactly(n) => {
                let file = long_pairs(bench, n, self.setting.n_pieces / n)?;
                (file, n, format!("{n} pieces each"))
            }
        };
        let lines = fs::read_to_string(&file)?;
        let n_pairs = lines.lines().count();
        let what = format!("{} reads {n_pairs} pairs, {length}", self.size.name);
        let task = EngineTask {
            mode: "pairs",
            folder: self.folder,
            file: &file,
            max_pieces,
            device: self.setting.device,
            precision: "f32",
        };

        let checked = bench.folder.join("checked.jsonl");
        let first: Vec<&str> = lines.lines().take(self.setting.n_checked).collect();
        fs::write(&checked, first.join("\n"))?;
        let reference = match self.length {
            // A large model would take minutes.
            Length::Exactly(512) => None,
            Length::Natural | Length::Exactly(_) => {
                let on_cpu = EngineTask {
                    file: &checked,
                    device: "cpu",
                    ..task
                };
                Some(scores(&pass(&mut self.engines.ours(on_cpu)?)?)?)
            }
        };

        let mut notes = Vec::new();
        for precision in ["f32", "f16", "bf16"] {
            let found = self.take_turns(EngineTask { precision, ..task }, table)?;
            let mut note = found.speed(precision);
            if let Some(reference) = &reference {
                note += &found.differences(reference)?;
            }
            notes.push(note);
            if precision == "f16" {
                let target = match self.length {
                    Length::Natural => "≥ 1×",
                    Length::Exactly(_) => "aim 1×",
                };
                let what = format!("{what}, f16, PyTorch");
                against(table, what, [found.here, found.there], (target, 1.0));
            } else if precision == "bf16" && self.is_largest() {
                table.add(found.share_row(format!("{what}, bf16, of the matrix rate")));
            }
        }
        table.note(format!("{what}: {}.", notes.join("; ")));
        Ok(())
    }

    /// Measures our program and, in f16 only, PyTorch in turn.
    fn take_turns(&self, task: EngineTask<'_>, table: &mut BenchTable) -> Result<PrecisionResult> {
        let mut ours = self.engines.ours(task)?;
        let mut torch = match task.precision {
            "f16" => self.engines.peer(task)?,
            _ => None,
        };
        // Warm up, so that no measurement includes the start of the other program.
        pass(&mut ours)?;
        if let Some(Err(error)) = torch.as_mut().map(pass) {
            table.left_out("PyTorch on this device", &format!("{error:#}"));
            torch = None;
        }
        let mut found = PrecisionResult::default();
        let (mut useful, mut matrix) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let answer = pass(&mut ours)?;
            found.here.push(rate(&answer)?);
            useful.push(number(&answer, "gflops")? / 1e3);
            matrix.push(number(&answer, "matrix_gflops")? / 1e3);
            found.scores = scores(&answer)?;
            if let Some(torch) = &mut torch {
                let answer = pass(torch)?;
                found.there.push(rate(&answer)?);
                found.max_difference =
                    Some(max_score_difference(&found.scores, &scores(&answer)?)?);
            }
        }
        (found.useful, found.matrix) = (median(useful), median(matrix));
        Ok(found)
    }

    fn is_largest(&self) -> bool {
        let largest = self.setting.sizes.last();
        self.length == Length::Exactly(512) && largest.is_some_and(|it| it.name == self.size.name)
    }
}

/// The results in one precision.
#[derive(Default)]
struct PrecisionResult {
    /// Pairs per second of our program, and of PyTorch.
    here: Vec<f64>,
    there: Vec<f64>,
    /// Useful operations, and those of large matrix products, in 10¹² per second.
    useful: f64,
    matrix: f64,
    scores: Vec<f64>,
    /// The largest difference from the scores of PyTorch.
    max_difference: Option<f64>,
}

impl PrecisionResult {
    fn share(&self) -> f64 {
        self.useful / self.matrix
    }

    fn speed(&self, precision: &str) -> String {
        let rate = median(self.here.clone());
        let (share, matrix) = (100.0 * self.share(), self.matrix);
        let apart = self.max_difference.map_or_else(String::new, |it| {
            format!(", at most {it:.1e} from PyTorch's scores")
        });
        format!("{precision} {rate:.1}/s, {share:.0} % of {matrix:.2} TFLOP/s{apart}")
    }

    /// Describes the differences from the scores of the first pairs on the CPU in f32.
    fn differences(&self, reference: &[f64]) -> Result<String> {
        let first = &self.scores[..reference.len().min(self.scores.len())];
        let apart = max_score_difference(first, reference)?;
        let order = |it: &[f64]| it[0].total_cmp(&it[1]);
        let neighbors = first.windows(2).zip(reference.windows(2));
        let n_changed = neighbors.filter(|(a, b)| order(a) != order(b)).count();
        let share = 100.0 * n_changed as f64 / (reference.len() - 1) as f64;
        Ok(format!(
            ", at most {apart:.1e} from the CPU's scores (deviation {:.1e}), {share:.1} % of \
             neighbors change places",
            deviation(reference)
        ))
    }

    fn share_row(&self, what: String) -> BenchRow {
        BenchRow {
            name: what,
            ours: format!("{:.2} TFLOP/s", self.useful),
            peer: format!("{:.2} TFLOP/s", self.matrix),
            ratio: format!("{:.0} %", 100.0 * self.share()),
            target: "≥ 45 %",
            is_met: self.share() >= 0.45,
        }
    }
}

/// Returns the standard deviation of the scores.
fn deviation(scores: &[f64]) -> f64 {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let squares = scores.iter().map(|it| (it - mean).powi(2));
    (squares.sum::<f64>() / n).sqrt()
}

/// Writes pairs with as many words as tokens are wanted, so that every pair is truncated to that
/// length.
fn long_pairs(bench: &BenchContext<'_>, n_pieces: usize, n_pairs: usize) -> Result<PathBuf> {
    let texts = given(bench, "texts.jsonl")?;
    let texts: Vec<String> = texts
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let mut words = texts.iter().flat_map(|it| it.split_whitespace());
    let queries = given(bench, "queries.jsonl")?;
    let mut lines = String::new();
    for query in queries.lines().cycle().take(n_pairs) {
        let text: Vec<&str> = words.by_ref().take(n_pieces).collect();
        lines += &format!("[{query}, {}]\n", Value::from(text.join(" ")));
    }
    let path = bench.folder.join(format!("pairs-of-{n_pieces}.jsonl"));
    fs::write(&path, lines)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_that_change_places_are_counted_among_the_first_pairs() {
        let found = PrecisionResult {
            scores: vec![3.0, 1.0, 2.0, 9.0],
            ..PrecisionResult::default()
        };
        // 3 > 1 is unchanged; 1 < 2 was 1.5 > 1.
        let said = found.differences(&[3.0, 1.5, 1.0]).unwrap();
        assert!(said.contains("at most 1.0e0"), "{said}");
        assert!(said.contains("50.0 % of neighbors"), "{said}");
    }
}

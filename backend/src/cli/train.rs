//! The command `train`: trains a ranker on the qrels of a collection.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use shared::training::LearningCurvePoint;
use shared::training::spec::TrainingSpec;

use super::{CommandOutcome, load, print_json};
use crate::error::Error;
use crate::progress::ProgressBar;
use crate::training::{self, TrainingObserver, TrainingRequest};

/// Holds the command-line arguments of `axioscope train`.
#[derive(clap::Args)]
pub(crate) struct TrainArgs {
    /// Model: the networks drmm, anmm, duet, matchpyramid, knrm or conv-knrm, or lambdamart, or
    /// cross-encoder or colbert, which are made of the encoder of --from
    #[arg(long)]
    model: String,
    /// Encoder of a cross-encoder or a colbert: a folder, or a model of the Hugging Face hub
    #[arg(long, value_name = "MODEL")]
    from: Option<String>,
    /// Folder or name of an imported collection with qrels and splits. The candidates of a query
    /// are the documents that the qrels list for it, grade 0 included; queries without a relevant
    /// document do not count.
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Candidates of a query besides its judged documents, with grade 0: judged (none), group,
    /// rank:bm25:K, run:FILE:K or all; also the candidate pool of the axioms
    #[arg(long, value_name = "POOL", default_value = "judged")]
    pool: String,
    /// Split of the queries to train on
    #[arg(long, default_value = "train")]
    split: String,
    /// Split of the queries that select the weights and give the learning curve
    #[arg(long, default_value = "dev")]
    dev: String,
    /// Split of the queries on which the result is evaluated
    #[arg(long)]
    test: Option<String>,
    /// Recipe with all numbers of the training: default, rennings2019, macavaney2022,
    /// wikiqa-reference, lightgbm (of lambdamart), camara2020 (of a cross-encoder), formal2021 (of
    /// a colbert), or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    recipe: String,
    /// With the defects of the published code, or without; DRMM also as in Capreolus or OpenNIR
    /// [default: as in the recipe]
    #[arg(long, value_name = "as-published|as-intended|capreolus|opennir")]
    variant: Option<String>,
    /// Add to the training examples: lnc2 (each document repeated 2, 3 and 4 times) or instances of
    /// axioms from `mine` as pairs, with how many there are for each judged pair [default weight:
    /// 1]. May be repeated.
    #[arg(long, value_name = "lnc2|instances:FILE[:WEIGHT]")]
    augment: Vec<String>,
    /// Run in TREC format, or score file, of the teacher of the loss margin-mse
    #[arg(long, value_name = "FILE")]
    teacher: Option<String>,
    /// Change a number of the recipe, such as learning_rate=0.01; vectors=FILE gives word vectors.
    /// May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed of weights, dropout and examples
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder of the trained ranker. A training that was interrupted continues there.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl TrainArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let spec = TrainingSpec {
            model: self.model,
            from: self.from,
            pool: self.pool,
            split: self.split,
            dev: self.dev,
            test: self.test,
            recipe: self.recipe,
            variant: self.variant,
            augment: self.augment,
            teacher: self.teacher,
            set: self.set,
            seed: self.seed,
        };
        let request = TrainingRequest::resolve(&spec, &self.collection, &self.out)?;
        let loaded = load(&request.collection, data, None)?;
        let observer = TerminalObserver {
            is_quiet: self.json,
            ..TerminalObserver::default()
        };
        let summary = training::train(&request, &loaded, &observer)?;
        drop(observer);
        let Some(summary) = summary else {
            return Ok(CommandOutcome::Done);
        };
        if self.json {
            print_json(&summary);
            return Ok(CommandOutcome::Done);
        }
        let test = summary.test.iter().map(|it| ("test", it));
        let controls = [("another query's text", &summary.controls.swapped_queries)];
        for (name, values) in [("dev", &summary.dev)]
            .into_iter()
            .chain(test)
            .chain(controls)
        {
            let values = values
                .iter()
                .map(|(name, value)| format!("{name} {value:.4}"));
            println!("{name}\t{}", values.collect::<Vec<_>>().join("\t"));
        }
        println!("weights\tSHA-256 {}", summary.sha256);
        Ok(CommandOutcome::Done)
    }
}

/// Shows the progress of a training on standard error.
#[derive(Default)]
pub(super) struct TerminalObserver {
    bar: RefCell<Option<ProgressBar>>,
    is_quiet: bool,
}

impl TrainingObserver for TerminalObserver {
    fn updated(&self, step: u64, n_updates: u64) {
        let mut bar = self.bar.borrow_mut();
        let shown =
            bar.get_or_insert_with(|| ProgressBar::with_unit("train", n_updates, "updates"));
        shown.set_position(step);
        if step == n_updates {
            // Another training has its own.
            *bar = None;
        }
    }

    fn evaluated(&self, point: &LearningCurvePoint) {
        if self.is_quiet {
            return;
        }
        let dev = point
            .dev
            .iter()
            .map(|(name, value)| format!("{name} {value:.4}"));
        let axioms = point.axioms.iter();
        let axioms = axioms.map(|(slug, it)| format!("{slug} {:.3}", it.fraction));
        eprintln!(
            "update {}: loss {:.4}, {}; {}",
            point.step,
            point.loss,
            dev.collect::<Vec<_>>().join(", "),
            axioms.collect::<Vec<_>>().join(", ")
        );
    }

    fn is_canceled(&self) -> bool {
        false
    }
}

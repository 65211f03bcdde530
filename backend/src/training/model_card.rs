//! The model card of a trained ranker, `README.md` in its folder.

use std::fmt::Write;
use std::path::Path;

use shared::report::{self, ReportTable};
use shared::score::ranking_features::RankingFeature;
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::TrainingRequest;
use super::request::ModelToTrain;

/// What a model card is written from.
pub(super) struct ModelCard<'a> {
    pub request: &'a TrainingRequest,
    pub summary: &'a TrainingSummary,
    /// SHA-256 of everything that the scores in training depend on.
    pub data_sha256: &'a str,
    /// The point of the learning curve whose weights are the result.
    pub selected: Option<&'a LearningCurvePoint>,
    /// The name of the file of weights or trees.
    pub weights_file: &'static str,
    /// The importance of each feature of LambdaMART, the highest first; empty for networks.
    pub importances: &'a [(RankingFeature, f64)],
}

impl ModelCard<'_> {
    /// Returns the card as Markdown.
    pub(super) fn to_markdown(&self) -> String {
        let TrainingRequest {
            collection,
            splits,
            model,
            augmentation,
            seed,
            pool,
            teacher,
            ..
        } = self.request;
        let summary = self.summary;
        let warnings = report::training_warnings(summary).into_iter();
        let warnings: String = warnings.map(|it| format!("**{it}**\n\n")).collect();
        let mut card = format!(
            "# {}\n\n{warnings}Trained with Axioscope {}.\n\n| | |\n|---|---|\n",
            summary.model,
            env!("CARGO_PKG_VERSION")
        );
        let test = splits.test.as_deref();
        let test = test.map_or_else(|| "none".to_owned(), |it| format!("`{it}`"));
        let repeated = augmentation.repeats_documents;
        let repeated =
            repeated.then(|| "documents repeated 2, 3 and 4 times (LNC2-All)".to_owned());
        let instances = augmentation.instances.iter().map(|it| {
            let file = it.file.file_name().unwrap_or_default().to_string_lossy();
            format!("instances of `{file}` with the weight {}", it.weight)
        });
        let regularizer = match model {
            ModelToTrain::Network(it) => it.recipe.regularizer.as_ref(),
            ModelToTrain::Encoder(_) | ModelToTrain::LambdaMart(_) => None,
        };
        let regularizer = regularizer.map(|it| {
            let axioms: Vec<&str> = it.axioms.iter().map(|it| it.name()).collect();
            format!("regularizer with the axioms {}", axioms.join(", "))
        });
        let teacher = teacher.as_deref().map(|it| {
            let file = Path::new(it).file_name().unwrap_or_default();
            format!("scores of the teacher `{}`", file.to_string_lossy())
        });
        let augmented = repeated.into_iter().chain(instances);
        let augmented = augmented.chain(regularizer).chain(teacher);
        let mut augmented: Vec<String> = augmented.collect();
        if augmented.is_empty() {
            augmented.push("none".to_owned());
        }
        let encoder = match model {
            ModelToTrain::Encoder(it) => {
                let name = Path::new(&it.from).file_name().unwrap_or_default();
                Some(("encoder", format!("`{}`", name.to_string_lossy())))
            }
            ModelToTrain::Network(_) | ModelToTrain::LambdaMart(_) => None,
        };
        let (parameters, steps) = match model {
            ModelToTrain::Network(_) | ModelToTrain::Encoder(_) => ("trained weights", "updates"),
            ModelToTrain::LambdaMart(_) => ("leaves", "trees"),
        };
        for (name, value) in encoder.into_iter().chain([
            (
                "collection",
                format!("`{collection}`, candidate pool {pool}"),
            ),
            (
                "splits",
                format!(
                    "`{}` to train on, `{}` to select with, test {test}",
                    splits.train, splits.dev
                ),
            ),
            (
                "recipe",
                format!("{}, all numbers in `recipe.toml`", model.recipe_name()),
            ),
            ("augmentation", augmented.join("; ")),
            ("seed", seed.to_string()),
            (parameters, summary.parameters.to_string()),
            (
                steps,
                format!("{}, in {:.0} s", summary.steps, summary.seconds),
            ),
            (
                &*format!("SHA-256 of `{}`", self.weights_file),
                summary.sha256.clone(),
            ),
            ("SHA-256 of the data", self.data_sha256.to_owned()),
        ]) {
            add_row(&mut card, name, [value]);
        }
        let effectiveness = ReportTable {
            title: "Effectiveness".to_owned(),
            ..report::training_effectiveness_table(summary)
        };
        card.push('\n');
        card.push_str(&report::tables_to_markdown(&[effectiveness]));
        self.add_axioms(&mut card, steps);
        self.add_importances(&mut card);
        card
    }

    fn add_importances(&self, card: &mut String) {
        if self.importances.is_empty() {
            return;
        }
        card.push_str(
            "\n## Features\n\nThe importance of a feature is the sum of the gains of its splits, \
             as a fraction of the gains of all splits. M are the matched terms, Q ∩ d; df is the \
             number of the N documents with a term, cf that of its occurrences among T.\n\n",
        );
        let header = ["importance", "formula", "range"].map(str::to_owned);
        add_row(card, "feature", header);
        add_row(card, "---", ["---:", "---", "---"].map(str::to_owned));
        for (feature, importance) in self.importances {
            let importance = format!("{importance:.3}");
            let formula = format!("`{}`", feature.formula());
            add_row(
                card,
                feature.name(),
                [importance, formula, feature.range().to_owned()],
            );
        }
    }

    fn add_axioms(&self, card: &mut String, steps: &str) {
        let Some(selected) = self.selected else {
            return;
        };
        write!(
            card,
            "\n## Axioms\n\nFraction of satisfied instances on the development queries after {} \
             {steps}, with its 95 % interval over queries.\n\n",
            selected.step
        )
        .expect("a String takes every write");
        add_row(
            card,
            "axiom",
            ["fraction", "interval", "instances"].map(str::to_owned),
        );
        add_row(card, "---", ["---:"; 3].map(str::to_owned));
        for (slug, value) in &selected.axioms {
            let [low, high] = value.interval;
            let fraction = format!("{:.3}", value.fraction);
            let interval = format!("{low:.3}–{high:.3}");
            add_row(card, slug, [fraction, interval, value.n.to_string()]);
        }
    }
}

/// Adds a row of a table. A bar would end a cell, a line break the table.
fn add_row(card: &mut String, name: &str, values: impl IntoIterator<Item = String>) {
    write!(card, "| {name} |").expect("a String takes every write");
    for value in values {
        let value = value.replace('|', "\\|").replace(['\n', '\r'], " ");
        write!(card, " {value} |").expect("a String takes every write");
    }
    card.push('\n');
}

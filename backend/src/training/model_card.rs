//! The model card of a trained ranker, `README.md` in its folder.

use std::fmt::Write;

use shared::report::{self, ReportTable};
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::TrainingRequest;

/// What a model card is written from.
pub(super) struct ModelCard<'a> {
    pub request: &'a TrainingRequest,
    pub summary: &'a TrainingSummary,
    /// SHA-256 of everything that the scores in training depend on.
    pub data_sha256: &'a str,
    /// The point of the learning curve whose weights are the result.
    pub selected: Option<&'a LearningCurvePoint>,
}

impl ModelCard<'_> {
    /// Returns the card as Markdown.
    pub(super) fn to_markdown(&self) -> String {
        let TrainingRequest {
            collection,
            splits,
            recipe,
            augmentation,
            seed,
            pool,
            ..
        } = self.request;
        let summary = self.summary;
        let mut card = format!(
            "# {}\n\nTrained with Axioscope {}.\n\n| | |\n|---|---|\n",
            summary.model,
            env!("CARGO_PKG_VERSION")
        );
        let test = splits.test.as_deref().unwrap_or("none");
        let repeated = augmentation.repeats_documents;
        let repeated =
            repeated.then(|| "documents repeated 2, 3 and 4 times (LNC2-All)".to_owned());
        let instances = augmentation.instances.iter().map(|it| {
            let file = it.file.file_name().unwrap_or_default().to_string_lossy();
            format!("instances of `{file}` with the weight {}", it.weight)
        });
        let augmented: Vec<String> = repeated.into_iter().chain(instances).collect();
        for (name, value) in [
            (
                "collection",
                format!("`{collection}`, candidate pool {pool}"),
            ),
            (
                "splits",
                format!("train {}, dev {}, test {test}", splits.train, splits.dev),
            ),
            (
                "recipe",
                format!("{}, all numbers in `recipe.toml`", recipe.name),
            ),
            ("augmentation", augmented.join("; ")),
            ("seed", seed.to_string()),
            ("trained weights", summary.parameters.to_string()),
            (
                "updates",
                format!("{}, in {:.0} s", summary.steps, summary.seconds),
            ),
            ("SHA-256 of `model.safetensors`", summary.sha256.clone()),
            ("SHA-256 of the data", self.data_sha256.to_owned()),
        ] {
            add_row(&mut card, name, [value]);
        }
        let effectiveness = ReportTable {
            title: "Effectiveness".to_owned(),
            ..report::training_effectiveness_table(summary)
        };
        card.push('\n');
        card.push_str(&report::tables_to_markdown(&[effectiveness]));
        self.add_axioms(&mut card);
        card
    }

    fn add_axioms(&self, card: &mut String) {
        let Some(selected) = self.selected else {
            return;
        };
        write!(
            card,
            "\n## Axioms\n\nFraction of satisfied instances on the development queries after {} \
             updates, with its 95 % interval over queries.\n\n",
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

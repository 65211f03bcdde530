//! Recipes: all numbers of a training, each table with its source.
//!
//! A recipe is a TOML file. Its tables `[words]`, `[network]`, `[sampling]`, `[loss]`,
//! `[optimizer]`, `[schedule]`, `[selection]` and, for a term of the loss that other recipes do not
//! have, `[regularizer]` hold for all networks that it lists under `[models]`;
//! `[models.NAME.TABLE]` changes keys of a table for one network, and replaces the table if it has
//! a `function` or a `method`. Every table says under `source` where its numbers are from.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::error::TrainingError;
use super::regularizer::RegularizerSettings;
use super::sampling::{SamplerConfig, TrainingExamples};
use super::schedule::LearningRateSchedule;
use crate::fine_tuning::EncoderSettings;

mod settings;
mod tables;

pub use settings::{
    ExampleUnit, LossSettings, NegativeSource, NetworkSettings, OptimizerSettings,
    SamplingSettings, ScheduleSettings, SelectedWeights, SelectionMeasure, SelectionSettings,
    WordSettings,
};

use tables::NumberRange;

/// The built-in recipes by name; those of encoders have files of their own.
const BUILT_IN: [(&str, &str); 7] = [
    ("camara2020", include_str!("recipes/camara2020.toml")),
    ("default", include_str!("recipes/default.toml")),
    ("default", include_str!("recipes/default-encoder.toml")),
    ("formal2021", include_str!("recipes/formal2021.toml")),
    ("macavaney2022", include_str!("recipes/macavaney2022.toml")),
    ("rennings2019", include_str!("recipes/rennings2019.toml")),
    (
        "wikiqa-reference",
        include_str!("recipes/wikiqa-reference.toml"),
    ),
];

/// Keys that a recipe need not have.
const OPTIONAL_KEYS: [&str; 6] = [
    REGULARIZER_AXIOMS,
    "sampling.hard_negative_margin",
    "sampling.negative_depth",
    "schedule.updates_per_epoch",
    "selection.patience_epochs",
    "words.vectors",
];

/// The key that adds the table `[regularizer]`, or removes it with `none`.
const REGULARIZER_AXIOMS: &str = "regularizer.axioms";

/// All numbers of the training of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecipe {
    /// The name of the recipe.
    pub name: String,
    /// What the recipe reproduces, in one or two sentences.
    pub description: String,
    /// The words of queries and documents; not for encoders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<WordSettings>,
    /// The settings of the network that a recipe decides; not for encoders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSettings>,
    /// What is made of an encoder, instead of `words` and `network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<EncoderSettings>,
    /// The examples and how they are drawn.
    pub sampling: SamplingSettings,
    /// The loss over the scores of a batch.
    pub loss: LossSettings,
    /// The preferences of axioms that are a term of the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regularizer: Option<RegularizerSettings>,
    /// The optimizer with its numbers.
    pub optimizer: OptimizerSettings,
    /// The number of updates and their learning rates.
    pub schedule: ScheduleSettings,
    /// The weights that are kept.
    pub selection: SelectionSettings,
}

/// Returns the keys of a recipe that can be set, such as `optimizer.learning_rate`, in alphabetical
/// order: those in its tables other than sources, and the optional ones.
pub fn settable_keys(recipe: &Table, optional_keys: &[&str]) -> Vec<String> {
    let mut keys: Vec<String> = optional_keys.iter().map(|it| (*it).to_owned()).collect();
    for (name, value) in recipe {
        if let Value::Table(table) = value {
            let numbers = table.keys().filter(|it| *it != "source");
            keys.extend(numbers.map(|it| format!("{name}.{it}")));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

/// Returns the known key that `key` names, with or without its table.
pub fn find_settable_key<'a>(known: &'a [String], key: &str) -> Result<&'a String, TrainingError> {
    let matches = |it: &&String| *it == key || it.split('.').nth(1) == Some(key);
    let found = known.iter().find(matches);
    found.ok_or_else(|| TrainingError::UnknownRecipeKey {
        key: key.to_owned(),
        known: known.join(", "),
    })
}

impl TrainingRecipe {
    /// Returns the names of the built-in recipes for a model, for example `knrm`.
    pub fn built_in_names(model: &str) -> impl Iterator<Item = &'static str> {
        let of_model = move |it: &&(&str, &str)| has_model(it.1, model);
        BUILT_IN.iter().filter(of_model).map(|it| it.0)
    }

    /// Returns the built-in recipe `name` for a model, for example `knrm`.
    pub fn built_in(name: &str, model: &str) -> Result<TrainingRecipe, TrainingError> {
        let mut of_name = BUILT_IN.iter().filter(|it| it.0 == name).peekable();
        let first = of_name.peek().map(|it| it.1);
        let of_model = of_name.find(|it| has_model(it.1, model));
        match of_model.map(|it| it.1).or(first) {
            Some(text) => TrainingRecipe::parse(text, model),
            None => {
                let known = TrainingRecipe::built_in_names(model).map(|it| format!("`{it}`"));
                let known: Vec<String> = known.collect();
                Err(TrainingError::UnknownRecipe {
                    name: name.to_owned(),
                    known: known.join(", "),
                })
            }
        }
    }

    /// Parses a recipe file for a network, for example `knrm`.
    pub fn parse(text: &str, model: &str) -> Result<TrainingRecipe, TrainingError> {
        let mut table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return Err(invalid_recipe("file", &error)),
        };
        let name = table.get("name").and_then(Value::as_str);
        let name = name.unwrap_or("without a name").to_owned();
        let invalid = |reason: &dyn ToString| invalid_recipe(&name, reason);
        let Some(Value::Table(mut models)) = table.remove("models") else {
            return Err(invalid(&"there is no table `[models]`"));
        };
        let Some(Value::Table(changes)) = models.remove(model) else {
            let known: Vec<String> = models.keys().map(|it| format!("`{it}`")).collect();
            let known = known.join(", ");
            let reason = format!("it is not for model `{model}`, but for {known}");
            return Err(invalid(&reason));
        };
        for (key, change) in changes {
            merge_table(&mut table, &key, change)
                .map_err(|reason| invalid(&format!("[models.{model}.{key}] {reason}")))?;
        }
        let recipe: TrainingRecipe = table.try_into().map_err(|error| invalid(&error))?;
        recipe.check()?;
        Ok(recipe)
    }

    /// Returns the recipe as TOML, without `[models]`.
    pub fn to_toml(&self) -> String {
        self.to_table().to_string()
    }

    /// Returns all keys that [`TrainingRecipe::set`] knows, for example `optimizer.learning_rate`,
    /// in alphabetical order. Those of loss and optimizer depend on the function and the method.
    pub fn keys(&self) -> Vec<String> {
        settable_keys(&self.to_table(), &OPTIONAL_KEYS)
    }

    /// Sets one value, for example `learning_rate` to `0.01`. The table may precede the key:
    /// `optimizer.learning_rate`. Other methods and functions bring the default numbers of PyTorch,
    /// and `axioms`, a list with commas, those of [`RegularizerSettings`]; `none` removes an
    /// optional value. The source of the table mentions the change.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TrainingError> {
        let known = self.keys();
        let full_key = find_settable_key(&known, key)?;
        let invalid = |reason: String| TrainingError::InvalidRecipeValue {
            key: full_key.clone(),
            value: value.to_owned(),
            reason,
        };
        let (table_name, leaf) = full_key.split_once('.').unwrap_or_default();
        let mut table = self.to_table();
        let is_removed = value == "none" && OPTIONAL_KEYS.contains(&full_key.as_str());
        if full_key == REGULARIZER_AXIOMS {
            if is_removed {
                self.regularizer = None;
                return Ok(());
            }
            let default = Table::try_from(RegularizerSettings::default());
            let default = default.expect("the settings are texts, numbers and lists");
            table.entry(table_name).or_insert(Value::Table(default));
        }
        let Some(Value::Table(settings)) = table.get_mut(table_name) else {
            return Err(invalid(format!("there is no table `[{table_name}]`")));
        };
        match leaf {
            "function" => settings.retain(|key, _| key == "source"),
            "method" => settings.retain(|key, _| key == "source" || key == "max_gradient_norm"),
            _ => {}
        }
        if let Some(Value::String(source)) = settings.get_mut("source") {
            source.push_str(&format!("; `{leaf}` was set to {value}"));
        }
        // What looks like a number may be the name of a file.
        let candidates = match format!("value = {value}").parse::<Table>() {
            _ if is_removed => vec![None],
            _ if full_key == REGULARIZER_AXIOMS => {
                let axioms = value.split(',').map(|it| Value::from(it.trim()));
                vec![Some(Value::Array(axioms.collect()))]
            }
            Ok(mut parsed) => vec![parsed.remove("value"), Some(Value::from(value))],
            Err(_) => vec![Some(Value::from(value))],
        };
        let mut first_error = None;
        for candidate in candidates {
            let mut table = table.clone();
            if let Some(Value::Table(settings)) = table.get_mut(table_name) {
                settings.remove(leaf);
                settings.extend(candidate.map(|it| (leaf.to_owned(), it)));
            }
            match table.try_into::<TrainingRecipe>() {
                Ok(changed) => {
                    changed.check_ranges().map_err(invalid)?;
                    *self = changed;
                    return Ok(());
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let reason = first_error.map_or_else(String::new, |it| it.to_string());
        Err(invalid(reason.trim_end().replace('\n', " ")))
    }

    /// Returns the SHA-256 over all values in hex. Descriptions, sources and the name of the file
    /// of word vectors do not count; the contents of that file belong to the hash of the data.
    pub fn sha256(&self) -> String {
        let mut table = self.to_table();
        table.remove("description");
        for (_, value) in &mut table {
            if let Value::Table(settings) = value {
                settings.remove("source");
                settings.remove("vectors");
            }
        }
        format!("{:x}", Sha256::digest(table.to_string()))
    }

    /// Returns the tables `[words]` and `[network]`; an error if the recipe is of an encoder.
    pub fn words_and_network(&self) -> Result<(&WordSettings, &NetworkSettings), TrainingError> {
        match (&self.words, &self.network) {
            (Some(words), Some(network)) => Ok((words, network)),
            _ => Err(invalid_recipe(
                &self.name,
                &"it has no `[words]` and `[network]`",
            )),
        }
    }

    /// Returns the table `[encoder]`; an error if the recipe is of another network.
    pub fn encoder(&self) -> Result<&EncoderSettings, TrainingError> {
        let missing = || invalid_recipe(&self.name, &"it has no `[encoder]`");
        self.encoder.as_ref().ok_or_else(missing)
    }

    /// Returns the settings of the sampler.
    pub fn sampler_config(&self) -> SamplerConfig {
        SamplerConfig {
            order: self.sampling.order,
            batch_size: self.sampling.batch_size,
            n_negatives: self.sampling.n_negatives,
        }
    }

    /// Makes examples of the candidates of each query, given as row and grade.
    pub fn examples_from_grades(&self, queries: &[Vec<(usize, i32)>]) -> TrainingExamples {
        self.sampling.unit.examples_from_grades(queries)
    }

    /// Returns the number of updates in an epoch with `n_examples` examples.
    pub fn updates_per_epoch(&self, n_examples: usize) -> u64 {
        let whole = n_examples.div_ceil(self.sampling.batch_size.max(1)) as u64;
        self.schedule.updates_per_epoch.unwrap_or(whole).max(1)
    }

    /// Returns the learning rates of a training with `n_examples` examples.
    pub fn learning_rate_schedule(&self, n_examples: usize) -> LearningRateSchedule {
        LearningRateSchedule {
            warmup_fraction: self.schedule.warmup_fraction,
            decay: self.schedule.decay,
            n_updates: self
                .updates_per_epoch(n_examples)
                .saturating_mul(self.schedule.epochs),
        }
    }

    /// Returns an error if a value is out of range or does not go with another one.
    pub fn check(&self) -> Result<(), TrainingError> {
        let checked = self.check_ranges().and_then(|()| self.check_combinations());
        checked.map_err(|reason| invalid_recipe(&self.name, &reason))
    }

    /// Checks each value alone, so that several can be set one after the other.
    fn check_ranges(&self) -> Result<(), String> {
        let of_words = self.words.iter().flat_map(|it| {
            [
                ("words.dimensions", it.dimensions),
                ("words.max_query_terms", it.max_query_terms),
                ("words.max_document_terms", it.max_document_terms),
            ]
        });
        let of_encoder = self.encoder.iter().flat_map(|it| {
            [
                ("encoder.max_query_tokens", it.max_query_tokens),
                ("encoder.max_document_tokens", it.max_document_tokens),
                ("encoder.n_labels", it.n_labels),
                ("encoder.vector_dimension", it.vector_dimension),
            ]
        });
        let of_sampling = [
            ("sampling.batch_size", self.sampling.batch_size),
            ("sampling.n_negatives", self.sampling.n_negatives),
            (
                "sampling.negative_depth",
                self.sampling.negative_depth.unwrap_or(1),
            ),
        ];
        let counts = of_words.chain(of_encoder).chain(of_sampling);
        let counts = counts.map(|(key, count)| (key, count as u64));
        let epochs = [
            ("schedule.epochs", self.schedule.epochs),
            (
                "schedule.updates_per_epoch",
                self.schedule.updates_per_epoch.unwrap_or(1),
            ),
            (
                "selection.patience_epochs",
                self.selection.patience_epochs.unwrap_or(1),
            ),
        ];
        for (key, count) in counts.chain(epochs) {
            if count == 0 {
                return Err(format!("`{key}` is 0, but must be at least 1"));
            }
        }
        let margin = self.sampling.hard_negative_margin.unwrap_or(0.0);
        let warmup = self.schedule.warmup_fraction;
        let labels = self.encoder.as_ref().map_or(1, |it| it.n_labels);
        if labels > 2 {
            return Err(format!(
                "`encoder.n_labels` is {labels}, but must be 1 or 2"
            ));
        }
        let of_network = self.network.iter();
        let of_network =
            of_network.map(|it| ("network.dropout", it.dropout, NumberRange::BelowOne));
        let of_encoder = self.encoder.iter();
        let of_encoder =
            of_encoder.map(|it| ("encoder.dropout", it.dropout, NumberRange::BelowOne));
        let of_other_numbers = [
            ("sampling.hard_negative_margin", margin, NumberRange::Finite),
            ("schedule.warmup_fraction", warmup, NumberRange::BelowOne),
        ];
        let regularizer = self.regularizer.as_ref();
        if regularizer.is_some_and(|it| it.noise_terms == 0) {
            return Err("`regularizer.noise_terms` is 0, but must be at least 1".to_owned());
        }
        let of_regularizer = regularizer.into_iter().flat_map(|it| {
            let (weight, margin) = (it.axiom_weight, it.axiom_margin);
            [
                ("regularizer.axiom_weight", weight, NumberRange::Positive),
                ("regularizer.axiom_margin", margin, NumberRange::NotNegative),
            ]
        });
        let of_loss = tables::loss_ranges(self.loss.function);
        let of_optimizer = tables::optimizer_ranges(&self.optimizer);
        for (key, number, range) in of_network
            .chain(of_encoder)
            .chain(of_other_numbers)
            .chain(of_regularizer)
            .chain(of_loss)
            .chain(of_optimizer)
        {
            if !range.contains(number) {
                let range = range.description();
                return Err(format!("`{key}` is {number}, but must be {range}"));
            }
        }
        Ok(())
    }

    fn check_combinations(&self) -> Result<(), String> {
        match (&self.encoder, &self.words, &self.network) {
            (Some(_), None, None) if self.regularizer.is_some() => {
                return Err("`regularizer` changes words, which an encoder has not".to_owned());
            }
            (Some(_), None, None) | (None, Some(_), Some(_)) => {}
            _ => {
                return Err("it must have `[words]` and `[network]`, or `[encoder]`".to_owned());
            }
        }
        let sampling = &self.sampling;
        if sampling.unit == ExampleUnit::Pair && sampling.n_negatives != 1 {
            let n = sampling.n_negatives;
            return Err(format!(
                "`sampling.unit` is pair, but `n_negatives` is {n}, not 1"
            ));
        }
        if let Some(regularizer) = &self.regularizer {
            let mut axioms: Vec<&str> = regularizer.axioms.iter().map(|it| it.name()).collect();
            axioms.sort_unstable();
            let is_repeated = axioms.windows(2).any(|it| it[0] == it[1]);
            if axioms.is_empty() || is_repeated {
                let found = axioms.join(", ");
                return Err(format!(
                    "`regularizer.axioms` is [{found}], not one or more of tfc1, lnc1, lnc2"
                ));
            }
        }
        let (depth, margin) = (sampling.negative_depth, sampling.hard_negative_margin);
        match sampling.negatives {
            NegativeSource::Judged => Ok(()),
            NegativeSource::Random | NegativeSource::Hard if depth.is_none() => {
                Err("`sampling.negative_depth` is missing".to_owned())
            }
            NegativeSource::Hard if margin.is_none() => {
                Err("`sampling.hard_negative_margin` is missing".to_owned())
            }
            NegativeSource::Random | NegativeSource::Hard => Ok(()),
        }
    }

    fn to_table(&self) -> Table {
        Table::try_from(self).expect("a recipe has only tables, texts, numbers and booleans")
    }
}

/// Whether a recipe lists the model under `[models]`.
fn has_model(recipe: &str, model: &str) -> bool {
    let table: Table = recipe.parse().unwrap_or_default();
    let models = table.get("models").and_then(Value::as_table);
    models.is_some_and(|it| it.contains_key(model))
}

fn invalid_recipe(recipe: &str, reason: &dyn ToString) -> TrainingError {
    TrainingError::InvalidRecipe {
        recipe: recipe.to_owned(),
        reason: reason.to_string().trim_end().to_owned(),
    }
}

/// Changes the keys of a table of `recipe`, or replaces it if `change` has a function or a method.
fn merge_table(recipe: &mut Table, key: &str, change: Value) -> Result<(), &'static str> {
    let (Some(Value::Table(base)), Value::Table(change)) = (recipe.get_mut(key), change) else {
        return Err("changes no table of the recipe");
    };
    if !change.contains_key("source") {
        return Err("has no `source`");
    }
    if change.contains_key("function") || change.contains_key("method") {
        base.clear();
    }
    base.extend(change);
    Ok(())
}

#[cfg(test)]
mod tests;

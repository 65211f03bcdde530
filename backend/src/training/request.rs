//! What is trained, on what, and how.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use neural::InteractionRankerKind;
use neural::training::TrainingRecipe;
use shared::error::Error as InputError;
use shared::probe::CandidatePoolSpec;
use shared::training::spec::TrainingSpec;

use crate::error::Error;

/// What is trained, on what, and how.
#[derive(Debug, Clone)]
pub(crate) struct TrainingRequest {
    /// The network.
    pub model: InteractionRankerKind,
    /// The folder or name of the collection.
    pub collection: String,
    /// The documents that are candidates of a query besides those with a judgment; without one
    /// their grade is 0.
    pub pool: CandidatePoolSpec,
    /// The splits of its queries.
    pub splits: TrainingSplits,
    /// All numbers of the training.
    pub recipe: TrainingRecipe,
    /// What is added to the training examples.
    pub augmentation: Augmentation,
    /// The seed of weights, dropout and examples.
    pub seed: u64,
    /// The folder of the trained ranker.
    pub out: PathBuf,
}

impl TrainingRequest {
    /// Parses what users ask for and reads the recipe.
    pub(crate) fn resolve(
        spec: &TrainingSpec,
        collection: &str,
        out: &Path,
    ) -> Result<TrainingRequest, Error> {
        let known = InteractionRankerKind::ALL;
        let Some(model) = known.into_iter().find(|it| it.name() == spec.model) else {
            return Err(InputError::not_one_of("model", &spec.model, known).into());
        };
        Ok(TrainingRequest {
            model,
            collection: collection.to_owned(),
            pool: spec.pool.parse()?,
            splits: TrainingSplits {
                train: spec.split.clone(),
                dev: spec.dev.clone(),
                test: spec.test.clone(),
            },
            recipe: read_recipe(spec)?,
            augmentation: Augmentation::parse(&spec.augment)?,
            seed: spec.seed,
            out: out.to_owned(),
        })
    }
}

/// Reads the recipe from a file or the program and changes what the user sets.
fn read_recipe(spec: &TrainingSpec) -> Result<TrainingRecipe, Error> {
    let file = Path::new(&spec.recipe);
    let mut recipe = if file.is_file() {
        let way_out = "give the name of a recipe, or a file in UTF-8";
        let text =
            std::fs::read_to_string(file).map_err(Error::io_error_converter(file, way_out))?;
        TrainingRecipe::parse(&text, &spec.model)?
    } else {
        TrainingRecipe::built_in(&spec.recipe, &spec.model)?
    };
    if let Some(variant) = &spec.variant {
        recipe.set("variant", variant)?;
    }
    for setting in &spec.set {
        match setting.split_once('=') {
            Some((key, value)) => recipe.set(key.trim(), value.trim())?,
            None => recipe.set(setting, "")?,
        }
    }
    Ok(recipe)
}

/// The splits of queries that a training uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrainingSplits {
    /// The queries whose documents are the examples.
    pub train: String,
    /// The queries that select the weights and give the learning curve.
    pub dev: String,
    /// The queries on which the result is evaluated.
    pub test: Option<String>,
}

/// What is added to the training examples.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Augmentation {
    /// Whether each document is also an example when it is repeated 2, 3 and 4 times, with the same
    /// grade: LNC2-All of Rennings, Moraes and Hauff (ECIR 2019).
    pub repeats_documents: bool,
    /// Instances of axioms, as pairs of a document that should score higher and another one.
    pub instances: Vec<InstanceAugmentation>,
}

impl Augmentation {
    /// Parses `lnc2` and `instances:FILE[:WEIGHT]`.
    fn parse(values: &[String]) -> Result<Augmentation, InputError> {
        let mut augmentation = Augmentation::default();
        for value in values {
            match (&**value, value.strip_prefix("instances:")) {
                ("lnc2", _) => augmentation.repeats_documents = true,
                (_, Some(instances)) => {
                    let instances: InstanceAugmentation = instances
                        .parse()
                        .map_err(|it| InputError::malformed_value("augment", it))?;
                    augmentation.instances.push(instances);
                }
                (_, None) => {
                    let known = ["lnc2", "instances:FILE[:WEIGHT]"];
                    return Err(InputError::not_one_of("augment", value, known));
                }
            }
        }
        Ok(augmentation)
    }
}

/// Instances of axioms among the training examples; those of other queries are not used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceAugmentation {
    /// The instance file.
    pub file: PathBuf,
    /// How many pairs of documents are from instances for each pair of different grades.
    pub weight: f64,
}

/// Parses `FILE` or `FILE:WEIGHT`.
impl FromStr for InstanceAugmentation {
    type Err = String;

    fn from_str(text: &str) -> Result<InstanceAugmentation, String> {
        let (file, weight) = match text.rsplit_once(':') {
            Some((file, weight)) => match weight.parse::<f64>() {
                Ok(weight) => (file, weight),
                Err(_) => (text, 1.0),
            },
            None => (text, 1.0),
        };
        if !(weight > 0.0 && weight <= 100.0) {
            return Err(format!(
                "the weight {weight} is not above 0 and at most 100"
            ));
        }
        Ok(InstanceAugmentation {
            file: PathBuf::from(file),
            weight,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_may_follow_the_file_of_instances() {
        let parse = |text: &str| text.parse::<InstanceAugmentation>();
        let expected = |file: &str, weight| {
            Ok(InstanceAugmentation {
                file: PathBuf::from(file),
                weight,
            })
        };
        assert_eq!(parse("lnc2.parquet"), expected("lnc2.parquet", 1.0));
        assert_eq!(parse("lnc2.parquet:0.5"), expected("lnc2.parquet", 0.5));
        assert_eq!(parse("C:\\lnc2.parquet"), expected("C:\\lnc2.parquet", 1.0));
        for weight in ["0", "-1", "101", "NaN", "inf"] {
            let error = parse(&format!("lnc2.parquet:{weight}")).unwrap_err();
            assert!(error.contains("is not above 0 and at most 100"), "{error}");
        }
    }
}

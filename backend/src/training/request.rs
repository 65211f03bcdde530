//! What is trained, on what, and how.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use neural::training::{NegativeSource, TrainingRecipe};
use neural::{FineTunedRankerKind, InteractionRankerKind};
use shared::error::Error as InputError;
use shared::probe::CandidatePoolSpec;
use shared::training::spec::TrainingSpec;

use super::lambdamart::recipe::LambdaMartRecipe;
use crate::error::Error;

/// What is trained, on what, and how.
#[derive(Debug, Clone)]
pub(crate) struct TrainingRequest {
    /// The model with all numbers of its training.
    pub model: ModelToTrain,
    /// The folder or name of the collection.
    pub collection: String,
    /// The documents that are candidates of a query besides those with a judgment; without one
    /// their grade is 0.
    pub pool: CandidatePoolSpec,
    /// The splits of its queries.
    pub splits: TrainingSplits,
    /// What is added to the training examples.
    pub augmentation: Augmentation,
    /// The run or score file of a teacher, for a loss that compares scores with it.
    pub teacher: Option<String>,
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
        let request = TrainingRequest {
            model: ModelToTrain::resolve(spec)?,
            collection: collection.to_owned(),
            pool: spec.pool.parse()?,
            splits: TrainingSplits {
                train: spec.split.clone(),
                dev: spec.dev.clone(),
                test: spec.test.clone(),
            },
            augmentation: Augmentation::parse(&spec.augment)?,
            teacher: spec.teacher.clone(),
            seed: spec.seed,
            out: out.to_owned(),
        };
        request.check_combinations()?;
        Ok(request)
    }

    /// Checks that pool and teacher are those that the recipe needs.
    fn check_combinations(&self) -> Result<(), Error> {
        let recipe = match &self.model {
            ModelToTrain::Network(it) => &it.recipe,
            ModelToTrain::Encoder(it) => &it.recipe,
            ModelToTrain::LambdaMart(_) if self.teacher.is_some() => {
                let reason = "has scores, but LambdaMART learns from grades; leave it out";
                return Err(InputError::conflicting_value("teacher", reason).into());
            }
            ModelToTrain::LambdaMart(_) => return Ok(()),
        };
        recipe.check()?;
        let conflict = |field: &str, reason: &str| -> Result<(), Error> {
            Err(InputError::conflicting_value(field, reason).into())
        };
        let pool_depth = match &self.pool {
            CandidatePoolSpec::Run { depth, .. } => Some(*depth),
            CandidatePoolSpec::LexicalRanker { depth, .. } => Some(*depth),
            CandidatePoolSpec::Group | CandidatePoolSpec::Judged | CandidatePoolSpec::All => None,
        };
        let depth = recipe.sampling.negative_depth.unwrap_or(1);
        let of_ranking = match recipe.sampling.negatives {
            NegativeSource::Judged => false,
            NegativeSource::Random | NegativeSource::Hard => true,
        };
        if of_ranking && pool_depth.is_none() {
            let reason = format!(
                "`random` and `hard` need a ranking, which the pool `{}` is not; take the pool \
                 rank:bm25:{depth} or run:FILE:{depth}",
                self.pool
            );
            conflict("sampling.negatives", &reason)?;
        }
        if of_ranking && pool_depth.is_some_and(|it| it < depth) {
            let reason = format!("is {depth}, above the depth of the pool `{}`", self.pool);
            conflict("sampling.negative_depth", &reason)?;
        }
        match (recipe.loss.function.needs_teacher_scores(), &self.teacher) {
            (true, None) => {
                let reason = "there are no scores of a teacher; name a run with --teacher FILE";
                conflict("loss.function", reason)?;
            }
            (false, Some(_)) => {
                let reason = "has scores, which only the loss `margin-mse` compares with; add \
                              --set function=margin-mse";
                conflict("teacher", reason)?;
            }
            (true, Some(_)) | (false, None) => {}
        }
        Ok(())
    }
}

/// A model with all numbers of its training.
#[derive(Debug, Clone)]
pub(crate) enum ModelToTrain {
    /// A network over the interactions of query and document words.
    Network(Box<NetworkToTrain>),
    /// A cross-encoder or a ColBERT made of an encoder.
    Encoder(Box<EncoderToTrain>),
    /// LambdaMART, an ensemble of regression trees over features.
    LambdaMart(Box<LambdaMartRecipe>),
}

/// A network with all numbers of its training.
#[derive(Debug, Clone)]
pub(crate) struct NetworkToTrain {
    /// The network.
    pub kind: InteractionRankerKind,
    /// All numbers of the training.
    pub recipe: TrainingRecipe,
}

/// A cross-encoder or a ColBERT made of an encoder, with all numbers of its training.
#[derive(Debug, Clone)]
pub(crate) struct EncoderToTrain {
    /// What is made of the encoder.
    pub kind: FineTunedRankerKind,
    /// The folder of the encoder, or its name on the hub.
    pub from: String,
    /// All numbers of the training.
    pub recipe: TrainingRecipe,
}

impl ModelToTrain {
    /// The name of LambdaMART, as in `--model`.
    const LAMBDAMART: &str = "lambdamart";

    /// Returns the names of all models that can be trained, as in `--model`.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let encoders = FineTunedRankerKind::ALL.into_iter().map(|it| it.name());
        ModelToTrain::names_without_encoder().chain(encoders)
    }

    /// Returns the names of the models that are not made of an encoder.
    pub(crate) fn names_without_encoder() -> impl Iterator<Item = &'static str> {
        let networks = InteractionRankerKind::ALL.into_iter();
        networks
            .map(|it| it.name())
            .chain([ModelToTrain::LAMBDAMART])
    }

    /// Returns the names of the recipes in the program for the model of this name.
    pub(crate) fn built_in_recipes(model: &str) -> Vec<&'static str> {
        match model {
            ModelToTrain::LAMBDAMART => LambdaMartRecipe::built_in_names().collect(),
            _ => TrainingRecipe::built_in_names(model).collect(),
        }
    }

    /// Finds the model that users ask for and reads its recipe.
    fn resolve(spec: &TrainingSpec) -> Result<ModelToTrain, Error> {
        if spec.model == ModelToTrain::LAMBDAMART {
            return Ok(ModelToTrain::LambdaMart(Box::new(read_lambdamart_recipe(
                spec,
            )?)));
        }
        let mut encoders = FineTunedRankerKind::ALL.into_iter();
        let encoder = encoders.find(|it| it.name() == spec.model);
        let conflict = |reason: &str| InputError::conflicting_value("from", reason).into();
        match (encoder, &spec.from) {
            (Some(kind), Some(from)) => {
                let (from, recipe) = (from.clone(), read_network_recipe(spec)?);
                recipe.encoder()?;
                let encoder = EncoderToTrain { kind, from, recipe };
                return Ok(ModelToTrain::Encoder(Box::new(encoder)));
            }
            (Some(_), None) => {
                let reason = "is missing; name the encoder, for example --from \
                              sentence-transformers/all-MiniLM-L6-v2";
                return Err(conflict(reason));
            }
            (None, Some(_)) => {
                let reason = "is for the models cross-encoder and colbert; leave it out";
                return Err(conflict(reason));
            }
            (None, None) => {}
        }
        let mut networks = InteractionRankerKind::ALL.into_iter();
        let Some(kind) = networks.find(|it| it.name() == spec.model) else {
            return Err(InputError::not_one_of("model", &spec.model, ModelToTrain::names()).into());
        };
        let recipe = read_network_recipe(spec)?;
        recipe.words_and_network()?;
        let network = NetworkToTrain { kind, recipe };
        Ok(ModelToTrain::Network(Box::new(network)))
    }

    /// Returns the name of the model, as in `--model`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            ModelToTrain::Network(it) => it.kind.name(),
            ModelToTrain::Encoder(it) => it.kind.name(),
            ModelToTrain::LambdaMart(_) => ModelToTrain::LAMBDAMART,
        }
    }

    /// Returns the ending of the trained ranker's spec, such as `cross` of `NAME:cross`.
    pub(crate) fn spec_ending(&self) -> &'static str {
        match self {
            ModelToTrain::Encoder(it) if it.kind == FineTunedRankerKind::CrossEncoder => "cross",
            _ => self.name(),
        }
    }

    /// Returns the file of word vectors that the recipe names.
    pub(crate) fn word_vectors(&self) -> Option<&str> {
        match self {
            ModelToTrain::Network(it) => it.recipe.words.as_ref()?.vectors.as_deref(),
            ModelToTrain::Encoder(_) => None,
            ModelToTrain::LambdaMart(it) => it.features.vectors.as_deref(),
        }
    }

    /// Returns the name of the recipe.
    pub(super) fn recipe_name(&self) -> &str {
        match self {
            ModelToTrain::Network(it) => &it.recipe.name,
            ModelToTrain::Encoder(it) => &it.recipe.name,
            ModelToTrain::LambdaMart(it) => &it.name,
        }
    }
}

/// Reads the recipe of a network from a file or the program and changes what the user sets.
fn read_network_recipe(spec: &TrainingSpec) -> Result<TrainingRecipe, Error> {
    let mut recipe = match read_recipe_file(spec, TrainingRecipe::built_in_names(&spec.model))? {
        Some(text) => TrainingRecipe::parse(&text, &spec.model)?,
        None => TrainingRecipe::built_in(&spec.recipe, &spec.model)?,
    };
    if let Some(variant) = &spec.variant {
        recipe.set("variant", variant)?;
    }
    for (key, value) in settings(spec) {
        recipe.set(key, value)?;
    }
    Ok(recipe)
}

/// Reads the recipe of LambdaMART from a file or the program and changes what the user sets.
fn read_lambdamart_recipe(spec: &TrainingSpec) -> Result<LambdaMartRecipe, Error> {
    if spec.variant.is_some() {
        let reason = "is for networks whose published code has defects; leave it out";
        return Err(InputError::unsupported_value("variant", reason).into());
    }
    let mut recipe = match read_recipe_file(spec, LambdaMartRecipe::built_in_names())? {
        Some(text) => LambdaMartRecipe::parse(&text)?,
        None => LambdaMartRecipe::built_in(&spec.recipe)?,
    };
    for (key, value) in settings(spec) {
        recipe.set(key, value)?;
    }
    Ok(recipe)
}

/// Reads the recipe if it is a file; `None` for the name of a recipe in the program.
fn read_recipe_file(
    spec: &TrainingSpec,
    mut built_in_names: impl Iterator<Item = &'static str>,
) -> Result<Option<String>, Error> {
    let file = Path::new(&spec.recipe);
    if built_in_names.any(|it| it == spec.recipe) || !file.is_file() {
        return Ok(None);
    }
    let way_out = "give the name of a recipe, or a file in UTF-8";
    let text = std::fs::read_to_string(file).map_err(Error::io_error_converter(file, way_out))?;
    Ok(Some(text))
}

/// Returns the keys and values that the user sets.
fn settings(spec: &TrainingSpec) -> impl Iterator<Item = (&str, &str)> {
    spec.set.iter().map(|it| match it.split_once('=') {
        Some((key, value)) => (key.trim(), value.trim()),
        None => (it.as_str(), ""),
    })
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

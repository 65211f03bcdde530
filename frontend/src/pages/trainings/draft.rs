//! The values of the form for a new training, as typed.

use shared::api::ErrorResponse;
use shared::api::training::{CreateTrainingRequest, TrainingChoices, TrainingCollection};
use shared::training::spec::TrainingSpec;

use crate::widgets::form::{self, FormFieldError, FormFieldId};

/// The error of a field of the form.
pub(super) type TrainingFieldError = FormFieldError<TrainingField>;

/// The maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrainingField {
    Name,
    Model,
    Collection,
    Split,
    Dev,
    Test,
    Pool,
    Recipe,
    Variant,
    Augment,
    Settings,
    Seed,
    /// No field in particular.
    Form,
}

impl TrainingField {
    /// Returns the field that the server names, with or without the name of the object around it.
    fn of(name: &str) -> TrainingField {
        match name.rsplit('.').next().unwrap_or(name) {
            "name" | "out" => TrainingField::Name,
            "model" => TrainingField::Model,
            "collection" => TrainingField::Collection,
            "split" => TrainingField::Split,
            "dev" => TrainingField::Dev,
            "test" => TrainingField::Test,
            "pool" => TrainingField::Pool,
            "recipe" => TrainingField::Recipe,
            "variant" => TrainingField::Variant,
            "augment" => TrainingField::Augment,
            "set" => TrainingField::Settings,
            "seed" => TrainingField::Seed,
            _ => TrainingField::Form,
        }
    }
}

impl FormFieldId for TrainingField {
    fn id(self) -> String {
        format!("wrong-{self:?}").to_lowercase()
    }
}

/// The candidates of a query besides its judged documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddedCandidates {
    None,
    Group,
    Bm25,
    All,
}

impl AddedCandidates {
    /// Each choice with its option value and display name.
    pub(super) const ALL: &[(AddedCandidates, &str, &str)] = &[
        (AddedCandidates::None, "judged", "Judged documents only"),
        (
            AddedCandidates::Bm25,
            "bm25",
            "Judged documents and BM25 top K",
        ),
        (
            AddedCandidates::Group,
            "group",
            "Judged documents and those of the group",
        ),
        (AddedCandidates::All, "all", "All documents"),
    ];
}

/// The values of the form. Numbers are stored as text, so that an invalid one can be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TrainingDraft {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) collection: String,
    pub(super) split: String,
    pub(super) dev: String,
    /// Empty without a test split.
    pub(super) test: String,
    pub(super) added_candidates: AddedCandidates,
    /// The number of documents that BM25 adds to each query.
    pub(super) depth: String,
    pub(super) recipe: String,
    /// Empty for what the recipe says.
    pub(super) variant: String,
    pub(super) repeats_documents: bool,
    pub(super) settings: String,
    pub(super) seed: String,
}

impl TrainingDraft {
    /// Creates a draft with the first choices.
    pub(super) fn first_choices(choices: &TrainingChoices) -> TrainingDraft {
        let first = |values: &[String]| values.first().cloned().unwrap_or_default();
        let mut draft = TrainingDraft {
            name: String::new(),
            model: first(&choices.models),
            collection: String::new(),
            split: String::new(),
            dev: String::new(),
            test: String::new(),
            added_candidates: AddedCandidates::None,
            depth: "50".to_owned(),
            recipe: first(&choices.recipes),
            variant: String::new(),
            repeats_documents: false,
            settings: String::new(),
            seed: "1".to_owned(),
        };
        if let Some(collection) = choices.collections.first() {
            draft.choose_collection(collection);
        }
        draft
    }

    /// Chooses a collection, and those of its splits that have the usual names.
    pub(super) fn choose_collection(&mut self, collection: &TrainingCollection) {
        let TrainingCollection { name, splits } = collection;
        let named = |names: &[&str]| {
            let named = names
                .iter()
                .find(|name| splits.iter().any(|it| it == *name));
            named.map(|it| (*it).to_owned())
        };
        self.collection.clone_from(name);
        let first = splits.first().cloned().unwrap_or_default();
        self.split = named(&["train"]).unwrap_or(first);
        let other = splits.iter().find(|it| **it != self.split).cloned();
        let dev = named(&["dev", "valid", "validation"]).or(other);
        self.dev = dev.unwrap_or_default();
        self.test = named(&["test"]).unwrap_or_default();
    }

    /// Returns the request, or the errors of all fields.
    pub(super) fn to_request(&self) -> Result<CreateTrainingRequest, Vec<TrainingFieldError>> {
        let mut wrong = form::FieldErrors(Vec::new());
        wrong.collect(TrainingField::Name, check_name(&self.name));
        let pool = match self.added_candidates {
            AddedCandidates::None => "judged".to_owned(),
            AddedCandidates::Group => "group".to_owned(),
            AddedCandidates::All => "all".to_owned(),
            AddedCandidates::Bm25 => {
                let depth = form::parse_integer_at_least::<u32>(&self.depth, 1, "");
                let depth = wrong.collect(TrainingField::Pool, depth);
                format!("rank:bm25:{}", depth.unwrap_or_default())
            }
        };
        let seed = form::parse_integer_at_least(&self.seed, 0, "");
        let seed: u64 = wrong.collect(TrainingField::Seed, seed).unwrap_or_default();
        let set: Vec<String> = self
            .settings
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        if let Some(setting) = set.iter().find(|it| !it.contains('=')) {
            let reason = format!("`{setting}` has no value: write {setting}=VALUE");
            wrong.add(TrainingField::Settings, reason);
        }
        if !wrong.0.is_empty() {
            return Err(wrong.0);
        }
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok(CreateTrainingRequest {
            name: self.name.trim().to_owned(),
            collection: self.collection.clone(),
            spec: TrainingSpec {
                from: None,
                model: self.model.clone(),
                pool,
                split: self.split.clone(),
                dev: self.dev.clone(),
                test: given(&self.test),
                recipe: self.recipe.clone(),
                variant: given(&self.variant),
                teacher: None,
                augment: self
                    .repeats_documents
                    .then(|| "lnc2".to_owned())
                    .into_iter()
                    .collect(),
                set,
                seed,
            },
        })
    }
}

/// Checks that a name can be part of an address.
fn check_name(name: &str) -> Result<(), String> {
    let name = name.trim();
    let is_allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    if name.is_empty() {
        return Err("enter a name".to_owned());
    }
    if let Some(other) = name.chars().find(|it| !is_allowed(*it)) {
        return Err(format!(
            "`{other}` is not allowed: use lowercase letters, digits and hyphens"
        ));
    }
    match name.len() {
        ..=MAX_NAME_LENGTH => Ok(()),
        length => Err(format!(
            "has {length} characters: use at most {MAX_NAME_LENGTH}"
        )),
    }
}

/// Describes the candidates of a query in the words of the form.
pub(super) fn describe_candidates(pool: &str) -> String {
    let all = AddedCandidates::ALL.iter();
    let mut named = all.filter(|it| it.1 == pool).map(|it| it.2);
    match (named.next(), pool.strip_prefix("rank:bm25:")) {
        (Some(named), _) => named.to_owned(),
        (None, Some(depth)) => format!("Judged documents and BM25 top {depth}"),
        (None, None) => pool.to_owned(),
    }
}

/// Describes what is added to the training examples.
pub(super) fn describe_augmentation(augment: &[String]) -> String {
    let names = augment.iter().map(|it| match &**it {
        "lnc2" => "repeated documents (LNC2-All)",
        other => other,
    });
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// Returns an error of the server with the field that it concerns.
pub(super) fn field_error_of(problem: &ErrorResponse) -> TrainingFieldError {
    let field = problem.field.as_deref();
    match field.map_or(TrainingField::Form, TrainingField::of) {
        TrainingField::Form => TrainingFieldError {
            field: TrainingField::Form,
            reason: problem.error.clone(),
        },
        field => TrainingFieldError {
            field,
            reason: problem.message_without_field().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(splits: &[&str]) -> TrainingChoices {
        TrainingChoices {
            models: vec!["drmm".to_owned(), "duet".to_owned()],
            collections: vec![TrainingCollection {
                name: "wikiqa".to_owned(),
                splits: splits.iter().map(|it| (*it).to_owned()).collect(),
            }],
            recipes: vec!["default".to_owned()],
        }
    }

    fn draft() -> TrainingDraft {
        TrainingDraft {
            name: " my-drmm ".to_owned(),
            ..TrainingDraft::first_choices(&choices(&["test", "train", "dev"]))
        }
    }

    #[test]
    fn the_first_choices_make_a_request_with_the_usual_splits() {
        let request = draft().to_request().unwrap();
        let expected = CreateTrainingRequest {
            name: "my-drmm".to_owned(),
            collection: "wikiqa".to_owned(),
            spec: TrainingSpec {
                test: Some("test".to_owned()),
                ..TrainingSpec::of_model("drmm")
            },
        };
        assert_eq!(request, expected);
        let two = TrainingDraft::first_choices(&choices(&["a", "b"]));
        assert_eq!([two.split, two.dev, two.test], ["a", "b", ""]);
    }

    #[test]
    fn every_choice_is_in_the_request() {
        let request = TrainingDraft {
            added_candidates: AddedCandidates::Bm25,
            depth: "20".to_owned(),
            variant: "as-published".to_owned(),
            repeats_documents: true,
            settings: "epochs=20  optimizer.learning_rate=0.01".to_owned(),
            seed: "7".to_owned(),
            test: String::new(),
            ..draft()
        };
        let spec = request.to_request().unwrap().spec;
        assert_eq!((&*spec.pool, spec.seed), ("rank:bm25:20", 7));
        assert_eq!(spec.test, None);
        assert_eq!(spec.variant.as_deref(), Some("as-published"));
        assert_eq!(spec.augment, ["lnc2"]);
        assert_eq!(spec.set, ["epochs=20", "optimizer.learning_rate=0.01"]);
        assert!(
            spec.pool
                .parse::<shared::probe::CandidatePoolSpec>()
                .is_ok()
        );
    }

    #[test]
    fn a_request_is_described_in_the_words_of_the_form() {
        let candidates = ["judged", "rank:bm25:50", "run:bm25.run:10"].map(describe_candidates);
        let expected = [
            "Judged documents only",
            "Judged documents and BM25 top 50",
            "run:bm25.run:10",
        ];
        assert_eq!(candidates, expected);
        let augment = ["lnc2", "instances:x"].map(str::to_owned);
        assert_eq!(describe_augmentation(&[]), "none");
        assert_eq!(
            describe_augmentation(&augment),
            "repeated documents (LNC2-All), instances:x"
        );
    }

    #[test]
    fn every_invalid_field_has_its_error() {
        let wrong = TrainingDraft {
            name: "My DRMM".to_owned(),
            added_candidates: AddedCandidates::Bm25,
            depth: "0".to_owned(),
            settings: "epochs".to_owned(),
            seed: "-1".to_owned(),
            ..draft()
        };
        let errors = wrong.to_request().unwrap_err();
        let fields: Vec<TrainingField> = errors.iter().map(|it| it.field).collect();
        let expected = [
            TrainingField::Name,
            TrainingField::Pool,
            TrainingField::Seed,
            TrainingField::Settings,
        ];
        assert_eq!(fields, expected);
        assert!(errors[0].reason.starts_with("`M` is not allowed"));
        assert!(check_name("").is_err() && check_name(&"a".repeat(65)).is_err());
        assert_eq!(check_name(&"a".repeat(64)), Ok(()));
    }

    #[test]
    fn an_error_of_the_server_is_shown_beside_its_field() {
        let of = |field: Option<&str>, message: &str| {
            let problem = ErrorResponse::with_message_and_type(message, "setting");
            let field = field.map(str::to_owned);
            field_error_of(&ErrorResponse { field, ..problem })
        };
        let recipe = of(Some("recipe"), "recipe: there is none for duet");
        assert_eq!(recipe.field, TrainingField::Recipe);
        assert_eq!(recipe.reason, "there is none for duet");
        assert_eq!(of(Some("spec.set"), "").field, TrainingField::Settings);
        let whole = of(None, "the server is shutting down");
        assert_eq!(whole.field, TrainingField::Form);
        assert_eq!(whole.reason, "the server is shutting down");
    }
}

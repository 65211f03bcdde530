//! The form with which operators start a training.

use leptos::prelude::*;
use shared::api::training::{TrainingChoices, TrainingCollection};

use super::draft::{self, AddedCandidates, TrainingDraft, TrainingField, TrainingFieldError};
use super::status;
use crate::api::mutation::{MutatingRequestState, spawn_unless_busy};
use crate::api::{self, RequestError};
use crate::location;
use crate::routes::PageRoute;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::form::{
    FieldErrorMessage, FormCheckbox, FormSelect, FormTextField, FormValuesAndErrors, SelectField,
};
use crate::widgets::section::Section;

/// The variants of a network, each with its option value.
const VARIANTS: [(&str, &str); 3] = [
    ("", "as in the recipe"),
    ("as-published", "as published, with the defects of the code"),
    ("as-intended", "as intended by its authors"),
];

/// Renders the section with the form, or what is missing for a training.
#[component]
pub(super) fn NewTrainingSection(choices: TrainingChoices) -> impl IntoView {
    let body = match choices.collections.is_empty() {
        true => view! {
            <p class="ahead">
                "No imported collection has relevance judgments and splits. Import one with "
                <code>"axioscope import"</code>
                ", then reload this page; the splits are in its file "
                <code>"splits.tsv"</code>
                "."
            </p>
        }
        .into_any(),
        false => view! { <NewTrainingForm choices/> }.into_any(),
    };
    view! {
        <Section
            id="new-training"
            name="New training"
            note="The training runs on this server. You can close the page in the meantime."
        >
            {body}
        </Section>
    }
}

/// The state of the form.
#[derive(Clone, Copy)]
struct TrainingForm {
    fields: FormValuesAndErrors<TrainingDraft, TrainingField>,
    /// The error that the server found in a field, until the draft changes.
    server_error: RwSignal<Option<TrainingFieldError>>,
    /// Whether the user has tried to start the training. Before that, nothing is an error.
    was_submitted: RwSignal<bool>,
    /// The state of the request, with errors that belong to no field.
    action: MutatingRequestState,
}

impl TrainingForm {
    fn new(choices: &TrainingChoices) -> TrainingForm {
        let draft = RwSignal::new(TrainingDraft::first_choices(choices));
        let server_error = RwSignal::new(None::<TrainingFieldError>);
        let was_submitted = RwSignal::new(false);
        let errors = move || {
            let own = draft.with(|it| it.to_request().err().unwrap_or_default());
            let own = own.into_iter().filter(|_| was_submitted.get());
            own.chain(server_error.get()).collect()
        };
        Effect::new(move |before: Option<()>| {
            draft.track();
            if before.is_some() {
                server_error.set(None);
            }
        });
        TrainingForm {
            fields: FormValuesAndErrors {
                values: draft,
                errors: Signal::derive(errors),
            },
            server_error,
            was_submitted,
            action: MutatingRequestState::new(),
        }
    }

    fn start(self) {
        self.was_submitted.set(true);
        self.action.error.set(None);
        let Ok(request) = self.fields.values.with_untracked(TrainingDraft::to_request) else {
            return;
        };
        let reply = async move { api::send_and_parse(&request).await };
        spawn_unless_busy(self.action.is_busy, reply, move |reply| match reply {
            Ok(job) => {
                let page = PageRoute::Training { training: job.name };
                location::open_page(&page.href());
            }
            Err(error) => self.show_error(error),
        });
    }

    /// Shows an error of the server beside its field, or any other error below the form.
    fn show_error(self, error: RequestError) {
        let named = match &error {
            RequestError::Server(problem) => Some(draft::field_error_of(problem)),
            RequestError::Network(_) | RequestError::File(_) => None,
        };
        match named.filter(|it| it.field != TrainingField::Form) {
            Some(named) => self.server_error.set(Some(named)),
            None => self.action.error.set(Some(error)),
        }
    }
}

#[component]
fn NewTrainingForm(choices: TrainingChoices) -> impl IntoView {
    use TrainingField::{Model, Recipe, Variant};
    let form = TrainingForm::new(&choices);
    let fields = form.fields;
    let TrainingChoices {
        models,
        collections,
        recipes,
    } = choices;
    let models = models.into_iter().map(|it| {
        let label = status::network_label(&it);
        (it, label)
    });
    let models: Vec<(String, String)> = models.collect();
    let recipes = options_of_names(&recipes);
    let variants = VARIANTS.to_vec();
    let start = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.start();
    };
    let is_bm25 = Memo::new(move |_| {
        let added = fields.values.with(|it| it.added_candidates);
        added == AddedCandidates::Bm25
    });
    view! {
        <form on:submit=start novalidate>
            <fieldset class="form">
                <legend>"Ranker"</legend>
                <FormTextField
                    form=fields
                    field=TrainingField::Name
                    label="Name"
                    note="Lowercase letters, digits and hyphens. Also the address of its page."
                    text=|it| &mut it.name
                />
                {fields.select_with_error(Model, "Network", models, |it| &mut it.model)}
                {fields.select_with_error(Recipe, "Recipe", recipes, |it| &mut it.recipe)}
                {fields.select_with_error(Variant, "Variant", variants, |it| &mut it.variant)}
            </fieldset>
            <fieldset class="form">
                <legend>"Data"</legend>
                <CollectionFields form=fields collections/>
                <div>
                    <FormSelect
                        form=fields
                        label="Candidates of a query"
                        options=AddedCandidates::ALL
                        value=|it| &mut it.added_candidates
                    />
                    <Show when=move || !is_bm25.get()>
                        <FieldErrorMessage form=fields field=TrainingField::Pool/>
                    </Show>
                </div>
                <Show when=move || is_bm25.get()>
                    {fields.number_field(TrainingField::Pool, "K", |it| &mut it.depth)}
                </Show>
            </fieldset>
            <fieldset class="form">
                <legend>"Options"</legend>
                <FormTextField
                    form=fields
                    field=TrainingField::Settings
                    label="Changed settings of the recipe"
                    note="KEY=VALUE, separated by spaces: epochs=20 optimizer.learning_rate=0.01"
                    text=|it| &mut it.settings
                />
                {fields.number_field(TrainingField::Seed, "Random seed", |it| &mut it.seed)}
                <div class="checks">
                    <FormCheckbox
                        form=fields
                        label="Also train on repeated documents (LNC2-All)"
                        on=|it| &mut it.repeats_documents
                    />
                    <FieldErrorMessage form=fields field=TrainingField::Augment/>
                </div>
            </fieldset>
            <div class="btns">
                <button class="btn main" type="submit" disabled=move || form.action.is_busy.get()>
                    {move || if form.action.is_busy.get() { "Starting" } else { "Start training" }}
                </button>
            </div>
            <OptionalErrorMessage error=form.action.error/>
        </form>
    }
}

/// Renders the fields for the collection and its splits.
#[component]
fn CollectionFields(
    form: FormValuesAndErrors<TrainingDraft, TrainingField>,
    /// At least one.
    collections: Vec<TrainingCollection>,
) -> impl IntoView {
    let collections = StoredValue::new(collections);
    let chosen = Memo::new(move |_| form.values.with(|it| it.collection.clone()));
    let names = collections.with_value(|it| {
        let names = it.iter().map(|it| it.name.clone());
        names.collect::<Vec<String>>()
    });
    let options = names.into_iter().map(|it| {
        let selected = chosen.get_untracked() == it;
        view! { <option value=it.clone() selected=selected>{it.clone()}</option> }
    });
    let options = options.collect_view();
    let choose = move |name: String| {
        let found = collections.with_value(|it| it.iter().find(|it| it.name == name).cloned());
        if let Some(found) = found {
            form.values.update(|it| it.choose_collection(&found));
        }
    };
    let splits = move || {
        let name = chosen.get();
        let splits = collections.with_value(|it| {
            let found = it.iter().find(|it| it.name == name);
            found.map(|it| it.splits.clone()).unwrap_or_default()
        });
        view! { <SplitFields form splits/> }
    };
    view! {
        <div>
            <SelectField label="Collection" choose>{options}</SelectField>
            <FieldErrorMessage form field=TrainingField::Collection/>
        </div>
        {splits}
    }
}

/// Returns a select option for each name.
fn options_of_names(names: &[String]) -> Vec<(String, String)> {
    names.iter().map(|it| (it.clone(), it.clone())).collect()
}

/// Renders the fields for the splits of the queries.
#[component]
fn SplitFields(
    form: FormValuesAndErrors<TrainingDraft, TrainingField>,
    splits: Vec<String>,
) -> impl IntoView {
    use TrainingField::{Dev, Split, Test};
    let [training, dev] = [options_of_names(&splits), options_of_names(&splits)];
    let mut test = vec![(String::new(), "none".to_owned())];
    test.extend(options_of_names(&splits));
    view! {
        {form.select_with_error(Split, "Training queries (split)", training, |it| &mut it.split)}
        {form.select_with_error(Dev, "Development queries (split)", dev, |it| &mut it.dev)}
        {form.select_with_error(Test, "Test queries (split)", test, |it| &mut it.test)}
    }
}

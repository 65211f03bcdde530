//! The form for a new annotation task.

mod design;
mod draft;
mod form;
mod known_items;
mod instance_reference;
mod preview;
mod probes;
mod ranker;

use leptos::prelude::*;
use shared::api::ListStudiesRequest;
use shared::study::overview::StudySummary;

use super::curator_gate::CuratorsOnly;
use crate::api;
use crate::number_format::format_count_with_noun;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::form::{
    FieldErrorMessage, FormCheckbox, FormFieldId, FormTextField, SelectField,
};
use crate::widgets::resource_view::RequestReplyView;
use design::SamplingDesignFields;
use draft::{NewTaskDraft, NewTaskField};
use form::NewTaskForm;
use known_items::KnownAnswerItems;
use preview::TaskPreview;
use probes::ProbesAndInstanceFiltersFields;

/// Renders the New task page, on which a curator defines an annotation task.
#[component]
pub(crate) fn NewTaskPage() -> impl IntoView {
    let shown = |_| view! { <StudyLoader/> }.into_any();
    let why = "Only curators can create annotation tasks.";
    view! { <CuratorsOnly heading="New task" why shown/> }
}

/// Loads the list of studies, which the form needs.
#[component]
fn StudyLoader() -> impl IntoView {
    let answer = api::fetch_on_signal_change(|| ListStudiesRequest {});
    let shown = |studies: Vec<StudySummary>| match studies.is_empty() {
        true => view! {
            <h1>"New task"</h1>
            <p class="ahead">
                "No studies yet. Create one on the command line with "
                <code>"axioscope study run"</code> "."
            </p>
        }
        .into_any(),
        false => view! { <NewTaskFormView studies/> }.into_any(),
    };
    view! { <RequestReplyView answer until="Loading studies" without="New task" shown/> }
}

/// The label of the field for the share of gold items.
const GOLD_EVERY: &str = "One gold item per N items (0 = none)";

#[component]
fn NewTaskFormView(studies: Vec<StudySummary>) -> impl IntoView {
    let form = NewTaskForm::new(&studies);
    let chosen = form.draft.with_untracked(|it| it.study.clone());
    let options = studies.into_iter().map(|it| {
        let selected = it.name == chosen;
        view! { <option value=it.name selected=selected>{it.title}</option> }
    });
    let options = options.collect_view();
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.create_task();
    };
    let failure = move || {
        form.action.error.get().map(|error| {
            let retry = Callback::new(move |()| {
                form.action.error.set(None);
                form.fetch_study(form.draft.with_untracked(|it| it.study.clone()));
            });
            view! { <LoadErrorMessage error retry/> }
        })
    };
    let said = move || {
        let n_wrong = form.errors.with(Vec::len) as u64;
        match (
            form.action.is_busy.get(),
            form.was_submitted.get() && n_wrong > 0,
        ) {
            (true, _) => "Sampling items".to_owned(),
            (false, true) => format!(
                "{} marked above",
                format_count_with_noun(n_wrong, "error is", "errors are")
            ),
            (false, false) => String::new(),
        }
    };
    let fresh = move |_| {
        form.was_submitted.set(false);
        draft::delete_draft();
        form.draft
            .update(|it| *it = NewTaskDraft::empty_for_study(&it.study));
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::ReviewTasks.href()>"Annotation"</a>
            <span>"New task"</span>
        </nav>
        <h1>"New task"</h1>
        <p class="lead">
            "Sample instances of a study and ask annotators whether the axiom is right. Your \
             input stays in this tab."
        </p>
        <form class="making" on:submit=send novalidate>
            <fieldset class="form">
                <legend>"Task"</legend>
                <SelectField label="Study" choose=move |study| {
                    form.draft.update(|it| it.change_study(study));
                }>{options}</SelectField>
                <FormTextField
                    form=form.fields
                    field=NewTaskField::Title
                    label="Title (shown to annotators)"
                    text=|it| &mut it.title
                />
            </fieldset>
            <ProbesAndInstanceFiltersFields form/>
            <SamplingDesignFields form/>
            <fieldset class="form">
                <legend>"Annotation"</legend>
                {form
                    .number_field(NewTaskField::AnnotatorsPerItem, "Annotators per item", |it| {
                        &mut it.annotators_per_item
                    })}
                {form.number_field(NewTaskField::GoldInterval, GOLD_EVERY, |it| {
                    &mut it.gold_interval
                })}
                <FormTextField
                    form=form.fields
                    field=NewTaskField::Tags
                    label="Tags for one-click use, separated by commas"
                    text=|it| &mut it.tags
                />
                <div class="checks">
                    <FormCheckbox
                        form=form.fields
                        label="Hide ranker scores and preferences"
                        on=|it| &mut it.blind
                    />
                    <FormCheckbox
                        form=form.fields
                        label="Highlight query terms"
                        on=|it| &mut it.highlight_terms
                    />
                </div>
            </fieldset>
            <fieldset>
                <legend>"Guidelines"</legend>
                <label
                    class="field"
                    class:error=move || form.fields.field_error(NewTaskField::Guidelines).is_some()
                >
                    <span class="label">"Text (Markdown)"</span>
                    <textarea
                        class="written"
                        rows="10"
                        aria-describedby=NewTaskField::Guidelines.id()
                        aria-invalid=move || form.fields.aria_invalid(NewTaskField::Guidelines)
                        prop:value=move || form.draft.with(|it| it.guidelines.clone())
                        on:input:target=move |event| {
                            form.draft.update(|it| it.guidelines = event.target().value());
                        }
                    ></textarea>
                    <FieldErrorMessage form=form.fields field=NewTaskField::Guidelines/>
                </label>
            </fieldset>
            <KnownAnswerItems
                form
                field=NewTaskField::Training
                name="Training items"
                said="All annotators answer these first, in this order, and then see the \
                     correct answer. They do not count in any estimate."
                list=|it| &it.training
                change=|it| &mut it.training
            />
            <KnownAnswerItems
                form
                field=NewTaskField::Gold
                name="Gold items"
                said="Mixed in to check accuracy. They do not count in any estimate."
                list=|it| &it.gold
                change=|it| &mut it.gold
            />
            <TaskPreview form/>
            <FieldErrorMessage form=form.fields field=NewTaskField::Form/>
            {failure}
            <div class="btns">
                <button
                    class="btn main"
                    type="submit"
                    disabled=move || form.action.is_busy.get()
                >
                    "Create task"
                </button>
                <button class="btn" type="button" on:click=fresh>"Start over"</button>
                <span class="note" role="status">{said}</span>
            </div>
        </form>
    }
}

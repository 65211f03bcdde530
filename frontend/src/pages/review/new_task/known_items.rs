//! Items with a known answer: training items to learn from, and gold items that check accuracy.

use leptos::prelude::*;
use shared::annotation::AnnotatorAnswer;
use shared::annotation::task::InstanceWithReferenceAnswer;

use super::draft::{NewTaskDraft, NewTaskField};
use super::form::NewTaskForm;
use super::instance_reference;
use crate::pages::review::item::{AnswerLabels, CLAIM_ORDER_LABELS};
use crate::pages::study::address::instance_href;
use crate::widgets::form::{
    FieldErrorMessage, FormFieldId, ReactiveFieldError, SelectField, TextField,
};

/// The labels of answers in the list, for each kind of claim.
const LIST_LABELS: AnswerLabels = AnswerLabels {
    steps: [
        "first step helps more",
        "equal",
        "second step helps more",
        "cannot say",
    ],
    ..CLAIM_ORDER_LABELS
};

/// Renders a list of items with known answers, which are added by their address.
#[component]
pub(super) fn KnownAnswerItems(
    form: NewTaskForm,
    field: NewTaskField,
    name: &'static str,
    said: &'static str,
    list: fn(&NewTaskDraft) -> &Vec<InstanceWithReferenceAnswer>,
    change: fn(&mut NewTaskDraft) -> &mut Vec<InstanceWithReferenceAnswer>,
) -> impl IntoView {
    let address = RwSignal::new(String::new());
    let answer = RwSignal::new(AnnotatorAnswer::First);
    let why = RwSignal::new(String::new());
    let wrong = RwSignal::new(None::<String>);
    let add = move || {
        let study = form.draft.with_untracked(|it| it.study.clone());
        let place =
            match instance_reference::parse_instance_reference(&address.get_untracked(), &study) {
                Ok(place) => place,
                Err(reason) => return wrong.set(Some(reason)),
            };
        if form
            .draft
            .with_untracked(|it| list(it).iter().any(|it| it.instance == place))
        {
            return wrong.set(Some("already in the list".to_owned()));
        }
        let known = InstanceWithReferenceAnswer {
            instance: place,
            answer: answer.get_untracked(),
            explanation: why.get_untracked().trim().to_owned(),
        };
        form.draft.update(|it| change(it).push(known));
        wrong.set(None);
        address.set(String::new());
        why.set(String::new());
    };
    let rows = move || {
        let (study, all) = form.draft.with(|it| (it.study.clone(), list(it).clone()));
        let rows = all.into_iter().enumerate().map(|(at, known)| {
            let place = known.instance;
            let href = instance_href(&study, place);
            let called = format!("{} {}", place.probe.name(), place.index);
            let label = format!("Remove {called}");
            let drop = move |_| {
                form.draft.update(|it| {
                    let list = change(it);
                    if at < list.len() {
                        list.remove(at);
                    }
                });
            };
            view! {
                <li>
                    <a href=href target="_blank" rel="noopener">{called}</a>
                    <span>{LIST_LABELS.answer_label(place.claim_kind(), known.answer)}</span>
                    <span class="note" dir="auto">{known.explanation}</span>
                    <button class="btn bare" type="button" aria-label=label on:click=drop>
                        "Remove"
                    </button>
                </li>
            }
        });
        rows.collect_view()
    };
    let id = format!("{}-address", field.id());
    let answers = AnnotatorAnswer::ALL.iter().map(|&it| {
        let name = match it {
            AnnotatorAnswer::First => "document 1, or the first step",
            AnnotatorAnswer::Second => "document 2, or the second step",
            AnnotatorAnswer::Equal => "equal",
            AnnotatorAnswer::CannotSay => "cannot say",
        };
        view! { <option value=it.slug()>{name}</option> }
    });
    let answers = answers.collect_view();
    view! {
        <fieldset>
            <legend>{name}</legend>
            <p class="note">{said}</p>
            <ol class="known">{rows}</ol>
            <FieldErrorMessage form=form.fields field/>
            <div class="form adds" role="group" aria-label=format!("Add to {name}")>
                <TextField
                    label="Instance address, or probe, variant and number (for example tfc1 \
                         fixed 12)"
                    text=address
                    mistake=ReactiveFieldError { id: id.clone(), reason: wrong.into() }
                    on:keydown=move |event| {
                        if event.key() == "Enter" {
                            event.prevent_default();
                            add();
                        }
                    }
                />
                <SelectField
                    label="Correct answer (documents numbered as on the instance page)"
                    choose=move |word: String| {
                    let found = AnnotatorAnswer::ALL.iter().find(|it| it.slug() == word);
                    answer.set(found.copied().unwrap_or(AnnotatorAnswer::First));
                }>{answers}</SelectField>
                <TextField label="Reason" text=why/>
                <button class="btn" type="button" on:click=move |_| add()>"Add"</button>
            </div>
        </fieldset>
    }
}

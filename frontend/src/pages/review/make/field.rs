//! Fields of the form, each with what is wrong beside it.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::Form;
use super::draft::{Draft, Field};

/// What is wrong with a field.
#[component]
pub(super) fn Wrong(form: Form, field: Field) -> impl IntoView {
    let message = move || {
        form.reason(field)
            .map(|reason| view! { <span class="verdict bad">{reason}</span> })
    };
    view! { <span id=field.id() class="wrong" aria-live="polite">{message}</span> }
}

/// Words on one line.
#[component]
pub(super) fn Words(
    form: Form,
    field: Field,
    label: &'static str,
    #[prop(default = "text")] inputmode: &'static str,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
) -> impl IntoView {
    let typed = move |event: Targeted<Event, HtmlInputElement>| {
        form.draft.update(|it| set(it, event.target().value()));
    };
    view! {
        <label class="field" class:error=move || form.reason(field).is_some()>
            <span class="label">{label}</span>
            <input
                inputmode=inputmode
                autocomplete="off"
                aria-invalid=move || form.invalid(field)
                aria-describedby=field.id()
                prop:value=move || form.draft.with(get)
                on:input:target=typed
            />
            <Wrong form field/>
        </label>
    }
}

/// A number as text, since a mistake is text.
#[component]
pub(super) fn Number(
    form: Form,
    field: Field,
    label: &'static str,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
) -> impl IntoView {
    view! { <Words form field label inputmode="decimal" get set/> }
}

/// Something that is so or not.
#[component]
pub(super) fn Tick(
    form: Form,
    label: &'static str,
    get: fn(&Draft) -> bool,
    turn: fn(&mut Draft),
) -> impl IntoView {
    view! {
        <label>
            <input
                type="checkbox"
                prop:checked=move || form.draft.with(get)
                on:change=move |_| form.draft.update(turn)
            />
            {label}
        </label>
    }
}

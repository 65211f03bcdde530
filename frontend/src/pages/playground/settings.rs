//! How the texts are read: collection, analyser, bounds of the premises.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::probe::Mode;
use shared::study::overview::Card;
use shared::text::{Stemmer, Tokenizer};
use web_sys::{HtmlInputElement, HtmlSelectElement};

use super::sheet::{Field, Settings};
use super::{Desk, Outcome};
use crate::api;
use crate::widgets::error::Failure;

/// The bar below the texts.
#[component]
pub(super) fn Reading(
    /// The page.
    desk: Desk,
) -> impl IntoView {
    view! {
        <section class="section reading-bar" aria-label="How the texts are read">
            <Collection desk/>
            <Analysis desk/>
            <Number
                desk
                field=Field::Delta
                label="Length gap δ, terms or inf"
                get=|it| it.delta.clone()
                set=|it, text| it.delta = text
            />
            <Number
                desk
                field=Field::MinTerms
                label="Least query terms"
                get=|it| it.min_terms.clone()
                set=|it, text| it.min_terms = text
            />
            <Number
                desk
                field=Field::Further
                label="Further axioms: prox1, tfc1 & tp"
                inputmode="text"
                get=|it| it.further.clone()
                set=|it, text| it.further = text
            />
        </section>
    }
}

/// Where document frequencies and the average length come from.
#[component]
fn Collection(desk: Desk) -> impl IntoView {
    let studies = LocalResource::new(|| async { api::call(&shared::api::Studies {}).await });
    let choose = move |event: Targeted<Event, HtmlSelectElement>| {
        let name = event.target().value();
        desk.settings
            .update(|it| it.study = (!name.is_empty()).then_some(name));
    };
    let chosen = Memo::new(move |_| desk.settings.with(|it| it.study.clone()));
    let options = move || {
        let found = studies.get().and_then(Result::ok).unwrap_or_default();
        let now = chosen.get();
        let options = choices(found, now.as_deref())
            .into_iter()
            .map(|(name, title)| {
                let selected = name == now.as_deref().unwrap_or_default();
                view! { <option value=name selected=selected>{title}</option> }
            });
        options.collect_view()
    };
    let said = move || match studies.get() {
        Some(Err(error)) => {
            let retry = Callback::new(move |()| studies.refetch());
            view! { <Failure error retry/> }.into_any()
        }
        Some(Ok(_)) | None => ().into_any(),
    };
    view! {
        <div class="field wide-field">
            <label class="label" for="collection">"Statistics from"</label>
            <select id="collection" on:change:target=choose>{options}</select>
            {said}
        </div>
    }
}

/// Names and titles: these texts, then the studies; a study of the address that is not in the
/// list is kept.
fn choices(studies: Vec<Card>, now: Option<&str>) -> Vec<(String, String)> {
    let mut choices = vec![(String::new(), "these texts alone".to_owned())];
    choices.extend(studies.into_iter().map(|it| (it.name, it.title)));
    if let Some(now) = now
        && choices.iter().all(|it| it.0 != now)
    {
        choices.push((now.to_owned(), now.to_owned()));
    }
    choices
}

/// How texts become terms; a collection brings its own way.
#[component]
fn Analysis(desk: Desk) -> impl IntoView {
    let own = Memo::new(move |_| desk.settings.with(|it| it.study.is_none()));
    let theirs = move || {
        let found = desk.analyzer_of_collection();
        found.map_or_else(|| "on its way".to_owned(), |it| it.describe())
    };
    let tokenizers = || {
        vec![
            (Tokenizer::Alnum.name(), "a–z and digits"),
            (Tokenizer::Unicode.name(), "words of Unicode"),
        ]
    };
    let stemmers = || {
        Stemmer::ALL.iter().map(|&it| match it {
            Stemmer::None => (it.name(), "none"),
            Stemmer::Porter => (it.name(), "Porter"),
            Stemmer::Porter2 => (it.name(), "Porter 2"),
        })
    };
    move || {
        if !own.get() {
            return view! {
                <div class="field wide-field">
                    <span class="label">"Analyser, that of the collection"</span>
                    <span class="given">{theirs}</span>
                </div>
            }
            .into_any();
        }
        view! {
            <Choice
                desk
                label="A token is"
                options=tokenizers()
                get=|it| it.tokenizer.clone()
                set=|it, word| it.tokenizer = word
            />
            <Choice
                desk
                label="Stemmer"
                options=stemmers().collect()
                get=|it| it.stemmer.clone()
                set=|it, word| it.stemmer = word
            />
            <Choice
                desk
                label="Stop list"
                options=vec![("none", "none"), ("en-function", "English function words")]
                get=|it| it.stopwords.clone()
                set=|it, word| it.stopwords = word
            />
            <Wrong desk field=Field::Analyzer/>
        }
        .into_any()
    }
}

/// One of several words.
#[component]
pub(super) fn Choice(
    /// The page.
    desk: Desk,
    /// Above the list.
    label: &'static str,
    /// Word in the settings and words for people.
    options: Vec<(&'static str, &'static str)>,
    /// Reads the word.
    get: fn(&Settings) -> String,
    /// Writes it.
    set: fn(&mut Settings, String),
) -> impl IntoView {
    let options = options.into_iter().map(|(word, name)| {
        let selected = move || desk.settings.with(get) == word;
        view! { <option value=word prop:selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let chosen = move |event: Targeted<Event, HtmlSelectElement>| {
        desk.settings.update(|it| set(it, event.target().value()));
    };
    view! {
        <label class="field">
            <span class="label">{label}</span>
            <select on:change:target=chosen>{options}</select>
        </label>
    }
}

/// A number, or a list, as text, with what is wrong in it.
#[component]
pub(super) fn Number(
    /// The page.
    desk: Desk,
    /// Which.
    field: Field,
    /// Above the field.
    label: &'static str,
    /// Which keyboard it is typed with.
    #[prop(default = "decimal")]
    inputmode: &'static str,
    /// Reads it.
    get: fn(&Settings) -> String,
    /// Writes it.
    set: fn(&mut Settings, String),
) -> impl IntoView {
    let typed = move |event: Targeted<Event, HtmlInputElement>| {
        desk.settings.update(|it| set(it, event.target().value()));
    };
    let wrong = move || reason(desk, field).is_some();
    view! {
        <label class="field" class:error=wrong>
            <span class="label">{label}</span>
            <input
                inputmode=inputmode
                autocomplete="off"
                aria-invalid=move || wrong().then_some("true")
                aria-describedby=field.id()
                prop:value=move || desk.settings.with(get)
                on:input:target=typed
            />
            <Wrong desk field/>
        </label>
    }
}

/// What is wrong with a field.
#[component]
pub(super) fn Wrong(
    /// The page.
    desk: Desk,
    /// Which.
    field: Field,
) -> impl IntoView {
    let said = move || {
        reason(desk, field).map(|reason| view! { <span class="verdict bad">{reason}</span> })
    };
    view! { <span id=field.id() class="wrong">{said}</span> }
}

fn reason(desk: Desk, field: Field) -> Option<String> {
    desk.outcome.with(|it| match it {
        Outcome::Wrong(wrong) => wrong
            .iter()
            .find(|it| it.field == field)
            .map(|it| it.reason.clone()),
        Outcome::Blank
        | Outcome::Waiting
        | Outcome::Answered(_)
        | Outcome::Refused(_)
        | Outcome::Failed(_) => None,
    })
}

/// Which reading of the axioms.
#[component]
pub(super) fn Modes(
    /// The page.
    desk: Desk,
) -> impl IntoView {
    let labels = Mode::ALL.iter().map(|&mode| {
        let (name, title) = words(mode);
        view! {
            <label title=title>
                <input
                    type="radio"
                    name="mode"
                    prop:checked=move || desk.settings.with(|it| it.mode == mode)
                    on:change=move |_| desk.settings.update(|it| it.mode = mode)
                />
                {name}
            </label>
        }
    });
    let labels = labels.collect_view();
    view! {
        <span class="choice" role="radiogroup" aria-label="Reading of the axioms">
            {labels}
        </span>
    }
}

/// For the switch, and on demand.
pub(super) fn words(mode: Mode) -> (&'static str, &'static str) {
    match mode {
        Mode::Fixed => ("fixed", "as the axiom says"),
        Mode::PaperRennings2019 => ("paper 2019", "as printed in Rennings, Moraes & Hauff"),
        Mode::PaperCamara2020 => ("paper 2020", "as printed in Câmara & Hauff"),
        Mode::CodeCamara2020 => (
            "code 2020",
            "as published code does it: of Câmara & Hauff, for its axioms of ir_axioms",
        ),
    }
}

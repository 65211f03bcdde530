//! One of several words, or of the rankers of the study.

use leptos::prelude::*;

use super::Form;
use super::draft::Draft;

/// One of several words.
#[component]
pub(super) fn Choice(
    form: Form,
    label: &'static str,
    /// Word and words for people.
    options: Vec<(String, String)>,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
) -> impl IntoView {
    let options = options.into_iter().map(|(word, name)| {
        let own = word.clone();
        let selected = move || form.draft.with(get) == own;
        view! { <option value=word selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    view! {
        <label class="field">
            <span class="label">{label}</span>
            <select on:change:target=move |event| {
                form.draft.update(|it| set(it, event.target().value()));
            }>{options}</select>
        </label>
    }
}

/// One of the rankers of the study.
#[component]
pub(super) fn Ranker(
    form: Form,
    label: &'static str,
    /// What stands for no ranker.
    #[prop(optional)]
    none: Option<&'static str>,
    get: fn(&Draft) -> String,
    set: fn(&mut Draft, String),
) -> impl IntoView {
    let names = Memo::new(move |_| {
        let study = form.study.read();
        let rankers = study.iter().flat_map(|it| &it.rankers);
        rankers
            .map(|it| it.ranker.label.clone())
            .collect::<Vec<_>>()
    });
    move || {
        let none = none.map(|it| (String::new(), it.to_owned())).into_iter();
        let named = names.get().into_iter().enumerate();
        let options = none.chain(named.map(|(at, name)| (at.to_string(), name)));
        view! { <Choice form label options=options.collect() get set/> }
    }
}

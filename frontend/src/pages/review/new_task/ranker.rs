//! The drop-down list of a study's rankers.

use leptos::prelude::*;

use super::draft::NewTaskDraft;
use super::form::NewTaskForm;
use crate::widgets::form::FormSelectWithComputedOptions;

/// Renders a drop-down list of the study's rankers.
#[component]
pub(super) fn RankerSelect(
    form: NewTaskForm,
    label: &'static str,
    /// The label of the option for no ranker; without it there is no such option.
    #[prop(optional)]
    none: Option<&'static str>,
    get: fn(&NewTaskDraft) -> String,
    set: fn(&mut NewTaskDraft, String),
) -> impl IntoView {
    let names = Memo::new(move |_| {
        let study = form.study.read();
        let rankers = study.iter().flat_map(|it| &it.rows);
        rankers
            .map(|it| it.ranker.label.clone())
            .collect::<Vec<_>>()
    });
    move || {
        let none = none.map(|it| (String::new(), it.to_owned())).into_iter();
        let named = names.get().into_iter().enumerate();
        let options = none.chain(named.map(|(at, name)| (at.to_string(), name)));
        view! {
            <FormSelectWithComputedOptions
                form=form.fields
                label
                options=options.collect()
                get
                set
            />
        }
    }
}

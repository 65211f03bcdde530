//! A new review task.

mod choice;
mod design;
mod draft;
mod field;
mod known;
mod place;
mod preview;
mod probes;

use leptos::prelude::*;
use shared::api::review::{Make, Whole};
use shared::api::{Behave, Look, Studies};
use shared::probe::Probe;
use shared::study::behaviour::Asking;
use shared::study::dials::Dials;
use shared::study::overview::{Card, Overview};

use super::gate::ForCurators;
use crate::api::{self, Error};
use crate::lab::{self, Address};
use crate::later::Later;
use crate::numbers::plural;
use crate::page::Page;
use crate::widgets::answered::Answered;
use crate::widgets::error::Failure;
use design::Drawing;
use draft::{Draft, Field, Refusal};
use field::{Number, Tick, Words, Wrong};
use known::Knowns;
use preview::Preview;
use probes::Probes;

/// The page.
#[component]
pub(crate) fn MakeTask() -> impl IntoView {
    let shown = |_| view! { <Offered/> }.into_any();
    view! { <ForCurators heading="New task" why="Curators make review tasks." shown/> }
}

/// Which studies there are, before anything can be chosen.
#[component]
fn Offered() -> impl IntoView {
    let answer = LocalResource::new(|| async { api::call(&Studies {}).await });
    let shown = |studies: Vec<Card>| match studies.is_empty() {
        true => view! {
            <h1>"New task"</h1>
            <p class="ahead">
                "There is no study here yet. Make one on a terminal with "
                <code>"axioscope study run"</code> "."
            </p>
        }
        .into_any(),
        false => view! { <Shown studies/> }.into_any(),
    };
    view! { <Answered answer until="Asking for the studies" without="New task" shown/> }
}

/// What the parts of the form share.
#[derive(Clone, Copy)]
struct Form {
    draft: RwSignal<Draft>,
    /// What is wrong with the draft as it is typed.
    wrong: Memo<Vec<Refusal>>,
    /// What the server refused, until the draft changes.
    refused: RwSignal<Option<Refusal>>,
    /// The study that is drawn from; none until it is known.
    study: RwSignal<Option<Overview>>,
    /// Its behaviours.
    behaviours: RwSignal<Vec<Probe>>,
    failed: RwSignal<Option<Error>>,
    busy: RwSignal<bool>,
    /// Whether somebody has tried to make it: until then, what is empty is not wrong yet.
    tried: RwSignal<bool>,
}

impl Form {
    fn new(studies: &[Card]) -> Form {
        let wanted = Address::here().word("study");
        let draft = draft::begin(wanted, studies);
        let draft = RwSignal::new(draft);
        let form = Form {
            draft,
            wrong: Memo::new(move |_| draft.with(|it| it.task().err().unwrap_or_default())),
            refused: RwSignal::new(None),
            study: RwSignal::new(None),
            behaviours: RwSignal::new(Vec::new()),
            failed: RwSignal::new(None),
            busy: RwSignal::new(false),
            tried: RwSignal::new(false),
        };
        form.keep();
        form.follow();
        form
    }

    /// The draft survives a reload.
    fn keep(self) {
        let rest = Later::after_ms(300);
        Effect::new(move |before: Option<()>| {
            let draft = self.draft.get();
            if before.is_some() {
                self.refused.set(None);
            }
            rest.run(move || draft::keep(&draft));
        });
    }

    /// Another study has other probes and rankers.
    fn follow(self) {
        let study = Memo::new(move |_| self.draft.with(|it| it.study.clone()));
        Effect::new(move |_| {
            let study = study.get();
            self.study.set(None);
            self.behaviours.set(Vec::new());
            self.ask(study);
        });
    }

    fn ask(self, study: String) {
        leptos::task::spawn_local(async move {
            let look = Look {
                study: study.clone(),
                dials: Dials::default(),
            };
            let found = api::call(&look).await;
            // Another may have been chosen, or another page.
            let now = self.draft.try_with_untracked(|it| it.study == study);
            if now != Some(true) {
                return;
            }
            match found {
                Ok(found) => {
                    let has_behaviours = found.n_behaviours > 0;
                    self.failed.set(None);
                    self.study.set(Some(found));
                    if has_behaviours {
                        self.ask_behaviours(study).await;
                    }
                }
                Err(error) => self.failed.set(Some(error)),
            }
        });
    }

    async fn ask_behaviours(self, study: String) {
        let asking = Asking::default();
        let found = api::call(&Behave {
            study: study.clone(),
            asking,
        })
        .await;
        let now = self.draft.try_with_untracked(|it| it.study == study);
        if let (Some(true), Ok(found)) = (now, found) {
            let mut probes: Vec<Probe> = Vec::new();
            for row in found.rows {
                if !probes.contains(&row.probe) {
                    probes.push(row.probe);
                }
            }
            self.behaviours.set(probes);
        }
    }

    /// What is wrong with a field, by the page or by the server.
    fn reason(self, field: Field) -> Option<String> {
        if !self.tried.get() && self.draft.with(|it| it.lacks(field)) {
            return None;
        }
        let refused = self.refused.get();
        let mut all = self.wrong.get().into_iter().chain(refused);
        all.find(|it| it.field == field).map(|it| it.reason)
    }

    fn invalid(self, field: Field) -> Option<&'static str> {
        self.reason(field).map(|_| "true")
    }

    /// A mistake that the server found beside its field, anything else below the form.
    fn refuse(self, error: Error) {
        match &error {
            Error::Server(problem) => self.refused.set(Some(Refusal::of(problem))),
            Error::Network(_) => self.failed.set(Some(error)),
        }
    }

    fn make(self) {
        self.tried.set(true);
        let Ok(task) = self.draft.with_untracked(Draft::task) else {
            return;
        };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        leptos::task::spawn_local(async move {
            let made = api::call(&Make { task }).await;
            // The reader may be on another page by now.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match made {
                Ok(Whole { card, .. }) => {
                    draft::forget();
                    lab::go(&Page::Curate { task: card.task }.href());
                }
                Err(error) => self.refuse(error),
            }
        });
    }
}

#[component]
fn Shown(studies: Vec<Card>) -> impl IntoView {
    let form = Form::new(&studies);
    let chosen = form.draft.with_untracked(|it| it.study.clone());
    let options = studies.into_iter().map(|it| {
        let selected = it.name == chosen;
        view! { <option value=it.name selected=selected>{it.title}</option> }
    });
    let options = options.collect_view();
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.make();
    };
    let failure = move || {
        form.failed.get().map(|error| {
            let retry = Callback::new(move |()| {
                form.failed.set(None);
                form.ask(form.draft.with_untracked(|it| it.study.clone()));
            });
            view! { <Failure error retry/> }
        })
    };
    let said = move || {
        let n_wrong = form.wrong.with(Vec::len) as u64;
        match (form.busy.get(), form.tried.get() && n_wrong > 0) {
            (true, _) => "Drawing items".to_owned(),
            (false, true) => format!(
                "{} marked above",
                plural(n_wrong, "mistake is", "mistakes are")
            ),
            (false, false) => String::new(),
        }
    };
    let fresh = move |_| {
        form.tried.set(false);
        draft::forget();
        form.draft.update(|it| *it = Draft::of(&it.study));
    };
    view! {
        <nav class="crumbs" aria-label="You are here">
            <a href=Page::Review.href()>"Review"</a>
            <span>"New task"</span>
        </nav>
        <h1>"New task"</h1>
        <p class="lead">
            "Draw instances of a study, and ask people whether the axiom is right about them. What
            you type is kept in this tab."
        </p>
        <form class="making" on:submit=send novalidate>
            <fieldset class="form">
                <legend>"What is asked"</legend>
                <label class="field">
                    <span class="label">"Study"</span>
                    <select on:change:target=move |event| {
                        let study = event.target().value();
                        form.draft.update(|it| it.turn_to(study));
                    }>{options}</select>
                </label>
                <Words
                    form
                    field=Field::Title
                    label="Title, which people read"
                    get=|it| it.title.clone()
                    set=|it, text| it.title = text
                />
            </fieldset>
            <Probes form/>
            <Drawing form/>
            <fieldset class="form">
                <legend>"How people work"</legend>
                <Number
                    form
                    field=Field::Overlap
                    label="People for each item"
                    get=|it| it.overlap.clone()
                    set=|it, text| it.overlap = text
                />
                <Number
                    form
                    field=Field::GoldEvery
                    label="One in so many items is gold; 0: none"
                    get=|it| it.gold_every.clone()
                    set=|it, text| it.gold_every = text
                />
                <Words
                    form
                    field=Field::Tags
                    label="Tags that one click puts on a decision, with commas between"
                    get=|it| it.tags.clone()
                    set=|it, text| it.tags = text
                />
                <div class="checks">
                    <Tick
                        form
                        label="Blind: nobody sees what rankers prefer"
                        get=|it| it.blind
                        turn=|it| it.blind = !it.blind
                    />
                    <Tick
                        form
                        label="Query terms are marked"
                        get=|it| it.mark_terms
                        turn=|it| it.mark_terms = !it.mark_terms
                    />
                </div>
            </fieldset>
            <fieldset>
                <legend>"Guidelines"</legend>
                <label class="field" class:error=move || form.reason(Field::Guidelines).is_some()>
                    <span class="label">"How to decide, in Markdown"</span>
                    <textarea
                        class="written"
                        rows="10"
                        aria-describedby=Field::Guidelines.id()
                        aria-invalid=move || form.invalid(Field::Guidelines)
                        prop:value=move || form.draft.with(|it| it.guidelines.clone())
                        on:input:target=move |event| {
                            form.draft.update(|it| it.guidelines = event.target().value());
                        }
                    ></textarea>
                    <Wrong form field=Field::Guidelines/>
                </label>
            </fieldset>
            <Knowns
                form
                field=Field::Training
                name="Training"
                said="Everybody decides on these first, in this order, and is told the answer. \
                      They count for nothing."
                list=|it| &it.training
                change=|it| &mut it.training
            />
            <Knowns
                form
                field=Field::Gold
                name="Gold"
                said="Strewn in among the others, to see how right somebody is. They are in no \
                      estimate."
                list=|it| &it.gold
                change=|it| &mut it.gold
            />
            <Preview form/>
            <Wrong form field=Field::All/>
            {failure}
            <div class="btns">
                <button
                    class="btn main"
                    type="submit"
                    disabled=move || form.busy.get()
                >
                    "Make the task"
                </button>
                <button class="btn" type="button" on:click=fresh>"Begin anew"</button>
                <span class="note" role="status">{said}</span>
            </div>
        </form>
    }
}

//! For the operator of a server: its models, whether they score, and its jobs.

mod health;
mod jobs;
mod models;

use leptos::prelude::*;
use shared::api::operator::{HeldModel, ModelState, Models as Ask};

use crate::api::{self, Error, token};
use crate::later::Later;
use crate::widgets::error::Failure;
use crate::widgets::token_form::TokenForm;
use health::Health;
use jobs::Jobs;
use models::Models;

/// The page.
#[component]
pub(crate) fn Operator() -> impl IntoView {
    let shelf = Shelf::new();
    shelf.ask();
    let again = Callback::new(move |()| shelf.ask());
    let stand = Memo::new(move |_| shelf.stand.get());
    let body = move || match stand.get() {
        Stand::Asking => view! { <p class="note" role="status">"Asking the server"</p> }.into_any(),
        Stand::NoServer => view! {
            <p class="ahead">
                "There is no server here: this page comes from a host of files only. Run "
                <code>"axioscope serve"</code> " to have models and jobs."
            </p>
        }
        .into_any(),
        Stand::Visitor => view! { <Visitor refused=shelf.refused again/> }.into_any(),
        Stand::Failed(error) => view! { <Failure error retry=again/> }.into_any(),
        Stand::Operator => view! {
            <Models shelf/>
            <Health shelf/>
            <Jobs/>
        }
        .into_any(),
    };
    view! {
        <h1>"Models and jobs"</h1>
        <p class="lead">"What this server scores with, and what it is working on."</p>
        <div class="operator">{body}</div>
    }
}

/// Whoever is not known as the operator.
#[component]
fn Visitor(
    /// Whether the server did not know a token.
    refused: RwSignal<bool>,
    /// Asks with the token that was typed.
    again: Callback<()>,
) -> impl IntoView {
    let wrong = move || {
        refused.get().then(|| {
            view! {
                <div class="failure" role="alert">
                    <p>
                        "The server does not know this token. "
                        <code>"axioscope serve --new-token"</code> " makes another."
                    </p>
                </div>
            }
        })
    };
    view! {
        <TokenForm why="Only the operator of this server sees its models and jobs." again/>
        {wrong}
    }
}

/// Between two looks at what is still to come.
const PAUSE_MS: u64 = 2_000;

/// The models of the server, and whether we may see them.
#[derive(Clone, Copy)]
struct Shelf {
    stand: RwSignal<Stand>,
    /// The token of this tab was not known.
    refused: RwSignal<bool>,
    models: RwSignal<Vec<HeldModel>>,
    later: Later,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stand {
    Asking,
    NoServer,
    Visitor,
    Operator,
    Failed(Error),
}

/// What the server lets us see.
enum Seen {
    NoServer,
    Nothing,
    Models(Vec<HeldModel>),
}

async fn look() -> Result<Seen, Error> {
    match api::server().await? {
        None => Ok(Seen::NoServer),
        Some(server) if !server.may_create_jobs => Ok(Seen::Nothing),
        Some(_) => match api::call(&Ask {}).await {
            // The token was another one's when the page asked first.
            Err(error) if error.is(api::NO_TOKEN) => Ok(Seen::Nothing),
            found => found.map(Seen::Models),
        },
    }
}

impl Shelf {
    fn new() -> Shelf {
        Shelf {
            stand: RwSignal::new(Stand::Asking),
            refused: RwSignal::new(false),
            models: RwSignal::new(Vec::new()),
            later: Later::after_ms(PAUSE_MS),
        }
    }

    /// Asks until every model is loaded or cannot be.
    fn ask(self) {
        leptos::task::spawn_local(async move {
            let found = look().await;
            // The reader may be on another page by now.
            let Some(before) = self.stand.try_get_untracked() else {
                return;
            };
            self.stand.set(match found {
                Ok(Seen::NoServer) => Stand::NoServer,
                Ok(Seen::Nothing) => {
                    self.refused.set(token::kept().is_some());
                    Stand::Visitor
                }
                Ok(Seen::Models(found)) => {
                    let waits = found.iter().any(|it| it.state == ModelState::Unloaded);
                    self.models.set(found);
                    if waits {
                        self.later.run(move || self.ask());
                    }
                    Stand::Operator
                }
                // What is shown is still true, and a connection comes back.
                // A server that is busy for a moment comes back, too.
                Err(_) if before == Stand::Operator => {
                    self.later.run(move || self.ask());
                    before
                }
                Err(error) => Stand::Failed(error),
            });
        });
    }

    /// What one of the models is now.
    fn one(self, spec: String) -> Memo<Option<HeldModel>> {
        Memo::new(move |_| {
            self.models
                .with(|it| it.iter().find(|it| it.spec == spec).cloned())
        })
    }

    /// Puts a model in the place of what was known of it.
    fn put(self, held: HeldModel) {
        self.models.update(|models| {
            if let Some(it) = models.iter_mut().find(|it| it.spec == held.spec) {
                *it = held;
            }
        });
    }

    /// The specs of those that are loaded.
    fn loaded(self) -> Memo<Vec<String>> {
        Memo::new(move |_| {
            let loaded = |it: &&HeldModel| matches!(it.state, ModelState::Loaded(_));
            let models = self.models.read();
            models
                .iter()
                .filter(loaded)
                .map(|it| it.spec.clone())
                .collect()
        })
    }
}

//! For the operator of a server: its models, whether they score, and its jobs.

mod health;
mod jobs;
mod models;
mod shelf;

use leptos::prelude::*;

use crate::widgets::error::Failure;
use crate::widgets::token_form::TokenForm;
use health::Health;
use jobs::Jobs;
use models::Models;
use shelf::{Shelf, Stand};

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

//! Pages for curators: who else comes is told so, and how to get in.

use leptos::prelude::*;
use shared::api::people::{Me, Role, Who};

use crate::api::{self, Error};
use crate::page::Page;
use crate::widgets::error::Failure;

/// What the server answered about who asks.
#[derive(Clone)]
enum Stand {
    Known(Who),
    NoServer,
    Failed(Error),
}

async fn look() -> Stand {
    // A host of files has nobody to ask.
    match api::server().await {
        Ok(None) => Stand::NoServer,
        Err(error) => Stand::Failed(error),
        Ok(Some(_)) => match api::call(&Me {}).await {
            Ok(who) => Stand::Known(who),
            Err(error) => Stand::Failed(error),
        },
    }
}

/// What only curators and operators see.
#[component]
pub(crate) fn ForCurators<F>(
    /// The heading for all others.
    heading: &'static str,
    /// What there would be, as a sentence.
    why: &'static str,
    /// For those who may.
    shown: F,
) -> impl IntoView
where
    F: Fn(Who) -> AnyView + Send + 'static,
{
    let answer = LocalResource::new(look);
    move || match answer.get() {
        None => view! { <p class="note" role="status">"Asking the server"</p> }.into_any(),
        Some(Stand::Known(who)) if who.role >= Role::Curator => shown(who),
        Some(Stand::Known(who)) => view! { <Outside heading why who/> }.into_any(),
        Some(Stand::NoServer) => view! {
            <h1>{heading}</h1>
            <p class="ahead">
                "There is no server here: this page comes from a host of files only. Run "
                <code>"axioscope serve"</code> " to have people and reviews."
            </p>
        }
        .into_any(),
        Some(Stand::Failed(error)) => {
            let retry = Callback::new(move |()| answer.refetch());
            view! {
                <h1>{heading}</h1>
                <Failure error retry/>
            }
            .into_any()
        }
    }
}

/// Whoever may not.
#[component]
fn Outside(heading: &'static str, why: &'static str, who: Who) -> impl IntoView {
    let said = match who.person {
        Some(person) => format!(
            "You are {}, {}. Ask the operator for an invitation as a curator.",
            person.name,
            who.role.name()
        ),
        None => "Sign in with a name that is a curator's, or ask for an invitation.".to_owned(),
    };
    view! {
        <h1>{heading}</h1>
        <p class="ahead">{why} " " {said}</p>
        <div class="btns">
            <a class="btn main" href=Page::Join.href()>"Sign in"</a>
            <a class="btn" href=Page::Review.href()>"Reviews"</a>
        </div>
    }
}

//! The dial of δ: how far two scores must be apart for a difference to count.

use leptos::prelude::*;
use shared::study::behaviour::Delta;

use super::super::address::width;
use crate::later::Later;
use crate::widgets::form::Radio;

/// Where the dial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Tuned,
    Zero,
    /// As somebody types it.
    Given,
}

impl Choice {
    const ALL: [(Choice, &str); 3] = [
        (Choice::Tuned, "tuned per ranker"),
        (Choice::Zero, "0"),
        (Choice::Given, "given"),
    ];

    fn of(delta: Delta) -> Choice {
        match delta {
            Delta::Tuned => Choice::Tuned,
            Delta::Given { width: 0.0 } => Choice::Zero,
            Delta::Given { .. } => Choice::Given,
        }
    }
}

/// Three ways, and a field for the third.
#[component]
pub(super) fn WidthDial(
    /// That of the address.
    settled: Signal<Delta>,
    /// Changes the address.
    settle: Callback<Delta>,
) -> impl IntoView {
    const PAUSE_MS: u64 = 400;
    let choice = RwSignal::new(Choice::of(settled.get_untracked()));
    let later = Later::after_ms(PAUSE_MS);
    let wrong = RwSignal::new(false);
    Effect::new(move |_| {
        let found = Choice::of(settled.get());
        // A 0 that is typed may go on.
        if (choice.get_untracked(), found) != (Choice::Given, Choice::Zero) {
            choice.set(found);
        }
    });
    let turn = move |next: Choice| {
        later.cancel();
        wrong.set(false);
        choice.set(next);
        match next {
            Choice::Tuned => settle.run(Delta::Tuned),
            Choice::Zero => settle.run(Delta::Given { width: 0.0 }),
            // Waits for a number.
            Choice::Given => {}
        }
    };
    let typed = move |text: String| match width(&text) {
        Some(width) => {
            wrong.set(false);
            later.run(move || settle.run(Delta::Given { width }));
        }
        None => {
            later.cancel();
            wrong.set(true);
        }
    };
    let ways = Choice::ALL.map(|(way, said)| {
        view! {
            <Radio group="width" chosen=move || choice.get() == way choose=move || turn(way)>
                {said}
            </Radio>
        }
    });
    let shown = move || match settled.get() {
        Delta::Given { width } => width.to_string(),
        Delta::Tuned => String::new(),
    };
    let problem = move || {
        wrong
            .get()
            .then(|| view! { <span class="miss">"δ is a number of at least 0"</span> })
    };
    view! {
        <span class="dial" title="Two scores within δ count as neutral">
            <span class="label">"Score difference δ"</span>
            <span class="choice" role="radiogroup" aria-label="Score difference δ">{ways}</span>
        </span>
        <input
            class="btn bound"
            class:wrong-number=move || wrong.get()
            type="text"
            inputmode="decimal"
            placeholder="δ"
            aria-label="δ, in the unit of the scores"
            aria-invalid=move || wrong.get().to_string()
            disabled=move || choice.get() != Choice::Given
            prop:value=shown
            on:input:target=move |event| typed(event.target().value())
        />
        <span role="status">{problem}</span>
    }
}

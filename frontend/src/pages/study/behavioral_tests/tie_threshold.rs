//! The control of the tie threshold: how far two scores must be apart for a difference to count.

use leptos::prelude::*;
use shared::study::behavioral_tests::TieThreshold;

use super::super::address::parse_threshold;
use crate::debounce::DebounceTimer;
use crate::widgets::form::RadioButton;
use crate::widgets::term::{GlossaryTerm, Term};

/// The position of the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThresholdChoice {
    Tuned,
    Zero,
    /// A value that is typed.
    Given,
}

impl ThresholdChoice {
    const ALL: [(ThresholdChoice, &str); 3] = [
        (ThresholdChoice::Tuned, "tuned per ranker"),
        (ThresholdChoice::Zero, "0"),
        (ThresholdChoice::Given, "custom"),
    ];

    fn of(delta: TieThreshold) -> ThresholdChoice {
        match delta {
            TieThreshold::TunedPerRanker => ThresholdChoice::Tuned,
            TieThreshold::Fixed { width: 0.0 } => ThresholdChoice::Zero,
            TieThreshold::Fixed { .. } => ThresholdChoice::Given,
        }
    }
}

/// Renders the choice of the tie threshold, with a field for a custom value.
#[component]
pub(super) fn ThresholdControl(
    /// The tie threshold in the address.
    settled: Signal<TieThreshold>,
    /// Changes the tie threshold in the address.
    settle: Callback<TieThreshold>,
) -> impl IntoView {
    const PAUSE_MS: u64 = 400;
    let choice = RwSignal::new(ThresholdChoice::of(settled.get_untracked()));
    let later = DebounceTimer::with_delay_ms(PAUSE_MS);
    let wrong = RwSignal::new(false);
    Effect::new(move |_| {
        let found = ThresholdChoice::of(settled.get());
        // A typed 0 may be the beginning of a longer number.
        if (choice.get_untracked(), found) != (ThresholdChoice::Given, ThresholdChoice::Zero) {
            choice.set(found);
        }
    });
    let turn = move |next: ThresholdChoice| {
        later.cancel();
        wrong.set(false);
        choice.set(next);
        match next {
            ThresholdChoice::Tuned => settle.run(TieThreshold::TunedPerRanker),
            ThresholdChoice::Zero => settle.run(TieThreshold::Fixed { width: 0.0 }),
            // Nothing changes until a number is typed.
            ThresholdChoice::Given => {}
        }
    };
    let typed = move |text: String| match parse_threshold(&text) {
        Some(width) => {
            wrong.set(false);
            later.schedule(move || settle.run(TieThreshold::Fixed { width }));
        }
        None => {
            later.cancel();
            wrong.set(true);
        }
    };
    let ways = ThresholdChoice::ALL.map(|(way, said)| {
        view! {
            <RadioButton group="width" chosen=move || choice.get() == way choose=move || turn(way)>
                {said}
            </RadioButton>
        }
    });
    let shown = move || match settled.get() {
        TieThreshold::Fixed { width } => width.to_string(),
        TieThreshold::TunedPerRanker => String::new(),
    };
    let problem = move || {
        wrong
            .get()
            .then(|| view! { <span class="miss">"ε must be a number of at least 0"</span> })
    };
    view! {
        <span class="dial">
            <span class="label"><Term of=GlossaryTerm::TieThreshold>"Tie threshold ε"</Term></span>
            <span class="choice" role="radiogroup" aria-label="Tie threshold ε">{ways}</span>
        </span>
        <input
            class="btn bound"
            class:wrong-number=move || wrong.get()
            type="text"
            inputmode="decimal"
            placeholder="ε"
            aria-label="ε, in score units"
            aria-invalid=move || wrong.get().to_string()
            disabled=move || choice.get() != ThresholdChoice::Given
            prop:value=shown
            on:input:target=move |event| typed(event.target().value())
        />
        <span role="status">{problem}</span>
    }
}

//! What every page with a task of simulated annotators says about them.

use leptos::prelude::*;
use shared::annotation::task::AnnotatorSimulation;
use shared::report::format;

use crate::number_format::format_count_with_noun;

/// Renders the note that the annotators of a task are simulated, with their error rates if they are
/// known.
#[component]
pub(crate) fn SimulatedAnnotatorsNote(
    /// How they are simulated.
    #[prop(optional_no_strip)]
    simulation: Option<AnnotatorSimulation>,
) -> impl IntoView {
    let rates = simulation.map(|it| error_rate_sentence(&it.error_rates));
    view! {
        <p class="trying" role="note">
            <b>"Simulated annotators."</b>
            " Programs answered this task, no people: its numbers show what results look like and "
            "say nothing about what people prefer. " {rates}
        </p>
    }
}

fn error_rate_sentence(rates: &[f64]) -> String {
    let each: Vec<String> = rates.iter().map(|it| format::format_percent(*it)).collect();
    match &each[..] {
        [] => String::new(),
        [only] => format!("The error rate is {only}."),
        [first @ .., last] => format!("The error rates are {} and {last}.", first.join(", ")),
    }
}

/// Returns the number of annotators of a task, people or simulated, with their noun.
pub(crate) fn annotator_count(n_people: u32, n_simulated: u32) -> String {
    match n_simulated {
        0 => format_count_with_noun(u64::from(n_people), "annotator", "annotators"),
        n => format_count_with_noun(u64::from(n), "simulated annotator", "simulated annotators"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_annotators_are_never_plain_annotators() {
        assert_eq!(annotator_count(3, 0), "3 annotators");
        assert_eq!(annotator_count(0, 1), "1 simulated annotator");
        assert_eq!(
            error_rate_sentence(&[0.05, 0.15, 0.3]),
            "The error rates are 5 %, 15 % and 30 %."
        );
    }
}

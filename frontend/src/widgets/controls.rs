//! The controls of a study: variant, length tolerance δ, tie threshold ε, and the subset of
//! instances.

use leptos::prelude::*;
use shared::probe::{AxiomVariant, Probe};
use shared::report::format;
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::overview::{QuerySplitSize, StudyOverview};

use super::form::RadioButton;
use super::term::{GlossaryTerm, Term};
use super::variant::axiom_variant_label;
use crate::debounce::DebounceTimer;

/// The values that the controls of a study can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AllowedControlValues {
    /// The variants that were mined; the first is the default.
    pub(crate) variants: Vec<AxiomVariant>,
    /// The length tolerance δ of mining, in terms; none for no limit.
    pub(crate) max_delta: Option<u32>,
    /// The splits of the queries; empty if there are none.
    pub(crate) splits: Vec<QuerySplitSize>,
    /// Whether there are controls for variant and length; behavioral tests have neither.
    pub(crate) has_axiom_controls: bool,
    /// Whether length tolerance and tie threshold can be changed.
    pub(crate) has_threshold_controls: bool,
}

impl AllowedControlValues {
    /// Returns the values that the controls of a study can have.
    pub(crate) fn from_overview(overview: &StudyOverview) -> AllowedControlValues {
        AllowedControlValues {
            variants: overview.variants.clone(),
            max_delta: overview.limits.length_tolerance_terms,
            splits: overview.splits.clone(),
            has_axiom_controls: true,
            has_threshold_controls: !overview.has_fixed_thresholds,
        }
    }

    /// Returns the values for a list of the instances of an axiom or the samples of a behavioral
    /// test.
    pub(crate) fn for_probe(overview: &StudyOverview, probe: Probe) -> AllowedControlValues {
        let all = AllowedControlValues::from_overview(overview);
        match probe.is_axiom() {
            true => all,
            false => AllowedControlValues {
                variants: Vec::new(),
                has_axiom_controls: false,
                ..all
            },
        }
    }

    /// The highest value of the slider for δ if there was no limit in mining; one more step stands
    /// for no limit.
    const ANY_LENGTH: u32 = 50;

    fn max_position(&self) -> u32 {
        self.max_delta
            .unwrap_or(AllowedControlValues::ANY_LENGTH + 1)
    }

    /// Returns the position of the slider for δ.
    fn delta_position(&self, dials: &StudyPageControls) -> u32 {
        dials
            .length_tolerance
            .map_or(self.max_position(), |it| it.min(self.max_position()))
    }

    /// Returns the controls with δ at a position of its slider.
    pub(crate) fn controls_with_slider_delta(
        &self,
        dials: &StudyPageControls,
        place: u32,
    ) -> StudyPageControls {
        StudyPageControls {
            length_tolerance: (place < self.max_position()).then_some(place),
            ..dials.clone()
        }
    }

    /// Returns the controls with δ changed by a number of terms.
    pub(crate) fn controls_with_delta_step(
        &self,
        dials: &StudyPageControls,
        terms: i32,
    ) -> StudyPageControls {
        match self.has_threshold_controls {
            true => self.controls_with_slider_delta(
                dials,
                self.delta_position(dials).saturating_add_signed(terms),
            ),
            false => dials.clone(),
        }
    }

    /// Returns the controls with the next variant.
    pub(crate) fn controls_with_next_variant(
        &self,
        dials: &StudyPageControls,
    ) -> StudyPageControls {
        let now = dials.variant.or(self.variants.first().copied());
        let at = self
            .variants
            .iter()
            .position(|it| Some(*it) == now)
            .unwrap_or(0);
        let next = self
            .variants
            .get((at + 1) % self.variants.len().max(1))
            .copied();
        self.with_variant(dials, next)
    }

    fn with_variant(
        &self,
        dials: &StudyPageControls,
        next: Option<AxiomVariant>,
    ) -> StudyPageControls {
        StudyPageControls {
            variant: next.filter(|it| Some(it) != self.variants.first()),
            ..dials.clone()
        }
    }

    fn delta_text(&self, dials: &StudyPageControls) -> String {
        match (self.delta_position(dials), self.max_delta) {
            (place, None) if place > AllowedControlValues::ANY_LENGTH => "no limit".to_owned(),
            (1, _) => "1 term".to_owned(),
            (place, _) => format!("{place} terms"),
        }
    }
}

/// The tie thresholds that the slider offers, after the default of each ranker.
const TIE_THRESHOLDS: [f64; 15] = [
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
];

/// Returns the position of the slider for the tie threshold.
fn threshold_position(width: Option<f64>) -> u32 {
    width.map_or(0, |width| {
        TIE_THRESHOLDS
            .iter()
            .filter(|it| **it <= width)
            .count()
            .max(1) as u32
    })
}

fn threshold_text(width: Option<f64>) -> String {
    width.map_or("default".to_owned(), |it| {
        match TIE_THRESHOLDS.contains(&it) {
            true => format!("≤ {it}"),
            // A tuned threshold has more digits than are significant.
            false => format!(
                "≤ {}",
                format::format_score(it, format::score_decimals_for_spread(it))
            ),
        }
    })
}

/// Renders the bar of controls. Changes take effect after a delay: see [`DebouncedStudyControls`].
#[component]
pub(crate) fn StudyControlBar(
    /// The values that the controls can have.
    reach: AllowedControlValues,
    /// The current values.
    turned: DebouncedStudyControls,
) -> impl IntoView {
    let dials = turned.controls;
    let for_delta = StoredValue::new(reach.clone());
    let n_variants = reach.variants.len();
    let first = reach.variants.first().copied();
    let variants = reach.variants.iter().map(|&variant| {
        let chosen = move || dials.get().variant.or(first) == Some(variant);
        let turn = move || {
            let now = dials.get_untracked();
            turned.set_now(for_delta.with_value(|it| it.with_variant(&now, Some(variant))));
        };
        view! {
            <RadioButton group="mode" term=GlossaryTerm::Variant(variant) chosen choose=turn>
                {axiom_variant_label(variant)}
            </RadioButton>
        }
    });
    let variants = variants.collect_view();
    let variants = (n_variants > 1).then(|| {
        view! {
            <span class="dial">
                <span class="label wide-only" aria-hidden="true">"Variant"</span>
                <span class="choice" role="radiogroup" aria-label="Variant">
                    {variants}
                </span>
            </span>
        }
    });
    let only = [
        InstanceSubset::All,
        InstanceSubset::Untruncated,
        InstanceSubset::WithRelevant,
    ]
    .map(|only| {
        let turn = move || turned.update_now(|it| it.subset = only);
        view! {
            <RadioButton group="only" chosen=move || dials.get().subset == only choose=turn>
                {instance_filter_label(only)}
            </RadioButton>
        }
    });
    let splits = (!reach.splits.is_empty()).then(|| {
        let turn = move |split| turned.update_now(|it| it.split = split);
        let chosen = Signal::derive(move || dials.get().split);
        view! { <QuerySplitSelect splits=reach.splits.clone() chosen turn=Callback::new(turn)/> }
    });
    let has_lengths = reach.has_axiom_controls && reach.has_threshold_controls;
    let lengths = has_lengths.then(|| {
        let turn = move |place| {
            turned.set_after_delay(
                for_delta
                    .with_value(|it| it.controls_with_slider_delta(&dials.get_untracked(), place)),
            );
        };
        let place = move || for_delta.with_value(|it| it.delta_position(&dials.get()));
        let said = move || for_delta.with_value(|it| it.delta_text(&dials.get()));
        view! {
            <Slider
                label="Length tolerance δ"
                term=GlossaryTerm::LengthTolerance
                last=reach.max_position()
                place
                said
                turn
            />
        }
    });
    let last_tie = TIE_THRESHOLDS.len() as u32;
    let turn_tie = move |place: u32| {
        let width = place
            .checked_sub(1)
            .and_then(|it| TIE_THRESHOLDS.get(it as usize));
        turned.set_after_delay(StudyPageControls {
            tie_threshold: width.copied(),
            ..dials.get_untracked()
        });
    };
    let ties = reach.has_threshold_controls.then(|| {
        view! {
            <Slider
                label="Tie threshold ε"
                term=GlossaryTerm::TieThreshold
                last=last_tie
                place=move || threshold_position(dials.get().tie_threshold)
                said=move || threshold_text(dials.get().tie_threshold)
                turn=turn_tie
            />
        }
    });
    view! {
        <div class="section bar dials" role="group" aria-label="Controls">
            {variants}
            {lengths}
            {ties}
            <span class="choice" role="radiogroup" aria-label="Instance filter">
                {only}
            </span>
            {splits}
        </div>
    }
}

/// Renders a slider.
#[component]
fn Slider(
    /// The label above the slider.
    label: &'static str,
    /// The term that the label explains.
    term: GlossaryTerm,
    /// The last position of the slider; the first is 0.
    last: u32,
    /// Returns the position of the slider.
    place: impl Fn() -> u32 + Send + Sync + 'static,
    /// Returns the text for the current position.
    said: impl Fn() -> String + Send + Sync + Clone + 'static,
    /// Receives the position to which the slider is moved.
    turn: impl Fn(u32) + 'static,
) -> impl IntoView {
    let draw = move |event: FormEvent<web_sys::HtmlInputElement>| {
        if let Ok(place) = event.target().value().parse() {
            turn(place);
        }
    };
    view! {
        <span class="dial">
            <span class="label"><Term of=term>{label}</Term></span>
            <input
                type="range"
                aria-label=label
                min="0"
                max=last.to_string()
                prop:value=move || place().to_string()
                aria-valuetext=said.clone()
                on:input:target=draw
            />
            <output>{said}</output>
        </span>
    }
}

/// Renders the choice of a split of the queries, if there are splits.
#[component]
pub(crate) fn QuerySplitSelect(
    splits: Vec<QuerySplitSize>,
    #[prop(into)] chosen: Signal<Option<String>>,
    turn: Callback<Option<String>>,
) -> impl IntoView {
    let names: Vec<String> = splits.iter().map(|it| it.name.clone()).collect();
    let options = splits.into_iter().map(|it| {
        let name = it.name.clone();
        let selected = move || chosen.get().as_ref() == Some(&name);
        let shown = format!("{} ({})", it.name, format::format_count(it.n_queries));
        view! { <option selected=selected>{shown}</option> }
    });
    let options = options.collect_view();
    let change = move |event: FormEvent<web_sys::HtmlSelectElement>| {
        // The first option is all queries.
        let at = event.target().selected_index() - 1;
        turn.run(
            usize::try_from(at)
                .ok()
                .and_then(|it| names.get(it).cloned()),
        );
    };
    view! {
        <label class="dial">
            <span class="label">"Split"</span>
            <select on:change:target=change>
                <option selected=move || chosen.get().is_none()>"all splits"</option>
                {options}
            </select>
        </label>
    }
}

type FormEvent<T> = leptos::ev::Targeted<leptos::ev::Event, T>;

fn instance_filter_label(only: InstanceSubset) -> &'static str {
    match only {
        InstanceSubset::All => "all",
        InstanceSubset::Untruncated => "not truncated",
        InstanceSubset::WithRelevant => "with a relevant document",
    }
}

/// The controls as the user has set them. The address, and with it every number, follows after a
/// delay, so that moving a slider sends one request.
#[derive(Clone, Copy)]
pub(crate) struct DebouncedStudyControls {
    /// The current values of the controls.
    pub(crate) controls: Signal<StudyPageControls>,
    pending: RwSignal<Option<StudyPageControls>>,
    debounce: DebounceTimer,
    commit: Callback<StudyPageControls>,
}

impl DebouncedStudyControls {
    /// Creates the controls. `settled` has the values in the address; `settle` changes them.
    pub(crate) fn new(
        settled: Signal<StudyPageControls>,
        settle: Callback<StudyPageControls>,
    ) -> DebouncedStudyControls {
        const PAUSE_MS: u64 = 200;
        let ahead = RwSignal::new(None::<StudyPageControls>);
        Effect::new(move |_| {
            settled.track();
            ahead.set(None);
        });
        let dials = Signal::derive(move || ahead.get().unwrap_or_else(|| settled.get()));
        DebouncedStudyControls {
            controls: dials,
            pending: ahead,
            debounce: DebounceTimer::with_delay_ms(PAUSE_MS),
            commit: settle,
        }
    }

    /// Sets the controls after a delay, for a slider that may be moved further.
    pub(crate) fn set_after_delay(self, dials: StudyPageControls) {
        self.pending.set(Some(dials.clone()));
        self.debounce.schedule(move || self.commit.run(dials));
    }

    /// Changes the controls at once.
    pub(crate) fn update_now(self, change: impl FnOnce(&mut StudyPageControls)) {
        let mut dials = self.controls.get_untracked();
        change(&mut dials);
        self.set_now(dials);
    }

    /// Sets the controls at once.
    pub(crate) fn set_now(self, dials: StudyPageControls) {
        self.debounce.cancel();
        self.pending.set(Some(dials.clone()));
        self.commit.run(dials);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach() -> AllowedControlValues {
        AllowedControlValues {
            variants: vec![AxiomVariant::Fixed, AxiomVariant::PaperCamara2020],
            max_delta: Some(10),
            splits: Vec::new(),
            has_axiom_controls: true,
            has_threshold_controls: true,
        }
    }

    #[test]
    fn delta_stays_between_nothing_and_what_was_mined() {
        let dials = StudyPageControls::default();
        assert_eq!(reach().controls_with_delta_step(&dials, 1), dials);
        let down = reach().controls_with_delta_step(&dials, -4);
        assert_eq!(down.length_tolerance, Some(6));
        assert_eq!(
            reach()
                .controls_with_delta_step(&down, -20)
                .length_tolerance,
            Some(0)
        );
        assert_eq!(reach().controls_with_delta_step(&down, 4), dials);
    }

    #[test]
    fn modes_go_round() {
        let paper = reach().controls_with_next_variant(&StudyPageControls::default());
        assert_eq!(paper.variant, Some(AxiomVariant::PaperCamara2020));
        assert_eq!(
            reach().controls_with_next_variant(&paper),
            StudyPageControls::default()
        );
    }

    #[test]
    fn the_dial_of_ties_knows_every_width() {
        assert_eq!(
            [None, Some(0.0), Some(0.0001), Some(5.0), Some(9.0)].map(threshold_position),
            [0, 1, 1, 15, 15]
        );
    }
}

//! A table of effects. Every cell is a button that shows its details.

use leptos::ev;
use leptos::prelude::*;
use shared::plot::diverging_color_step_of_effect;
use shared::report::format;
use shared::study::behavioral_tests::BehavioralEffect;

use super::layout::{EffectGridLayout, GridCell, GridHeading, score};
use super::state::{BehavioralTestsState, EffectCell};
use crate::keyboard;
use crate::location::show_element_below_the_fold;

/// Renders the table; a wide one scrolls by itself.
#[component]
pub(super) fn EffectGrid(
    /// The description of the table for screen readers.
    name: &'static str,
    layout: Memo<EffectGridLayout>,
    scene: BehavioralTestsState,
) -> impl IntoView {
    // The cell that can be reached by Tab: the selected one, or else the first.
    let current = RwSignal::new(None::<EffectCell>);
    Effect::new(move |_| {
        let selected = scene.selected.get();
        let layout = layout.read();
        let here = |it: &Option<EffectCell>| {
            it.is_some_and(|it| layout.effect_cells().any(|own| own == it))
        };
        let kept = [selected, current.get_untracked()];
        let kept = kept.into_iter().find(here).flatten();
        current.set(kept.or_else(|| layout.effect_cells().next()));
    });
    let on_key = move |event: ev::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let next = current.get_untracked().and_then(|it| {
            let layout = layout.read_untracked();
            layout.step(it, &event.key())
        });
        if let Some(next) = next {
            event.prevent_default();
            current.set(Some(next));
            focus_on(next);
        }
    };
    let table = move || {
        let EffectGridLayout {
            corner,
            columns,
            rows,
        } = layout.get();
        let names: Vec<String> = columns.iter().map(|it| it.name.clone()).collect();
        let heads = columns.into_iter();
        let heads = heads.map(|it| view! { <th scope="col"><HeadingText head=it/></th> });
        let heads = heads.collect_view();
        let rows = rows.into_iter().map(|(head, squares)| {
            let cells = squares.into_iter().zip(&names).map(|(square, column)| {
                let at = format!("{}, {column}", head.name);
                let cannot = square == GridCell::Impossible;
                view! { <td class:cannot=cannot><GridCellView square at current scene/></td> }
            });
            let cells = cells.collect_view();
            view! {
                <tr>
                    <th scope="row"><HeadingText head/></th>
                    {cells}
                </tr>
            }
        });
        let rows = rows.collect_view();
        view! {
            <table class="effects" role="grid" aria-label=name aria-describedby="effects-key">
                <thead>
                    <tr>
                        <th scope="col">{corner}</th>
                        {heads}
                    </tr>
                </thead>
                <tbody on:keydown=on_key>{rows}</tbody>
            </table>
        }
    };
    view! { <div class="scrolls">{table}</div> }
}

#[component]
fn HeadingText(head: GridHeading) -> impl IntoView {
    let details = head.details.into_iter();
    let details = details.map(|it| view! { <span>{it}</span> }).collect_view();
    view! {
        <b>{head.name}</b>
        {details}
    }
}

fn id(spot: EffectCell) -> String {
    let slice = spot.slice.name().replace(' ', "-");
    format!("effect-{}-{slice}-{}", spot.probe.slug(), spot.ranker)
}

fn focus_on(spot: EffectCell) {
    keyboard::focus_element_with_id(&id(spot));
}

/// Renders a cell, or why it is empty.
#[component]
fn GridCellView(
    square: GridCell,
    /// The names of its row and column.
    at: String,
    current: RwSignal<Option<EffectCell>>,
    scene: BehavioralTestsState,
) -> impl IntoView {
    let (spot, effect, detail) = match square {
        GridCell::Impossible => {
            return view! { <span class="unseen">"impossible by design"</span> }.into_any();
        }
        GridCell::NotInStudy => {
            return view! { <span class="unseen">"not in this study"</span> }.into_any();
        }
        GridCell::NoSamples => {
            return view! {
                <span class="cell none">
                    {format::MISSING}
                    <span class="unseen">"no sample has both scores"</span>
                </span>
            }
            .into_any();
        }
        GridCell::Measured {
            spot,
            effect,
            detail,
        } => (spot, effect, detail),
    };
    let selected = move || scene.selected.get() == Some(spot);
    let tabindex = move || {
        if current.get() == Some(spot) {
            "0"
        } else {
            "-1"
        }
    };
    let part = effect.n_unscored > 0;
    view! {
        <button
            type="button"
            id=id(spot)
            class="cell"
            class:part=part
            data-step=diverging_color_step_of_effect(effect.score.value).to_string()
            aria-pressed=move || selected().to_string()
            tabindex=tabindex
            on:focus=move |_| current.set(Some(spot))
            on:click=move |_| {
                scene.select(spot);
                // The panel moves to the table of the cell.
                request_animation_frame(|| show_element_below_the_fold(".behaviours .panel"));
            }
        >
            {score(&effect)} <span>{detail}</span>
            <span class="unseen">{cell_description(&at, &effect)}</span>
        </button>
    }
    .into_any()
}

/// Returns the full description of a cell for screen readers.
fn cell_description(at: &str, effect: &BehavioralEffect) -> String {
    let [low, high] = effect.score.interval.map(format::format_signed_fraction);
    let mut said = format!(
        "{at}: effect {}, 95 % interval {low} to {high}, {} samples of {} queries",
        format::format_signed_fraction(effect.score.value),
        format::format_count(effect.n_scored()),
        format::format_count(effect.n_queries),
    );
    if effect.n_unscored > 0 {
        said += &format!(", {} unscored", format::format_count(effect.n_unscored));
    }
    if effect.is_significant() {
        said += ", significant";
    }
    if effect.has_conflicting_tests() {
        said += ", disputed";
    }
    said
}

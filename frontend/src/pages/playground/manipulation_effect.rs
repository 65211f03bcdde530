//! The effect of a manipulation on the scores of every ranker.

use leptos::prelude::*;
use shared::probe::ScoreClaim;
use shared::report::format;
use shared::score::RankerInfo;
use shared::verdict::{VerdictOutcome, VerdictWithMargin};

use super::state::{AppliedManipulation, NAMES, PlaygroundState};
use super::term_scores::digits_to_distinguish_scores;
use crate::number_format::format_count;
use crate::widgets::section::Section;
use crate::widgets::term_contributions::format_signed_score;
use crate::widgets::text_diff::{
    DiffLabelWording, TextDiffView, diff_words, summarize_text_changes,
};
use crate::widgets::verdict::effect_label_of_outcome;

/// Renders the section as long as neither the original nor the derived document is changed.
#[component]
pub(super) fn ManipulationEffectSection(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let known = Memo::new(move |_| {
        let known = desk.manipulated.get()?;
        let is_there = desk.documents.with(|texts| {
            let is = |(at, text): &(usize, String)| {
                texts.get(*at).is_some_and(|it| it.current_text() == text)
            };
            is(&known.original) && is(&known.derived)
        });
        is_there.then_some(known)
    });
    move || {
        let AppliedManipulation {
            manipulation: by,
            original,
            derived: made,
        } = known.get()?;
        let pieces = diff_words(&original.1, &made.1);
        let changed = pieces.map(|pieces| {
            view! {
                <details class="changed">
                    <summary>{summarize_text_changes(&pieces, DiffLabelWording::Edited)}</summary>
                    <TextDiffView pieces/>
                </details>
            }
        });
        let (original, made) = (original.0, made.0);
        let effects = Memo::new(move |_| {
            let answer = desk.evaluation_result();
            let lexical = answer.iter().flat_map(|it| &it.contributions);
            let lexical = lexical.map(|it| (it.ranker.clone(), it.scores.clone()));
            let neural = desk.neural_rankers.with(|models| {
                let scored = models.iter().filter_map(|it| {
                    let scores = it.score_response()?.scores.clone();
                    Some((it.ranker.clone(), scores))
                });
                scored.collect::<Vec<_>>()
            });
            let scored = lexical.chain(neural).filter_map(|(ranker, scores)| {
                let (original, made) = (*scores.get(original)?, *scores.get(made)?);
                Some(ManipulationEffect {
                    ranker,
                    original,
                    made,
                })
            });
            scored.collect::<Vec<_>>()
        });
        let rows = move || {
            let effects = effects.get();
            let digits = effects.iter().map(ManipulationEffect::n_digits).max();
            let digits = digits.unwrap_or_default();
            let rows = effects
                .into_iter()
                .map(|effect| view! { <EffectRow effect digits/> });
            rows.collect_view()
        };
        let finding = move || effects.with(|it| effect_finding(it));
        let (original, made) = (NAMES[original], NAMES[made]);
        let name = format!("Effect of {}", by.name());
        let header = move || {
            view! {
                <p class="note">
                    {format!("Document {made} is an edited copy of document {original}. ")}
                    "+1: the edited copy scores higher by more than ε; −1: the original does; \
                     0: neither."
                </p>
            }
        };
        Some(view! {
            <Section id="effect" name header>
                <p class="finding">{finding}</p>
                <table class="effect-of">
                    <caption class="unseen">"Effect on each ranker"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Ranker"</th>
                            <th scope="col" class="num wide-only">{original}</th>
                            <th scope="col" class="num wide-only">{made}</th>
                            <th scope="col" class="num">{made} " − " {original}</th>
                            <th scope="col" class="num">"ε"</th>
                            <th scope="col" class="num">"effect"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
                {changed}
            </Section>
        })
    }
}

/// The scores of a ranker for an original document and for its edited copy.
#[derive(Debug, Clone, PartialEq)]
struct ManipulationEffect {
    ranker: RankerInfo,
    original: f64,
    made: f64,
}

impl ManipulationEffect {
    fn n_digits(&self) -> u8 {
        digits_to_distinguish_scores(&[self.original, self.made])
    }

    fn outcome(&self) -> VerdictOutcome {
        let width = self.ranker.kind.default_tie_threshold();
        outcome(self.original, self.made, width)
    }
}

/// Says how many rankers prefer the edited copy, and how many the original.
fn effect_finding(effects: &[ManipulationEffect]) -> String {
    let n = |of: VerdictOutcome| {
        let count = effects.iter().filter(|it| it.outcome() == of);
        format_count(count.count() as u64)
    };
    format!(
        "Rankers that prefer the edited copy: {} of {}. Rankers that prefer the original: {}.",
        n(VerdictOutcome::Satisfied),
        format_count(effects.len() as u64),
        n(VerdictOutcome::Violated)
    )
}

#[component]
fn EffectRow(
    effect: ManipulationEffect,
    /// The number of digits of the scores in all rows.
    digits: u8,
) -> impl IntoView {
    let shown = effect_label_of_outcome(Some(effect.outcome()));
    let ManipulationEffect {
        ranker,
        original,
        made,
    } = effect;
    let width = ranker.kind.default_tie_threshold();
    view! {
        <tr>
            <th scope="row">{ranker.label}</th>
            <td class="num wide-only">{format::format_score(original, digits)}</td>
            <td class="num wide-only">{format::format_score(made, digits)}</td>
            <td class="num">{format_signed_score(made - original, digits)}</td>
            <td class="num">{threshold_text(width)}</td>
            <td class="num">{shown}</td>
        </tr>
    }
}

fn outcome(original: f64, made: f64, tie_width: f64) -> VerdictOutcome {
    let claim = ScoreClaim::Higher {
        winner: made,
        loser: original,
    };
    let VerdictWithMargin { outcome, .. } = claim.verdict(tie_width);
    outcome
}

/// Formats a tie threshold, as in `0` and `10⁻⁹`.
fn threshold_text(width: f64) -> String {
    match width {
        0.0 => "0".to_owned(),
        1e-9 => "10⁻⁹".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::score::RankerKind;

    #[test]
    fn an_effect_is_positive_where_the_manipulated_text_is_preferred() {
        let width = RankerKind::Lexical.default_tie_threshold();
        let said = |original: f64, made: f64| {
            effect_label_of_outcome(Some(outcome(original, made, width)))
        };
        assert_eq!(
            [said(1.0, 1.5), said(1.5, 1.0), said(1.5, 1.5)],
            ["+1", "−1", "0"]
        );
        assert_eq!(threshold_text(width), "10⁻⁹");
        assert_eq!(
            threshold_text(RankerKind::Neural.default_tie_threshold()),
            "0"
        );
    }
}

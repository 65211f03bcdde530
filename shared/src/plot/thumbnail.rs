//! A small heat map of a study, for its card.

use super::{
    FigureColorRole, FigureMark, NOTE, PlotFigure, TextAnchor, diverging_color_step_of_fraction,
    fit, rect, text,
};
use crate::report::format;
use crate::study::overview::StudySummary;

const WIDTH: f64 = 320.0;
const NAMES: f64 = 92.0;
const HEAD: f64 = 18.0;
const ROW: f64 = 19.0;

/// Draws a colored cell for each ranker and axiom, without numbers.
pub fn draw_heatmap_thumbnail(card: &StudySummary) -> PlotFigure {
    let column = (WIDTH - NAMES) / card.probes.len().max(1) as f64;
    let mut marks = Vec::new();
    let names: Vec<_> = card.probes.iter().map(|it| it.name()).collect();
    // A letter is about seven pixels wide; narrower columns have no names.
    if names.iter().all(|it| 7.0 * it.len() as f64 <= column) {
        for (n, name) in names.iter().enumerate() {
            let at = [NAMES + (n as f64 + 0.5) * column, 12.0];
            marks.push(text(
                at,
                TextAnchor::Middle,
                NOTE,
                (*name).clone().into_owned(),
            ));
        }
    }
    for (row, ranker) in card.rankers.iter().enumerate() {
        let at = [0.0, HEAD + row as f64 * ROW + 13.0];
        marks.push(text(at, TextAnchor::Start, NOTE, fit(ranker, 14)));
    }
    for (row, (ranker, fractions)) in card.rankers.iter().zip(&card.fractions).enumerate() {
        for (n, (name, fraction)) in names.iter().zip(fractions).enumerate() {
            let Some(fraction) = *fraction else { continue };
            let at = [NAMES + n as f64 * column, HEAD + row as f64 * ROW];
            let fill = FigureColorRole::Step(diverging_color_step_of_fraction(fraction));
            let size = [column - 1.0, ROW - 1.0];
            let title = format!(
                "{ranker} on {name}: {}",
                format::format_two_digit_fraction(fraction)
            );
            let cell = rect(at, size, 0.0, fill);
            marks.push(FigureMark::Group {
                title,
                marks: vec![cell],
            });
        }
    }
    PlotFigure {
        width: WIDTH,
        height: HEAD + card.rankers.len() as f64 * ROW,
        margin: 0.0,
        alt_text: finding(card),
        description:
            "Rows are rankers, columns are axioms; blue agrees with the axiom, rust contradicts \
             it."
            .to_owned(),
        marks,
    }
}

fn finding(card: &StudySummary) -> String {
    let values = || card.fractions.iter().flatten().flatten().copied();
    let told = format!(
        "{} rankers on {} axioms",
        card.rankers.len(),
        card.probes.len()
    );
    match (
        values().min_by(f64::total_cmp),
        values().max_by(f64::total_cmp),
    ) {
        (Some(low), Some(high)) => format!(
            "{told}: fractions satisfied from {} to {}",
            format::format_two_digit_fraction(low),
            format::format_two_digit_fraction(high)
        ),
        _ => told,
    }
}

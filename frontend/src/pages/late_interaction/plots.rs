//! Scatter plots of terms and tokens: idf against importance, exact matches, and spectra.

use leptos::prelude::*;
use shared::late_interaction::{LateInteractionRankerAnalysis, LateInteractionWordStatistics};
use shared::plot::{self, LabeledScatterPlot};
use shared::report::ReportTable;

use super::address::LateInteractionPageState;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};
use crate::widgets::section::Section;

/// What the correlation of idf and importance shows: a low importance means an important term.
const IMPORTANCE_FINDINGS: [&str; 3] = [
    "Common terms are more important",
    "Rare terms are more important",
    "Importance shows no relation with idf",
];

/// What the correlation of idf and ΔES shows.
const EXACT_MATCH_FINDINGS: [&str; 3] = [
    "Rare terms gain more from exact matches",
    "Common terms gain more from exact matches",
    "The gain from exact matches shows no relation with idf",
];

/// What the correlation of idf and spectral ratio shows: a high ratio means little context.
const SPECTRUM_FINDINGS: [&str; 3] = [
    "Vectors of rare tokens depend less on their context",
    "Vectors of common tokens depend less on their context",
    "How much vectors depend on their context shows no relation with idf",
];

/// Renders all plots; the selected term is marked in each.
#[component]
pub(super) fn LateInteractionPlots(
    found: StoredValue<LateInteractionRankerAnalysis>,
    /// The statistics of each token.
    pieces: ReportTable,
    /// The selected term; in the plots of tokens, its tokens are marked.
    chosen: Memo<Option<LateInteractionWordStatistics>>,
    scene: LateInteractionPageState,
) -> impl IntoView {
    let of_word = Signal::derive(move || chosen.get().map(|it| vec![it.word]).unwrap_or_default());
    let of_pieces = Signal::derive(move || chosen.get().map(|it| it.tokens).unwrap_or_default());
    let pick = Callback::new(move |word: String| scene.update(|it| it.term = Some(word)));
    let pick_piece = Callback::new(move |piece: String| {
        let owner = found.with_value(|it| {
            let has = |it: &&LateInteractionWordStatistics| it.tokens.contains(&piece);
            it.words.iter().find(has).map(|it| it.word.clone())
        });
        scene.update(|it| it.term = owner);
    });
    let [importance, delta_es, ratio] = [
        LabeledScatterPlot::importance_by_idf,
        LabeledScatterPlot::delta_es_by_idf,
        LabeledScatterPlot::spectral_ratio_by_idf,
    ]
    .map(|of| found.with_value(of));
    let before = found.with_value(LabeledScatterPlot::pretrained_spectral_ratio_by_idf);
    let spectra = ratio.describe_correlation(SPECTRUM_FINDINGS);
    let spectra = match &before {
        None => spectra,
        Some(before) => {
            format!(
                "{spectra} Before fine-tuning {}.",
                before.format_correlation()
            )
        }
    };
    let part = |id, name, findings, points: LabeledScatterPlot, named, pick| {
        let said = points.describe_correlation(findings);
        let table = Some(points.points_to_table(id));
        view! {
            <ExportableFigureSection
                of="late-interaction-" id name said table
                drawing=Some(selectable_plot(points, named, pick))
            />
        }
    };
    let title = "Spectra before fine-tuning";
    let before = before.map(|it| {
        part(
            "spectra-before",
            title,
            SPECTRUM_FINDINGS,
            it,
            of_pieces,
            pick_piece,
        )
    });
    let header = || {
        view! {
            <p class="note">
                "Select a point or a row of the term table to highlight the term in all plots."
                <span class="unseen">
                    " Points can be selected with a pointer only; the table offers the same \
                     selection."
                </span>
            </p>
        }
    };
    view! {
        <Section id="plots" name="Terms" header>
            <div class="plots">
                {part("importance", "Importance", IMPORTANCE_FINDINGS, importance, of_word, pick)}
                {part("exact", "Exact matches", EXACT_MATCH_FINDINGS, delta_es, of_word, pick)}
                <ExportableFigureSection
                    of="late-interaction-"
                    id="spectra"
                    name="Spectra"
                    said=spectra
                    table=Some(pieces)
                    drawing=Some(selectable_plot(ratio, of_pieces, pick_piece))
                />
                {before}
            </div>
        </Section>
    }
}

/// Renders a plot whose dots can be selected.
fn selectable_plot(
    points: LabeledScatterPlot,
    named: Signal<Vec<String>>,
    pick: Callback<String>,
) -> FigureWithSelection {
    let points = StoredValue::new(points);
    let figure = Memo::new(move |_| {
        let named = named.get();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        points.with_value(|it| plot::draw_labeled_scatter_plot(it, &named))
    });
    let pick = Callback::new(move |at: [f64; 2]| {
        let name = points.with_value(|it| it.nearest_point_name(at).map(str::to_owned));
        if let Some(name) = name {
            pick.run(name);
        }
    });
    FigureWithSelection::with_selectable_positions(figure.into(), pick)
}

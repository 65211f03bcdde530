//! The figures, each with its table and files. Parts of a figure that stand for some queries link
//! to them.

use std::sync::Arc;

use leptos::prelude::*;
use shared::compare::query_list::{
    ComparedQueryGroup, ReciprocalRankChangeKind, TopDocumentTermFraction,
};
use shared::compare::{MAX_DEPTH, RankerComparison};
use shared::plot::{COLUMN_FIGURE_WIDTH, FIGURE_MARGIN, PlotFigure, group_bars, rr_change};
use shared::report;

use crate::pages::compare_address::ComparePageState;
use crate::widgets::figure::content_width;
use crate::widgets::figure_section::{ExportableFigureSection, FigureWithSelection};

/// Renders all figures about queries.
#[component]
pub(super) fn ComparisonFigures(
    found: Arc<RankerComparison>,
    scene: ComparePageState,
) -> impl IntoView {
    let width = content_width();
    // On a wide screen its width does not matter.
    let width = Memo::new(move |_| (width.get() - 2.0 * FIGURE_MARGIN).min(COLUMN_FIGURE_WIDTH));
    move || view! { <FiguresOfWidth found=found.clone() width=width.get() scene/> }
}

#[component]
fn FiguresOfWidth(
    found: Arc<RankerComparison>,
    /// The width of the figures, in pixels.
    width: f64,
    scene: ComparePageState,
) -> impl IntoView {
    let tables = report::ranker_comparison_tables(&found);
    let table = |name: &str| tables.iter().find(|it| it.name == name).cloned();
    let [first, second] = found.rankers.clone().map(|it| it.label);
    let part = |id: &'static str, name: &'static str, said: &'static str, drawing| {
        view! { <ExportableFigureSection of="differ-" id name said drawing table=table(id)/> }
    };
    let buckets = (0..found.fqt_buckets.len() as u8)
        .flat_map(|bucket| [0, 1].map(|side| ComparedQueryGroup::FqtBucket { side, bucket }));
    let buckets = part(
        "buckets",
        "Reciprocal rank by FQT in the top ten",
        "Queries are grouped by each ranker's own FQT. If query tokens mislead a ranker, its \
         reciprocal rank falls as FQT rises.",
        selectable_figure(
            group_bars::draw_rr_by_query_token_fraction(&found, width),
            buckets,
            scene,
        ),
    );
    let lengths = found.query_lengths.iter().map(|it| it.n_tokens);
    let lengths = lengths.map(|n_tokens| ComparedQueryGroup::QueryLength { n_tokens });
    let lengths = part(
        "lengths",
        "Reciprocal rank by query length",
        "Length in whitespace-separated tokens.",
        selectable_figure(
            group_bars::draw_rr_by_query_length(&found, width),
            lengths,
            scene,
        ),
    );
    let changes = ReciprocalRankChangeKind::ALL
        .iter()
        .map(|it| ComparedQueryGroup::RrChange { change: *it });
    let changes = part(
        "change",
        "Difference per query",
        "Difference in RR@10, largest first.",
        selectable_figure(
            rr_change::draw_rr_change_by_query(&found, width),
            changes,
            scene,
        ),
    );
    let depths = (1..=MAX_DEPTH as u8).map(|depth| ComparedQueryGroup::Disjoint { depth });
    let overlap = part(
        "overlap",
        "Overlap of the rankings",
        "Number of documents in the top i of both rankings. Click a dot to list the queries \
         with no overlap.",
        selectable_figure(
            rr_change::draw_mean_overlap_by_depth(&found, width),
            depths,
            scene,
        ),
    );
    let answers = found.question_classes.iter();
    let answers = answers.map(|it| ComparedQueryGroup::QuestionClass {
        answer: it.question_class,
    });
    let answers = part(
        "answers",
        "Reciprocal rank by question class",
        "Question classes from rules over question words and head nouns.",
        selectable_figure(
            group_bars::draw_rr_by_question_class(&found, width),
            answers,
            scene,
        ),
    );
    let bigrams = found.bigrams.iter().map(|it| ComparedQueryGroup::Bigram {
        words: it.bigram.clone(),
    });
    let bigrams = part(
        "bigrams",
        "Reciprocal rank by first words of the query",
        "The most frequent first two words.",
        selectable_figure(
            group_bars::draw_rr_by_first_bigram(&found, width),
            bigrams,
            scene,
        ),
    );
    view! {
        {part(
            "fractions",
            "Contents of the top ten",
            "Reciprocal rank, query tokens (FQT) and novel terms (FNT) in the top ten.",
            None,
        )}
        <HigherFractionLinks names=[first, second] scene/>
        {buckets}
        {lengths}
        {changes}
        {overlap}
        {answers}
        {bigrams}
    }
}

/// Renders links to the queries on which one of the rankers has the higher fraction.
#[component]
fn HigherFractionLinks(names: [String; 2], scene: ComparePageState) -> impl IntoView {
    let ways = [
        (TopDocumentTermFraction::QueryTokens, "FQT"),
        (TopDocumentTermFraction::NovelTerms, "FNT"),
    ]
    .map(|(fraction, word)| {
        [0_u8, 1].map(|side| {
            let selection = ComparedQueryGroup::HigherFraction { fraction, side };
            let name = names[usize::from(side)].clone();
            let own = selection.clone();
            let pressed = move || (scene.view.get().selection == own).to_string();
            view! {
                <button
                    class="btn"
                    type="button"
                    aria-pressed=pressed
                    on:click=move |_| select_queries(scene, selection.clone())
                >
                    {format!("{word} is higher for {name}")}
                </button>
            }
        })
    });
    view! { <div class="btns" role="group" aria-label="Queries by ranker with the higher \
    fraction">{ways}</div> }
}

/// Shows the queries behind a number.
fn select_queries(scene: ComparePageState, selection: ComparedQueryGroup) {
    scene.update(|it| {
        it.selection = selection;
        it.page = 0;
        it.query = None;
    });
    if let Some(list) = document().get_element_by_id("queries") {
        list.scroll_into_view();
    }
}

/// Creates a figure whose groups select their queries.
fn selectable_figure(
    figure: PlotFigure,
    of: impl Iterator<Item = ComparedQueryGroup>,
    scene: ComparePageState,
) -> Option<FigureWithSelection> {
    let of = StoredValue::new(of.collect::<Vec<_>>());
    let picked = Memo::new(move |_| {
        let now = scene.view.get().selection;
        of.with_value(|it| it.iter().position(|it| *it == now))
    });
    let pick = Callback::new(move |place: usize| {
        if let Some(selection) = of.with_value(|it| it.get(place).cloned()) {
            select_queries(scene, selection);
        }
    });
    Some(FigureWithSelection::with_selectable_groups(
        figure,
        picked.into(),
        pick,
    ))
}

//! The four hypotheses of the paper, with our values and conclusions.

use std::sync::Arc;

use leptos::prelude::*;
use shared::compare::RankerComparison;
use shared::compare::hypotheses::{HypothesisOutcome, HypothesisResult};
use shared::report::comparison::{
    describe_hypothesis_statistic, hypothesis_outcome_label, hypothesis_statement,
    published_hypothesis_result,
};
use shared::report::{self, format};

use crate::number_format::format_count_with_noun;
use crate::pages::compare_address::ComparePageState;
use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::section::Section;
use crate::widgets::term::{GlossaryTerm, Term};

/// Renders a row for each hypothesis.
#[component]
pub(super) fn HypothesisResultsSection(
    found: Arc<RankerComparison>,
    scene: ComparePageState,
) -> impl IntoView {
    let names = found.rankers.clone().map(|it| it.label);
    let rows = found.hypotheses.iter().map(|it| {
        view! { <HypothesisRow finding=it.clone() names=names.clone()/> }
    });
    let rows = rows.collect_view();
    let csv = Callback::new(move |()| {
        let tables = report::ranker_comparison_tables(&found);
        if let Some(table) = tables.iter().find(|it| it.name == "hypotheses") {
            let name = scene.study.with_value(|it| format!("{it}-hypotheses.csv"));
            download::offer_text_download(&name, "text/csv", &report::table_to_csv(table));
        }
    });
    view! {
        <Section
            id="hypotheses"
            name="Hypotheses"
            note="Hypotheses of Padigela, Zamani and Croft (2019) on BM25 and BERT. A \
                 hypothesis is supported if its whole 95 % interval over queries is on the \
                 predicted side of 0."
            header=move || view! { <FigureExportButtons of="hypotheses" csv/> }
        >
            <ol class="hypotheses">{rows}</ol>
        </Section>
    }
}

#[component]
fn HypothesisRow(finding: HypothesisResult, names: [String; 2]) -> impl IntoView {
    let names = names.each_ref().map(String::as_str);
    let said = hypothesis_statement(finding.hypothesis, names);
    let class = match finding.outcome {
        HypothesisOutcome::Supported => "verdict quiet ok",
        HypothesisOutcome::NotSupported => "verdict quiet bad",
        HypothesisOutcome::TooFewQueries => "verdict quiet out",
    };
    let measured = finding.measured.as_ref();
    let measured = measured.map_or(format::MISSING.to_owned(), format::format_signed_estimate);
    let of = format!(
        "{}, {}",
        describe_hypothesis_statistic(finding.hypothesis),
        format_count_with_noun(finding.n_queries, "query", "queries")
    );
    view! {
        <li>
            <b>
                <Term of=GlossaryTerm::Hypothesis(finding.hypothesis)>
                    {finding.hypothesis.name_in_paper()}
                </Term>
            </b>
            <span class="said">{said}</span>
            <span class="num">{measured}</span>
            <span class="label">{of}</span>
            <span class=class>{hypothesis_outcome_label(finding.outcome)}</span>
            <span class="label paper">
                "Paper: " {published_hypothesis_result(finding.hypothesis)}
            </span>
        </li>
    }
}

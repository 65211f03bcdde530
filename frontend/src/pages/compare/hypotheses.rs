//! The four hypotheses of the paper, with our values and conclusions.

use std::sync::Arc;

use leptos::prelude::*;
use shared::compare::RankerComparison;
use shared::compare::hypotheses::{HypothesisOutcome, HypothesisResult};
use shared::report::comparison::{
    conclusion_label, hypothesis_statement, hypothesis_statistic, published_result,
};
use shared::report::{self, format};

use crate::number_format::plural;
use crate::pages::compare_address::ComparePageState;
use crate::widgets::download;
use crate::widgets::export_buttons::ExportButtons;
use crate::widgets::section::Section;

/// Renders a row for each hypothesis.
#[component]
pub(super) fn Hypotheses(found: Arc<RankerComparison>, scene: ComparePageState) -> impl IntoView {
    let names = found.rankers.clone().map(|it| it.label);
    let rows = found.hypotheses.iter().map(|it| {
        view! { <HypothesisRow finding=it.clone() names=names.clone()/> }
    });
    let rows = rows.collect_view();
    let csv = Callback::new(move |()| {
        let tables = report::comparison_tables(&found);
        if let Some(table) = tables.iter().find(|it| it.name == "hypotheses") {
            let name = scene.study.with_value(|it| format!("{it}-hypotheses.csv"));
            download::save_text(&name, "text/csv", &report::to_csv(table));
        }
    });
    view! {
        <Section
            id="hypotheses"
            name="Hypotheses"
            note="Hypotheses of Padigela, Zamani and Croft (2019) on BM25 and BERT. A \
                 hypothesis is supported if its whole 95 % interval over queries is on the \
                 predicted side of 0."
            header=move || view! { <ExportButtons of="hypotheses" csv/> }
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
    let measured = match &finding.measured {
        Some(it) => {
            let [low, high] = it.interval.map(format::signed);
            format!("{} [{low}, {high}]", format::signed(it.value))
        }
        None => format::MISSING.to_owned(),
    };
    let of = format!(
        "{}, {}",
        hypothesis_statistic(finding.hypothesis),
        plural(finding.n_queries, "query", "queries")
    );
    view! {
        <li>
            <b>{finding.hypothesis.name()}</b>
            <span class="said">{said}</span>
            <span class="num">{measured}</span>
            <span class="label">{of}</span>
            <span class=class>{conclusion_label(finding.outcome)}</span>
            <span class="label paper">"Paper: " {published_result(finding.hypothesis)}</span>
        </li>
    }
}

//! The scores, margin and verdict of each ranker.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::report::{self, ReportTable, TableColumnHeader, TableColumnKind, TableValue, format};
use shared::study::instance_details::{InstanceDetails, RankerInstanceVerdict};

use super::explanation::score_digits_for_margin;
use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::section::Section;
use crate::widgets::term::{GlossaryTerm, Term};
use crate::widgets::term_contributions::{
    ClaimSupportBar, bar_direction_labels, format_signed_score,
};
use crate::widgets::verdict::{VerdictChip, outcome_label_for_probe};

/// Renders the section with the scores.
#[component]
pub(super) fn InstanceScoresByRanker(
    /// The name of the study, used in file names.
    study: String,
    /// The instance.
    shown: InstanceDetails,
) -> impl IntoView {
    let n = shown.docs.len();
    let heads = (1..=n).map(|it| {
        view! { <th scope="col" class="num">{format!("document {it}")}</th> }
    });
    let heads = heads.collect_view();
    let [against, with] = bar_direction_labels(shown.claim.kind());
    let rows = shown
        .verdicts
        .iter()
        .map(|it| view! { <RankerScoreRow probe=shown.probe said=it.clone()/> })
        .collect_view();
    let note = truncation_note(&shown);
    let (what, last) = match shown.probe.is_axiom() {
        true => (
            "Scores, margins and verdicts",
            view! { <Term of=GlossaryTerm::Verdict>"verdict"</Term> }.into_any(),
        ),
        false => ("Scores, margins and effects", "effect".into_any()),
    };
    let csv = Callback::new(move |()| {
        let name = format!("{study}-{}-{}-scores", shown.probe.slug(), shown.number);
        download::offer_text_download(
            &format!("{name}.csv"),
            "text/csv",
            &report::table_to_csv(&score_table(&shown, &name)),
        );
    });
    let header = move || view! { <FigureExportButtons of="scores" csv/> };
    view! {
        <Section id="said" name="Scores and verdicts" header>
            <div class="scrolls" role="group" tabindex="0" aria-label="Scores and verdicts">
            <table>
                <caption class="unseen">{what}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Ranker"</th>
                        {heads}
                        <th scope="col" class="wide-only">
                            <span class="ends">
                                <span>{against}</span>
                                <span>{with}</span>
                            </span>
                        </th>
                        <th scope="col" class="num">
                            <Term of=GlossaryTerm::Margin>"margin"</Term>
                        </th>
                        <th scope="col">{last}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            </div>
            <p class="note">
                <span class="wide-only">"Bars are relative to each ranker’s median margin. "</span>
                {note}
            </p>
        </Section>
    }
}

#[component]
fn RankerScoreRow(probe: Probe, said: RankerInstanceVerdict) -> impl IntoView {
    let digits = score_digits_for_margin(&said);
    let scores = said
        .scores
        .iter()
        .zip(&said.truncated)
        .map(|(score, truncated)| {
            let shown = score.map_or(format::MISSING.to_owned(), |it| {
                format::format_score(it, digits)
            });
            let part = truncated.then(|| view! { <span title="truncated">"*"</span> });
            view! { <td class="num">{shown} {part}</td> }
        });
    let scores = scores.collect_view();
    let margin = said.verdict.map(|it| it.margin);
    let shown = margin.map_or(format::MISSING.to_owned(), |it| {
        format_signed_score(it, digits)
    });
    view! {
        <tr>
            <td title=said.ranker.note.clone()>
                {said.ranker.label.clone()} " "
                <span class="label">{said.ranker.detail.clone()}</span>
            </td>
            {scores}
            <td class="wide-only"><ClaimSupportBar share=margin_share(&said)/></td>
            <td class="num">{shown}</td>
            <td><VerdictChip probe outcome=said.verdict.map(|it| it.outcome)/></td>
        </tr>
    }
}

/// Returns the margin divided by twice the typical margin.
fn margin_share(said: &RankerInstanceVerdict) -> Option<f64> {
    let typical = said.typical_margin.filter(|it| *it > 0.0)?;
    Some(said.verdict?.margin / (2.0 * typical))
}

fn truncation_note(shown: &InstanceDetails) -> String {
    let names = shown
        .verdicts
        .iter()
        .filter(|it| it.truncated.contains(&true));
    let names: Vec<&str> = names.map(|it| it.ranker.label.as_str()).collect();
    match names.as_slice() {
        [] => {
            let silent = shown.verdicts.iter().map(|it| &it.ranker);
            let silent = silent.filter(|it| !it.kind.reports_truncation());
            let silent: Vec<&str> = silent.map(|it| it.label.as_str()).collect();
            match silent.as_slice() {
                [] => "No document was truncated.".to_owned(),
                all => format!("Truncation is unknown for {}.", all.join(", ")),
            }
        }
        all => format!("* truncated by {}.", all.join(", ")),
    }
}

fn score_table(shown: &InstanceDetails, name: &str) -> ReportTable {
    let n = shown.docs.len();
    let mut columns = vec![TableColumnHeader::with_name_and_kind(
        "ranker",
        TableColumnKind::Text,
    )];
    columns.extend((1..=n).map(|it| {
        TableColumnHeader::with_name_and_kind(format!("document {it}"), TableColumnKind::Number)
    }));
    columns.extend((1..=n).map(|it| {
        TableColumnHeader::with_name_and_kind(
            format!("document {it} truncated"),
            TableColumnKind::Text,
        )
    }));
    columns.push(TableColumnHeader::with_name_and_kind(
        "margin",
        TableColumnKind::Number,
    ));
    let is_axiom = shown.probe.is_axiom();
    let last = if is_axiom { "verdict" } else { "effect" };
    columns.push(TableColumnHeader::with_name_and_kind(
        last,
        TableColumnKind::Text,
    ));
    columns.push(TableColumnHeader::with_name_and_kind(
        "median margin",
        TableColumnKind::Number,
    ));
    let rows = shown.verdicts.iter().map(|it| {
        let digits = score_digits_for_margin(it);
        let score = |value: Option<f64>| {
            value.map_or(TableValue::Missing, |value| TableValue::Score {
                value,
                digits,
            })
        };
        let known = it.ranker.kind.reports_truncation();
        let word = |cut: bool| match (cut, known) {
            (true, _) => TableValue::Text("yes".to_owned()),
            (false, true) => TableValue::Text("no".to_owned()),
            (false, false) => TableValue::Missing,
        };
        let mut row = vec![TableValue::Text(it.ranker.label.clone())];
        row.extend(it.scores.iter().map(|it| score(*it)));
        row.extend(it.truncated.iter().map(|it| word(*it)));
        row.push(score(it.verdict.map(|it| it.margin)));
        let outcome = it.verdict.map(|it| it.outcome);
        row.push(TableValue::Text(
            outcome_label_for_probe(shown.probe, outcome).to_owned(),
        ));
        row.push(score(it.typical_margin));
        row
    });
    ReportTable {
        name: name.to_owned(),
        title: "Scores of each ranker".to_owned(),
        rows: rows.collect(),
        columns,
        notes: Vec::new(),
    }
}

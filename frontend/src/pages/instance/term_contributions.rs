//! The contribution of each query term, for rankers whose scores are sums over terms.

use leptos::prelude::*;
use shared::plot::{self, FigureTheme};
use shared::report;
use shared::study::instance_details::InstanceDetails;

use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::section::Section;
use crate::widgets::term_contributions::{self, TermContributionTable};

/// Renders the section with the term contributions.
#[component]
pub(super) fn TermContributionsSection(
    /// The name of the study, used in file names.
    study: String,
    /// The instance.
    shown: InstanceDetails,
    /// The query term that is hovered.
    lit: RwSignal<Option<u32>>,
) -> impl IntoView {
    let InstanceDetails {
        contributions,
        terms,
        claim,
        ..
    } = shown.clone();
    let tables = contributions.iter().map(|it| {
        let (contributions, terms) = (it.clone(), terms.clone());
        view! { <div><TermContributionTable contributions terms claim lit/></div> }
    });
    let tables = tables.collect_view();
    let name = format!("{study}-{}-{}-terms", shown.probe.slug(), shown.number);
    let all = StoredValue::new((name, contributions.clone(), terms));
    let csv = Callback::new(move |()| {
        all.with_value(|(name, contributions, terms)| {
            let table =
                term_contributions::term_contributions_table(contributions, terms, claim, name);
            download::offer_text_download(
                &format!("{name}.csv"),
                "text/csv",
                &report::table_to_csv(&table),
            );
        });
    });
    let svg = Callback::new(move |()| {
        all.with_value(|(name, contributions, terms)| {
            let figure = term_contributions::term_differences_figure(contributions, terms, claim);
            let text = plot::figure_to_svg(&figure, FigureTheme::Light);
            download::offer_text_download(&format!("{name}.svg"), "image/svg+xml", &text);
        });
    });
    (!contributions.is_empty()).then(|| {
        let note = "Contribution of each query term to the score";
        let header = move || view! { <FigureExportButtons of="terms" svg csv/> };
        view! {
            <Section id="terms" name="Contribution of each term" note header>
                <div class="docs">{tables}</div>
            </Section>
        }
    })
}

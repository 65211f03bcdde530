//! The Instances page: the instances of one probe with the scores of one ranker, filtered and
//! sorted. The list can have any length.

mod filters;
mod rows;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map, use_url};
use shared::api::GetStudyRequest;
use shared::plot::{self, FigureTheme};
use shared::probe::{AxiomVariant, Probe};
use shared::report::{self, TableColumnHeader, TableColumnKind, TableValue};
use shared::study::controls::StudyPageControls;
use shared::study::instance_list::{ListedInstance, MarginHistogram};
use shared::verdict::VerdictOutcome;

use super::study::address::{CellAddress, InstanceListView, InstanceView, cell_href};
use super::study::{ListedDocuments, format_margin, margin_definition, margin_digits};
use crate::api::latest_reply::ReactiveRequest;
use crate::number_format::format_count_with_noun;
use crate::routes::PageRoute;
use crate::widgets::controls::{AllowedControlValues, DebouncedStudyControls, StudyControlBar};
use crate::widgets::download;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::figure::FigureView;
use crate::widgets::section::Section;
use crate::widgets::table::ReportTableView;
use crate::widgets::term_contributions::ClaimSupportBar;
use crate::widgets::verdict::VerdictChip;
use crate::widgets::virtual_list::{VirtualList, row_link_id};
use filters::{InstanceListFilters, InstanceReviewers};
use rows::{InstanceListKey, InstanceRow, InstanceRows};

/// Renders the Instances page, which lists the instances of one probe with the scores of one
/// ranker.
#[component]
pub(crate) fn ProbeInstancesPage() -> impl IntoView {
    crate::bundle_loader::prefetch_lazy_bundle();
    let url = use_url();
    let page = Memo::new(move |_| {
        let url = url.read();
        PageRoute::parse(url.path(), url.search())
    });
    move || match page.get() {
        Some(PageRoute::Instances {
            study,
            probe,
            ranker,
        }) => Some(view! { <InstanceListPage study probe ranker/> }),
        _ => None,
    }
}

#[component]
fn InstanceListPage(study: String, probe: Probe, ranker: String) -> impl IntoView {
    let query = use_query_map();
    let view = Memo::new(move |_| InstanceListView::from_address(&|key| query.read().get(key)));
    let dials = Memo::new(move |_| view.get().dials);
    let name = StoredValue::new(study.clone());
    let look = ReactiveRequest::send_on_change(move || GetStudyRequest {
        study: name.get_value(),
        controls: dials.get(),
    });
    let (overview, failed) = (look.reply, look.error);
    let ranker = StoredValue::new(ranker);
    let asked = Memo::new(move |_| InstanceListKey {
        study: name.get_value(),
        probe,
        ranker: ranker.get_value(),
        view: view.get(),
    });
    let rows = InstanceRows::new_with_automatic_refetch(asked);
    let navigate = use_navigate();
    let go = Callback::new(move |view: InstanceListView| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        let href = view.href(&name.get_value(), probe, &ranker.get_value());
        navigate(&href, options);
    });
    let settle = Callback::new(move |dials: StudyPageControls| {
        go.run(InstanceListView {
            dials,
            ..view.get_untracked()
        });
    });
    let turned = DebouncedStudyControls::new(dials.into(), settle);
    let cell = CellAddress {
        ranker: ranker.get_value(),
        probe,
    };
    let spot = Memo::new(move |_| overview.get().and_then(|it| cell.position(&it)));
    // Stays as it is while another list is loaded, so that the filter does not flicker.
    let reviewers = Memo::new(move |before: Option<&Option<InstanceReviewers>>| {
        let found = rows.summary.with(|it| {
            let it = it.as_ref()?;
            Some(InstanceReviewers::from_counts(
                it.n_reviewed,
                it.n_simulated_reviews,
            ))
        });
        found.unwrap_or(before.copied().flatten())
    });
    let about = probe.probe_description();
    let title = move || {
        let overview = overview.get();
        let row_name = overview.as_ref().zip(spot.get());
        row_name.map_or_else(|| ranker.get_value(), |(it, spot)| spot.row_name(it))
    };
    let heading = move || format!("{} on {}", title(), probe.name());
    // The controls are built once the study has told which values they can have.
    let reach = Memo::new(move |_| {
        overview
            .get()
            .map(|it| AllowedControlValues::for_probe(&it, probe))
    });
    let bar = move || match reach.get() {
        Some(reach) => view! { <StudyControlBar reach turned/> }.into_any(),
        None => {
            view! { <div class="section bar dials waiting" aria-hidden="true"></div> }.into_any()
        }
    };
    let failure = move || {
        failed.get().or_else(|| rows.error.get()).map(|error| {
            let retry = Callback::new(move |()| {
                look.refetch();
                rows.discard_and_refetch();
            });
            let href = PageRoute::Study {
                study: name.get_value(),
            }
            .href();
            view! {
                <LoadErrorMessage error retry/>
                <p class="note"><a href=href>"Back to the study"</a></p>
            }
        })
    };
    let mode = Memo::new(move |_| overview.get().map_or(AxiomVariant::Fixed, |it| it.variant));
    let study_href =
        move || name.with_value(|it| cell_href(it, dials.get(), probe, ranker.get_value()));
    let study_title = move || overview.get().map_or(study.clone(), |it| it.title.clone());
    view! {
        <Title text=heading/>
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::Studies.href()>"Studies"</a>
            <a href=study_href>{study_title}</a>
            <span>{heading}</span>
        </nav>
        <h1>{heading}</h1>
        <p class="note">{about.statement}</p>
        {bar}
        <InstanceListFilters probe view go overview spot reviewers/>
        {failure}
        <div class="listing">
            <MarginFigure rows probe/>
            <InstanceList rows probe view mode go/>
        </div>
    }
}

/// Renders the distribution of the margins, with the listed range marked.
#[component]
fn MarginFigure(rows: InstanceRows, probe: Probe) -> impl IntoView {
    let sides = match probe.is_axiom() {
        true => "Right of zero, the ranker agrees with the axiom; ties are shown separately.",
        false => {
            "Right of zero, the ranker prefers the first document; neutral samples are \
             shown separately."
        }
    };
    let drawing = move |histogram: &MarginHistogram| match probe.is_axiom() {
        true => plot::draw_margin_histogram(histogram),
        // The bars leave out the samples within the tie threshold.
        false => plot::draw_score_difference_histogram(histogram, 0.0),
    };
    let as_table = RwSignal::new(false);
    let turn = Callback::new(move |()| as_table.update(|it| *it = !*it));
    let file = move || {
        rows.summary.with_untracked(|it| {
            it.as_ref().map(|it| {
                let InstanceListKey {
                    study,
                    probe,
                    ranker,
                    ..
                } = &it.query;
                (
                    format!("{study}-{}-{ranker}-margins", probe.slug()),
                    it.histogram.clone(),
                )
            })
        })
    };
    let svg = Callback::new(move |()| {
        if let Some((name, histogram)) = file() {
            let text = plot::figure_to_svg(&drawing(&histogram), FigureTheme::Light);
            download::offer_text_download(&format!("{name}.svg"), "image/svg+xml", &text);
        }
    });
    let csv = Callback::new(move |()| {
        if let Some((name, histogram)) = file() {
            let text = report::table_to_csv(&histogram_table(&histogram, &name));
            download::offer_text_download(&format!("{name}.csv"), "text/csv", &text);
        }
    });
    let picture = move || {
        let about = rows.summary.get();
        match about {
            None => view! { <div class="cell loading" aria-hidden="true"></div> }.into_any(),
            Some(it) if it.histogram.counts.is_empty() && it.histogram.n_tied == 0 => {
                view! { <p class="note">"No margins to show."</p> }.into_any()
            }
            Some(it) if as_table.get() => {
                view! { <ReportTableView table=histogram_table(&it.histogram, "margins")/> }
                    .into_any()
            }
            Some(it) => view! { <FigureView figure=drawing(&it.histogram)/> }.into_any(),
        }
    };
    view! {
        <figure class="margins" class:stale=move || rows.is_summary_stale()>
            <figcaption>
                <p>
                    <strong>{margin_definition(probe)}</strong>
                    " "
                    {sides}
                </p>
                <FigureExportButtons of="margins" table=as_table turn svg csv/>
            </figcaption>
            {picture}
        </figure>
    }
}

/// Returns the bars of the histogram as a table.
fn histogram_table(histogram: &MarginHistogram, name: &str) -> report::ReportTable {
    let digits = margin_digits(histogram);
    let score = |value: f64| TableValue::Score { value, digits };
    let rows = histogram.counts.iter().enumerate().map(|(at, &count)| {
        let from = histogram.lower_edge + at as f64 * histogram.bin_width;
        vec![
            score(from),
            score(from + histogram.bin_width),
            TableValue::Count(count),
        ]
    });
    let mut rows: Vec<Vec<TableValue>> = rows.collect();
    if histogram.n_tied > 0 {
        let tied = TableValue::Text("tied".to_owned());
        rows.push(vec![
            tied,
            TableValue::Missing,
            TableValue::Count(histogram.n_tied),
        ]);
    }
    let columns = [
        ("from", TableColumnKind::Number),
        ("to", TableColumnKind::Number),
        ("instances", TableColumnKind::Number),
    ];
    report::ReportTable {
        name: name.to_owned(),
        title: "Margins".to_owned(),
        columns: columns
            .map(|(name, kind)| TableColumnHeader::with_name_and_kind(name, kind))
            .to_vec(),
        rows,
        notes: Vec::new(),
    }
}

/// Renders the list, or why it is empty.
#[component]
fn InstanceList(
    rows: InstanceRows,
    probe: Probe,
    view: Memo<InstanceListView>,
    mode: Memo<AxiomVariant>,
    go: Callback<InstanceListView>,
) -> impl IntoView {
    let (name, one, many) = match probe.is_axiom() {
        true => ("Instances", "instance", "instances"),
        false => ("Samples", "sample", "samples"),
    };
    let n = Memo::new(move |_| rows.summary.with(|it| it.as_ref().map(|it| it.n_instances)));
    let current = RwSignal::new(0_u64);
    let seen = RwSignal::new((0, 0));
    Effect::new(move |_| {
        view.track();
        current.set(0);
    });
    Effect::new(move |_| {
        // The pages of the previous list are discarded, so the rows in view must be fetched again.
        rows.summary.track();
        rows.fetch_missing_pages(seen.get());
    });
    let row =
        Callback::new(move |at: u64| view! { <InstanceListRow at rows current mode/> }.into_any());
    let is_empty = Memo::new(move |_| n.get() == Some(0));
    let body = move || {
        // A new list starts at its top.
        view.track();
        if is_empty.get() {
            return view! { <NoInstances probe view go/> }.into_any();
        }
        let n = Signal::derive(move || n.get().unwrap_or(0));
        view! { <VirtualList n label=name current seen row/> }.into_any()
    };
    let said = move || match n.get() {
        None if rows.error.get().is_some() => String::new(),
        None => "Loading the list".to_owned(),
        Some(n) => format_count_with_noun(n, one, many),
    };
    let is_axiom = probe.is_axiom();
    let header = move || {
        view! {
            <p class="note" role="status">{said}</p>
            {is_axiom.then(|| view! {
                <p class="note wide-only">"Left: the document that the axiom ranks higher"</p>
            })}
            <p class="note keys-note">
                <kbd>"J"</kbd> " " <kbd>"K"</kbd> " next, previous · "
                <kbd>"Enter"</kbd> " opens"
            </p>
        }
    };
    view! {
        <Section id="listed" name class="section listed" header>
            <div class:stale=move || rows.is_summary_stale()>{body}</div>
        </Section>
    }
}

#[component]
fn InstanceListRow(
    at: u64,
    rows: InstanceRows,
    current: RwSignal<u64>,
    mode: Memo<AxiomVariant>,
) -> impl IntoView {
    let found = Memo::new(move |_| rows.row_or_fetch_state(at));
    let tabindex = move || if current.get() == at { "0" } else { "-1" };
    move || match found.get() {
        InstanceRow::Loading => {
            view! { <span class="line waiting" aria-busy="true">"…"</span> }.into_any()
        }
        InstanceRow::Failed(error) => view! {
            <span class="line">
                <span class="miss">{error.to_string()}</span>
                <button class="btn" type="button" on:click=move |_| rows.discard_and_refetch()>
                    "Try again"
                </button>
            </span>
        }
        .into_any(),
        InstanceRow::Here(line) => {
            let Some((asked, histogram)) = rows.summary.with_untracked(|it| {
                it.as_ref()
                    .map(|it| (it.query.clone(), it.histogram.clone()))
            }) else {
                return view! { <span class="line waiting">"…"</span> }.into_any();
            };
            let InstanceListKey {
                study,
                probe,
                ranker,
                view,
            } = asked;
            let place = InstanceView {
                ranker: Some(ranker),
                position: Some(at),
                list: view,
            };
            let href = place.href(&study, probe, mode.get(), line.number);
            let digits = margin_digits(&histogram);
            let part = line
                .is_truncated
                .then(|| view! { <span class="label">"truncated"</span> });
            view! {
                <a
                    id=row_link_id(at)
                    class="line"
                    href=href
                    tabindex=tabindex
                    on:focus=move |_| current.set(at)
                >
                    <span class="asked">
                        <b>{line.query.clone()}</b>
                        <ListedDocuments line=line.clone()/>
                    </span>
                    {part}
                    <ClaimSupportBar share=margin_share(&line, &histogram)/>
                    <span class="num">{format_margin(line.margin, digits)}</span>
                    <VerdictChip probe outcome=line.outcome/>
                </a>
            }
            .into_any()
        }
    }
}

/// Returns the margin divided by the largest one in the cell.
fn margin_share(line: &ListedInstance, histogram: &MarginHistogram) -> Option<f64> {
    let to = histogram.lower_edge + histogram.counts.len() as f64 * histogram.bin_width;
    let most = histogram.lower_edge.abs().max(to.abs());
    line.margin.filter(|_| most > 0.0).map(|it| it / most)
}

/// Renders the message that there is no instance, and what to do.
#[component]
fn NoInstances(
    probe: Probe,
    view: Memo<InstanceListView>,
    go: Callback<InstanceListView>,
) -> impl IntoView {
    let now = view.get();
    let filtered = !now.query.is_empty()
        || now.min_margin.is_some()
        || now.max_margin.is_some()
        || now.review_status.is_some();
    let said = match now.outcome {
        _ if !probe.is_axiom() => "No sample matches these filters.",
        Some(VerdictOutcome::Violated) if !filtered => "No violations.",
        Some(VerdictOutcome::Tied) if !filtered => "No ties.",
        Some(VerdictOutcome::Satisfied) if !filtered => "No instance agrees with the axiom.",
        _ => "No instance matches these filters.",
    };
    let (words, next) = match now.outcome {
        Some(VerdictOutcome::Violated) if !filtered && probe.is_axiom() => (
            "Show the satisfied instances",
            InstanceListView {
                outcome: Some(VerdictOutcome::Satisfied),
                ..now.clone()
            },
        ),
        _ => (
            if probe.is_axiom() {
                "Show all instances"
            } else {
                "Show all samples"
            },
            InstanceListView {
                dials: now.dials.clone(),
                ..InstanceListView::default()
            },
        ),
    };
    view! {
        <div class="empty">
            <p class="ahead">{said}</p>
            <button class="btn" type="button" on:click=move |_| go.run(next.clone())>
                {words}
            </button>
        </div>
    }
}

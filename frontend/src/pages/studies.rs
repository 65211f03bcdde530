//! The list of studies, each with a small heat map.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use shared::api::worker::LOCAL_STUDY;
use shared::first_paint::{HOME_HEADING, HOME_LEAD};
use shared::report::{self, format};
use shared::study::overview::StudySummary;

use crate::api;
use crate::number_format;
use crate::routes::PageRoute;
use crate::stored_summary;
use crate::tour::tour_href;
use crate::widgets::resource_view::RequestReplyView;

/// Renders the Studies page, which lists the hosted studies and explains how to read them.
#[component]
pub(crate) fn Studies() -> impl IntoView {
    let cards = api::fetch_on_signal_change(|| shared::api::ListStudiesRequest {});
    let shown = |found: Vec<StudySummary>| match found.is_empty() {
        true => NoStudies().into_any(),
        false => view! { <StudyCards found/> }.into_any(),
    };
    // Until the studies are known, their links take the same space without being visible.
    let first = move || match cards.get() {
        Some(Ok(found)) => found.first().map(|it| it.name.clone()),
        Some(Err(_)) => None,
        None => Some(String::new()),
    };
    let sample = move || match cards.get() {
        Some(Ok(found)) => found.iter().find_map(LegendExample::of),
        Some(Err(_)) | None => None,
    };
    view! {
        <Title text="Studies"/>
        <div class="home-top">
            <div>
                <h1>{HOME_HEADING}</h1>
                <p class="lead">{HOME_LEAD}</p>
                <p class="btns" class:loading-links=move || cards.get().is_none()>
                    {move || {
                        first()
                            .map(|study| {
                                let tour = tour_href(&study);
                                let href = PageRoute::Study { study }.href();
                                view! {
                                    <a class="btn main" href=href>"Open a study"</a>
                                    <a class="btn" href=tour>"Take the tour (5 steps)"</a>
                                }
                            })
                    }}
                    <a class="btn" href=PageRoute::Playground.href()>"Try your own documents"</a>
                    <a class="btn wide-only" href=PageRoute::Workbench.href()>
                        "Use your own collection"
                    </a>
                </p>
            </div>
            <div class="legend-space">
                {move || sample().map(|sample| view! { <Legend sample/> })}
            </div>
        </div>
        {stored_summary::load().map(|summary| {
            let study = PageRoute::Study { study: LOCAL_STUDY.to_owned() };
            view! {
                <section class="section" aria-labelledby="local">
                    <header>
                        <h2 id="local">"Your study in this browser"</h2>
                        <p class="note">{summary}</p>
                        <a class="btn" href=study.href()>"Open your study"</a>
                    </header>
                </section>
            }
        })}
        <section class="section" aria-labelledby="hosted">
            <RequestReplyView answer=cards waiting=CardPlaceholders shown/>
        </section>
    }
}

/// The order of the cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Newest,
    Size,
    Name,
}

impl Sort {
    const ALL: [Sort; 3] = [Sort::Newest, Sort::Size, Sort::Name];

    fn apply(self, cards: &mut [StudySummary]) {
        match self {
            Sort::Newest => cards.sort_by(|a, b| (&b.created, &a.name).cmp(&(&a.created, &b.name))),
            Sort::Size => cards.sort_by_key(|it| std::cmp::Reverse(it.n_instances)),
            Sort::Name => cards.sort_by_key(|it| it.title.to_lowercase()),
        }
    }
}

impl std::fmt::Display for Sort {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Sort::Newest => "newest",
            Sort::Size => "size",
            Sort::Name => "name",
        })
    }
}

impl std::str::FromStr for Sort {
    type Err = ();

    fn from_str(word: &str) -> Result<Sort, ()> {
        Sort::ALL
            .into_iter()
            .find(|it| it.to_string() == word)
            .ok_or(())
    }
}

/// Renders the cards with a choice of order and, if there are many, a search field.
#[component]
fn StudyCards(
    /// The studies, at least one.
    found: Vec<StudySummary>,
) -> impl IntoView {
    const MANY: usize = 6;
    let in_place = || NavigateOptions {
        replace: true,
        scroll: false,
        ..Default::default()
    };
    let (sort, set_sort) = query_signal_with_options::<Sort>("sort", in_place());
    let (search, set_search) = query_signal_with_options::<String>("q", in_place());
    let sort = move || sort.get().unwrap_or(Sort::Newest);
    let sizes = totals_text(&found);
    let many = found.len() > MANY;
    let comparison = (found.len() > 1).then(|| {
        let href = PageRoute::CompareStudies.href();
        view! { <a class="btn" href=href>"Compare two studies"</a> }
    });
    let shown = move || {
        let wanted = search.get().unwrap_or_default().to_lowercase();
        let mut cards: Vec<StudySummary> = found.clone();
        cards.retain(|it| matches(it, &wanted));
        sort().apply(&mut cards);
        if cards.is_empty() {
            return view! { <p class="note">"No study name matches."</p> }.into_any();
        }
        let cards = cards
            .into_iter()
            .map(|card| view! { <StudyCard card/> })
            .collect_view();
        view! { <ul class="cards">{cards}</ul> }.into_any()
    };
    let options = Sort::ALL
        .map(|it| view! { <option selected=move || sort() == it>{it.to_string()}</option> });
    view! {
        <header>
            <h2 id="hosted">"Hosted studies"</h2>
            <p class="note">{sizes}</p>
            {many
                .then(|| {
                    view! {
                        <label class="dial">
                            <span class="label">"Search"</span>
                            <input
                                class="btn"
                                type="search"
                                prop:value=move || search.get().unwrap_or_default()
                                on:input:target=move |event| {
                                    let text = event.target().value();
                                    set_search.set((!text.is_empty()).then_some(text));
                                }
                            />
                        </label>
                    }
                })}
            <label class="dial">
                <span class="label">"Sort by"</span>
                <select
                    class="btn"
                    on:change:target=move |event| set_sort.set(event.target().value().parse().ok())
                >
                    {options}
                </select>
            </label>
            {comparison}
        </header>
        {shown}
    }
}

fn matches(card: &StudySummary, wanted: &str) -> bool {
    let texts = [&card.name, &card.title, &card.description];
    texts.iter().any(|it| it.to_lowercase().contains(wanted))
}

fn totals_text(found: &[StudySummary]) -> String {
    let rankers = found.iter().map(|it| it.rankers.len() as u64);
    format!(
        "{}, {}",
        number_format::format_count_with_noun(found.len() as u64, "study", "studies"),
        number_format::format_count_with_noun(rankers.sum(), "ranker", "rankers")
    )
}

/// Renders the card of one study.
#[component]
fn StudyCard(
    /// The study as the server lists it.
    card: StudySummary,
) -> impl IntoView {
    let href = PageRoute::Study {
        study: card.name.clone(),
    }
    .href();
    let columns = card.probes.len().max(1).to_string();
    let names = card
        .probes
        .iter()
        .map(|it| view! { <span>{it.name()}</span> });
    let names = names.collect_view();
    let who = card.rankers.iter().cloned().map(|name| {
        let title = name.clone();
        view! { <span title=title>{name}</span> }
    });
    let who = who.collect_view();
    let cells = card.fractions.iter().flatten().map(|it| match it {
        Some(fraction) => {
            view! { <i data-step=number_format::fraction_to_color_step(*fraction).to_string()></i> }
                .into_any()
        }
        None => view! { <i class="none"></i> }.into_any(),
    });
    let cells = cells.collect_view();
    let n_instances = (!card.probes.is_empty()).then(|| {
        view! { <span>{number_format::abbreviate_millions(card.n_instances)} " instances"</span> }
    });
    let n_behaviours = (card.n_behavioral_tests > 0).then(|| {
        let n = card.n_behavioral_tests;
        view! {
            <span>
                {number_format::format_count_with_noun(n, "behavioral test", "behavioral tests")}
            </span>
        }
    });
    let counts = (n_instances, n_behaviours);
    let withdrawn =
        (!card.is_published).then(|| view! { <span class="verdict out">"not published"</span> });
    let finding = report::study_summary_finding(&card);
    let finding = finding.map(|it| view! { <p class="finding">{it}</p> });
    // A study without axioms has no heat map.
    let thumb = (!card.probes.is_empty()).then(|| {
        view! {
            <div class="thumb" style=("--n", columns)>
                <span></span>
                <div class="names of">{names}</div>
                <div class="who">{who}</div>
                <div class="mini of" aria-hidden="true">{cells}</div>
            </div>
        }
    });
    view! {
        <li>
            <a class="card" href=href>
                <h3>{card.title}</h3>
                {finding}
                <p>{card.description}</p>
                {thumb}
                <p class="facts">
                    {counts}
                    <span>
                        {number_format::format_count_with_noun(card.n_queries, "query", "queries")}
                    </span>
                    <span>
                        {number_format::format_count_with_noun(
                            card.n_docs,
                            "document",
                            "documents",
                        )}
                    </span>
                    <span>{number_format::spell_out_iso_date(&card.created)}</span>
                    {withdrawn}
                </p>
            </a>
        </li>
    }
}

/// Renders placeholders for the cards while they load.
#[component]
fn CardPlaceholders() -> impl IntoView {
    let card = || {
        view! {
            <li>
                <div class="card waiting">
                    <h3>"…"</h3>
                    <div class="cell loading"></div>
                </div>
            </li>
        }
    };
    view! {
        <header>
            <h2 id="hosted">"Hosted studies"</h2>
            <p class="note" role="status">"Loading studies"</p>
        </header>
        <ul class="cards" aria-hidden="true">{card()} {card()} {card()}</ul>
    }
}

/// Renders the message that there is no study yet, and how to create one.
#[component]
fn NoStudies() -> impl IntoView {
    view! {
        <header>
            <h2 id="hosted">"Hosted studies"</h2>
            <p class="note">"No hosted studies yet."</p>
        </header>
        <p class="ahead">
            "Create one in the " <a href=PageRoute::Workbench.href()>"Workbench"</a>
            " from your own files, or on the command line with "
            <code>"axioscope study run study.toml"</code> "."
        </p>
    }
}

/// A cell of a hosted study, used as the example of the legend.
#[derive(Clone)]
struct LegendExample {
    ranker: String,
    axiom: String,
    fraction: f64,
}

impl LegendExample {
    /// Returns the first cell of a card that has a number.
    fn of(card: &StudySummary) -> Option<LegendExample> {
        let mut rows = card.rankers.iter().zip(&card.fractions);
        rows.find_map(|(ranker, fractions)| {
            let mut cells = card.probes.iter().zip(fractions);
            cells.find_map(|(axiom, fraction)| {
                Some(LegendExample {
                    // The parameters do not fit.
                    ranker: ranker.split(" (").next().unwrap_or_default().to_owned(),
                    axiom: axiom.name().into_owned(),
                    fraction: (*fraction)?,
                })
            })
        })
    }
}

/// Renders how to read a cell, with one of a hosted study as the example.
#[component]
fn Legend(sample: LegendExample) -> impl IntoView {
    const STEPS: [&str; 11] = [
        "n5", "n4", "n3", "n2", "n1", "zero", "p1", "p2", "p3", "p4", "p5",
    ];
    let steps = STEPS.iter().enumerate().map(|(at, step)| {
        let x = 4 + 32 * at;
        view! {
            <path d=format!("M{x} 190h31v10h-31z") fill=format!("var(--{step})")></path>
        }
    });
    let steps = steps.collect_view();
    let LegendExample {
        ranker,
        axiom,
        fraction,
    } = sample;
    let shown = format::format_two_digit_fraction(fraction);
    let label = format!(
        "How to read a cell: {ranker} on {axiom} is {shown}. The number is the fraction of \
         instances that the ranker orders as the axiom predicts; the dot shows its position \
         between 0 and 1; the tick in the middle is chance (.5)."
    );
    let step = number_format::fraction_to_color_step(fraction);
    let fill = format!("var(--{})", STEPS[(step + 5) as usize]);
    let ink = if step.abs() >= 4 {
        "var(--on-strong)"
    } else {
        "var(--ink)"
    };
    let dot = format!("{:.1}", 58.0 + 84.0 * fraction);
    view! {
        <figure>
            <svg viewBox="-24 0 384 232" role="img" aria-label=label>
                <path d="M44 34h112v96H44z" fill=fill></path>
                <text class="figure" x="100" y="84" text-anchor="middle" style=("fill", ink)>
                    {shown}
                </text>
                <path d="M58 109h84M100 102v14" stroke=ink opacity=".55"></path>
                <circle cx=dot cy="109" r="6" fill=ink></circle>
                <text class="name" x="100" y="22" text-anchor="middle">{axiom}</text>
                <text class="name" x="36" y="86" text-anchor="end">{ranker}</text>
                <path class="axis" d="M160 72h16M160 109h16M100 134v16"></path>
                <text x="183" y="69">"of all instances are ordered"</text>
                <text x="183" y="84">"as the axiom predicts"</text>
                <text x="183" y="113">"position between 0 and 1"</text>
                <text x="100" y="165" text-anchor="middle">"chance"</text>
                {steps}
                <text x="4" y="218">"against the axiom"</text>
                <text x="355" y="218" text-anchor="end">"agrees with the axiom"</text>
            </svg>
        </figure>
    }
}

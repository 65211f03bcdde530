use expect_test::{Expect, expect};

use super::*;
use crate::probe::{Axiom, Probe};
use crate::report::fixture;
use crate::study::instance_list::MarginHistogram;
use crate::study::overview::StudySummary;

fn check(figure: &PlotFigure, expect: Expect) {
    expect.assert_eq(&figure_to_svg(figure, FigureTheme::Light));
}

#[test]
fn every_mark_is_drawn_and_no_text_is_markup() {
    let at = [4.0, 10.0];
    let text = |anchor, font, text: &str| FigureMark::Text {
        at,
        anchor,
        font,
        fill: FigureColorRole::Foreground,
        text: text.to_owned(),
    };
    let rect = FigureMark::Rect {
        at,
        size: [8.125, 1.0 / 3.0],
        corner_radius: 2.0,
        fill: FigureColorRole::Step(4),
    };
    let figure = PlotFigure {
        width: 40.0,
        height: 20.0,
        margin: 0.0,
        alt_text: "A \"small\" figure".to_owned(),
        description: "<b> & more".to_owned(),
        marks: vec![
            FigureMark::Group {
                title: "a < b".to_owned(),
                marks: vec![rect],
            },
            FigureMark::Line {
                from: at,
                to: [-0.001, 2.5],
                width: 1.0,
                stroke: FigureColorRole::Separator,
                opacity: 0.4,
            },
            FigureMark::Dot {
                at,
                fill: FigureColorRole::Background,
                stroke: FigureColorRole::Foreground,
            },
            text(
                TextAnchor::Middle,
                FigureFontStyle::Cell,
                "</text><script>\u{0}",
            ),
            text(TextAnchor::End, FigureFontStyle::Head, ".93"),
        ],
    };
    check(
        &figure,
        expect![[r##"
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20" role="img" aria-label="A &quot;small&quot; figure" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif">
            <title>A &quot;small&quot; figure</title>
            <desc>&lt;b&gt; &amp; more</desc>
            <rect x="0" y="0" width="40" height="20" fill="#ffffff"/>
            <g><title>a &lt; b</title>
            <rect x="4" y="10" width="8.12" height="0.33" rx="2" fill="#2b7cab"/>
            </g>
            <path d="M4 10L0 2.5" stroke="#e3e1db" stroke-width="1" stroke-opacity="0.4"/>
            <circle cx="4" cy="10" r="3" fill="#ffffff" stroke="#1b1c1e" stroke-width="1.5"/>
            <text x="4" y="10" text-anchor="middle" font-size="15" fill="#1b1c1e">&lt;/text&gt;&lt;script&gt;�</text>
            <text x="4" y="10" text-anchor="end" font-size="14" font-weight="600" fill="#1b1c1e">.93</text>
            </svg>
        "##]],
    );
}

#[test]
fn dark_is_the_same_figure_in_other_inks() {
    let marks = vec![FigureMark::Dot {
        at: [1.0, 2.0],
        fill: FigureColorRole::Step(-5),
        stroke: FigureColorRole::OnStep(-5),
    }];
    let (label, detail) = (String::new(), String::new());
    let figure = PlotFigure {
        width: 4.0,
        height: 4.0,
        margin: 1.0,
        alt_text: label,
        description: detail,
        marks,
    };
    let [light, dark] =
        [FigureTheme::Light, FigureTheme::Dark].map(|it| figure_to_svg(&figure, it));
    let inks = [["#ffffff", "#76350c"], ["#16171a", "#f6b290"]];
    for (svg, inks) in [light, dark].iter().zip(inks) {
        assert!(inks.iter().all(|it| svg.contains(it)), "{svg}");
    }
}

/// Chance is step 0 and every further tenth is a step; halves are rounded away from chance.
#[test]
fn steps_part_at_odd_twentieths() {
    let fractions = [0.0, 0.04, 0.05, 0.051, 0.449, 0.45, 0.451, 0.5];
    assert_eq!(
        fractions.map(diverging_color_step_of_fraction),
        [-5, -5, -5, -4, -1, -1, 0, 0]
    );
    let mirrored = fractions.map(|it| diverging_color_step_of_fraction(1.0 - it));
    assert_eq!(mirrored, [5, 5, 5, 4, 1, 1, 0, 0]);
    let effects = [-1.0, -0.91, -0.9, -0.11, 0.0, 0.1, 0.3, 0.95];
    assert_eq!(
        effects.map(diverging_color_step_of_effect),
        [-5, -5, -5, -1, 0, 1, 2, 5]
    );
}

#[test]
fn ticks_are_round_numbers() {
    let ticks = |from, to| {
        let (ticks, digits) = scale::LinearScale {
            domain: [from, to],
            range: [0.0, 1.0],
        }
        .ticks_and_decimals(5);
        ticks
            .iter()
            .map(|it| crate::report::format::format_score(*it, digits))
            .collect::<Vec<_>>()
    };
    assert_eq!(ticks(-3.0, 7.5), ["−2", "0", "2", "4", "6"]);
    assert_eq!(ticks(-0.2, 0.19), ["−0.2", "−0.1", "0.0", "0.1"]);
    assert_eq!(ticks(0.0, 0.0), [""; 0]);
}

/// Returns the text marks of a figure with their positions, which can be checked by eye.
fn words(marks: &[FigureMark]) -> String {
    let word = |it: &FigureMark| match it {
        FigureMark::Text {
            at: [x, y], text, ..
        } => format!("{x:.0},{y:.0} {text}\n"),
        FigureMark::Group { title, marks } => format!("[{title}]\n{}", words(marks)),
        FigureMark::Rect { .. } | FigureMark::Line { .. } | FigureMark::Dot { .. } => String::new(),
    };
    marks.iter().map(word).collect()
}

#[test]
fn the_heat_map_says_what_it_shows() {
    let figure = draw_study_heatmap_figure(&fixture::study_overview_fixture());
    let told = format!("{}\n{}", figure.alt_text, words(&figure.marks));
    expect![[r#"
        How often each ranker agrees with each axiom: from .52 (<script>|%& _mean on TFC1) to 1.00 (BM25 on LNC2); 1 of 3 cells not distinguishable from chance
        178,16 TFC1
        178,32 more
        178,47 terms
        248,16 LNC2
        248,32 repeated
        248,47 document
        338,16 nDCG
        338,32 at 10
        0,80 Lexical
        0,106 BM25
        0,122 k1 1.2, b .75
        [BM25 on TFC1: .93 [.93, .94], 14,057 instances of 60 queries, p < .001 after Holm]
        210,109 .93
        [BM25 on LNC2: 1.00 [1.00, 1.00], 9,785 instances of 60 queries, p < .001 after Holm]
        280,109 1.00
        338,109 .51
        0,156 Neural
        0,182 <script>|%& _mean
        0,198 =1+1
        [<script>|%& _mean on TFC1: .52 [.38, .61], 14,057 instances of 60 queries, p = .34 after Holm]
        210,185 .52
        280,185 –
        338,185 –
        0,232 Relevance grades
        0,258 Relevance
        0,274 where grades differ
        [Relevance on TFC1: .79 [.70, .86], 100 instances of 60 queries, p < .001 after Holm]
        210,261 .79
        280,261 –
        0,308 Counts
        0,333 Instances
        210,333 14,057
        280,333 9,785
        0,359 with a relevant document
        210,359 4,685
        280,359 3,261
        0,410 0 never
        137,410 .5 chance
        274,410 always 1
        372,393 95 % interval over queries
        372,411 not distinguishable from chance (Holm, 3 tests)
    "#]].assert_eq(&told);
}

#[test]
fn a_dot_is_hollow_where_chance_explains_it() {
    let figure = draw_study_heatmap_figure(&fixture::study_overview_fixture());
    let mut dots = Vec::new();
    for mark in &figure.marks {
        if let FigureMark::Group { marks, .. } = mark {
            dots.extend(marks.iter().filter_map(|it| match it {
                FigureMark::Dot { fill, stroke, .. } => Some(fill == stroke),
                FigureMark::Rect { .. }
                | FigureMark::Line { .. }
                | FigureMark::Text { .. }
                | FigureMark::Group { .. } => None,
            }));
        }
    }
    assert_eq!(dots, [true, true, false, true]); // the third has p .34
}

#[test]
fn margins_are_rust_below_zero_and_blue_above_with_ties_apart() {
    let counts = vec![1, 3, 4, 0, 2];
    let figure = draw_margin_histogram(&MarginHistogram {
        lower_edge: -2.0,
        bin_width: 1.0,
        counts,
        n_tied: 5,
    });
    check(
        &figure,
        expect![[r##"
            <svg xmlns="http://www.w3.org/2000/svg" width="344" height="122" viewBox="0 0 344 122" role="img" aria-label="Margins from −2.0 to 3.0: 4 below zero, 6 above, 5 tied" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif">
            <title>Margins from −2.0 to 3.0: 4 below zero, 6 above, 5 tied</title>
            <desc>The margin is the left side of the expected preference minus the right side; above zero, the ranker agrees with the axiom.</desc>
            <rect x="0" y="0" width="344" height="122" fill="#ffffff"/>
            <rect x="4" y="82.8" width="57.6" height="15.2" fill="#ac5c2e"/>
            <rect x="62.4" y="52.4" width="57.6" height="45.6" fill="#ac5c2e"/>
            <rect x="120.8" y="37.2" width="57.6" height="60.8" fill="#2b7cab"/>
            <rect x="237.6" y="67.6" width="57.6" height="30.4" fill="#2b7cab"/>
            <path d="M4 98.5L296 98.5" stroke="#8a8880" stroke-width="1"/>
            <path d="M120.8 2L120.8 104" stroke="#1b1c1e" stroke-width="1"/>
            <text x="114.8" y="11" text-anchor="end" font-size="12" fill="#55585e">violated</text>
            <text x="126.8" y="11" font-size="12" fill="#55585e">satisfied</text>
            <text x="62.4" y="117" text-anchor="middle" font-size="12" fill="#55585e">−1</text>
            <text x="120.8" y="117" text-anchor="middle" font-size="12" fill="#55585e">0</text>
            <text x="179.2" y="117" text-anchor="middle" font-size="12" fill="#55585e">1</text>
            <text x="237.6" y="117" text-anchor="middle" font-size="12" fill="#55585e">2</text>
            <rect x="318" y="22" width="15.2" height="76" fill="#6a6d73"/>
            <path d="M312 98.5L340 98.5" stroke="#8a8880" stroke-width="1"/>
            <text x="326" y="117" text-anchor="middle" font-size="12" fill="#55585e">tied</text>
            </svg>
        "##]],
    );
}

/// The band covers the two bins within δ of 0, whose bars are gray.
#[test]
fn differences_within_delta_are_neutral() {
    let histogram = MarginHistogram {
        lower_edge: -2.0,
        bin_width: 0.5,
        counts: vec![1, 0, 0, 2, 3, 0, 4],
        n_tied: 5,
    };
    let figure = draw_score_difference_histogram(&histogram, 0.5);
    let fills = figure.marks.iter().filter_map(|it| match it {
        FigureMark::Rect { fill, .. } => Some(*fill),
        _ => None,
    });
    let fills: Vec<FigureColorRole> = fills.collect();
    let [negative, band, positive] = [-4, 0, 4].map(FigureColorRole::Step);
    let grey = FigureColorRole::Missing;
    assert_eq!(fills, [band, negative, grey, grey, positive, grey]);
    assert_eq!(
        figure.alt_text,
        "Differences from −2.00 to 1.50: 3 below zero, 7 above, 5 equal"
    );
    let without = draw_score_difference_histogram(&histogram, 0.0);
    assert_eq!(without.marks.len() + 3, figure.marks.len());
}

#[test]
fn no_margins_are_no_bars() {
    let figure = draw_margin_histogram(&MarginHistogram {
        lower_edge: 0.0,
        bin_width: 0.0,
        counts: vec![],
        n_tied: 0,
    });
    assert_eq!(
        figure.alt_text,
        "Margins from 0.0 to 0.0: 0 below zero, 0 above, 0 tied"
    );
}

#[test]
fn a_card_has_a_small_map() {
    let card = StudySummary {
        name: "tiny".to_owned(),
        title: "Rivers".to_owned(),
        description: String::new(),
        created: "2026-11-20".to_owned(),
        instances_hash: String::new(),
        n_queries: 60,
        n_docs: 480,
        n_instances: 23_842,
        n_behavioral_tests: 0,
        rankers: vec!["BM25".to_owned(), "a ranker with a long name".to_owned()],
        probes: vec![Probe::Axiom(Axiom::Tfc1), Probe::Axiom(Axiom::Mtdc)],
        fractions: vec![vec![Some(0.93), Some(0.5)], vec![None, Some(0.07)]],
        is_published: true,
    };
    let keys = serde_json::to_value(&card).unwrap();
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    // Programs that list studies read these keys.
    expect![[r#"["name", "title", "description", "made", "hash", "n_queries", "n_docs", "n_instances", "n_behaviours", "rankers", "probes", "fractions", "published"]"#]].assert_eq(&format!("{keys:?}"));
    check(
        &draw_heatmap_thumbnail(&card),
        expect![[r##"
            <svg xmlns="http://www.w3.org/2000/svg" width="320" height="56" viewBox="0 0 320 56" role="img" aria-label="2 rankers on 2 axioms: fractions satisfied from .07 to .93" font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif">
            <title>2 rankers on 2 axioms: fractions satisfied from .07 to .93</title>
            <desc>Rows are rankers, columns are axioms; blue agrees with the axiom, rust contradicts it.</desc>
            <rect x="0" y="0" width="320" height="56" fill="#ffffff"/>
            <text x="149" y="12" text-anchor="middle" font-size="12" fill="#55585e">TFC1</text>
            <text x="263" y="12" text-anchor="middle" font-size="12" fill="#55585e">M-TDC</text>
            <text x="0" y="31" font-size="12" fill="#55585e">BM25</text>
            <text x="0" y="50" font-size="12" fill="#55585e">a ranker with…</text>
            <g><title>BM25 on TFC1: .93</title>
            <rect x="92" y="18" width="113" height="18" fill="#2b7cab"/>
            </g>
            <g><title>BM25 on M-TDC: .50</title>
            <rect x="206" y="18" width="113" height="18" fill="#f1f0ed"/>
            </g>
            <g><title>a ranker with a long name on M-TDC: .07</title>
            <rect x="206" y="37" width="113" height="18" fill="#ac5c2e"/>
            </g>
            </svg>
        "##]],
    );
}

/// Elements with tooltips are groups, in the order that the page expects.
#[test]
fn every_bar_of_a_comparison_can_be_pointed_at() {
    let width = COLUMN_FIGURE_WIDTH;
    let found = crate::compare::fixture::compare_fixture_runs();
    let titles = |figure: &PlotFigure| {
        let groups = figure.marks.iter().filter_map(|it| match it {
            FigureMark::Group { title, .. } => Some(title.clone()),
            _ => None,
        });
        groups.collect::<Vec<String>>()
    };
    let buckets = titles(&group_bars::draw_rr_by_query_token_fraction(&found, width));
    assert_eq!(buckets.len(), 10);
    assert_eq!(buckets[8], "[.25, 1.00]: BM25 .50 [.00, 1.00], 3 queries");
    assert!(buckets[9].ends_with("2 queries"), "{}", buckets[9]);
    assert_eq!(
        titles(&group_bars::draw_rr_by_query_length(&found, width)).len(),
        3
    );
    assert_eq!(
        titles(&group_bars::draw_rr_by_question_class(&found, width)).len(),
        7
    );
    assert_eq!(
        titles(&group_bars::draw_rr_by_first_bigram(&found, width)).len(),
        3
    );
    assert_eq!(
        titles(&rr_change::draw_mean_overlap_by_depth(&found, width)).len(),
        10
    );
    let changes = titles(&rr_change::draw_rr_change_by_query(&found, width));
    assert_eq!(changes.len(), 5);
    assert_eq!(changes[2], "equal: 1 query");
    let many = crate::compare::RankerComparison {
        rr_changes: crate::compare::paired_means::ReciprocalRankDifferenceSummary {
            n_zero_to_one: 9_000,
            n_better: 9_000,
            differences: vec![1.0; 9_000],
            ..crate::compare::paired_means::ReciprocalRankDifferenceSummary::default()
        },
        ..found
    };
    let svg = figure_to_svg(
        &rr_change::draw_rr_change_by_query(&many, width),
        FigureTheme::Light,
    );
    assert!(svg.matches("<rect").count() < 600);
}

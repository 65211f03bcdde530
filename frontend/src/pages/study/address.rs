//! The addresses of a study's pages, so that a view can be cited and shared.

use shared::probe::{AxiomVariant, Probe};
use shared::study::behavioral_tests::{RelevanceSlice, TieThreshold};
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::instance_list::{InstanceListOptions, InstanceSort};
use shared::verdict::ClaimOutcome;

use crate::routes::{PageRoute, escape};
use crate::widgets::heatmap::{HeatMapCellRow, HeatMapPosition};

/// Returns the value of a key in an address.
pub(crate) type ParameterLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A key and a value in an address.
type QueryParameter = (&'static str, String);

/// What the Study page shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StudyView {
    /// The controls.
    pub(crate) controls: StudyPageControls,
    /// The cell in the side panel; none selects the first.
    pub(crate) cell: Option<HeatMapPosition>,
    /// Whether the map or the table is shown.
    pub(crate) display: FigureDisplay,
    /// The view of the behavioral tests.
    pub(crate) behavioral_tests: BehavioralTestsView,
}

/// The view of the behavioral tests on the Study page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BehavioralTestsView {
    /// The tie threshold: the smallest difference of scores that counts.
    pub(crate) tie_threshold: TieThreshold,
    /// The row of the ranker whose matrix is shown.
    pub(crate) ranker: usize,
    /// The documents whose manipulations are shown.
    pub(crate) slice: RelevanceSlice,
    /// The behavioral test and the row of the ranker whose details are shown; none selects the
    /// first.
    pub(crate) cell: Option<(Probe, usize)>,
}

/// How the results of a study are displayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FigureDisplay {
    /// As a heat map.
    #[default]
    Map,
    /// As a table.
    Table,
}

/// What the Instances page shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InstanceListView {
    /// The controls, as on the Study page.
    pub(crate) dials: StudyPageControls,
    /// The outcome to list; none lists all.
    pub(crate) outcome: Option<ClaimOutcome>,
    /// A text that the listed queries contain.
    pub(crate) query: String,
    /// The lowest margin to list.
    pub(crate) min_margin: Option<f64>,
    /// The highest margin to list.
    pub(crate) max_margin: Option<f64>,
    /// The order of the list.
    pub(crate) sort: InstanceSort,
}

/// The list from which an instance was opened, and the position of the instance in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InstanceView {
    /// The row of the ranker whose list it is.
    pub(crate) ranker: Option<usize>,
    /// The position in the list, counted from 0.
    pub(crate) position: Option<u64>,
    /// The view of the list.
    pub(crate) list: InstanceListView,
}

impl StudyView {
    /// Creates a view with the details of a ranker on an axiom or a behavioral test.
    pub(crate) fn with_selection(dials: StudyPageControls, probe: Probe, row: usize) -> StudyView {
        let usual = StudyView {
            controls: dials,
            ..StudyView::default()
        };
        match probe.is_axiom() {
            true => StudyView {
                cell: Some(HeatMapPosition {
                    row: HeatMapCellRow::Ranker(row),
                    probe,
                }),
                ..usual
            },
            false => StudyView {
                behavioral_tests: BehavioralTestsView {
                    cell: Some((probe, row)),
                    ..BehavioralTestsView::default()
                },
                ..usual
            },
        }
    }

    /// Parses a view from an address; parameters that cannot be parsed are ignored.
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> StudyView {
        let shape = if get("show").as_deref() == Some("table") {
            FigureDisplay::Table
        } else {
            FigureDisplay::Map
        };
        StudyView {
            controls: controls_from_address(get),
            cell: get("cell").as_deref().and_then(parse_position),
            display: shape,
            behavioral_tests: BehavioralTestsView::read(get),
        }
    }

    /// Returns the address of the Study page of a study in this view. Default values are left out.
    pub(crate) fn href(&self, study: &str) -> String {
        let mut pairs = controls_parameters(&self.controls);
        pairs.extend(self.cell.map(|it| ("cell", position_parameter(it))));
        if self.display == FigureDisplay::Table {
            pairs.push(("show", "table".to_owned()));
        }
        pairs.extend(self.behavioral_tests.parameters());
        PageRoute::Study {
            study: study.to_owned(),
        }
        .href()
            + &query_string(pairs)
    }
}

impl BehavioralTestsView {
    fn read(get: ParameterLookup<'_>) -> BehavioralTestsView {
        let width = |it: String| parse_threshold(&it);
        let slice = get("of");
        BehavioralTestsView {
            tie_threshold: get("width")
                .and_then(width)
                .map_or(TieThreshold::TunedPerRanker, |width| TieThreshold::Fixed {
                    width,
                }),
            ranker: get("ranker")
                .and_then(|it| it.parse().ok())
                .unwrap_or_default(),
            slice: SLICES
                .iter()
                .find(|it| slice.as_deref() == Some(it.1))
                .map_or(RelevanceSlice::All, |it| it.0),
            cell: get("behaviour").and_then(|it| {
                let (probe, row) = it.rsplit_once('.')?;
                Some((probe.parse().ok()?, row.parse().ok()?))
            }),
        }
    }

    fn parameters(&self) -> Vec<QueryParameter> {
        let mut pairs: Vec<QueryParameter> = Vec::new();
        if let TieThreshold::Fixed { width } = self.tie_threshold {
            pairs.push(("width", width.to_string()));
        }
        if self.ranker > 0 {
            pairs.push(("ranker", self.ranker.to_string()));
        }
        let slice = SLICES.iter().find(|it| it.0 == self.slice);
        pairs.extend(slice.map(|it| ("of", it.1.to_owned())));
        let cell = self.cell.as_ref();
        pairs.extend(cell.map(|(probe, row)| ("behaviour", format!("{}.{row}", probe.slug()))));
        pairs
    }
}

/// Parses a tie threshold as typed; none if it is not valid.
pub(crate) fn parse_threshold(text: &str) -> Option<f64> {
    let width: f64 = text.trim().replace(',', ".").parse().ok()?;
    (width.is_finite() && width >= 0.0).then_some(width)
}

impl InstanceListView {
    /// Reads the view from the parameters of an address; uses the default of each that is missing
    /// or malformed.
    pub(crate) fn read(get: ParameterLookup<'_>) -> InstanceListView {
        let outcome = get("outcome");
        let sort = get("sort");
        let number = |key: &str| get(key)?.parse::<f64>().ok().filter(|it| it.is_finite());
        InstanceListView {
            dials: controls_from_address(get),
            outcome: OUTCOMES
                .iter()
                .find(|it| outcome.as_deref() == Some(it.1))
                .map(|it| it.0),
            query: get("q").unwrap_or_default(),
            min_margin: number("from"),
            max_margin: number("to"),
            sort: SORTS
                .iter()
                .find(|it| sort.as_deref() == Some(it.1))
                .map_or(InstanceSort::default(), |it| it.0),
        }
    }

    /// Returns the address of the list.
    pub(crate) fn href(&self, study: &str, probe: Probe, ranker: usize) -> String {
        let page = PageRoute::Instances {
            study: study.to_owned(),
            probe,
            ranker,
        };
        page.href() + &query_string(self.pairs())
    }

    /// Returns the request for a part of the list.
    pub(crate) fn list_request(
        &self,
        probe: Probe,
        ranker: usize,
        part: std::ops::Range<u64>,
    ) -> InstanceListOptions {
        InstanceListOptions {
            controls: self.dials.clone(),
            probe,
            ranker,
            outcome: self.outcome,
            query_filter: self.query.clone(),
            min_margin: self.min_margin,
            max_margin: self.max_margin,
            sort: self.sort,
            offset: part.start,
            limit: part.end - part.start,
        }
    }

    fn pairs(&self) -> Vec<QueryParameter> {
        let mut pairs = controls_parameters(&self.dials);
        pairs.extend(
            self.outcome
                .map(|it| ("outcome", outcome_parameter(it).to_owned())),
        );
        if !self.query.is_empty() {
            pairs.push(("q", self.query.clone()));
        }
        pairs.extend(self.min_margin.map(|it| ("from", it.to_string())));
        pairs.extend(self.max_margin.map(|it| ("to", it.to_string())));
        if self.sort != InstanceSort::default() {
            pairs.push(("sort", sort_parameter(self.sort).to_owned()));
        }
        pairs
    }
}

impl InstanceView {
    /// Parses a view from an address, whose path contains the variant.
    pub(crate) fn read(get: ParameterLookup<'_>, mode: AxiomVariant) -> InstanceView {
        let mut list = InstanceListView::read(get);
        list.dials.variant = Some(mode);
        InstanceView {
            ranker: get("ranker").and_then(|it| it.parse().ok()),
            position: get("at").and_then(|it| it.parse().ok()),
            list,
        }
    }

    /// Returns the address of an instance.
    pub(crate) fn href(
        &self,
        study: &str,
        probe: Probe,
        mode: AxiomVariant,
        number: u64,
    ) -> String {
        let page = PageRoute::Instance {
            study: study.to_owned(),
            probe,
            mode,
            number,
        };
        let mut pairs: Vec<QueryParameter> = Vec::new();
        pairs.extend(self.ranker.map(|it| ("ranker", it.to_string())));
        pairs.extend(self.position.map(|it| ("at", it.to_string())));
        // The path contains the variant.
        pairs.extend(self.list.pairs().into_iter().filter(|it| it.0 != "mode"));
        page.href() + &query_string(pairs)
    }
}

const OUTCOMES: [(ClaimOutcome, &str); 3] = [
    (ClaimOutcome::Satisfied, "satisfied"),
    (ClaimOutcome::Tied, "tied"),
    (ClaimOutcome::Violated, "violated"),
];

/// The parameters of the document slices; all documents are the default and have none.
const SLICES: [(RelevanceSlice, &str); 2] = [
    (RelevanceSlice::Relevant, "relevant"),
    (RelevanceSlice::NotRelevant, "not-relevant"),
];

const SORTS: [(InstanceSort, &str); 4] = [
    (InstanceSort::Query, "query"),
    (InstanceSort::MarginAscending, "margin-up"),
    (InstanceSort::MarginDescending, "margin-down"),
    (InstanceSort::AbsoluteMargin, "closest"),
];

/// Returns the address parameter of an outcome.
pub(crate) fn outcome_parameter(outcome: ClaimOutcome) -> &'static str {
    OUTCOMES
        .iter()
        .find(|it| it.0 == outcome)
        .map_or("", |it| it.1)
}

/// Returns the address parameter of an order.
pub(crate) fn sort_parameter(sort: InstanceSort) -> &'static str {
    SORTS.iter().find(|it| it.0 == sort).map_or("", |it| it.1)
}

/// Parses the address parameter of an order.
pub(crate) fn parse_sort(word: &str) -> InstanceSort {
    SORTS
        .iter()
        .find(|it| it.1 == word)
        .map_or(InstanceSort::default(), |it| it.0)
}

/// Parses the controls from an address.
pub(crate) fn controls_from_address(get: ParameterLookup<'_>) -> StudyPageControls {
    let mode = get("mode");
    StudyPageControls {
        variant: AxiomVariant::ALL
            .iter()
            .find(|it| mode.as_deref() == Some(it.name()))
            .copied(),
        length_tolerance: get("delta").and_then(|it| it.parse().ok()),
        tie_threshold: get("tie")
            .and_then(|it| it.parse::<f64>().ok())
            .filter(|it| it.is_finite() && *it >= 0.0),
        subset: match get("only").as_deref() {
            Some("whole") => InstanceSubset::Untruncated,
            Some("relevant") => InstanceSubset::WithRelevant,
            Some(_) | None => InstanceSubset::All,
        },
        split: get("split").filter(|it| !it.is_empty()),
    }
}

/// Returns the address parameters of the controls.
pub(crate) fn controls_parameters(dials: &StudyPageControls) -> Vec<QueryParameter> {
    let mut pairs: Vec<QueryParameter> = Vec::new();
    pairs.extend(dials.variant.map(|it| ("mode", it.name().to_owned())));
    pairs.extend(dials.length_tolerance.map(|it| ("delta", it.to_string())));
    pairs.extend(dials.tie_threshold.map(|it| ("tie", it.to_string())));
    match dials.subset {
        InstanceSubset::All => {}
        InstanceSubset::Untruncated => pairs.push(("only", "whole".to_owned())),
        InstanceSubset::WithRelevant => pairs.push(("only", "relevant".to_owned())),
    }
    pairs.extend(dials.split.clone().map(|it| ("split", it)));
    pairs
}

fn parse_position(word: &str) -> Option<HeatMapPosition> {
    let (probe, who) = word.split_once('.')?;
    let probe = probe.parse().ok()?;
    let who = match who {
        "relevance" => HeatMapCellRow::Relevance,
        row => HeatMapCellRow::Ranker(row.parse().ok()?),
    };
    Some(HeatMapPosition { row: who, probe })
}

fn position_parameter(spot: HeatMapPosition) -> String {
    match spot.row {
        HeatMapCellRow::Ranker(row) => format!("{}.{row}", spot.probe.slug()),
        HeatMapCellRow::Relevance => format!("{}.relevance", spot.probe.slug()),
    }
}

/// Returns the parameters as an escaped query string, `?key=value&…`, or an empty string if there
/// are none.
pub(crate) fn query_string(pairs: impl IntoIterator<Item = QueryParameter>) -> String {
    let pairs: Vec<String> = pairs
        .into_iter()
        .map(|(key, value)| format!("{key}={}", escape(&value)))
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("?{}", pairs.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    fn get(pairs: &[QueryParameter]) -> impl Fn(&str) -> Option<String> {
        |key| pairs.iter().find(|it| it.0 == key).map(|it| it.1.clone())
    }

    #[test]
    fn a_list_survives_its_address() {
        let view = InstanceListView {
            dials: StudyPageControls {
                variant: Some(AxiomVariant::Code),
                length_tolerance: Some(4),
                tie_threshold: Some(0.05),
                subset: InstanceSubset::WithRelevant,
                split: Some("dev".to_owned()),
            },
            outcome: Some(ClaimOutcome::Violated),
            query: "ice & snow".to_owned(),
            min_margin: Some(-2.5),
            max_margin: None,
            sort: InstanceSort::AbsoluteMargin,
        };
        assert_eq!(InstanceListView::read(&get(&view.pairs())), view);
        let href = view.href("demo", Probe::Axiom(Axiom::Tp), 3);
        assert_eq!(
            href,
            "/study/demo/tp/3?mode=code&delta=4&tie=0.05&only=relevant&split=dev\
             &outcome=violated\
             &q=ice%20%26%20snow&from=-2.5&sort=closest"
        );
    }

    #[test]
    fn the_usual_view_needs_no_words() {
        assert_eq!(StudyView::default().href("demo"), "/study/demo");
        let cell = Some(HeatMapPosition {
            row: HeatMapCellRow::Relevance,
            probe: Probe::Axiom(Axiom::Mtdc),
        });
        let view = StudyView {
            cell,
            display: FigureDisplay::Table,
            ..StudyView::default()
        };
        assert_eq!(
            view.href("demo"),
            "/study/demo?cell=mtdc.relevance&show=table"
        );
    }

    #[test]
    fn behaviours_survive_their_address() {
        let view = StudyView {
            behavioral_tests: BehavioralTestsView {
                tie_threshold: TieThreshold::Fixed { width: 0.25 },
                ranker: 2,
                slice: RelevanceSlice::NotRelevant,
                cell: Some(("match:length~0.5:relevance".parse().unwrap(), 3)),
            },
            ..StudyView::default()
        };
        let pairs = view.behavioral_tests.parameters();
        assert_eq!(StudyView::from_address(&get(&pairs)), view);
        assert_eq!(
            view.href("demo"),
            "/study/demo?width=0.25&ranker=2&of=not-relevant\
             &behaviour=match%3Alength~0.5%3Arelevance.3"
        );
        assert_eq!(
            ["0", " 0,5 ", "-1", "inf", ""].map(parse_threshold),
            [Some(0.0), Some(0.5), None, None, None]
        );
    }

    #[test]
    fn what_cannot_be_read_is_as_if_not_there() {
        let pairs = [
            ("tie", "NaN".to_owned()),
            ("delta", "-1".to_owned()),
            ("cell", "x".to_owned()),
            ("width", "-1".to_owned()),
            ("behavioral test", "x.0".to_owned()),
        ];
        assert_eq!(StudyView::from_address(&get(&pairs)), StudyView::default());
    }
}

//! The addresses of a study's pages, so that a view can be cited and shared.

use shared::annotation::task::StudyInstanceRef;
use shared::api::annotation::TaskId;
use shared::probe::{AxiomVariant, Probe};
use shared::score::slug::{RELEVANCE_SLUG, parse_ranker_slug_or_position};
use shared::study::behavioral_tests::{RelevanceSlice, TieThreshold};
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::instance_list::{InstanceListOptions, InstanceSort, ReviewStatus};
use shared::study::overview::StudyOverview;
use shared::verdict::VerdictOutcome;

use crate::routes::PageRoute;
use crate::widgets::heatmap::{HeatMapPosition, RankerOrRelevanceRow};

/// Returns the value of a key in an address.
pub(crate) type ParameterLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A key and a value in an address.
type QueryParameter = (&'static str, String);

/// What the tab of the axioms of a study shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StudyView {
    /// The controls.
    pub(crate) controls: StudyPageControls,
    /// The cell in the side panel; none selects the most instructive one.
    pub(crate) cell: Option<CellAddress>,
    /// Whether the map or the table is shown.
    pub(crate) display: FigureDisplay,
}

/// A cell of the heat map, or of the behavioral tests, as an address names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellAddress {
    /// The slug of the ranker or its row, or [`RELEVANCE_SLUG`].
    pub(crate) ranker: String,
    /// The axiom or behavioral test.
    pub(crate) probe: Probe,
}

/// What the tab of the behavioral tests of a study shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BehavioralTestsView {
    /// The controls. Of these only the split matters here; the others are kept for the other tabs.
    pub(crate) controls: StudyPageControls,
    /// The tie threshold: the smallest difference of scores that counts.
    pub(crate) tie_threshold: TieThreshold,
    /// The ranker whose matrix is shown; none takes the first.
    pub(crate) ranker: Option<String>,
    /// The documents whose manipulations are shown.
    pub(crate) slice: RelevanceSlice,
    /// The behavioral test and the ranker whose details are shown; none selects the first.
    pub(crate) cell: Option<CellAddress>,
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
    pub(crate) outcome: Option<VerdictOutcome>,
    /// A text that the listed queries contain.
    pub(crate) query: String,
    /// The lowest margin to list.
    pub(crate) min_margin: Option<f64>,
    /// The highest margin to list.
    pub(crate) max_margin: Option<f64>,
    /// The review status to list; none lists all.
    pub(crate) review_status: Option<ReviewStatus>,
    /// The order of the list.
    pub(crate) sort: InstanceSort,
}

/// The list from which an instance was opened, and the position of the instance in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InstanceView {
    /// The ranker whose list it is.
    pub(crate) ranker: Option<String>,
    /// The position in the list, counted from 0.
    pub(crate) position: Option<u64>,
    /// The view of the list.
    pub(crate) list: InstanceListView,
}

impl CellAddress {
    /// Returns the name of a position on the heat map.
    pub(crate) fn new(spot: HeatMapPosition, overview: &StudyOverview) -> Option<CellAddress> {
        let ranker = match spot.row {
            RankerOrRelevanceRow::Ranker(row) => overview.rows.get(row)?.slug.clone(),
            RankerOrRelevanceRow::Relevance => RELEVANCE_SLUG.to_owned(),
        };
        Some(CellAddress {
            ranker,
            probe: spot.probe,
        })
    }

    /// Returns the position on the heat map; none if there is no such ranker.
    pub(crate) fn position(&self, overview: &StudyOverview) -> Option<HeatMapPosition> {
        let slugs = overview.rows.iter().map(|it| it.slug.as_str());
        let row = match self.ranker.as_str() {
            RELEVANCE_SLUG => RankerOrRelevanceRow::Relevance,
            name => RankerOrRelevanceRow::Ranker(parse_ranker_slug_or_position(slugs, name).ok()?),
        };
        Some(HeatMapPosition {
            row,
            probe: self.probe,
        })
    }

    /// Reads a cell from two parameters of an address.
    fn from_address(get: ParameterLookup<'_>, probe: &str, ranker: &str) -> Option<CellAddress> {
        Some(CellAddress {
            ranker: get(ranker).filter(|it| !it.is_empty())?,
            probe: get(probe)?.parse().ok()?,
        })
    }
}

impl StudyView {
    /// Parses a view from an address; parameters that cannot be parsed are ignored.
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> StudyView {
        let shape = if get("view").as_deref() == Some("table") {
            FigureDisplay::Table
        } else {
            FigureDisplay::Map
        };
        StudyView {
            controls: controls_from_address(get),
            cell: CellAddress::from_address(get, "probe", "ranker"),
            display: shape,
        }
    }

    /// Returns the address of this view of a study. Default values are left out.
    pub(crate) fn href(&self, study: &str) -> String {
        let mut pairs = controls_parameters(&self.controls);
        if let Some(cell) = &self.cell {
            pairs.push(("ranker", cell.ranker.clone()));
            pairs.push(("probe", cell.probe.slug().into_owned()));
        }
        if self.display == FigureDisplay::Table {
            pairs.push(("view", "table".to_owned()));
        }
        let page = PageRoute::Study {
            study: study.to_owned(),
        };
        page.href_with(pairs)
    }
}

impl BehavioralTestsView {
    /// Parses a view from an address; parameters that cannot be parsed are ignored.
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> BehavioralTestsView {
        let width = |it: String| parse_threshold(&it);
        let slice = get("documents");
        BehavioralTestsView {
            controls: controls_from_address(get),
            tie_threshold: get("test_tie_threshold")
                .and_then(width)
                .map_or(TieThreshold::TunedPerRanker, |width| TieThreshold::Fixed {
                    width,
                }),
            ranker: get("matrix_ranker").filter(|it| !it.is_empty()),
            slice: SLICES
                .iter()
                .find(|it| slice.as_deref() == Some(it.1))
                .map_or(RelevanceSlice::All, |it| it.0),
            cell: CellAddress::from_address(get, "test", "test_ranker"),
        }
    }

    /// Returns the address of this view of a study. Default values are left out.
    pub(crate) fn href(&self, study: &str) -> String {
        let mut pairs = controls_parameters(&self.controls);
        if let TieThreshold::Fixed { width } = self.tie_threshold {
            pairs.push(("test_tie_threshold", width.to_string()));
        }
        pairs.extend(self.ranker.clone().map(|it| ("matrix_ranker", it)));
        let slice = SLICES.iter().find(|it| it.0 == self.slice);
        pairs.extend(slice.map(|it| ("documents", it.1.to_owned())));
        if let Some(cell) = &self.cell {
            pairs.push(("test", cell.probe.slug().into_owned()));
            pairs.push(("test_ranker", cell.ranker.clone()));
        }
        let page = PageRoute::BehavioralTests {
            study: study.to_owned(),
        };
        page.href_with(pairs)
    }
}

/// Returns the address of a study with the details of a ranker on an axiom or a behavioral test.
pub(crate) fn cell_href(
    study: &str,
    controls: StudyPageControls,
    probe: Probe,
    ranker: String,
) -> String {
    let cell = Some(CellAddress { ranker, probe });
    match probe.is_axiom() {
        true => StudyView {
            controls,
            cell,
            ..StudyView::default()
        }
        .href(study),
        false => BehavioralTestsView {
            controls,
            cell,
            ..BehavioralTestsView::default()
        }
        .href(study),
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
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> InstanceListView {
        let outcome = get("outcome");
        let sort = get("sort");
        let number = |key: &str| get(key)?.parse::<f64>().ok().filter(|it| it.is_finite());
        InstanceListView {
            dials: controls_from_address(get),
            outcome: OUTCOMES
                .iter()
                .find(|it| outcome.as_deref() == Some(it.1))
                .map(|it| it.0),
            query: get("query_filter").unwrap_or_default(),
            min_margin: number("min_margin"),
            max_margin: number("max_margin"),
            review_status: get("review_status").and_then(|it| parse_review_status(&it)),
            sort: SORTS
                .iter()
                .find(|it| sort.as_deref() == Some(it.1))
                .map_or(InstanceSort::default(), |it| it.0),
        }
    }

    /// Returns the address of the list.
    pub(crate) fn href(&self, study: &str, probe: Probe, ranker: &str) -> String {
        let page = PageRoute::Instances {
            study: study.to_owned(),
            probe,
            ranker: ranker.to_owned(),
        };
        page.href_with(self.pairs())
    }

    /// Returns the request for a part of the list.
    pub(crate) fn list_request(
        &self,
        probe: Probe,
        ranker: &str,
        part: std::ops::Range<u64>,
    ) -> InstanceListOptions {
        InstanceListOptions {
            controls: self.dials.clone(),
            probe,
            ranker: ranker.to_owned(),
            outcome: self.outcome,
            query_filter: self.query.clone(),
            min_margin: self.min_margin,
            max_margin: self.max_margin,
            review_status: self.review_status,
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
            pairs.push(("query_filter", self.query.clone()));
        }
        pairs.extend(self.min_margin.map(|it| ("min_margin", it.to_string())));
        pairs.extend(self.max_margin.map(|it| ("max_margin", it.to_string())));
        pairs.extend(
            self.review_status
                .map(|it| ("review_status", review_status_parameter(it).to_owned())),
        );
        if self.sort != InstanceSort::default() {
            pairs.push(("sort", sort_parameter(self.sort).to_owned()));
        }
        pairs
    }
}

impl InstanceView {
    /// Parses a view from an address. Without a variant, it is that of the first variant of the
    /// study.
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> InstanceView {
        InstanceView {
            ranker: get("ranker").filter(|it| !it.is_empty()),
            position: get("position").and_then(|it| it.parse().ok()),
            list: InstanceListView::from_address(get),
        }
    }

    /// Returns the address of an instance; `None` as variant is the first variant of the study.
    pub(crate) fn href(
        &self,
        study: &str,
        probe: Probe,
        mode: impl Into<Option<AxiomVariant>>,
        number: u64,
    ) -> String {
        let page = PageRoute::Instance {
            study: study.to_owned(),
            probe,
            number,
        };
        let mut list = self.list.clone();
        // Numbers count the instances of a variant.
        list.dials.variant = mode.into();
        let mut pairs: Vec<QueryParameter> = Vec::new();
        pairs.extend(self.ranker.clone().map(|it| ("ranker", it)));
        pairs.extend(self.position.map(|it| ("position", it.to_string())));
        pairs.extend(list.pairs());
        page.href_with(pairs)
    }
}

/// Returns the address of an instance that was opened from no list.
pub(crate) fn instance_href(study: &str, place: StudyInstanceRef) -> String {
    InstanceView::default().href(study, place.probe, place.variant, place.index)
}

/// Returns the address of a trial with instances of a study, or with items of a task whose
/// annotators are simulated.
pub(crate) fn trial_href(study: &str, task: Option<TaskId>, seed: u64) -> String {
    let mut parameters = Vec::new();
    parameters.extend(task.map(|it| ("task", it.0.to_string())));
    parameters.extend((seed > 0).then(|| ("seed", seed.to_string())));
    let trial = PageRoute::Trial {
        study: study.to_owned(),
    };
    trial.href_with(parameters)
}

const OUTCOMES: [(VerdictOutcome, &str); 3] = [
    (VerdictOutcome::Satisfied, "satisfied"),
    (VerdictOutcome::Tied, "tied"),
    (VerdictOutcome::Violated, "violated"),
];

/// The parameters of the document slices; all documents are the default and have none.
const SLICES: [(RelevanceSlice, &str); 2] = [
    (RelevanceSlice::Relevant, "relevant"),
    (RelevanceSlice::NotRelevant, "not-relevant"),
];

const SORTS: [(InstanceSort, &str); 5] = [
    (InstanceSort::MostInstructive, "most-instructive"),
    (InstanceSort::Query, "query"),
    (InstanceSort::MarginAscending, "margin-ascending"),
    (InstanceSort::MarginDescending, "margin-descending"),
    (InstanceSort::AbsoluteMargin, "absolute-margin"),
];

/// Returns the address parameter of an outcome.
pub(crate) fn outcome_parameter(outcome: VerdictOutcome) -> &'static str {
    OUTCOMES
        .iter()
        .find(|it| it.0 == outcome)
        .map_or("", |it| it.1)
}

const REVIEW_STATUSES: [(ReviewStatus, &str); 2] = [
    (ReviewStatus::Reviewed, "reviewed"),
    (ReviewStatus::NotReviewed, "not-reviewed"),
];

/// Returns the address parameter of a review status.
pub(crate) fn review_status_parameter(status: ReviewStatus) -> &'static str {
    let found = REVIEW_STATUSES.iter().find(|it| it.0 == status);
    found.map_or("", |it| it.1)
}

/// Parses the address parameter of a review status; none if it has another value.
pub(crate) fn parse_review_status(word: &str) -> Option<ReviewStatus> {
    let found = REVIEW_STATUSES.iter().find(|it| it.1 == word);
    found.map(|it| it.0)
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

/// Parses the variant from an address.
pub(crate) fn variant_from_address(get: ParameterLookup<'_>) -> Option<AxiomVariant> {
    let name = get("variant")?;
    let mut variants = AxiomVariant::ALL.iter();
    variants.find(|it| it.slug() == name).copied()
}

/// Parses the controls from an address.
pub(crate) fn controls_from_address(get: ParameterLookup<'_>) -> StudyPageControls {
    StudyPageControls {
        variant: variant_from_address(get),
        length_tolerance: get("length_tolerance").and_then(|it| it.parse().ok()),
        tie_threshold: get("tie_threshold")
            .and_then(|it| it.parse::<f64>().ok())
            .filter(|it| it.is_finite() && *it >= 0.0),
        subset: match get("subset").as_deref() {
            Some("untruncated") => InstanceSubset::Untruncated,
            Some("with-relevant") => InstanceSubset::WithRelevant,
            Some(_) | None => InstanceSubset::All,
        },
        split: get("split").filter(|it| !it.is_empty()),
    }
}

/// Returns the address parameters of the controls.
pub(crate) fn controls_parameters(dials: &StudyPageControls) -> Vec<QueryParameter> {
    let mut pairs: Vec<QueryParameter> = Vec::new();
    pairs.extend(dials.variant.map(|it| ("variant", it.slug().to_owned())));
    let tolerance = dials.length_tolerance;
    pairs.extend(tolerance.map(|it| ("length_tolerance", it.to_string())));
    let threshold = dials.tie_threshold;
    pairs.extend(threshold.map(|it| ("tie_threshold", it.to_string())));
    match dials.subset {
        InstanceSubset::All => {}
        InstanceSubset::Untruncated => pairs.push(("subset", "untruncated".to_owned())),
        InstanceSubset::WithRelevant => pairs.push(("subset", "with-relevant".to_owned())),
    }
    pairs.extend(dials.split.clone().map(|it| ("split", it)));
    pairs
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
            outcome: Some(VerdictOutcome::Violated),
            query: "ice & snow".to_owned(),
            min_margin: Some(-2.5),
            max_margin: None,
            review_status: Some(ReviewStatus::NotReviewed),
            sort: InstanceSort::AbsoluteMargin,
        };
        assert_eq!(InstanceListView::from_address(&get(&view.pairs())), view);
        let probe = Probe::Axiom(Axiom::Tp);
        assert_eq!(
            view.href("demo", probe, "bm25"),
            "/studies/demo/rankers/bm25/probes/tp/instances?variant=code&length_tolerance=4\
             &tie_threshold=0.05&subset=with-relevant&split=dev&outcome=violated\
             &query_filter=ice%20%26%20snow&min_margin=-2.5&review_status=not-reviewed\
             &sort=absolute-margin"
        );
    }

    #[test]
    fn an_instance_has_its_variant_in_its_address() {
        let place = StudyInstanceRef {
            probe: Probe::Axiom(Axiom::Tp),
            variant: AxiomVariant::Code,
            index: 3,
        };
        assert_eq!(
            instance_href("demo", place),
            "/studies/demo/probes/tp/instances/3?variant=code"
        );
        let view = InstanceView {
            ranker: Some("ql".to_owned()),
            position: Some(7),
            list: InstanceListView::default(),
        };
        let href = view.href("demo", place.probe, place.variant, place.index);
        assert_eq!(
            href,
            "/studies/demo/probes/tp/instances/3?ranker=ql&position=7&variant=code"
        );
        let get = |key: &str| {
            let found = crate::routes::parse_parameters(href.split_once('?')?.1);
            found.into_iter().find(|it| it.0 == key).map(|it| it.1)
        };
        let mut expected = view.clone();
        expected.list.dials.variant = Some(AxiomVariant::Code);
        assert_eq!(InstanceView::from_address(&get), expected);
    }

    #[test]
    fn an_instance_without_a_variant_is_of_the_first_of_its_study() {
        let view = InstanceView::from_address(&|_| None);
        assert_eq!(view, InstanceView::default());
        let href = view.href("demo", Probe::Axiom(Axiom::Tp), None::<AxiomVariant>, 3);
        assert_eq!(href, "/studies/demo/probes/tp/instances/3");
    }

    #[test]
    fn the_usual_view_needs_no_words() {
        assert_eq!(StudyView::default().href("demo"), "/studies/demo");
        let cell = Some(CellAddress {
            ranker: RELEVANCE_SLUG.to_owned(),
            probe: Probe::Axiom(Axiom::Mtdc),
        });
        let view = StudyView {
            cell,
            display: FigureDisplay::Table,
            ..StudyView::default()
        };
        assert_eq!(
            view.href("demo"),
            "/studies/demo?ranker=relevance&probe=mtdc&view=table"
        );
    }

    #[test]
    fn behaviours_survive_their_address() {
        let view = BehavioralTestsView {
            controls: StudyPageControls {
                split: Some("dev".to_owned()),
                ..StudyPageControls::default()
            },
            tie_threshold: TieThreshold::Fixed { width: 0.25 },
            ranker: Some("ql".to_owned()),
            slice: RelevanceSlice::NotRelevant,
            cell: Some(CellAddress {
                ranker: "bm25".to_owned(),
                probe: "match:length~0.5:relevance".parse().unwrap(),
            }),
        };
        let href = view.href("demo");
        assert_eq!(
            href,
            "/studies/demo/behavioral-tests?split=dev&test_tie_threshold=0.25&matrix_ranker=ql\
             &documents=not-relevant&test=match%3Alength~0.5%3Arelevance&test_ranker=bm25"
        );
        let get = |key: &str| {
            let found = crate::routes::parse_parameters(href.split_once('?')?.1);
            found.into_iter().find(|it| it.0 == key).map(|it| it.1)
        };
        assert_eq!(BehavioralTestsView::from_address(&get), view);
        assert_eq!(
            ["0", " 0,5 ", "-1", "inf", ""].map(parse_threshold),
            [Some(0.0), Some(0.5), None, None, None]
        );
    }

    #[test]
    fn a_cell_is_on_the_tab_of_its_kind() {
        let href = |probe: &str| {
            let controls = StudyPageControls::default();
            cell_href("demo", controls, probe.parse().unwrap(), "ql".to_owned())
        };
        assert_eq!(href("tfc1"), "/studies/demo?ranker=ql&probe=tfc1");
        assert_eq!(
            href("drop-query-terms"),
            "/studies/demo/behavioral-tests?test=drop-query-terms&test_ranker=ql"
        );
    }

    #[test]
    fn what_cannot_be_read_is_as_if_not_there() {
        let pairs = [
            ("variant", "loose".to_owned()),
            ("tie_threshold", "NaN".to_owned()),
            ("length_tolerance", "-1".to_owned()),
            ("probe", "x".to_owned()),
            ("ranker", "bm25".to_owned()),
            ("test_tie_threshold", "-1".to_owned()),
            ("test", "repeat:3".to_owned()),
        ];
        assert_eq!(StudyView::from_address(&get(&pairs)), StudyView::default());
        let tests = BehavioralTestsView::from_address(&get(&pairs));
        assert_eq!(tests, BehavioralTestsView::default());
    }
}

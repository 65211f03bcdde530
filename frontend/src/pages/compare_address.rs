//! The address of the Compare rankers page, so that a view can be cited and shared.

use shared::compare::query_list::{
    ComparedQueryGroup, ComparedQueryListOptions, ComparedQuerySort, ReciprocalRankChangeKind,
    TopDocumentTermFraction,
};
use shared::compare::question_class::QuestionClass;
use shared::compare::{QueryRelevanceRequirement, RankerComparisonOptions};
use shared::text::Stopwords;

use crate::pages::page_state::AddressEncodedPageState;
use crate::pages::study::address::ParameterLookup;
use crate::routes::PageRoute;

/// The number of rows in a page of the list.
pub(crate) const ROWS: u64 = ComparedQueryListOptions::ROWS_AT_ONCE;

/// What the Compare rankers page shows, as encoded in its address.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CompareView {
    /// The two rankers, and the queries over which they are compared.
    pub(crate) comparison: RankerComparisonOptions,
    /// Which queries are listed.
    pub(crate) selection: ComparedQueryGroup,
    /// The order of the list.
    pub(crate) sort: ComparedQuerySort,
    /// The page of the list, counted from 0; from 1 in the address.
    pub(crate) page: u64,
    /// Id of the query that is shown side by side.
    pub(crate) query: Option<String>,
}

/// The state that the parts of the page share.
pub(super) type ComparePageState = AddressEncodedPageState<CompareView>;

impl CompareView {
    /// Parses a view from an address; parameters that cannot be parsed are ignored.
    pub(crate) fn from_address(get: ParameterLookup<'_>) -> CompareView {
        let usual = RankerComparisonOptions::default();
        let who = |key: &str, at: usize| {
            let typed = get(key).filter(|it| !it.is_empty());
            let typed = typed.and_then(|it| it.parse().ok());
            typed.unwrap_or_else(|| usual.rankers[at].clone())
        };
        let word = |key: &str| get(key).unwrap_or_default();
        CompareView {
            comparison: RankerComparisonOptions {
                rankers: [who("a", 0), who("b", 1)],
                subset: match word("subset").as_str() {
                    "with-retrieved-relevant" => QueryRelevanceRequirement::WithRetrievedRelevant,
                    "all" => QueryRelevanceRequirement::All,
                    _ => QueryRelevanceRequirement::WithRelevant,
                },
                min_relevant_grade: get("min_relevant_grade").and_then(|it| it.parse().ok()),
                stopwords: match word("stopwords").as_str() {
                    "none" => Stopwords::None,
                    _ => Stopwords::EnFunction,
                },
                split: get("split"),
            },
            selection: get("selection")
                .and_then(|it| parse_selection_parameter(&it))
                .unwrap_or_default(),
            sort: match word("sort").as_str() {
                "gain" => ComparedQuerySort::Gain,
                "loss" => ComparedQuerySort::Loss,
                _ => ComparedQuerySort::Query,
            },
            page: get("page")
                .and_then(|it| it.parse::<u64>().ok())
                .map_or(0, |it| it.saturating_sub(1)),
            query: get("query"),
        }
    }

    /// Returns the address of the Compare rankers page of a study in this view. Default values are
    /// left out.
    pub(crate) fn href(&self, study: &str) -> String {
        let usual = RankerComparisonOptions::default();
        let mut pairs: Vec<(&'static str, String)> = Vec::new();
        for (key, at) in [("a", 0), ("b", 1)] {
            let who = &self.comparison.rankers[at];
            if *who != usual.rankers[at] {
                pairs.push((key, who.to_string()));
            }
        }
        let counted = match self.comparison.subset {
            QueryRelevanceRequirement::WithRelevant => None,
            QueryRelevanceRequirement::WithRetrievedRelevant => Some("with-retrieved-relevant"),
            QueryRelevanceRequirement::All => Some("all"),
        };
        let stop = match self.comparison.stopwords {
            Stopwords::None => Some("none"),
            Stopwords::EnFunction | Stopwords::List(_) => None,
        };
        let sort = match self.sort {
            ComparedQuerySort::Query => None,
            ComparedQuerySort::Gain => Some("gain"),
            ComparedQuerySort::Loss => Some("loss"),
        };
        pairs.extend(counted.map(|it| ("subset", it.to_owned())));
        let from = self.comparison.min_relevant_grade;
        pairs.extend(from.map(|it| ("min_relevant_grade", it.to_string())));
        pairs.extend(stop.map(|it| ("stopwords", it.to_owned())));
        pairs.extend(self.comparison.split.clone().map(|it| ("split", it)));
        if self.selection != ComparedQueryGroup::All {
            pairs.push(("selection", selection_parameter(&self.selection)));
        }
        pairs.extend(sort.map(|it| ("sort", it.to_owned())));
        if self.page > 0 {
            pairs.push(("page", self.page.saturating_add(1).to_string()));
        }
        pairs.extend(self.query.clone().map(|it| ("query", it)));
        let page = PageRoute::CompareRankers {
            study: study.to_owned(),
        };
        page.href_with(pairs)
    }

    /// Returns the options of the query list that is shown.
    pub(crate) fn listing(&self) -> ComparedQueryListOptions {
        ComparedQueryListOptions {
            selection: self.selection.clone(),
            sort: self.sort,
            offset: self.page.saturating_mul(ROWS),
            limit: ROWS,
        }
    }
}

const CHANGE_PARAMETERS: [(ReciprocalRankChangeKind, &str); 5] = [
    (ReciprocalRankChangeKind::ZeroToOne, "won"),
    (ReciprocalRankChangeKind::Better, "better"),
    (ReciprocalRankChangeKind::Equal, "level"),
    (ReciprocalRankChangeKind::Worse, "worse"),
    (ReciprocalRankChangeKind::OneToZero, "lost"),
];

fn fraction_parameter(fraction: TopDocumentTermFraction) -> &'static str {
    match fraction {
        TopDocumentTermFraction::QueryTokens => "fqt",
        TopDocumentTermFraction::NovelTerms => "fnt",
    }
}

fn selection_parameter(selection: &ComparedQueryGroup) -> String {
    match selection {
        ComparedQueryGroup::All => "all".to_owned(),
        ComparedQueryGroup::FqtBucket { side, bucket } => format!("bucket.{bucket}.{side}"),
        ComparedQueryGroup::QueryLength { n_tokens } => format!("length.{n_tokens}"),
        ComparedQueryGroup::RrChange { change } => {
            let word = CHANGE_PARAMETERS.iter().find(|it| it.0 == *change);
            format!("change.{}", word.map_or("level", |it| it.1))
        }
        ComparedQueryGroup::QuestionClass { answer } => {
            format!(
                "answer.{}",
                answer.map_or("none", QuestionClass::abbreviation)
            )
        }
        ComparedQueryGroup::Bigram { words } => format!("begins.{words}"),
        ComparedQueryGroup::Disjoint { depth } => format!("apart.{depth}"),
        ComparedQueryGroup::HigherFraction { fraction, side } => {
            format!("{}.{side}", fraction_parameter(*fraction))
        }
    }
}

fn parse_selection_parameter(word: &str) -> Option<ComparedQueryGroup> {
    let (kind, rest) = word.split_once('.')?;
    let side = |it: &str| it.parse::<u8>().ok().filter(|it| *it < 2);
    let higher = |fraction: TopDocumentTermFraction| {
        side(rest).map(|side| ComparedQueryGroup::HigherFraction { fraction, side })
    };
    match kind {
        "bucket" => {
            let (bucket, of) = rest.split_once('.')?;
            Some(ComparedQueryGroup::FqtBucket {
                side: side(of)?,
                bucket: bucket.parse().ok()?,
            })
        }
        "length" => rest
            .parse()
            .ok()
            .map(|n_tokens| ComparedQueryGroup::QueryLength { n_tokens }),
        "change" => {
            let (change, _) = *CHANGE_PARAMETERS.iter().find(|it| it.1 == rest)?;
            Some(ComparedQueryGroup::RrChange { change })
        }
        "answer" if rest == "none" => Some(ComparedQueryGroup::QuestionClass { answer: None }),
        "answer" => {
            let answer = QuestionClass::ALL
                .iter()
                .find(|it| it.abbreviation() == rest)?;
            Some(ComparedQueryGroup::QuestionClass {
                answer: Some(*answer),
            })
        }
        "begins" => Some(ComparedQueryGroup::Bigram {
            words: rest.to_owned(),
        }),
        "apart" => rest
            .parse()
            .ok()
            .map(|depth| ComparedQueryGroup::Disjoint { depth }),
        "fqt" => higher(TopDocumentTermFraction::QueryTokens),
        "fnt" => higher(TopDocumentTermFraction::NovelTerms),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses the view from an address whose query string has no escaped characters.
    fn again(href: &str) -> CompareView {
        let search = href.split_once('?').map_or("", |it| it.1);
        let pairs: Vec<(&str, &str)> = search
            .split('&')
            .filter_map(|it| it.split_once('='))
            .collect();
        let get = |key: &str| {
            let found = pairs.iter().find(|it| it.0 == key);
            found.map(|it| it.1.replace("%20", " ").replace("%3A", ":"))
        };
        CompareView::from_address(&get)
    }

    #[test]
    fn a_view_survives_its_address() {
        assert_eq!(CompareView::default().href("demo"), "/studies/demo/compare");
        let view = CompareView {
            comparison: RankerComparisonOptions {
                rankers: ["ql", "run:a.run"].map(|it| it.parse().unwrap()),
                subset: QueryRelevanceRequirement::WithRetrievedRelevant,
                min_relevant_grade: Some(2),
                stopwords: Stopwords::None,
                split: Some("test".to_owned()),
            },
            selection: ComparedQueryGroup::Bigram {
                words: "what is".to_owned(),
            },
            sort: ComparedQuerySort::Loss,
            page: 3,
            query: Some("q1".to_owned()),
        };
        let href = view.href("demo");
        assert_eq!(
            href,
            "/studies/demo/compare?a=ql&b=run%3Aa.run&subset=with-retrieved-relevant\
             &min_relevant_grade=2&stopwords=none&split=test&selection=begins.what%20is\
             &sort=loss&page=4&query=q1"
        );
        assert_eq!(again(&href), view);
    }

    #[test]
    fn every_selection_survives_its_word() {
        let answers = QuestionClass::ALL.iter().map(|it| Some(*it)).chain([None]);
        let answers = answers.map(|answer| ComparedQueryGroup::QuestionClass { answer });
        let changes = ReciprocalRankChangeKind::ALL
            .iter()
            .map(|it| ComparedQueryGroup::RrChange { change: *it });
        let others = [
            ComparedQueryGroup::FqtBucket { side: 1, bucket: 4 },
            ComparedQueryGroup::QueryLength { n_tokens: 11 },
            ComparedQueryGroup::Disjoint { depth: 10 },
            ComparedQueryGroup::HigherFraction {
                fraction: TopDocumentTermFraction::QueryTokens,
                side: 0,
            },
            ComparedQueryGroup::HigherFraction {
                fraction: TopDocumentTermFraction::NovelTerms,
                side: 1,
            },
        ];
        for it in answers.chain(changes).chain(others) {
            assert_eq!(
                parse_selection_parameter(&selection_parameter(&it)),
                Some(it)
            );
        }
        for word in ["", "all", "bucket.1.7", "fqt.2", "change.up", "length.x"] {
            assert_eq!(parse_selection_parameter(word), None, "{word}");
        }
    }
}

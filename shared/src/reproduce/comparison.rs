//! BM25 compared with another ranker, and the values of the comparison that correspond to the
//! numbers of Padigela, Zamani & Croft (2019).

use serde::Deserialize;

use crate::compare::hypotheses::relative_mrr_drop_across_buckets;
use crate::compare::paired_means::{PairedMetricMeans, ReciprocalRankDifferenceSummary};
use crate::compare::query_groups::{MrrComparison, QueryTokenFractionBucket};
use crate::compare::query_list::{self, QueryWithPairedMetrics, ReciprocalRankChangeKind};
use crate::compare::question_class::QuestionClass;
use crate::compare::{
    QueryRelevanceRequirement, RankerComparison, RankerComparisonInput, RankerComparisonOptions,
    RankerRef, compare_rankers,
};
use crate::error::Error;
use crate::report::comparison::{
    compared_rankers_sentence, incomplete_ranking_notes, won_and_lost_queries_table,
};
use crate::report::{ReportTable, TableValue};
use crate::stats::EstimateWithInterval;
use crate::study::Study;

/// One of the two rankers of a comparison; BM25 is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstOrSecondRanker {
    /// BM25.
    First,
    /// The other; the paper's is BERT.
    Second,
}

/// The statistic in a row of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankerComparisonStatistic {
    /// The value of one ranker.
    Value(FirstOrSecondRanker),
    /// The number of queries behind the value of one ranker.
    QueryCount(FirstOrSecondRanker),
    /// The value of the second ranker minus that of the first.
    Difference,
    /// The share of queries in which one ranker is higher.
    WinRate(FirstOrSecondRanker),
    /// The p-value of a paired test.
    P(PairedSignificanceTest),
    /// A value that belongs to both rankers.
    Joint,
    /// The share of queries among those that are counted for both rankers.
    QueryShare,
}

/// The paired significance test of a p-value in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairedSignificanceTest {
    /// Student's t test.
    TTest,
    /// The randomization test.
    Randomization,
}

/// The measure in a column.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bm25ComparisonMeasure {
    /// RR@10.
    Rr,
    /// Fraction of query tokens.
    Fqt,
    /// Fraction of novel terms.
    Fnt,
    /// RR@10 in a bucket of FQT, counted from 0.
    Bucket(usize),
    /// The relative decrease of RR@10 from the lowest bucket to the highest.
    BucketDrop,
    /// RR@10 of queries with this number of tokens.
    Length(u32),
    /// The relative decrease of RR@10 from queries of the first number of tokens to those of the
    /// second.
    LengthDrop(u32, u32),
    /// RR@10 of queries of this question class.
    Answer(QuestionClass),
    /// The number of queries with a question class.
    QuestionClassCount,
    /// The number of common documents among this many top documents.
    OverlapAtDepth(usize),
    /// The slope of the line through these numbers.
    Slope,
    /// The intercept of that line.
    Intercept,
    /// The number of queries whose RR@10 changes in this way.
    Change(ReciprocalRankChangeKind),
    /// RR@10 of the query with this text.
    Query(String),
}

/// The values of a measure by row; of two numbers the first is that of BM25.
#[derive(Default)]
struct MeasureValues {
    of: [Option<TableValue>; 2],
    queries: [Option<u64>; 2],
    gain: Option<EstimateWithInterval>,
    higher: [Option<f64>; 2],
    /// The p-values of Student's t test and of the randomization test.
    p: [Option<f64>; 2],
    both: Option<TableValue>,
    share: Option<f64>,
}

/// BM25 compared with another ranker, over the same queries.
pub(super) struct Bm25Comparison {
    pub(super) differences: RankerComparison,
    /// The numbers of each query.
    pub(super) rows: Vec<QueryWithPairedMetrics>,
}

impl Bm25Comparison {
    /// Compares two rows of a study, BM25 first.
    pub(super) fn from_study(
        study: &Study,
        pair: [u32; 2],
        counted: QueryRelevanceRequirement,
    ) -> Result<Bm25Comparison, Error> {
        let slugs = study.ranker_slugs();
        let asking = RankerComparisonOptions {
            rankers: pair.map(|row| RankerRef::Ranker(slugs[row as usize].clone())),
            subset: counted,
            ..RankerComparisonOptions::default()
        };
        let source = study.ranker_comparison_input(&asking)?;
        Ok(Bm25Comparison {
            differences: study.compare_rankers(&asking)?,
            rows: query_list::list_all_compared_queries(&source, &asking)?,
        })
    }

    /// Compares two rankings, that of BM25 first.
    pub(super) fn from_runs(
        source: &RankerComparisonInput<'_>,
        counted: QueryRelevanceRequirement,
    ) -> Result<Bm25Comparison, Error> {
        let asking = RankerComparisonOptions {
            subset: counted,
            ..RankerComparisonOptions::default()
        };
        Ok(Bm25Comparison {
            differences: compare_rankers(source, &asking)?,
            rows: query_list::list_all_compared_queries(source, &asking)?,
        })
    }

    /// Returns notes on which queries count and which candidates do not.
    pub(super) fn comparison_coverage_notes(&self) -> Vec<String> {
        let found = &self.differences;
        let mut notes = vec![format!(
            "{} Tokens: {}.",
            compared_rankers_sentence(found),
            found.analyzer
        )];
        notes.extend(incomplete_ranking_notes(found));
        notes
    }

    /// Returns a table of queries where one ranker wins and the other loses. `at` and `name`
    /// distinguish it from the tables of other columns.
    pub(super) fn queries_won_or_lost_table(&self, at: usize, name: &str) -> ReportTable {
        ReportTable {
            name: format!("samples-{at}"),
            title: format!("BM25 and {name}: queries on which one wins and the other loses"),
            ..won_and_lost_queries_table(&self.differences)
        }
    }

    pub(super) fn table_value_of_statistic(
        &self,
        said: RankerComparisonStatistic,
        figure: &Bm25ComparisonMeasure,
    ) -> Option<TableValue> {
        let told = self.told(figure)?;
        let of_side =
            |side: FirstOrSecondRanker, [first, second]: [Option<TableValue>; 2]| match side {
                FirstOrSecondRanker::First => first,
                FirstOrSecondRanker::Second => second,
            };
        match said {
            RankerComparisonStatistic::Value(side) => of_side(side, told.of),
            RankerComparisonStatistic::QueryCount(side) => {
                of_side(side, told.queries.map(|it| it.map(TableValue::Count)))
            }
            RankerComparisonStatistic::Difference => told.gain.map(TableValue::Estimate),
            RankerComparisonStatistic::WinRate(side) => {
                of_side(side, told.higher.map(|it| it.map(TableValue::Fraction)))
            }
            RankerComparisonStatistic::P(PairedSignificanceTest::TTest) => {
                told.p[0].map(TableValue::PValue)
            }
            RankerComparisonStatistic::P(PairedSignificanceTest::Randomization) => {
                told.p[1].map(TableValue::PValue)
            }
            RankerComparisonStatistic::Joint => told.both,
            RankerComparisonStatistic::QueryShare => told.share.map(TableValue::Fraction),
        }
    }

    fn told(&self, figure: &Bm25ComparisonMeasure) -> Option<MeasureValues> {
        let found = &self.differences;
        match *figure {
            Bm25ComparisonMeasure::Rr => Some(of_paired(&found.reciprocal_rank)),
            Bm25ComparisonMeasure::Fqt => Some(of_paired(&found.fraction_query_tokens)),
            Bm25ComparisonMeasure::Fnt => Some(of_paired(&found.fraction_novel_terms)),
            Bm25ComparisonMeasure::Bucket(at) => found.fqt_buckets.get(at).map(of_bucket),
            Bm25ComparisonMeasure::BucketDrop => {
                Some(of_falls([0, 1].map(|it| {
                    relative_mrr_drop_across_buckets(&found.fqt_buckets, it)
                })))
            }
            Bm25ComparisonMeasure::Length(n_tokens) => self.length(n_tokens).map(of_both),
            Bm25ComparisonMeasure::LengthDrop(from, to) => self.length_fall(from, to).map(of_falls),
            Bm25ComparisonMeasure::Answer(answer) => {
                let mut groups = found.question_classes.iter();
                let group = groups.find(|it| it.question_class == Some(answer));
                group.map(|it| of_both(&it.mrr))
            }
            Bm25ComparisonMeasure::QuestionClassCount => {
                let typed = found
                    .question_classes
                    .iter()
                    .filter(|it| it.question_class.is_some());
                let n_queries = typed.map(|it| it.mrr.n_queries).sum();
                Some(MeasureValues {
                    queries: [Some(n_queries); 2],
                    ..MeasureValues::default()
                })
            }
            Bm25ComparisonMeasure::OverlapAtDepth(depth) => {
                let mean = found.top_overlap.means.get(depth.checked_sub(1)?)?;
                Some(of_both_alike(TableValue::Estimate(*mean)))
            }
            Bm25ComparisonMeasure::Slope => found
                .top_overlap
                .regression
                .map(|it| of_both_alike(three(it.slope))),
            Bm25ComparisonMeasure::Intercept => found
                .top_overlap
                .regression
                .map(|it| of_both_alike(three(it.intercept))),
            Bm25ComparisonMeasure::Change(turn) => Some(of_turn(&found.rr_changes, turn)),
            Bm25ComparisonMeasure::Query(ref text) => {
                let is_asked =
                    |it: &&QueryWithPairedMetrics| it.query.trim().eq_ignore_ascii_case(text);
                let rr = self.rows.iter().find(is_asked)?.metrics.rr?;
                Some(MeasureValues {
                    of: rr.map(|it| Some(TableValue::Fraction(it))),
                    ..MeasureValues::default()
                })
            }
        }
    }

    fn length(&self, n_tokens: u32) -> Option<&MrrComparison> {
        let mut lengths = self.differences.query_lengths.iter();
        let length = lengths.find(|it| it.n_tokens == n_tokens);
        length.map(|it| &it.mrr)
    }

    fn length_fall(&self, from: u32, to: u32) -> Option<[Option<f64>; 2]> {
        let (first, last) = (self.length(from)?.mrr, self.length(to)?.mrr);
        Some([0, 1].map(|side: usize| {
            let (first, last) = (first[side]?.value, last[side]?.value);
            (first > 0.0).then(|| 1.0 - last / first)
        }))
    }
}

/// Returns a number whose third digit is known.
fn three(value: f64) -> TableValue {
    TableValue::Score { value, digits: 3 }
}

fn of_paired(it: &PairedMetricMeans) -> MeasureValues {
    MeasureValues {
        of: it.means.map(|it| it.map(TableValue::Estimate)),
        queries: [Some(it.n_queries); 2],
        higher: [0, 1].map(|side| it.win_rate(side)),
        p: [it.p_student, it.p_randomization],
        ..MeasureValues::default()
    }
}

fn of_bucket(it: &QueryTokenFractionBucket) -> MeasureValues {
    let [first, second] = &it.rankers;
    MeasureValues {
        of: [first.mrr, second.mrr].map(|it| it.map(TableValue::Estimate)),
        queries: [Some(first.n_queries), Some(second.n_queries)],
        ..MeasureValues::default()
    }
}

fn of_both(it: &MrrComparison) -> MeasureValues {
    MeasureValues {
        of: it.mrr.map(|it| it.map(TableValue::Estimate)),
        queries: [Some(it.n_queries); 2],
        gain: it.mrr_difference,
        ..MeasureValues::default()
    }
}

fn of_falls(falls: [Option<f64>; 2]) -> MeasureValues {
    MeasureValues {
        of: falls.map(|it| it.map(three)),
        ..MeasureValues::default()
    }
}

fn of_both_alike(value: TableValue) -> MeasureValues {
    MeasureValues {
        both: Some(value),
        ..MeasureValues::default()
    }
}

fn of_turn(
    change: &ReciprocalRankDifferenceSummary,
    turn: ReciprocalRankChangeKind,
) -> MeasureValues {
    let count = match turn {
        ReciprocalRankChangeKind::ZeroToOne => change.n_zero_to_one,
        ReciprocalRankChangeKind::Better => change.n_better,
        ReciprocalRankChangeKind::Equal => change.n_equal,
        ReciprocalRankChangeKind::Worse => change.n_worse,
        ReciprocalRankChangeKind::OneToZero => change.n_one_to_zero,
    };
    let n = change.differences.len();
    MeasureValues {
        both: Some(TableValue::Count(count)),
        share: (n > 0).then(|| count as f64 / n as f64),
        ..MeasureValues::default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::report::{ReportTable, TableValue};
    use crate::reproduce::{PaperTable, ReproduciblePaper, reproduce_table_from_study};
    use crate::score::{RankerInfo, RankerKind, RankerQueryDocumentScores};
    use crate::study::{Study, fixture};

    /// Makes a study in which BM25 ranks 1, 2 for `q` and 4, 2, 3 for `q1`; the other ranker has
    /// 2, 1 for `q` and 3, 2, 1 for `q1`, since 4 has no score. Document 2 is relevant for `q`, 4
    /// for `q1`.
    pub(in crate::reproduce) fn study_with_bm25_and_score_file() -> Study {
        let queries = ["river", "another name for reaper"];
        let texts = [
            "river river",
            "river name name",
            "the reaper",
            "name name reaper",
        ];
        let mut collection = fixture::fixture_collection(&queries, &texts);
        for (query, doc) in [("q", "2"), ("q1", "4")] {
            let grades = [(doc.to_owned(), 1)].into();
            collection.qrels.0.insert(query.to_owned(), grades);
        }
        let mut definition = fixture::fixture_study_definition(10);
        definition.rankers = vec!["bm25".to_owned()];
        let mut study = fixture::make_fixture_study(definition, collection);
        let scores = study.pairs.iter().map(|(query, text)| {
            let doc = study.study_doc_id(text);
            match (query, doc.as_str()) {
                (0, "2") | (1, "3") => Some(2.0),
                (0, "1") | (1, "2") => Some(1.0),
                (1, "4") => None,
                _ => Some(0.0),
            }
        });
        let about = RankerInfo {
            spec: "scores:other.tsv".to_owned(),
            label: "other".to_owned(),
            detail: "from a score file".to_owned(),
            kind: RankerKind::ScoreFile,
            fingerprint: String::new(),
            note: None,
        };
        let other = RankerQueryDocumentScores::new(about, scores.collect(), &study.pairs).unwrap();
        study.scores.push(other);
        study
    }

    fn tables(table: u8, study: Option<&Study>) -> Vec<ReportTable> {
        let paper = ReproduciblePaper::Padigela2019;
        reproduce_table_from_study(PaperTable { paper, table }, study).unwrap()
    }

    /// Checks the published value of a cell and ours, as formatted for readers.
    #[track_caller]
    fn check(table: u8, [row, column]: [&str; 2], expected: [&str; 2]) {
        let tables = tables(table, Some(&study_with_bm25_and_score_file()));
        let said = [row, column].map(|it| TableValue::Text(it.to_owned()));
        let mut rows = tables[0].rows.iter();
        let found = rows.find(|it| it[..2] == said);
        let found = found.unwrap_or_else(|| panic!("no {row}, {column}: {:?}", tables[0].rows));
        let shown = [&found[2], &found[4]].map(|it| match it {
            TableValue::Estimate(it) => TableValue::Score {
                value: it.value,
                digits: 3,
            },
            other => other.clone(),
        });
        assert_eq!(
            shown.map(|it| it.display_text()),
            expected,
            "{row}, {column}"
        );
    }

    #[test]
    fn every_table_has_ours_beside_what_was_printed() {
        check(1, ["BM25", "development queries"], ["0.1767", "0.750"]);
        check(1, ["BERT", "development queries"], ["0.3653", "0.500"]);
        check(1, ["queries", "development queries"], ["6,980", "2"]);
        // `q`: of four documents the first consists of query tokens, the second for a third: 1/3
        // for both rankers. `q1`: 2/3, 1 and 1 of four documents, or 2/3 and 1 of three: 2/3 and
        // 5/9.
        check(2, ["BM25", "mean FQT"], ["0.2", "0.500"]);
        check(2, ["BERT", "mean FQT"], ["0.147", "0.444"]);
        check(2, ["BM25 higher", "mean FQT"], ["0.9596", ".50"]);
        check(2, ["p, paired t test", "mean FNT"], ["0.0", ".50"]);
        check(2, ["BERT", "FQT [.25, 1]"], [".40", "0.500"]);
        check(2, ["BERT, queries", "FQT [.25, 1]"], ["344", "2"]);
        check(2, ["BM25, queries", "FQT [0, .1)"], ["349", "0"]);
        check(3, ["BM25", "4 tokens"], [".22", "1.000"]);
        check(3, ["BERT − BM25", "4 tokens"], ["–", "−1.000"]);
        check(3, ["BERT − BM25", "2 tokens"], ["+.29", "–"]);
        // `q`: no common document, then both, then one with no query term; `q1`: none, one, two.
        check(4, ["MUR", "first 1"], ["0.17", "0.000"]);
        check(4, ["MUR", "first 2"], ["0.45", "1.500"]);
        check(4, ["MUR", "first 10"], ["3.12", "3.500"]);
        check(5, ["queries", "BERT better"], ["3,257", "1"]);
        check(5, ["queries", "difference −1"], ["–", "1"]);
        check(5, ["share", "BM25 better"], [".12", ".50"]);
        check(5, ["BERT", "another name for reaper"], ["wrong", ".00"]);
        check(5, ["BM25", "another name for reaper"], ["–", "1.00"]);
        check(6, ["BERT", "NUM"], [".40", "–"]);
        check(6, ["queries", "LOC"], ["493", "0"]);
    }

    #[test]
    fn candidates_without_a_score_are_told_and_samples_follow() {
        let study = study_with_bm25_and_score_file();
        let found = tables(5, Some(&study));
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            ["padigela2019-table-5", "samples-1", "discrepancies"]
        );
        assert_eq!(found[1].rows.len(), 2);
        let notes = found[0].notes.join("\n");
        assert!(
            notes.contains("other did not score 1 of the candidates"),
            "{notes}"
        );
        assert!(
            notes.contains("BM25 (bm25:k1=1.2,b=0.75,k3=inf,idf=lucene) against"),
            "{notes}"
        );
        assert!(notes.contains("2 of 2 queries"), "{notes}");
    }

    #[test]
    fn bm25_stands_beside_every_other_ranker() {
        let texts = ["river river", "river bank", "the sea"];
        let mut definition = fixture::fixture_study_definition(10);
        definition.rankers = ["ql", "bm25", "bm25:k1=0.9"].map(str::to_owned).into();
        let study = fixture::make_fixture_study(
            definition,
            fixture::fixture_collection(&["river"], &texts),
        );
        let table = tables(2, Some(&study)).remove(0);
        let heads: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            heads[..5],
            ["row", "column", "published", "authors' code", "ours, QL"]
        );
        assert!(
            heads[5].starts_with("ours, BM25, ") && heads[5].contains("0.9"),
            "{heads:?}"
        );
        assert_eq!(heads[6..], ["QL − published"]);
        let mut definition = fixture::fixture_study_definition(10);
        definition.rankers = vec!["ql".to_owned()];
        let study = fixture::make_fixture_study(
            definition,
            fixture::fixture_collection(&["river"], &texts),
        );
        let table = tables(2, Some(&study)).remove(0);
        assert!(
            table.notes[1].contains("does not have BM25"),
            "{:?}",
            table.notes
        );
        assert_eq!(table.columns.len(), 4);
    }
}

//! Discrepancies in the numbers of Padigela, Zamani & Croft (2019), and in the conclusions from
//! them.

use super::DiscrepancyRows;
use crate::compare::hypotheses::relative_mrr_drop_across_buckets;
use crate::compare::paired_means::PairedMetricMeans;
use crate::compare::query_groups::{FQT_EDGES, query_token_fraction_bucket_index};
use crate::compare::query_list::QueryWithPairedMetrics;
use crate::report::{TableValue, format};
use crate::reproduce::comparison::{
    Bm25Comparison, FirstOrSecondRanker, RankerComparisonStatistic,
};
use crate::reproduce::{PaperTable, PublishedRowSubject, ReproduciblePaper, number, published};
use crate::stats::bootstrap::N_RESAMPLES;

/// The number of queries of table 1: the small development set.
const N_DEV: u64 = 6_980;

/// The number of these with a relevant document among the candidates; the other tables use them.
const N_FOUND: u64 = 5_738;

/// The rankers that are compared.
const RANKERS: [(&str, FirstOrSecondRanker); 2] = [
    ("BM25", FirstOrSecondRanker::First),
    ("BERT", FirstOrSecondRanker::Second),
];

impl DiscrepancyRows<'_> {
    pub(super) fn add_padigela_paper_discrepancies(&mut self) {
        self.populations();
        self.own_buckets();
        self.ends();
        self.types();
        self.p_of_zero();
    }

    fn populations(&mut self) {
        for (ranker, side) in RANKERS {
            let over_all = mean_of(&buckets(side)) * N_FOUND as f64 / N_DEV as f64;
            self.add(
                "Means of tables 2, 3 and 6 are higher than that of table 1 because queries \
                 without a relevant candidate are left out; counting these as 0, the buckets \
                 give table 1",
                (
                    format!(
                        "{ranker}, mean of table 2's buckets, × {} / {}",
                        format::format_count(N_FOUND),
                        format::format_count(N_DEV)
                    ),
                    four(over_all),
                ),
                ("table 1, development".to_owned(), four(dev(side))),
            );
        }
    }

    fn own_buckets(&mut self) {
        let [bm25, bert] = [FirstOrSecondRanker::First, FirstOrSecondRanker::Second].map(buckets);
        let last = bm25.len() - 1;
        self.add(
            "Queries are grouped by each ranker's own FQT, so that a bucket holds different \
             queries per ranker, and the decrease between buckets is not over the same queries",
            (
                "BERT, published number of queries in the last bucket".to_owned(),
                TableValue::Count(bert[last].1),
            ),
            ("BM25".to_owned(), TableValue::Count(bm25[last].1)),
        );
        for (
            name,
            Bm25Comparison {
                differences: found,
                rows,
                ..
            },
        ) in self.compared()
        {
            let own = relative_mrr_drop_across_buckets(&found.fqt_buckets, 1);
            let Some((own, other)) = own.zip(fall_by_first(rows)) else {
                continue;
            };
            self.add(
                "Decrease of RR@10 from the lowest to the highest non-empty bucket, with \
                 queries grouped by the FQT of",
                (format!("{name} itself"), three(own)),
                ("BM25".to_owned(), three(other)),
            );
        }
    }

    fn ends(&mut self) {
        let what = "The decrease is measured only between the first and the last group; the \
             decrease to the lowest group is larger";
        for (ranker, side) in RANKERS {
            for (by, means) in [("FQT", bucket_means(side)), ("length", lengths(side))] {
                let [to_last, to_lowest] = falls(&means);
                if to_lowest > to_last {
                    self.add(
                        what,
                        (
                            format!("{ranker} by {by}, decrease to the last group"),
                            three(to_last),
                        ),
                        ("decrease to the lowest group".to_owned(), three(to_lowest)),
                    );
                }
            }
        }
    }

    fn types(&mut self) {
        let n_typed: u64 = types(FirstOrSecondRanker::First)
            .iter()
            .map(|it| it.1)
            .sum();
        self.add(
            "Table 6 omits queries of unknown question class",
            ("queries in table 6".to_owned(), TableValue::Count(n_typed)),
            ("queries in table 2".to_owned(), TableValue::Count(N_FOUND)),
        );
        for (ranker, side) in RANKERS {
            self.add(
                "Queries of unknown question class are easier: the mean over table 6 is lower \
                 than over table 2",
                (
                    format!("{ranker}, mean of table 6"),
                    three(mean_of(&types(side))),
                ),
                ("mean of table 2".to_owned(), three(mean_of(&buckets(side)))),
            );
        }
        self.add(
            "The question class that the paper calls BERT's best and BM25's worst has almost no \
             queries",
            (
                "queries of ABBR".to_owned(),
                TableValue::Count(types(FirstOrSecondRanker::First)[0].1),
            ),
            (
                "queries of all classes".to_owned(),
                TableValue::Count(n_typed),
            ),
        );
    }

    fn p_of_zero(&mut self) {
        self.add(
            "No p-value is 0. The test is a paired t test; the randomization test shown here \
             makes no distributional assumption",
            (
                "FQT and FNT, published p".to_owned(),
                TableValue::Score {
                    value: 0.0,
                    digits: 1,
                },
            ),
            (
                format!(
                    "smallest p of {} random sign changes",
                    format::format_count(N_RESAMPLES as u64)
                ),
                TableValue::Magnitude(1.0 / (N_RESAMPLES + 1) as f64),
            ),
        );
        for (
            name,
            Bm25Comparison {
                differences: found, ..
            },
        ) in self.compared()
        {
            self.p(&format!("{name}, FQT"), &found.fraction_query_tokens);
            self.p(&format!("{name}, FNT"), &found.fraction_novel_terms);
        }
    }

    fn p(&mut self, name: &str, paired: &PairedMetricMeans) {
        let Some((student, randomization)) = paired.p_student.zip(paired.p_randomization) else {
            return;
        };
        self.add(
            "p of both tests",
            (
                format!("{name}, paired t test"),
                TableValue::PValue(student),
            ),
            (
                "randomization test".to_owned(),
                TableValue::PValue(randomization),
            ),
        );
    }
}

/// Returns the published numbers of a row; missing ones are left out.
fn printed_numbers(table: u8, said: RankerComparisonStatistic) -> Vec<f64> {
    let asked = PaperTable {
        paper: ReproduciblePaper::Padigela2019,
        table,
    };
    let mut rows = published::published_table(asked).rows.iter();
    let row = rows.find(|it| it.subject == PublishedRowSubject::Comparison(said));
    let cells = row.map_or(&[][..], |it| &it.cells).iter();
    let numbers = cells.map(|it| match it.published {
        TableValue::Count(count) => Some(count as f64),
        ref other => number(other),
    });
    numbers.flatten().collect()
}

/// Pairs mean reciprocal ranks with the numbers of queries they are taken over.
fn with_counts(means: Vec<f64>, counts: Vec<f64>) -> Vec<(f64, u64)> {
    let groups = means.into_iter().zip(counts);
    groups.map(|(mean, count)| (mean, count as u64)).collect()
}

/// Returns MRR@10 on the development set, from table 1.
fn dev(side: FirstOrSecondRanker) -> f64 {
    *printed_numbers(1, RankerComparisonStatistic::Value(side))
        .last()
        .expect("table 1")
}

/// Returns MRR by buckets of FQT, from table 2.
fn buckets(side: FirstOrSecondRanker) -> Vec<(f64, u64)> {
    let means = printed_numbers(2, RankerComparisonStatistic::Value(side));
    with_counts(
        means,
        printed_numbers(2, RankerComparisonStatistic::QueryCount(side)),
    )
}

fn bucket_means(side: FirstOrSecondRanker) -> Vec<f64> {
    buckets(side).into_iter().map(|it| it.0).collect()
}

/// Returns MRR by query length, from table 3, without its last column, in which it falls.
fn lengths(side: FirstOrSecondRanker) -> Vec<f64> {
    let mut means = printed_numbers(3, RankerComparisonStatistic::Value(side));
    means.pop();
    means
}

/// Returns MRR by question class, from table 6.
fn types(side: FirstOrSecondRanker) -> Vec<(f64, u64)> {
    let means = printed_numbers(6, RankerComparisonStatistic::Value(side));
    with_counts(
        means,
        printed_numbers(
            6,
            RankerComparisonStatistic::QueryCount(FirstOrSecondRanker::First),
        ),
    )
}

fn three(value: f64) -> TableValue {
    TableValue::Score { value, digits: 3 }
}

fn four(value: f64) -> TableValue {
    TableValue::Score { value, digits: 4 }
}

/// Returns the mean over all queries, from means of groups and their sizes.
fn mean_of(groups: &[(f64, u64)]) -> f64 {
    let n: u64 = groups.iter().map(|it| it.1).sum();
    let sum: f64 = groups.iter().map(|it| it.0 * it.1 as f64).sum();
    sum / n as f64
}

/// Returns by what share a mean falls from the first group to the last one and to the lowest one.
fn falls(means: &[f64]) -> [f64; 2] {
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    let last = means[means.len() - 1];
    [last, lowest].map(|it| 1.0 - it / means[0])
}

/// Returns the [`relative_mrr_drop_across_buckets`] of the second ranker in buckets of the FQT of
/// the first.
fn fall_by_first(rows: &[QueryWithPairedMetrics]) -> Option<f64> {
    let mut buckets = vec![(0.0, 0.0); FQT_EDGES.len() - 1];
    for row in rows {
        let values = &row.metrics;
        if let (Some(rr), Some(fqt)) = (values.rr, values.fqt[0]) {
            let bucket = &mut buckets[query_token_fraction_bucket_index(fqt)];
            *bucket = (bucket.0 + rr[1], bucket.1 + 1.0);
        }
    }
    let mut means = buckets.iter().filter(|it| it.1 > 0.0).map(|it| it.0 / it.1);
    let first = means.next()?;
    let last = means.next_back()?;
    (first > 0.0).then(|| 1.0 - last / first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::query_groups;
    use crate::compare::query_metrics::PairedQueryMetrics;
    use crate::reproduce::{comparison, reproduce_table_from_study};
    use crate::study::Study;

    /// Returns rows of a statement and the two numbers it compares, as formatted for readers.
    fn rows(study: Option<&Study>) -> Vec<[String; 3]> {
        let asked = PaperTable {
            paper: ReproduciblePaper::Padigela2019,
            table: 2,
        };
        let rows = reproduce_table_from_study(asked, study)
            .unwrap()
            .pop()
            .unwrap()
            .rows;
        let shown = rows
            .iter()
            .map(|it| [1, 2, 4].map(|at| it[at].display_text()));
        shown.collect()
    }

    #[track_caller]
    fn check(one: &str, expected: [&str; 2]) {
        let rows = rows(None);
        let found = rows.iter().find(|it| it[0].starts_with(one));
        let found = found.unwrap_or_else(|| panic!("no {one}: {rows:?}"));
        assert_eq!(found[1..], expected, "{one}");
    }

    /// 349 × .29 + 1,163 × .23 + … = 1,231.98 for BM25, 2,554.54 for BERT; over 5,738 queries .2147
    /// and .4452, over 6,980 .1765 and .3660.
    #[test]
    fn printed_numbers_are_set_against_each_other() {
        check("BM25, mean of table 2's buckets", ["0.1765", "0.1767"]);
        check("BERT, mean of table 2's buckets", ["0.3660", "0.3653"]);
        check(
            "BERT, published number of queries in the last",
            ["344", "1,345"],
        );
        check("BERT by FQT, decrease to the last", ["0.167", "0.208"]);
        check("BM25 by length, decrease to the last", ["0.333", "0.370"]);
        check("queries in table 6", ["4,105", "5,738"]);
        check("BM25, mean of table 6", ["0.203", "0.215"]);
        check("BERT, mean of table 6", ["0.434", "0.445"]);
        check("queries of ABBR", ["9", "4,105"]);
        check("FQT and FNT, published p", ["0.0", "1.0e-4"]);
        // BM25 by FQT and BERT by length are lowest where they end.
        assert!(!rows(None).iter().any(|it| it[0].starts_with("BM25 by FQT")));
    }

    /// The text of the paper states falls of 34.5 % and 16.7 % by FQT, of 33 % and 39 % by length.
    #[test]
    fn the_decreases_of_the_text_are_those_of_the_printed_means() {
        for (side, by_fqt, by_length) in [
            (FirstOrSecondRanker::First, 345.0, 33.0),
            (FirstOrSecondRanker::Second, 167.0, 39.0),
        ] {
            let [fall, _] = falls(&bucket_means(side));
            assert_eq!((fall * 1e3).round(), by_fqt);
            let [fall, _] = falls(&lengths(side));
            assert_eq!((fall * 1e2).round(), by_length);
            let n: u64 = buckets(side).iter().map(|it| it.1).sum();
            assert_eq!(n, N_FOUND);
        }
    }

    /// Table 2 as queries that each have the mean of their bucket. The means, taken over all 6,980
    /// queries, give the MRR@10 of table 1, .1767 and .3653.
    #[test]
    fn the_buckets_of_the_paper_add_up() {
        let within = [0.05, 0.12, 0.17, 0.22, 0.5];
        let printed = [FirstOrSecondRanker::First, FirstOrSecondRanker::Second].map(buckets);
        let [first, second] = printed.each_ref().map(|it| {
            let buckets = it.iter().zip(within);
            let each = buckets.map(|(&(rr, n), fqt)| std::iter::repeat_n((rr, fqt), n as usize));
            each.flatten().collect::<Vec<(f64, f64)>>()
        });
        assert_eq!((first.len(), second.len()), (5_738, 5_738));
        let pairs = first.iter().zip(&second);
        let rows: Vec<PairedQueryMetrics> = pairs
            .map(|(first, second)| PairedQueryMetrics {
                rr: Some([first.0, second.0]),
                fqt: [Some(first.1), Some(second.1)],
                ..PairedQueryMetrics::default()
            })
            .collect();
        let found = query_groups::mrr_by_query_token_fraction(&rows);
        for (side, mrr) in [(0, 0.1765), (1, 0.3660)] {
            let mut n_all = 0;
            let mut sum = 0.0;
            for (bucket, &(rr, n)) in found.iter().zip(&printed[side]) {
                let here = &bucket.rankers[side];
                assert_eq!(here.n_queries, n);
                near((here.mrr.unwrap().value * 1e9).round() / 1e9, rr);
                n_all += here.n_queries;
                sum += rr * n as f64;
            }
            assert_eq!(n_all, 5_738);
            let over_all = sum / 5_738.0 * (5_738.0 / 6_980.0);
            assert!((over_all - mrr).abs() < 1e-4, "{over_all}");
        }
        // The falls that the text of the paper states, 34.5 % and 16.7 %.
        near(
            (relative_mrr_drop_across_buckets(&found, 0).unwrap() * 1e3).round(),
            345.0,
        );
        near(
            (relative_mrr_drop_across_buckets(&found, 1).unwrap() * 1e3).round(),
            167.0,
        );
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} for {b}");
    }

    /// By the first ranker's FQT, .8 and .6 are in the lowest bucket and .35 is in the highest.
    #[test]
    fn a_fall_by_the_buckets_of_the_other_is_counted_by_hand() {
        let row = |rr: f64, fqt: f64| QueryWithPairedMetrics {
            query_id: String::new(),
            query: String::new(),
            metrics: PairedQueryMetrics {
                rr: Some([0.0, rr]),
                fqt: [Some(fqt), None],
                ..PairedQueryMetrics::default()
            },
        };
        let rows = [row(0.8, 0.05), row(0.6, 0.0), row(0.35, 1.0)];
        let fall = fall_by_first(&rows).unwrap();
        assert!((fall - 0.5).abs() < 1e-12, "{fall}");
        assert_eq!(fall_by_first(&rows[2..]), None);
    }

    /// One of two queries differs: t is 1 with one degree of freedom, and both of the two
    /// permutations are equally extreme.
    #[test]
    fn both_tests_of_a_study_stand_side_by_side() {
        let study = comparison::tests::study_with_bm25_and_score_file();
        let tests = rows(Some(&study)).into_iter();
        let tests: Vec<_> = tests
            .filter(|it| it[0].ends_with("paired t test"))
            .collect();
        assert_eq!(tests.len(), 2);
        for row in tests {
            assert_eq!(row[1..], [".50", "1.00"], "{row:?}");
        }
    }
}

//! What Padigela, Zamani & Croft print (Investigating the Successes and Failures of BERT for
//! Passage Re-Ranking, 2019), BM25 beside BERT.
//!
//! Tables 1 to 6, and the numbers of the text and of figure 1 under the table that they are
//! nearest to: FQT, FNT and their tests under table 2, where queries are grouped by FQT;
//! differences by length under table 3; the line under table 4; changes of the reciprocal rank
//! under table 5, which shows queries of that kind. Figure 2 is a picture without numbers.
//! Percentages are fractions here.

use super::{Cell, Printed, Row, said};
use crate::differ::answer::AnswerType;
use crate::differ::listing::Turn;
use crate::replay::compared::{Figure, Said, Side, Test};
use crate::replay::{Asked, Of, Paper, What};
use crate::report::Value;

/// The table beside which queries are shown.
pub(crate) const SAMPLES: Asked = Asked {
    paper: Paper::Padigela2019,
    table: 5,
};

/// What is compared.
pub(crate) const RANKERS: [&str; 2] = ["BM25", "BERT"];

/// Queries of table 1: the small development set.
pub(crate) const N_DEV: u64 = 6_980;

/// Of these, with a relevant document among the candidates: those of all that follows.
pub(crate) const N_FOUND: u64 = 5_738;

/// Table 1, MRR@10 on the development set: their own BM25, and BERT.
pub(crate) const DEV: [f64; 2] = [0.1767, 0.3653];

/// Table 2: mean reciprocal rank and queries in each bucket of FQT.
pub(crate) const BUCKETS: [[(f64, u64); 5]; 2] = [
    [
        (0.29, 349),
        (0.23, 1_163),
        (0.22, 1_565),
        (0.20, 1_316),
        (0.19, 1_345),
    ],
    [
        (0.48, 1_240),
        (0.47, 2_061),
        (0.42, 1_441),
        (0.38, 652),
        (0.40, 344),
    ],
];

/// Table 3, by length; its head is lost in the text that is to be had. The text tells differences
/// of .29 at 2 tokens and of .16 at 10, which are those of the first of nine columns and the last.
pub(crate) const LENGTHS: [[f64; 9]; 2] = [
    [0.27, 0.23, 0.22, 0.22, 0.23, 0.19, 0.21, 0.17, 0.18],
    [0.56, 0.46, 0.48, 0.45, 0.46, 0.42, 0.40, 0.38, 0.34],
];

/// Table 4: documents in common among the first 1, 2, …, 10.
const OVERLAP: [f64; 10] = [0.17, 0.45, 0.77, 1.1, 1.44, 1.78, 2.13, 2.46, 2.8, 3.12];

/// Table 6: queries, and the mean reciprocal rank of BM25 and of BERT.
pub(crate) const TYPES: [(AnswerType, u64, [f64; 2]); 6] = [
    (AnswerType::Abbreviation, 9, [0.17, 0.59]),
    (AnswerType::Location, 493, [0.25, 0.50]),
    (AnswerType::Description, 1_887, [0.19, 0.43]),
    (AnswerType::Human, 455, [0.23, 0.46]),
    (AnswerType::Numeric, 933, [0.19, 0.40]),
    (AnswerType::Entity, 328, [0.21, 0.41]),
];

const SIDES: [(&str, Side); 2] = [("BM25", Side::First), ("BERT", Side::Second)];

const BUCKET_NAMES: [&str; 5] = [
    "FQT [0, .1)",
    "FQT [.1, .15)",
    "FQT [.15, .2)",
    "FQT [.2, .25)",
    "FQT [.25, 1]",
];

const LENGTH_NAMES: [&str; 9] = [
    "2 tokens",
    "3 tokens",
    "4 tokens",
    "5 tokens",
    "6 tokens",
    "7 tokens",
    "8 tokens",
    "9 tokens",
    "10 tokens",
];

const OVERLAP_NAMES: [&str; 10] = [
    "first 1", "first 2", "first 3", "first 4", "first 5", "first 6", "first 7", "first 8",
    "first 9", "first 10",
];

/// Table 1: models on the leaderboard.
pub(super) fn leaderboard() -> Printed {
    let row = |name, what, eval: Option<f64>, dev| {
        let eval = eval.map_or(Value::Missing, |it| digits(it, 4));
        said(name, what, [eval, digits(dev, 4)])
    };
    let [bm25, bert] = DEV;
    let absent = What::Absent;
    Printed {
        about: "MRR@10",
        columns: vec![
            Of::Absent("test queries"),
            Of::Compared("development queries", Figure::Rr),
        ],
        rows: vec![
            said(
                "queries",
                What::Compared(Said::Queries(Side::First)),
                [Value::Missing, Value::Count(N_DEV)],
            ),
            row("BM25 of the leaderboard", absent, Some(0.1649), 0.1670),
            row("BM25", of(Side::First), None, bm25),
            row("LeToR with RankSVM", absent, Some(0.1905), 0.1947),
            row("KNRM", absent, Some(0.1982), 0.2184),
            row("Conv-KNRM", absent, Some(0.2712), 0.2902),
            row("IRNet", absent, Some(0.2806), 0.2780),
            row("BERT", of(Side::Second), Some(0.3587), bert),
        ],
        notes: &[
            "Printed: over all queries, where one without a relevant candidate counts 0; so are \
             ours. The other tables leave these out.",
            BM25,
        ],
    }
}

/// Table 2: by FQT, with what its text says of FQT and FNT.
pub(super) fn buckets() -> Printed {
    let mut columns: Vec<Of> = (0..)
        .zip(BUCKET_NAMES)
        .map(|(at, name)| Of::Compared(name, Figure::Bucket(at)))
        .collect();
    columns.extend([
        Of::Compared("fall, first to last bucket", Figure::BucketFall),
        Of::Compared("mean FQT", Figure::Fqt),
        Of::Compared("mean FNT", Figure::Fnt),
    ]);
    let means = [
        [digits(0.345, 3), digits(0.2, 1), digits(0.88, 2)],
        [digits(0.167, 3), digits(0.147, 3), digits(0.9, 1)],
    ];
    let mut rows = Vec::new();
    for (((name, side), buckets), means) in SIDES.into_iter().zip(BUCKETS).zip(means) {
        let rr = buckets.map(|it| Value::Fraction(it.0));
        rows.push(row(name, Said::Of(side), rr.into_iter().chain(means)));
        let name = match side {
            Side::First => "BM25, queries",
            Side::Second => "BERT, queries",
        };
        let counts = buckets.map(|it| Value::Count(it.1)).into_iter();
        rows.push(row(
            name,
            Said::Queries(side),
            counts.chain([const { Value::Missing }; 3]),
        ));
    }
    let last = |name, it, fqt, fnt| {
        let missing = [const { Value::Missing }; 6].into_iter();
        row(name, it, missing.chain([fqt, fnt]))
    };
    rows.extend([
        last(
            "BM25 higher",
            Said::Higher(Side::First),
            digits(0.9596, 4),
            Value::Missing,
        ),
        last(
            "BERT higher",
            Said::Higher(Side::Second),
            Value::Missing,
            digits(0.8585, 4),
        ),
        last(
            "p, paired t test",
            Said::P(Test::Student),
            digits(0.0, 1),
            digits(0.0, 1),
        ),
        last(
            "p, randomisation",
            Said::P(Test::Permutation),
            Value::Missing,
            Value::Missing,
        ),
    ]);
    Printed {
        about: "mean RR@10 and queries by the fraction of query tokens at the top (FQT), each \
                ranker by its own; means and tests of FQT and of the fraction of novel terms (FNT) \
                are from the text",
        columns,
        rows,
        notes: &[
            "The printed p are 0.0, of a test that the paper calls a signed t test. It names no \
             stop list, tokeniser or stemmer; ours takes function words out and stems nothing. Ours \
             falls from the lowest bucket with a query to the highest with one.",
            FOUND,
            BM25,
        ],
    }
}

/// Table 3: by length.
pub(super) fn lengths() -> Printed {
    let lengths = (2..).zip(LENGTH_NAMES);
    let lengths = lengths.map(|(n, name)| Of::Compared(name, Figure::Length(n)));
    let fall = Of::Compared("fall, 2 to 10 tokens", Figure::LengthFall(2, 10));
    let missing = || [const { Value::Missing }; 10].into_iter();
    let mut gains: Vec<Value> = missing().collect();
    (gains[0], gains[8]) = (Value::Signed(0.29), Value::Signed(0.16));
    let mut rows = vec![row("queries", Said::Queries(Side::First), missing())];
    for (((name, side), rr), fall) in SIDES.into_iter().zip(LENGTHS).zip([0.33, 0.39]) {
        let cells = rr.into_iter().chain([fall]).map(Value::Fraction);
        rows.push(row(name, Said::Of(side), cells));
    }
    rows.push(row("BERT − BM25", Said::Gain, gains.into_iter()));
    Printed {
        about: "mean RR@10 by the length of queries",
        columns: lengths.chain([fall]).collect(),
        rows,
        notes: &[
            "The head of the table is lost in the text that is to be had. Its nine columns are \
             taken for 2 to 10 tokens: the text's differences at these two lengths are those of \
             the first column and the last. How many queries each has is not printed.",
            "Ours: tokens of the query with white space between. Other lengths: axioscope differ.",
            FOUND,
            BM25,
        ],
    }
}

/// Table 4: documents in common.
pub(super) fn overlap() -> Printed {
    let depths = (1..).zip(OVERLAP_NAMES);
    let depths = depths.map(|(i, name)| Of::Compared(name, Figure::Mur(i)));
    let line = [
        Of::Compared("slope of the line", Figure::Slope),
        Of::Compared("its height at 0", Figure::Intercept),
    ];
    let cells = OVERLAP.into_iter().chain([0.33, -0.21]);
    Printed {
        about: "documents that both have among their first (MUR), means over queries",
        columns: depths.chain(line).collect(),
        rows: vec![row("MUR", Said::Both, cells.map(|it| digits(it, 2)))],
        notes: &[
            "The line is that of least squares through the means; printed: about .33 and −.21.",
            FOUND,
            BM25,
        ],
    }
}

/// Table 5: sample queries, with the changes of figure 1.
pub(super) fn samples() -> Printed {
    let turns = [
        ("difference 1", Turn::Won, Some(525), Some(0.09)),
        ("BERT better", Turn::Better, Some(3_257), Some(0.57)),
        ("level", Turn::Equal, Some(1_791), None),
        ("BM25 better", Turn::Worse, Some(690), Some(0.12)),
        ("difference −1", Turn::Lost, None, None),
    ];
    let (wrong, correct) = ("wrong", "correct");
    let queries = [
        ("what is the nationality", [Some(wrong), Some(correct)]),
        ("confident man definition", [Some(wrong), Some(correct)]),
        (
            "where can a plasma membrane be found in a cell",
            [None, Some(wrong)],
        ),
        (
            "telephone number for amazon fire stick customer service",
            [None, Some(wrong)],
        ),
        ("another name for reaper", [None, Some(wrong)]),
    ];
    let columns = turns.map(|it| Of::Compared(it.0, Figure::Turn(it.1)));
    let asked = queries.map(|it| Of::Compared(it.0, Figure::Query(it.0)));
    let none = || [const { Value::Missing }; 5].into_iter();
    let counts = turns.map(|it| it.2.map_or(Value::Missing, Value::Count));
    let shares = turns.map(|it| it.3.map_or(Value::Missing, Value::Fraction));
    let mut rows = vec![
        row("queries", Said::Both, counts.into_iter().chain(none())),
        row("share", Said::Share, shares.into_iter().chain(none())),
    ];
    for (at, (name, side)) in SIDES.into_iter().enumerate() {
        let outcome = queries
            .map(|it| it.1[at].map_or(Value::Missing, |it: &str| Value::Text(it.to_owned())));
        rows.push(row(name, Said::Of(side), none().chain(outcome)));
    }
    Printed {
        about: "sample queries, and the change of RR@10 from BM25 to BERT (figure 1)",
        columns: columns.into_iter().chain(asked).collect(),
        rows,
        notes: &[
            "Of its five queries the paper prints whether the passage in front is correct; ours is \
             RR@10, 1 where the first passage is relevant, and missing where the study does not \
             have the query. Queries of the study on which one wins follow.",
            "A difference of 1 is one of those in which BERT is better. Printed counts are of \
             figure 1's text; they add up to 5,738.",
            FOUND,
            BM25,
        ],
    }
}

/// Table 6: by what is asked for.
pub(super) fn answers() -> Printed {
    let types = TYPES.map(|(it, ..)| Of::Compared(it.name(), Figure::Answer(it)));
    let all = Of::Compared("any of these", Figure::Typed);
    let counts = TYPES.map(|it| Value::Count(it.1)).into_iter();
    let missing = || [const { Value::Missing }; 7].into_iter();
    let mut rows = vec![row(
        "queries",
        Said::Queries(Side::First),
        counts.chain([Value::Count(4_105)]),
    )];
    for (at, (name, side)) in SIDES.into_iter().enumerate() {
        let rr = TYPES.map(|it| Value::Fraction(it.2[at])).into_iter();
        rows.push(row(name, Said::Of(side), rr.chain([Value::Missing])));
    }
    rows.push(row("BERT − BM25", Said::Gain, missing()));
    Printed {
        about: "mean RR@10 by what is asked for",
        columns: types.into_iter().chain([all]).collect(),
        rows,
        notes: &[
            "The paper took types from the package qtypes, ours from rules of our own: the same \
             query can have another type, or none. Queries without one are in no column.",
            "Figure 2, by how queries begin, has no numbers to compare with: axioscope differ has \
             ours.",
            FOUND,
            BM25,
        ],
    }
}

const FOUND: &str = "Printed: over the 5,738 of 6,980 queries with a relevant candidate. Ours: \
                     over those with one among the candidates of either ranker.";

const BM25: &str = "Printed BM25: Elasticsearch's default analyser, k1 1.2, b .75. Ours is the \
                    first BM25 of the study, by its order of the pool; beside another ranker it \
                    has other numbers only where other queries count. Ours in the rows of BERT are \
                    the other ranker's.";

fn of(side: Side) -> What {
    What::Compared(Said::Of(side))
}

fn row(name: &'static str, said: Said, cells: impl Iterator<Item = Value>) -> Row {
    Row {
        name,
        what: What::Compared(said),
        cells: cells.map(Cell::printed).collect(),
    }
}

/// A number with as many digits as the paper gives it.
fn digits(value: f64, digits: u8) -> Value {
    Value::Score { value, digits }
}

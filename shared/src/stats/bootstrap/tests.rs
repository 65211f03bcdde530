use expect_test::{Expect, expect};

use super::*;

fn check(counts: &[(u64, u64)], expect: Expect) {
    let queries: Vec<QueryVerdictCounts> = counts
        .iter()
        .map(|&(agreeing, judged)| QueryVerdictCounts {
            n_agreeing: agreeing,
            n_verdicts: judged,
        })
        .collect();
    let found = match bootstrap_fraction(&queries) {
        None => "nothing judged".to_owned(),
        Some(it) => format!(
            "{} {:?}\n{} {:?}\np {} from {} queries\n",
            it.micro_average.value,
            it.micro_average.interval,
            it.macro_average.value,
            it.macro_average.interval,
            it.p,
            it.n_queries
        ),
    };
    expect.assert_eq(&found);
}

/// The same numbers come from a second implementation (Python integers for PCG, `numpy.percentile`
/// for the bounds). SciPy 1.17's `bootstrap` with its own 200,000 draws gives [.516, .772], [.496,
/// .825] and p .034.
#[test]
fn ten_queries_and_one_without_instances() {
    check(
        &[
            (9, 10),
            (4, 10),
            (30, 40),
            (2, 4),
            (5, 5),
            (0, 0),
            (1, 6),
            (7, 8),
            (11, 20),
            (3, 3),
            (6, 12),
        ],
        expect![[r#"
            0.6610169491525424 [0.5185185185185185, 0.7743932329029173]
            0.6641666666666667 [0.5, 0.8274999999999999]
            p 0.030396960303969604 from 10 queries
        "#]],
    );
}

/// As above; SciPy gives [.506, .607] for the fraction over instances and p .036.
#[test]
fn an_odd_number_of_queries() {
    check(
        &[
            (6, 10),
            (4, 9),
            (7, 9),
            (3, 7),
            (11, 20),
            (5, 8),
            (2, 6),
            (8, 15),
            (9, 14),
            (10, 17),
            (5, 12),
            (6, 9),
            (7, 13),
        ],
        expect![[r#"
            0.5570469798657718 [0.506578947368421, 0.6075949367088608]
            0.5496421250946139 [0.4862822308410544, 0.6129355376272797]
            p 0.0347965203479652 from 13 queries
        "#]],
    );
}

/// All draws are 1, so `p` would be 2 / 10,001 whatever the number of queries; for five queries the
/// smallest value of a sign test is 2 × .5^5.
#[test]
fn full_agreement_of_few_queries_proves_little() {
    check(
        &[(3, 3), (1, 1), (8, 8), (2, 2), (4, 4)],
        expect![[r#"
        1 [1.0, 1.0]
        1 [1.0, 1.0]
        p 0.0625 from 5 queries
    "#]],
    );
}

/// The sums of such draws are rounded.
#[test]
fn equal_draws_detect_no_difference() {
    for n_verdicts in [3, 10] {
        let query = QueryVerdictCounts {
            n_agreeing: 1,
            n_verdicts,
        };
        for n_queries in 2..6 {
            let found = bootstrap_fraction(&vec![query; n_queries]).unwrap();
            assert_eq!(found.detectable_difference, None);
        }
    }
}

#[test]
fn full_disagreement_is_as_clear_as_full_agreement() {
    check(
        &[(0, 3); 20],
        expect![[r#"
        0 [0.0, 0.0]
        0 [0.0, 0.0]
        p 0.00019998000199980003 from 20 queries
    "#]],
    );
}

#[test]
fn one_query_bounds_nothing() {
    check(
        &[(2, 3)],
        expect![[r#"
        0.6666666666666666 [0.0, 1.0]
        0.6666666666666666 [0.0, 1.0]
        p 1 from 1 queries
    "#]],
    );
}

#[test]
fn without_a_judged_instance_there_is_no_fraction() {
    check(&[(0, 0), (0, 0)], expect!["nothing judged"]);
}

/// From the test suite of PCG's C version: 0x86b1da1d72062b68, 0x1304aa46c9853d39. With
/// n = 10 the halves of the first are .526 and .445 of 2^32, of the second .074 and .787.
#[test]
fn draws_come_from_the_reference_stream() {
    let mut draws = BootstrapSampler::new(10);
    assert_eq!([draws.pair(), draws.pair()], [[5, 4], [0, 7]]);
}

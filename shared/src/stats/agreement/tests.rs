use super::*;

/// Each string has the ratings of one rater, with one column for each item and `.` for a missing
/// rating. Each item is a group of its own.
fn rated(raters: &[&str]) -> Vec<ItemRatings> {
    let code = |it: u8| (it != b'.').then_some(it);
    let n = raters[0].len();
    let ratings = |at: usize| raters.iter().map(|it| code(it.as_bytes()[at])).collect();
    (0..n)
        .map(|at| ItemRatings {
            group: at as u32,
            ratings: ratings(at),
        })
        .collect()
}

/// Each row has the number of raters for each category of one item.
fn counted(rows: &[&[usize]]) -> Vec<ItemRatings> {
    let one = |row: &[usize]| {
        let each = row.iter().zip(0_u8..);
        let each = each.flat_map(|(&n, category)| std::iter::repeat_n(Some(category), n));
        each.collect()
    };
    let rows = rows.iter().zip(0..);
    rows.map(|(row, group)| ItemRatings {
        group,
        ratings: one(row),
    })
    .collect()
}

#[track_caller]
fn check(found: Option<AgreementCoefficient>, value: f64, interval: [f64; 2]) {
    let found = found.unwrap();
    let near = |a: f64, b: f64| (a - b).abs() < 0.000_05;
    assert!(near(found.estimate.value, value), "{found:?}");
    let bounds = found.estimate.interval.iter().zip(interval);
    assert!(bounds.into_iter().all(|(a, b)| near(*a, b)), "{found:?}");
}

/// Krippendorff (2011), section A: .095. The bounds here and below are those of a second
/// implementation (Python integers for PCG, `numpy.percentile`, the formulas over lists of
/// ratings).
#[test]
fn krippendorffs_two_observers_of_binary_data() {
    let rated = rated(&["0100000010", "1110010000"]);
    let found = krippendorff_alpha(&rated, RatingScaleLevel::Nominal);
    check(found, 0.0952, [-0.4615, 0.6275]);
    // Draws of items that both raters rated 0.
    assert_eq!(found.unwrap().n_undefined, 6);
    check(cohen_kappa(&rated, [0, 1]), 0.0909, [-0.4, 0.6154]);
}

/// Krippendorff (2011), section B: .692.
#[test]
fn krippendorffs_two_observers_of_nominal_data() {
    let found = krippendorff_alpha(
        &rated(&["aabbdcccedda", "babbbccceddd"]),
        RatingScaleLevel::Nominal,
    );
    let value = found.unwrap().estimate.value;
    assert!((value - 0.6920).abs() < 0.000_05, "{value}");
}

fn four_observers() -> Vec<ItemRatings> {
    rated(&[
        "123321412...",
        "1233224125.3",
        ".3332342251.",
        "12332441251.",
    ])
}

/// Krippendorff (2011), sections C and D: nominal .743, ordinal .815, interval .849. The Python
/// package `krippendorff` 0.9 has the same digits.
#[test]
fn krippendorffs_four_observers_with_missing_data() {
    let rated = four_observers();
    for (metric, value, interval) in [
        (RatingScaleLevel::Nominal, 0.7434, [0.4143, 1.0]),
        (RatingScaleLevel::Ordinal, 0.8154, [0.4509, 1.0]),
        (RatingScaleLevel::Interval, 0.8491, [0.4184, 1.0]),
    ] {
        check(krippendorff_alpha(&rated, metric), value, interval);
    }
    check(mean_pairwise_agreement(&rated), 0.8182, [0.5909, 1.0]);
    check(fleiss_kappa(&rated), 0.7625, [0.4404, 1.0]);
    // The last item has one rating.
    assert_eq!(mean_pairwise_agreement(&rated).unwrap().n_items, 11);
}

/// Fleiss (1971), table 1: psychiatrists and diagnoses; P̄ = .556, κ = .430.
const DIAGNOSES: [&[usize]; 30] = [
    &[0, 0, 0, 6, 0],
    &[0, 3, 0, 0, 3],
    &[0, 1, 4, 0, 1],
    &[0, 0, 0, 0, 6],
    &[0, 3, 0, 3, 0],
    &[2, 0, 4, 0, 0],
    &[0, 0, 4, 0, 2],
    &[2, 0, 3, 1, 0],
    &[2, 0, 0, 4, 0],
    &[0, 0, 0, 0, 6],
    &[1, 0, 0, 5, 0],
    &[1, 1, 0, 4, 0],
    &[0, 3, 3, 0, 0],
    &[1, 0, 0, 5, 0],
    &[0, 2, 0, 3, 1],
    &[0, 0, 5, 0, 1],
    &[3, 0, 0, 1, 2],
    &[5, 1, 0, 0, 0],
    &[0, 2, 0, 4, 0],
    &[1, 0, 2, 0, 3],
    &[0, 0, 0, 0, 6],
    &[0, 1, 0, 5, 0],
    &[0, 2, 0, 1, 3],
    &[2, 0, 0, 4, 0],
    &[1, 0, 0, 4, 1],
    &[0, 5, 0, 1, 0],
    &[4, 0, 0, 0, 2],
    &[0, 2, 0, 4, 0],
    &[1, 0, 5, 0, 0],
    &[0, 0, 0, 0, 6],
];

#[test]
fn fleiss_six_psychiatrists() {
    let rated = counted(&DIAGNOSES);
    check(mean_pairwise_agreement(&rated), 0.5556, [0.4756, 0.6422]);
    check(fleiss_kappa(&rated), 0.4302, [0.3147, 0.5249]);
}

/// With five patients per group, the value is the same and the bounds differ.
#[test]
fn things_of_a_group_are_drawn_together() {
    let mut rated = counted(&DIAGNOSES);
    rated.iter_mut().for_each(|it| it.group /= 5);
    check(fleiss_kappa(&rated), 0.4302, [0.3356, 0.5008]);
    let mut rated = four_observers();
    rated.iter_mut().for_each(|it| it.group /= 3);
    check(
        krippendorff_alpha(&rated, RatingScaleLevel::Nominal),
        0.7434,
        [0.5872, 0.8958],
    );
}

/// The example of Wikipedia's article on Fleiss' κ: .210.
#[test]
fn fourteen_raters() {
    let rated = counted(&[
        &[0, 0, 0, 0, 14],
        &[0, 2, 6, 4, 2],
        &[0, 0, 3, 5, 6],
        &[0, 3, 9, 2, 0],
        &[2, 2, 8, 1, 1],
        &[7, 7, 0, 0, 0],
        &[3, 2, 6, 3, 0],
        &[2, 5, 3, 2, 2],
        &[6, 5, 2, 1, 0],
        &[0, 2, 2, 3, 7],
    ]);
    check(fleiss_kappa(&rated), 0.2099, [0.0422, 0.3694]);
}

/// Cohen (1960), table 2: p_o = .70, p_e = .41, κ = .492.
#[test]
fn cohens_two_judges() {
    let table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]];
    let mut pairs = Vec::new();
    for (row, first) in table.iter().zip(0_u8..) {
        for (&n, second) in row.iter().zip(0_u8..) {
            pairs.extend(std::iter::repeat_n(vec![Some(first), Some(second)], n));
        }
    }
    let rated: Vec<ItemRatings> = pairs
        .into_iter()
        .zip(0..)
        .map(|(ratings, group)| ItemRatings { group, ratings })
        .collect();
    check(cohen_kappa(&rated, [0, 1]), 0.4915, [0.3902, 0.5917]);
    assert_eq!(mean_pairwise_agreement(&rated).unwrap().estimate.value, 0.7);
}

#[test]
fn one_category_or_no_pair_leaves_nothing_to_say() {
    let same = rated(&["0000", "0000"]);
    assert_eq!(cohen_kappa(&same, [0, 1]), None);
    assert_eq!(fleiss_kappa(&same), None);
    assert_eq!(krippendorff_alpha(&same, RatingScaleLevel::Ordinal), None);
    check(mean_pairwise_agreement(&same), 1.0, [1.0, 1.0]);
    let apart = rated(&["01..", "..10"]);
    assert_eq!(mean_pairwise_agreement(&apart), None);
    assert_eq!(cohen_kappa(&apart, [0, 1]), None);
    assert_eq!(fleiss_kappa(&[]), None);
    assert_eq!(krippendorff_alpha(&apart, RatingScaleLevel::Nominal), None);
}

/// A third of the draws lack the only item that differs, and are undefined.
#[test]
fn too_many_undefined_draws_bound_nothing() {
    let found =
        krippendorff_alpha(&rated(&["000000", "001000"]), RatingScaleLevel::Nominal).unwrap();
    assert_eq!(found.n_undefined, 3305);
    assert_eq!(found.estimate.interval, [-1.0, 1.0]);
    let mut one = rated(&["01", "00"]);
    one[1].group = 0;
    assert_eq!(
        mean_pairwise_agreement(&one).unwrap().estimate.interval,
        [0.0, 1.0]
    );
}

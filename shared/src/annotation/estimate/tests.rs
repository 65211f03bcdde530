use super::super::event::{AnnotationEventAction, ItemAdjudication};
use super::super::fixture::{self, decision_action, log_entries_of_answers, log_entry_at_second};
use super::super::judgments::AnnotatorVote;
use super::super::sample::draw_sample_from_frame;
use super::super::task::{
    AnnotationItemRole, OversampledMarginSize, SamplingDesign, StudyInstanceRef,
};
use super::super::{AnnotatorAnswer, PersonId, seeded_random};
use super::*;
use crate::annotation::sampling_frame::SamplingFrameInstance;
use crate::probe::{Axiom, AxiomVariant};

fn preference(letter: char) -> Option<DocumentPreference> {
    answer(letter).and_then(AnnotatorAnswer::preference)
}

fn answer(letter: char) -> Option<AnnotatorAnswer> {
    match letter {
        '1' => Some(AnnotatorAnswer::First),
        '2' => Some(AnnotatorAnswer::Second),
        '=' => Some(AnnotatorAnswer::Equal),
        '?' => Some(AnnotatorAnswer::CannotSay),
        _ => None,
    }
}

/// Each row has the query, 1/π, the answer of each annotator, that of a ranker and that of the
/// relevance judgments.
fn items(rows: &str) -> Vec<SampledItemWithPreferences> {
    let row = |row: &str| {
        let parts: Vec<&str> = row.split_whitespace().collect();
        let one = |at: usize| preference(parts[at].chars().next().unwrap());
        let votes = parts[2].chars().zip(1..).filter_map(|(letter, person)| {
            Some(AnnotatorVote {
                person: PersonId(person),
                answer: answer(letter)?,
                reason_rating: None,
            })
        });
        SampledItemWithPreferences {
            probe: Probe::Axiom(Axiom::Tfc1),
            claim: ScoreClaimKind::Higher,
            query: parts[0].parse().unwrap(),
            inclusion_probability: 1.0 / parts[1].parse::<f64>().unwrap(),
            answers: ItemAnswers {
                votes: votes.collect(),
                ..ItemAnswers::default()
            },
            ranker_preferences: vec![one(3)],
            qrels_preference: one(4),
        }
    };
    rows.lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .map(row)
        .collect()
}

const ROWS: &str = "
    0 2 11. 1 1
    0 2 12. 1 =
    0 4 122 2 2
    1 4 .1= 1 .
    1 2 === 1 =
    1 2 ??. 2 1
    2 8 1.1 1 1
    2 2 2.2 1 2
    3 2 1=1 2 1
    3 4 .11 1 =
    4 2 ... 1 1
    4 2 112 2 2
";

#[track_caller]
fn check(
    found: Option<SamplingFrameShareEstimate>,
    value: f64,
    interval: [f64; 2],
    with_people: Option<[f64; 2]>,
) {
    let found = found.unwrap();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let both = |a: [f64; 2], b: [f64; 2]| near(a[0], b[0]) && near(a[1], b[1]);
    assert!(near(found.estimate.value, value), "{found:?}");
    assert!(both(found.estimate.interval, interval), "{found:?}");
    assert_eq!(
        found.interval_over_annotators.is_some(),
        with_people.is_some()
    );
    let people = found.interval_over_annotators.zip(with_people);
    assert!(people.is_none_or(|(a, b)| both(a, b)), "{found:?}");
}

/// All numbers are those of a second implementation (Python integers for PCG, `numpy.percentile`).
/// By hand, for axiom and annotators: of the weights 2, 4, 2, 8, 2, 2, 4, 2 of the items with a
/// consensus, 2 + 8 + 2 + 4 + 2 agree, that is 18 of 26.
#[test]
fn both_intervals_are_those_of_a_second_implementation() {
    let found = compute_agreement_estimates(&items(ROWS)).overall;
    let axiom = found.axiom_vs_people;
    check(
        axiom.agreement,
        18.0 / 26.0,
        [0.333_333_333_333, 0.923_076_923_077],
        Some([0.266_666_666_667, 0.953_571_428_571]),
    );
    check(
        axiom.without_ties,
        0.75,
        [0.5, 1.0],
        Some([0.357_142_857_143, 1.0]),
    );
    check(
        axiom.by_vote,
        0.65625,
        [0.458_333_333_333, 0.823_529_411_765],
        Some([0.288_888_888_889, 0.870_370_370_370]),
    );
    let ranker = found.rankers_vs_people[0];
    check(
        ranker.agreement,
        18.0 / 26.0,
        [0.285_714_285_714, 0.866_666_666_667],
        Some([0.285_714_285_714, 0.857_142_857_143]),
    );
    check(
        ranker.by_vote,
        0.635_416_666_667,
        [0.424_242_424_242, 0.754_385_964_912],
        Some([0.352_941_176_471, 0.784_313_725_490]),
    );
    let judgements = found.axiom_vs_qrels;
    check(judgements.agreement, 0.5, [0.3125, 0.7], None);
    check(
        judgements.without_ties,
        0.666_666_666_667,
        [0.454_545_454_545, 0.888_888_888_889],
        None,
    );
    assert_eq!(judgements.by_vote, None);
    let whole = axiom.agreement.unwrap();
    assert_eq!((whole.n_items, whole.n_queries), (8, 5));
    // 26² over 5 · 2² + 2 · 4² + 8².
    assert!((whole.n_effective - 676.0 / 116.0).abs() < 1e-12);
    assert_eq!(
        found.counts,
        ItemConsensusCounts {
            n_items: 12,
            n_preference: 7,
            n_equal: 1,
            n_split: 2,
            n_cannot_say: 1,
            n_unanswered: 1,
        }
    );
}

#[test]
fn an_adjudication_decides_and_leaves_the_votes() {
    let mut items = items("0 2 12. 1 1\n1 2 11. 1 1");
    let before = compute_agreement_estimates(&items).overall.axiom_vs_people;
    assert_eq!(before.agreement.unwrap().n_items, 1);
    items[0].answers.adjudications = vec![AnnotatorAnswer::Second];
    let after = compute_agreement_estimates(&items).overall.axiom_vs_people;
    assert_eq!(after.agreement.unwrap().estimate.value, 0.5);
    assert_eq!(after.by_vote, before.by_vote);
}

#[test]
fn a_tie_is_with_a_claim_that_allows_it() {
    let mut items = items("0 1 == 1 =\n1 1 == = 1");
    let found = compute_agreement_estimates(&items).overall;
    assert_eq!(found.axiom_vs_people.agreement.unwrap().estimate.value, 0.0);
    assert_eq!(found.axiom_vs_people.without_ties, None);
    assert_eq!(
        found.rankers_vs_people[0].agreement.unwrap().estimate.value,
        0.5
    );
    items
        .iter_mut()
        .for_each(|it| it.claim = ScoreClaimKind::NotLower);
    let found = compute_agreement_estimates(&items).overall;
    assert_eq!(found.axiom_vs_people.agreement.unwrap().estimate.value, 1.0);
}

#[test]
fn too_little_bounds_nothing() {
    let one = compute_agreement_estimates(&items("0 2 11. 1 1\n0 2 2.. 1 1")).overall;
    let agreement = one.axiom_vs_people.agreement.unwrap();
    assert_eq!(agreement.estimate.interval, [0.0, 1.0]);
    assert_eq!(agreement.interval_over_annotators, Some([0.0, 1.0]));
    let alone = compute_agreement_estimates(&items("0 2 1 1 1\n1 2 2 1 1")).overall;
    assert_eq!(
        alone
            .axiom_vs_people
            .agreement
            .unwrap()
            .interval_over_annotators,
        None
    );
    let nothing = compute_agreement_estimates(&[]);
    assert_eq!(
        nothing.overall.axiom_vs_people,
        PairwiseAgreementRates::default()
    );
    assert_eq!(nothing.by_probe, []);
}

#[test]
fn the_share_of_those_who_were_asked() {
    let mut items = items("0 2 111 1 1\n1 4 11. 1 1");
    items[0].answers.votes[0].reason_rating = Some(AxiomReasonRating::Matters);
    items[0].answers.votes[1].reason_rating = Some(AxiomReasonRating::DoesNotMatter);
    items[1].answers.votes[1].reason_rating = Some(AxiomReasonRating::Matters);
    let found = compute_agreement_estimates(&items)
        .overall
        .share_reason_matters
        .unwrap();
    // (2 · ½ + 4 · 1) / 6.
    assert!((found.estimate.value - 5.0 / 6.0).abs() < 1e-12);
}

/// 300 instances of 30 queries, with one vote each. Annotators agree with the claim more often the
/// larger the margin is, and in some queries more than in others. The mean over 40 samples of 60 by
/// margin is the true value, and nearly all intervals contain it.
#[test]
fn samples_tell_the_truth_about_the_frame() {
    let mut random = seeded_random::seeded_generator(5, "truth");
    let mut unit =
        || seeded_random::random_number_below(&mut random, 1 << 30) as f64 / f64::from(1 << 30);
    let ease: Vec<f64> = (0..30).map(|_| 0.6 * unit()).collect();
    let mut frame = Vec::new();
    let mut truth = Vec::new();
    for at in 0..300 {
        let margin = 4.0 * unit();
        frame.push(SamplingFrameInstance {
            instance: StudyInstanceRef {
                probe: Probe::Axiom(Axiom::Tfc1),
                variant: AxiomVariant::Fixed,
                index: at,
            },
            query: (at % 30) as u32,
            margin: Some(margin),
            is_disagreement: None,
        });
        truth.push(unit() < ease[at as usize % 30] + 0.1 * margin);
    }
    let share = truth.iter().filter(|it| **it).count() as f64 / 300.0;
    let design = SamplingDesign::WeightedByMargin {
        ranker: 0,
        weighting: OversampledMarginSize::LargeMargins,
    };
    let (mut sum, mut n_held) = (0.0, 0);
    for seed in 0..40 {
        let drawn = draw_sample_from_frame(&frame, &design, 60, seed).unwrap();
        let drawn = drawn.iter().map(|it| SampledItemWithPreferences {
            probe: Probe::Axiom(Axiom::Tfc1),
            claim: ScoreClaimKind::Higher,
            query: frame[it.index].query,
            inclusion_probability: it.inclusion_probability,
            answers: ItemAnswers {
                votes: vec![AnnotatorVote {
                    person: PersonId(1),
                    answer: if truth[it.index] {
                        AnnotatorAnswer::First
                    } else {
                        AnnotatorAnswer::Second
                    },
                    reason_rating: None,
                }],
                ..ItemAnswers::default()
            },
            ranker_preferences: Vec::new(),
            qrels_preference: None,
        });
        let drawn: Vec<SampledItemWithPreferences> = drawn.collect();
        let polls = SampledItemVotes::from_items(&drawn.iter().collect::<Vec<_>>());
        let found = polls.estimate_hajek_share(|it, times| {
            Some(bool_to_number(
                it.consensus_with_annotator_weights(times)? == DocumentPreference::First,
            ))
        });
        let found = found.unwrap().estimate;
        sum += found.value;
        let [low, high] = found.interval;
        n_held += u32::from(low <= share && share <= high);
    }
    let mean = sum / 40.0;
    // The error of one estimate is about .07, that of the mean of 40 is about .011.
    assert!((mean - share).abs() < 0.04, "{mean} is not {share}");
    assert!(n_held >= 34, "{n_held}");
}

#[test]
fn what_a_study_and_a_log_say_of_an_item() {
    let study = fixture::fixture_study_with_tfc1();
    let instances = study
        .instances_of_probe(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed)
        .unwrap();
    let items: Vec<AnnotationItem> = (0..instances.len())
        .map(|at| {
            fixture::tfc1_annotation_item(
                at as u64,
                0,
                AnnotationItemRole::Sampled {
                    inclusion_probability: 0.5,
                },
            )
        })
        .chain([fixture::tfc1_annotation_item(
            0,
            0,
            AnnotationItemRole::Gold {
                answer: AnnotatorAnswer::First,
            },
        )])
        .collect();
    let mut all = log_entries_of_answers(&[
        (1, 0, AnnotatorAnswer::First),
        (2, 0, AnnotatorAnswer::Second),
    ]);
    all.push(log_entry_at_second(
        9,
        9,
        AnnotationEventAction::Adjudicated(ItemAdjudication {
            item: ItemNo(0),
            answer: AnnotatorAnswer::First,
            note: String::new(),
            replaces: Vec::new(),
        }),
    ));
    all.push(log_entry_at_second(
        10,
        1,
        decision_action(1, AnnotatorAnswer::Equal, &[]),
    ));
    let found = load_sampled_item_preferences(
        &study,
        &StudyPageControls::default(),
        &items,
        &AnnotationLog::from_entries(all),
    )
    .unwrap();
    assert_eq!(found.len(), instances.len());
    assert_eq!(
        found[0].answers.adjudicated_or_majority_preference(),
        ItemConsensus::Prefers(DocumentPreference::First)
    );
    assert_eq!(
        found[0].ranker_preferences,
        [Some(DocumentPreference::First); 2]
    );
    // Only document 1 has a grade for the first query, and no document for any other.
    assert!(found.iter().all(|it| it.qrels_preference.is_none()));
    let out = [fixture::tfc1_annotation_item(
        999,
        0,
        AnnotationItemRole::Sampled {
            inclusion_probability: 0.5,
        },
    )];
    assert!(
        load_sampled_item_preferences(
            &study,
            &StudyPageControls::default(),
            &out,
            &AnnotationLog::default()
        )
        .is_err()
    );
}

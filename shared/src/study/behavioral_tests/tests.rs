use super::*;
use crate::study::fixture;

fn study() -> Study {
    let mut definition = fixture::fixture_study_definition(10);
    definition.probes = Probe::parse_list("tfc1,match", false).unwrap();
    let grades = [("1", 3), ("2", 1), ("3", 2), ("4", 0), ("5", 2), ("6", 0)];
    let queries = ["river bank", "mud"];
    let collection =
        fixture::fixture_collection_with_grades(&queries, &fixture::RIVER_TEXTS, &grades);
    fixture::make_fixture_study(definition, collection)
}

/// Counts by hand over the scores of the study, in another order.
#[test]
fn effects_are_counted_by_delta() {
    let study = study();
    for delta in [
        TieThreshold::TunedPerRanker,
        TieThreshold::Fixed { width: 0.0 },
    ] {
        let asking = BehavioralTestOptions {
            tie_threshold: delta,
            ..BehavioralTestOptions::default()
        };
        let found = study.behavioral_tests(&asking).unwrap();
        assert_eq!((found.rows.len(), found.rankers.len()), (18, 2));
        let mut n_tests = 0;
        for row in &found.rows {
            let instances = study
                .instances_of_probe(row.probe, AxiomVariant::Code)
                .unwrap();
            assert_eq!(row.n_samples, instances.len() as u64);
            for ((effect, scores), asked) in
                row.effects.iter().zip(&study.scores).zip(&found.rankers)
            {
                let width = asked.tie_threshold.unwrap();
                let mut by_hand = [0; 3];
                let mut sum = 0.0;
                for at in (0..instances.len()).rev() {
                    let score = |text| {
                        let place = study
                            .pairs
                            .position_of_pair(instances.query_of_instance(at), text);
                        scores.score_at_position(place.unwrap()).unwrap()
                    };
                    let texts = instances.docs_of_instance(at);
                    let lead = score(texts[0]) - score(texts[1]);
                    by_hand[usize::from(lead <= width) + usize::from(lead < -width)] += 1;
                    sum += lead;
                }
                let Some(effect) = effect else {
                    assert!(instances.is_empty());
                    continue;
                };
                n_tests += u64::from(effect.p_samples.is_some());
                let counts = [effect.n_positive, effect.n_tied, effect.n_negative];
                assert_eq!(counts, by_hand);
                let n = effect.n_scored() as f64;
                let score = (by_hand[0] as f64 - by_hand[2] as f64) / n;
                assert!((effect.score.value - score).abs() < 1e-12);
                assert!((effect.mean - sum / n).abs() < 1e-9);
            }
        }
        assert_eq!(found.n_tests, n_tests);
        assert!(n_tests > 10);
    }
}

#[test]
fn delta_is_the_median_of_adjacent_differences() {
    let study = study();
    let found = study
        .behavioral_tests(&BehavioralTestOptions::default())
        .unwrap();
    let mut differences = Vec::new();
    for query in 0..2 {
        let values = study.scores[0].scores_in_pair_order();
        let mut values: Vec<f64> = values[study.pairs.pair_range_of_query(query)]
            .iter()
            .flatten()
            .copied()
            .collect();
        values.sort_by(f64::total_cmp);
        differences.extend(values.windows(2).map(|it| it[1] - it[0]));
    }
    differences.sort_by(f64::total_cmp);
    assert_eq!(differences.len(), 10);
    let middle = (differences[4] + differences[5]) / 2.0;
    assert_eq!(found.rankers[0].tie_threshold, Some(middle));
}

#[test]
fn queries_and_samples_may_disagree() {
    let one = |value: f64, interval, p_bonferroni| BehavioralEffect {
        n_positive: 1,
        n_tied: 0,
        n_negative: 0,
        n_unscored: 0,
        score: EstimateWithInterval { value, interval },
        mean: 0.1,
        median: 0.1,
        p_samples: p_bonferroni,
        p_bonferroni,
        p_queries: 0.2,
        n_queries: 3,
    };
    assert!(one(0.2, [-0.1, 0.4], Some(1e-9)).has_conflicting_tests());
    assert!(!one(0.2, [0.1, 0.4], Some(1e-9)).has_conflicting_tests());
    assert!(one(0.2, [0.1, 0.4], Some(0.5)).has_conflicting_tests());
    assert!(!one(0.0, [-0.1, 0.1], None).has_conflicting_tests());
}

#[test]
fn a_single_query_bounds_the_score_by_its_range() {
    let counts = EffectCounts {
        positive: 1,
        neutral: 1,
        ..EffectCounts::default()
    };
    let by_query = [counts.since(EffectCounts::default())];
    let score = |kind| {
        let effect = effect_of(kind, &[0.5, 0.0], counts, &by_query).unwrap();
        (effect.score.value, effect.score.interval)
    };
    assert_eq!(score(ScoreClaimKind::Higher), (0.5, [-1.0, 1.0]));
    assert_eq!(score(ScoreClaimKind::Different), (0.5, [0.0, 1.0]));
}

#[test]
fn pairs_of_one_source_are_one_unit() {
    let mut units = BootstrapUnits::default();
    let one = |agreeing| QueryVerdictCounts {
        n_agreeing: agreeing,
        n_verdicts: 2,
    };
    for (group, agreeing) in [
        (Some("a"), 2),
        (None, 0),
        (Some("b"), 1),
        (Some("a"), 1),
        (None, 2),
    ] {
        units.add(group, one(agreeing));
    }
    let found = units
        .counted
        .iter()
        .map(|it| (it.n_agreeing, it.n_verdicts));
    assert_eq!(found.collect::<Vec<_>>(), [(3, 4), (0, 2), (1, 2), (2, 2)]);
}

#[test]
fn a_width_that_is_none_is_refused() {
    let asking = BehavioralTestOptions {
        tie_threshold: TieThreshold::Fixed { width: f64::NAN },
        ..BehavioralTestOptions::default()
    };
    let error = study().behavioral_tests(&asking).unwrap_err().to_string();
    assert!(error.contains("tie_threshold"), "{error}");
}

//! Training examples, and batches of them that depend only on the seed and the number of the
//! update.
//!
//! An example is a positive row and its negative rows, where a row is the index of a pair of query
//! and document in the caller's data.

use serde::{Deserialize, Serialize};

use super::error::TrainingError;
use crate::random::RandomStream;

/// Positive rows, one of which is drawn, and the negative rows to draw from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingGroup {
    /// The rows of relevant documents: one, or all of a query.
    pub positives: Vec<usize>,
    /// The rows of documents of lower grade, of random documents or of hard negatives.
    pub negatives: Vec<usize>,
}

/// The examples from which batches are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrainingExamples {
    /// Positive row and negative row.
    Pairs(Vec<(usize, usize)>),
    /// A positive row and n negative rows are drawn from a group.
    Groups(Vec<TrainingGroup>),
}

impl TrainingExamples {
    /// Returns all pairs of a row with a higher grade and one with a lower grade of the same query,
    /// in the order of the rows. `queries` has row and grade of each candidate.
    pub fn pairs_from_grades(queries: &[Vec<(usize, i32)>]) -> TrainingExamples {
        let mut pairs = Vec::new();
        for candidates in queries {
            for &(positive, higher) in candidates {
                let lower = candidates.iter().filter(|it| it.1 < higher);
                pairs.extend(lower.map(|it| (positive, it.0)));
            }
        }
        TrainingExamples::Pairs(pairs)
    }

    /// Returns a group for each row with a grade of at least 1, with the rows of lower grade of the
    /// same query as negatives; rows without negatives are skipped.
    pub fn positive_groups_from_grades(queries: &[Vec<(usize, i32)>]) -> TrainingExamples {
        let mut groups = Vec::new();
        for candidates in queries {
            for &(positive, grade) in candidates.iter().filter(|it| it.1 > 0) {
                let negatives = rows(candidates, |it| it < grade);
                if !negatives.is_empty() {
                    groups.push(TrainingGroup {
                        positives: vec![positive],
                        negatives,
                    });
                }
            }
        }
        TrainingExamples::Groups(groups)
    }

    /// Returns a group for each query: rows with a grade of at least 1 and the others. Queries
    /// without rows of both kinds are skipped.
    pub fn query_groups_from_grades(queries: &[Vec<(usize, i32)>]) -> TrainingExamples {
        let groups = queries.iter().map(|candidates| TrainingGroup {
            positives: rows(candidates, |it| it > 0),
            negatives: rows(candidates, |it| it <= 0),
        });
        let complete = |it: &TrainingGroup| !it.positives.is_empty() && !it.negatives.is_empty();
        TrainingExamples::Groups(groups.filter(complete).collect())
    }

    /// Replaces the negatives of each pair or group by those that `select` returns of its positives
    /// and its negatives. Positives without negatives are left out.
    pub fn select_negatives<E>(
        self,
        mut select: impl FnMut(&[usize], Vec<usize>) -> Result<Vec<usize>, E>,
    ) -> Result<TrainingExamples, E> {
        match self {
            TrainingExamples::Pairs(pairs) => {
                let mut selected = Vec::new();
                for of_positive in pairs.chunk_by(|one, next| one.0 == next.0) {
                    let positive = of_positive[0].0;
                    let negatives = of_positive.iter().map(|it| it.1).collect();
                    let negatives = select(&[positive], negatives)?;
                    selected.extend(negatives.into_iter().map(|it| (positive, it)));
                }
                Ok(TrainingExamples::Pairs(selected))
            }
            TrainingExamples::Groups(mut groups) => {
                for group in &mut groups {
                    let negatives = std::mem::take(&mut group.negatives);
                    group.negatives = select(&group.positives, negatives)?;
                }
                groups.retain(|it| !it.negatives.is_empty());
                Ok(TrainingExamples::Groups(groups))
            }
        }
    }

    /// Returns the rows of all examples in their order; a row may occur more than once.
    pub fn rows(&self) -> Vec<usize> {
        match self {
            TrainingExamples::Pairs(pairs) => pairs.iter().flat_map(|it| [it.0, it.1]).collect(),
            TrainingExamples::Groups(groups) => {
                let rows = groups
                    .iter()
                    .flat_map(|it| it.positives.iter().chain(&it.negatives));
                rows.copied().collect()
            }
        }
    }

    /// Returns the number of pairs or groups.
    pub fn len(&self) -> usize {
        match self {
            TrainingExamples::Pairs(pairs) => pairs.len(),
            TrainingExamples::Groups(groups) => groups.len(),
        }
    }

    /// Whether there are no pairs or groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn rows(candidates: &[(usize, i32)], is_kept: impl Fn(i32) -> bool) -> Vec<usize> {
    let kept = candidates.iter().filter(|it| is_kept(it.1));
    kept.map(|it| it.0).collect()
}

/// Returns the rows of the `depth` highest scores among those of at most `positive_score` −
/// `margin`, best first; rows with equal scores in ascending order. A negative above that bound may
/// be a relevant document without a judgment (Qu et al. 2021, RocketQA). `negatives` has the row
/// and the score of each.
pub fn select_hard_negatives(
    negatives: &[(usize, f64)],
    positive_score: f64,
    margin: f64,
    depth: usize,
) -> Vec<usize> {
    let bound = positive_score - margin;
    let mut kept: Vec<(usize, f64)> = negatives
        .iter()
        .copied()
        .filter(|it| it.1 <= bound)
        .collect();
    kept.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    kept.into_iter().take(depth).map(|it| it.0).collect()
}

/// Returns a random permutation of 0 to n − 1 that maps no number to itself, unless n is 1: a
/// single cycle through all of them (Sattolo 1986).
pub fn random_cycle(n: usize, seed: u64) -> Vec<usize> {
    let stream = RandomChoice::Cycle.stream(seed, 0);
    let mut cycle: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        cycle.swap(last, stream.index_below(last as u64, last));
    }
    cycle
}

/// The order in which examples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamplingOrder {
    /// Each example of each batch is any of them, with equal probability.
    WithReplacement,
    /// All examples in a random order, then all of them in another one.
    Shuffled,
}

/// The numbers that a sampler needs besides examples and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerConfig {
    /// The order of the examples.
    pub order: SamplingOrder,
    /// The number of examples in a batch.
    pub batch_size: usize,
    /// The number of negatives of each positive; 1 for pairs.
    pub n_negatives: usize,
}

/// The rows of one update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledBatch {
    /// Row-major `[1 + n, b]`: the positives of b examples, their first negatives, their second
    /// negatives and so on.
    pub rows: Vec<usize>,
    /// The number b of examples.
    pub n_examples: usize,
    /// The number n of negatives of each example.
    pub n_negatives: usize,
}

/// What is drawn at random; the numbers of different choices are independent. Weights and dropout
/// of the networks have streams of their own.
#[derive(Clone, Copy)]
enum RandomChoice {
    /// The examples of a batch, with replacement.
    Example,
    /// The order of the examples in an epoch.
    EpochOrder,
    /// The positive row of a group.
    Positive,
    /// The negative rows of a group.
    Negative,
    /// A permutation without fixed points.
    Cycle,
}

impl RandomChoice {
    /// Selects the stream of a choice. Streams of weights and dropout have shorter paths.
    fn stream(self, seed: u64, step: u64) -> RandomStream {
        RandomStream::select(seed, &[u64::MAX, self as u64, step])
    }
}

/// Draws batches of examples. The batch of an update is a function of the seed and of the number of
/// updates before it.
#[derive(Clone, Debug)]
pub struct BatchSampler {
    examples: TrainingExamples,
    config: SamplerConfig,
    seed: u64,
    /// The number of an epoch and the order of its examples, computed once.
    epoch_order: Option<(u64, Vec<u32>)>,
}

impl BatchSampler {
    /// Creates a sampler, or returns an error if there is nothing to draw.
    pub fn new(
        examples: TrainingExamples,
        config: SamplerConfig,
        seed: u64,
    ) -> Result<BatchSampler, TrainingError> {
        let invalid = |reason: String| Err(TrainingError::InvalidExamples { reason });
        let most = u32::MAX as usize;
        if examples.is_empty() || examples.len() > most {
            return invalid(format!("there are {}, not 1 to {most}", examples.len()));
        }
        let SamplerConfig {
            batch_size,
            n_negatives,
            ..
        } = config;
        let n_rows = n_negatives.saturating_add(1).saturating_mul(batch_size);
        if batch_size == 0 || n_negatives == 0 || n_rows > most {
            let reason = format!("batches of {batch_size} with {n_negatives} negatives each");
            return invalid(reason);
        }
        match &examples {
            TrainingExamples::Pairs(_) if n_negatives != 1 => {
                return invalid(format!("pairs have one negative, not {n_negatives}"));
            }
            TrainingExamples::Pairs(_) => {}
            TrainingExamples::Groups(groups) => {
                let bad = |it: &TrainingGroup| it.positives.is_empty() || it.negatives.is_empty();
                if let Some(index) = groups.iter().position(bad) {
                    return invalid(format!("group {index} has no positives or no negatives"));
                }
            }
        }
        Ok(BatchSampler {
            examples,
            config,
            seed,
            epoch_order: None,
        })
    }

    /// Returns the number of pairs or groups.
    pub fn n_examples(&self) -> usize {
        self.examples.len()
    }

    /// Returns the largest row of all examples.
    pub fn largest_row(&self) -> usize {
        self.examples.rows().into_iter().max().unwrap_or(0)
    }

    /// Returns the batch of the update with `step` updates before it.
    pub fn sample(&mut self, step: u64) -> SampledBatch {
        let b = self.config.batch_size;
        let n = self.config.n_negatives;
        let mut rows = vec![0; (1 + n) * b];
        for at in 0..b {
            let example = self.draw_example(step, at);
            match &self.examples {
                TrainingExamples::Pairs(pairs) => (rows[at], rows[b + at]) = pairs[example],
                TrainingExamples::Groups(groups) => {
                    let group = &groups[example];
                    rows[at] = self.draw_positive(group, step, at);
                    let negatives = self.draw_negatives(group, step, at);
                    for (index, negative) in negatives.into_iter().enumerate() {
                        rows[(1 + index) * b + at] = negative;
                    }
                }
            }
        }
        SampledBatch {
            rows,
            n_examples: b,
            n_negatives: n,
        }
    }

    fn stream(&self, choice: RandomChoice, step: u64) -> RandomStream {
        choice.stream(self.seed, step)
    }

    /// Returns the index of the example at place `at` of a batch.
    fn draw_example(&mut self, step: u64, at: usize) -> usize {
        let n = self.examples.len();
        match self.config.order {
            SamplingOrder::WithReplacement => {
                let stream = self.stream(RandomChoice::Example, step);
                stream.index_below(at as u64, n)
            }
            SamplingOrder::Shuffled => {
                let position = step * self.config.batch_size as u64 + at as u64;
                let (epoch, place) = (position / n as u64, (position % n as u64) as usize);
                self.order_of_epoch(epoch)[place] as usize
            }
        }
    }

    /// Returns the order of the examples in an epoch: a Fisher-Yates shuffle.
    fn order_of_epoch(&mut self, epoch: u64) -> &[u32] {
        let is_known = self.epoch_order.as_ref().is_some_and(|it| it.0 == epoch);
        if !is_known {
            let mut order: Vec<u32> = (0..self.examples.len() as u32).collect();
            let stream = self.stream(RandomChoice::EpochOrder, epoch);
            for last in (1..order.len()).rev() {
                let other = stream.index_below(last as u64, last + 1);
                order.swap(last, other);
            }
            self.epoch_order = Some((epoch, order));
        }
        self.epoch_order.as_ref().map_or(&[], |it| &it.1)
    }

    fn draw_positive(&self, group: &TrainingGroup, step: u64, at: usize) -> usize {
        let stream = self.stream(RandomChoice::Positive, step);
        group.positives[stream.index_below(at as u64, group.positives.len())]
    }

    /// Returns n negatives of a group, without repetition as long as there are others.
    fn draw_negatives(&self, group: &TrainingGroup, step: u64, at: usize) -> Vec<usize> {
        let n = self.config.n_negatives;
        let mut rest = group.negatives.clone();
        let mut n_drawn = 0;
        let first = at * n;
        let stream = self.stream(RandomChoice::Negative, step);
        let draws = (first..first + n).map(|draw| {
            if n_drawn == rest.len() {
                n_drawn = 0;
            }
            let n_left = rest.len() - n_drawn;
            let other = stream.index_below(draw as u64, n_left);
            rest.swap(n_drawn, n_drawn + other);
            n_drawn += 1;
            rest[n_drawn - 1]
        });
        draws.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: [(usize, i32); 4] = [(3, 0), (4, 2), (5, 1), (6, 0)];

    fn sampler(
        examples: TrainingExamples,
        order: SamplingOrder,
        b: usize,
        n: usize,
    ) -> BatchSampler {
        let config = SamplerConfig {
            order,
            batch_size: b,
            n_negatives: n,
        };
        BatchSampler::new(examples, config, 1).unwrap()
    }

    #[test]
    fn a_cycle_leads_through_all_numbers() {
        for n in [1, 2, 3, 50] {
            let cycle = random_cycle(n, 4);
            assert_eq!(cycle, random_cycle(n, 4));
            let path = std::iter::successors(Some(0), |it| Some(cycle[*it]));
            let mut seen: Vec<usize> = path.take(n).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{cycle:?}");
        }
        assert_ne!(random_cycle(50, 4), random_cycle(50, 5));
    }

    fn ten_pairs() -> TrainingExamples {
        TrainingExamples::Pairs((0..10).map(|it| (it, 100 + it)).collect())
    }

    fn group(positives: &[usize], negatives: &[usize]) -> TrainingGroup {
        TrainingGroup {
            positives: positives.to_vec(),
            negatives: negatives.to_vec(),
        }
    }

    #[test]
    fn pairs_have_a_higher_and_a_lower_grade() {
        let queries = [QUERY.to_vec(), vec![(7, 1)], vec![(8, 0), (9, 1)]];
        let expected = [(4, 3), (4, 5), (4, 6), (5, 3), (5, 6), (9, 8)];
        assert_eq!(
            TrainingExamples::pairs_from_grades(&queries),
            TrainingExamples::Pairs(expected.to_vec())
        );
    }

    #[test]
    fn groups_have_a_positive_or_all_positives_of_a_query() {
        let queries = [QUERY.to_vec(), vec![(7, 1)]];
        assert_eq!(
            TrainingExamples::positive_groups_from_grades(&queries),
            TrainingExamples::Groups(vec![group(&[4], &[3, 5, 6]), group(&[5], &[3, 6])])
        );
        assert_eq!(
            TrainingExamples::query_groups_from_grades(&queries),
            TrainingExamples::Groups(vec![group(&[4, 5], &[3, 6])])
        );
    }

    #[test]
    fn hard_negatives_score_high_but_below_the_positive() {
        let negatives = [(1, 0.9), (2, 0.5), (3, 0.7), (4, 0.7), (5, f64::NAN)];
        assert_eq!(select_hard_negatives(&negatives, 0.9, 0.1, 2), [3, 4]);
        assert_eq!(select_hard_negatives(&negatives, 0.9, 0.0, 9), [1, 3, 4, 2]);
    }

    #[test]
    fn negatives_are_selected_for_each_positive() {
        let even = |positives: &[usize], mut negatives: Vec<usize>| {
            negatives.retain(|it| it % 2 == 0 && *it < 10 * positives[0]);
            Ok::<_, String>(negatives)
        };
        let pairs = vec![(1, 4), (1, 5), (1, 12), (2, 4), (2, 12), (3, 5)];
        let pairs = TrainingExamples::Pairs(pairs).select_negatives(even);
        let expected = TrainingExamples::Pairs(vec![(1, 4), (2, 4), (2, 12)]);
        assert_eq!(pairs, Ok(expected));
        let groups = vec![group(&[1, 7], &[2, 3, 4]), group(&[2], &[3, 5])];
        let groups = TrainingExamples::Groups(groups).select_negatives(even);
        let groups = groups.unwrap();
        assert_eq!(
            groups,
            TrainingExamples::Groups(vec![group(&[1, 7], &[2, 4])])
        );
        assert_eq!(groups.rows(), [1, 7, 2, 4]);
        let refuse = |_: &[usize], _| Err("no score");
        assert_eq!(ten_pairs().select_negatives(refuse), Err("no score"));
    }

    #[test]
    fn a_pair_stays_together() {
        let mut sampler = sampler(ten_pairs(), SamplingOrder::WithReplacement, 100, 1);
        let batch = sampler.sample(5);
        assert_eq!((batch.n_examples, batch.n_negatives), (100, 1));
        for at in 0..100 {
            assert_eq!(batch.rows[at] + 100, batch.rows[100 + at]);
        }
    }

    #[test]
    fn pairs_are_drawn_uniformly() {
        let mut sampler = sampler(ten_pairs(), SamplingOrder::WithReplacement, 100, 1);
        let mut counts = [0_u32; 10];
        for step in 0..1000 {
            for row in &sampler.sample(step).rows[..100] {
                counts[*row] += 1;
            }
        }
        // Chi-squared with 9 degrees of freedom; 27.9 is exceeded with probability .001.
        let squares = counts.iter().map(|it| (f64::from(*it) - 1e4).powi(2) / 1e4);
        assert!(squares.sum::<f64>() < 27.9, "{counts:?}");
    }

    #[test]
    fn a_batch_does_not_depend_on_earlier_ones() {
        let groups = (0..7).map(|it| group(&[it, it + 20], &[40 + it, 50 + it, 60 + it]));
        let groups = TrainingExamples::Groups(groups.collect());
        for order in [SamplingOrder::WithReplacement, SamplingOrder::Shuffled] {
            let mut once = sampler(groups.clone(), order, 4, 2);
            let in_order: Vec<SampledBatch> = (0..20).map(|step| once.sample(step)).collect();
            for step in (0..20).rev() {
                let mut fresh = sampler(groups.clone(), order, 4, 2);
                assert_eq!(fresh.sample(step), in_order[step as usize]);
                assert_eq!(once.sample(step), in_order[step as usize]);
            }
            assert_ne!(in_order[0], in_order[1]);
        }
    }

    #[test]
    fn other_seeds_draw_other_batches() {
        let config = SamplerConfig {
            order: SamplingOrder::WithReplacement,
            batch_size: 100,
            n_negatives: 1,
        };
        let sample = |seed| {
            let mut sampler = BatchSampler::new(ten_pairs(), config, seed).unwrap();
            sampler.sample(0)
        };
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
    }

    #[test]
    fn a_shuffled_epoch_has_each_example_once() {
        // Batches of 4 cross the ends of epochs of 10.
        let mut sampler = sampler(ten_pairs(), SamplingOrder::Shuffled, 4, 1);
        let drawn: Vec<usize> = (0..5)
            .flat_map(|step| sampler.sample(step).rows[..4].to_vec())
            .collect();
        for epoch in drawn.chunks(10) {
            let mut sorted = epoch.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..10).collect::<Vec<usize>>());
        }
        assert_ne!(drawn[..10], drawn[10..]);
    }

    #[test]
    fn negatives_repeat_only_when_all_were_drawn() {
        let examples = TrainingExamples::Groups(vec![group(&[0], &[1, 2, 3])]);
        let mut sampler = sampler(examples, SamplingOrder::WithReplacement, 5, 7);
        let rows = sampler.sample(0).rows;
        for at in 0..5 {
            let negatives: Vec<usize> = (1..8).map(|index| rows[index * 5 + at]).collect();
            for all in negatives.chunks_exact(3) {
                let mut sorted = all.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, [1, 2, 3]);
            }
        }
    }

    #[test]
    fn each_negative_is_equally_likely() {
        let examples = TrainingExamples::Groups(vec![group(&[0], &[1, 2, 3, 4, 5])]);
        let mut sampler = sampler(examples, SamplingOrder::WithReplacement, 10, 2);
        let mut counts = [0_u32; 6];
        for step in 0..2500 {
            for row in &sampler.sample(step).rows[10..] {
                counts[*row] += 1;
            }
        }
        let squares = counts[1..]
            .iter()
            .map(|it| (f64::from(*it) - 1e4).powi(2) / 1e4);
        // Chi-squared with 4 degrees of freedom; 18.5 is exceeded with probability .001.
        assert!(squares.sum::<f64>() < 18.5, "{counts:?}");
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let config = |batch_size, n_negatives| SamplerConfig {
            order: SamplingOrder::Shuffled,
            batch_size,
            n_negatives,
        };
        let is_valid = |examples, config| BatchSampler::new(examples, config, 0).is_ok();
        assert!(is_valid(ten_pairs(), config(1, 1)));
        assert!(!is_valid(ten_pairs(), config(0, 1)));
        assert!(!is_valid(ten_pairs(), config(1, 2)));
        assert!(!is_valid(ten_pairs(), config(1, 0)));
        assert!(!is_valid(TrainingExamples::Pairs(Vec::new()), config(1, 1)));
        let half = TrainingExamples::Groups(vec![group(&[1], &[])]);
        assert!(!is_valid(half, config(1, 1)));
    }
}

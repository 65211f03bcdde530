//! A discrete-event simulation of a stage on a cluster whose executors and scheduler fail.
//!
//! The driver has some plans of shards executed at a time, and begins the next one as soon as all
//! shards of a plan are committed. An idle executor polls the scheduler for a shard, computes
//! it, commits the output to the storage and polls again. The scheduler assigns one shard
//! after the other. A shard whose executor fails is assigned again once the scheduler has missed
//! the executor's signs of life. If the scheduler fails, executors finish what they compute, and
//! the driver plans what is not committed.

use super::super::random_collection::Draw;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// What is assumed about a cluster; all times are in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterModel {
    pub(super) n_executors: usize,
    /// The most shards in a plan.
    pub(super) shards_per_plan: usize,
    pub(super) plans_at_a_time: usize,
    /// For which the scheduler is busy to assign a shard.
    pub(super) assignment: f64,
    /// Between two polls of an idle executor.
    pub(super) poll_interval: f64,
    /// To commit an output.
    pub(super) commit: f64,
    /// From the last commit of a plan until the next plan can be assigned.
    pub(super) plan_gap: f64,
    /// From the failure of an executor until its shard is assigned again, at least and at most.
    pub(super) notice: [f64; 2],
    /// From the failure of an executor until it is back.
    pub(super) restart: f64,
    /// Mean time between the failures of one executor; infinite if it never fails.
    pub(super) between_failures: f64,
    /// From the failure of the scheduler until the driver has planned again.
    pub(super) scheduler_restart: f64,
    /// Mean time between the failures of the scheduler; infinite if it never fails.
    pub(super) between_scheduler_failures: f64,
}

/// What became of a simulated stage.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SimulatedStage {
    /// The time until the last shard was committed, in seconds.
    pub(super) makespan: f64,
    /// The time for which executors computed or committed, in seconds of all of them.
    pub(super) busy: f64,
    /// The part of it that was lost or came too late.
    pub(super) repeated: f64,
    /// The number of attempts, of which all but one for each shard are repeated.
    pub(super) n_attempts: usize,
    /// The number of failures of executors and of the scheduler.
    pub(super) n_failures: usize,
}

/// Simulates the computation of shards that take the given seconds.
pub(super) fn simulate(model: &ClusterModel, shards: &[f64], seed: u64) -> SimulatedStage {
    let mut simulation = Simulation {
        model,
        shards,
        draw: Draw(seed),
        now: 0.0,
        n_events: 0,
        events: BinaryHeap::new(),
        executors: vec![ExecutorState::default(); model.n_executors],
        idle: Vec::new(),
        round: 0,
        unplanned: VecDeque::new(),
        pending: VecDeque::new(),
        plans: vec![None; shards.len()],
        n_left: Vec::new(),
        is_committed: vec![false; shards.len()],
        n_committed: 0,
        scheduler_is_free: 0.0,
        stage: SimulatedStage::default(),
    };
    simulation.run();
    simulation.stage
}

/// An executor during a simulation.
#[derive(Clone, Default)]
struct ExecutorState {
    /// The number of its failures; events of an earlier life are void.
    life: u32,
    /// The shard that it computes, since when, and the round in which it was assigned.
    attempt: Option<(usize, f64, u32)>,
}

#[derive(Debug, Clone, Copy)]
enum EventKind {
    Poll { executor: usize, life: u32 },
    Finish { executor: usize, life: u32 },
    Fail { executor: usize },
    GiveUp { shard: usize, round: u32 },
    BeginRound { round: u32 },
    Plan { round: u32 },
    FailScheduler,
}

/// An event with its time; the heap returns the earliest one first.
struct Event {
    at: f64,
    /// Decides between events at the same time.
    number: usize,
    kind: EventKind,
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        let later = other.at.total_cmp(&self.at);
        later.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}

struct Simulation<'a> {
    model: &'a ClusterModel,
    shards: &'a [f64],
    draw: Draw,
    now: f64,
    n_events: usize,
    events: BinaryHeap<Event>,
    executors: Vec<ExecutorState>,
    /// Executors that got no shard, each with its life; those of an earlier life are void.
    idle: Vec<(usize, u32)>,
    /// How often the driver has begun: once, and again after each failure of the scheduler.
    round: u32,
    /// The shards that are in no plan of this round yet.
    unplanned: VecDeque<usize>,
    /// The planned shards that are to be assigned.
    pending: VecDeque<usize>,
    /// The plan of this round with each shard.
    plans: Vec<Option<usize>>,
    /// The number of shards of each plan of this round that are not committed.
    n_left: Vec<usize>,
    is_committed: Vec<bool>,
    n_committed: usize,
    /// The time from which the scheduler can assign the next shard.
    scheduler_is_free: f64,
    stage: SimulatedStage,
}

impl Simulation<'_> {
    fn run(&mut self) {
        for executor in 0..self.executors.len() {
            self.idle.push((executor, 0));
            self.fail_later(self.model.between_failures, EventKind::Fail { executor });
        }
        self.fail_later(
            self.model.between_scheduler_failures,
            EventKind::FailScheduler,
        );
        self.after(0.0, EventKind::BeginRound { round: 0 });
        while self.n_committed < self.shards.len() {
            let event = self.events.pop();
            let event = event.expect("a shard that is not committed has an event to come");
            self.now = event.at;
            self.handle(event.kind);
        }
        self.stage.makespan = self.now;
        // Attempts for shards that another executor has committed are still running.
        let begun = self.executors.iter().filter_map(|it| Some(it.attempt?.1));
        let running: f64 = begun.map(|begun| (self.now - begun).max(0.0)).sum();
        self.stage.busy += running;
        self.stage.repeated += running;
    }

    fn handle(&mut self, event: EventKind) {
        match event {
            EventKind::Poll { executor, life } if self.executors[executor].life == life => {
                self.assign_shard(executor);
            }
            // What it was woken for is left to another one.
            EventKind::Poll { .. } => self.wake(),
            EventKind::Finish { executor, life } if self.executors[executor].life == life => {
                self.finish(executor);
            }
            EventKind::Finish { .. } => {}
            EventKind::Fail { executor } => self.fail(executor),
            EventKind::GiveUp { shard, round } => {
                if round == self.round && !self.is_committed[shard] {
                    self.pending.push_front(shard);
                    self.wake();
                }
            }
            EventKind::BeginRound { round } if round == self.round => self.begin_round(),
            EventKind::Plan { round } if round == self.round => self.plan_shards(),
            EventKind::BeginRound { .. } | EventKind::Plan { .. } => {}
            EventKind::FailScheduler => {
                self.stage.n_failures += 1;
                self.pending.clear();
                self.unplanned.clear();
                self.round += 1;
                let restart = self.model.scheduler_restart;
                self.after(restart, EventKind::BeginRound { round: self.round });
                let next = restart + self.exponential(self.model.between_scheduler_failures);
                self.after(next, EventKind::FailScheduler);
            }
        }
    }

    /// Begins plans of the shards that are not committed.
    fn begin_round(&mut self) {
        let left = (0..self.shards.len()).filter(|&it| !self.is_committed[it]);
        self.unplanned = left.collect();
        self.pending.clear();
        self.plans.fill(None);
        self.n_left.clear();
        for _ in 0..self.model.plans_at_a_time {
            self.plan_shards();
        }
    }

    /// Begins the next plan.
    fn plan_shards(&mut self) {
        let mut n_planned = 0;
        while n_planned < self.model.shards_per_plan
            && let Some(shard) = self.unplanned.pop_front()
        {
            if !self.is_committed[shard] {
                self.plans[shard] = Some(self.n_left.len());
                self.pending.push_back(shard);
                n_planned += 1;
            }
        }
        self.n_left.push(n_planned);
        self.wake();
    }

    /// Lets as many idle executors poll as there are shards to assign, each within its interval.
    fn wake(&mut self) {
        for _ in 0..self.pending.len() {
            let Some((executor, life)) = self.idle.pop() else {
                return;
            };
            let wait = self.model.poll_interval * self.draw.share();
            self.after(wait, EventKind::Poll { executor, life });
        }
    }

    /// Assigns the next pending shard to an executor, which is idle if there is none.
    fn assign_shard(&mut self, executor: usize) {
        let life = self.executors[executor].life;
        let Some(shard) = self.pending.pop_front() else {
            self.idle.push((executor, life));
            return;
        };
        let begun = self.now.max(self.scheduler_is_free) + self.model.assignment;
        self.scheduler_is_free = begun;
        if self.is_committed[shard] {
            // The executor finds the manifest and polls again.
            self.after(begun - self.now, EventKind::Poll { executor, life });
            return;
        }
        self.stage.n_attempts += 1;
        self.executors[executor].attempt = Some((shard, begun, self.round));
        let time = begun - self.now + self.shards[shard] + self.model.commit;
        self.after(time, EventKind::Finish { executor, life });
    }

    fn finish(&mut self, executor: usize) {
        let attempt = self.executors[executor].attempt.take();
        let (shard, begun, _) = attempt.expect("it was computing a shard");
        self.stage.busy += self.now - begun;
        if self.is_committed[shard] {
            self.stage.repeated += self.now - begun;
        } else {
            self.is_committed[shard] = true;
            self.n_committed += 1;
            if let Some(plan) = self.plans[shard] {
                self.n_left[plan] -= 1;
                if self.n_left[plan] == 0 {
                    let next = EventKind::Plan { round: self.round };
                    self.after(self.model.plan_gap, next);
                }
            }
        }
        self.assign_shard(executor);
    }

    /// Ends the life of an executor and begins the next one.
    fn fail(&mut self, executor: usize) {
        self.stage.n_failures += 1;
        let state = &mut self.executors[executor];
        state.life += 1;
        let life = state.life;
        if let Some((shard, begun, round)) = state.attempt.take() {
            let lost = (self.now - begun).max(0.0);
            self.stage.busy += lost;
            self.stage.repeated += lost;
            let [least, most] = self.model.notice;
            let notice = least + (most - least) * self.draw.share();
            self.after(notice, EventKind::GiveUp { shard, round });
        }
        let restart = self.model.restart;
        self.after(restart, EventKind::Poll { executor, life });
        let next = restart + self.exponential(self.model.between_failures);
        self.after(next, EventKind::Fail { executor });
    }

    fn fail_later(&mut self, mean: f64, failure: EventKind) {
        let time = self.exponential(mean);
        self.after(time, failure);
    }

    /// Returns a time with an exponential distribution.
    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.draw.share()).ln() * mean
    }

    /// Adds an event, unless its time is infinite.
    fn after(&mut self, time: f64, kind: EventKind) {
        if time.is_finite() {
            self.n_events += 1;
            self.events.push(Event {
                at: self.now + time,
                number: self.n_events,
                kind,
            });
        }
    }
}

/// Expected values are from theory: sums, quotients, Graham's bound for list scheduling and the
/// geometric distribution.
#[cfg(test)]
mod tests {
    use super::*;

    /// Executors that never fail, and a scheduler that takes no time.
    fn ideal(n_executors: usize) -> ClusterModel {
        ClusterModel {
            n_executors,
            shards_per_plan: usize::MAX,
            plans_at_a_time: 1,
            assignment: 0.0,
            poll_interval: 0.0,
            commit: 0.0,
            plan_gap: 0.0,
            notice: [0.0, 0.0],
            restart: 0.0,
            between_failures: f64::INFINITY,
            scheduler_restart: 0.0,
            between_scheduler_failures: f64::INFINITY,
        }
    }

    fn check_makespan(model: &ClusterModel, shards: &[f64], expected: f64) {
        let found = simulate(model, shards, 1);
        assert!((found.makespan - expected).abs() < 1e-6, "{found:?}");
        assert_eq!((found.n_attempts, found.repeated), (shards.len(), 0.0));
        assert!((found.busy - shards.iter().sum::<f64>()).abs() < 1e-6);
    }

    #[test]
    fn equal_shards_take_full_rounds() {
        check_makespan(&ideal(4), &[3.0; 10], 9.0);
        check_makespan(&ideal(4), &[3.0; 12], 9.0);
        check_makespan(&ideal(1_000), &[3.0; 1_001], 6.0);
    }

    #[test]
    fn one_executor_takes_the_sum() {
        check_makespan(&ideal(1), &[1.0, 2.5, 4.0], 7.5);
    }

    #[test]
    fn each_plan_takes_full_rounds_and_the_gap_to_the_next() {
        let model = ClusterModel {
            shards_per_plan: 5,
            plan_gap: 0.5,
            ..ideal(4)
        };
        // Two plans of five shards on four executors: two rounds each.
        check_makespan(&model, &[3.0; 10], 12.5);
    }

    #[test]
    fn nobody_waits_for_the_next_plan_if_another_one_has_shards() {
        let model = ClusterModel {
            shards_per_plan: 4,
            plans_at_a_time: 2,
            plan_gap: 0.5,
            ..ideal(4)
        };
        // Four plans of one round each.
        check_makespan(&model, &[3.0; 16], 12.0);
    }

    /// In Graham's example the longest shard comes last: `m (m - 1)` shards of 1 s and one of `m` s
    /// take `2 m - 1` s, and at best `m` s.
    #[test]
    fn the_worst_order_reaches_grahams_bound() {
        for m in [2, 3, 10] {
            let mut shards = vec![1.0; m * (m - 1)];
            shards.push(m as f64);
            check_makespan(&ideal(m), &shards, (2 * m - 1) as f64);
        }
    }

    #[test]
    fn no_order_exceeds_grahams_bound() {
        let mut draw = Draw(7);
        for m in 1..30 {
            let shards: Vec<f64> = (0..100).map(|_| draw.share().powi(4)).collect();
            let longest = shards.iter().copied().fold(0.0, f64::max);
            let least = longest.max(shards.iter().sum::<f64>() / m as f64);
            let found = simulate(&ideal(m), &shards, 1).makespan;
            assert!(found >= least - 1e-9, "{m}");
            assert!(found <= (2.0 - 1.0 / m as f64) * least + 1e-9, "{m}");
        }
    }

    #[test]
    fn a_slow_scheduler_sets_the_pace() {
        let model = ClusterModel {
            assignment: 0.1,
            ..ideal(100)
        };
        let found = simulate(&model, &[1.0; 500], 1);
        // The last of 500 shards is assigned after 50 s and takes 1 s.
        assert!((found.makespan - 51.0).abs() < 1e-6, "{found:?}");
    }

    /// An attempt of length `t` succeeds with probability `exp(-t / mean)`, so that there are
    /// `exp(t / mean)` attempts on average, and they take `(exp(t / mean) - 1) mean`.
    #[test]
    fn failures_repeat_as_much_as_the_geometric_distribution_says() {
        for ratio in [0.1_f64, 0.5, 1.0] {
            let (n, t) = (40_000, 10.0);
            let mean = t / ratio;
            let model = ClusterModel {
                between_failures: mean,
                ..ideal(50)
            };
            let found = simulate(&model, &vec![t; n], 3);
            let p = (-ratio).exp();
            // Five standard deviations of the mean of `n` geometric variables.
            let tolerance = 5.0 * ((1.0 - p) / (p * p) / n as f64).sqrt();
            let attempts = found.n_attempts as f64 / n as f64;
            assert!((attempts - 1.0 / p).abs() < tolerance, "{ratio}: {found:?}");
            let busy = found.busy / n as f64;
            let expected = (1.0 / p - 1.0) * mean;
            assert!(
                (busy - expected).abs() < tolerance * t,
                "{ratio}: {found:?}"
            );
            assert!((found.busy - found.repeated - n as f64 * t).abs() < 1e-3);
        }
    }

    /// An attempt succeeds with probability `exp(-t / mean)`. On average the attempts of a shard
    /// take `(exp(t / mean) - 1) mean`, and after each that fails an executor continues once it is
    /// back; if there is no other shard, once its failure is noticed.
    #[test]
    fn a_lost_shard_waits_until_the_failure_is_noticed() {
        let (n, t, mean) = (20_000, 10.0_f64, 200.0_f64);
        let (restart, notice) = (30.0, 70.0);
        for (shards_per_plan, wait) in [(usize::MAX, restart), (1, notice)] {
            let model = ClusterModel {
                shards_per_plan,
                between_failures: mean,
                notice: [notice, notice],
                restart,
                ..ideal(1)
            };
            let found = simulate(&model, &vec![t; n], 4);
            let n_failed = (t / mean).exp() - 1.0;
            let expected = n_failed * (mean + wait);
            let per_shard = found.makespan / n as f64;
            // An executor may also fail while it waits.
            assert!((per_shard / expected - 1.0).abs() < 0.05, "{per_shard}");
        }
    }

    #[test]
    fn failures_of_executors_and_of_the_scheduler_do_not_repeat_what_is_committed() {
        let model = ClusterModel {
            between_failures: 200.0,
            between_scheduler_failures: 100.0,
            scheduler_restart: 30.0,
            notice: [15.0, 21.0],
            restart: 20.0,
            ..ideal(8)
        };
        let found = simulate(&model, &[5.0; 2_000], 5);
        assert!((found.busy - found.repeated - 10_000.0).abs() < 1e-3);
        // A failure of an executor repeats its shard, one of the scheduler at most one of each.
        assert!(found.n_attempts <= 2_000 + found.n_failures * 8);
    }

    #[test]
    fn one_executor_loses_nothing_if_the_scheduler_fails() {
        let model = ClusterModel {
            between_scheduler_failures: 3.0,
            ..ideal(1)
        };
        let found = simulate(&model, &[10.0; 100], 5);
        assert!(found.n_failures > 200, "{found:?}");
        assert!((found.makespan - 1_000.0).abs() < 1e-6, "{found:?}");
        assert_eq!(found.repeated, 0.0);
    }

    /// Each failure of the scheduler can make at most one shard of each executor be computed twice.
    #[test]
    fn failures_of_the_scheduler_repeat_no_more_than_what_is_being_computed() {
        let model = ClusterModel {
            between_scheduler_failures: 40.0,
            scheduler_restart: 2.0,
            ..ideal(8)
        };
        let mut draw = Draw(9);
        let shards: Vec<f64> = (0..400).map(|_| 5.0 + 5.0 * draw.share()).collect();
        let found = simulate(&model, &shards, 5);
        assert!(found.n_failures > 5 && found.repeated > 0.0, "{found:?}");
        assert!(found.repeated <= (found.n_failures * 8) as f64 * 10.0);
        assert!(found.n_attempts <= 400 + found.n_failures * 8);
    }
}

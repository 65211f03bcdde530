//! What 1,000 executors would make of shards as they were measured.

use super::super::random_collection::Draw;
use super::super::table::BenchTable;
use super::simulation::{ClusterModel, SimulatedStage, simulate};
use super::small_shards::SmallShards;
use super::{ClusterRun, PLANS_AT_A_TIME, SHARDS_PER_PLAN};

/// Seconds after which the scheduler gives up an executor, the default of `--executor-timeout`.
pub(super) const EXECUTOR_TIMEOUT: u32 = 20;

/// Seconds after which the driver tries again, as in `cluster/src/engine.rs`.
pub(super) const RETRY: u32 = 2;

/// Seconds between two polls of an idle executor and of a busy one, as in the poll loop of
/// Ballista's executor, `execution_loop.rs`.
const IDLE_POLL: f64 = 0.05;
const BUSY_POLL: f64 = 5.0;

/// Seconds until an executor or a scheduler that has failed is back.
const RESTART: f64 = 60.0;

/// Seconds from the end of a plan until the next one can be assigned.
const PLAN_GAP: f64 = 1.0;

/// CPU time of the simulated work.
const HOURS: f64 = 1_000.0;

/// Mean times to compute a shard, in seconds.
const SHARD_SECONDS: [f64; 2] = [10.0, 60.0];
/// The sizes of simulated clusters.
const EXECUTORS: [usize; 4] = [1, 10, 100, 1_000];

/// Hours between the failures of an executor, and of the scheduler.
const BETWEEN_FAILURES: [f64; 3] = [f64::INFINITY, 24.0, 1.0];

/// Numbers of plans at a time with which the largest cluster is simulated as well.
const PLANS: [usize; 2] = [1, 4];

/// The measurements that the simulation uses, in seconds.
pub(super) struct MeasuredCosts {
    small: SmallShards,
    idle: IdleCost,
    /// The time of each shard of neural scores.
    shards: Vec<f64>,
}

/// CPU time of the scheduler per second without work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct IdleCost {
    /// The part that does not depend on the number of executors.
    fixed: f64,
    /// The part that each idle executor adds.
    per_executor: f64,
}

impl IdleCost {
    /// Fits a line to CPU times by number of executors, by least squares; neither part is negative.
    /// The function in `shared::stats` is out of reach: this package depends on no other of the
    /// workspace, so that `cargo xtask` itself is built in seconds.
    fn fit(times: &[(usize, f64)]) -> IdleCost {
        let n = times.len().max(1) as f64;
        let mean_n = times.iter().map(|it| it.0 as f64).sum::<f64>() / n;
        let mean = times.iter().map(|it| it.1).sum::<f64>() / n;
        let centered = times.iter().map(|it| (it.0 as f64 - mean_n, it.1 - mean));
        let (covariance, variance) =
            centered.fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + x * y, xx + x * x));
        let slope = match variance > 0.0 {
            true => (covariance / variance).max(0.0),
            false => 0.0,
        };
        IdleCost {
            fixed: (mean - slope * mean_n).max(0.0),
            per_executor: slope,
        }
    }
}

impl MeasuredCosts {
    pub(super) fn new(small: SmallShards, runs: &[ClusterRun], shards: Vec<f64>) -> MeasuredCosts {
        let idle = runs.iter().map(|it| (it.n_executors, it.idle_scheduler));
        MeasuredCosts {
            small,
            idle: IdleCost::fit(&idle.collect::<Vec<_>>()),
            shards,
        }
    }

    /// Draws shards of a mean length from those that were measured, with replacement.
    fn draw_shards(&self, seconds: f64) -> Vec<f64> {
        let mean = self.shards.iter().sum::<f64>() / self.shards.len() as f64;
        let mut draw = Draw(42);
        let mut one = || {
            let at = draw.share() * self.shards.len() as f64;
            self.shards[at as usize] / mean * seconds
        };
        let n_shards = (HOURS * 3600.0 / seconds) as usize;
        (0..n_shards).map(|_| one()).collect()
    }

    fn model(&self, n_executors: usize, plans_at_a_time: usize, hours: f64) -> ClusterModel {
        ClusterModel {
            n_executors,
            shards_per_plan: SHARDS_PER_PLAN,
            plans_at_a_time,
            assignment: self.small.scheduler,
            poll_interval: IDLE_POLL,
            commit: self.small.commit,
            plan_gap: PLAN_GAP,
            // The last sign of life may be as old as the interval of a busy executor; it is looked
            // for every second.
            notice: [
                f64::from(EXECUTOR_TIMEOUT) - BUSY_POLL,
                f64::from(EXECUTOR_TIMEOUT) + 1.0,
            ],
            restart: RESTART,
            between_failures: hours * 3600.0,
            scheduler_restart: RESTART + f64::from(RETRY),
            between_scheduler_failures: hours * 3600.0,
        }
    }

    /// Returns a row of the table.
    fn row(&self, model: &ClusterModel, shards: &[f64]) -> String {
        let SimulatedStage {
            makespan,
            busy,
            repeated,
            n_attempts,
            n_failures,
        } = simulate(model, shards, 7);
        let all = makespan * model.n_executors as f64;
        let n = shards.len() as f64;
        let work: f64 = shards.iter().sum();
        let idle = makespan * self.idle.fixed + (all - busy) * self.idle.per_executor;
        let scheduler = n_attempts as f64 * self.small.scheduler + idle;
        let driver = n * self.small.driver;
        let usage = [
            ("executors", busy / all),
            ("scheduler", scheduler / makespan),
            ("driver", driver / makespan),
        ];
        let busiest = usage.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (busiest, share) = busiest.unwrap_or(("none", 0.0));
        let hours = model.between_failures / 3600.0;
        format!(
            "| {:.0} s | {} | {} | {} | {:.2} h | {:.1}× | {:.1} % | {:.2} % | \
             {n_failures} | {:.0} % | {:.0} % | {busiest}, {:.0} % |",
            work / n,
            model.n_executors,
            model.plans_at_a_time,
            match hours.is_finite() {
                true => format!("{hours:.0} h"),
                false => "never".to_owned(),
            },
            makespan / 3600.0,
            work / makespan,
            (1.0 - busy / all) * 100.0,
            repeated / work * 100.0,
            usage[1].1 * 100.0,
            usage[2].1 * 100.0,
            share * 100.0
        )
    }
}

/// Adds tables of simulated clusters, with what is assumed.
pub(super) fn simulate_clusters(costs: &MeasuredCosts, table: &mut BenchTable) {
    let head = || {
        vec![
            "| shard | executors | plans at a time | each fails every | makespan | speed-up | \
             idle or down | repeated | failures | scheduler, of a core | driver, of a core | busiest |"
                .to_owned(),
            "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|".to_owned(),
        ]
    };
    let (mut sizes, mut plans) = (head(), head());
    for seconds in SHARD_SECONDS {
        let shards = costs.draw_shards(seconds);
        for n in EXECUTORS {
            for hours in BETWEEN_FAILURES {
                let model = costs.model(n, PLANS_AT_A_TIME, hours);
                sizes.push(costs.row(&model, &shards));
            }
        }
        let largest = EXECUTORS[EXECUTORS.len() - 1];
        for n in PLANS {
            plans.push(costs.row(&costs.model(largest, n, 24.0), &shards));
        }
    }
    table.section(
        &format!("Simulated: {HOURS} hours of CPU on up to 1,000 executors"),
        sizes,
    );
    table.section(
        "Simulated: 1,000 executors with fewer plans at a time",
        plans,
    );
    table.note(format!(
        "Simulation of the stage of neural scores, measured: shards are drawn from its {} shards, \
         scaled to a mean of 10 or 60 s. Assigning a shard occupies the scheduler for {:.1} ms, all \
         of its CPU time included, one after the other. A commit takes {:.1} ms, to a folder of this machine. \
         Without work the scheduler takes {:.1} ms of CPU per second, and {:.1} ms more for each \
         idle executor (a line through the three clusters).",
        costs.shards.len(),
        costs.small.scheduler * 1e3,
        costs.small.commit * 1e3,
        costs.idle.fixed * 1e3,
        costs.idle.per_executor * 1e3,
    ));
    table.note(format!(
        "Simulation, from the code: a plan has {SHARDS_PER_PLAN} shards. An idle executor polls \
         every {:.0} ms and a busy one every {BUSY_POLL} s. The scheduler gives up an executor \
         after {EXECUTOR_TIMEOUT} s, and the driver tries again after {RETRY} s.",
        IDLE_POLL * 1e3,
    ));
    table.note(format!(
        "Simulation, assumed: the next plan begins {PLAN_GAP} s after the end of one. Times \
         between failures are exponential, of executors and of the scheduler alike; what has \
         failed is back after {RESTART} s. The storage never fails and is as fast for 1,000 \
         executors. Polls of idle executors take CPU time of the scheduler but delay no \
         assignment. The results of a plan can be fetched even if an executor has failed since; \
         otherwise the plan is given out again, and executors find what is committed. For each \
         shard, the CPU time of scheduler and driver is that of the measured small ones, also with \
         more plans or in longer stages, although the driver lists all shards of a stage again and \
         again. Executors are ready at once: loading models and encoding queries are left out, and \
         so are all other stages. Above 100 % of a core, the scheduler needs several."
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_to_idle_times() {
        let fitted = IdleCost::fit(&[(1, 5.0), (2, 7.0), (4, 11.0)]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            near(fitted.fixed, 3.0) && near(fitted.per_executor, 2.0),
            "{fitted:?}"
        );
        // Less time with more executors is noise.
        let falling = IdleCost::fit(&[(1, 3.0), (2, 2.0), (3, 1.0)]);
        let constant = IdleCost {
            fixed: 2.0,
            per_executor: 0.0,
        };
        assert_eq!(falling, constant);
    }

    /// Of 360,000 equal shards of 10 s, 256 are computed at a time: 1,407 plans, and a gap of a
    /// second after each but the last. Executors poll up to .05 s after a plan has begun.
    #[test]
    fn no_more_executors_are_busy_than_a_plan_has_shards() {
        let costs = MeasuredCosts {
            small: SmallShards::default(),
            idle: IdleCost::default(),
            shards: vec![3.0],
        };
        let shards = costs.draw_shards(10.0);
        assert_eq!(shards, vec![10.0; 360_000]);
        let model = costs.model(1_000, 1, f64::INFINITY);
        let found = simulate(&model, &shards, 1).makespan - (1_407.0 * 10.0 + 1_406.0);
        assert!((0.0..1_407.0 * IDLE_POLL).contains(&found), "{found}");
    }
}

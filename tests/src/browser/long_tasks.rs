//! The page stays responsive: no long task blocks its main thread.

use serde_json::Value;

use super::tab::{AriaRole, BrowserTab, with_tab};
use super::{demo_site, workbench};

/// Records the duration of every task over 50 ms, in milliseconds.
const WATCH: &str = "
    window.longTasks = [];
    new PerformanceObserver(list => {
        for (const it of list.getEntries()) window.longTasks.push([it.startTime, it.duration]);
    }).observe({type: 'longtask', buffered: true});";

/// Returns the duration of the longest task that began after a time, in milliseconds; 0 if all were
/// short.
fn longest(tab: &BrowserTab, from: f64) -> f64 {
    // The browser reports a task with a delay.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let tasks = tab.js("return window.longTasks", &[]);
    let tasks = tasks.as_array().into_iter().flatten();
    let times = |it: &Value| Some((it[0].as_f64()?, it[1].as_f64()?));
    let after = tasks.filter_map(times).filter(|it| it.0 >= from);
    after.map(|it| it.1).fold(0.0, f64::max)
}

/// Returns the median of the longest tasks of five runs, in milliseconds, and prints all of them.
fn median_of_five(tab: &BrowserTab, what: &str, run: impl Fn() -> f64) -> f64 {
    tab.before_pages(WATCH);
    let mut runs: Vec<f64> = (0..5).map(|_| run()).collect();
    println!("longest task {what}: {runs:.0?} ms");
    runs.sort_by(f64::total_cmp);
    let median = runs[runs.len() / 2];
    println!("median {median:.0} ms");
    median
}

#[test]
fn a_run_in_the_workbench_leaves_the_page_at_hand() {
    with_tab(demo_site::origin(), |tab| {
        let median = median_of_five(tab, "of a run in the Workbench", || {
            tab.open("/workbench");
            tab.click(AriaRole::Button, "Load sample");
            workbench::wait_for_files(tab, 3);
            let from = tab.js("return performance.now()", &[]).as_f64().unwrap();
            workbench::create_study(tab);
            longest(tab, from)
        });
        assert!(median < 50.0, "{median:.0} ms");
    });
}

#[test]
fn the_longest_task_while_a_study_opens_is_told() {
    with_tab(demo_site::origin(), |tab| {
        median_of_five(tab, "while a study opens", || {
            tab.open("/studies/demo");
            tab.wait_for_element("the map", "[role=grid] a.cell[data-step]");
            longest(tab, 0.0)
        });
    });
}

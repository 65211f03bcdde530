//! The page stays at hand: no long task holds up its main thread.

use serde_json::Value;

use super::site;
use super::tab::{Role, Tab, with_tab};

/// Keeps the length of every task over 50 ms, in milliseconds.
const WATCH: &str = "
    window.longTasks = [];
    new PerformanceObserver(list => {
        for (const it of list.getEntries()) window.longTasks.push([it.startTime, it.duration]);
    }).observe({type: 'longtask', buffered: true});";

/// The longest task that began after a moment, in milliseconds; 0 where all were short.
fn longest(tab: &Tab, from: f64) -> f64 {
    // Entries come a moment after their task.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let tasks = tab.js("return window.longTasks", &[]);
    let tasks = tasks.as_array().into_iter().flatten();
    let times = |it: &Value| Some((it[0].as_f64()?, it[1].as_f64()?));
    let after = tasks.filter_map(times).filter(|it| it.0 >= from);
    after.map(|it| it.1).fold(0.0, f64::max)
}

fn median(mut five: Vec<f64>) -> f64 {
    five.sort_by(f64::total_cmp);
    five[five.len() / 2]
}

#[test]
fn a_run_in_the_workbench_leaves_the_page_at_hand() {
    with_tab(site::origin(), |tab| {
        tab.before_pages(WATCH);
        let runs = (0..5).map(|_| {
            tab.open("/workbench");
            tab.click(Role::Button, "Load the sample");
            tab.until(
                "three files",
                "
                return document.querySelectorAll('table.files tbody tr').length === 3
                    && !document.querySelector('table.files .reading')",
            );
            let from = tab.js("return performance.now()", &[]).as_f64().unwrap();
            tab.click(Role::Button, "Make the study");
            tab.see("Made in");
            tab.until_there("results", "table.short td .chip");
            longest(tab, from)
        });
        let runs: Vec<f64> = runs.collect();
        let median = median(runs.clone());
        println!("longest task of a run in the Workbench: {runs:.0?} ms, median {median:.0} ms");
        assert!(median < 50.0, "{runs:.0?} ms");
    });
}

#[test]
fn the_longest_task_while_a_study_opens_is_told() {
    with_tab(site::origin(), |tab| {
        tab.before_pages(WATCH);
        let runs = (0..5).map(|_| {
            tab.open("/study/demo");
            tab.until_there("the map", "[role=grid] a.cell[data-step]");
            longest(tab, 0.0)
        });
        let runs: Vec<f64> = runs.collect();
        println!(
            "longest task while a study opens: {runs:.0?} ms, median {:.0} ms",
            median(runs.clone())
        );
    });
}

//! A visitor tries the items of the demo's task, whose annotators are simulated.

use super::demo_site;
use super::tab::{AriaRole, with_tab};

#[test]
fn a_visitor_tries_the_demo_task_and_its_results_are_called_simulated() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/annotation/tasks");
        tab.wait_for_text("Simulated annotators.");
        tab.follow_link(
            "Try it: Demo task (simulated annotators)",
            "/studies/demo/trial?task=1",
        );
        tab.wait_for_text("your answers stay in this browser");
        for _ in 0..5 {
            tab.wait_for_element("a question", "#question");
            tab.press("1");
            tab.wait_for_text("gave your answer.");
            tab.click(AriaRole::Button, "Continue");
        }
        tab.wait_for_text("with the simulated majority");
        tab.wait_for_count("five answers", "table.short tbody tr", "=== 5");
        // No request has told the server an answer.
        let sent = tab.js(
            "return performance.getEntriesByType('resource')
                 .filter(it => it.name.includes('/api/annotation/tasks/1/'))
                 .map(it => new URL(it.name).pathname)",
            &[],
        );
        assert_eq!(
            sent,
            serde_json::json!(["/api/annotation/tasks/1/trial-items"])
        );

        tab.follow_link(
            "Results of the simulated annotators",
            "/studies/demo/human-judgments",
        );
        tab.wait_for_text("3 simulated annotators");
        tab.wait_for_text(
            "Nobody has annotated instances of this study yet. The annotators below are simulated.",
        );

        // From the list of reviewed instances to one of them, and what the annotators said.
        tab.open("/studies/demo/rankers/bm25/probes/tfc1/instances?review_status=reviewed");
        tab.wait_for_element("a reviewed instance", "a.line .verdict");
        tab.wait_for_text("reviewed (simulated)");
        tab.click_at("a.line");
        tab.wait_for_text("3 votes of simulated annotators");
    });
}

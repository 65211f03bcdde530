//! The steps of `cargo xtask test`.

use anyhow::{Context, Result};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Fmt,
    Tidy,
    Deny,
    Clippy,
    ClippyWasm,
    Cuda,
    Docs,
    Web,
    Build,
    Unit,
    EndToEnd,
    Dev,
    Packages,
    Cluster,
    ClippyCluster,
}

impl Step {
    pub(super) const ALL: [Step; 15] = [
        Step::Fmt,
        Step::Tidy,
        Step::Deny,
        Step::Clippy,
        Step::ClippyWasm,
        Step::Cuda,
        Step::Docs,
        Step::Web,
        Step::Build,
        Step::Unit,
        Step::EndToEnd,
        Step::Dev,
        Step::Packages,
        Step::Cluster,
        Step::ClippyCluster,
    ];

    /// Returns the name on the command line and what the step checks.
    pub(super) fn name_and_description(self) -> (&'static str, &'static str) {
        match self {
            Step::Fmt => ("fmt", "the code is formatted"),
            Step::Tidy => ("tidy", "the rules of the house style"),
            Step::Deny => ("deny", "licenses and sources of the dependencies"),
            Step::Clippy => ("clippy", "lints of what runs on this machine"),
            Step::ClippyWasm => ("clippy-wasm", "lints of what runs in the browser"),
            Step::Cuda => ("cuda", "types of the CUDA code, without NVIDIA's toolkit"),
            Step::Docs => ("docs", "the documentation has no broken link"),
            Step::Web => ("web", "the front end builds"),
            Step::Build => ("build", "the server and the tests build"),
            Step::Unit => ("unit", "tests beside the code and in the documentation"),
            Step::EndToEnd => (
                "e2e",
                "command line, HTTP, parity, published numbers, browser",
            ),
            Step::Dev => (
                "dev",
                "`cargo xtask dev` shows an edit within seconds (minutes; only when named)",
            ),
            Step::Packages => (
                "packages",
                "`dist`, and each package starts on a clean system (minutes; only when named)",
            ),
            Step::Cluster => (
                "cluster",
                "studies on several machines are those of one (minutes; only when named)",
            ),
            Step::ClippyCluster => (
                "clippy-cluster",
                "lints of the cluster (minutes; only when named)",
            ),
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.name_and_description().0
    }

    pub(super) fn from_name(name: &str) -> Result<Step> {
        let step = Step::ALL.into_iter().find(|step| step.name() == name);
        step.with_context(|| format!("there is no step `{name}`\n{}", describe_steps()))
    }

    /// Returns whether the step is left out unless it is named.
    pub(super) fn is_only_run_by_name(self) -> bool {
        matches!(
            self,
            Step::Dev | Step::Packages | Step::Cluster | Step::ClippyCluster
        )
    }

    /// Returns whether the step runs tests that are skipped without their dependencies.
    pub(super) fn has_dependencies(self) -> bool {
        matches!(
            self,
            Step::Unit | Step::EndToEnd | Step::Dev | Step::Packages | Step::Cluster
        )
    }
}

/// Returns a line for each step: its name and what it checks.
pub(super) fn describe_steps() -> String {
    let line = |step: Step| format!("  {:12} {}\n", step.name(), step.name_and_description().1);
    Step::ALL.into_iter().map(line).collect()
}

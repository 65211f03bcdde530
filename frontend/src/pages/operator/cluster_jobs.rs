//! Studies that several machines create, newest first: their progress, executors and cost.

use leptos::html;
use leptos::prelude::*;
use shared::api::JobState;
use shared::api::cluster::{
    CancelClusterJobRequest, ClusterExecutor, ClusterJob, ClusterStage, ListClusterJobsRequest,
};
use shared::report::format::MISSING;

use crate::api::mutation::MutatingRequestState;
use crate::local_storage;
use crate::number_format::{
    format_byte_size, format_count, format_count_with_noun, format_elapsed_time,
};
use crate::pages::people::format_utc_minute;
use crate::routes::PageRoute;
use crate::site_host::site_address;
use crate::widgets::confirmation::{ActionConfirmation, ConfirmedActionButton};
use crate::widgets::details::DetailsOnDemand;
use crate::widgets::error_message::{OptionalErrorMessage, failure_view};
use crate::widgets::form::{ReactiveFieldError, TextField, TextInputBinding};
use crate::widgets::job_status;
use crate::widgets::polled_list::{PolledReply, VisibleRows};
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;
use crate::widgets::table::{ColumnHeading, HeadedTable};

/// The key of the price of an executor hour in the storage of this browser.
const PRICE_KEY: &str = "axioscope-executor-price";

/// Renders the section that lists the cluster jobs.
#[component]
pub(super) fn ClusterJobSection() -> impl IntoView {
    let list = ClusterJobListState::start(
        || ListClusterJobsRequest {},
        |jobs| jobs.iter().any(|it| !it.state.is_finished()),
    );
    let shown = VisibleRows::new();
    let typed_price = RwSignal::new(local_storage::load(PRICE_KEY).unwrap_or_default());
    let price = Memo::new(move |_| typed_price.with(|it| parse_price(it)).ok().flatten());
    let n_jobs = Memo::new(move |_| list.reply.with(|it| it.as_ref().map(Vec::len)));
    let has_jobs = Memo::new(move |_| n_jobs.get().map(|it| it > 0));
    let ids = Memo::new(move |_| {
        let jobs = list.reply.read();
        let jobs = jobs.iter().flatten().take(shown.get());
        jobs.map(|it| it.id.clone()).collect::<Vec<_>>()
    });
    let note = move || {
        let jobs = list.reply.read();
        let running = jobs.iter().flatten().filter(|it| !it.state.is_finished());
        let n_running = running.count();
        (n_running > 0).then(|| format!("{n_running} running"))
    };
    let body = move || match has_jobs.get() {
        None => view! { <p class="note">"Loading studies"</p> }.into_any(),
        Some(false) => view! { <NoClusterJobs/> }.into_any(),
        Some(true) => view! {
            <ExecutorPriceField typed=typed_price/>
            <ul class="held">
                <For each=move || ids.get() key=String::clone let:id>
                    <ClusterJobRow list price id/>
                </For>
            </ul>
            {move || shown.show_more_button(n_jobs.get().unwrap_or_default())}
        }
        .into_any(),
    };
    let retry = Callback::new(move |()| list.poll());
    let header = move || view! { <p class="note">{note}</p> };
    view! {
        <Section id="cluster-jobs" name="Studies on several machines" header>
            <OptionalErrorMessage error=list.error retry/>
            {body}
        </Section>
    }
}

/// The state of the list of cluster jobs.
type ClusterJobListState = PolledReply<ListClusterJobsRequest>;

/// Renders what cluster jobs are while there are none.
#[component]
fn NoClusterJobs() -> impl IntoView {
    view! {
        <p class="note">
            "No studies yet. " <code>"axioscope-cluster run STUDY.toml"</code>
            " creates a study on several machines, whose progress and cost then appear here ("
            <a href=site_address("/docs/cluster/") rel="external">"guide"</a> ")."
        </p>
    }
}

/// Renders the field for the price of an executor hour, which this browser stores.
#[component]
fn ExecutorPriceField(
    /// The price as typed.
    typed: RwSignal<String>,
) -> impl IntoView {
    let set = Callback::new(move |text: String| {
        match parse_price(&text) {
            Ok(Some(_)) => local_storage::store(PRICE_KEY, &text),
            Ok(None) => local_storage::remove(PRICE_KEY),
            Err(_) => {}
        }
        typed.set(text);
    });
    let text = TextInputBinding {
        value: typed.into(),
        set,
    };
    let mistake = ReactiveFieldError {
        id: "wrong-executor-price".to_owned(),
        reason: Signal::derive(move || typed.with(|it| parse_price(it)).err()),
    };
    view! {
        <div class="bar">
            <TextField label="Price of an executor hour" text inputmode="decimal" mistake/>
            <p class="note">
                "The cost is that of the time in which executors computed the shards that are \
                 committed. Idle time and lost attempts are not included."
            </p>
        </div>
    }
}

/// Parses a price; an empty text is none.
fn parse_price(text: &str) -> Result<Option<f64>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let price = text.parse::<f64>().ok();
    let price = price.filter(|it| it.is_finite() && *it >= 0.0);
    match price {
        Some(price) => Ok(Some(price)),
        None => Err(format!(
            "`{text}` is not valid: enter a number, such as 0.25"
        )),
    }
}

/// Renders a cluster job with the button that cancels it.
#[component]
fn ClusterJobRow(
    list: ClusterJobListState,
    /// The price of an executor hour.
    price: Memo<Option<f64>>,
    id: String,
) -> impl IntoView {
    let job = {
        let id = id.clone();
        Memo::new(move |_| {
            let jobs = list.reply.read();
            jobs.iter().flatten().find(|it| it.id == id).cloned()
        })
    };
    let state = Memo::new(move |_| job.with(|it| it.as_ref().map(|it| it.state)));
    let rests = move || state.get().is_some_and(JobState::is_finished);
    let action = MutatingRequestState::new();
    let confirmation = ActionConfirmation::new();
    Effect::new(move |_| {
        if rests() {
            confirmation.hide();
        }
    });
    let row = NodeRef::<html::Li>::new();
    let cancel = Callback::new(move |()| {
        let request = CancelClusterJobRequest { job: id.clone() };
        action.send_unless_busy(request, move |job| {
            // The buttons disappear, so the focus moves to the row.
            if let Some(row) = row.get_untracked() {
                let _ = row.focus();
            }
            list.reply.update(|jobs| {
                let mut jobs = jobs.iter_mut().flatten();
                if let Some(it) = jobs.find(|it| it.id == job.id) {
                    *it = job;
                }
            });
        });
    });
    let study = job.get_untracked().map(|it| it.study).unwrap_or_default();
    let label = format!("Cancel: {study}");
    let title = move || {
        let study = study.clone();
        match state.get() {
            Some(JobState::Done) => {
                let href = PageRoute::Study {
                    study: study.clone(),
                }
                .href();
                view! { <a href=href>{study}</a> }.into_any()
            }
            _ => study.into_any(),
        }
    };
    let facts = move || job.with(|it| it.as_ref().map(job_facts));
    let advice = move || job.with(|it| it.as_ref().and_then(continuation_advice));
    let problem = move || {
        let found = action.error.get().map(|it| it.to_string());
        // A driver that was canceled ends with an error of its own.
        let failed = job.get().filter(|it| it.state == JobState::Failed);
        let told = failed.and_then(|it| it.error);
        failure_view(found.or(told))
    };
    view! {
        <li tabindex="-1" node_ref=row>
            <div class="told">
                <h3><bdi>{title}</bdi></h3>
                <p class="facts">{facts}</p>
                {advice}
            </div>
            <div class="act">
                <span role="status">{job_status::job_state_view(state)}</span>
                <Show when=move || !rests()>
                    <ConfirmedActionButton confirmation text="Cancel" label=label.clone()/>
                </Show>
            </div>
            <Show when=move || !rests() && confirmation.is_shown()>
                <div class="btns across">
                    <span role="status">
                        "Cancel the study? Committed shards stay, and the same command \
                         continues it."
                    </span>
                    <button
                        class="btn main"
                        type="button"
                        disabled=move || action.is_busy.get()
                        on:click=move |_| cancel.run(())
                    >
                        "Cancel the study"
                    </button>
                    <button class="btn" type="button" on:click=move |_| confirmation.decline()>
                        "Keep it running"
                    </button>
                </div>
            </Show>
            {problem}
            <div class="across" class:rests=rests>
                <ClusterJobTables job price/>
            </div>
        </li>
    }
}

/// Renders when a job began and ended, and what it uses.
fn job_facts(job: &ClusterJob) -> impl IntoView + use<> {
    let ended = job
        .ended_ms
        .map(|it| view! { <span>"ended " {format_utc_minute(it)}</span> });
    view! {
        <span>"started " {format_utc_minute(job.begun_ms)}</span>
        {ended}
        <span>"build " <code>{job.build.clone()}</code></span>
        <span>"storage " <code>{job.storage.clone()}</code></span>
    }
}

/// Renders how to continue a job that does not go on by itself.
fn continuation_advice(job: &ClusterJob) -> Option<impl IntoView + use<>> {
    let reason = match (job.state, job.has_driver) {
        (JobState::Done, _) | (JobState::Queued | JobState::Running, true) => None,
        (JobState::Queued | JobState::Running, false) => Some("It has no driver"),
        (JobState::Canceled, _) => Some("It was canceled"),
        (JobState::Failed, _) => Some("It has failed"),
    };
    reason.map(|reason| {
        view! {
            <p>
                {reason} "; the same " <code>"axioscope-cluster run"</code>
                " command continues it."
            </p>
        }
    })
}

/// Renders the stages, the cost and the executors of a job that has begun a stage. The tables stay
/// when their rows change, so that they keep the focus.
#[component]
fn ClusterJobTables(job: Memo<Option<ClusterJob>>, price: Memo<Option<f64>>) -> impl IntoView {
    let stages = Memo::new(move |_| job.get().map(|it| it.stages).unwrap_or_default());
    let executors = Memo::new(move |_| job.get().map(|it| it.executors).unwrap_or_default());
    let has_executors_open = RwSignal::new(false);
    let stage_rows = move || {
        let price = price.get();
        stages.with(|it| it.iter().map(|it| stage_row(it, price)).collect_view())
    };
    let executor_rows = move || executors.with(|it| it.iter().map(executor_row).collect_view());
    let note = move || {
        let n_repeated = stages.with(|it| it.iter().map(|it| it.n_repeated_attempts).sum());
        (n_repeated > 0).then(|| {
            let repeated =
                format_count_with_noun(n_repeated, "repeated attempt", "repeated attempts");
            format!(
                "{repeated}: an executor ended before it had computed its shard, or a shard was \
                 given out again. "
            )
        })
    };
    let total = move || stages.with(|it| describe_total(it, price.get()));
    let n_executors = move || {
        let n_executors = executors.with(Vec::len) as u64;
        format_count_with_noun(n_executors, "executor", "executors")
    };
    view! {
        <Show when=move || stages.with(|it| !it.is_empty())>
            <HeadedTable name="Stages" class="data" heads=stage_headings() scrolls=true>
                {stage_rows}
            </HeadedTable>
            <p class="note">{note} {total}</p>
        </Show>
        <Show when=move || executors.with(|it| !it.is_empty())>
            <DetailsOnDemand class="" is_open=has_executors_open summary=n_executors>
                <HeadedTable name="Executors" class="data" heads=executor_headings() scrolls=true>
                    {executor_rows}
                </HeadedTable>
            </DetailsOnDemand>
        </Show>
    }
}

fn stage_headings() -> Vec<ColumnHeading> {
    vec![
        ColumnHeading::for_text_column("Stage"),
        ColumnHeading::for_text_column("Committed shards"),
        ColumnHeading::for_number_column("Attempts"),
        ColumnHeading::for_number_column("Queries or pairs"),
        ColumnHeading::for_number_column("Output"),
        ColumnHeading::for_number_column("Compute time"),
        ColumnHeading::for_number_column("Cost"),
    ]
}

fn stage_row(stage: &ClusterStage, price: Option<f64>) -> impl IntoView + use<> {
    let name = stage_label(&stage.name).to_owned();
    let shards = format!(
        "{} of {}",
        format_count(stage.n_committed),
        format_count(stage.n_shards)
    );
    let done = stage.n_committed as f64 / stage.n_shards.max(1) as f64;
    view! {
        <tr>
            <th scope="row"><bdi>{name.clone()}</bdi></th>
            <td>{shards} <ProgressBarView label=name done/></td>
            <td class="num">{format_count(stage.n_attempts)}</td>
            <td class="num">{format_count(stage.n_rows)}</td>
            <td class="num">{format_byte_size(stage.n_bytes as f64)}</td>
            <td class="num">{format_compute_time(stage.seconds)}</td>
            <td class="num">{format_cost(stage.seconds, price)}</td>
        </tr>
    }
}

/// Returns what a stage does, or its name if this program does not know it.
fn stage_label(name: &str) -> &str {
    match name {
        "mine" => "Mining and lexical rankers",
        "score" => "Neural rankers",
        "remote-score" => "Remote rankers",
        "rescore" => "Score stability check",
        other => other,
    }
}

fn executor_headings() -> Vec<ColumnHeading> {
    vec![
        ColumnHeading::for_text_column("Executor"),
        ColumnHeading::for_number_column("Committed shards"),
        ColumnHeading::for_number_column("Compute time"),
    ]
}

fn executor_row(executor: &ClusterExecutor) -> impl IntoView + use<> {
    view! {
        <tr>
            <th scope="row"><bdi>{executor.name.clone()}</bdi></th>
            <td class="num">{format_count(executor.n_shards)}</td>
            <td class="num">{format_compute_time(executor.seconds)}</td>
        </tr>
    }
}

fn format_compute_time(seconds: f64) -> String {
    match seconds {
        0.0 => MISSING.to_owned(),
        _ => format_elapsed_time(seconds),
    }
}

/// Formats the cost of some compute time; none without a price or time.
fn format_cost(seconds: f64, price: Option<f64>) -> String {
    match price {
        Some(price) if seconds > 0.0 => format_amount(price * seconds / 3600.0),
        _ => MISSING.to_owned(),
    }
}

/// Describes the compute time of all stages, and its cost if there is a price.
fn describe_total(stages: &[ClusterStage], price: Option<f64>) -> String {
    let seconds: f64 = stages.iter().map(|it| it.seconds).sum();
    let hours = format_amount(seconds / 3600.0);
    match price {
        Some(_) => format!(
            "Total: {hours} executor hours, which cost {}.",
            format_cost(seconds, price)
        ),
        None => format!("Total: {hours} executor hours."),
    }
}

/// Formats hours or an amount of money: `1,234.50`, `less than 0.01`.
fn format_amount(value: f64) -> String {
    if value > 0.0 && value < 0.01 {
        return "less than 0.01".to_owned();
    }
    let hundredths = (value * 100.0).round() as u64;
    format!("{}.{:02}", format_count(hundredths / 100), hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_a_number_that_is_not_negative() {
        assert_eq!(parse_price(" "), Ok(None));
        assert_eq!(parse_price(" 0.25 "), Ok(Some(0.25)));
        assert_eq!(parse_price("0"), Ok(Some(0.0)));
        for wrong in ["-1", "1,5", "inf", "NaN", "1 €"] {
            assert!(parse_price(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hours_times_price_is_the_cost() {
        let stage = |seconds| ClusterStage {
            name: "mine".to_owned(),
            n_shards: 2,
            n_committed: 2,
            n_attempts: 2,
            n_repeated_attempts: 0,
            n_rows: 64,
            n_bytes: 1_000,
            seconds,
        };
        let stages = [stage(1_800.0), stage(5_400.0)];
        assert_eq!(
            describe_total(&stages, Some(0.75)),
            "Total: 2.00 executor hours, which cost 1.50."
        );
        assert_eq!(
            describe_total(&stages[..1], None),
            "Total: 0.50 executor hours."
        );
        assert_eq!(format_cost(1_800.0, Some(0.75)), "0.38");
        assert_eq!(format_cost(1_800.0, None), MISSING);
        assert_eq!(format_amount(0.0), "0.00");
        assert_eq!(format_amount(0.001), "less than 0.01");
        assert_eq!(format_amount(1_234.5), "1,234.50");
    }
}

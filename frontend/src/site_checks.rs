//! The footer's line on the checks that the server runs on itself.

use gloo_timers::future::TimeoutFuture;
use js_sys::Date;
use leptos::prelude::*;
use shared::api::site_checks::{SiteCheckFailure, SiteCheckReport};

use crate::api;
use crate::api::transport::server_info_signal;

/// Time after which the line asks the server, if no page has: most pages do at once.
const PATIENCE_MS: u32 = 3_000;

/// Renders when the checks of the server passed, or which of them failed; nothing on a static host
/// and before the first checks.
#[component]
pub(crate) fn SiteCheckStatus() -> impl IntoView {
    let server = server_info_signal();
    let known = server.clone();
    leptos::task::spawn_local(async move {
        TimeoutFuture::new(PATIENCE_MS).await;
        if known.read_untracked().is_none() {
            // Without a server there is no line, and a page that needs one says why it fails.
            let _ = api::fetch_server_info().await;
        }
    });
    move || {
        let report = server.get()?.site_checks?;
        Some(report_view(report))
    }
}

fn report_view(report: SiteCheckReport) -> AnyView {
    if report.failures.is_empty() {
        let time = local_minute(report.finished_ms);
        return view! { <p>"All checks of this site passed at " {time} "."</p> }.into_any();
    }
    let line = |it: SiteCheckFailure| {
        let time = local_date_and_minute(it.since_ms);
        let reason = it.detail.unwrap_or(it.message);
        view! {
            <p class="verdict failed">"A check of this site failed, " {time} ": " {reason}</p>
        }
    };
    report
        .failures
        .into_iter()
        .map(line)
        .collect_view()
        .into_any()
}

/// Formats a time of today in the time zone of this browser, as in `14:03`.
fn local_minute(ms: u64) -> String {
    let date = Date::new(&(ms as f64).into());
    format!("{:02}:{:02}", date.get_hours(), date.get_minutes())
}

/// Formats a time in the time zone of this browser, as in `2026-11-28, 14:03`.
fn local_date_and_minute(ms: u64) -> String {
    let date = Date::new(&(ms as f64).into());
    let (year, month, day) = (date.get_full_year(), date.get_month() + 1, date.get_date());
    format!("{year}-{month:02}-{day:02}, {}", local_minute(ms))
}

//! The command `health`: asks a running server, for health checks of containers and services.

use std::time::Duration;

use shared::api::Endpoint;
use shared::api::models::GetModelHealthRequest;

use super::CommandOutcome;
use crate::error::Error;
use crate::http::{PublicUrl, READY_PATH};

/// Maximum number of bytes of a response that are read.
const MAX_REPLY: u64 = 1 << 20;

/// Holds the command-line arguments of `axioscope health`.
#[derive(clap::Args)]
pub(crate) struct HealthArgs {
    /// Address of the server, without a path
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8017")]
    url: PublicUrl,
    /// Ask only whether the server takes requests (`/ready`), not whether its checks pass: for
    /// supervisors that restart what does not answer
    #[arg(long)]
    ready: bool,
    /// Seconds to wait for the answer. The server itself allows its models 30 s.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 35,
        value_parser = clap::value_parser!(u64).range(1..=600)
    )]
    timeout: u64,
}

impl HealthArgs {
    pub(super) fn run(self) -> Result<CommandOutcome, Error> {
        let path = match self.ready {
            true => READY_PATH,
            false => GetModelHealthRequest::PATH,
        };
        let url = format!("{}{path}", self.url.origin());
        let unhealthy = |reason: String| Error::Unhealthy {
            reason: format!("{url}: {reason}"),
        };
        // Neither a proxy of the environment nor another server may answer instead.
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(self.timeout)))
            .build()
            .into();
        let response = agent
            .get(&url)
            .call()
            .map_err(|it| unhealthy(format!("{it}; start the server, or name it by `--url`")))?;
        let status = response.status();
        let body = response.into_body().into_with_config();
        let body = body.limit(MAX_REPLY).lossy_utf8(true).read_to_string();
        let body = body.map_err(|it| unhealthy(it.to_string()))?;
        if status != ureq::http::StatusCode::OK {
            return Err(unhealthy(format!("{status} {}", body.escape_debug())));
        }
        println!("{url}: {status}");
        Ok(CommandOutcome::Done)
    }
}

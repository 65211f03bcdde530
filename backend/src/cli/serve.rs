//! The command `serve`.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::CommandFactory;
use ipnet::IpNet;
use shared::error::Error as InputError;

use super::compute::DeviceAndPrecisionArgs;
use super::{Cli, CommandOutcome};
use crate::canary;
use crate::demo::{self, PendingDemoScores};
use crate::documentation::{DocumentationHost, documentation_files};
use crate::error::Error;
use crate::http::{
    self, ListenScope, NetworkExposure, OperatorEndpoints, OperatorTokenPolicy, PublicUrl,
    SecurityContact, ServerSettings,
};
use crate::models::ModelRegistry;
use crate::runtime::build_async_runtime;
use crate::store::DataFolder;

/// The rankers of the demo study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DemoExtent {
    /// BM25, query likelihood and the small neural models.
    Full,
    /// BM25, query likelihood, and the models of --model that the demo study uses.
    Lexical,
}

/// Holds the command-line arguments of `axioscope serve`.
#[derive(clap::Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on. Every client is a visitor, even on loopback. Writing and costly
    /// actions are reserved for invited people and for the operator, who signs in with the link
    /// printed at each start. Programs authenticate with the operator token.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8017")]
    listen: SocketAddr,
    /// Address for operators and metrics. Their pages and endpoints, and /metrics, are then
    /// answered there only, and do not exist at the public address. Choose one that only operators
    /// reach.
    #[arg(long, value_name = "ADDR", env = "AXIOSCOPE_OPERATOR_LISTEN")]
    operator_listen: Option<SocketAddr>,
    /// Public URL of the server (https://HOST) behind a reverse proxy. The operator's link uses it,
    /// and only pages of this origin may send changes. With https, browsers are told to use https
    /// only (HSTS).
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_PUBLIC_URL")]
    public_url: Option<PublicUrl>,
    /// Trusted proxies: addresses and networks, such as 127.0.0.1,10.0.0.0/8. Limits apply to the
    /// rightmost untrusted address in `X-Forwarded-For` or `Forwarded`. Without this flag all
    /// visitors behind a proxy share one limit.
    #[arg(
        long,
        value_name = "CIDR",
        env = "AXIOSCOPE_TRUSTED_PROXY",
        value_delimiter = ',',
        value_parser = http::parse_network
    )]
    trusted_proxy: Vec<IpNet>,
    /// Whom to tell about vulnerabilities: mailto:NAME@HOST or https://HOST/PATH. The server names
    /// it in `/.well-known/security.txt` (RFC 9116); without it there is no such file.
    #[arg(long, value_name = "URI", env = "AXIOSCOPE_SECURITY_CONTACT")]
    security_contact: Option<SecurityContact>,
    /// Treat every local client as the operator; for tests. Every program, user and proxy on this
    /// machine that adds no forwarding header then has full access. Clients of forwarded requests
    /// are still visitors.
    #[arg(long, conflicts_with_all = ["public_url", "trusted_proxy"])]
    no_auth_on_loopback: bool,
    /// Create and publish the demo study if it does not exist. Its rankers are BM25, QL and small
    /// neural models in the program, which take some minutes to score; `--demo=lexical` leaves the
    /// small models out.
    #[arg(
        long,
        value_name = "full|lexical",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    demo: Option<DemoExtent>,
    /// Model folder or Hugging Face Hub name; may be repeated [default: AXIOSCOPE_MODEL, or the
    /// default model if it is installed; with --demo only its small models]
    #[arg(long, value_name = "FOLDER|NAME")]
    model: Vec<String>,
    #[command(flatten)]
    computing: DeviceAndPrecisionArgs,
    /// Seconds between two rounds of the checks of the site; for tests
    #[arg(
        long,
        value_name = "SECONDS",
        hide = true,
        default_value_t = canary::DEFAULT_INTERVAL.as_secs(),
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    canary_interval: u64,
    /// Create a new operator token; the old one stops working and the operator is signed out
    #[arg(long)]
    new_token: bool,
}

impl ServeArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let computing = self.computing.compute_target()?;
        let exposure = NetworkExposure {
            scope: ListenScope::from_address(self.listen),
            trusted_proxies: self.trusted_proxy,
            public_url: self.public_url,
            no_auth_on_loopback: self.no_auth_on_loopback,
            operator_endpoints: OperatorEndpoints::Here,
        };
        if exposure.no_auth_on_loopback && exposure.scope == ListenScope::Network {
            let reason = format!("is for 127.0.0.1 and [::1], and this is {}", self.listen);
            return Err(InputError::conflicting_value("--no-auth-on-loopback", reason).into());
        }
        let folder = DataFolder::open(data)?;
        let named = match self.demo {
            Some(DemoExtent::Full) => demo::add_demo_models(&folder, &self.model)?,
            Some(DemoExtent::Lexical) | None => self.model,
        };
        let models = Arc::new(ModelRegistry::with_models_or_default(&named, computing)?);
        let neural = match self.demo {
            Some(_) => demo::create_and_publish_demo_study(&folder, &models)?,
            None => None,
        };
        build_async_runtime()?.block_on(http::serve(ServerSettings {
            data: data.to_owned(),
            listen: self.listen,
            operator_listen: self.operator_listen,
            exposure,
            canary_interval: Duration::from_secs(self.canary_interval),
            models,
            documentation: documentation_files("", DocumentationHost::Server, &Cli::command()),
            security_contact: self.security_contact,
            token: if self.new_token {
                OperatorTokenPolicy::Renew
            } else {
                OperatorTokenPolicy::Keep
            },
            lines_below: neural.map(PendingDemoScores::score_in_background),
        }))?;
        Ok(CommandOutcome::Done)
    }
}

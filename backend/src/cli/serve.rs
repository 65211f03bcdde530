//! `serve`, `models`: pages, programs and neural rankers.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use clap::Subcommand;
use ipnet::IpNet;
use shared::error::Error as InputError;

use super::CommandOutcome;
use super::compute::ComputeArgs;
use crate::demo::{self, PendingDemoScores};
use crate::error::Error;
use crate::http::{
    self, ListenScope, NetworkExposure, OperatorTokenPolicy, PublicUrl, ServerSettings,
};
use crate::models::{ModelRegistry, NeuralRanker};
use crate::runtime::runtime;
use crate::store::DataFolder;

/// Holds the command-line arguments of `axioscope serve`.
#[derive(clap::Args)]
pub(crate) struct ServeArgs {
    /// Where to listen
    ///
    /// Whoever reaches the server is a visitor, on loopback too. What is written or costs is for
    /// the operator, who comes in by the link that the server prints each time it starts, and for
    /// people whom the operator invites. Programs send the operator's token.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8017")]
    listen: SocketAddr,
    /// Where visitors find the server, as https://HOST, if a proxy stands before it
    ///
    /// The link of the operator leads there, and what changes something may come from pages of
    /// this address alone. With https, browsers are told to keep to that (HSTS).
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_PUBLIC_URL")]
    public_url: Option<PublicUrl>,
    /// Proxies that are believed for whom they pass a request on: addresses and networks, as in
    /// 127.0.0.1,10.0.0.0/8
    ///
    /// Limits count the rightmost address in `X-Forwarded-For` or `Forwarded` that is not such a
    /// proxy. Without it, all visitors behind a proxy share the limits of one.
    #[arg(
        long,
        value_name = "CIDR",
        env = "AXIOSCOPE_TRUSTED_PROXY",
        value_delimiter = ',',
        value_parser = http::parse_network
    )]
    trusted_proxy: Vec<IpNet>,
    /// Make everybody on this machine the operator: for tests
    ///
    /// Every program, every user and every proxy of this machine that adds no header can then do
    /// everything. Requests that a proxy says it passes on are those of visitors all the same.
    #[arg(long, conflicts_with_all = ["public_url", "trusted_proxy"])]
    no_auth_on_loopback: bool,
    /// Make and publish the demo study if it is not there
    #[arg(long)]
    demo: bool,
    /// A model's folder or its name on the hub; as often as needed
    #[arg(long, value_name = "FOLDER|NAME")]
    model: Vec<String>,
    #[command(flatten)]
    computing: ComputeArgs,
    /// Make a new operator's token; the one before no longer counts, and the operator is signed out
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
        };
        if exposure.no_auth_on_loopback && exposure.scope == ListenScope::Network {
            let reason = format!("is for 127.0.0.1 and [::1], and this is {}", self.listen);
            return Err(InputError::conflict("--no-auth-on-loopback", reason).into());
        }
        let folder = DataFolder::open(data)?;
        let models = Arc::new(ModelRegistry::new(&self.model, computing)?);
        let neural = match self.demo {
            true => demo::create_demo_study(&folder, &models)?,
            false => None,
        };
        runtime()?.block_on(http::serve(ServerSettings {
            data: data.to_owned(),
            listen: self.listen,
            exposure,
            models,
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

/// Holds the command-line arguments of `axioscope models`.
#[derive(clap::Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// List the rankers that models give
    List {
        /// Folders and names on the hub, in place of the default model
        model: Vec<String>,
    },
    /// Fetch a model from the hub into its cache
    Get {
        /// For example sentence-transformers/all-MiniLM-L6-v2, with @REVISION behind it if it is to
        /// be a certain one
        name: String,
    },
    /// Load a model and say what it is
    Inspect {
        /// A folder or a name on the hub, with or without :bi, :late, :splade, :cross, :colbert,
        /// :epic or :monot5
        model: String,
        #[command(flatten)]
        computing: ComputeArgs,
    },
}

impl ModelsArgs {
    pub(super) fn run(self) -> Result<CommandOutcome, Error> {
        match self.command {
            ModelsCommand::List { model } => {
                for spec in ModelRegistry::new(&model, neural::Device::Cpu)?.specs() {
                    println!("{spec}");
                }
            }
            ModelsCommand::Get { name } => tell(&*ModelRegistry::open(&name, neural::Device::Cpu)?),
            ModelsCommand::Inspect { model, computing } => {
                tell(&*ModelRegistry::open(&model, computing.compute_target()?)?);
            }
        }
        Ok(CommandOutcome::Done)
    }
}

/// What there is to know of a model.
fn tell(ranker: &NeuralRanker) {
    let about = &ranker.about;
    println!("spec\t{}", about.spec);
    println!("label\t{}", about.label);
    println!("detail\t{}", about.detail);
    if let Some(note) = &about.note {
        println!("note\t{note}");
    }
    println!("fingerprint\t{}", about.fingerprint);
    println!("weights sha256\t{}", ranker.weights_sha256);
}

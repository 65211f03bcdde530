//! `serve`, `models`: pages, programs and neural rankers.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use clap::Subcommand;

use super::Exit;
use super::computing::ComputingArgs;
use crate::demo;
use crate::error::Error;
use crate::http::{self, Settings, Token};
use crate::models::{Models, Ranker};
use crate::runtime::runtime;
use crate::store::DataFolder;

#[derive(clap::Args)]
pub(crate) struct Serve {
    /// Where to listen; anything but loopback lets visitors in, and asks for the operator's
    /// token where something is written or costs
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8017")]
    listen: SocketAddr,
    /// Make and publish the demo study if it is not there
    #[arg(long)]
    demo: bool,
    /// A model's folder or its name on the hub; as often as needed
    #[arg(long, value_name = "FOLDER|NAME")]
    model: Vec<String>,
    #[command(flatten)]
    computing: ComputingArgs,
    /// Make a new operator's token; the one before no longer counts
    #[arg(long)]
    new_token: bool,
}

impl Serve {
    pub(super) fn run(self, data: &Path) -> Result<Exit, Error> {
        let computing = self.computing.computing()?;
        let folder = DataFolder::open(data)?;
        let models = Arc::new(Models::new(&self.model, computing)?);
        if self.demo
            && let Some(neural) = demo::prepare(&folder, &models)?
        {
            neural.add_in_background();
        }
        runtime()?.block_on(http::serve(Settings {
            data: data.to_owned(),
            listen: self.listen,
            models,
            token: if self.new_token {
                Token::New
            } else {
                Token::AsBefore
            },
        }))?;
        Ok(Exit::Done)
    }
}

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
        computing: ComputingArgs,
    },
}

impl ModelsArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        match self.command {
            ModelsCommand::List { model } => {
                for spec in Models::new(&model, neural::Device::Cpu)?.specs() {
                    println!("{spec}");
                }
            }
            ModelsCommand::Get { name } => tell(&*Models::open(&name, neural::Device::Cpu)?),
            ModelsCommand::Inspect { model, computing } => {
                tell(&*Models::open(&model, computing.computing()?)?);
            }
        }
        Ok(Exit::Done)
    }
}

/// What there is to know of a model.
fn tell(ranker: &Ranker) {
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

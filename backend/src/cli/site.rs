//! The command `site`: pages and studies for a host of files.

use std::path::{Path, PathBuf};

use clap::{CommandFactory, Subcommand};
use shared::error::{Error as InputError, ErrorFieldName};

use super::{Cli, CommandOutcome};
use crate::error::Error;
use crate::http::PublicUrl;
use crate::static_site::{
    BasePath, ExportLayout, StaticSiteOptions, StudyExportOptions, build_static_site,
};
use crate::store::DataFolder;

/// Holds the command-line arguments of `axioscope site`.
#[derive(clap::Args)]
pub(super) struct StaticSiteArgs {
    #[command(subcommand)]
    command: SiteCommand,
}

#[derive(Subcommand)]
enum SiteCommand {
    /// Write pages, programs and studies into a folder that any file server can host. Annotation,
    /// trainings and jobs need a server and say so.
    Build(BuildSiteArgs),
}

/// Holds the command-line arguments of `axioscope site build`.
#[derive(clap::Args)]
struct BuildSiteArgs {
    /// A study of the site; may be repeated
    #[arg(long, value_name = "NAME", required_unless_present = "without_texts")]
    study: Vec<String>,
    /// Another study, of which only ids, counts and scores are written, for collections that may
    /// not be redistributed; may be repeated
    #[arg(long, value_name = "NAME")]
    without_texts: Vec<String>,
    /// The folder of the site: a new or an empty one, or that of an earlier build
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// The path of the site on its host
    #[arg(long, value_name = "/PATH/", default_value = "/")]
    base: BasePath,
    /// The host (https://HOST), without which there are no sitemap, feed
    /// and pictures in link previews
    #[arg(long, value_name = "URL", env = "AXIOSCOPE_PUBLIC_URL")]
    public_url: Option<PublicUrl>,
    /// How a browser reads each study: as one file, in slices by range requests, or in slices from
    /// many small files, for hosts without range requests [default: whole up to 4 MiB, else ranges]
    #[arg(long, value_enum)]
    layout: Option<ExportLayout>,
}

impl StaticSiteArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let SiteCommand::Build(args) = self.command;
        if !data.is_dir() {
            let field = ErrorFieldName::with_display_name("data", data.display());
            let reason = "is no folder, so there are no studies; name the one by `--data`";
            return Err(InputError::missing_field(field, reason).into());
        }
        let folder = DataFolder::open(data)?;
        let mut names: Vec<&String> = args.study.iter().chain(&args.without_texts).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|it| it[0] == it[1]) {
            let reason = format!("`{}` is named twice", twice[0]);
            return Err(InputError::conflicting_value("--study", reason).into());
        }
        let studies = |names: Vec<String>, without_texts: bool| {
            let layout = args.layout;
            let options = StudyExportOptions {
                without_texts,
                layout,
            };
            names.into_iter().map(move |name| (name, options))
        };
        let studies = studies(args.study, false)
            .chain(studies(args.without_texts, true))
            .collect();
        let command = Cli::command();
        let options = StaticSiteOptions {
            command: &command,
            studies,
            base_path: args.base,
            public_url: args.public_url,
        };
        let built = build_static_site(&folder, &options, &args.out)?;
        if options.public_url.is_none() {
            eprintln!("no sitemap and no feed, which need --public-url");
        }
        println!(
            "{}: {} files, {:.1} MB, for {}/",
            args.out.display(),
            built.n_files,
            built.n_bytes as f64 / 1e6,
            options.base_path.as_str()
        );
        Ok(CommandOutcome::Done)
    }
}

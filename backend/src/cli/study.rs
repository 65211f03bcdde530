//! The commands `study` and `report`.

mod baseline;
mod compare;
mod export;
mod import;
mod init;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use shared::error::Error as InputError;
use shared::plot::{self, PlotFigure};
use shared::report::{self, ReportTable};
use shared::study::behavioral_tests::{BehavioralTestOptions, TieThreshold};
use shared::study::controls::StudyPageControls;
use shared::study::figures::StudyFigureOptions;
use shared::study::{ParsedStudyFile, Study, StudyDefinition};

use super::compute::DeviceAndPrecisionArgs;
use super::train::TerminalObserver;
use super::{CommandOutcome, load};
use crate::collection_files::{self, CollectionWithReadReport};
use crate::config::{IndexStorageArgs, register_models};
use crate::error::{Error, ShardError};
use crate::models::ModelRegistry;
use crate::pipeline::{
    self, NewStudy, ParallelExecutor, ShardWorker, StudyCluster, StudyReplacementPolicy,
};
use crate::runtime::run_with_database;
use crate::store::studies::{StudyVisibility, files};
use crate::store::{DataFolder, dataset, write_atomically};
use crate::training::{self, StudyTrainingPlan, StudyTrainingProgress, read_training_record};

/// Holds the command-line arguments of `axioscope study`.
#[derive(clap::Args)]
pub(crate) struct ManageStudiesArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

/// The models that the rankers of a study name.
#[derive(clap::Args)]
pub struct StudyModelArgs {
    /// Model folder or Hugging Face Hub name whose last part rankers of the study have as their
    /// name; may be repeated. Rankers that name a folder or a model on the hub need none
    /// [default: AXIOSCOPE_MODEL, or the default model if it is installed]
    #[arg(long, value_name = "FOLDER|NAME")]
    model: Vec<String>,
    #[command(flatten)]
    computing: DeviceAndPrecisionArgs,
}

impl StudyModelArgs {
    fn register_for_rankers(&self, rankers: &[String]) -> Result<ModelRegistry, Error> {
        register_models(&self.model, rankers, self.computing.compute_target()?)
    }

    /// Creates a worker for shards that uses these models, and mines up to `n_slots` shards at a
    /// time.
    pub fn shard_worker(&self, n_slots: usize) -> Result<ShardWorker, ShardError> {
        let computing = self.computing.compute_target()?;
        Ok(ShardWorker::with_models(
            self.model.clone(),
            computing,
            n_slots,
        ))
    }
}

#[derive(Subcommand)]
enum StudyCommand {
    /// Write a complete, commented study file for a collection
    Init(init::StudyInitArgs),
    /// Create a study from its definition file
    Run {
        /// Definition file, for example study.toml
        file: PathBuf,
        /// Replace a finished study that has the same name and a different definition
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        models: StudyModelArgs,
        #[command(flatten)]
        index: IndexStorageArgs,
    },
    /// Compute the scores that a study lacks
    Resume {
        /// Name of the study
        name: String,
        #[command(flatten)]
        models: StudyModelArgs,
    },
    /// Verify the files of a study and mine its instances again, or compare its cells with a
    /// baseline; exit code 3 if they differ or a cell has dropped
    Check(baseline::VerifyStoredStudyArgs),
    /// List the instances whose verdict differs between two rankers of one study or of two studies
    Diff(baseline::DiffRankerVerdictsArgs),
    /// Compare two studies: which fractions differ, and whether by more than chance
    Compare(compare::CompareStudiesArgs),
    /// Publish a study to visitors
    Publish {
        /// Name of the study
        name: String,
    },
    /// Hide a study from visitors
    Withdraw {
        /// Name of the study
        name: String,
    },
    /// Export a study for a static host: NAME.json and an entry in index.json
    Export(export::ExportStudyArgs),
    /// Store a study from its JSON file, as the Workbench, a Study page and `study export --layout
    /// whole` write it
    Import(import::ImportStudyArgs),
    /// Export a study as a dataset: instances and scores (Parquet), preconditions (JSON lines),
    /// document texts and a dataset card
    Dataset {
        /// Name of the study
        name: String,
        /// Output folder
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
        /// Export only ids, counts and scores, for collections that may not be redistributed
        #[arg(long)]
        without_texts: bool,
    },
    /// List all studies
    List,
}

impl ManageStudiesArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let folder = DataFolder::open(data)?;
        match self.command {
            StudyCommand::Init(it) => it.run(data),
            StudyCommand::Run {
                file,
                replace,
                models,
                index,
            } => {
                let place = StudyPlace {
                    folder: &folder,
                    data,
                    models: &models,
                };
                let options = StudyRunOptions {
                    finished: replacement_policy(replace),
                    executor: index.executor(data),
                    cluster: None,
                };
                let study = run_definition(read_study_definition(&file)?, &place, options)?;
                print!("{}", describe_created_study(&study)?);
                Ok(CommandOutcome::Done)
            }
            StudyCommand::Resume { name, models } => {
                let place = StudyPlace {
                    folder: &folder,
                    data,
                    models: &models,
                };
                resume(pipeline::load_study(&folder, &name)?, &place)
            }
            StudyCommand::Check(it) => it.run(&folder, data),
            StudyCommand::Diff(it) => it.run(&folder),
            StudyCommand::Compare(it) => it.run(&folder),
            StudyCommand::Publish { name } => {
                set_visibility(&name, &folder, StudyVisibility::Published)
            }
            StudyCommand::Withdraw { name } => {
                set_visibility(&name, &folder, StudyVisibility::Withdrawn)
            }
            StudyCommand::Export(it) => it.run(&folder),
            StudyCommand::Import(it) => it.run(&folder),
            StudyCommand::Dataset {
                name,
                out,
                without_texts,
            } => {
                let texts = match without_texts {
                    true => dataset::TextExportPolicy::Withheld,
                    false => dataset::TextExportPolicy::Included,
                };
                let study = pipeline::load_study(&folder, &name)?;
                dataset::export_study_dataset(&study, &out, texts)?;
                println!("{} holds study `{name}` as a dataset", out.display());
                Ok(CommandOutcome::Done)
            }
            StudyCommand::List => list(&folder),
        }
    }
}

/// Where a study is stored and with which models it is made.
struct StudyPlace<'a> {
    folder: &'a DataFolder,
    data: &'a Path,
    models: &'a StudyModelArgs,
}

/// How a study is created from its definition.
struct StudyRunOptions {
    finished: StudyReplacementPolicy,
    executor: ParallelExecutor,
    cluster: Option<StudyCluster>,
}

fn replacement_policy(replace: bool) -> StudyReplacementPolicy {
    match replace {
        true => StudyReplacementPolicy::Replace,
        false => StudyReplacementPolicy::Keep,
    }
}

/// A study that was created on several machines.
#[derive(Debug, Clone)]
pub struct CreatedStudy {
    /// The name of the study.
    pub name: String,
    /// The SHA-256 of its instances, in hex.
    pub instances_hash: String,
    /// What `axioscope study run` prints about it.
    pub text: String,
}

/// Creates a study from its definition file, on several machines.
pub fn run_study_on_cluster(
    file: &Path,
    data: &Path,
    models: &StudyModelArgs,
    replace: bool,
    cluster: StudyCluster,
) -> Result<CreatedStudy, ShardError> {
    let folder = DataFolder::open(data)?;
    let place = StudyPlace {
        folder: &folder,
        data,
        models,
    };
    let options = StudyRunOptions {
        finished: replacement_policy(replace),
        executor: ParallelExecutor::default(),
        cluster: Some(cluster),
    };
    let study = run_definition(read_study_definition(file)?, &place, options)?;
    Ok(CreatedStudy {
        text: describe_created_study(&study)?,
        instances_hash: study.instances_hash,
        name: study.definition.name,
    })
}

fn describe_created_study(study: &Study) -> Result<String, Error> {
    let mut text = format!(
        "study `{}` is complete; instance hash {}\n",
        study.definition.name, study.instances_hash
    );
    for repair in study.compare_repairs(None)? {
        let sentence = report::repair_sentence(&repair);
        text.push_str(&format!("{}: {sentence}\n", repair.after));
    }
    Ok(text)
}

fn run_definition(
    definition: StudyDefinition,
    place: &StudyPlace<'_>,
    options: StudyRunOptions,
) -> Result<Study, Error> {
    let StudyPlace { folder, data, .. } = *place;
    let StudyRunOptions {
        finished,
        executor,
        cluster,
    } = options;
    let models = place.models.register_for_rankers(&definition.rankers)?;
    let mut loaded = load(&definition.collection, data, None)?;
    let trainings = StudyTrainingPlan::check(&definition, &loaded, folder)?;
    let wanted = NewStudy {
        collection: match definition.train.is_empty() {
            true => std::mem::take(&mut loaded.collection),
            false => loaded.collection.clone(),
        },
        definition,
        finished,
        executor,
        cluster,
    };
    let mut study = pipeline::create_or_resume_study(wanted, &loaded.folder, folder, &models)?;
    drop(models);
    train_rankers(&mut study, &trainings, &loaded, place, finished)?;
    run_with_database(folder, async |store| store.upsert_study_entry(&study).await)?;
    Ok(study)
}

/// Trains the rankers of a study that are not trained yet, and computes the scores that they lack.
fn train_rankers(
    study: &mut Study,
    trainings: &StudyTrainingPlan,
    loaded: &CollectionWithReadReport,
    place: &StudyPlace<'_>,
    finished: StudyReplacementPolicy,
) -> Result<(), Error> {
    if study.definition.train.is_empty() {
        return Ok(());
    }
    let folder = place.folder;
    let progress = StudyTrainingProgress {
        finished,
        observer: &TerminalObserver::default(),
    };
    trainings.train_rankers(study, loaded, folder, progress)?;
    let specs = training::trained_ranker_specs(&study.definition, folder)?;
    let models = place.models.register_for_rankers(&specs)?;
    pipeline::compute_scores_of_trained_rankers(study, &loaded.folder, folder, &models)?;
    training::evaluate_with_swapped_queries(study, folder, &models)
}

/// Reads a study file. Lists on standard error the probes that are skipped because they need word
/// vectors.
pub(super) fn read_study_definition(file: &Path) -> Result<StudyDefinition, Error> {
    let text = std::fs::read_to_string(file).map_err(Error::io_error_converter(
        file,
        "give the path of a study's TOML file",
    ))?;
    let ParsedStudyFile {
        definition,
        left_out,
    } = ParsedStudyFile::from_toml(&file.display().to_string(), &text)?;
    super::tell_left_out(&left_out, "`vectors` of the study file");
    Ok(definition)
}

fn resume(mut study: Study, place: &StudyPlace<'_>) -> Result<CommandOutcome, Error> {
    let StudyPlace { folder, data, .. } = *place;
    let models = place
        .models
        .register_for_rankers(&study.definition.rankers)?;
    let loaded = collection_files::load_named_collection(&study.definition.collection, data);
    let loaded = match (loaded, study.definition.train.is_empty()) {
        (Err(_), true) => CollectionWithReadReport {
            folder: PathBuf::from("."),
            ..CollectionWithReadReport::default()
        },
        (loaded, _) => loaded?,
    };
    let trainings = StudyTrainingPlan::check(&study.definition, &loaded, folder)?;
    let collection = &loaded.folder;
    let mut n_added =
        pipeline::compute_missing_or_outdated_scores(&mut study, collection, folder, &models)?;
    drop(models);
    let n_untrained = study.scores.len();
    train_rankers(
        &mut study,
        &trainings,
        &loaded,
        place,
        StudyReplacementPolicy::Keep,
    )?;
    n_added += study.scores.len() - n_untrained;
    run_with_database(folder, async |store| store.upsert_study_entry(&study).await)?;
    println!("{n_added} rankers were added");
    Ok(CommandOutcome::Done)
}

fn check(name: &str, folder: &DataFolder, data: &Path) -> Result<CommandOutcome, Error> {
    match files::verify_study_files(folder, name)? {
        0 => {
            eprintln!("an earlier version made the study without checksums; `study run` adds them")
        }
        n_files => eprintln!("{n_files} files are as they were written"),
    }
    let stored = pipeline::load_study(folder, name)?;
    let loaded = collection_files::load_named_collection(&stored.definition.collection, data)?;
    let again = pipeline::hash_remined_instances(&stored, loaded.collection, &loaded.folder)?;
    if again == stored.instances_hash {
        println!("the same instances: {again}");
        return Ok(CommandOutcome::Done);
    }
    println!(
        "other instances: stored {}, made again {again}",
        stored.instances_hash
    );
    Ok(CommandOutcome::DifferenceFound)
}

fn set_visibility(
    name: &str,
    folder: &DataFolder,
    visibility: StudyVisibility,
) -> Result<CommandOutcome, Error> {
    run_with_database(folder, async |store| {
        store.set_study_visibility(name, visibility).await
    })?;
    match visibility {
        StudyVisibility::Published => println!("visitors see study `{name}`, at /studies/{name}"),
        StudyVisibility::Withdrawn => println!("visitors do not see study `{name}`"),
    }
    Ok(CommandOutcome::Done)
}

fn list(folder: &DataFolder) -> Result<CommandOutcome, Error> {
    for it in run_with_database(folder, async |store| store.list_studies().await)? {
        let seen = if it.is_published {
            "published"
        } else {
            "not published"
        };
        println!(
            "{}\t{}\t{} instances\t{seen}\t{}",
            it.name, it.created, it.n_instances, it.title
        );
    }
    Ok(CommandOutcome::Done)
}

/// Holds the command-line arguments of `axioscope report`.
#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    /// Name of the study, or folder of a training
    #[arg(value_name = "STUDY|FOLDER")]
    study: String,
    /// Output format: md, csv, tex, json or html
    #[arg(long, value_enum, default_value = "md")]
    format: Format,
    /// Output file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Axiom variant: fixed (as defined here), paper or paper-rennings2019 (as printed) or code (as
    /// implemented by the authors) [default: the first one of the study]
    #[arg(long)]
    variant: Option<String>,
    /// Use only the queries of this split [default: all queries]
    #[arg(long)]
    split: Option<String>,
    /// Tie threshold ε of behavioral tests for every ranker [default: median difference of adjacent
    /// scores in the top 10 of the candidate pools, for each ranker]
    #[arg(long, value_name = "WIDTH")]
    tie_threshold: Option<f64>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Md,
    Csv,
    Tex,
    Json,
    Html,
}

impl ReportArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let folder = DataFolder::open(data)?;
        let training = Path::new(&self.study);
        let text = match pipeline::load_study(&folder, &self.study) {
            Err(Error::Input(InputError::NotFound { .. } | InputError::Invalid { .. }))
                if training.is_dir() =>
            {
                self.format_training(training)?
            }
            study => self.format_study(&study?)?,
        };
        match &self.out {
            Some(path) => {
                write_atomically(path, "choose another file", |mut file| {
                    file.write_all(text.as_bytes())
                })?;
            }
            None => print!("{text}"),
        }
        Ok(CommandOutcome::Done)
    }

    fn format_training(&self, folder: &Path) -> Result<String, Error> {
        for (name, is_given) in [
            ("variant", self.variant.is_some()),
            ("split", self.split.is_some()),
            ("tie-threshold", self.tie_threshold.is_some()),
        ] {
            if is_given {
                let reason = "is an option for studies; leave it out for a training";
                return Err(InputError::unsupported_value(name, reason).into());
            }
        }
        let record = read_training_record(folder)?;
        let tables = report::training_tables(&record);
        let layout = plot::LearningCurveLayout::REPORT;
        let figures = || vec![plot::draw_learning_curves(&record.points, layout)];
        Ok(self.format_tables(&record.name, figures, &tables, &tables[0]))
    }

    fn format_study(&self, study: &Study) -> Result<String, Error> {
        let source = shared::probe::AxiomDefinitionPaper::Camara2020;
        let variant = self
            .variant
            .as_deref()
            .map(|it| shared::probe::AxiomVariant::parse_for_paper("variant", it, source));
        let dials = StudyPageControls {
            variant: variant.transpose()?,
            split: self.split.clone(),
            ..StudyPageControls::default()
        };
        let overview = study.overview(&dials)?;
        let figures = study.compute_figures(&StudyFigureOptions {
            controls: dials,
            ..StudyFigureOptions::default()
        })?;
        let behaviours = study.behavioral_tests(&BehavioralTestOptions {
            split: figures.options.controls.split.clone(),
            tie_threshold: match self.tie_threshold {
                Some(width) => TieThreshold::Fixed { width },
                None => TieThreshold::TunedPerRanker,
            },
            ..BehavioralTestOptions::default()
        })?;
        let mut tables = report::study_tables(&overview);
        tables.extend(report::behavioral_test_tables(&behaviours));
        tables.extend(report::figure_data_tables(&figures));
        tables.extend(report::trained_ranker_tables(
            study,
            Some(overview.variant),
        )?);
        let figures = || {
            let trainings = study.trainings.iter();
            let curves = trainings.map(|it| plot::draw_learning_curves_of(&it.record));
            let heatmap = [plot::draw_study_heatmap_figure(&overview)];
            heatmap.into_iter().chain(curves).collect()
        };
        Ok(self.format_tables(&overview.title, figures, &tables, &tables[1]))
    }

    /// Returns all tables, or the one for programs in a format that has a single table.
    fn format_tables(
        &self,
        title: &str,
        figures: impl FnOnce() -> Vec<PlotFigure>,
        tables: &[ReportTable],
        for_programs: &ReportTable,
    ) -> String {
        match self.format {
            Format::Md => report::tables_to_markdown(tables),
            Format::Csv => report::table_to_csv(for_programs),
            Format::Tex => report::tables_to_latex(tables),
            Format::Json => report::tables_to_json(tables),
            Format::Html => {
                let figures = figures();
                let figures = figures.iter();
                let figures: Vec<String> = figures
                    .map(|it| plot::figure_to_svg(it, plot::FigureTheme::Light))
                    .collect();
                report::report_to_html(title, &figures, tables)
            }
        }
    }
}

//! Datasets for dataset transfer on disk. Their files are found by the names in the original
//! download.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use shared::collection::FileInput;
use shared::collection::document_pairs::layouts::parallel::{PreferredPairSide, SentenceFile};
use shared::collection::document_pairs::layouts::stories::{NewsStorySampleSize, StoryFileLayout};
use shared::collection::document_pairs::layouts::{
    self, ConvertedPairDataset, RowExclusionReason, TitlesByDocId,
};
use shared::collection::document_pairs::layouts::{factuality, parallel, tsv};
use shared::error::{Error as Unreadable, FileReadReport};

use super::{found, read_with_progress};
use crate::error::Error;
use crate::progress::ProgressBar;
use crate::remedy;

/// A converted dataset with the files that it was read from.
#[derive(Debug, Default)]
pub(crate) struct PairDatasetWithSourceFiles {
    /// The pairs, and the report of the readers.
    pub converted: ConvertedPairDataset,
    /// Every file that was read.
    pub files: Vec<PathBuf>,
    /// Files of the complete download that do not exist.
    pub missing_files: Vec<String>,
}

/// The names of a source file and its reference files.
struct Sentences {
    set: String,
    source: String,
    references: Vec<String>,
    preferred: PreferredPairSide,
}

/// Reads JFLEG. `ending` is the suffix of the source files: `src` or `spellchecked.src`.
pub(crate) fn load_jfleg(from: &Path, ending: &str) -> Result<PairDatasetWithSourceFiles, Error> {
    let sets = ["dev", "test"].map(|split| Sentences {
        set: split.to_owned(),
        source: format!("{split}/{split}.{ending}"),
        references: numbered(&format!("{split}/{split}.ref"), 4),
        preferred: PreferredPairSide::Reference,
    });
    sentences(from, &sets, |_, _| Ok(()))
}

/// Reads one domain of GYAFC in both directions. Titles are looked up by the id on the same line of
/// the `.qids` file, such as `tune/informal.qids`, if that exists, otherwise by the name of the
/// sentence, such as `tune-informal-17`.
pub(crate) fn load_gyafc(
    from: &Path,
    titles: &TitlesByDocId,
) -> Result<PairDatasetWithSourceFiles, Error> {
    let mut sets = Vec::new();
    for split in ["tune", "test"] {
        for (source, reference, preferred) in [
            ("informal", "formal", PreferredPairSide::Reference),
            ("formal", "informal", PreferredPairSide::Source),
        ] {
            sets.push(Sentences {
                set: format!("{split}-{source}"),
                source: format!("{split}/{source}"),
                references: numbered(&format!("{split}/{reference}.ref"), 4),
                preferred,
            });
        }
    }
    sentences(from, &sets, |source, converted| {
        let ids = match found(from, &format!("{}.qids", source.name)) {
            Ok(path) if !titles.is_empty() => Some(texts(&path)?),
            _ => None,
        };
        if let Some(ids) = &ids {
            parallel::require_equal_line_counts(source.texts, std::slice::from_ref(ids))?;
        }
        converted.fill_missing_queries_from_groups(|group| {
            let id = match &ids {
                Some(ids) => ids.line_by_number(group.rsplit('-').next()?.parse().ok()?)?,
                None => group,
            };
            titles.get(id).map(String::as_str)
        });
        Ok(())
    })
}

/// Reads WikiTurk: one organized table, a folder of these, or a folder of files with one sentence
/// per line.
pub(crate) fn load_wikiturk(from: &Path) -> Result<PairDatasetWithSourceFiles, Error> {
    let names: [&[&str]; 2] = [
        &["tune.8turkers.organized.tsv"],
        &["test.8turkers.organized.tsv"],
    ];
    match tables_of(from, &names) {
        Ok(paths) => each_table(paths, tsv::read_wikiturk_table),
        Err(none) => {
            let sets = ["tune", "test"].map(|split| Sentences {
                set: split.to_owned(),
                source: format!("{split}.8turkers.tok.norm"),
                references: numbered(&format!("{split}.8turkers.tok.turk."), 8),
                preferred: PreferredPairSide::Reference,
            });
            if sets.iter().all(|it| found(from, &it.source).is_err()) {
                return Err(none);
            }
            sentences(from, &sets, |_, converted| {
                parallel::restore_penn_brackets_in_pairs(converted);
                Ok(())
            })
        }
    }
}

/// Reads the MSR Paraphrase Corpus: one of its tables, or a folder of both.
pub(crate) fn load_msr_paraphrase_corpus(from: &Path) -> Result<PairDatasetWithSourceFiles, Error> {
    let names: [&[&str]; 2] = [
        &["msr_paraphrase_train.txt", "msr_paraphrase_train.tsv"],
        &["msr_paraphrase_test.txt", "msr_paraphrase_test.tsv"],
    ];
    each_table(tables_of(from, &names)?, tsv::read_msr_paraphrase_table)
}

/// Reads the Wiki Neutrality Corpus: `biased.full`, or the folder that contains it.
pub(crate) fn load_wnc(from: &Path) -> Result<PairDatasetWithSourceFiles, Error> {
    each_table(tables_of(from, &[&["biased.full"]])?, |_, file| {
        tsv::read_wiki_neutrality_corpus(file)
    })
}

/// Reads a file of questions with answers and passages. `seed` determines the replaced answers.
pub(crate) fn load_answer_replacement_pairs(
    from: &Path,
    seed: u64,
) -> Result<PairDatasetWithSourceFiles, Error> {
    if from.is_dir() {
        let path = from.display().to_string();
        let reason = "is a folder: name the file of JSON lines, one question and passage a line";
        return Err(Unreadable::unreadable_file(&path, reason).into());
    }
    let converted = read_with_progress(from, |file| {
        factuality::make_answer_replacement_pairs(file, seed)
    })?;
    Ok(PairDatasetWithSourceFiles {
        converted,
        files: vec![from.to_owned()],
        ..PairDatasetWithSourceFiles::default()
    })
}

/// Reads the stories of a folder that are in the sample, in the order of their ids. The id is the
/// file name without its suffix. Symbolic links are refused.
pub(crate) fn load_sampled_stories(
    from: &Path,
    story: StoryFileLayout,
    sample: NewsStorySampleSize,
    titles: &TitlesByDocId,
) -> Result<PairDatasetWithSourceFiles, Error> {
    let mut gathered = PairDatasetWithSourceFiles::default();
    let PairDatasetWithSourceFiles {
        converted, files, ..
    } = &mut gathered;
    let mut ids = Vec::new();
    for entry in fs::read_dir(from).map_err(Error::io_error_converter(from, remedy::CHECK_PATH))? {
        let entry = entry.map_err(Error::io_error_converter(from, remedy::CHECK_PATH))?;
        let name = entry.file_name();
        let Some(id) = name
            .to_string_lossy()
            .strip_suffix(story.file_extension())
            .map(str::to_owned)
        else {
            continue;
        };
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        match (name.to_str(), is_file) {
            (Some(_), true) if story.is_story_in_sample(sample, &id) => ids.push(id),
            (Some(_), true) => converted.count_excluded_row(RowExclusionReason::NotInSample),
            (named, _) => {
                let reason = match named {
                    None => "the name is not UTF-8: rename the file",
                    Some(_) => "is no file: copy the story itself into the folder",
                };
                let path = entry.path().display().to_string();
                converted.reading.refuse_row(&path, 1, reason);
            }
        }
    }
    if ids.is_empty() && converted.left_out.is_empty() && converted.reading.n_refused == 0 {
        return Err(Error::FileNotFound {
            file: format!("*{}", story.file_extension()),
            looked_in: from.to_owned(),
        });
    }
    ids.sort_unstable();
    let bar = ProgressBar::with_unit("read", ids.len() as u64, "stories");
    for id in ids {
        let path = from.join(format!("{id}{}", story.file_extension()));
        let file =
            File::open(&path).map_err(Error::io_error_converter(&path, remedy::CHECK_PATH))?;
        story.read_story_into_dataset(&id, &path.display().to_string(), file, converted);
        files.push(path);
        bar.increment();
    }
    converted.fill_missing_queries_from_groups(|id| titles.get(id).map(String::as_str));
    Ok(gathered)
}

/// Reads a file of titles by id. Refused rows are in the report.
pub(crate) fn read_titles_by_id(path: &Path) -> Result<(TitlesByDocId, FileReadReport), Error> {
    read_with_progress(path, layouts::read_document_titles)
}

/// A source file that was read, with its name in the folder.
struct Source<'a> {
    name: &'a str,
    texts: &'a SentenceFile,
}

/// Reads the source and reference files of each set and aligns them; `then` is called with each
/// set.
fn sentences(
    from: &Path,
    sets: &[Sentences],
    then: impl Fn(Source<'_>, &mut ConvertedPairDataset) -> Result<(), Error>,
) -> Result<PairDatasetWithSourceFiles, Error> {
    let mut gathered = PairDatasetWithSourceFiles::default();
    for set in sets {
        let Ok(path) = found(from, &set.source) else {
            gathered.missing_files.push(set.source.clone());
            continue;
        };
        let source = texts(&path)?;
        gathered.files.push(path);
        let mut references = Vec::new();
        for name in &set.references {
            let path = found(from, name)?;
            references.push(texts(&path)?);
            gathered.files.push(path);
        }
        let mut converted =
            parallel::align_sentence_files(&set.set, &source, &references, set.preferred)?;
        let named = Source {
            name: &set.source,
            texts: &source,
        };
        then(named, &mut converted)?;
        gathered.converted.merge(converted);
    }
    if gathered.files.is_empty() {
        return Err(Error::FileNotFound {
            file: gathered.missing_files.join("` or `"),
            looked_in: from.to_owned(),
        });
    }
    Ok(gathered)
}

fn texts(path: &Path) -> Result<SentenceFile, Error> {
    read_with_progress(path, parallel::read_one_sentence_per_line)
}

fn numbered(name: &str, n: usize) -> Vec<String> {
    (0..n).map(|it| format!("{name}{it}")).collect()
}

/// Returns the given file, or for a folder the first existing file of each list of names.
fn tables_of(from: &Path, names: &[&[&str]]) -> Result<Vec<PathBuf>, Error> {
    if !fs::metadata(from)
        .map_err(Error::io_error_converter(from, remedy::CHECK_PATH))?
        .is_dir()
    {
        return Ok(vec![from.to_owned()]);
    }
    let first = |names: &&[&str]| names.iter().find_map(|it| found(from, it).ok());
    let paths: Vec<PathBuf> = names.iter().filter_map(first).collect();
    match paths.is_empty() {
        false => Ok(paths),
        true => Err(Error::FileNotFound {
            file: names.concat().join("` or `"),
            looked_in: from.to_owned(),
        }),
    }
}

/// Reads tables one after another. `read` gets the name of the set and the file.
fn each_table<R>(paths: Vec<PathBuf>, read: R) -> Result<PairDatasetWithSourceFiles, Error>
where
    R: Fn(&str, FileInput<'_, File>) -> Result<ConvertedPairDataset, Unreadable>,
{
    let mut gathered = PairDatasetWithSourceFiles::default();
    for path in paths {
        let set = set_of(&path);
        let converted = read_with_progress(&path, |file| read(&set, file))?;
        gathered.converted.merge(converted);
        gathered.files.push(path);
    }
    Ok(gathered)
}

/// Returns the name of the set from the file name: `train` for `msr_paraphrase_train.txt`, `tune`
/// for `tune.8turkers.organized.tsv`, `all` if nothing is left.
fn set_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let set = stem.strip_prefix("msr_paraphrase_").unwrap_or(stem);
    let fine = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let set: String = set.chars().filter(fine).take(40).collect();
    match set.is_empty() {
        true => "all".to_owned(),
        false => set,
    }
}

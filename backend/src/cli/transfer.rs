//! The command `transfer`: converts datasets made for other tasks into document pairs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use shared::collection::document_pairs::layouts::stories::{NewsStorySampleSize, StoryFileLayout};
use shared::collection::document_pairs::layouts::{RowExclusionReason, TitlesByDocId};
use shared::error::FileReadReport;
use shared::probe::MiningThresholds;

use super::{CommandOutcome, print_json};
use crate::collection_files;
use crate::collection_files::transfer_sets::{self, PairDatasetWithSourceFiles};
use crate::error::Error;
use crate::remedy;
use crate::store::write_atomically;

/// Holds the command-line arguments of `axioscope transfer`.
#[derive(clap::Args)]
#[command(subcommand_value_name = "LAYOUT", subcommand_help_heading = "Layouts")]
pub(crate) struct ConvertTransferDatasetArgs {
    #[command(subcommand)]
    set: DataSet,
}

#[derive(clap::Subcommand)]
enum DataSet {
    /// JFLEG: a folder with dev/dev.src, dev/dev.ref0 to dev/dev.ref3, and the same for test/;
    /// corrections are preferred
    Jfleg {
        #[command(flatten)]
        ways: TransferPaths,
        /// Use the spell-checked sentences, dev/dev.spellchecked.src
        #[arg(long)]
        spellchecked: bool,
    },
    /// GYAFC: the folder of one domain, with tune/ and test/; formal sentences are preferred, in
    /// both directions
    Gyafc {
        #[command(flatten)]
        ways: TransferPaths,
        /// Question titles of Yahoo L6, `id<TAB>title`; ids are those of tune/informal.qids if it
        /// exists, otherwise such as tune-informal-17
        #[arg(long, value_name = "FILE.tsv")]
        queries: Option<PathBuf>,
    },
    /// XSum: a folder of ID.summary files; first sentences are preferred to the rest of the story,
    /// and the title is the query
    Xsum {
        #[command(flatten)]
        ways: TransferPaths,
        /// Use every story, not the 10 % sample of the ABNIRML paper
        #[arg(long)]
        all: bool,
    },
    /// CNN/Daily Mail: a folder of ID.story files; highlights are preferred to the article
    Cnndm {
        #[command(flatten)]
        ways: TransferPaths,
        /// Story titles, `id<TAB>title`
        #[arg(long, value_name = "FILE.tsv")]
        queries: Option<PathBuf>,
        /// Use every story, not the 10 % sample of the ABNIRML paper
        #[arg(long)]
        all: bool,
    },
    /// MSR Paraphrase Corpus: msr_paraphrase_train.txt and msr_paraphrase_test.txt, or one of them;
    /// neither sentence is preferred
    Mspc(TransferPaths),
    /// WikiTurk: tune.8turkers.organized.tsv and test.8turkers.organized.tsv, or one of them, or a
    /// folder with the one-sentence-per-line files; simplifications are preferred
    Wikiturk(TransferPaths),
    /// Wiki Neutrality Corpus: biased.full or its folder; neutral sentences are preferred
    Wnc(TransferPaths),
    /// Questions with answers and passages from Natural Questions, rows {"_id", "question",
    /// "answers", "type", "passage"}; the original passage is preferred to one with another answer
    Factuality {
        #[command(flatten)]
        ways: TransferPaths,
        /// Random seed of the replaced answers
        #[arg(long, default_value_t = MiningThresholds::STANDARD.seed)]
        seed: u64,
    },
}

#[derive(clap::Args)]
struct TransferPaths {
    /// File or folder of the dataset
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// Output file of pairs: {"_id", "query", "a", "b", "group"}; `a` is the preferred document
    #[arg(long, value_name = "FILE.jsonl")]
    to: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The output of `transfer --json`.
#[derive(serde::Serialize)]
struct TransferOutput {
    files: usize,
    rows: u64,
    pairs: usize,
    /// Number of pairs whose two texts are the same.
    identical: usize,
    without_query: usize,
    refused: u64,
    warned: u64,
    left_out: BTreeMap<RowExclusionReason, u64>,
}

/// How a dataset is described in messages and in the line for a study file.
struct DataSetDescription {
    name: &'static str,
    rows: &'static str,
    /// The query source for the study file, used if pairs have queries.
    queries: &'static str,
    /// Further settings for the study file, starting with a comma.
    more: &'static str,
}

impl ConvertTransferDatasetArgs {
    pub(super) fn run(self) -> Result<CommandOutcome, Error> {
        let words = self.set.words();
        let (ways, queries) = match &self.set {
            DataSet::Gyafc { ways, queries } | DataSet::Cnndm { ways, queries, .. } => {
                (ways, queries.as_deref())
            }
            DataSet::Jfleg { ways, .. }
            | DataSet::Xsum { ways, .. }
            | DataSet::Mspc(ways)
            | DataSet::Wikiturk(ways)
            | DataSet::Wnc(ways)
            | DataSet::Factuality { ways, .. } => (ways, None),
        };
        let from = &ways.from;
        fs::metadata(from).map_err(Error::io_error_converter(from, remedy::CHECK_PATH))?;
        let (titles, mut of_titles) = match queries {
            Some(path) => transfer_sets::read_titles_by_id(path)?,
            None => (TitlesByDocId::new(), FileReadReport::default()),
        };
        let mut gathered = self.set.gather(from, &titles)?;
        gathered.files.extend(queries.map(Path::to_owned));
        // The number of rows in the output counts only rows of the dataset.
        of_titles.n_rows = 0;
        gathered.converted.reading.merge(of_titles);
        collection_files::print_reader_warnings(&gathered.converted.reading);
        for name in &gathered.missing_files {
            eprintln!("there is no {name}: pairs are made of the other files");
        }
        write(&gathered, ways, &words)?;
        tell(&gathered, ways, &words);
        Ok(CommandOutcome::Done)
    }
}

impl DataSet {
    fn gather(
        &self,
        from: &Path,
        titles: &TitlesByDocId,
    ) -> Result<PairDatasetWithSourceFiles, Error> {
        let sample = |all: bool| match all {
            true => NewsStorySampleSize::All,
            false => NewsStorySampleSize::Tenth,
        };
        match self {
            DataSet::Jfleg { spellchecked, .. } => match spellchecked {
                true => transfer_sets::load_jfleg(from, "spellchecked.src"),
                false => transfer_sets::load_jfleg(from, "src"),
            },
            DataSet::Gyafc { .. } => transfer_sets::load_gyafc(from, titles),
            DataSet::Xsum { all, .. } => transfer_sets::load_sampled_stories(
                from,
                StoryFileLayout::Xsum,
                sample(*all),
                titles,
            ),
            DataSet::Cnndm { all, .. } => transfer_sets::load_sampled_stories(
                from,
                StoryFileLayout::Cnndm,
                sample(*all),
                titles,
            ),
            DataSet::Mspc(_) => transfer_sets::load_msr_paraphrase_corpus(from),
            DataSet::Wikiturk(_) => transfer_sets::load_wikiturk(from),
            DataSet::Wnc(_) => transfer_sets::load_wnc(from),
            DataSet::Factuality { seed, .. } => {
                transfer_sets::load_answer_replacement_pairs(from, *seed)
            }
        }
    }

    fn words(&self) -> DataSetDescription {
        let words = |name, rows, queries| DataSetDescription {
            name,
            rows,
            queries,
            more: "",
        };
        match self {
            DataSet::Jfleg { .. } => words("jfleg", "sentences", "noun-phrase"),
            DataSet::Gyafc { .. } => words("gyafc", "sentences", "shared"),
            DataSet::Xsum { .. } => words("xsum", "stories", "shared"),
            DataSet::Cnndm { .. } => words("cnndm", "stories", "shared"),
            DataSet::Mspc(_) => DataSetDescription {
                more: ", is_symmetric = true",
                ..words("mspc", "rows", "noun-phrase")
            },
            DataSet::Wikiturk(_) => words("wikiturk", "sentences", "noun-phrase"),
            DataSet::Wnc(_) => words("wnc", "rows", "noun-phrase"),
            DataSet::Factuality { .. } => words("factuality", "rows", "given"),
        }
    }
}

/// Writes the pairs. Returns an error if there are none, or if the output file is one of the input
/// files.
fn write(
    gathered: &PairDatasetWithSourceFiles,
    ways: &TransferPaths,
    words: &DataSetDescription,
) -> Result<(), Error> {
    let (converted, to) = (&gathered.converted, &ways.to);
    if converted.pairs.is_empty() {
        let from = ways.from.display().to_string();
        let left_out: u64 = converted.left_out.values().sum();
        let reason = format!(
            "no pair is in it: {} {rows} were refused and {left_out} left out; is it the layout \
             `{}`?{}",
            converted.reading.n_refused,
            words.name,
            match converted
                .left_out
                .contains_key(&RowExclusionReason::NotInSample)
            {
                true => " `--all` takes what is not in the sample",
                false => "",
            },
            rows = words.rows,
        );
        return Err(shared::error::Error::unreadable_file(&from, reason).into());
    }
    if let Ok(there) = fs::canonicalize(to) {
        let same = |it: &&PathBuf| {
            it.file_name() == there.file_name() && fs::canonicalize(it).is_ok_and(|it| it == there)
        };
        if let Some(read) = gathered.files.iter().find(same) {
            let reason = "is a file of the dataset: choose another one for the pairs";
            return Err(
                shared::error::Error::unreadable_file(&read.display().to_string(), reason).into(),
            );
        }
    }
    write_atomically(to, remedy::ANOTHER_FILE, |file| {
        let mut out = BufWriter::new(file);
        for pair in &converted.pairs {
            serde_json::to_writer(&mut out, pair)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok::<_, io::Error>(())
    })
}

/// Prints how many rows were read, how many pairs were written, and what was left out.
fn tell(gathered: &PairDatasetWithSourceFiles, ways: &TransferPaths, words: &DataSetDescription) {
    let PairDatasetWithSourceFiles {
        converted, files, ..
    } = gathered;
    let pairs = converted.pairs.iter();
    let told = TransferOutput {
        files: files.len(),
        rows: converted.reading.n_rows,
        pairs: converted.pairs.len(),
        identical: pairs.clone().filter(|it| it.a == it.b).count(),
        without_query: pairs.filter(|it| it.query.is_none()).count(),
        refused: converted.reading.n_refused,
        warned: converted.reading.n_warned,
        left_out: converted.left_out.clone(),
    };
    if ways.json {
        return print_json(&told);
    }
    let (rows, to) = (words.rows, ways.to.display());
    match &files[..] {
        [] => {}
        few if few.len() <= SHOWN => {
            let names = few.iter().map(|it| it.display().to_string());
            println!("read: {}", names.collect::<Vec<_>>().join(", "));
        }
        many => println!("read: {} files of {}", many.len(), ways.from.display()),
    }
    println!("{} pairs of {} {rows} are in {to}", told.pairs, told.rows);
    for (why, n) in &told.left_out {
        println!("left out: {n} {rows} {}", reason(*why));
    }
    if told.identical > 0 {
        println!(
            "{} pairs are of the same text twice: a study counts and leaves them out",
            told.identical
        );
    }
    let queries = match told.without_query {
        0 => words.queries,
        n if n == told.pairs => "noun-phrase",
        n => {
            println!("{n} pairs have no query: a study counts and leaves them out");
            words.queries
        }
    };
    println!(
        "in a study: [[transfers]] name = \"{}\", file = {:?}, query_source = \"{queries}\"{}",
        words.name, ways.to, words.more
    );
}

/// Up to this number, input files are listed by name.
const SHOWN: usize = 12;

fn reason(why: RowExclusionReason) -> &'static str {
    match why {
        RowExclusionReason::NotInSample => "that are not in the sample; `--all` takes them",
        RowExclusionReason::NoParaphrase => "that are no paraphrases",
        RowExclusionReason::NotOneAnswer => "with no answer or several",
        RowExclusionReason::AnswerNotInPassage => "whose passage does not have the answer",
        RowExclusionReason::AnswerInQuestion => "with a word of the answer in the question",
        RowExclusionReason::NoOtherAnswer => "without another answer of the same type and length",
    }
}

//! The definition of a study: what a user writes in a study file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::trained_rankers::{StudyTraining, validate_trainings};
use crate::error::{Error, ErrorFieldName};
use crate::probe::transfer::TransferQuerySource;
use crate::probe::{
    AxiomVariant, CandidatePoolSpec, DatasetTransferTest, Manipulation, MiningThresholds, Probe,
};
use crate::rank::LexicalRanker;
use crate::text::{Analyzer, Tokenizer};
use crate::user_text::{has_no_visible_character, reject_invisible_characters};

/// The definition of a study, as written in its TOML file, with defaults for all keys but `name`
/// and `collection`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyDefinition {
    /// The version of this layout; 1.
    #[serde(default = "default_format")]
    pub format: u32,
    /// The name in addresses: lowercase letters, digits, hyphens.
    pub name: String,
    /// The title, as shown to readers; the default in a study file is the name.
    #[serde(default)]
    pub title: String,
    /// A description in about two sentences.
    #[serde(default)]
    pub description: String,
    /// A folder or the name of an imported collection.
    pub collection: String,
    /// The number of queries to take, in file order; `None` takes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_queries: Option<usize>,
    /// Which documents of a query are compared: `rank:bm25:50`, `run:FILE:100`, …; the default is
    /// [`CandidatePoolSpec::DEFAULT`].
    #[serde(default = "default_pool")]
    pub pool: CandidatePoolSpec,
    /// The axioms and behavioral tests; the default is the group `all`.
    #[serde(default = "default_probes", deserialize_with = "probes")]
    pub probes: Vec<Probe>,
    /// The variants of the axioms; the first one is shown by default. The default is `fixed`.
    #[serde(alias = "modes", default = "default_variants")]
    pub variants: Vec<AxiomVariant>,
    /// The rankers, as on the command line: `bm25`, `ql:mu=750`, a model, `scores:FILE`; the
    /// default is `bm25` and `ql`.
    #[serde(default = "default_rankers")]
    pub rankers: Vec<String>,
    /// The analyzer, which turns text into terms.
    #[serde(default)]
    pub analyzer: Analyzer,
    /// The thresholds that decide what becomes an instance.
    #[serde(default)]
    pub limits: MiningThresholds,
    /// A file of word vectors, for the axioms that need them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
    /// Other analyzers under which the instances are checked again: [`super::analyzer_audit`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<Analyzer>,
    /// Files that manipulations look words up in.
    #[serde(default, skip_serializing_if = "ManipulationLookupFiles::is_empty")]
    pub lookups: ManipulationLookupFiles,
    /// Files with document pairs for dataset transfer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferSetFile>,
    /// Rankers that are trained for the study; they follow the rankers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub train: Vec<StudyTraining>,
}

/// Files that manipulations look words up in. They are in the folders in which runs are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManipulationLookupFiles {
    /// A stop list, one word per line; `None` takes the built-in English function words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_words: Option<String>,
    /// Lines of misspelled word, tab, word; `None` misspells by a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misspellings: Option<String>,
    /// The queries that `expand` has written, for `doc2query`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expansions: Option<String>,
}

impl ManipulationLookupFiles {
    /// Returns whether no lookup file is named.
    pub fn is_empty(&self) -> bool {
        *self == ManipulationLookupFiles::default()
    }
}

/// A file with document pairs of one transfer set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferSetFile {
    /// The name of the set: `fluency`.
    pub name: String,
    /// The path of the file, in the folders in which runs are allowed.
    pub file: String,
    /// Where the queries of the pairs come from.
    #[serde(default)]
    #[serde(alias = "queries")]
    pub query_source: TransferQuerySource,
    /// Whether neither document of a pair is the preferred one.
    #[serde(default)]
    #[serde(alias = "symmetric")]
    pub is_symmetric: bool,
}

impl TransferSetFile {
    /// Returns the dataset transfer test that the file defines, or an error if its name is invalid.
    pub fn dataset_transfer_test(&self) -> Result<DatasetTransferTest, Error> {
        Ok(DatasetTransferTest {
            name: self.name.parse()?,
            is_symmetric: self.is_symmetric,
        })
    }
}

fn default_format() -> u32 {
    1
}

fn default_pool() -> CandidatePoolSpec {
    let pool = CandidatePoolSpec::DEFAULT.parse();
    pool.expect("the default is a pool")
}

fn default_probes() -> Vec<Probe> {
    Probe::list_minable_paper_axioms(true)
}

fn default_probe_words() -> Vec<String> {
    vec!["all".to_owned()]
}

fn default_variants() -> Vec<AxiomVariant> {
    vec![AxiomVariant::Fixed]
}

fn default_rankers() -> Vec<String> {
    ["bm25", "ql"].map(str::to_owned).to_vec()
}

/// Deserializes a list of probes and of groups of probes.
fn probes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Probe>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    // The rest of the definition tells whether there are word vectors.
    expand_groups(&words, true).map_err(serde::de::Error::custom)
}

/// Returns the probes that the words of a list name, each once.
fn expand_groups(words: &[String], with_vectors: bool) -> Result<Vec<Probe>, Error> {
    let mut probes = Vec::new();
    for word in words {
        for probe in Probe::parse_probe_or_group(word, with_vectors)? {
            if !probes.contains(&probe) {
                probes.push(probe);
            }
        }
    }
    Ok(probes)
}

/// A study file after reading.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStudyFile {
    /// The definition of the study.
    pub definition: StudyDefinition,
    /// Members of the groups in `probes` that are not mined, since they need word vectors that the
    /// file does not name.
    pub left_out: Vec<Probe>,
}

impl ParsedStudyFile {
    /// Reads a study file. The error of a file without required keys names all of them. A probe
    /// that is named on its own, not only through a group, is never left out: if it needs word
    /// vectors and the file names none, the file is rejected.
    pub fn from_toml(file: &str, text: &str) -> Result<ParsedStudyFile, Error> {
        #[derive(Deserialize)]
        struct Named {
            #[serde(default = "default_probe_words")]
            probes: Vec<String>,
        }
        let refuse = |it: toml::de::Error| Error::unreadable_file(file, it.to_string().trim_end());
        let keys: toml::Table = toml::from_str(text).map_err(refuse)?;
        let definition = toml::from_str::<StudyDefinition>(text);
        // An unknown key and a wrong value are reported first: they may explain what is missing.
        let other = definition.as_ref().err();
        let missing = missing_keys(&keys);
        if !missing.is_empty() && other.is_none_or(|it| it.message().starts_with("missing field")) {
            let reason = format!(
                "these keys are missing: {}; `axioscope study init --collection C` writes a \
                 complete file",
                missing.join(", ")
            );
            return Err(Error::unreadable_file(file, reason));
        }
        let mut definition = definition.map_err(refuse)?;
        if !keys.contains_key("title") {
            definition.title.clone_from(&definition.name);
        }
        if has_default_length_tolerance(&keys) {
            definition.limits.length_tolerance_terms =
                MiningThresholds::STANDARD.length_tolerance_terms;
        }
        let mut left_out = Vec::new();
        if definition.vectors.is_none() {
            let named: Named = toml::from_str(text).map_err(refuse)?;
            let minable = expand_groups(&named.probes, false)?;
            left_out.clone_from(&definition.probes);
            left_out.retain(|it| !minable.contains(it));
            definition.probes = minable;
        }
        let mut specs = BTreeSet::new();
        definition.rankers.retain(|it| {
            let lexical = it.parse::<LexicalRanker>().map(|it| it.to_string());
            specs.insert(lexical.unwrap_or_else(|_| it.clone()))
        });
        for it in &definition.transfers {
            let probe = Probe::Transfer(it.dataset_transfer_test()?);
            if !definition.probes.contains(&probe) {
                definition.probes.push(probe);
            }
        }
        definition.validate()?;
        Ok(ParsedStudyFile {
            definition,
            left_out,
        })
    }
}

/// Returns the required keys that a study file lacks, each as a message shows it.
fn missing_keys(keys: &toml::Table) -> Vec<String> {
    let mut missing = Vec::new();
    let mut require = |table: &toml::Table, place: &str, required: &[&str]| {
        let absent = required.iter().filter(|it| !table.contains_key(**it));
        missing.extend(absent.map(|it| format!("`{it}`{place}")));
    };
    require(keys, "", &["name", "collection"]);
    for (list, place, required) in [
        ("transfers", " in [[transfers]]", ["name", "file"]),
        ("train", " in [[train]]", ["name", "model"]),
    ] {
        let tables = keys.get(list).and_then(toml::Value::as_array);
        let tables = tables.into_iter().flatten();
        for table in tables.filter_map(toml::Value::as_table) {
            require(table, place, &required);
        }
    }
    missing
}

/// Whether `[limits]` leaves δ to the default. Earlier versions required all of the keys below and
/// took any lengths when δ was missing, and their files keep that meaning.
fn has_default_length_tolerance(keys: &toml::Table) -> bool {
    const ONCE_REQUIRED: [&str; 7] = [
        "min_terms",
        "repeat_from",
        "repeat_to",
        "repeated_terms",
        "filled_terms",
        "fillable_terms",
        "seed",
    ];
    let limits = keys.get("limits").and_then(toml::Value::as_table);
    limits.is_some_and(|it| {
        !it.contains_key("length_gap_terms")
            && !ONCE_REQUIRED.iter().all(|key| it.contains_key(*key))
    })
}

impl StudyDefinition {
    /// Returns whether another definition makes the same study, whatever its title and description.
    pub fn makes_same_study_as(&self, other: &StudyDefinition) -> bool {
        let renamed = StudyDefinition {
            title: self.title.clone(),
            description: self.description.clone(),
            ..other.clone()
        };
        *self == renamed
    }

    /// Returns the names of the files that a study is made from besides the collection.
    pub fn input_files(&self) -> impl Iterator<Item = &str> {
        let run = match &self.pool {
            CandidatePoolSpec::Run { file, .. } => Some(file),
            CandidatePoolSpec::LexicalRanker { .. }
            | CandidatePoolSpec::Group
            | CandidatePoolSpec::Judged
            | CandidatePoolSpec::All => None,
        };
        let ManipulationLookupFiles {
            stop_words,
            misspellings,
            expansions,
        } = &self.lookups;
        let named = [run, self.vectors.as_ref(), stop_words.as_ref()];
        let named = named
            .into_iter()
            .chain([misspellings.as_ref(), expansions.as_ref()])
            .flatten();
        let sets = self.transfers.iter().map(|it| &it.file);
        named.chain(sets).map(String::as_str)
    }

    /// Returns the axioms among the study's probes, in the order of the definition.
    pub fn axioms(&self) -> impl Iterator<Item = Probe> + '_ {
        self.probes.iter().copied().filter(|it| it.is_axiom())
    }

    /// Returns the behavioral tests among the study's probes, in the order of the definition.
    pub fn behavioral_tests(&self) -> impl Iterator<Item = Probe> + '_ {
        self.probes.iter().copied().filter(|it| !it.is_axiom())
    }

    /// Reads the definition of a study file. [`ParsedStudyFile`] also lists the members of groups
    /// that are left out.
    pub fn from_toml(file: &str, text: &str) -> Result<StudyDefinition, Error> {
        ParsedStudyFile::from_toml(file, text).map(|it| it.definition)
    }

    /// Returns the text of a study file. A vocabulary of subword tokens is named, not written.
    pub fn to_toml(&self) -> String {
        let mut named = self.clone();
        for analyzer in named.audit.iter_mut().chain([&mut named.analyzer]) {
            if let Tokenizer::Wordpiece(pieces) = &mut analyzer.tokenizer {
                *pieces = pieces.with_all_tokens_removed();
            }
        }
        toml::to_string(&named).expect("a definition has no map with keys that are not strings")
    }

    /// Checks the definition; returns an error if no study can be made from it.
    pub fn validate(&self) -> Result<(), Error> {
        if self.format != 1 {
            return Err(Error::unsupported_value(
                "format",
                format!(
                    "{} is not supported by this version, which reads format 1; update Axioscope",
                    self.format
                ),
            ));
        }
        validate_study_name(&self.name)?;
        reject_invisible_characters("title", &self.title)?;
        reject_invisible_characters("description", &self.description)?;
        if has_no_visible_character(&self.title) {
            let reason = "is empty or contains only invisible characters; enter a visible title";
            return Err(Error::missing_field("title", reason));
        }
        if self.probes.is_empty() || self.variants.is_empty() {
            return Err(Error::missing_field(
                "probes",
                "a study needs at least one probe and one variant",
            ));
        }
        let without = |it: &&Probe| it.needs_word_vectors() && self.vectors.is_none();
        if let Some(probe) = self.probes.iter().find(without) {
            return Err(crate::word_vectors::missing_word_vectors_error(
                &probe.slug(),
            ));
        }
        for probe in self.behavioral_tests() {
            self.check_behavioral_test(probe)?;
        }
        validate_trainings(&self.train)?;
        self.limits.validate()
    }

    /// Returns an error if a behavioral test lacks its file.
    fn check_behavioral_test(&self, probe: Probe) -> Result<(), Error> {
        match probe {
            Probe::Transfer(it) => {
                let mut files = self.transfers.iter();
                let is_there =
                    files.any(|file| file.dataset_transfer_test().is_ok_and(|of| of == it));
                let way_out = "add its pairs in [[transfers]] with `name` and `file`";
                is_there.then_some(()).ok_or_else(|| {
                    Error::missing_field(
                        ErrorFieldName::with_display_name("transfers", probe.slug()),
                        way_out,
                    )
                })
            }
            Probe::Manipulation(Manipulation::AppendExpansions)
                if self.lookups.expansions.is_none() =>
            {
                let way_out = "add the output of `expand` as `expansions` in [lookups]";
                Err(Error::missing_field(
                    ErrorFieldName::with_display_name("lookups", probe.slug()),
                    way_out,
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Checks a study name; returns an error if it cannot be part of an address or a file name.
pub fn validate_study_name(name: &str) -> Result<(), Error> {
    let fine = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
        && !name.starts_with('-');
    if fine {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(Error::malformed_value(
        ErrorFieldName::with_display_name("name", format!("name `{}`", shown.escape_debug())),
        "a name has 1 to 64 lowercase letters, digits or hyphens and does not start with a \
         hyphen",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(probes: &str, more: &str) -> Result<ParsedStudyFile, Error> {
        let limits = toml::to_string(&MiningThresholds::STANDARD).unwrap();
        let text = format!(
            "format = 1\nname = \"s\"\ntitle = \"S\"\ncollection = \"c\"\npool = \"all\"\n\
             probes = {probes}\nmodes = [\"fixed\"]\nrankers = []\n{more}\n[limits]\n{limits}"
        );
        ParsedStudyFile::from_toml("study.toml", &text)
    }

    #[test]
    fn all_missing_keys_are_in_one_error() {
        let error = |text: &str| {
            let error = ParsedStudyFile::from_toml("study.toml", text).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error("[limits]\nseed = 1\n[[transfers]]"),
            "study.toml: these keys are missing: `name`, `collection`, `name` in [[transfers]], \
             `file` in [[transfers]]; `axioscope study init --collection C` writes a complete file"
        );
        assert!(error("name = \"s\"").contains("missing: `collection`; "));
        // A key with a typing error is named, not the one that it was meant to be.
        let unknown = error("nmae = \"s\"");
        assert!(unknown.contains("unknown field `nmae`"), "{unknown}");
    }

    #[test]
    fn the_shortest_study_file_has_the_defaults_of_mine() {
        let text = "name = \"s\"\ncollection = \"c\"";
        let read = ParsedStudyFile::from_toml("study.toml", text).unwrap();
        let found = read.definition;
        assert_eq!((found.format, found.title.as_str()), (1, "s"));
        assert_eq!(found.pool, "rank:bm25:100".parse().unwrap());
        assert_eq!(found.probes, Probe::list_minable_paper_axioms(false));
        assert_eq!(read.left_out.len(), 3);
        assert_eq!(found.variants, [AxiomVariant::Fixed]);
        assert_eq!(found.rankers, ["bm25", "ql"]);
        let twice =
            text.to_owned() + "\nrankers = [\"bm25\", \"m\", \"BM25:k1=1.2\", \"bm25:b=0\", \"m\"]";
        let found = StudyDefinition::from_toml("study.toml", &twice).unwrap();
        assert_eq!(found.rankers, ["bm25", "m", "bm25:b=0"]);
        assert_eq!(found.analyzer, Analyzer::default());
        assert_eq!(found.limits, MiningThresholds::STANDARD);
        let empty = format!("{text}\ntitle = \"\"");
        let error = ParsedStudyFile::from_toml("study.toml", &empty).unwrap_err();
        assert_eq!(error.field_name(), Some("title"));
    }

    #[test]
    fn the_length_tolerance_of_a_file_without_it_is_the_default_except_in_old_files() {
        let tolerance = |limits: &str| {
            let text = format!("name = \"s\"\ncollection = \"c\"\n[limits]\n{limits}");
            let read = ParsedStudyFile::from_toml("study.toml", &text).unwrap();
            read.definition.limits.length_tolerance_terms
        };
        assert_eq!(tolerance("seed = 7"), Some(10));
        assert_eq!(tolerance("length_gap_terms = inf"), None);
        let of_31afae1 = "min_terms = 1\nrepeat_from = 2\nrepeat_to = 4\nrepeated_terms = 240\n\
                          filled_terms = 512\nfillable_terms = 256\nseed = 42";
        assert_eq!(tolerance(of_31afae1), None);
        assert_eq!(
            tolerance(&format!("{of_31afae1}\nlength_gap_terms = 5")),
            Some(5)
        );
    }

    #[test]
    fn transfer_sets_are_read_in_old_and_new_keys() {
        let sets = |keys: &str| {
            let more = format!("[[transfers]]\nname = \"x\"\nfile = \"x.jsonl\"\n{keys}");
            let text = r#"["tfc1"]"#;
            read(text, &more).unwrap().definition
        };
        let old = sets("queries = \"shared\"\nsymmetric = true");
        let new = sets("query_source = \"shared\"\nis_symmetric = true");
        assert_eq!(old.transfers, new.transfers);
        assert_eq!(
            new.transfers[0].query_source,
            TransferQuerySource::GivenShared
        );
        assert!(new.transfers[0].is_symmetric);
        let written = new.to_toml();
        assert!(written.contains("query_source = \"shared\""), "{written}");
    }

    #[test]
    fn groups_lack_what_needs_vectors_and_it_is_named() {
        for (probes, left_out) in [
            (r#"["all"]"#, "stmc1 stmc2 stmc3"),
            (
                r#"["ir_axioms"]"#,
                "reg anti_reg aspect_reg stmc1@ir_axioms stmc2@ir_axioms",
            ),
            (r#"["tfc1", "manipulations", "match"]"#, ""),
        ] {
            let found = read(probes, "").unwrap();
            let slugs: Vec<_> = found.left_out.iter().map(|it| it.slug()).collect();
            assert_eq!(slugs.join(" "), left_out, "{probes}");
            let kept = &found.definition.probes;
            assert!(kept.iter().all(|it| !it.needs_word_vectors()), "{kept:?}");
            let whole = read(probes, "vectors = \"glove.txt\"").unwrap();
            assert!(whole.left_out.is_empty(), "{whole:?}");
            let n_whole = whole.definition.probes.len();
            assert_eq!(n_whole, kept.len() + found.left_out.len());
        }
        let n_left_out = read(r#"["match:all"]"#, "").unwrap().left_out.len();
        assert_eq!(n_left_out, 69 - 53);
    }

    #[test]
    fn a_probe_that_is_named_is_not_left_out() {
        for probes in [r#"["stmc1"]"#, r#"["all", "stmc1"]"#] {
            let error = read(probes, "").unwrap_err().to_string();
            assert!(
                error.contains("stmc1") && error.contains("word vectors"),
                "{error}"
            );
        }
    }
}

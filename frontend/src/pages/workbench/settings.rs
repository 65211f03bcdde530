//! The settings of a local study: as typed, in the address, and as a definition.

use shared::api::worker::LOCAL;
use shared::error::Error;
use shared::probe::transfer::Inference;
use shared::probe::{Limits, Mode, Probe};
use shared::study::{Definition, Lookups, TransferFile};
use shared::text::{Analyzer, Pieces, Stemmer, Stopwords, Tokenizer};

use crate::widgets::analyzer::AnalyzerChoice;
use crate::widgets::form::{self, FieldName};

/// In an address: other analysers are asked about the instances.
const AUDIT: &str = "1";

/// The tokeniser that needs a vocabulary.
pub(crate) const WORDPIECE: &str = "wordpiece";

/// What stands in the form. Everything that is typed is text, so that a mistake can be shown
/// where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The words `wordpiece` and `list` come with a file.
    pub(crate) analyzer: AnalyzerChoice,
    /// At least one.
    pub(crate) rankers: Vec<RankerRow>,
    /// `rank:bm25`, `run:FILE`, `group`, `judged` or `all`.
    pub(crate) pool: String,
    /// How many texts of a ranked pool.
    pub(crate) k: String,
    /// In the order of [`shared::probe::Axiom::ALL`].
    pub(crate) probes: Vec<Probe>,
    /// Other axioms and formulas, as typed.
    pub(crate) further: String,
    /// In the order of [`Mode::ALL`].
    pub(crate) modes: Vec<Mode>,
    /// δ in terms, or `inf`.
    pub(crate) delta: String,
    /// Least occurrences of query terms.
    pub(crate) min_terms: String,
    /// Most instances of a probe and query; empty keeps all.
    pub(crate) per_query: String,
    /// Of the draw, where there is a most.
    pub(crate) seed: String,
    /// The first so many queries; empty takes all.
    pub(crate) n_queries: String,
    /// Whether other analysers are asked about the instances.
    pub(crate) audit: bool,
}

/// A formula with its parameters as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RankerRow {
    /// Which.
    pub(crate) formula: Formula,
    /// In the order of [`Formula::parameters`].
    pub(crate) values: Vec<String>,
}

/// A lexical ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formula {
    /// Okapi BM25.
    Bm25,
    /// Query likelihood with a Dirichlet prior.
    Dirichlet,
    /// Query likelihood with linear interpolation.
    JelinekMercer,
}

/// Where in the form something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Tokeniser, stop list or stemmer.
    Analyzer,
    /// A row of the rankers, counted from 0.
    Ranker(usize),
    /// Pool or its size.
    Pool,
    /// The axioms.
    Probes,
    /// Other axioms and formulas.
    Further,
    /// The readings.
    Modes,
    /// δ.
    Delta,
    /// Least occurrences.
    MinTerms,
    /// Most instances.
    PerQuery,
    /// Seed.
    Seed,
    /// Number of queries.
    Queries,
}

impl FieldName for Field {
    fn id(self) -> String {
        match self {
            Field::Analyzer => "wrong-analyzer".to_owned(),
            Field::Ranker(at) => format!("wrong-ranker-{at}"),
            Field::Pool => "wrong-pool".to_owned(),
            Field::Probes => "wrong-probes".to_owned(),
            Field::Further => "wrong-further".to_owned(),
            Field::Modes => "wrong-modes".to_owned(),
            Field::Delta => "wrong-delta".to_owned(),
            Field::MinTerms => "wrong-min-terms".to_owned(),
            Field::PerQuery => "wrong-per-query".to_owned(),
            Field::Seed => "wrong-seed".to_owned(),
            Field::Queries => "wrong-queries".to_owned(),
        }
    }
}

type Refusal = form::Refusal<Field>;

/// What a definition takes beside the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The stop list that was brought.
    pub(crate) stop_list: Option<Stopwords>,
    /// The vocabulary that was brought, or why it could not be read.
    pub(crate) pieces: Option<Result<Pieces, String>>,
    /// The file with word vectors, the last if there are several.
    pub(crate) vectors: Option<String>,
    /// Names of the files with texts.
    pub(crate) files: Vec<String>,
    /// Files with pairs of texts.
    pub(crate) pairs: Vec<PairsFile>,
}

/// A file with pairs of texts: a transfer set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairsFile {
    /// Of the file.
    pub(crate) name: String,
    /// Where queries come from.
    pub(crate) queries: Inference,
    /// Whether neither text is the preferred one.
    pub(crate) symmetric: bool,
}

impl Beside {
    /// The transfer sets, named after their files.
    fn transfers(&self) -> Vec<TransferFile> {
        let mut sets: Vec<TransferFile> = Vec::new();
        for file in &self.pairs {
            let plain = set_name(&file.name);
            let numbered = (2..).map(|it| format!("{:.20}-{it}", plain));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            let name = names.find(|it| sets.iter().all(|set| set.name != *it));
            sets.push(TransferFile {
                name: name.unwrap_or_default(),
                file: file.name.clone(),
                queries: file.queries,
                symmetric: file.symmetric,
            });
        }
        sets
    }
}

/// The name of a transfer set after that of its file: `JFLEG dev.jsonl.gz` is `jfleg-dev`.
fn set_name(file: &str) -> String {
    let stem = file.split('.').next().unwrap_or_default();
    let letters = stem.chars().flat_map(char::to_lowercase);
    let letters = letters.map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
    let name: String = letters.take(24).collect();
    match name.trim_matches('-') {
        "" => "pairs".to_owned(),
        name => name.to_owned(),
    }
}

impl Formula {
    /// Every formula.
    pub(crate) const ALL: [Formula; 3] =
        [Formula::Bm25, Formula::Dirichlet, Formula::JelinekMercer];

    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Formula::Bm25 => "BM25",
            Formula::Dirichlet => "QL, Dirichlet",
            Formula::JelinekMercer => "QL, Jelinek-Mercer",
        }
    }

    /// Name in a specification, name for people, usual value.
    pub(crate) fn parameters(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Formula::Bm25 => &[
                ("k1", "k1", "1.2"),
                ("b", "b", "0.75"),
                ("k3", "k3", "inf"),
                ("idf", "idf", "lucene"),
            ],
            Formula::Dirichlet => &[("mu", "μ", "2500")],
            Formula::JelinekMercer => &[("lambda", "λ", "0.1")],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Formula::Bm25 => "bm25",
            Formula::Dirichlet | Formula::JelinekMercer => "ql",
        }
    }
}

impl RankerRow {
    /// A formula with its usual parameters.
    pub(crate) fn usual(formula: Formula) -> RankerRow {
        let values = formula
            .parameters()
            .iter()
            .map(|it| it.2.to_owned())
            .collect();
        RankerRow { formula, values }
    }

    /// As it is typed on the command line; may be wrong.
    pub(crate) fn spec(&self) -> String {
        let keys = self.formula.parameters().iter().map(|it| it.0);
        let pairs: Vec<String> = keys
            .zip(&self.values)
            .map(|(key, value)| format!("{key}={}", value.trim()))
            .collect();
        format!("{}:{}", self.formula.word(), pairs.join(","))
    }

    /// From an address; what is unknown there is passed over.
    fn parse(spec: &str) -> Option<RankerRow> {
        let (word, list) = spec.split_once(':').unwrap_or((spec, ""));
        let given: Vec<(&str, &str)> = list
            .split(',')
            .filter_map(|it| it.split_once('='))
            .collect();
        let formula = match word {
            "bm25" => Formula::Bm25,
            "ql" if given.iter().any(|it| it.0 == "lambda") => Formula::JelinekMercer,
            "ql" => Formula::Dirichlet,
            _ => return None,
        };
        let value = |&(key, _, usual): &(&str, &str, &str)| {
            given
                .iter()
                .find(|it| it.0 == key)
                .map_or(usual, |it| it.1)
                .to_owned()
        };
        Some(RankerRow {
            formula,
            values: formula.parameters().iter().map(value).collect(),
        })
    }
}

impl Settings {
    /// What the form starts with: the limits of [`Limits::STANDARD`].
    pub(crate) fn standard() -> Settings {
        Settings {
            analyzer: AnalyzerChoice::usual(),
            rankers: vec![
                RankerRow::usual(Formula::Bm25),
                RankerRow::usual(Formula::Dirichlet),
            ],
            pool: "rank:bm25".to_owned(),
            k: "50".to_owned(),
            probes: Probe::minable(false),
            further: String::new(),
            modes: vec![Mode::Fixed],
            delta: "10".to_owned(),
            min_terms: Limits::STANDARD.min_terms.to_string(),
            per_query: String::new(),
            seed: Limits::STANDARD.seed.to_string(),
            n_queries: String::new(),
            audit: false,
        }
    }

    /// From an address; what is not there is as in [`Settings::standard`].
    pub(crate) fn from_query(query: impl Fn(&str) -> Option<String>) -> Settings {
        let usual = Settings::standard();
        let word = |key: &str, usual: String| query(key).unwrap_or(usual);
        let rankers =
            query("rankers").map(|it| it.split(';').filter_map(RankerRow::parse).collect());
        let named = |list: String| {
            let modes = Mode::ALL.iter().copied();
            modes
                .filter(|it| list.split(',').any(|word| word == it.name()))
                .collect()
        };
        Settings {
            analyzer: AnalyzerChoice::from_words(&query),
            rankers: rankers.unwrap_or(usual.rankers),
            pool: word("pool", usual.pool),
            k: word("k", usual.k),
            probes: query("probes").map_or(usual.probes, |it| chosen(&it)),
            further: word("further", usual.further),
            modes: query("modes").map_or(usual.modes, named),
            delta: word("delta", usual.delta),
            min_terms: word("min_terms", usual.min_terms),
            per_query: word("per_query", usual.per_query),
            seed: word("seed", usual.seed),
            n_queries: word("n_queries", usual.n_queries),
            audit: query("audit").is_some_and(|it| it == AUDIT),
        }
    }

    /// What differs from [`Settings::standard`], as it stands in an address.
    pub(crate) fn to_query(&self) -> Vec<(&'static str, String)> {
        let (mine, usual) = (self.words(), Settings::standard().words());
        mine.into_iter()
            .zip(usual)
            .filter(|(a, b)| a != b)
            .map(|it| it.0)
            .collect()
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let rankers: Vec<String> = self.rankers.iter().map(RankerRow::spec).collect();
        let probes: Vec<_> = self.probes.iter().map(|it| it.slug()).collect();
        let modes: Vec<&str> = self.modes.iter().map(|it| it.name()).collect();
        let mut words = Vec::from(self.analyzer.words());
        words.extend([
            ("rankers", rankers.join(";")),
            ("pool", self.pool.clone()),
            ("k", self.k.clone()),
            ("probes", probes.join(",")),
            ("further", self.further.clone()),
            ("modes", modes.join(",")),
            ("delta", self.delta.clone()),
            ("min_terms", self.min_terms.clone()),
            ("per_query", self.per_query.clone()),
            ("seed", self.seed.clone()),
            ("n_queries", self.n_queries.clone()),
            ("audit", if self.audit { AUDIT } else { "" }.to_owned()),
        ]);
        words
    }

    /// Whether the pool is the beginning of a ranked list.
    pub(crate) fn pool_is_ranked(&self) -> bool {
        self.pool.starts_with("rank:") || self.pool.starts_with("run:")
    }

    /// The definition of the local study, or everything that is wrong.
    pub(crate) fn definition(&self, beside: &Beside) -> Result<Definition, Vec<Refusal>> {
        let mut wrong = Wrong(Vec::new());
        let analyzer = wrong.take(Field::Analyzer, self.analyzer(beside));
        for (at, row) in self.rankers.iter().enumerate() {
            let spec = row.spec();
            wrong.take(
                Field::Ranker(at),
                spec.parse::<shared::rank::Ranker>().map_err(Error::reason),
            );
            if self.rankers[..at].iter().any(|it| it.spec() == spec) {
                wrong.add(
                    Field::Ranker(at),
                    "the same ranker stands above; change or remove it",
                );
            }
        }
        if self.rankers.is_empty() {
            wrong.add(Field::Ranker(0), "a study needs at least one ranker");
        }
        let pool = match self.pool_is_ranked() {
            true => format!("{}:{}", self.pool, self.k.trim()),
            false => self.pool.clone(),
        };
        let pool = wrong.take(Field::Pool, pool.parse().map_err(Error::reason));
        let further = wrong.take(Field::Further, self.further());
        let probes = self.probes.iter().copied();
        let transfers = beside.transfers();
        let sets = transfers.iter().filter_map(|it| it.transfer().ok());
        let mut probes: Vec<Probe> = probes.chain(further.unwrap_or_default()).collect();
        for set in sets.map(Probe::Transfer) {
            if !probes.contains(&set) {
                probes.push(set);
            }
        }
        if probes.is_empty() {
            wrong.add(Field::Probes, "choose at least one axiom");
        }
        let lacks = |it: &&Probe| it.needs_vectors() && beside.vectors.is_none();
        if let Some(axiom) = probes.iter().find(lacks) {
            let name = axiom.name();
            wrong.add(
                Field::Probes,
                format!("{name} needs word vectors: add a file of GloVe or word2vec"),
            );
        }
        if self.modes.is_empty() {
            wrong.add(Field::Modes, "choose at least one reading");
        }
        let delta = match self.delta.trim() {
            "inf" => Some(None),
            text => wrong
                .take(Field::Delta, whole(text, 0, ", or inf for any gap"))
                .map(Some),
        };
        let min_terms = wrong.take(Field::MinTerms, whole(&self.min_terms, 0, ""));
        let per_query = wrong.take(Field::PerQuery, optional(&self.per_query));
        let seed = wrong.take(Field::Seed, whole(&self.seed, 0, ""));
        let n_queries = wrong.take(Field::Queries, optional(&self.n_queries));
        match (analyzer, pool, delta, min_terms, per_query, seed, n_queries) {
            (
                Some(analyzer),
                Some(pool),
                Some(delta),
                Some(min),
                Some(most),
                Some(seed),
                Some(n),
            ) if wrong.0.is_empty() => Ok(Definition {
                format: 1,
                name: LOCAL.to_owned(),
                title: "Local study".to_owned(),
                description: format!("Made in this browser from {}.", beside.files.join(", ")),
                collection: beside.files.join(", "),
                n_queries: n,
                pool,
                probes,
                modes: self.modes.clone(),
                rankers: self.rankers.iter().map(RankerRow::spec).collect(),
                analyzer,
                limits: Limits {
                    length_gap_terms: delta,
                    min_terms: min,
                    per_query: most,
                    seed,
                    ..Limits::STANDARD
                },
                vectors: beside.vectors.clone(),
                audit: self.audit(beside),
                lookups: Lookups::default(),
                transfers,
            }),
            _ => Err(wrong.0),
        }
    }

    /// Whether texts are made of those of the collection.
    pub(crate) fn makes_texts(&self) -> bool {
        let further = self.further().unwrap_or_default();
        let mut probes = self.probes.iter().chain(&further);
        probes.any(|it| it.is_beside())
    }

    /// Words as they are, the stems that most papers take, and pieces where there is a
    /// vocabulary; without the one that the study has anyway.
    fn audit(&self, beside: &Beside) -> Vec<Analyzer> {
        if !self.audit {
            return Vec::new();
        }
        let words = Analyzer {
            stemmer: Stemmer::None,
            ..Analyzer::default()
        };
        let pieces = beside
            .pieces
            .clone()
            .and_then(Result::ok)
            .map(|it| Analyzer {
                tokenizer: Tokenizer::Wordpiece(it),
                ..words.clone()
            });
        let own = self.analyzer(beside).ok();
        let all = [words, Analyzer::default()].into_iter().chain(pieces);
        all.filter(|it| Some(it) != own.as_ref()).collect()
    }

    pub(crate) fn analyzer(&self, beside: &Beside) -> Result<Analyzer, String> {
        Ok(Analyzer {
            tokenizer: match (self.analyzer.tokenizer.as_str(), &beside.pieces) {
                (WORDPIECE, Some(pieces)) => Tokenizer::Wordpiece(pieces.clone()?),
                (WORDPIECE, None) => return Err("choose the file with the vocabulary".to_owned()),
                (plain, _) => plain.parse().map_err(Error::reason)?,
            },
            first_tokens: None,
            stopwords: match (self.analyzer.stopwords.as_str(), &beside.stop_list) {
                ("en-function", _) => Stopwords::EnFunction,
                ("list", Some(list)) => list.clone(),
                ("list", None) => return Err("choose the file with the stop list".to_owned()),
                _ => Stopwords::None,
            },
            stemmer: self.analyzer.stemmer.parse().map_err(Error::reason)?,
        })
    }
}

/// What is wrong so far.
struct Wrong(Vec<Refusal>);

impl Wrong {
    fn add(&mut self, field: Field, reason: impl Into<String>) {
        self.0.push(Refusal {
            field,
            reason: reason.into(),
        });
    }

    fn take<T>(&mut self, field: Field, found: Result<T, String>) -> Option<T> {
        found.map_err(|reason| self.add(field, reason)).ok()
    }
}

impl Settings {
    /// What was typed of other axioms.
    fn further(&self) -> Result<Vec<Probe>, String> {
        match self.further.trim() {
            "" => Ok(Vec::new()),
            list => {
                let found = Probe::parse_list(list, true).map_err(Error::reason)?;
                Ok(found
                    .into_iter()
                    .filter(|it| !self.probes.contains(it))
                    .collect())
            }
        }
    }
}

fn chosen(list: &str) -> Vec<Probe> {
    Probe::minable(true)
        .into_iter()
        .filter(|it| list.split(',').any(|word| word == it.slug()))
        .collect()
}

fn whole<T: std::str::FromStr>(text: &str, least: u32, or: &str) -> Result<T, String> {
    let text = text.trim();
    let small = text.parse::<i64>().is_ok_and(|it| it < i64::from(least));
    match text.parse() {
        Ok(value) if !small => Ok(value),
        _ if text.is_empty() => Err(format!("a whole number of at least {least} is missing{or}")),
        _ => Err(format!(
            "`{text}` is not a whole number of at least {least}{or}"
        )),
    }
}

/// Empty, or a whole number of at least 1.
fn optional<T: std::str::FromStr>(text: &str) -> Result<Option<T>, String> {
    if text.trim().is_empty() {
        Ok(None)
    } else {
        whole(text, 1, ", nor empty").map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    fn refused(change: impl Fn(&mut Settings)) -> Vec<Refusal> {
        let mut settings = Settings::standard();
        change(&mut settings);
        settings
            .definition(&Beside::default())
            .expect_err("it is wrong")
    }

    #[test]
    fn axioms_on_meaning_need_word_vectors() {
        let wrong =
            refused(|it| it.probes = vec![Probe::Axiom(Axiom::Tp), Probe::Axiom(Axiom::Stmc1)]);
        assert_eq!(wrong[0].field, Field::Probes);
        assert_eq!(
            wrong[0].reason,
            "STMC1 needs word vectors: add a file of GloVe or word2vec"
        );
        let beside = Beside {
            vectors: Some("glove.txt".to_owned()),
            ..Beside::default()
        };
        let settings = Settings {
            probes: vec![Probe::Axiom(Axiom::Stmc1)],
            ..Settings::standard()
        };
        let definition = settings.definition(&beside).unwrap();
        assert_eq!(definition.vectors.as_deref(), Some("glove.txt"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_where_it_stands() {
        let wrong = refused(|it| it.k = "0".to_owned());
        assert_eq!(wrong[0].field, Field::Pool);
        assert_eq!(
            wrong[0].reason,
            "`0` is not a number of documents, 1 or more"
        );
        let wrong = refused(|it| it.delta = "-3".to_owned());
        assert_eq!(wrong[0].field, Field::Delta);
        assert_eq!(
            wrong[0].reason,
            "`-3` is not a whole number of at least 0, or inf for any gap"
        );
        let wrong = refused(|it| it.rankers[1].values[0] = "0".to_owned());
        assert_eq!(wrong[0].field, Field::Ranker(1));
    }

    #[test]
    fn files_with_pairs_are_transfer_sets_of_their_names() {
        let file = |name: &str, symmetric| PairsFile {
            name: name.to_owned(),
            queries: Inference::NounPhrase,
            symmetric,
        };
        let beside = Beside {
            pairs: vec![
                file("JFLEG dev.jsonl.gz", false),
                file("jfleg-dev.jsonl", true),
                file("…", false),
            ],
            ..Beside::default()
        };
        let definition = Settings::standard().definition(&beside).unwrap();
        definition.check().unwrap();
        let sets = definition.transfers.iter().map(|it| it.name.as_str());
        assert_eq!(
            sets.collect::<Vec<_>>(),
            ["jfleg-dev", "jfleg-dev-2", "pairs"]
        );
        let probes = definition.behaviours().map(|it| it.slug().into_owned());
        let expected = [
            "transfer:jfleg-dev",
            "symmetric:jfleg-dev-2",
            "transfer:pairs",
        ];
        assert_eq!(probes.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_address_gives_the_settings_back() {
        let mut settings = Settings::standard();
        assert_eq!(settings.to_query(), []);
        settings
            .rankers
            .push(RankerRow::usual(Formula::JelinekMercer));
        settings.delta = "inf".to_owned();
        settings.probes = vec![Probe::Axiom(Axiom::Tp)];
        let query = settings.to_query();
        let again =
            Settings::from_query(|key| query.iter().find(|it| it.0 == key).map(|it| it.1.clone()));
        assert_eq!(again, settings);
    }

    #[test]
    fn the_standard_settings_make_a_study() {
        assert!(Settings::standard().definition(&Beside::default()).is_ok());
    }
}

//! The settings of a local study, as typed and as encoded in an address.

mod files;
mod definition;
mod rankers;

use shared::probe::{AxiomVariant, MiningThresholds, Probe};

use crate::old_addresses::{WORKBENCH, with_old_names};
use crate::widgets::analyzer::AnalyzerChoice;
use crate::widgets::axiom_fields::default_length_tolerance;

pub(crate) use definition::{LocalStudyField, LocalStudyFieldError};
pub(crate) use files::{LocalStudyAuxiliaryFiles, UploadedTransferPairsFile};
pub(crate) use rankers::{LexicalRankerFormValues, LexicalRankerKind};

/// The value in an address that turns the tokenization audit on.
const AUDIT: &str = "1";

/// The name of the tokenizer that needs a vocabulary.
pub(crate) const WORDPIECE: &str = "wordpiece";

/// The name of the stop list that needs a file.
pub(crate) const STOP_LIST_FILE: &str = "list";

/// The contents of the form. Everything that is typed is stored as text, so that an error can be
/// shown beside its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalStudyFormValues {
    /// The analyzer. The values `wordpiece` and `list` need a file.
    pub(crate) analyzer: AnalyzerChoice,
    /// The rankers of the study, at least one.
    pub(crate) rankers: Vec<LexicalRankerFormValues>,
    /// The candidate pool: `rank:bm25`, `run:FILE`, `group`, `judged` or `all`.
    pub(crate) pool: String,
    /// The depth of a ranked pool, in documents per query.
    pub(crate) pool_depth: String,
    /// The selected axioms, in the order of [`shared::probe::Axiom::ALL`].
    pub(crate) probes: Vec<Probe>,
    /// Further axioms and formulas, as typed.
    pub(crate) further_axioms: String,
    /// The variants, in the order of [`AxiomVariant::ALL`].
    pub(crate) variants: Vec<AxiomVariant>,
    /// The length tolerance δ in terms, or `inf`.
    pub(crate) length_tolerance: String,
    /// The minimum number of query-term occurrences in a document.
    pub(crate) min_query_terms: String,
    /// The maximum number of instances per probe and query; empty keeps all.
    pub(crate) max_instances_per_query: String,
    /// The random seed, used if the number of instances is limited.
    pub(crate) seed: String,
    /// Uses only this many queries from the beginning; empty uses all.
    pub(crate) n_queries: String,
    /// Whether the instances are audited with other analyzers.
    pub(crate) has_tokenization_audit: bool,
}

impl LocalStudyFormValues {
    /// Returns the default settings, with the limits of [`MiningThresholds::STANDARD`].
    pub(crate) fn default_settings() -> LocalStudyFormValues {
        LocalStudyFormValues {
            analyzer: AnalyzerChoice::default_choice(),
            rankers: vec![
                LexicalRankerFormValues::with_defaults(LexicalRankerKind::Bm25),
                LexicalRankerFormValues::with_defaults(LexicalRankerKind::Dirichlet),
            ],
            pool: "rank:bm25".to_owned(),
            pool_depth: "50".to_owned(),
            probes: Probe::list_minable_paper_axioms(false),
            further_axioms: String::new(),
            variants: vec![AxiomVariant::Fixed],
            length_tolerance: default_length_tolerance(),
            min_query_terms: MiningThresholds::STANDARD
                .min_query_term_occurrences
                .to_string(),
            max_instances_per_query: String::new(),
            seed: MiningThresholds::STANDARD.seed.to_string(),
            n_queries: String::new(),
            has_tokenization_audit: false,
        }
    }

    /// Parses the settings from an address; missing parameters have the values of
    /// [`LocalStudyFormValues::default_settings`].
    pub(crate) fn from_query_string(
        query: impl Fn(&str) -> Option<String>,
    ) -> LocalStudyFormValues {
        let usual = LocalStudyFormValues::default_settings();
        let query = with_old_names(WORKBENCH, query);
        let word = |key: &str, usual: String| query(key).unwrap_or(usual);
        let rankers = query("rankers").map(|it| {
            it.split(';')
                .filter_map(LexicalRankerFormValues::parse_ranker_spec)
                .collect()
        });
        let named = |list: String| {
            let modes = AxiomVariant::ALL.iter().copied();
            modes
                .filter(|it| list.split(',').any(|word| word == it.slug()))
                .collect()
        };
        LocalStudyFormValues {
            analyzer: AnalyzerChoice::from_address_parameters(&query),
            rankers: rankers.unwrap_or(usual.rankers),
            pool: word("pool", usual.pool),
            pool_depth: word("depth", usual.pool_depth),
            probes: query("probes").map_or(usual.probes, |it| parse_probes(&it)),
            further_axioms: word("further", usual.further_axioms),
            variants: query("variants").map_or(usual.variants, named),
            length_tolerance: word("length_tolerance", usual.length_tolerance),
            min_query_terms: word("min_terms", usual.min_query_terms),
            max_instances_per_query: word("max_per_query", usual.max_instances_per_query),
            seed: word("seed", usual.seed),
            n_queries: word("max_queries", usual.n_queries),
            has_tokenization_audit: query("audit").is_some_and(|it| it == AUDIT),
        }
    }

    /// Returns the settings that differ from [`LocalStudyFormValues::default_settings`] as address
    /// parameters.
    pub(crate) fn to_non_default_query_pairs(&self) -> Vec<(&'static str, String)> {
        let (mine, usual) = (
            self.parameters(),
            LocalStudyFormValues::default_settings().parameters(),
        );
        mine.into_iter()
            .zip(usual)
            .filter(|(a, b)| a != b)
            .map(|it| it.0)
            .collect()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let rankers: Vec<String> = self
            .rankers
            .iter()
            .map(LexicalRankerFormValues::to_ranker_spec_string)
            .collect();
        let probes: Vec<_> = self.probes.iter().map(|it| it.slug()).collect();
        let modes: Vec<&str> = self.variants.iter().map(|it| it.slug()).collect();
        let mut words = Vec::from(self.analyzer.to_address_parameters());
        words.extend([
            ("rankers", rankers.join(";")),
            ("pool", self.pool.clone()),
            ("depth", self.pool_depth.clone()),
            ("probes", probes.join(",")),
            ("further", self.further_axioms.clone()),
            ("variants", modes.join(",")),
            ("length_tolerance", self.length_tolerance.clone()),
            ("min_terms", self.min_query_terms.clone()),
            ("max_per_query", self.max_instances_per_query.clone()),
            ("seed", self.seed.clone()),
            ("max_queries", self.n_queries.clone()),
            (
                "audit",
                if self.has_tokenization_audit {
                    AUDIT
                } else {
                    ""
                }
                .to_owned(),
            ),
        ]);
        words
    }

    /// Returns whether the pool is the top of a ranking.
    pub(crate) fn is_pool_top_of_ranking(&self) -> bool {
        self.pool.starts_with("rank:") || self.pool.starts_with("run:")
    }
}

fn parse_probes(list: &str) -> Vec<Probe> {
    Probe::list_minable_paper_axioms(true)
        .into_iter()
        .filter(|it| list.split(',').any(|word| word == it.slug()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    #[test]
    fn the_address_gives_the_settings_back() {
        let mut settings = LocalStudyFormValues::default_settings();
        assert_eq!(settings.to_non_default_query_pairs(), []);
        settings
            .rankers
            .push(LexicalRankerFormValues::with_defaults(
                LexicalRankerKind::JelinekMercer,
            ));
        settings.length_tolerance = "inf".to_owned();
        settings.probes = vec![Probe::Axiom(Axiom::Tp)];
        let query = settings.to_non_default_query_pairs();
        let again = LocalStudyFormValues::from_query_string(|key| {
            query.iter().find(|it| it.0 == key).map(|it| it.1.clone())
        });
        assert_eq!(again, settings);
        // The names of before are read too.
        let old = LocalStudyFormValues::from_query_string(|key| match key {
            "k" => Some("7".to_owned()),
            "modes" => Some("code".to_owned()),
            "delta" => Some("inf".to_owned()),
            "per_query" => Some("3".to_owned()),
            "n_queries" => Some("9".to_owned()),
            _ => None,
        });
        let expected = LocalStudyFormValues {
            pool_depth: "7".to_owned(),
            variants: vec![AxiomVariant::Code],
            length_tolerance: "inf".to_owned(),
            max_instances_per_query: "3".to_owned(),
            n_queries: "9".to_owned(),
            ..LocalStudyFormValues::default_settings()
        };
        assert_eq!(old, expected);
    }
}

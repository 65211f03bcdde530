//! Converts the settings into the definition of a study, or lists every error with its field.

use shared::api::worker::LOCAL_STUDY;
use shared::error::Error;
use shared::probe::{MiningThresholds, Probe};
use shared::study::{ManipulationLookupFiles, StudyDefinition};
use shared::text::{Analyzer, Stemmer, Tokenizer};

use super::{
    LexicalRankerFormValues, LocalStudyAuxiliaryFiles, LocalStudyFormValues, STOP_LIST_FILE,
    WORDPIECE,
};
use crate::widgets::axiom_fields::{parse_axioms_except_selected, parse_length_tolerance};
use crate::widgets::form::{self, FieldErrors, FormFieldId, parse_integer_at_least};

/// A field of the form that can hold an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalStudyField {
    /// The tokenizer, the stop list or the stemmer.
    Analyzer,
    /// A row of the rankers, counted from 0.
    Ranker(usize),
    /// The candidate pool or its depth.
    Pool,
    /// The selected axioms.
    Probes,
    /// The list of further axioms and formulas.
    FurtherAxioms,
    /// The variants of the axioms.
    Variants,
    /// The length tolerance δ.
    LengthTolerance,
    /// The minimum number of query-term occurrences.
    MinQueryTerms,
    /// The maximum number of instances per probe and query.
    MaxInstancesPerQuery,
    /// The random seed.
    Seed,
    /// The number of queries to use.
    Queries,
}

impl LocalStudyField {
    /// Returns the heading of the group of settings that the field is in.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            LocalStudyField::Analyzer => "Analyzer",
            LocalStudyField::Ranker(_) => "Rankers",
            LocalStudyField::Probes | LocalStudyField::FurtherAxioms => "Axioms",
            LocalStudyField::Variants => "Variants",
            LocalStudyField::Pool
            | LocalStudyField::LengthTolerance
            | LocalStudyField::MinQueryTerms
            | LocalStudyField::MaxInstancesPerQuery
            | LocalStudyField::Seed
            | LocalStudyField::Queries => "Candidate pool and limits",
        }
    }
}

impl FormFieldId for LocalStudyField {
    fn id(self) -> String {
        match self {
            LocalStudyField::Analyzer => "wrong-analyzer".to_owned(),
            LocalStudyField::Ranker(at) => format!("wrong-ranker-{at}"),
            LocalStudyField::Pool => "wrong-pool".to_owned(),
            LocalStudyField::Probes => "wrong-probes".to_owned(),
            LocalStudyField::FurtherAxioms => "wrong-further".to_owned(),
            LocalStudyField::Variants => "wrong-modes".to_owned(),
            LocalStudyField::LengthTolerance => "wrong-delta".to_owned(),
            LocalStudyField::MinQueryTerms => "wrong-min-terms".to_owned(),
            LocalStudyField::MaxInstancesPerQuery => "wrong-per-query".to_owned(),
            LocalStudyField::Seed => "wrong-seed".to_owned(),
            LocalStudyField::Queries => "wrong-queries".to_owned(),
        }
    }
}

/// An error in a setting of the local study.
pub(crate) type LocalStudyFieldError = form::FormFieldError<LocalStudyField>;

impl LocalStudyFormValues {
    /// Returns the definition of the local study, or all errors.
    pub(crate) fn to_study_definition(
        &self,
        files: &LocalStudyAuxiliaryFiles,
    ) -> Result<StudyDefinition, Vec<LocalStudyFieldError>> {
        use LocalStudyField as Field;
        let mut wrong = FieldErrors(Vec::new());
        let analyzer = wrong.collect(Field::Analyzer, self.analyzer(files));
        for (at, row) in self.rankers.iter().enumerate() {
            let spec = row.to_ranker_spec_string();
            wrong.collect(
                Field::Ranker(at),
                spec.parse::<shared::rank::LexicalRanker>()
                    .map_err(Error::message_without_field),
            );
            if self.rankers[..at]
                .iter()
                .any(|it| it.to_ranker_spec_string() == spec)
            {
                wrong.add(
                    Field::Ranker(at),
                    "the same ranker is listed above; change or remove it",
                );
            }
        }
        if self.rankers.is_empty() {
            wrong.add(Field::Ranker(0), "the study needs at least one ranker");
        }
        let pool = match self.is_pool_top_of_ranking() {
            true => format!("{}:{}", self.pool, self.pool_depth.trim()),
            false => self.pool.clone(),
        };
        let pool = wrong.collect(
            Field::Pool,
            pool.parse().map_err(Error::message_without_field),
        );
        let further = wrong.collect(
            Field::FurtherAxioms,
            parse_axioms_except_selected(&self.further_axioms, &self.probes),
        );
        let probes = self.probes.iter().copied();
        let transfers = files.to_transfer_sets();
        let sets = transfers
            .iter()
            .filter_map(|it| it.dataset_transfer_test().ok());
        let mut probes: Vec<Probe> = probes.chain(further.unwrap_or_default()).collect();
        for set in sets.map(Probe::Transfer) {
            if !probes.contains(&set) {
                probes.push(set);
            }
        }
        if probes.is_empty() {
            wrong.add(Field::Probes, "select at least one axiom");
        }
        let lacks = |it: &&Probe| it.needs_word_vectors() && files.vectors.is_none();
        if let Some(axiom) = probes.iter().find(lacks) {
            let name = axiom.name();
            wrong.add(
                Field::Probes,
                format!(
                    "{name} needs word vectors: add a GloVe or word2vec file, or train vectors \
                     on your documents"
                ),
            );
        }
        if self.variants.is_empty() {
            wrong.add(Field::Variants, "select at least one variant");
        }
        let delta = wrong.collect(
            Field::LengthTolerance,
            parse_length_tolerance(&self.length_tolerance),
        );
        let min_terms = wrong.collect(
            Field::MinQueryTerms,
            parse_integer_at_least(&self.min_query_terms, 0, ""),
        );
        let per_query = wrong.collect(
            Field::MaxInstancesPerQuery,
            parse_optional_integer(&self.max_instances_per_query),
        );
        let seed = wrong.collect(Field::Seed, parse_integer_at_least(&self.seed, 0, ""));
        let n_queries = wrong.collect(Field::Queries, parse_optional_integer(&self.n_queries));
        match (analyzer, pool, delta, min_terms, per_query, seed, n_queries) {
            (
                Some(analyzer),
                Some(pool),
                Some(delta),
                Some(min),
                Some(most),
                Some(seed),
                Some(n),
            ) if wrong.0.is_empty() => Ok(StudyDefinition {
                format: 1,
                name: LOCAL_STUDY.to_owned(),
                title: "Local study".to_owned(),
                description: format!("Created in this browser from {}.", files.corpora.join(", ")),
                collection: files.corpora.join(", "),
                n_queries: n,
                pool,
                probes,
                variants: self.variants.clone(),
                rankers: self
                    .rankers
                    .iter()
                    .map(LexicalRankerFormValues::to_ranker_spec_string)
                    .collect(),
                analyzer,
                limits: MiningThresholds {
                    length_tolerance_terms: delta,
                    min_query_term_occurrences: min,
                    max_per_query: most,
                    seed,
                    ..MiningThresholds::STANDARD
                },
                vectors: files.vectors.clone(),
                audit: self.audit(files),
                lookups: ManipulationLookupFiles::default(),
                transfers,
                train: Vec::new(),
            }),
            _ => Err(wrong.0),
        }
    }

    /// Returns whether a selected probe uses derived documents.
    pub(crate) fn uses_derived_documents(&self) -> bool {
        let further =
            parse_axioms_except_selected(&self.further_axioms, &self.probes).unwrap_or_default();
        let mut probes = self.probes.iter().chain(&further);
        probes.any(|it| it.adds_docs_to_collection())
    }

    /// Returns the analyzers of the tokenization audit: words without stemming, the default
    /// analyzer, and WordPiece if there is a vocabulary. The analyzer of the study itself is left
    /// out.
    fn audit(&self, files: &LocalStudyAuxiliaryFiles) -> Vec<Analyzer> {
        if !self.has_tokenization_audit {
            return Vec::new();
        }
        let words = Analyzer {
            stemmer: Stemmer::None,
            ..Analyzer::default()
        };
        let pieces = files
            .vocabulary
            .clone()
            .and_then(Result::ok)
            .map(|it| Analyzer {
                tokenizer: Tokenizer::Wordpiece(it),
                ..words.clone()
            });
        let own = self.analyzer(files).ok();
        let all = [words, Analyzer::default()].into_iter().chain(pieces);
        all.filter(|it| Some(it) != own.as_ref()).collect()
    }

    /// Returns the analyzer, or why it is invalid.
    pub(crate) fn analyzer(&self, files: &LocalStudyAuxiliaryFiles) -> Result<Analyzer, String> {
        let tokenizer = match (self.analyzer.tokenizer.as_str(), &files.vocabulary) {
            (WORDPIECE, Some(pieces)) => Some(Tokenizer::Wordpiece(pieces.clone()?)),
            (WORDPIECE, None) => return Err("choose the vocabulary file".to_owned()),
            _ => None,
        };
        let stopwords = match (self.analyzer.stopwords.as_str(), &files.stop_list) {
            (STOP_LIST_FILE, Some(list)) => Some(list.clone()),
            (STOP_LIST_FILE, None) => return Err("choose the stop-word file".to_owned()),
            _ => None,
        };
        self.analyzer.to_analyzer(tokenizer, stopwords)
    }
}

/// Parses an empty text as none, and otherwise a whole number of at least 1.
fn parse_optional_integer<T: std::str::FromStr>(text: &str) -> Result<Option<T>, String> {
    if text.trim().is_empty() {
        Ok(None)
    } else {
        parse_integer_at_least(text, 1, ", or blank").map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    fn refused(change: impl Fn(&mut LocalStudyFormValues)) -> Vec<LocalStudyFieldError> {
        let mut settings = LocalStudyFormValues::default_settings();
        change(&mut settings);
        settings
            .to_study_definition(&LocalStudyAuxiliaryFiles::default())
            .expect_err("it is wrong")
    }

    #[test]
    fn axioms_on_meaning_need_word_vectors() {
        let wrong =
            refused(|it| it.probes = vec![Probe::Axiom(Axiom::Tp), Probe::Axiom(Axiom::Stmc1)]);
        assert_eq!(wrong[0].field, LocalStudyField::Probes);
        assert_eq!(
            wrong[0].reason,
            "STMC1 needs word vectors: add a GloVe or word2vec file, or train vectors on your \
             documents"
        );
        let files = LocalStudyAuxiliaryFiles {
            vectors: Some("glove.txt".to_owned()),
            ..LocalStudyAuxiliaryFiles::default()
        };
        let settings = LocalStudyFormValues {
            probes: vec![Probe::Axiom(Axiom::Stmc1)],
            ..LocalStudyFormValues::default_settings()
        };
        let definition = settings.to_study_definition(&files).unwrap();
        assert_eq!(definition.vectors.as_deref(), Some("glove.txt"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_where_it_stands() {
        let wrong = refused(|it| it.pool_depth = "0".to_owned());
        assert_eq!(wrong[0].field, LocalStudyField::Pool);
        assert_eq!(wrong[0].reason, "`0` is not a whole number from 1");
        let wrong = refused(|it| it.length_tolerance = "-3".to_owned());
        assert_eq!(wrong[0].field, LocalStudyField::LengthTolerance);
        assert_eq!(
            wrong[0].reason,
            "`-3` is not valid: enter a whole number of at least 0, or inf for no limit"
        );
        let wrong = refused(|it| it.rankers[1].values[0] = "0".to_owned());
        assert_eq!(wrong[0].field, LocalStudyField::Ranker(1));
    }

    #[test]
    fn the_standard_settings_make_a_study() {
        assert!(
            LocalStudyFormValues::default_settings()
                .to_study_definition(&LocalStudyAuxiliaryFiles::default())
                .is_ok()
        );
    }
}

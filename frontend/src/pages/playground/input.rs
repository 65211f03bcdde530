//! The content of the Playground as it is encoded in a link: query, documents and settings.
//!
//! A link stores it in the fragment, which browsers do not send, so documents stay in the browser.
//! The same parameters are also read from the query string. Settings with their default values are
//! left out.

use shared::error::Error;
use shared::first_paint::{PLAYGROUND_DOCUMENTS, PLAYGROUND_QUERY};
use shared::probe::{Axiom, AxiomVariant, IrAxiomsAxiom, MiningThresholds, Probe};
use shared::rank::LexicalRanker;
use shared::study::playground::PlaygroundRequest;
use shared::text::Analyzer;

use crate::old_addresses::{PLAYGROUND, with_old_names};
use crate::widgets::analyzer::AnalyzerChoice;
use crate::widgets::axiom_fields::{
    default_length_tolerance, parse_axioms_except_selected, parse_length_tolerance,
};
use crate::widgets::form::{self, FieldErrors, FormFieldId, parse_integer_at_least};

/// The maximum length of a link that mail programs and servers handle reliably, in characters.
pub(crate) const MAX_LINK_CHARS: usize = 8000;

/// A query, documents and settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaygroundInput {
    /// The query as typed.
    pub(crate) query: String,
    /// Two or three documents.
    pub(crate) documents: Vec<String>,
    /// The analysis and scoring settings.
    pub(crate) settings: PlaygroundSettings,
}

/// The settings for analysis and scoring. Everything that is typed is stored as text, so that an
/// error can be shown beside its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlaygroundSettings {
    /// The study whose collection gives the statistics; none if the documents are the collection.
    pub(crate) study: Option<String>,
    /// The analyzer, unless the collection has one.
    pub(crate) analyzer: AnalyzerChoice,
    /// The variant of the axioms.
    pub(crate) variant: AxiomVariant,
    /// The length tolerance δ in terms, or `inf`.
    pub(crate) length_tolerance: String,
    /// The minimum number of query-term occurrences.
    pub(crate) min_query_terms: String,
    /// Further axioms, as typed.
    pub(crate) further_axioms: String,
    /// The parameter `k1` of BM25.
    pub(crate) k1: String,
    /// The parameter `b` of BM25.
    pub(crate) b: String,
    /// The idf of BM25: `lucene` or `rsj`.
    pub(crate) idf: String,
    /// The parameter μ of query likelihood, in terms.
    pub(crate) mu: String,
}

/// A field that can hold an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaygroundSettingsField {
    Analyzer,
    Delta,
    MinTerms,
    Further,
    K1,
    B,
    Idf,
    Mu,
}

impl FormFieldId for PlaygroundSettingsField {
    fn id(self) -> String {
        let id = match self {
            PlaygroundSettingsField::Analyzer => "wrong-analyzer",
            PlaygroundSettingsField::Delta => "wrong-delta",
            PlaygroundSettingsField::MinTerms => "wrong-min-terms",
            PlaygroundSettingsField::Further => "wrong-further",
            PlaygroundSettingsField::K1 => "wrong-k1",
            PlaygroundSettingsField::B => "wrong-b",
            PlaygroundSettingsField::Idf => "wrong-idf",
            PlaygroundSettingsField::Mu => "wrong-mu",
        };
        id.to_owned()
    }
}

/// An error in a field of the page.
pub(crate) type PlaygroundSettingsFieldError = form::FormFieldError<PlaygroundSettingsField>;

impl PlaygroundSettings {
    /// Returns the settings that the page starts with.
    pub(crate) fn default_settings() -> PlaygroundSettings {
        PlaygroundSettings {
            study: None,
            analyzer: AnalyzerChoice::default_choice(),
            variant: AxiomVariant::Fixed,
            length_tolerance: default_length_tolerance(),
            min_query_terms: MiningThresholds::STANDARD
                .min_query_term_occurrences
                .to_string(),
            further_axioms: String::new(),
            k1: "1.2".to_owned(),
            b: "0.75".to_owned(),
            idf: "lucene".to_owned(),
            mu: "2500".to_owned(),
        }
    }

    /// Parses the settings for a query and documents, or returns all errors.
    fn parse(
        &self,
        query: String,
        texts: Vec<String>,
    ) -> Result<PlaygroundRequest, Vec<PlaygroundSettingsFieldError>> {
        use PlaygroundSettingsField as Field;
        let mut wrong = FieldErrors(Vec::new());
        let analyzer = wrong.collect(Field::Analyzer, self.analyzer.to_analyzer(None, None));
        let delta = wrong.collect(Field::Delta, parse_length_tolerance(&self.length_tolerance));
        let min_terms = wrong.collect(
            Field::MinTerms,
            parse_integer_at_least(&self.min_query_terms, 0, ""),
        );
        let further = wrong.collect(
            Field::Further,
            parse_axioms_except_selected(
                &self.further_axioms,
                &Probe::list_minable_paper_axioms(true),
            ),
        );
        let parameters = [
            (Field::K1, "bm25:k1", &self.k1),
            (Field::B, "bm25:b", &self.b),
            (Field::Idf, "bm25:idf", &self.idf),
            (Field::Mu, "ql:mu", &self.mu),
        ];
        for (field, name, value) in parameters {
            let spec = format!("{name}={}", single_value(value));
            wrong.collect(
                field,
                spec.parse::<LexicalRanker>()
                    .map_err(Error::message_without_field),
            );
        }
        match (analyzer, delta, min_terms, further) {
            (Some(analyzer), Some(length_gap_terms), Some(min_terms), Some(further))
                if wrong.0.is_empty() =>
            {
                let limits = MiningThresholds {
                    length_tolerance_terms: length_gap_terms,
                    min_query_term_occurrences: min_terms,
                    ..MiningThresholds::STANDARD
                };
                Ok(PlaygroundRequest {
                    query,
                    docs: texts,
                    analyzer,
                    limits,
                    variant: self.variant,
                    rankers: self.rankers(),
                    extra_probes: further,
                })
            }
            _ => Err(wrong.0),
        }
    }

    /// Describes the settings in a few words, as in `a–z and digits, stop words kept, Porter
    /// stemmer; BM25 k1 = 1.2, b = 0.75; QL μ = 2500`. The analyzer is that of the collection, if
    /// it has one.
    pub(crate) fn describe(&self, of_collection: Option<&Analyzer>) -> String {
        let PlaygroundSettings { k1, b, mu, .. } = self;
        let statistics = match &self.study {
            None => "statistics of these documents".to_owned(),
            Some(study) => format!("statistics of {study}"),
        };
        let analyzer = match of_collection {
            Some(it) => it.describe(),
            None => self
                .analyzer
                .to_analyzer(None, None)
                .map_or_else(|error| error, |it| it.describe()),
        };
        format!("{statistics}; {analyzer}; BM25 k1 = {k1}, b = {b}; QL μ = {mu}")
    }

    fn rankers(&self) -> Vec<String> {
        let PlaygroundSettings { k1, b, idf, mu, .. } = self;
        vec![
            format!("bm25:k1={},b={},idf={idf}", k1.trim(), b.trim()),
            format!("ql:mu={}", mu.trim()),
        ]
    }

    fn to_parameters(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![("study", self.study.clone().unwrap_or_default())];
        words.extend(self.analyzer.to_address_parameters());
        words.extend([
            ("variant", self.variant.slug().to_owned()),
            ("length_tolerance", self.length_tolerance.clone()),
            ("min_terms", self.min_query_terms.clone()),
            ("further", self.further_axioms.clone()),
            ("k1", self.k1.clone()),
            ("b", self.b.clone()),
            ("idf", self.idf.clone()),
            ("mu", self.mu.clone()),
        ]);
        words
    }

    fn from_parameters(word: &impl Fn(&str) -> Option<String>) -> PlaygroundSettings {
        let usual = PlaygroundSettings::default_settings();
        let or = |key: &str, usual: String| word(key).unwrap_or(usual);
        let mode = word("variant");
        let mode = AxiomVariant::ALL
            .iter()
            .find(|it| mode.as_deref() == Some(it.slug()))
            .copied();
        PlaygroundSettings {
            study: word("study").filter(|it| !it.is_empty()),
            analyzer: AnalyzerChoice::from_address_parameters(word),
            variant: mode.unwrap_or(usual.variant),
            length_tolerance: or("length_tolerance", usual.length_tolerance),
            min_query_terms: or("min_terms", usual.min_query_terms),
            further_axioms: or("further", usual.further_axioms),
            k1: or("k1", usual.k1),
            b: or("b", usual.b),
            idf: or("idf", usual.idf),
            mu: or("mu", usual.mu),
        }
    }
}

impl PlaygroundInput {
    /// The keys of the documents in a link. No setting uses one of these keys or that of the query.
    const TEXTS: [&str; 3] = ["doc1", "doc2", "doc3"];

    /// Creates an input with an empty query, two empty documents and the default settings.
    pub(crate) fn empty() -> PlaygroundInput {
        PlaygroundInput {
            query: String::new(),
            documents: vec![String::new(); 2],
            settings: PlaygroundSettings::default_settings(),
        }
    }

    /// Returns the example that the page opens with. TP applies: document A has two query terms
    /// side by side. QL prefers A, and BM25 prefers B, the only document with the word `feed`.
    pub(crate) fn opening_example() -> PlaygroundInput {
        PlaygroundInput {
            query: PLAYGROUND_QUERY.to_owned(),
            documents: PLAYGROUND_DOCUMENTS.map(str::to_owned).to_vec(),
            settings: PlaygroundSettings::default_settings(),
        }
    }

    /// Returns the worked example of an axiom, with the documents themselves as the collection.
    pub(crate) fn worked_example_of_axiom(probe: Probe) -> PlaygroundInput {
        let mut example = probe
            .probe_description()
            .example
            .iter()
            .map(|&it| it.to_owned());
        let query = example.next().unwrap_or_default();
        let mut texts: Vec<String> = example.collect();
        if let Some(more) = extra_collection_document_for_example(probe) {
            texts.push(more.to_owned());
        }
        PlaygroundInput {
            query,
            documents: texts,
            settings: PlaygroundSettings {
                further_axioms: match probe {
                    Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_)) => {
                        probe.slug().into_owned()
                    }
                    _ => String::new(),
                },
                ..PlaygroundSettings::default_settings()
            },
        }
    }

    /// Returns the request for this input, with the analyzer of the settings, or all errors.
    pub(crate) fn to_playground_request(
        &self,
    ) -> Result<PlaygroundRequest, Vec<PlaygroundSettingsFieldError>> {
        self.settings
            .parse(self.query.clone(), self.documents.clone())
    }

    /// Returns whether the input is empty.
    pub(crate) fn is_blank(&self) -> bool {
        self.query.trim().is_empty() && self.documents.iter().all(|it| it.trim().is_empty())
    }

    /// Parses the parameters of a link; none if there is neither a query nor a document. Other
    /// missing parameters have their default values.
    pub(crate) fn from_link_parameters(
        word: impl Fn(&str) -> Option<String>,
    ) -> Option<PlaygroundInput> {
        let word = with_old_names(PLAYGROUND, word);
        let query = word("query");
        let mut texts: Vec<Option<String>> = Self::TEXTS.iter().map(|it| word(it)).collect();
        if query.is_none() && texts.iter().all(Option::is_none) {
            return None;
        }
        texts.truncate(if texts[2].is_some() { 3 } else { 2 });
        Some(PlaygroundInput {
            query: query.unwrap_or_default(),
            documents: texts.into_iter().map(Option::unwrap_or_default).collect(),
            settings: PlaygroundSettings::from_parameters(&word),
        })
    }

    /// Returns the parameters of a link.
    pub(crate) fn to_link_parameters(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![("query", self.query.clone())];
        words.extend(Self::TEXTS.into_iter().zip(self.documents.iter().cloned()));
        let settings = self
            .settings
            .to_parameters()
            .into_iter()
            .zip(PlaygroundSettings::default_settings().to_parameters());
        words.extend(
            settings
                .filter(|(mine, usual)| mine != usual)
                .map(|it| it.0),
        );
        words
    }
}

/// Returns a document that the example of an axiom needs in its collection, if any.
pub(crate) fn extra_collection_document_for_example(probe: Probe) -> Option<&'static str> {
    match probe {
        // `valley` must be the more common of the two terms.
        Probe::Axiom(Axiom::Mtdc) => Some("valley"),
        Probe::Axiom(Axiom::IrAxioms(IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc)) => {
            Some("valley")
        }
        Probe::Axiom(Axiom::IrAxioms(IrAxiomsAxiom::Tfc3)) => Some("bank"),
        Probe::Axiom(Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Lnc1 | Axiom::Lnc2 | Axiom::Tp) => None,
        Probe::Axiom(Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3) => None,
        Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_)) => None,
        Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => None,
    }
}

/// Replaces the characters of a value that would begin a further parameter.
fn single_value(text: &str) -> String {
    text.trim().replace([',', '='], ";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut PlaygroundSettings)) -> Vec<PlaygroundSettingsFieldError> {
        let mut sheet = PlaygroundInput::empty();
        change(&mut sheet.settings);
        sheet.to_playground_request().expect_err("it is wrong")
    }

    #[test]
    fn a_link_gives_the_sheet_back() {
        let mut sheet = PlaygroundInput::worked_example_of_axiom(Probe::Axiom(Axiom::Tfc2));
        sheet.documents[2] = "a & b = c #1 %".to_owned();
        sheet.settings.length_tolerance = "inf".to_owned();
        sheet.settings.study = Some("demo".to_owned());
        sheet.settings.variant = AxiomVariant::Code;
        let words = sheet.to_link_parameters();
        let again = PlaygroundInput::from_link_parameters(|key| {
            words.iter().find(|it| it.0 == key).map(|it| it.1.clone())
        });
        assert_eq!(again, Some(sheet));
    }

    #[test]
    fn usual_settings_are_not_in_a_link() {
        let keys: Vec<&str> = PlaygroundInput::worked_example_of_axiom(Probe::Axiom(Axiom::Tp))
            .to_link_parameters()
            .iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(keys, ["query", "doc1", "doc2"]);
    }

    #[test]
    fn an_empty_page_has_a_link() {
        let words = PlaygroundInput::empty().to_link_parameters();
        let again = PlaygroundInput::from_link_parameters(|key| {
            words.iter().find(|it| it.0 == key).map(|it| it.1.clone())
        });
        assert_eq!(again, Some(PlaygroundInput::empty()));
    }

    #[test]
    fn a_link_without_query_and_texts_is_no_sheet() {
        assert_eq!(
            PlaygroundInput::from_link_parameters(
                |key| (key == "variant").then(|| "code".to_owned())
            ),
            None
        );
        // A link may have the keys of before.
        for (key, value) in [("doc1", "mud"), ("text1", "mud")] {
            let sheet =
                PlaygroundInput::from_link_parameters(|it| (it == key).then(|| value.to_owned()));
            let documents = sheet.map(|it| it.documents);
            assert_eq!(documents, Some(vec!["mud".to_owned(), String::new()]));
        }
        let old = [("query", "ice"), ("mode", "code"), ("delta", "4")];
        let sheet = PlaygroundInput::from_link_parameters(|key| {
            let found = old.iter().find(|it| it.0 == key);
            found.map(|it| it.1.to_owned())
        });
        let settings = sheet.unwrap().settings;
        assert_eq!(settings.variant, AxiomVariant::Code);
        assert_eq!(settings.length_tolerance, "4");
    }

    #[test]
    fn what_makes_no_sense_is_refused_where_it_stands() {
        let wrong = refused(|it| it.k1 = "-1".to_owned());
        assert_eq!(wrong[0].field, PlaygroundSettingsField::K1);
        assert_eq!(wrong[0].reason, "`-1` is not a number of at least 0");
        let wrong = refused(|it| it.b = "0.5,k1=3".to_owned());
        assert_eq!(wrong[0].field, PlaygroundSettingsField::B);
        let wrong = refused(|it| {
            it.length_tolerance = "-3".to_owned();
            it.mu = "0".to_owned();
        });
        assert_eq!(
            wrong.iter().map(|it| it.field).collect::<Vec<_>>(),
            [PlaygroundSettingsField::Delta, PlaygroundSettingsField::Mu]
        );
        assert_eq!(
            wrong[0].reason,
            "`-3` is not valid: enter a whole number of at least 0, or inf for no limit"
        );
    }

    #[test]
    fn settings_are_described_in_a_few_words() {
        let mut settings = PlaygroundSettings::default_settings();
        assert_eq!(
            settings.describe(None),
            "statistics of these documents; a–z and digits, stop words kept, Porter stemmer; \
             BM25 k1 = 1.2, b = 0.75; QL μ = 2500"
        );
        settings.study = Some("demo".to_owned());
        let analyzer = Analyzer::default();
        let described = settings.describe(Some(&analyzer));
        assert!(described.starts_with("statistics of demo; "), "{described}");
    }

    #[test]
    fn in_the_opening_example_tp_applies_and_lexical_rankers_disagree() {
        use shared::study::playground::evaluate_playground_input;
        use shared::verdict::VerdictOutcome::{Satisfied, Violated};
        let typed = PlaygroundInput::opening_example();
        let typed = typed.to_playground_request().unwrap();
        let found = evaluate_playground_input(&typed, None).unwrap();
        let applied: Vec<_> = found.axiom_results.iter().filter(|it| it.applies).collect();
        assert_eq!(applied.len(), 1);
        assert_eq!(applied[0].probe, Probe::Axiom(Axiom::Tp));
        let verdicts = applied[0].verdicts.iter();
        let outcomes: Vec<_> = verdicts
            .filter_map(|it| Some(it.verdict?.outcome))
            .collect();
        assert_eq!(outcomes, [Violated, Satisfied]);
    }

    #[test]
    fn every_worked_example_is_an_instance_of_its_axiom() {
        use shared::study::playground::evaluate_playground_input;
        // Whether LB1 applies depends on the whole collection.
        let further = Probe::list_minable_ir_axioms(false).into_iter();
        let further = further.filter(|it| !it.probe_description().example.is_empty());
        for probe in Probe::list_minable_paper_axioms(false)
            .into_iter()
            .chain(further)
        {
            let typed = PlaygroundInput::worked_example_of_axiom(probe)
                .to_playground_request()
                .unwrap();
            let found = evaluate_playground_input(&typed, None).unwrap();
            let applied = found.axiom_results.iter().find(|it| it.probe == probe);
            assert!(
                applied.is_some_and(|it| it.applies),
                "{probe:?} {applied:?}"
            );
        }
    }
}

//! A study without its texts, for a collection whose texts may not be published, and the way in
//! which a reader who has the collection restores them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Study, controls};
use crate::collection::{Document, text_hash};
use crate::error::{Error, ErrorFieldName};

/// The data that replaces withheld texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WithheldTextHashesAndLengths {
    /// For each document of the study the [`text_hash`] of its body, to recognize a copy.
    pub text_hashes: Vec<String>,
    /// For each document of the study, derived ones included, its length in terms.
    pub n_terms: Vec<u32>,
    /// Whether the texts of the collection are restored. Texts derived from them and those of
    /// transfer sets are in no copy.
    #[serde(default)]
    #[serde(alias = "restored")]
    pub is_restored: bool,
}

impl Study {
    /// Returns the study without titles and texts of its documents. Queries, ids, term statistics
    /// and scores stay.
    pub fn without_texts(mut self) -> Study {
        let hashes = self.docs.iter().map(|it| text_hash(it.text_with_title()));
        self.withheld_texts = Some(WithheldTextHashesAndLengths {
            text_hashes: hashes.collect(),
            n_terms: controls::study_document_lengths(&self),
            is_restored: false,
        });
        for doc in &mut self.docs {
            doc.set_title_and_text("", "");
        }
        self
    }

    /// Returns whether the texts of the collection are withheld.
    pub fn has_withheld_texts(&self) -> bool {
        self.withheld_texts
            .as_ref()
            .is_some_and(|it| !it.is_restored)
    }

    /// Restores the texts from a copy of the collection: all of them, or none with an error. Texts
    /// that are not in the collection stay withheld.
    pub fn restore_texts(&mut self, copy: &[Document]) -> Result<(), Error> {
        let Some(withheld) = &mut self.withheld_texts else {
            return Ok(());
        };
        let n = self.docs.len() - self.addition_counts.n_docs as usize;
        let own = &mut self.docs[..n];
        let known: BTreeMap<&str, &Document> = copy.iter().map(|it| (it.id(), it)).collect();
        let found: Vec<Option<&Document>> =
            own.iter().map(|it| known.get(it.id()).copied()).collect();
        let refuse = |reason: String| {
            Err(Error::conflicting_value(
                ErrorFieldName::with_display_name("copy", "your copy"),
                reason,
            ))
        };
        let mut missing = own.iter().zip(&found).filter(|it| it.1.is_none());
        if let Some((first, _)) = missing.next() {
            let n_missing = missing.count() + 1;
            return refuse(format!(
                "{n_missing} of the {n} documents of this study are missing; the first is {}; \
                 add the whole corpus",
                first.id()
            ));
        }
        let differs = |it: &(&Document, &String)| text_hash(it.0.text_with_title()) != *it.1;
        let mut other = found.iter().copied().flatten().zip(&withheld.text_hashes);
        if let Some((first, _)) = other.find(differs) {
            let n_other = other.filter(differs).count() + 1;
            return refuse(format!(
                "{n_other} of {n} documents differ in text from the study; the first is {}; add \
                 the same version of the corpus",
                first.id()
            ));
        }
        let found: Vec<&Document> = found.into_iter().flatten().collect();
        for (doc, it) in own.iter_mut().zip(found) {
            doc.set_title_and_text(it.title(), it.text());
        }
        withheld.is_restored = true;
        if self.addition_counts.n_docs == 0 {
            self.withheld_texts = None;
        }
        Ok(())
    }

    /// Returns an error if the texts are withheld.
    pub fn ensure_texts_available(&self) -> Result<(), Error> {
        let reason = match &self.withheld_texts {
            None => return Ok(()),
            Some(it) if it.is_restored => {
                "document texts of its behavioral tests are withheld and cannot be restored \
                 from the collection; recreate the study"
            }
            Some(_) => {
                "document texts of this study are withheld; add your own copy of the collection"
            }
        };
        Err(Error::missing_field(
            ErrorFieldName::with_display_name("study", &self.definition.name),
            reason,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{AxiomVariant, Probe};
    use crate::study::controls::StudyPageControls;
    use crate::study::figures::StudyFigureOptions;
    use crate::study::fixture;

    #[test]
    fn numbers_stay_and_texts_come_back_from_the_same_copy_alone() {
        let study = fixture::study_with_one_query("bank of a river", &fixture::FOUR_TEXTS, 10);
        let docs = study.docs.clone();
        let json = serde_json::to_string(&study.clone().without_texts()).unwrap();
        for text in fixture::FOUR_TEXTS {
            assert!(!json.contains(text), "{text} is told");
        }
        let mut bare = Study::from_json("bare.json", &json).unwrap();
        for delta in [None, Some(0), Some(1)] {
            let dials = StudyPageControls {
                length_tolerance: delta,
                ..StudyPageControls::default()
            };
            let [a, b] = [&bare, &study].map(|it| it.overview(&dials).unwrap());
            assert_eq!((&a.rows, &a.columns), (&b.rows, &b.columns));
        }
        bare.compute_figures(&StudyFigureOptions::default())
            .unwrap();
        let shown = |study: &Study| {
            let instances = study.instances.iter().find(|it| !it.is_empty()).unwrap();
            study
                .instance_details(instances.probe, instances.variant, 0, None)
                .unwrap()
        };
        let (without, with) = (shown(&bare), shown(&study));
        assert!(without.has_withheld_texts && !with.has_withheld_texts);
        assert_eq!(without.verdicts, with.verdicts);
        assert_eq!(without.docs[0].n_terms, with.docs[0].n_terms);
        assert!(without.preconditions.is_empty() && without.contributions.is_empty());
        assert!(bare.ensure_texts_available().is_err());

        let error = bare.restore_texts(&docs[1..]).unwrap_err().to_string();
        assert!(error.contains("1 of the 4 documents"), "{error}");
        let mut other = docs.clone();
        other[2].set_title_and_text("", "another text");
        let error = bare.restore_texts(&other).unwrap_err().to_string();
        assert!(
            error.contains("differ in text") && error.contains(docs[2].id()),
            "{error}"
        );
        bare.restore_texts(&docs).unwrap();
        assert_eq!(bare, study);
    }

    #[test]
    fn what_stands_beside_the_collection_stays_withheld() {
        let mut definition = fixture::fixture_study_definition(10);
        definition.probes = Probe::parse_list("tfc1,reverse-words", false).unwrap();
        let texts = ["river river bank", "river bank", "the river", "a sea"];
        let collection = fixture::fixture_collection(&["bank of a river"], &texts);
        let docs = collection.docs.clone();
        let study = fixture::make_fixture_study(definition, collection);
        let mut bare = study.clone().without_texts();
        assert!(bare.has_withheld_texts());
        bare.restore_texts(&docs).unwrap();
        assert!(!bare.has_withheld_texts());
        let shown = |study: &Study, probe: &str| {
            let probe = probe.parse().unwrap();
            study
                .instance_details(probe, AxiomVariant::Fixed, 0, None)
                .unwrap()
        };
        assert_eq!(shown(&bare, "tfc1"), shown(&study, "tfc1"));
        let of_copy = shown(&bare, "reverse-words");
        assert!(of_copy.has_withheld_texts);
        assert_eq!(of_copy.verdicts, shown(&study, "reverse-words").verdicts);
        let error = bare.ensure_texts_available().unwrap_err().to_string();
        assert!(error.contains("behavioral tests"), "{error}");
    }
}

//! Reads a study that a user uploads as a file. An invalid study is rejected as a whole.

use super::Study;
use crate::error::Error;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::probe::{MiningResult, MiningThresholds};

/// The maximum length of a derived text, in bytes, so that what is shown fits into memory.
const MOST_TEXT_BYTES: usize = 16 << 20;

/// What to do about a file that is not a study.
const REMEDY: &str = "add a study file that was downloaded or exported from Axioscope";

impl Study {
    /// Reads a study from the file that [`Study`] is written to as JSON. `file` names it in
    /// the error.
    pub fn from_json(file: &str, text: &str) -> Result<Study, Error> {
        let study: Study = serde_json::from_str(text).map_err(|it| {
            Error::unreadable_file(
                file,
                format!("is not a study of this version ({it}); {REMEDY}"),
            )
        })?;
        study.check().map_err(|reason| {
            Error::unreadable_file(file, format!("is not a valid study ({reason}); {REMEDY}"))
        })?;
        Ok(study)
    }

    /// Checks a study that comes from another machine: its references, and that its instances have
    /// its hash. The error is about the field `study`.
    pub fn validate_upload(&self) -> Result<(), Error> {
        let is_own_hash = || {
            let has_own = self.digest_own_instances() == self.instances_hash;
            has_own.then_some(()).ok_or_else(|| {
                "its instances do not have its instance hash, so one of them has changed".to_owned()
            })
        };
        self.check().and_then(|()| is_own_hash()).map_err(|reason| {
            Error::malformed_value(
                "study",
                format!("is not a valid study ({reason}); {REMEDY}"),
            )
        })
    }

    fn digest_own_instances(&self) -> String {
        let query_ids: Vec<&str> = self.queries.iter().map(|it| it.id.as_str()).collect();
        let mined = MiningResult {
            study_docs: self.study_docs.clone(),
            pools: Vec::new(),
            instances: self.instances.clone(),
        };
        mined.digest_instances(&query_ids, |doc| self.docs[doc as usize].id().to_owned())
    }

    /// Checks that all references of the study point to existing entries.
    fn check(&self) -> Result<(), String> {
        self.definition.validate().map_err(|it| it.to_string())?;
        let (n_queries, n_texts) = (self.queries.len(), self.study_docs.len());
        let ok = |sound: bool, what: &str| sound.then_some(()).ok_or_else(|| what.to_owned());
        ok(self.format == 1, "its format is not 1")?;
        for &text in &self.study_docs {
            let body = self
                .docs
                .get(text.source_doc() as usize)
                .map(|it| it.text_with_title().len());
            let body = body.ok_or("a derived document refers to a document that is missing")?;
            let times = match text {
                OriginalOrDerivedDocument::Original { .. } => 1,
                OriginalOrDerivedDocument::Repeated { times, .. } => times,
            };
            let sound = (1..=MiningThresholds::MAX_REPEATED_DOC_TERMS).contains(&times)
                && (times == 1 || body.saturating_mul(times as usize) <= MOST_TEXT_BYTES);
            ok(sound, "a document is repeated too often")?;
        }
        let known = |texts: &[u32]| texts.iter().all(|&it| (it as usize) < n_texts);
        let pools = self.pools.len() == n_queries && self.pools.iter().all(|it| known(it));
        ok(
            pools,
            "its candidate pools do not match its queries and documents",
        )?;
        ok(
            self.pairs.are_valid_for_counts(n_queries, n_texts),
            "its pairs do not match its queries and documents",
        )?;
        ok(!self.instances.is_empty(), "it has no instances")?;
        for it in &self.instances {
            ok(
                it.is_valid_for_queries(n_queries),
                "its instances do not match its queries",
            )?;
            let scored = (0..n_queries).all(|query| {
                let mut texts = it.docs_of_query(query).iter();
                texts.all(|&text| self.pairs.position_of_pair(query, text).is_some())
            });
            ok(scored, "an instance is not among its pairs")?;
        }
        ok(
            self.trainings.iter().all(|it| self.has_training(it)),
            "its trainings do not match its definition",
        )?;
        let overlaps = [0, self.queries.len()].contains(&self.query_overlap.len());
        ok(overlaps, "its overlaps do not match its queries")?;
        let withheld = self.withheld_texts.as_ref().is_none_or(|it| {
            (it.text_hashes.len(), it.n_terms.len()) == (self.docs.len(), n_texts)
        });
        ok(
            withheld,
            "its withheld-text data do not match its documents",
        )?;
        for it in &self.scores {
            let places = it.truncated.iter();
            let sound = it.scores_in_pair_order().len() == self.pairs.len()
                && places.copied().all(|it| (it as usize) < self.pairs.len());
            ok(sound, "its scores do not match its pairs")?;
            let certified = it.rescoring.as_ref();
            ok(
                certified.is_none_or(|it| it.is_valid_for_pair_count(self.pairs.len())),
                "a stability check does not match its pairs",
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::collection::Qrels;
    use crate::study::fixture;
    use crate::text::Analyzer;

    fn study() -> Study {
        let mut definition = fixture::fixture_study_definition(10);
        definition.limits = MiningThresholds::STANDARD;
        definition.rankers = vec!["bm25".to_owned()];
        definition.audit = vec![Analyzer::default()];
        let texts = ["river bank river", "a river, no bank"];
        let mut collection = fixture::fixture_collection(&["river bank"], &texts);
        collection.qrels = Qrels::default();
        fixture::make_fixture_study(definition, collection)
    }

    fn taken(study: &Value) -> Result<Study, String> {
        Study::from_json("some.json", &study.to_string()).map_err(|it| it.to_string())
    }

    #[test]
    fn a_title_that_is_not_seen_is_refused() {
        for (title, description) in [
            ("", ""),
            ("\u{200D}", ""),
            ("Rivers \u{202E}", ""),
            ("Rivers\0", ""),
            ("Rivers", "of \u{2066}banks"),
            ("Rivers", "\0"),
        ] {
            let mut definition = fixture::fixture_study_definition(10);
            definition.title = title.to_owned();
            definition.description = description.to_owned();
            let error = definition.validate().unwrap_err();
            let field = if title == "Rivers" {
                "description"
            } else {
                "title"
            };
            assert_eq!(error.field_name(), Some(field), "{error}");
        }
    }

    #[test]
    fn what_was_written_is_taken() {
        let made = study();
        let json = serde_json::to_value(&made).unwrap();
        assert_eq!(taken(&json), Ok(made));
    }

    #[test]
    fn an_upload_has_the_hash_of_its_instances() {
        let mut made = study();
        made.validate_upload().unwrap();
        made.queries[0].id.push('x');
        let error = made.validate_upload().unwrap_err();
        assert_eq!(error.field_name(), Some("study"));
        assert!(error.to_string().contains("instance hash"), "{error}");
        made.instances.clear();
        let error = made.validate_upload().unwrap_err();
        assert!(error.to_string().contains("has no instances"), "{error}");
    }

    #[test]
    fn what_points_nowhere_is_refused() {
        let sound = serde_json::to_value(study()).unwrap();
        for (place, wrong) in [
            ("/format", json!(2)),
            ("/definition/name", json!("../up")),
            ("/definition/variants", json!([])),
            ("/docs", json!([])),
            ("/study_docs", json!([])),
            (
                "/study_docs/0",
                json!({"kind": "repeated", "doc": 0, "times": 4_000_000_000_u32}),
            ),
            ("/study_docs/0", json!({"kind": "document", "doc": 99})),
            ("/pools", json!([])),
            ("/pools/0", json!([99])),
            ("/pairs/offsets", json!([])),
            ("/pairs/offsets", json!([0, 9_999])),
            ("/pairs/documents/0", json!(99)),
            ("/instances", json!([])),
            ("/instances/0/starts", json!([])),
            ("/instances/0/starts", json!([7, 0])),
            ("/instances/0/starts/0", json!(1)),
            ("/instances/0/docs", json!([0])),
            ("/instances/0/docs/0", json!(99)),
            ("/instances/0/claim", json!("same-order")),
            ("/instances/0/n_found", json!([])),
            ("/scores/0/values", json!([])),
            ("/scores/0/truncated", json!([9_999])),
        ] {
            let mut study = sound.clone();
            match study.pointer_mut(place) {
                Some(it) => *it = wrong.clone(),
                None => study["scores"][0]["truncated"] = wrong.clone(),
            }
            let message = taken(&study).expect_err(place);
            let is_refused = ["is not a study of this version (", "is not a valid study ("]
                .iter()
                .any(|it| message.starts_with(&format!("some.json: {it}")));
            assert!(is_refused, "{place}: {message}");
            assert!(message.contains("downloaded"), "{place}: {message}");
        }
    }
}

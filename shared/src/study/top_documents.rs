//! The top documents of a ranker for one query, as shown before a reader chooses one of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use crate::error::Error;
use crate::late_interaction::{
    LateInteractionAnalysisWithRankerSlug, LateInteractionRankerAnalysis,
};
use crate::probe::StudyDocNo;
use crate::score::RankerInfo;
use crate::score::slug::ranker_slugs;

/// The maximum number of documents that are returned.
pub const MAX_TOP_DOCUMENTS: usize = 10;

/// The maximum number of characters of a text that are returned.
pub const MAX_TEXT_CHARACTERS: usize = 4_000;

/// The top documents of a query's pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopDocuments {
    /// Query id.
    pub query_id: String,
    /// The query as written. It is user data: show it as text, never as HTML.
    pub query: String,
    /// The number of documents in the pool.
    pub n_docs: u64,
    /// Whether the study has scores of the ranker; without them the documents are in pool order.
    pub is_scored: bool,
    /// The documents, at most [`MAX_TOP_DOCUMENTS`].
    pub docs: Vec<TopDocument>,
}

/// A top document with its score, grade and text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopDocument {
    /// Its id.
    pub id: String,
    /// The score by the ranker.
    pub score: Option<f64>,
    /// The grade, if judged.
    pub grade: Option<i32>,
    /// The scored text or its beginning; `None` if it is withheld. It is user data: show it as
    /// text, never as HTML.
    pub text: Option<String>,
    /// The number of bytes of the title with which the text begins; 0 without a title.
    #[serde(default)]
    pub title_length: u32,
    /// Whether the text is cut off.
    pub is_truncated: bool,
}

impl Study {
    /// Returns the late-interaction analyses with the slugs of their rankers. The study may lack a
    /// ranker; its slug then differs from those of the study's rankers.
    pub fn add_ranker_slugs_to_analyses(
        &self,
        analyses: Vec<LateInteractionRankerAnalysis>,
    ) -> Vec<LateInteractionAnalysisWithRankerSlug> {
        let of_study = self.scores.iter().map(|it| &it.ranker);
        let mut rankers: Vec<&RankerInfo> = of_study.collect();
        let mut rows = Vec::new();
        for it in &analyses {
            let ranker = &it.header.ranker;
            let known = |it: &&RankerInfo| it.fingerprint == ranker.fingerprint;
            rows.push(rankers.iter().position(known).unwrap_or(rankers.len()));
            if rows.last() == Some(&rankers.len()) {
                rankers.push(ranker);
            }
        }
        let slugs = ranker_slugs(rankers);
        let listed = analyses.into_iter().zip(rows);
        let listed = listed.map(|(analysis, row)| LateInteractionAnalysisWithRankerSlug {
            slug: slugs[row].clone(),
            analysis,
        });
        listed.collect()
    }

    /// Returns the top documents of the pool of a query, given by its position, under the ranker
    /// with a fingerprint.
    pub fn top_documents(&self, query: usize, fingerprint: &str) -> Result<TopDocuments, Error> {
        let (Some(asked), Some(pool)) = (self.queries.get(query), self.pools.get(query)) else {
            let n = self.queries.len();
            return Err(Error::index_not_found("query of this study", query, n));
        };
        let mut rankers = self.scores.iter();
        let scores = rankers.find(|it| it.ranker.fingerprint == fingerprint);
        let score =
            |text: StudyDocNo| scores?.score_at_position(self.pairs.position_of_pair(query, text)?);
        let mut order: Vec<(StudyDocNo, Option<f64>)> =
            pool.iter().map(|&it| (it, score(it))).collect();
        // The sort is stable, so that equal scores keep the order of the pool.
        order.sort_by(|a, b| match (a.1, b.1) {
            (Some(a), Some(b)) => b.total_cmp(&a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        let texts = order.iter().take(MAX_TOP_DOCUMENTS).map(|&(text, score)| {
            let body = (!self.has_withheld_texts()).then(|| self.study_doc_text(text));
            let shown = body.as_deref().map(truncate_text_for_list);
            TopDocument {
                id: self.study_doc_id(text),
                score,
                grade: self.relevance_grade(query, text),
                title_length: shown.map_or(0, |it| self.title_length(text, it)),
                is_truncated: shown.map(str::len) < body.as_ref().map(String::len),
                text: shown.map(str::to_owned),
            }
        });
        Ok(TopDocuments {
            query_id: asked.id.clone(),
            query: asked.text.clone(),
            n_docs: pool.len() as u64,
            is_scored: scores.is_some(),
            docs: texts.collect(),
        })
    }
}

/// Returns the part of a text that is shown in a list.
pub(crate) fn truncate_text_for_list(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_TEXT_CHARACTERS);
    end.map_or(text, |it| &text[..it.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late_interaction::LateInteractionAnalysisMetadata;
    use crate::study::fixture;

    fn analysis(ranker: RankerInfo) -> LateInteractionRankerAnalysis {
        LateInteractionRankerAnalysis {
            header: LateInteractionAnalysisMetadata {
                name: "w".to_owned(),
                title: "W".to_owned(),
                collection: "c".to_owned(),
                pool: "all".to_owned(),
                ranker,
                created: "2026-11-20".to_owned(),
                queries: Vec::new(),
                n_pairs: 0,
                n_docs: 0,
                min_occurrences: 1,
            },
            words: Vec::new(),
            tokens: Vec::new(),
            idf_importance_correlation: None,
            idf_delta_es_correlation: None,
            idf_spectral_correlation: None,
            pretrained_idf_spectral_correlation: None,
            before_fine_tuning: None,
        }
    }

    #[test]
    fn an_analysis_has_the_slug_of_the_ranker_in_the_study_or_one_of_its_own() {
        let study = fixture::study_with_one_query("river", &["river"], 10);
        let [bm25, ql] = [0, 1].map(|row: usize| study.scores[row].ranker.clone());
        let other = RankerInfo {
            fingerprint: "0a1b2c3d".to_owned(),
            ..bm25.clone()
        };
        let analyses = [other, ql, bm25].map(analysis).to_vec();
        let listed = study.add_ranker_slugs_to_analyses(analyses.clone());
        let slugs: Vec<&str> = listed.iter().map(|it| it.slug.as_str()).collect();
        assert_eq!(slugs, ["bm25-0a1b2c", "ql", "bm25"]);
        let listed: Vec<LateInteractionRankerAnalysis> =
            listed.into_iter().map(|it| it.analysis).collect();
        assert_eq!(listed, analyses);
    }

    /// Returns a row for each document: id, whether it is truncated, grade.
    fn shown(found: &TopDocuments) -> Vec<(&str, bool, Option<i32>)> {
        let each = found.docs.iter();
        each.map(|it| (it.id.as_str(), it.score.is_some(), it.grade))
            .collect()
    }

    #[test]
    fn the_scores_of_the_ranker_say_which_come_first() {
        let texts = ["the sea", "river", "river river", "river river"];
        let study = fixture::study_with_one_query("river", &texts, 10);
        let bm25 = study.scores[0].ranker.fingerprint.clone();
        let found = study.top_documents(0, &bm25).unwrap();
        // The third and the fourth have equal scores and keep the order of the pool.
        let ids: Vec<&str> = found.docs.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["3", "4", "2", "1"]);
        assert!(found.is_scored && found.docs[0].score > found.docs[2].score);
        assert_eq!(found.docs[3].text.as_deref(), Some("the sea"));
        let other = study.top_documents(0, "another").unwrap();
        assert!(!other.is_scored);
        assert_eq!(shown(&other)[0], ("1", false, Some(1)));
        assert!(study.top_documents(1, &bm25).is_err());
    }

    #[test]
    fn the_length_of_a_title_is_told() {
        let mut collection = fixture::fixture_collection(&["river"], &["It flows.", "River"]);
        let text = collection.docs[0].text().to_owned();
        collection.docs[0].set_title_and_text("The river", &text);
        let definition = fixture::fixture_study_definition(10);
        let study = fixture::make_fixture_study(definition, collection);
        let found = study.top_documents(0, "").unwrap();
        let title =
            |it: &TopDocument| it.text.as_ref().unwrap()[..it.title_length as usize].to_owned();
        assert_eq!(title(&found.docs[0]), "The river");
        assert_eq!(title(&found.docs[1]), "");
    }

    #[test]
    fn long_texts_are_cut_and_withheld_ones_are_not_told() {
        let long = "é ".repeat(MAX_TEXT_CHARACTERS);
        let study = fixture::study_with_one_query("river", &["river", &long], 10);
        let found = study.top_documents(0, "").unwrap();
        assert_eq!(
            (found.docs[0].is_truncated, found.docs[1].is_truncated),
            (false, true)
        );
        let n = |text: &Option<String>| text.as_deref().map(|it| it.chars().count());
        assert_eq!(n(&found.docs[1].text), Some(MAX_TEXT_CHARACTERS));
        let bare = study.without_texts().top_documents(0, "").unwrap();
        assert_eq!(
            (bare.docs[1].is_truncated, &bare.docs[1].text),
            (false, &None)
        );
    }
}

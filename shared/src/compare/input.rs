//! The input of a comparison: two rankings for each query, with the texts and the judgments.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{RankerComparisonOptions, RankerRef, SelectableRanker};
use crate::collection::{Collection, Document, Qrels, Query, Run, RunEntry, encode_hex};
use crate::error::{Error, ErrorFieldName};
use crate::probe::StudyDocNo;
use crate::score::{RankerInfo, RankerKind, RankerQueryDocumentScores};
use crate::study::Study;
use crate::text::Tokenizer;

/// Two rankers over one collection.
pub struct RankerComparisonInput<'a> {
    /// The name of the study or of the collection.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// The hash of the instances of the study, or of the collection.
    pub content_hash: String,
    /// The queries, in file order.
    pub queries: Vec<&'a Query>,
    /// The documents, by id.
    pub docs: BTreeMap<&'a str, &'a Document>,
    /// The judgments; may be empty.
    pub qrels: Cow<'a, Qrels>,
    /// The rankings of the first and of the second ranker.
    pub runs: [Cow<'a, Run>; 2],
    /// The first and the second ranker.
    pub rankers: [RankerInfo; 2],
    /// The rankers that can be compared.
    pub choices: Vec<SelectableRanker>,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Whether the texts of the documents are withheld.
    pub has_withheld_texts: bool,
    /// For each ranker the number of pooled documents without a score, as in an incomplete score
    /// file; they are missing from its rankings. 0 for a run, which has its own documents.
    pub n_unscored: [u64; 2],
}

impl<'a> RankerComparisonInput<'a> {
    /// Creates the input from two runs over a collection, each with its description.
    pub fn from_runs(
        name: &str,
        collection: &'a Collection,
        lists: [(RankerInfo, &'a Run); 2],
    ) -> RankerComparisonInput<'a> {
        let docs = collection.docs.iter();
        let [first, second] = lists;
        RankerComparisonInput {
            name: name.to_owned(),
            title: name.to_owned(),
            content_hash: collection.content_hash(),
            queries: collection.queries.iter().collect(),
            docs: docs.map(|it| (it.id(), it)).collect(),
            qrels: Cow::Borrowed(&collection.qrels),
            runs: [first.1, second.1].map(Cow::Borrowed),
            rankers: [first.0, second.0],
            choices: Vec::new(),
            tokenizer: Tokenizer::default(),
            has_withheld_texts: false,
            n_unscored: [0; 2],
        }
    }
}

/// Describes a run: its file, its size, and a hash of its lines.
pub fn ranker_info_of_run(file: &str, run: &Run) -> RankerInfo {
    let mut hasher = Sha256::new();
    for (query, rows) in &run.0 {
        hasher.update(format!("{query}\n"));
        for row in rows {
            hasher.update(format!("\t{}\t{:e}\n", row.doc, row.score));
        }
    }
    let SelectableRanker { label, detail, .. } = selectable_ranker_from_run(file, run);
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    RankerInfo {
        spec: format!("run:{name}"),
        label,
        detail,
        kind: RankerKind::ScoreFile,
        fingerprint: encode_hex(&hasher.finalize()),
        note: None,
    }
}

/// Returns a run as an option, by the name of its file.
pub fn selectable_ranker_from_run(file: &str, run: &Run) -> SelectableRanker {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let packed = [".gz", ".zst"].iter().find_map(|it| name.strip_suffix(it));
    let label = packed.unwrap_or(name);
    let label = label.strip_suffix(".run").unwrap_or(label);
    SelectableRanker {
        ranker: RankerRef::Run(file.to_owned()),
        label: label.to_owned(),
        detail: format!("run of {} queries", run.0.len()),
    }
}

impl Study {
    /// Returns the rankers of the study as options.
    pub fn selectable_rankers(&self) -> Vec<SelectableRanker> {
        let rankers = self.scores.iter().zip(self.ranker_slugs());
        let choice = rankers.map(|(it, slug)| SelectableRanker {
            ranker: RankerRef::Ranker(slug),
            label: it.ranker.label.clone(),
            detail: it.ranker.detail.clone(),
        });
        choice.collect()
    }

    /// Returns two rankers of the study and the queries on which they are compared.
    pub fn ranker_comparison_input(
        &self,
        asking: &RankerComparisonOptions,
    ) -> Result<RankerComparisonInput<'_>, Error> {
        let n = self.scores.len();
        if n < 2 {
            let reason = format!("comparing needs two rankers, but this study has {n}");
            return Err(Error::unsupported_value(
                ErrorFieldName::with_display_name("study", &self.definition.name),
                reason,
            ));
        }
        let scores = |who: &RankerRef| match who {
            RankerRef::Ranker(name) => Ok(&self.scores[self.parse_ranker_row_index(name)?]),
            RankerRef::Run(_) => {
                let reason = "a run can only be compared with another run, in the Workbench or \
                     with `axioscope compare --collection`; choose two rankers of the study";
                Err(Error::unsupported_value("rankers", reason))
            }
        };
        let [first, second] = &asking.rankers;
        let both = [scores(first)?, scores(second)?];
        // Queries and documents added for transfer sets are in no pool.
        let n_queries = self.queries.len() - self.addition_counts.n_queries as usize;
        let plain = Tokenizer::WITHOUT_VOCABULARY.contains(&self.definition.analyzer.tokenizer);
        Ok(RankerComparisonInput {
            name: self.definition.name.clone(),
            title: self.definition.title.clone(),
            content_hash: self.instances_hash.clone(),
            queries: self.queries.iter().take(n_queries).collect(),
            docs: self.docs.iter().map(|it| (it.id(), it)).collect(),
            qrels: Cow::Borrowed(&self.qrels),
            runs: both.map(|it| Cow::Owned(self.scored_pools_as_run(it))),
            rankers: both.map(|it| it.ranker.clone()),
            choices: self.selectable_rankers(),
            tokenizer: match plain {
                true => self.definition.analyzer.tokenizer.clone(),
                false => Tokenizer::default(),
            },
            has_withheld_texts: self.has_withheld_texts(),
            n_unscored: both.map(|it| self.n_unscored(it)),
        })
    }

    /// Returns the number of pooled documents without a score.
    fn n_unscored(&self, scores: &RankerQueryDocumentScores) -> u64 {
        let pairs = self.pools.iter().enumerate();
        let pairs = pairs.flat_map(|(query, pool)| pool.iter().map(move |&it| (query, it)));
        let scored = |(query, text): &(usize, StudyDocNo)| {
            let place = self.pairs.position_of_pair(*query, *text);
            place.is_some_and(|it| scores.score_at_position(it).is_some())
        };
        pairs.filter(|it| !scored(it)).count() as u64
    }

    /// Returns the pool of each query with the scores of a ranker; documents without a score are
    /// left out.
    pub fn scored_pools_as_run(&self, scores: &RankerQueryDocumentScores) -> Run {
        let mut run = Run::default();
        for (query, pool) in self.pools.iter().enumerate() {
            let ranked = pool.iter().filter_map(|&text| {
                Some(RunEntry {
                    doc: self.study_doc_id(text),
                    rank: 0,
                    score: scores.score_at_position(self.pairs.position_of_pair(query, text)?)?,
                })
            });
            run.0
                .insert(self.queries[query].id.clone(), ranked.collect());
        }
        run
    }
}

//! Writes the files of a sliced study.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::files::{
    DOCUMENTS, FORMAT, LISTED_DOCUMENTS, OrderRow, QUERIES, QUERY_DETAILS, QueryDetails,
    SliceLayout, SlicedDocument, SlicedOrder, SlicedProbe, SlicedStudyHead, WORD_VECTORS,
    known_positions, offsets_file, order_file,
};
use super::table::{TableIndex, TableWriter};
use crate::collection::Qrels;
use crate::error::Error;
use crate::index::term_statistics::distinct_query_terms_with_statistics;
use crate::probe::{ProbeInstances, StudyDocNo};
use crate::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use crate::study::Study;
use crate::study::controls::CachedDocumentLengths;
use crate::study::instance_list::order::{COUNTS_PER_QUERY, InstanceOrder};
use crate::study::instance_list::score_deviation;

/// Stores the files of a sliced study.
pub trait SliceFileWriter {
    /// Writes a file of the study's folder. Of files that end with `.rows`, parts are read.
    fn write_file(
        &mut self,
        file: &str,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()>;
}

impl SlicedStudyHead {
    /// Describes a study whose files are to be written. Returns an error if its judgments have more
    /// grades than rows can name.
    pub fn for_study(study: &Study) -> Result<SlicedStudyHead, Error> {
        let grades = study.qrels.0.values().flat_map(|it| it.values().copied());
        let grades: BTreeSet<i32> = grades.collect();
        if grades.len() > usize::from(u8::MAX) {
            let reason = format!(
                "has {} different grades, of which a study in slices can have 255; export it as \
                 one file",
                grades.len()
            );
            return Err(Error::unsupported_value("qrels", reason));
        }
        let splits = study.queries.iter().filter_map(|it| it.split.clone());
        let splits: BTreeSet<String> = splits.collect();
        let probes = study.instances.iter().map(|instances| SlicedProbe {
            probe: instances.probe,
            variant: instances.variant,
            n_instances: instances.len() as u64,
            typical_margins: study
                .scores
                .iter()
                .map(|it| study.typical_margin(it, instances))
                .collect(),
        });
        Ok(SlicedStudyHead {
            sliced_format: FORMAT,
            folder: String::new(),
            study: without_rows(study),
            rankers: study.scores.iter().map(|it| it.ranker.clone()).collect(),
            score_deviations: study.scores.iter().map(score_deviation).collect(),
            probes: probes.collect(),
            grades: grades.into_iter().collect(),
            splits: splits.into_iter().collect(),
            withholds_texts: study.has_withheld_texts(),
            replies: Vec::new(),
            chunk_bytes: None,
        })
    }
}

/// Returns the study without what the other files contain.
fn without_rows(study: &Study) -> Study {
    Study {
        format: study.format,
        definition: study.definition.clone(),
        created: study.created.clone(),
        software: study.software.clone(),
        collection_hash: study.collection_hash.clone(),
        instances_hash: study.instances_hash.clone(),
        totals: study.totals,
        terms: BTreeMap::new(),
        queries: Vec::new(),
        docs: Vec::new(),
        qrels: Qrels::default(),
        study_docs: Vec::new(),
        pools: Vec::new(),
        instances: Vec::new(),
        pairs: QueryDocumentPairs::default(),
        scores: Vec::new(),
        n_docs_without_text: study.n_docs_without_text,
        word_vectors: None,
        query_overlap: Vec::new(),
        audits: Vec::new(),
        withheld_texts: None,
        addition_counts: study.addition_counts,
        input_checksums: study.input_checksums.clone(),
        transfer_pair_counts: study.transfer_pair_counts.clone(),
        trainings: Vec::new(),
        lengths: CachedDocumentLengths::default(),
    }
}

/// Writes all files of a study except its head and the replies. `order_of` returns the order of the
/// instances of a probe for the ranker in a row.
pub fn write_sliced_study<'o>(
    study: &Study,
    head: &SlicedStudyHead,
    layout: SliceLayout,
    order_of: impl Fn(usize, &ProbeInstances) -> Cow<'o, InstanceOrder>,
    files: &mut dyn SliceFileWriter,
) -> io::Result<()> {
    write_table(files, layout, QUERIES, study.queries.iter())?;
    let all = 0..study.study_docs.len() as StudyDocNo;
    let listed = all.clone().map(|it| {
        let excerpt = match head.withholds_texts {
            true => String::new(),
            false => study.document_excerpt(it),
        };
        (study.study_doc_id(it), excerpt)
    });
    write_table(files, layout, LISTED_DOCUMENTS, listed)?;
    let documents = all.map(|it| {
        let derivation = study.study_docs[it as usize];
        let withheld = study.withheld_texts.as_ref();
        SlicedDocument {
            derivation,
            source: study.docs[derivation.source_doc() as usize].clone(),
            n_terms: withheld.map(|withheld| withheld.n_terms[it as usize]),
        }
    });
    write_table(files, layout, DOCUMENTS, documents)?;
    let details = (0..study.queries.len()).map(|it| query_details(study, it));
    write_table(files, layout, QUERY_DETAILS, details)?;
    if let Some(vectors) = &study.word_vectors {
        write_json(files, WORD_VECTORS, vectors)?;
    }
    for (probe_index, instances) in study.instances.iter().enumerate() {
        write_json(
            files,
            &offsets_file(probe_index),
            &instances.header().starts,
        )?;
        for (row, scores) in study.scores.iter().enumerate() {
            let order = order_of(row, instances);
            let rows = OrderRowWriter {
                study,
                head,
                layout,
                instances,
                scores,
            };
            rows.write(&order, |ending| order_file(probe_index, row, ending), files)?;
        }
    }
    Ok(())
}

fn write_json(
    files: &mut dyn SliceFileWriter,
    file: &str,
    value: &impl serde::Serialize,
) -> io::Result<()> {
    files.write_file(file, &mut |out| {
        serde_json::to_writer(out, value).map_err(Into::into)
    })
}

/// Writes a table and its index.
fn write_table<T: serde::Serialize>(
    files: &mut dyn SliceFileWriter,
    layout: SliceLayout,
    table: &str,
    rows: impl Iterator<Item = T> + Clone,
) -> io::Result<()> {
    let mut index = TableIndex::default();
    files.write_file(&format!("{table}.rows"), &mut |out| {
        let mut writer = TableWriter::new(out, layout.block_bytes);
        rows.clone().try_for_each(|it| writer.push(&it))?;
        index = writer.finish()?;
        Ok(())
    })?;
    write_json(files, &format!("{table}.json"), &index)
}

fn query_details(study: &Study, query: usize) -> QueryDetails {
    let documents = study.pairs.documents_of_query(query);
    let range = study.pairs.pair_range_of_query(query);
    let place = |it: &StudyDocNo| documents.partition_point(|other| other < it) as u32;
    let of_ranker = |it: &RankerQueryDocumentScores| {
        let all = it.scores_in_pair_order();
        all[range.clone()].to_vec()
    };
    let truncated_of = |it: &RankerQueryDocumentScores| {
        let start = it
            .truncated
            .partition_point(|&at| (at as usize) < range.start);
        let end = it
            .truncated
            .partition_point(|&at| (at as usize) < range.end);
        let cut = it.truncated[start..end].iter();
        cut.map(|at| at - range.start as u32).collect()
    };
    let mut terms = BTreeMap::new();
    let asked = &study.queries[query];
    distinct_query_terms_with_statistics(&study.definition.analyzer, &asked.text, |term| {
        let known = study.terms.get(term);
        terms.extend(known.map(|it| (term.to_owned(), *it)));
        let known = known.copied().unwrap_or_default();
        (None, known.df, known.cf)
    });
    QueryDetails {
        query: asked.clone(),
        documents: documents.to_vec(),
        pool: study.pools[query].iter().map(place).collect(),
        grades: documents
            .iter()
            .map(|&it| study.relevance_grade(query, it))
            .collect(),
        scores: study.scores.iter().map(of_ranker).collect(),
        truncated: study.scores.iter().map(truncated_of).collect(),
        terms,
        instances: study
            .instances
            .iter()
            .map(|it| it.docs_of_query(query).iter().map(place).collect())
            .collect(),
    }
}

/// Writes the rows of an order.
struct OrderRowWriter<'a> {
    study: &'a Study,
    head: &'a SlicedStudyHead,
    layout: SliceLayout,
    instances: &'a ProbeInstances,
    scores: &'a RankerQueryDocumentScores,
}

impl OrderRowWriter<'_> {
    fn write(
        &self,
        order: &InstanceOrder,
        file: impl Fn(&str) -> String,
        files: &mut dyn SliceFileWriter,
    ) -> io::Result<()> {
        let n_queries = self.instances.n_queries();
        let (numbers, counts) = order
            .column()
            .split_at(order.column().len() - n_queries * COUNTS_PER_QUERY);
        let known_every = self.layout.known_every;
        let known = known_positions(order.header(), known_every).into_iter();
        let known = known.map(|it| (numbers[it], self.margin(numbers[it])));
        let known = SlicedOrder {
            known: known.collect(),
            known_every,
            header: order.header().clone(),
        };
        write_json(files, &file("json"), &known)?;
        files.write_file(&file("counts"), &mut |out| {
            let mut bytes = counts.iter().map(|it| it.to_le_bytes());
            bytes.try_for_each(|it| out.write_all(&it))
        })?;
        files.write_file(&file("rows"), &mut |out| {
            let mut bytes = Vec::new();
            for &number in numbers {
                bytes.clear();
                self.row(number).append_to(&mut bytes);
                out.write_all(&bytes)?;
            }
            Ok(())
        })
    }

    fn margin(&self, number: u32) -> Option<f64> {
        let query = self.instances.query_of_instance(number as usize);
        let claim = self.instances.claim_at(number as usize);
        let width = self.scores.ranker.kind.default_tie_threshold();
        let verdict = self
            .study
            .ranker_verdict_on_claim(self.scores, query, claim, width);
        verdict.map(|it| it.margin)
    }

    fn row(&self, number: u32) -> OrderRow {
        let query = self.instances.query_of_instance(number as usize);
        let docs = self
            .instances
            .claim_at(number as usize)
            .docs_in_claim_order();
        let grade = |doc: &StudyDocNo| {
            let grade = self.study.relevance_grade(query, *doc);
            let at = grade.and_then(|it| self.head.grades.binary_search(&it).ok());
            at.map_or(0, |it| it as u8 + 1)
        };
        OrderRow {
            number,
            margin: self.margin(number).unwrap_or(f64::NAN),
            grades: docs.iter().map(grade).collect(),
            docs,
        }
    }
}

//! Answers requests about a sliced study.

use std::collections::{BTreeMap, BTreeSet};

use super::column::SlicedColumn;
use super::files::{
    DOCUMENTS, FileSlice, LISTED_DOCUMENTS, ListedDocument, OrderRow, QUERIES, QUERY_DETAILS,
    QueryDetails, SlicedDocument, SlicedOrder, SlicedStudyHead, damaged, order_file,
};
use super::partial_study::{build_partial_study, is_placeholder_id};
use super::slices::{SliceSource, StudySlices};
use crate::collection::Query;
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe, StudyDocNo};
use crate::score::RankerKind;
use crate::score::slug::{parse_ranker_slug_or_position, ranker_slugs};
use crate::study::Study;
use crate::study::controls::StudyPageControls;
use crate::study::instance_details::InstanceDetails;
use crate::study::instance_list::order::{COUNTS_PER_QUERY, HistogramOfSubset, n_listed_of_query};
use crate::study::instance_list::sort_key::SortKeyRule;
use crate::study::instance_list::sorted_lists::{SelectedInstance, SortedLists, limits_margin};
use crate::study::instance_list::{
    InstanceListOptions, InstancePage, InstanceSort, ListedInstance, MarginHistogram, ReviewStatus,
};
use crate::study::top_documents::TopDocuments;

/// A study of which only slices are read.
pub struct SlicedStudy<S> {
    head: SlicedStudyHead,
    slices: StudySlices<S>,
}

/// The most that is read to look at every instance of some queries.
const MAX_SCANNED_BYTES: u64 = 16 << 20;

/// How often rows may turn out to be missing before the files are taken as damaged.
const MAX_ROUNDS: usize = 100;

/// Why a list cannot be made from slices.
const WAY_OUT: &str = "this site has only files; start `axioscope serve` with the study for this";

/// The ranker and the probe of a list.
#[derive(Clone, Copy)]
struct ListedCell {
    probe_index: usize,
    ranker_row: usize,
}

impl<S: SliceSource> SlicedStudy<S> {
    /// Opens a study, given its head.
    pub fn new(head: SlicedStudyHead, source: S) -> SlicedStudy<S> {
        SlicedStudy {
            head,
            slices: StudySlices::new(source),
        }
    }

    /// Returns the description of the files.
    pub fn head(&self) -> &SlicedStudyHead {
        &self.head
    }

    /// Returns the source of the files.
    pub fn source(&self) -> &S {
        &self.slices.source
    }

    /// Returns a page of a list of instances, as [`crate::study::Study::list_instances`] would.
    pub async fn list_instances(
        &self,
        listing: &InstanceListOptions,
    ) -> Result<InstancePage, Error> {
        let cell = self.listed_cell(listing)?;
        let controls = &listing.controls;
        if let Some(split) = &controls.split
            && !self.head.splits.contains(split)
        {
            return Err(Error::name_not_found(
                "split of this study's queries",
                split,
            ));
        }
        if listing.review_status == Some(ReviewStatus::Reviewed) {
            return Err(unsupported("review_status", "no reviews are at hand"));
        }
        let usual_width = self.ranker_kind(cell).default_tie_threshold();
        let has_usual_width = controls.tie_threshold.is_none_or(|it| it == usual_width);
        if !listing.query_filter.is_empty() || !has_usual_width {
            return self.list_by_scan(listing, cell).await;
        }
        let order = self.slices.order(cell.probe_index, cell.ranker_row).await?;
        let histograms = order.header.histograms.iter();
        let mut histograms =
            histograms.filter(|it| it.subset == controls.subset && it.split == controls.split);
        let Some(HistogramOfSubset { histogram, .. }) = histograms.next().cloned() else {
            // No instance is of this split.
            return Ok(empty_page());
        };
        match listing.sort {
            InstanceSort::Query => self.list_by_query(listing, cell, histogram).await,
            _ => self.list_by_key(listing, cell, &order, histogram).await,
        }
    }

    /// Returns an instance with its details, as [`crate::study::Study::instance_details`] would.
    pub async fn instance_details(
        &self,
        probe: Probe,
        variant: Option<AxiomVariant>,
        number: u64,
        tie_threshold: Option<f64>,
    ) -> Result<InstanceDetails, Error> {
        let variant = variant.unwrap_or(self.head.study.definition.variants[0]);
        let probe_index = self.probe_index(probe, variant)?;
        let sliced = &self.head.probes[probe_index];
        if number >= sliced.n_instances {
            let (what, n) = (format!("instance of {}", probe.slug()), sliced.n_instances);
            return Err(Error::index_not_found(what, number, n as usize));
        }
        let offsets = self.slices.offsets(probe_index).await?;
        let query = query_of_instance(&offsets, number)?;
        let details: Vec<QueryDetails> = self.slices.rows(QUERY_DETAILS, &[query]).await?;
        let arity = probe.claim_kind(sliced.variant).arity();
        let local = number as usize - offsets[query] as usize;
        let docs = details.first().and_then(|it| {
            let docs = it.instances.get(probe_index)?;
            let docs = docs.get(local * arity..(local + 1) * arity)?.iter();
            docs.map(|&at| it.documents.get(at as usize).copied())
                .collect::<Option<Vec<StudyDocNo>>>()
        });
        let docs = docs.ok_or_else(|| damaged(QUERY_DETAILS, "an instance is missing"))?;
        let given = self.documents(docs).await?;
        let mut partial = build_partial_study(&self.head, details, given)?;
        if self.head.study.definition.vectors.is_some() {
            partial.word_vectors = Some(self.slices.word_vectors().await?);
        }
        let mut found = partial.instance_details(probe, variant, local as u64, tie_threshold)?;
        found.number = number;
        for (verdict, typical) in found.verdicts.iter_mut().zip(&sliced.typical_margins) {
            verdict.typical_margin = *typical;
        }
        Ok(found)
    }

    /// Returns the top documents of a query, as [`Study::top_documents`] would.
    pub async fn top_documents(
        &self,
        query: usize,
        fingerprint: &str,
    ) -> Result<TopDocuments, Error> {
        let n_queries = self.slices.table(QUERY_DETAILS).await?.n_rows();
        if query >= n_queries {
            return Err(Error::index_not_found(
                "query of this study",
                query,
                n_queries,
            ));
        }
        let partial = self.study_of_query(query).await?;
        partial.top_documents(0, fingerprint)
    }

    /// Returns the number of the query with an id.
    pub(crate) async fn query_number(&self, id: &str) -> Result<Option<usize>, Error> {
        Ok(self.queries().await?.iter().position(|it| it.id == id))
    }

    /// Reads the queries.
    async fn queries(&self) -> Result<Vec<Query>, Error> {
        let n_queries = self.slices.table(QUERIES).await?.n_rows();
        let all: Vec<usize> = (0..n_queries).collect();
        self.slices.rows(QUERIES, &all).await
    }

    /// Returns the study of one query, with the documents of its pool.
    pub(crate) async fn study_of_query(&self, query: usize) -> Result<Study, Error> {
        let details: Vec<QueryDetails> = self.slices.rows(QUERY_DETAILS, &[query]).await?;
        let docs = details.iter().flat_map(|details| {
            let pool = details.pool.iter();
            pool.filter_map(|&it| details.documents.get(it as usize).copied())
        });
        let given = self.documents(docs.collect()).await?;
        let mut partial = build_partial_study(&self.head, details, given)?;
        partial.addition_counts = Default::default();
        // Derived documents inherit grades, but they are in no pool.
        for grades in partial.qrels.0.values_mut() {
            grades.retain(|doc, _| !is_placeholder_id(doc));
        }
        Ok(partial)
    }

    /// Reads documents, by their numbers.
    async fn documents(
        &self,
        mut numbers: Vec<StudyDocNo>,
    ) -> Result<BTreeMap<StudyDocNo, SlicedDocument>, Error> {
        numbers.sort_unstable();
        numbers.dedup();
        let rows: Vec<usize> = numbers.iter().map(|&it| it as usize).collect();
        let documents: Vec<SlicedDocument> = self.slices.rows(DOCUMENTS, &rows).await?;
        Ok(numbers.into_iter().zip(documents).collect())
    }

    fn listed_cell(&self, listing: &InstanceListOptions) -> Result<ListedCell, Error> {
        let definition = &self.head.study.definition;
        let variant = listing.controls.variant.unwrap_or(definition.variants[0]);
        let slugs = ranker_slugs(&self.head.rankers);
        let slugs = slugs.iter().map(String::as_str);
        let mined = definition.limits.length_tolerance_terms;
        let is_shorter = |it: u32| mined.is_none_or(|mined| it < mined);
        if listing.controls.length_tolerance.is_some_and(is_shorter) {
            let reason = "cannot be lower than that of the study";
            return Err(unsupported("length_tolerance", reason));
        }
        Ok(ListedCell {
            ranker_row: parse_ranker_slug_or_position(slugs, &listing.ranker)?,
            probe_index: self.probe_index(listing.probe, variant)?,
        })
    }

    fn probe_index(&self, probe: Probe, variant: AxiomVariant) -> Result<usize, Error> {
        let variant = match probe.is_axiom() {
            true => variant,
            false => AxiomVariant::Fixed,
        };
        let mut probes = self.head.probes.iter();
        let found = probes.position(|it| (it.probe, it.variant) == (probe, variant));
        found.ok_or_else(|| {
            let name = format!("{} {}", probe.slug(), variant.slug());
            Error::name_not_found("probe of this study", name)
        })
    }

    fn ranker_kind(&self, cell: ListedCell) -> RankerKind {
        self.head.rankers[cell.ranker_row].kind
    }

    /// Lists instances that are sorted by a key.
    async fn list_by_key(
        &self,
        listing: &InstanceListOptions,
        cell: ListedCell,
        order: &SlicedOrder,
        histogram: MarginHistogram,
    ) -> Result<InstancePage, Error> {
        let sliced = &self.head.probes[cell.probe_index];
        let arity = sliced.probe.claim_kind(sliced.variant).arity();
        let rule = SortKeyRule {
            sort: listing.sort,
            tie_width: self.ranker_kind(cell).default_tie_threshold(),
            score_deviation: self.head.score_deviations[cell.ranker_row],
        };
        let file = order_file(cell.probe_index, cell.ranker_row, "rows");
        let mut column = SlicedColumn::new(order)
            .ok_or_else(|| damaged("the order of the instances", "parts do not fit"))?;
        for _ in 0..MAX_ROUNDS {
            let lists = SortedLists::select(&order.header, &column, listing, rule);
            let found = lists.map(|lists| {
                let n_instances = lists.n_instances();
                let page = listing.page_range(n_instances);
                let selected = lists.page_in_key_order(page);
                let rows = selected.iter().map(|it| column.row(it.position).cloned());
                let rows: Vec<Option<OrderRow>> = rows.collect();
                (n_instances, selected, rows)
            });
            let missing = column.take_missing();
            if missing.is_empty() {
                let Some((n_instances, selected, rows)) = found else {
                    let reason = "lies between instances that are tied; sort by margin";
                    return Err(unsupported("min_margin", reason));
                };
                let rows: Vec<OrderRow> = rows.into_iter().flatten().collect();
                return Ok(InstancePage {
                    n_instances: n_instances as u64,
                    rows: self.listed_rows(cell, order, &selected, rows).await?,
                    histogram,
                    n_reviewed: 0,
                    n_simulated_reviews: 0,
                });
            }
            let n_bytes = OrderRow::n_bytes(arity);
            let slices = missing.iter().map(|it| FileSlice {
                file: file.clone(),
                range: Some((it.start * n_bytes) as u64..(it.end * n_bytes) as u64),
            });
            let read = self.slices.source.read_slices(slices.collect()).await?;
            for (range, bytes) in missing.into_iter().zip(read) {
                column.add_rows(range, &bytes, arity)?;
            }
        }
        Err(damaged(&file, "it is not in order"))
    }

    /// Returns the lines of selected instances.
    async fn listed_rows(
        &self,
        cell: ListedCell,
        order: &SlicedOrder,
        selected: &[SelectedInstance],
        rows: Vec<OrderRow>,
    ) -> Result<Vec<ListedInstance>, Error> {
        let offsets = self.slices.offsets(cell.probe_index).await?;
        let queries = rows.iter();
        let queries = queries.map(|it| query_of_instance(&offsets, u64::from(it.number)));
        let queries = queries.collect::<Result<Vec<usize>, Error>>()?;
        let texts: Vec<Query> = self.slices.rows(QUERIES, &queries).await?;
        let groups: Vec<_> = order.header.groups_with_ranges().collect();
        let lines = selected.iter().zip(rows).zip(texts);
        let lines = lines.map(|((selected, row), query)| {
            let (group, ranges) = &groups[selected.group];
            let outcome = ranges.outcome_at(selected.position);
            let grade = |it: &u8| {
                let at = usize::from(*it).checked_sub(1)?;
                self.head.grades.get(at).copied()
            };
            ListedInstance {
                number: u64::from(row.number),
                query_id: query.id,
                query: query.text,
                docs: row.docs.iter().map(ToString::to_string).collect(),
                grades: row.grades.iter().map(grade).collect(),
                excerpts: Vec::new(),
                outcome,
                margin: outcome.map(|_| row.margin),
                is_truncated: group.is_truncated,
            }
        });
        self.with_documents(lines.collect()).await
    }

    /// Lists instances in the order of queries, from the details of the queries on the page.
    async fn list_by_query(
        &self,
        listing: &InstanceListOptions,
        cell: ListedCell,
        histogram: MarginHistogram,
    ) -> Result<InstancePage, Error> {
        if limits_margin(listing) {
            let reason = "cannot limit a list in the order of queries; sort by margin";
            return Err(unsupported("min_margin", reason));
        }
        let offsets = self.slices.offsets(cell.probe_index).await?;
        let n_queries = offsets.len().saturating_sub(1);
        let file = order_file(cell.probe_index, cell.ranker_row, "counts");
        let read = self
            .slices
            .source
            .read_slices(vec![FileSlice::whole(&file)])
            .await?;
        let counts: Vec<u32> = read
            .concat()
            .chunks_exact(size_of::<u32>())
            .map(|it| u32::from_le_bytes(std::array::from_fn(|at| it[at])))
            .collect();
        if counts.len() != n_queries * COUNTS_PER_QUERY {
            return Err(damaged(&file, "it is of other queries"));
        }
        let is_in_split: Vec<bool> = match &listing.controls.split {
            None => vec![true; n_queries],
            Some(split) => {
                let all: Vec<usize> = (0..n_queries).collect();
                let queries: Vec<Query> = self.slices.rows(QUERIES, &all).await?;
                let splits = queries.iter().map(|it| it.split.as_ref() == Some(split));
                splits.collect()
            }
        };
        let n_listed: Vec<usize> = counts
            .chunks_exact(COUNTS_PER_QUERY)
            .zip(is_in_split)
            .map(|(counts, is_in)| match is_in {
                true => n_listed_of_query(listing, counts),
                false => 0,
            })
            .collect();
        let n_instances: usize = n_listed.iter().sum();
        let page = listing.page_range(n_instances);
        let (mut queries, mut n_before, mut n_skipped) = (Vec::new(), 0, 0);
        for (query, &n) in n_listed.iter().enumerate() {
            if n > 0 && n_before < page.end && n_before + n > page.start {
                if queries.is_empty() {
                    n_skipped = n_before;
                }
                queries.push(query);
            }
            n_before += n;
        }
        let part = InstanceListOptions {
            offset: (page.start - n_skipped) as u64,
            limit: page.len() as u64,
            ..listing.clone()
        };
        let rows = match queries.is_empty() {
            true => Vec::new(),
            false => self.list_queries(&part, cell, &queries).await?.rows,
        };
        Ok(InstancePage {
            n_instances: n_instances as u64,
            rows,
            histogram,
            n_reviewed: 0,
            n_simulated_reviews: 0,
        })
    }

    /// Lists instances by a look at every instance of the queries that pass the filter.
    async fn list_by_scan(
        &self,
        listing: &InstanceListOptions,
        cell: ListedCell,
    ) -> Result<InstancePage, Error> {
        let details = self.slices.table(QUERY_DETAILS).await?;
        let texts = self.queries().await?;
        let wanted = listing.query_filter.to_lowercase();
        let is_listed = |it: &Query| {
            let split = &listing.controls.split;
            (split.is_none() || it.split == *split)
                && (it.text.to_lowercase().contains(&wanted)
                    || it.id.to_lowercase().contains(&wanted))
        };
        let queries = (0..texts.len()).filter(|&it| is_listed(&texts[it]));
        let queries: Vec<usize> = queries.collect();
        let blocks = queries.iter().filter_map(|&it| details.block_of(it));
        let blocks: BTreeSet<usize> = blocks.collect();
        let n_bytes = blocks.iter().map(|&it| details.bytes_of_block(it));
        let n_bytes: u64 = n_bytes.map(|it| it.end - it.start).sum();
        if n_bytes > MAX_SCANNED_BYTES {
            return Err(match listing.query_filter.is_empty() {
                true => unsupported("tie_threshold", "cannot be changed for so many instances"),
                false => unsupported(
                    "query_filter",
                    "selects too many queries for a search; add another word",
                ),
            });
        }
        if queries.is_empty() {
            return Ok(empty_page());
        }
        self.list_queries(listing, cell, &queries).await
    }

    /// Lists the instances of some queries, which are read in full.
    async fn list_queries(
        &self,
        listing: &InstanceListOptions,
        cell: ListedCell,
        queries: &[usize],
    ) -> Result<InstancePage, Error> {
        let offsets = self.slices.offsets(cell.probe_index).await?;
        let details: Vec<QueryDetails> = self.slices.rows(QUERY_DETAILS, queries).await?;
        // Documents are named by their numbers until their ids are read.
        let study = build_partial_study(&self.head, details, BTreeMap::new())?;
        let listing = InstanceListOptions {
            controls: StudyPageControls {
                split: None,
                ..listing.controls.clone()
            },
            ranker: cell.ranker_row.to_string(),
            ..listing.clone()
        };
        let deviation = self.head.score_deviations[cell.ranker_row];
        let lister = study.instance_lister(&listing)?;
        let mut page = lister.with_score_deviation(deviation).page_of_all_queries();
        let instances = &study.instances[cell.probe_index];
        for row in &mut page.rows {
            let query = instances.query_of_instance(row.number as usize);
            let local = row.number - instances.first_instance_of_query(query) as u64;
            row.number = u64::from(offsets[queries[query]]) + local;
            row.excerpts.clear();
        }
        page.rows = self.with_documents(page.rows).await?;
        Ok(page)
    }

    /// Replaces the numbers of documents by their ids, and adds their excerpts.
    async fn with_documents(
        &self,
        mut rows: Vec<ListedInstance>,
    ) -> Result<Vec<ListedInstance>, Error> {
        let numbers = rows.iter().flat_map(|it| &it.docs);
        let numbers = numbers.map(|it| {
            it.trim()
                .parse::<usize>()
                .map_err(|it| damaged("a row", it))
        });
        let numbers = numbers.collect::<Result<Vec<usize>, Error>>()?;
        let mut listed = self
            .slices
            .rows::<ListedDocument>(LISTED_DOCUMENTS, &numbers)
            .await?
            .into_iter();
        for row in &mut rows {
            let of_row: Vec<ListedDocument> = listed.by_ref().take(row.docs.len()).collect();
            let (ids, excerpts) = of_row.into_iter().unzip();
            row.docs = ids;
            if !self.head.withholds_texts {
                row.excerpts = excerpts;
            }
        }
        Ok(rows)
    }
}

/// Returns the page of a list without instances.
fn empty_page() -> InstancePage {
    InstancePage {
        n_instances: 0,
        rows: Vec::new(),
        histogram: MarginHistogram {
            lower_edge: 0.0,
            bin_width: 1.0,
            counts: Vec::new(),
            n_tied: 0,
        },
        n_reviewed: 0,
        n_simulated_reviews: 0,
    }
}

/// Returns the query of an instance, given the offset of the instances of each query.
fn query_of_instance(offsets: &[u32], number: u64) -> Result<usize, Error> {
    let after = offsets.partition_point(|&it| u64::from(it) <= number);
    match after {
        0 => Err(damaged("instances", "an instance has no query")),
        it if it == offsets.len() => Err(damaged("instances", "an instance has no query")),
        it => Ok(it - 1),
    }
}

fn unsupported(field: &str, reason: &str) -> Error {
    Error::unsupported_value(field, format!("{reason}; {WAY_OUT}"))
}

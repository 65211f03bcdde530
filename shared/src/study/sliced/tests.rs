//! A study in slices answers as the whole study does.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::compare::compared_query::compare_rankers_on_query;
use crate::compare::{RankerComparisonOptions, RankerRef};
use crate::error::Error;
use crate::probe::{Axiom, AxiomVariant, Probe, ProbeInstances};
use crate::study::instance_list::fixture::{random_listing, study_with_five_rankers};
use crate::study::instance_list::order::InstanceOrder;
use crate::study::instance_list::{InstanceListOptions, InstanceSort};
use crate::study::{Study, fixture};

/// The files of a study in memory.
#[derive(Default)]
struct MemoryFiles {
    files: RefCell<BTreeMap<String, Vec<u8>>>,
    n_read_bytes: Cell<usize>,
}

impl SliceFileWriter for MemoryFiles {
    fn write_file(
        &mut self,
        file: &str,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        content(&mut bytes)?;
        self.files.get_mut().insert(file.to_owned(), bytes);
        Ok(())
    }
}

impl SliceSource for MemoryFiles {
    async fn read_slices(&self, slices: Vec<FileSlice>) -> Result<Vec<Vec<u8>>, Error> {
        let files = self.files.borrow();
        let read = slices.into_iter().map(|slice| {
            let bytes = files.get(&slice.file);
            let bytes = bytes.ok_or_else(|| Error::unreadable_file(&slice.file, "no file"))?;
            let part = match slice.range {
                None => &bytes[..],
                // A file that is too short gives less, as a server does.
                Some(it) => {
                    let end = (it.end as usize).min(bytes.len());
                    &bytes[(it.start as usize).min(end)..end]
                }
            };
            self.n_read_bytes.set(self.n_read_bytes.get() + part.len());
            Ok(part.to_vec())
        });
        read.collect()
    }
}

/// Returns the value of a future that never waits.
fn value<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("files in memory are always there"),
    }
}

fn slice(study: &Study, layout: SliceLayout) -> SlicedStudy<MemoryFiles> {
    let head = SlicedStudyHead::for_study(study).unwrap();
    let head: SlicedStudyHead =
        serde_json::from_str(&serde_json::to_string(&head).unwrap()).unwrap();
    let mut files = MemoryFiles::default();
    let order_of = |row: usize, instances: &ProbeInstances| {
        Cow::Owned(InstanceOrder::build(study, instances, &study.scores[row]))
    };
    write_sliced_study(study, &head, layout, order_of, &mut files).unwrap();
    SlicedStudy::new(head, files)
}

const SMALL: SliceLayout = SliceLayout {
    known_every: 8,
    block_bytes: 100,
};

#[test]
fn lists_of_a_study_in_slices_are_those_of_the_whole_study() {
    let study = study_with_five_rankers();
    let sliced = slice(&study, SMALL);
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let mut below = |n: usize| (random.next_u64() >> 16) as usize % n;
    let probes: Vec<&ProbeInstances> = study.instances.iter().filter(|it| it.len() > 9).collect();
    let (mut n_same, mut n_rows, mut refused) = (0, 0, BTreeMap::new());
    for _ in 0..600 {
        let instances = probes[below(probes.len())];
        let row = below(study.scores.len());
        let listing = random_listing(&study, instances, row, &mut below);
        match value(sliced.list_instances(&listing)) {
            Ok(page) => {
                let whole = study.list_instances(&listing).unwrap();
                assert_eq!(page, whole, "{listing:?}");
                n_same += 1;
                n_rows += page.rows.len();
            }
            Err(error) => {
                let field = error.field_name().map(str::to_owned);
                assert!(field.is_some(), "{error} {listing:?}");
                *refused.entry(field).or_insert(0) += 1;
            }
        }
    }
    assert!(
        n_same > 300 && n_rows > 2_000,
        "{n_same} {n_rows} {refused:?}"
    );
    let reasons: Vec<&str> = refused.keys().flatten().map(String::as_str).collect();
    assert_eq!(reasons, ["length_tolerance", "min_margin"]);
}

#[test]
fn an_instance_of_a_study_in_slices_is_that_of_the_whole_study() {
    let study = study_with_five_rankers();
    for study in [study.clone().without_texts(), study] {
        let sliced = slice(&study, SMALL);
        let mut n_instances = 0;
        for instances in &study.instances {
            for number in (0..instances.len() as u64).step_by(7) {
                for tie_threshold in [None, Some(0.5)] {
                    let ProbeInstances { probe, variant, .. } = *instances;
                    let found =
                        sliced.instance_details(probe, Some(variant), number, tie_threshold);
                    let expected = study.instance_details(probe, variant, number, tie_threshold);
                    assert_eq!(value(found).unwrap(), expected.unwrap());
                    n_instances += 1;
                }
            }
        }
        assert!(n_instances > 100, "{n_instances}");
    }
}

#[test]
fn top_documents_of_a_study_in_slices_are_those_of_the_whole_study() {
    let study = study_with_five_rankers();
    let sliced = slice(&study, SMALL);
    for query in 0..=study.queries.len() {
        for fingerprint in ["truncating", "holes", "another"] {
            let found = value(sliced.top_documents(query, fingerprint));
            assert_eq!(found, study.top_documents(query, fingerprint));
        }
    }
}

#[test]
fn a_compared_query_of_a_study_in_slices_is_that_of_the_whole_study() {
    let study = study_with_five_rankers();
    let sliced = slice(&study, SMALL);
    let slugs = study.ranker_slugs();
    let mut n_compared = 0;
    for second in &slugs[1..] {
        let options = RankerComparisonOptions {
            rankers: [&slugs[0], second].map(|it| RankerRef::Ranker(it.clone())),
            ..RankerComparisonOptions::default()
        };
        let input = study.ranker_comparison_input(&options).unwrap();
        let ids = study.queries.iter().map(|it| it.id.as_str());
        for id in ids.chain(["nothing"]) {
            let expected = compare_rankers_on_query(&input, &options, id);
            n_compared += usize::from(expected.is_ok());
            assert_eq!(value(sliced.compared_query(&options, id)), expected, "{id}");
        }
    }
    assert!(n_compared > 4, "{n_compared}");
}

#[test]
fn only_the_rows_of_a_page_are_read() {
    let texts: Vec<String> = (0..120)
        .map(|at| {
            format!(
                "{} bank {}",
                "river ".repeat(at % 23),
                "mud ".repeat(at % 31)
            )
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let study = fixture::study_with_queries(&["river", "river bank", "bank"], &texts, 200);
    let sliced = slice(&study, SliceLayout::default());
    let largest = study.instances.iter().max_by_key(|it| it.len()).unwrap();
    assert!(largest.len() > 5_000, "{}", largest.len());
    let mut listing = InstanceListOptions {
        limit: 20,
        ..random_listing(&study, largest, 0, &mut |_| 1)
    };
    (listing.min_margin, listing.max_margin) = (None, None);
    (listing.outcome, listing.controls) = (None, Default::default());
    listing.query_filter.clear();
    let n_bytes = sliced
        .source()
        .files
        .borrow()
        .values()
        .map(Vec::len)
        .sum::<usize>();
    for sort in [
        InstanceSort::MostInstructive,
        InstanceSort::MarginAscending,
        InstanceSort::MarginDescending,
        InstanceSort::AbsoluteMargin,
    ] {
        for offset in [0, largest.len() as u64 / 2, largest.len() as u64 - 20] {
            (listing.sort, listing.offset) = (sort, offset);
            sliced.source().n_read_bytes.set(0);
            let page = value(sliced.list_instances(&listing)).unwrap();
            assert_eq!(page, study.list_instances(&listing).unwrap());
            let n_read = sliced.source().n_read_bytes.get();
            assert!(
                n_read * 3 < n_bytes,
                "{sort:?} {offset}: {n_read} of {n_bytes}"
            );
        }
    }
}

#[test]
fn damaged_files_and_unknown_names_are_errors() {
    let study = study_with_five_rankers();
    let sliced = slice(&study, SMALL);
    let instances = study.instances.iter().find(|it| it.len() > 9).unwrap();
    let ProbeInstances { probe, variant, .. } = *instances;
    let listing = InstanceListOptions {
        limit: 100,
        ..random_listing(&study, instances, 0, &mut |_| 1)
    };
    let listing = InstanceListOptions {
        min_margin: None,
        max_margin: None,
        ..listing
    };
    let read = |number: u64| value(sliced.instance_details(probe, Some(variant), number, None));
    assert!(read(0).is_ok());
    let n = instances.len() as u64;
    assert!(read(n).unwrap_err().to_string().contains(&n.to_string()));
    let unknown = Probe::Axiom(Axiom::Stmc1);
    assert!(value(sliced.instance_details(unknown, Some(AxiomVariant::Code), 0, None)).is_err());
    let other = InstanceListOptions {
        ranker: "splade".to_owned(),
        ..listing.clone()
    };
    assert!(value(sliced.list_instances(&other)).is_err());
    assert!(value(sliced.list_instances(&listing)).is_ok());
    let files: Vec<String> = sliced.source().files.borrow().keys().cloned().collect();
    for file in files.iter().filter(|it| it.ends_with(".rows")) {
        let whole = sliced.source().files.borrow_mut().remove(file).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            let mut files = sliced.source().files.borrow_mut();
            files.insert(file.clone(), whole[..cut].to_vec());
            drop(files);
            // Every answer is an error or does not need the file; none panics.
            let _ = value(sliced.list_instances(&listing));
            let _ = read(n - 1);
        }
        sliced
            .source()
            .files
            .borrow_mut()
            .insert(file.clone(), whole);
    }
    sliced
        .source()
        .files
        .borrow_mut()
        .retain(|it, _| !it.ends_with(".rows"));
    assert!(value(sliced.list_instances(&listing)).is_err());
    assert!(read(0).is_err());
}

#[test]
fn a_range_of_bytes_is_found_in_chunks() {
    let bytes: Vec<u8> = (0..=255).collect();
    for size in [1_u32, 7, 64, 300] {
        let chunks: Vec<&[u8]> = bytes.chunks(size as usize).collect();
        for range in [0..1, 5..90, 63..65, 64..128, 100..256] {
            let parts = split_into_chunks(range.clone(), size).into_iter();
            let found = parts.flat_map(|(chunk, part)| &chunks[chunk as usize][part]);
            let expected = range.start as usize..range.end as usize;
            assert!(found.eq(&bytes[expected]), "{size} {range:?}");
        }
    }
}

//! Answers requests about a hosted study of which only slices are read.
#![expect(clippy::disallowed_types, reason = "the pages cannot fetch for it")]

use std::collections::BTreeMap;
use std::ops::Range;

use futures_util::future::try_join_all;
use gloo_net::http::Request;
use shared::api::{
    Endpoint, ErrorResponse, GetComparedQueryRequest, GetInstanceRequest,
    GetLateInteractionTopDocumentsRequest, ListInstancesRequest,
};
use shared::error::Error;
use shared::study::sliced::{
    FileSlice, SliceSource, SlicedStudy, SlicedStudyHead, chunk_file_name, reply_file_name,
    split_into_chunks,
};

use crate::study_requests::{fingerprint_of_slug, json, parse, to_error_response};

/// Whether a file is the head of a sliced study rather than a whole study.
pub(crate) fn is_head(text: &str) -> bool {
    text.starts_with("{\"sliced_format\":")
}

/// Opens a sliced study, given the address and the content of its head.
pub(crate) fn open(address: &str, text: &str) -> Result<SlicedStudy<HostedFiles>, ErrorResponse> {
    let head = SlicedStudyHead::from_json(address, text).map_err(to_error_response)?;
    let folder = address.rsplit_once('/').map_or("", |it| it.0);
    let source = HostedFiles {
        folder: format!("{folder}/{}", head.folder),
        chunk_bytes: head.chunk_bytes,
    };
    Ok(SlicedStudy::new(head, source))
}

/// Returns the reply to a request, as JSON.
pub(crate) async fn answer_request(
    study: &SlicedStudy<HostedFiles>,
    path: &str,
    request: &str,
) -> Result<String, ErrorResponse> {
    let prepared = reply_file_name(path, request);
    if study.head().replies.contains(&prepared) {
        let reply = study.source().fetch(&prepared, None).await;
        let reply = reply.map_err(to_error_response)?;
        return String::from_utf8(reply).map_err(|_| {
            let error = format!("{prepared} is not a text. Reload the page.");
            ErrorResponse::with_message_and_type(error, "input")
        });
    }
    match path {
        GetLateInteractionTopDocumentsRequest::PATH => {
            let asked: GetLateInteractionTopDocumentsRequest = parse(request)?;
            let fingerprint = fingerprint_of_slug(study.head().rankers.iter(), &asked.ranker);
            let found = study.top_documents(asked.query, &fingerprint).await;
            Ok(json(&found.map_err(to_error_response)?))
        }
        ListInstancesRequest::PATH => {
            let asked: ListInstancesRequest = parse(request)?;
            let page = study.list_instances(&asked.filter).await;
            Ok(json(&page.map_err(to_error_response)?))
        }
        GetComparedQueryRequest::PATH => {
            let asked: GetComparedQueryRequest = parse(request)?;
            let found = study.compared_query(&asked.options, &asked.query_id).await;
            Ok(json(&found.map_err(to_error_response)?))
        }
        GetInstanceRequest::PATH => {
            let asked: GetInstanceRequest = parse(request)?;
            let details = study.instance_details(
                asked.probe,
                asked.variant,
                asked.number,
                asked.tie_threshold,
            );
            Ok(json(&details.await.map_err(to_error_response)?))
        }
        _ => {
            let error = "This site has only files, and none with these settings of so large a \
                 study. Go back to the default settings, or start `axioscope serve` with the study.";
            Err(ErrorResponse::with_message_and_type(error, "setting"))
        }
    }
}

/// The files of a sliced study on a host of files.
pub(crate) struct HostedFiles {
    /// The address of their folder.
    folder: String,
    chunk_bytes: Option<u32>,
}

/// Bytes between two ranges that are read rather than asked for in two requests.
const MAX_GAP: u64 = 4 << 10;

impl HostedFiles {
    /// Fetches a file, or a range of it.
    async fn fetch(&self, file: &str, range: Option<&Range<u64>>) -> Result<Vec<u8>, Error> {
        let address = format!("{}/{file}", self.folder);
        let failed = |reason: String| Error::unreadable_file(&address, reason);
        let request = Request::get(&address);
        let request = match range {
            None => request,
            Some(it) => request.header("range", &format!("bytes={}-{}", it.start, it.end - 1)),
        };
        let sent = request.send().await;
        let response = sent.map_err(|it| {
            failed(format!(
                "cannot be fetched ({it}); check the connection and reload the page"
            ))
        })?;
        match (response.status(), range) {
            (200, None) | (206, Some(_)) => {}
            (200, Some(_)) => {
                let reason = "comes as a whole, since this host does not answer range requests; \
                     export the study with `--layout chunks`";
                return Err(failed(reason.to_owned()));
            }
            (status, _) => {
                let reason = format!("is not there (HTTP status {status}); reload the page");
                return Err(failed(reason));
            }
        }
        let read = response.binary().await;
        read.map_err(|it| failed(format!("cannot be read ({it}); reload the page")))
    }

    /// Reads ranges of a file, sorted by their start.
    async fn read_ranges(&self, file: &str, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Error> {
        let parts = match self.chunk_bytes {
            Some(chunk_bytes) => self.read_chunks(file, ranges, chunk_bytes).await?,
            None => {
                let mut joined: Vec<Range<u64>> = Vec::new();
                for range in ranges {
                    match joined.last_mut() {
                        Some(last) if range.start <= last.end + MAX_GAP => {
                            last.end = last.end.max(range.end);
                        }
                        _ => joined.push(range.clone()),
                    }
                }
                let read = joined.iter().map(|it| self.fetch(file, Some(it)));
                let read = try_join_all(read).await?;
                joined.into_iter().map(|it| it.start).zip(read).collect()
            }
        };
        let part = |range: &Range<u64>| {
            // A range may lie in several chunks.
            let mut bytes = Vec::new();
            while (bytes.len() as u64) < range.end - range.start {
                let at = range.start + bytes.len() as u64;
                let Some((start, part)) = parts.range(..=at).next_back() else {
                    break;
                };
                let to = ((range.end - start) as usize).min(part.len());
                match part.get((at - start) as usize..to) {
                    Some(more) if !more.is_empty() => bytes.extend_from_slice(more),
                    // The file is too short, which whoever asked for the range notices.
                    Some(_) | None => break,
                }
            }
            bytes
        };
        Ok(ranges.iter().map(part).collect())
    }

    /// Reads the chunks that some ranges touch, by their first bytes.
    async fn read_chunks(
        &self,
        file: &str,
        ranges: &[Range<u64>],
        chunk_bytes: u32,
    ) -> Result<BTreeMap<u64, Vec<u8>>, Error> {
        let touched = ranges
            .iter()
            .flat_map(|it| split_into_chunks(it.clone(), chunk_bytes));
        let mut chunks: Vec<u64> = touched.map(|it| it.0).collect();
        chunks.sort_unstable();
        chunks.dedup();
        let read = chunks
            .iter()
            .map(|&chunk| async move { self.fetch(&chunk_file_name(file, chunk), None).await });
        let read = try_join_all(read).await?;
        let starts = chunks.iter().map(|it| it * u64::from(chunk_bytes));
        Ok(starts.zip(read).collect())
    }
}

impl SliceSource for HostedFiles {
    async fn read_slices(&self, slices: Vec<FileSlice>) -> Result<Vec<Vec<u8>>, Error> {
        let mut ranges: BTreeMap<&str, Vec<Range<u64>>> = BTreeMap::new();
        for slice in &slices {
            if let Some(range) = slice.range.as_ref().filter(|it| !it.is_empty()) {
                ranges.entry(&slice.file).or_default().push(range.clone());
            }
        }
        let read = ranges.into_iter().map(|(file, mut ranges)| async move {
            ranges.sort_unstable_by_key(|it| (it.start, it.end));
            let parts = self.read_ranges(file, &ranges).await?;
            let keys = ranges.into_iter().map(|it| (file, it.start, it.end));
            Ok::<_, Error>(keys.zip(parts).collect::<Vec<_>>())
        });
        let read = try_join_all(read).await?;
        let read: BTreeMap<_, Vec<u8>> = read.into_iter().flatten().collect();
        let mut found = Vec::new();
        for slice in &slices {
            found.push(match &slice.range {
                None => self.fetch(&slice.file, None).await?,
                Some(it) => read
                    .get(&(slice.file.as_str(), it.start, it.end))
                    .cloned()
                    .unwrap_or_default(),
            });
        }
        Ok(found)
    }
}

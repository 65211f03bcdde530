//! A study in files of which a page reads only the slices that it shows, so that a browser opens a
//! study of ten million instances from a host of files.
//!
//! [`write_sliced_study`] writes the files, and [`SlicedStudy`] answers requests from them as
//! [`super::Study`] would from the whole study.

mod column;
mod files;
mod partial_study;
mod slices;
mod reader;
mod table;
mod writer;

pub use files::{
    FileSlice, SliceLayout, SlicedProbe, SlicedStudyHead, chunk_file_name, reply_file_name,
    split_into_chunks,
};
pub use reader::SlicedStudy;
pub use slices::SliceSource;
pub use writer::{SliceFileWriter, write_sliced_study};

#[cfg(test)]
mod tests;

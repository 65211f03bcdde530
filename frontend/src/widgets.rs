//! Parts that more than one page shows.

pub(crate) mod progress;
pub(crate) mod job;
pub(crate) mod token_form;
pub(crate) mod error;
pub(crate) mod form;
pub(crate) mod analyzer;
pub(crate) mod answered;
pub(crate) mod clipboard;
pub(crate) mod download;
pub(crate) mod verdict;
pub(crate) mod marked;
pub(crate) mod markdown;
pub(crate) mod drawing;
pub(crate) mod picking;
pub(crate) mod section;
pub(crate) mod table;
pub(crate) mod takes;
pub(crate) mod part;
pub(crate) mod dials;
pub(crate) mod heatmap;
pub(crate) mod attention;
pub(crate) mod contributions;
pub(crate) mod token_map;
pub(crate) mod looked;
pub(crate) mod difference;
pub(crate) mod virtual_list;

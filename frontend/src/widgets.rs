//! Components that more than one page uses.

pub(crate) mod progress;
pub(crate) mod job_status;
pub(crate) mod operator_sign_in;
pub(crate) mod error_message;
pub(crate) mod form;
pub(crate) mod analyzer;
pub(crate) mod resource_view;
pub(crate) mod clipboard;
pub(crate) mod download;
pub(crate) mod verdict;
pub(crate) mod highlighted_text;
pub(crate) mod markdown;
pub(crate) mod figure;
pub(crate) mod figure_picker;
pub(crate) mod section;
pub(crate) mod table;
pub(crate) mod export_buttons;
pub(crate) mod figure_section;
pub(crate) mod controls;
pub(crate) mod heatmap;
pub(crate) mod attention;
pub(crate) mod term_contributions;
pub(crate) mod token_match_map;
pub(crate) mod token_matches;
pub(crate) mod text_diff;
pub(crate) mod virtual_list;

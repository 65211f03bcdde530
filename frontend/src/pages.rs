//! The pages, one file each: a page reads its address, sends its requests, and renders the replies.

#[cfg(feature = "frontend")]
pub(crate) mod studies;
pub(crate) mod study;
pub(crate) mod page_state;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod figures;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod late_interaction;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod compare;
pub(crate) mod compare_address;
#[cfg(feature = "frontend")]
pub(crate) mod instances;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod instance;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod playground;
#[cfg(feature = "frontend")]
pub(crate) mod workbench;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod trainings;
#[cfg(any(feature = "lazy-bundle", feature = "annotation"))]
pub(crate) mod review;
#[cfg(any(feature = "lazy-bundle", feature = "annotation"))]
pub(crate) mod join;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod people;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod compare_studies;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod reproductions;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod operator;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod about;

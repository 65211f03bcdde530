//! One file for each page: it reads the address, asks once, and shows.

pub(crate) mod studies;
pub(crate) mod study;
pub(crate) mod scene;
pub(crate) mod figures;
pub(crate) mod inside;
pub(crate) mod differ;
pub(crate) mod instances;
pub(crate) mod instance;
pub(crate) mod playground;
pub(crate) mod workbench;
pub(crate) mod review;
pub(crate) mod join;
pub(crate) mod people;
pub(crate) mod replay;
pub(crate) mod operator;
pub(crate) mod about;

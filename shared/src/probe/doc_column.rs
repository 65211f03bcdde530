//! A column of document numbers, either owned or borrowed from a source such as a memory-mapped
//! file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::StudyDocNo;

/// Lends a column while it is in use; the numbers never change.
pub trait DocNoColumnSource: Send + Sync {
    /// Returns the numbers of the column.
    fn docs(&self) -> &[StudyDocNo];
}

/// A column of document numbers, in memory or in a file.
#[derive(Clone)]
pub(super) enum DocNoColumn {
    Owned(Vec<StudyDocNo>),
    Shared(Arc<dyn DocNoColumnSource>),
}

impl Deref for DocNoColumn {
    type Target = [StudyDocNo];

    fn deref(&self) -> &[StudyDocNo] {
        match self {
            DocNoColumn::Owned(texts) => texts,
            DocNoColumn::Shared(lender) => lender.docs(),
        }
    }
}

impl Extend<StudyDocNo> for DocNoColumn {
    /// Copies a shared column into memory first.
    fn extend<T: IntoIterator<Item = StudyDocNo>>(&mut self, more: T) {
        if let DocNoColumn::Shared(lender) = self {
            *self = DocNoColumn::Owned(lender.docs().to_vec());
        }
        if let DocNoColumn::Owned(texts) = self {
            texts.extend(more);
        }
    }
}

impl fmt::Debug for DocNoColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(out)
    }
}

impl PartialEq for DocNoColumn {
    fn eq(&self, other: &DocNoColumn) -> bool {
        **self == **other
    }
}

impl Eq for DocNoColumn {}

impl Serialize for DocNoColumn {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(into)
    }
}

impl<'de> Deserialize<'de> for DocNoColumn {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DocNoColumn, D::Error> {
        Vec::deserialize(from).map(DocNoColumn::Owned)
    }
}

//! A column of document numbers, either owned or borrowed from a source such as a memory-mapped
//! file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::StudyDocNo;

/// Lends a column while it is in use; the numbers never change.
pub trait DocColumnSource: Send + Sync {
    /// Returns the numbers of the column.
    fn docs(&self) -> &[StudyDocNo];
}

/// A column of document numbers, in memory or in a file.
#[derive(Clone)]
pub(super) enum DocColumn {
    Owned(Vec<StudyDocNo>),
    Shared(Arc<dyn DocColumnSource>),
}

impl Deref for DocColumn {
    type Target = [StudyDocNo];

    fn deref(&self) -> &[StudyDocNo] {
        match self {
            DocColumn::Owned(texts) => texts,
            DocColumn::Shared(lender) => lender.docs(),
        }
    }
}

impl Extend<StudyDocNo> for DocColumn {
    /// Copies a shared column into memory first.
    fn extend<T: IntoIterator<Item = StudyDocNo>>(&mut self, more: T) {
        if let DocColumn::Shared(lender) = self {
            *self = DocColumn::Owned(lender.docs().to_vec());
        }
        if let DocColumn::Owned(texts) = self {
            texts.extend(more);
        }
    }
}

impl fmt::Debug for DocColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(out)
    }
}

impl PartialEq for DocColumn {
    fn eq(&self, other: &DocColumn) -> bool {
        **self == **other
    }
}

impl Eq for DocColumn {}

impl Serialize for DocColumn {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(into)
    }
}

impl<'de> Deserialize<'de> for DocColumn {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DocColumn, D::Error> {
        Vec::deserialize(from).map(DocColumn::Owned)
    }
}

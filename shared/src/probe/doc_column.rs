//! A column of document numbers, either owned or borrowed from a source such as a memory-mapped
//! file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::StudyDocNo;

/// Lends a column while it is in use; the numbers never change.
pub trait SharedDocNoColumn: Send + Sync {
    /// Returns the numbers of the column.
    fn docs(&self) -> &[StudyDocNo];
}

/// A column of document numbers, in memory or in a file.
#[derive(Clone)]
pub(super) enum OwnedOrSharedDocNumbers {
    Owned(Vec<StudyDocNo>),
    Shared(Arc<dyn SharedDocNoColumn>),
}

impl Deref for OwnedOrSharedDocNumbers {
    type Target = [StudyDocNo];

    fn deref(&self) -> &[StudyDocNo] {
        match self {
            OwnedOrSharedDocNumbers::Owned(texts) => texts,
            OwnedOrSharedDocNumbers::Shared(lender) => lender.docs(),
        }
    }
}

impl Extend<StudyDocNo> for OwnedOrSharedDocNumbers {
    /// Copies a shared column into memory first.
    fn extend<T: IntoIterator<Item = StudyDocNo>>(&mut self, more: T) {
        if let OwnedOrSharedDocNumbers::Shared(lender) = self {
            *self = OwnedOrSharedDocNumbers::Owned(lender.docs().to_vec());
        }
        if let OwnedOrSharedDocNumbers::Owned(texts) = self {
            texts.extend(more);
        }
    }
}

impl fmt::Debug for OwnedOrSharedDocNumbers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(out)
    }
}

impl PartialEq for OwnedOrSharedDocNumbers {
    fn eq(&self, other: &OwnedOrSharedDocNumbers) -> bool {
        **self == **other
    }
}

impl Eq for OwnedOrSharedDocNumbers {}

impl Serialize for OwnedOrSharedDocNumbers {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(into)
    }
}

impl<'de> Deserialize<'de> for OwnedOrSharedDocNumbers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OwnedOrSharedDocNumbers, D::Error> {
        Vec::deserialize(from).map(OwnedOrSharedDocNumbers::Owned)
    }
}

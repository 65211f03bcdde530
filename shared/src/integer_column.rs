//! Columns of integers that are owned, or borrowed from a source such as a memory-mapped file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Lends a column of integers of one type while it is in use; the integers never change.
pub trait SharedIntegerColumn<T = u32>: Send + Sync {
    /// Returns the integers of the column.
    fn integers(&self) -> &[T];
}

/// A column of 32-bit integers, in memory or in a file. A clone shares the integers until one
/// of the two columns is extended.
#[derive(Clone)]
pub enum OwnedOrSharedIntegers {
    /// A column in memory.
    Owned(Arc<Vec<u32>>),
    /// A column of a file.
    Shared(Arc<dyn SharedIntegerColumn>),
}

impl Deref for OwnedOrSharedIntegers {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            OwnedOrSharedIntegers::Owned(integers) => integers,
            OwnedOrSharedIntegers::Shared(lender) => lender.integers(),
        }
    }
}

impl OwnedOrSharedIntegers {
    /// Returns the integers to change them; a shared column is copied into memory first.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<u32> {
        if let OwnedOrSharedIntegers::Shared(lender) = self {
            *self = lender.integers().to_vec().into();
        }
        match self {
            OwnedOrSharedIntegers::Owned(integers) => Arc::make_mut(integers),
            OwnedOrSharedIntegers::Shared(_) => unreachable!("it was copied"),
        }
    }
}

impl Extend<u32> for OwnedOrSharedIntegers {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, more: T) {
        self.to_mut().extend(more);
    }
}

impl From<Vec<u32>> for OwnedOrSharedIntegers {
    fn from(integers: Vec<u32>) -> OwnedOrSharedIntegers {
        OwnedOrSharedIntegers::Owned(Arc::new(integers))
    }
}

impl fmt::Debug for OwnedOrSharedIntegers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(out)
    }
}

impl PartialEq for OwnedOrSharedIntegers {
    fn eq(&self, other: &OwnedOrSharedIntegers) -> bool {
        **self == **other
    }
}

impl Eq for OwnedOrSharedIntegers {}

impl Serialize for OwnedOrSharedIntegers {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(into)
    }
}

impl<'de> Deserialize<'de> for OwnedOrSharedIntegers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OwnedOrSharedIntegers, D::Error> {
        Vec::deserialize(from).map(OwnedOrSharedIntegers::from)
    }
}

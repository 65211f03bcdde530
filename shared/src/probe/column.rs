//! A column of texts: numbers that are held, or that somebody lends from elsewhere, as a server
//! that maps a file and does not keep it in memory.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TextNo;

/// Lends a column for as long as it is used; the numbers never change.
pub trait Lender: Send + Sync {
    /// Returns the numbers of the column.
    fn texts(&self) -> &[TextNo];
}

/// A column of numbers of texts, held in memory or lent by a file.
#[derive(Clone)]
pub(super) enum Column {
    Held(Vec<TextNo>),
    Lent(Arc<dyn Lender>),
}

impl Deref for Column {
    type Target = [TextNo];

    fn deref(&self) -> &[TextNo] {
        match self {
            Column::Held(texts) => texts,
            Column::Lent(lender) => lender.texts(),
        }
    }
}

impl Extend<TextNo> for Column {
    /// What was lent is held from here on.
    fn extend<T: IntoIterator<Item = TextNo>>(&mut self, more: T) {
        if let Column::Lent(lender) = self {
            *self = Column::Held(lender.texts().to_vec());
        }
        if let Column::Held(texts) = self {
            texts.extend(more);
        }
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(out)
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        **self == **other
    }
}

impl Eq for Column {}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(into)
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Column, D::Error> {
        Vec::deserialize(from).map(Column::Held)
    }
}

//! Parsed Markdown: what is left of a text by a user, without HTML, images and unsafe links.

use serde::{Deserialize, Serialize};

/// A node of a parsed text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MarkdownNode {
    /// Plain text.
    Text(String),
    /// Code within a line.
    Code(String),
    /// A line break.
    LineBreak,
    /// A horizontal rule.
    Rule,
    /// An element with children.
    Element {
        /// What it is.
        kind: MarkdownElementKind,
        /// Its content, at most twelve elements deep.
        #[cfg_attr(feature = "openapi", schema(no_recursion))]
        children: Vec<MarkdownNode>,
    },
}

/// The kind of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MarkdownElementKind {
    /// A paragraph.
    Paragraph,
    /// A heading of level 3 to 6; levels 1 and 2 belong to the page.
    Heading(u8),
    /// A quotation.
    Quote,
    /// Lines of code.
    CodeBlock,
    /// A list without numbers.
    List,
    /// A list with numbers, the first of which is given.
    NumberedList(u64),
    /// An item of a list.
    Item,
    /// Emphasized text.
    Emphasis,
    /// Strong text.
    Strong,
    /// Text that is struck out.
    Struck,
    /// A link with its target, which has the scheme http, https or mailto.
    Link(String),
}

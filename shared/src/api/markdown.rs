//! Parsed Markdown: what is left of a text by a user, without HTML, images and unsafe links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A node of a parsed text, which pages show as text or as an element of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkdownNode {
    /// Text without markup, in which nothing stands for HTML.
    Text(String),
    /// Code within a line, shown in a typeface of fixed width.
    Code(String),
    /// A line break within a paragraph.
    LineBreak,
    /// A horizontal rule between two parts of the text.
    Rule,
    /// A part of the text with parts of its own.
    Element {
        /// What the part is, with its level, first number or target.
        kind: MarkdownElementKind,
        /// Its content, at most twelve elements deep.
        #[schema(no_recursion)]
        children: Vec<MarkdownNode>,
    },
}

/// What a part of a parsed text is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkdownElementKind {
    /// A paragraph of the text.
    Paragraph,
    /// A heading of level 3 to 6; levels 1 and 2 belong to the page.
    Heading(u8),
    /// A quotation, set off from the text.
    Quote,
    /// Lines of code, shown with their line breaks.
    CodeBlock,
    /// A list without numbers.
    List,
    /// A list with numbers, the first of which is given.
    NumberedList(u64),
    /// An item of a list of either kind.
    Item,
    /// Text with emphasis, usually in italics.
    Emphasis,
    /// Text with strong emphasis, usually in bold.
    Strong,
    /// Text that is struck out by its author.
    Struck,
    /// A link with its target, which has the scheme http, https or mailto.
    Link(String),
}

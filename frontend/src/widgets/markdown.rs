//! Renders Markdown that the server has parsed. Nothing is ever set as HTML.

use leptos::prelude::*;
use shared::api::markdown::{MarkdownElementKind, MarkdownNode};

/// Renders Markdown that the server has parsed, without HTML, images and unsafe links.
#[component]
pub(crate) fn Markdown(
    /// The nodes of the parsed text, in their order.
    nodes: Vec<MarkdownNode>,
) -> impl IntoView {
    view! { <div class="markdown">{nodes.into_iter().map(node_view).collect_view()}</div> }
}

fn node_view(node: MarkdownNode) -> AnyView {
    let (kind, inner) = match node {
        MarkdownNode::Text(text) => return text.into_any(),
        MarkdownNode::Code(text) => return view! { <code>{text}</code> }.into_any(),
        MarkdownNode::LineBreak => return view! { <br/> }.into_any(),
        MarkdownNode::Rule => return view! { <hr/> }.into_any(),
        MarkdownNode::Element { kind, children } => (kind, children),
    };
    let inner = inner.into_iter().map(node_view).collect_view();
    match kind {
        MarkdownElementKind::Paragraph => view! { <p>{inner}</p> }.into_any(),
        MarkdownElementKind::Heading(3) => view! { <h3>{inner}</h3> }.into_any(),
        MarkdownElementKind::Heading(4) => view! { <h4>{inner}</h4> }.into_any(),
        MarkdownElementKind::Heading(5) => view! { <h5>{inner}</h5> }.into_any(),
        MarkdownElementKind::Heading(_) => view! { <h6>{inner}</h6> }.into_any(),
        MarkdownElementKind::Quote => view! { <blockquote>{inner}</blockquote> }.into_any(),
        MarkdownElementKind::CodeBlock => view! { <pre><code>{inner}</code></pre> }.into_any(),
        MarkdownElementKind::List => view! { <ul>{inner}</ul> }.into_any(),
        MarkdownElementKind::NumberedList(first) => {
            view! { <ol start=first.to_string()>{inner}</ol> }.into_any()
        }
        MarkdownElementKind::Item => view! { <li>{inner}</li> }.into_any(),
        MarkdownElementKind::Emphasis => view! { <em>{inner}</em> }.into_any(),
        MarkdownElementKind::Strong => view! { <strong>{inner}</strong> }.into_any(),
        MarkdownElementKind::Struck => view! { <del>{inner}</del> }.into_any(),
        MarkdownElementKind::Link(href) => view! {
            <a href=href target="_blank" rel="noopener noreferrer nofollow">{inner}</a>
        }
        .into_any(),
    }
}

//! Renders Markdown that was written by users.
//!
//! It is untrusted: raw HTML is dropped, an image is replaced by its text, and a link must use
//! http, https or mailto, or only its text is kept. Nothing is ever set as HTML.

use leptos::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The maximum nesting depth; deeper content is shown in the element that contains it. Otherwise a
/// page of `>` would nest as many elements as a browser can hold.
const MAX_DEPTH: usize = 12;

/// Renders untrusted Markdown without raw HTML and images; links keep only http, https and mailto
/// targets.
#[component]
pub(crate) fn UntrustedMarkdown(
    /// The Markdown source.
    text: String,
) -> impl IntoView {
    let nodes = parse_nodes(&text);
    view! { <div class="markdown">{nodes.into_iter().map(node_view).collect_view()}</div> }
}

/// A node of the parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MarkdownNode {
    Text(String),
    Code(String),
    Break,
    Rule,
    Within(ContainerKind, Vec<MarkdownNode>),
}

/// The kind of a node with children.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ContainerKind {
    Paragraph,
    /// A heading of level 3 to 6; levels 1 and 2 belong to the page.
    Heading(u8),
    Quote,
    CodeBlock,
    List,
    /// An ordered list that starts at this number.
    Counted(u64),
    Item,
    Emphasis,
    Strong,
    Struck,
    Link(String),
    /// A group without an element of its own.
    Plain,
    /// A node that is dropped with all its children.
    Dropped,
}

/// Parses a text into nodes.
fn parse_nodes(text: &str) -> Vec<MarkdownNode> {
    let mut open: Vec<(ContainerKind, Vec<MarkdownNode>)> =
        vec![(ContainerKind::Plain, Vec::new())];
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        let node = match event {
            Event::Start(tag) => {
                let kind = match kind(tag) {
                    ContainerKind::Dropped => ContainerKind::Dropped,
                    _ if open.len() > MAX_DEPTH => ContainerKind::Plain,
                    kind => kind,
                };
                open.push((kind, Vec::new()));
                continue;
            }
            Event::End(_) => {
                // Start and end events are balanced, and the outermost node stays open.
                let Some((kind, inner)) = open.pop().filter(|_| !open.is_empty()) else {
                    break;
                };
                let outer = open.last_mut().map(|it| &mut it.1);
                match (kind, outer) {
                    (ContainerKind::Dropped, _) | (_, None) => {}
                    (ContainerKind::Plain, Some(outer)) => outer.extend(inner),
                    (kind, Some(outer)) => outer.push(MarkdownNode::Within(kind, inner)),
                }
                continue;
            }
            Event::Text(text) => MarkdownNode::Text(text.into_string()),
            Event::Code(text) => MarkdownNode::Code(text.into_string()),
            Event::SoftBreak => MarkdownNode::Text(" ".to_owned()),
            Event::HardBreak => MarkdownNode::Break,
            Event::Rule => MarkdownNode::Rule,
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => continue,
        };
        if let Some((_, inner)) = open.last_mut() {
            inner.push(node);
        }
    }
    open.into_iter().next().map(|it| it.1).unwrap_or_default()
}

fn kind(tag: Tag<'_>) -> ContainerKind {
    match tag {
        Tag::Paragraph => ContainerKind::Paragraph,
        Tag::Heading { level, .. } => ContainerKind::Heading((level as u8 + 2).min(6)),
        Tag::BlockQuote(_) => ContainerKind::Quote,
        Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => {
            ContainerKind::CodeBlock
        }
        Tag::List(Some(first)) => ContainerKind::Counted(first),
        Tag::List(None) => ContainerKind::List,
        Tag::Item => ContainerKind::Item,
        Tag::Emphasis => ContainerKind::Emphasis,
        Tag::Strong => ContainerKind::Strong,
        Tag::Strikethrough => ContainerKind::Struck,
        Tag::Link { dest_url, .. } => match safe_href(&dest_url) {
            Some(href) => ContainerKind::Link(href),
            None => ContainerKind::Plain,
        },
        Tag::HtmlBlock | Tag::MetadataBlock(_) => ContainerKind::Dropped,
        // An image is replaced by its text.
        _ => ContainerKind::Plain,
    }
}

/// Returns the target of a link; none unless its scheme is allowed.
fn safe_href(address: &str) -> Option<String> {
    let odd = |it: char| it.is_control() || it.is_whitespace();
    let (scheme, rest) = address.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    let leads = match scheme.as_str() {
        "http" | "https" => rest.starts_with("//"),
        "mailto" => true,
        _ => false,
    };
    (leads && !rest.contains(odd)).then(|| format!("{scheme}:{rest}"))
}

fn node_view(node: MarkdownNode) -> AnyView {
    let (kind, inner) = match node {
        MarkdownNode::Text(text) => return text.into_any(),
        MarkdownNode::Code(text) => return view! { <code>{text}</code> }.into_any(),
        MarkdownNode::Break => return view! { <br/> }.into_any(),
        MarkdownNode::Rule => return view! { <hr/> }.into_any(),
        MarkdownNode::Within(kind, inner) => (kind, inner),
    };
    let inner = inner.into_iter().map(node_view).collect_view();
    match kind {
        ContainerKind::Paragraph => view! { <p>{inner}</p> }.into_any(),
        ContainerKind::Heading(3) => view! { <h3>{inner}</h3> }.into_any(),
        ContainerKind::Heading(4) => view! { <h4>{inner}</h4> }.into_any(),
        ContainerKind::Heading(5) => view! { <h5>{inner}</h5> }.into_any(),
        ContainerKind::Heading(_) => view! { <h6>{inner}</h6> }.into_any(),
        ContainerKind::Quote => view! { <blockquote>{inner}</blockquote> }.into_any(),
        ContainerKind::CodeBlock => view! { <pre><code>{inner}</code></pre> }.into_any(),
        ContainerKind::List => view! { <ul>{inner}</ul> }.into_any(),
        ContainerKind::Counted(first) => {
            view! { <ol start=first.to_string()>{inner}</ol> }.into_any()
        }
        ContainerKind::Item => view! { <li>{inner}</li> }.into_any(),
        ContainerKind::Emphasis => view! { <em>{inner}</em> }.into_any(),
        ContainerKind::Strong => view! { <strong>{inner}</strong> }.into_any(),
        ContainerKind::Struck => view! { <del>{inner}</del> }.into_any(),
        ContainerKind::Link(href) => view! {
            <a href=href target="_blank" rel="noopener noreferrer nofollow">{inner}</a>
        }
        .into_any(),
        ContainerKind::Plain | ContainerKind::Dropped => inner.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is a nested form such as `paragraph(strong(two))`.
    fn check(text: &str, expected: &str) {
        fn written(nodes: &[MarkdownNode]) -> String {
            let each = nodes.iter().map(|node| match node {
                MarkdownNode::Text(text) => text.clone(),
                MarkdownNode::Code(text) => format!("`{text}`"),
                MarkdownNode::Break => "⏎".to_owned(),
                MarkdownNode::Rule => "—".to_owned(),
                MarkdownNode::Within(kind, inner) => format!("{kind:?}[{}]", written(inner)),
            });
            each.collect()
        }
        assert_eq!(written(&parse_nodes(text)), expected, "{text}");
    }

    #[test]
    fn usual_markdown_is_shown() {
        check(
            "# How\n\nOne **two** `a<b`",
            "Heading(3)[How]Paragraph[One Strong[two] `a<b`]",
        );
        check("1. a\n2. b", "Counted(1)[Item[a]Item[b]]");
        check("- a\n- ~~b~~", "List[Item[a]Item[Struck[b]]]");
        check("> q\n\n---\n\n    x", "Quote[Paragraph[q]]—CodeBlock[x]");
        check("a\nb  \nc", "Paragraph[a b⏎c]");
    }

    #[test]
    fn links_lead_by_three_schemes_only() {
        check(
            "[a](https://x.org)",
            "Paragraph[Link(\"https://x.org\")[a]]",
        );
        check(
            "[a](MAILTO:a@x.org)",
            "Paragraph[Link(\"mailto:a@x.org\")[a]]",
        );
        check(
            "<http://x.org>",
            "Paragraph[Link(\"http://x.org\")[http://x.org]]",
        );
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "&#106;avascript:alert(1)",
            "java&#10;script:alert(1)",
            "&#1;javascript:alert(1)",
            "data:text/html;base64,PHNjcmlwdD4=",
            "vbscript:x",
            "//x.org",
            "/api/sign-out",
            "#a",
            "https:alert",
            "blob:https://x.org/1",
        ] {
            check(&format!("[a](<{address}>)"), "Paragraph[a]");
        }
    }

    #[test]
    fn no_html_comes_through() {
        check("<script>alert(1)</script>", "");
        check("a <img src=x onerror=alert(1)> b", "Paragraph[a  b]");
        check("<div>\n*a*\n</div>\n\nb", "Paragraph[b]");
        check(
            "![alt *it*](https://x.org/a.png)",
            "Paragraph[alt Emphasis[it]]",
        );
        check(
            "[<b>x</b>](https://x.org)",
            "Paragraph[Link(\"https://x.org\")[x]]",
        );
        check("&lt;script&gt;", "Paragraph[<script>]");
        check("<!-- a -->", "");
        check("<a href=\"javascript:x\">a</a>", "Paragraph[a]");
    }

    #[test]
    fn depth_has_an_end() {
        let deepest = |text: &str| {
            fn depth(nodes: &[MarkdownNode]) -> usize {
                let of = |it: &MarkdownNode| match it {
                    MarkdownNode::Within(_, inner) => 1 + depth(inner),
                    _ => 0,
                };
                nodes.iter().map(of).max().unwrap_or(0)
            }
            depth(&parse_nodes(text))
        };
        assert!(deepest(&(">".repeat(50_000) + "a")) <= MAX_DEPTH);
        assert!(deepest(&("- ".repeat(20_000) + "a")) <= MAX_DEPTH);
        assert!(deepest(&("*a ".repeat(10_000) + &"a*".repeat(10_000))) <= MAX_DEPTH);
        assert!(deepest(&("[".repeat(20_000) + "a")) <= MAX_DEPTH);
    }
}

//! Parses Markdown that was written by users.
//!
//! It is untrusted: raw HTML is dropped, an image is replaced by its text, and a link must use
//! http, https or mailto, or only its text is kept. Nothing is ever set as HTML.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use shared::api::markdown::{MarkdownElementKind, MarkdownNode};

/// The maximum nesting depth; deeper content is shown in the element that contains it. Otherwise a
/// page of `>` would nest as many elements as a browser can hold.
const MAX_DEPTH: usize = 12;

/// What an open part of the text becomes.
enum OpenPart {
    Element(MarkdownElementKind),
    /// Its children are those of the part around it.
    Plain,
    /// It is dropped with all its children.
    Dropped,
}

/// Parses a text into the nodes that pages show.
pub(super) fn parse_untrusted_markdown(text: &str) -> Vec<MarkdownNode> {
    let mut open: Vec<(OpenPart, Vec<MarkdownNode>)> = vec![(OpenPart::Plain, Vec::new())];
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        let node = match event {
            Event::Start(tag) => {
                let opened = match part_of_tag(tag) {
                    OpenPart::Element(_) if open.len() > MAX_DEPTH => OpenPart::Plain,
                    opened => opened,
                };
                open.push((opened, Vec::new()));
                continue;
            }
            Event::End(_) => {
                // Start and end events are balanced, and the outermost node stays open.
                let Some((closed, children)) = open.pop().filter(|_| !open.is_empty()) else {
                    break;
                };
                let outer = open.last_mut().map(|it| &mut it.1);
                match (closed, outer) {
                    (OpenPart::Dropped, _) | (_, None) => {}
                    (OpenPart::Plain, Some(outer)) => outer.extend(children),
                    (OpenPart::Element(kind), Some(outer)) => {
                        outer.push(MarkdownNode::Element { kind, children });
                    }
                }
                continue;
            }
            Event::Text(text) => MarkdownNode::Text(text.into_string()),
            Event::Code(text) => MarkdownNode::Code(text.into_string()),
            Event::SoftBreak => MarkdownNode::Text(" ".to_owned()),
            Event::HardBreak => MarkdownNode::LineBreak,
            Event::Rule => MarkdownNode::Rule,
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => continue,
        };
        if let Some((_, children)) = open.last_mut() {
            children.push(node);
        }
    }
    open.into_iter().next().map(|it| it.1).unwrap_or_default()
}

fn part_of_tag(tag: Tag<'_>) -> OpenPart {
    OpenPart::Element(match tag {
        Tag::Paragraph => MarkdownElementKind::Paragraph,
        Tag::Heading { level, .. } => MarkdownElementKind::Heading((level as u8 + 2).min(6)),
        Tag::BlockQuote(_) => MarkdownElementKind::Quote,
        Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => {
            MarkdownElementKind::CodeBlock
        }
        Tag::List(Some(first)) => MarkdownElementKind::NumberedList(first),
        Tag::List(None) => MarkdownElementKind::List,
        Tag::Item => MarkdownElementKind::Item,
        Tag::Emphasis => MarkdownElementKind::Emphasis,
        Tag::Strong => MarkdownElementKind::Strong,
        Tag::Strikethrough => MarkdownElementKind::Struck,
        Tag::Link { dest_url, .. } => match safe_href(&dest_url) {
            Some(href) => MarkdownElementKind::Link(href),
            None => return OpenPart::Plain,
        },
        Tag::HtmlBlock | Tag::MetadataBlock(_) => return OpenPart::Dropped,
        // An image is replaced by its text.
        _ => return OpenPart::Plain,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is a nested form such as `Paragraph[Strong[two]]`.
    fn check(text: &str, expected: &str) {
        fn written(nodes: &[MarkdownNode]) -> String {
            let each = nodes.iter().map(|node| match node {
                MarkdownNode::Text(text) => text.clone(),
                MarkdownNode::Code(text) => format!("`{text}`"),
                MarkdownNode::LineBreak => "⏎".to_owned(),
                MarkdownNode::Rule => "—".to_owned(),
                MarkdownNode::Element { kind, children } => {
                    format!("{kind:?}[{}]", written(children))
                }
            });
            each.collect()
        }
        assert_eq!(written(&parse_untrusted_markdown(text)), expected, "{text}");
    }

    #[test]
    fn usual_markdown_is_shown() {
        check(
            "# How\n\nOne **two** `a<b`",
            "Heading(3)[How]Paragraph[One Strong[two] `a<b`]",
        );
        check("1. a\n2. b", "NumberedList(1)[Item[a]Item[b]]");
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
                    MarkdownNode::Element { children, .. } => 1 + depth(children),
                    _ => 0,
                };
                nodes.iter().map(of).max().unwrap_or(0)
            }
            depth(&parse_untrusted_markdown(text))
        };
        assert!(deepest(&(">".repeat(50_000) + "a")) <= MAX_DEPTH);
        assert!(deepest(&("- ".repeat(20_000) + "a")) <= MAX_DEPTH);
        assert!(deepest(&("*a ".repeat(10_000) + &"a*".repeat(10_000))) <= MAX_DEPTH);
        assert!(deepest(&("[".repeat(20_000) + "a")) <= MAX_DEPTH);
    }
}

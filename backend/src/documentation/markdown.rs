//! Renders the Markdown of this repository as HTML, with an anchor for each heading.
//!
//! HTML in the text is shown as text. Anchors are those of GitHub, so that a link leads to the same
//! heading there and on the site.

use std::collections::BTreeSet;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A rendered text: its HTML, and its sections for contents and search.
pub(super) struct RenderedMarkdown {
    /// The HTML, without a frame.
    pub html: String,
    /// The headings with the text below each, up to the next one. The first is the title.
    pub sections: Vec<MarkdownSection>,
}

/// A heading and the text below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownSection {
    /// The level of the heading in the page, from 1.
    pub level: u8,
    /// The heading without markup.
    pub heading: String,
    /// The anchor of the heading.
    pub anchor: String,
    /// The text without markup, with single spaces.
    pub text: String,
}

/// Renders a text. `resolve` returns the address of the target of a link; if there is none, only
/// the text of the link is kept.
///
/// The page has one title: from the second heading of the first level on, all headings are one
/// level lower in the page than in the text.
pub(super) fn render_markdown(
    text: &str,
    resolve: impl Fn(&str) -> Option<String>,
) -> RenderedMarkdown {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events: Vec<Event> = Parser::new_ext(text, options).collect();
    let mut anchors = BTreeSet::new();
    let mut sections: Vec<MarkdownSection> = Vec::new();
    let mut shown = Vec::with_capacity(events.len());
    let mut is_link_shown = false;
    let mut lowering = 0;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let heading = heading_text(&events[at + 1..]);
                let anchor = unique_anchor(&heading, &mut anchors);
                if *level == HeadingLevel::H1 && !sections.is_empty() {
                    lowering = 1;
                }
                let level = lower(*level, lowering);
                shown.push(Event::Start(Tag::Heading {
                    level,
                    id: Some(CowStr::from(anchor.clone())),
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }));
                sections.push(MarkdownSection {
                    level: level as u8,
                    heading,
                    anchor,
                    text: String::new(),
                });
                continue;
            }
            Event::End(TagEnd::Heading(level)) => {
                let is_below_title = sections.len() > 1;
                if let Some(section) = sections.last().filter(|_| is_below_title) {
                    // Anchors consist of letters, digits, hyphens and underscores.
                    let link = format!(
                        " <a class=\"anchor\" href=\"#{}\" \
                         aria-label=\"Link to this section\">#</a>",
                        section.anchor
                    );
                    shown.push(Event::InlineHtml(link.into()));
                }
                shown.push(Event::End(TagEnd::Heading(lower(*level, lowering))));
                continue;
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let address = resolve(dest_url);
                is_link_shown = address.is_some();
                shown.extend(address.map(|address| {
                    Event::Start(Tag::Link {
                        link_type: *link_type,
                        dest_url: address.into(),
                        title: title.clone(),
                        id: id.clone(),
                    })
                }));
                continue;
            }
            Event::End(TagEnd::Link) if !is_link_shown => continue,
            Event::Html(text) | Event::InlineHtml(text) => shown.push(Event::Text(text.clone())),
            // A wide table moves sideways in its frame, which the keyboard reaches.
            Event::Start(Tag::Table(_)) => {
                let frame = "<div class=\"scrolls\" role=\"group\" tabindex=\"0\" \
                             aria-label=\"Table\">";
                shown.extend([Event::Html(frame.into()), event.clone()]);
            }
            Event::End(TagEnd::Table) => {
                shown.extend([event.clone(), Event::Html("</div>\n".into())]);
            }
            _ => shown.push(event.clone()),
        }
        if let Some(section) = sections.last_mut() {
            add_text(section, event, &events[..at]);
        }
    }
    for section in &mut sections {
        let words: Vec<&str> = section.text.split_whitespace().collect();
        section.text = words.join(" ");
    }
    let mut rendered = String::new();
    html::push_html(&mut rendered, shown.into_iter());
    RenderedMarkdown {
        html: rendered,
        sections,
    }
}

/// Adds the text of an event to a section, unless it belongs to a heading.
fn add_text(section: &mut MarkdownSection, event: &Event, before: &[Event]) {
    let is_boundary = |it: &&Event| {
        matches!(
            it,
            Event::Start(Tag::Heading { .. }) | Event::End(TagEnd::Heading(_))
        )
    };
    match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            let last = before.iter().rev().find(is_boundary);
            if !matches!(last, Some(Event::Start(_))) {
                section.text.push_str(text);
            }
        }
        Event::SoftBreak | Event::HardBreak => section.text.push(' '),
        Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock) => {
            section.text.push(' ')
        }
        _ => {}
    }
}

/// Returns the text of a heading whose start event precedes the events.
fn heading_text(events: &[Event]) -> String {
    let end = |it: &&Event| !matches!(it, Event::End(TagEnd::Heading(_)));
    let parts = events.iter().take_while(end).map(|it| match it {
        Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => text,
        _ => "",
    });
    parts.collect()
}

/// Returns the anchor of a heading: lowercase, with hyphens for spaces, without punctuation.
fn unique_anchor(heading: &str, taken: &mut BTreeSet<String>) -> String {
    let letters = heading.chars().filter_map(|it| match it {
        ' ' => Some('-'),
        '-' | '_' => Some(it),
        _ => it.is_alphanumeric().then_some(it),
    });
    let anchor: String = letters.flat_map(char::to_lowercase).collect();
    let numbered = (1..).map(|n| format!("{anchor}-{n}"));
    let mut names = std::iter::once(anchor.clone()).chain(numbered);
    names.find(|it| taken.insert(it.clone())).unwrap_or(anchor)
}

fn lower(level: HeadingLevel, by: u8) -> HeadingLevel {
    HeadingLevel::try_from(usize::from(level as u8 + by)).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders a text whose links lead below `/x/`, unless they are `gone`.
    fn render(text: &str) -> RenderedMarkdown {
        render_markdown(text, |it| (it != "gone").then(|| format!("/x/{it}")))
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let text = "# A\n## `tfc1@ir_axioms`: TFC1\n## Scores: `score --out FILE.tsv`\n## A\n## A";
        let anchors: Vec<_> = render(text)
            .sections
            .into_iter()
            .map(|it| it.anchor)
            .collect();
        let expected = [
            "a",
            "tfc1ir_axioms-tfc1",
            "scores-score---out-filetsv",
            "a-1",
            "a-2",
        ];
        assert_eq!(anchors, expected);
    }

    #[test]
    fn a_page_has_one_title() {
        let levels =
            |text: &str| -> Vec<u8> { render(text).sections.iter().map(|it| it.level).collect() };
        assert_eq!(levels("# A\n## B\n### C"), [1, 2, 3]);
        assert_eq!(levels("# A\n## B\n# C\n## D"), [1, 2, 2, 3]);
        let html = render("# A\n# B").html;
        assert_eq!(html.matches("<h1").count(), 1, "{html}");
        assert_eq!(html.matches("</h2>").count(), 1, "{html}");
    }

    #[test]
    fn a_section_has_its_text_without_markup() {
        let text = "# A *b*\n\nOne\n`two`.\n\n- three\n- four\n\n| a | b |\n|---|---|\n| c | <d> |";
        let sections = render(text).sections;
        let expected = MarkdownSection {
            level: 1,
            heading: "A b".to_owned(),
            anchor: "a-b".to_owned(),
            text: "One two. three four a b c <d>".to_owned(),
        };
        assert_eq!(sections, [expected]);
    }

    #[test]
    fn html_is_shown_as_text_and_a_link_without_a_target_is_its_text() {
        let html = render("a <b>c</b> [d](e.md) [f](gone)\n\n<script>g()</script>").html;
        assert!(
            html.contains("a &lt;b&gt;c&lt;/b&gt; <a href=\"/x/e.md\">d</a> f"),
            "{html}"
        );
        assert!(!html.contains("<script"), "{html}");
    }
}

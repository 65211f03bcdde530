//! The heading and the texts of a page as HTML, which a browser shows while it loads the program
//! of the pages. The program removes them once it shows them itself.

use std::fmt::Write;

use shared::first_paint::{
    ANNOTATION_INTRODUCTION, FIRST_PAINT_ID, HOME_HEADING, HOME_LEAD, PLAYGROUND_DOCUMENTS,
    PLAYGROUND_QUERY, PLAYGROUND_QUESTION, WITHHELD_TEXTS_NOTICE,
};
use shared::report::markup::escape_markup;
use shared::study::Study;
use shared::study::instance_details::HighlightedText;

/// The texts of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageTexts {
    /// The heading of the page.
    pub(crate) heading: String,
    /// The class of the paragraph below the heading, and the paragraph.
    pub(crate) lead: Option<(&'static str, String)>,
    /// The documents that the page shows.
    pub(crate) documents: Vec<PageDocument>,
}

/// A document, with its title if it has one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageDocument {
    title: String,
    text: String,
}

impl From<HighlightedText> for PageDocument {
    fn from(it: HighlightedText) -> PageDocument {
        let parts = it.text.split_at_checked(it.title_length as usize);
        let (title, text) = parts.unwrap_or(("", &it.text));
        PageDocument {
            title: title.to_owned(),
            text: text.to_owned(),
        }
    }
}

/// Adds the texts to the index page; none if that has no body.
pub(crate) fn add_texts(index: &str, texts: &PageTexts) -> Option<String> {
    let (before, after) = index.split_once("<body>")?;
    Some(format!("{before}<body>\n{}{after}", html(texts)))
}

impl PageTexts {
    /// Returns the texts of a page that is not about a study; none if they are not known.
    pub(crate) fn of_path(path: &str) -> Option<PageTexts> {
        let lead = |heading: &str, lead: &str| PageTexts {
            heading: heading.to_owned(),
            lead: Some(("lead", lead.to_owned())),
            documents: Vec::new(),
        };
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match parts[..] {
            [""] | ["studies"] => Some(lead(HOME_HEADING, HOME_LEAD)),
            ["playground"] => Some(PageTexts {
                heading: "Playground".to_owned(),
                lead: Some(("note", PLAYGROUND_QUESTION.to_owned())),
                documents: [
                    PLAYGROUND_QUERY,
                    PLAYGROUND_DOCUMENTS[0],
                    PLAYGROUND_DOCUMENTS[1],
                ]
                .map(|text| PageDocument {
                    title: String::new(),
                    text: text.to_owned(),
                })
                .into(),
            }),
            ["annotation", "tasks"] => Some(lead("Annotation", ANNOTATION_INTRODUCTION)),
            _ => None,
        }
    }

    /// Returns the texts without documents, which parameters of the page may replace.
    pub(crate) fn without_documents(self) -> PageTexts {
        PageTexts {
            documents: Vec::new(),
            ..self
        }
    }

    /// Returns the texts of the pages of a study.
    pub(crate) fn of_study(study: &Study) -> PageTexts {
        PageTexts {
            heading: study.definition.title.clone(),
            lead: study
                .withheld_texts
                .is_some()
                .then(|| ("text", WITHHELD_TEXTS_NOTICE.to_owned())),
            ..PageTexts::default()
        }
    }
}

/// Returns the texts as an element with the layout of the pages.
fn html(texts: &PageTexts) -> String {
    let mut out = format!(
        "<div id=\"{FIRST_PAINT_ID}\" aria-hidden=\"true\"><div class=\"site\">\
         <span class=\"brand\">Axioscope</span></div><div class=\"page\"><h1>{}</h1>",
        escape_markup(&texts.heading)
    );
    if let Some((class, lead)) = &texts.lead {
        let _ = write!(out, "<p class=\"{class}\">{}</p>", escape_markup(lead));
    }
    let documents = texts.documents.iter().filter(|it| !it.text.is_empty());
    for PageDocument { title, text } in documents {
        let title = match title.as_str() {
            "" => String::new(),
            title => format!("<b class=\"doc-title\">{}</b>", escape_markup(title)),
        };
        let text = escape_markup(text);
        let _ = write!(out, "<p class=\"text\" dir=\"auto\">{title}{text}</p>");
    }
    out + "</div></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let texts = PageTexts {
            heading: "a < b".to_owned(),
            lead: Some(("note", "\"quoted\"".to_owned())),
            documents: vec![
                PageDocument {
                    title: "<script>".to_owned(),
                    text: " alert(1)</p>".to_owned(),
                },
                PageDocument::default(),
            ],
        };
        assert_eq!(
            html(&texts),
            "<div id=\"first-paint\" aria-hidden=\"true\"><div class=\"site\">\
             <span class=\"brand\">Axioscope</span></div><div class=\"page\"><h1>a &lt; b</h1>\
             <p class=\"note\">&quot;quoted&quot;</p>\
             <p class=\"text\" dir=\"auto\"><b class=\"doc-title\">&lt;script&gt;</b> \
             alert(1)&lt;/p&gt;</p></div></div>\n"
        );
    }
}

//! The heading and the texts of a page as HTML, which a browser shows while it loads the program
//! of the pages. The program removes them once it shows them itself.
//!
//! Only what every visitor may see is written: published studies. A page without such texts, or a
//! study that takes longer to read than [`PATIENCE`], is left as it is.

use std::fmt::Write;
use std::time::Duration;

use shared::annotation::DocumentDisplayOrder;
use shared::annotation::trial::draw_trial_items;
use shared::error::Error as InputError;
use shared::first_paint::{
    ANNOTATION_INTRODUCTION, FIRST_PAINT_ID, HOME_HEADING, HOME_LEAD, PLAYGROUND_DOCUMENTS,
    PLAYGROUND_QUERY, PLAYGROUND_QUESTION,
};
use shared::probe::{AxiomVariant, Probe};
use shared::report::markup::escape_markup;
use shared::study::Study;
use shared::study::instance_details::HighlightedText;

use crate::http::AppState;

/// How long a page waits for a study.
const PATIENCE: Duration = Duration::from_millis(300);

/// The texts of a page.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageTexts {
    heading: String,
    /// The paragraph below the heading, and its class.
    lead: Option<(&'static str, String)>,
    documents: Vec<PageDocument>,
}

/// A document, with its title if it has one.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageDocument {
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

/// Returns the index page with the texts of the page at a path; none if they are not known.
pub(super) async fn index_with_texts(
    app: &AppState,
    index: &str,
    path: &str,
    query_string: Option<&str>,
) -> Option<String> {
    let (before, after) = index.split_once("<body>")?;
    let texts = page_texts(app, path, query_string.unwrap_or_default()).await?;
    Some(format!("{before}<body>\n{}{after}", html(&texts)))
}

async fn page_texts(app: &AppState, path: &str, query_string: &str) -> Option<PageTexts> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts[..] {
        [""] | ["studies"] => Some(PageTexts {
            heading: HOME_HEADING.to_owned(),
            lead: Some(("lead", HOME_LEAD.to_owned())),
            documents: Vec::new(),
        }),
        // Parameters are documents of the reader.
        ["playground"] if query_string.is_empty() => Some(PageTexts {
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
        ["annotation", "tasks"] => Some(PageTexts {
            heading: "Annotation".to_owned(),
            lead: Some(("lead", ANNOTATION_INTRODUCTION.to_owned())),
            documents: Vec::new(),
        }),
        ["studies", study]
        | [
            "studies",
            study,
            "behavioral-tests" | "human-judgments" | "figures" | "reproducibility",
        ] => of_study(app, study, |study| Ok(title(study))).await,
        ["studies", study, "trial"] => {
            let seed = parameter(query_string, "seed").and_then(|it| it.parse().ok());
            let seed = seed.unwrap_or(0);
            of_study(app, study, move |study| trial_texts(study, seed)).await
        }
        ["studies", study, "probes", probe, "instances", number] => {
            let (probe, number) = (probe.parse().ok()?, number.parse().ok()?);
            let variant = parameter(query_string, "variant").map(str::to_owned);
            of_study(app, study, move |study| {
                let variants = &study.definition.variants;
                let wanted = |it: &&AxiomVariant| variant.as_deref() == Some(it.slug());
                let variant = variants.iter().find(wanted).or(variants.first());
                instance_texts(study, probe, variant.copied(), number)
            })
            .await
        }
        _ => None,
    }
}

/// Returns a parameter of a query string whose value has no escapes.
fn parameter<'a>(query_string: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = query_string.split('&').filter_map(|it| it.split_once('='));
    pairs.find(|it| it.0 == name).map(|it| it.1)
}

/// Computes the texts of a page from a published study.
async fn of_study(
    app: &AppState,
    name: &str,
    texts: impl FnOnce(&Study) -> Result<PageTexts, InputError> + Send + 'static,
) -> Option<PageTexts> {
    let listed = app.store.study_entry_by_name(name).await.ok()?;
    if !listed.is_published {
        return None;
    }
    let texts = app.studies.compute(&listed, |study| Ok(texts(study)?));
    tokio::time::timeout(PATIENCE, texts).await.ok()?.ok()
}

fn title(study: &Study) -> PageTexts {
    PageTexts {
        heading: study.definition.title.clone(),
        ..PageTexts::default()
    }
}

fn instance_texts(
    study: &Study,
    probe: Probe,
    variant: Option<AxiomVariant>,
    number: u64,
) -> Result<PageTexts, InputError> {
    let variant = variant.unwrap_or(AxiomVariant::Fixed);
    let shown = study.instance_texts(probe, variant, number)?;
    Ok(PageTexts {
        heading: shown.query.text,
        lead: None,
        documents: shown.docs.into_iter().map(PageDocument::from).collect(),
    })
}

fn trial_texts(study: &Study, seed: u64) -> Result<PageTexts, InputError> {
    let Some(first) = draw_trial_items(study, seed)?.into_iter().next() else {
        return Ok(title(study));
    };
    let shown = first.content;
    let mut documents = shown.documents;
    if first.assignment.display_order == DocumentDisplayOrder::Swapped {
        documents.reverse();
    }
    Ok(PageTexts {
        heading: shown.query.text,
        lead: None,
        documents: documents.into_iter().map(PageDocument::from).collect(),
    })
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

    #[test]
    fn parameters_are_found_by_name() {
        assert_eq!(parameter("a=1&variant=code", "variant"), Some("code"));
        assert_eq!(parameter("variants=code", "variant"), None);
    }
}

//! The texts of a page that the server writes into it.
//!
//! Only what every visitor may see is written: published studies. A page without such texts, or
//! with texts for which it would wait longer than [`PATIENCE`], is left as it is. So is a page
//! about a study if its client has reached the rate limit for reading.

use std::time::Duration;

use shared::annotation::DocumentDisplayOrder;
use shared::annotation::trial::draw_trial_items;
use shared::error::Error as InputError;
use shared::probe::{AxiomVariant, Probe};
use shared::study::Study;

use crate::first_paint::{PageDocument, PageTexts, add_texts};
use crate::http::AppState;
use crate::http::limits::ClientKey;

/// How long a page waits for a slot, for a study and for texts from it.
const PATIENCE: Duration = Duration::from_millis(300);

/// Returns the index page with the texts of the page at a path; none if they are not known.
pub(super) async fn index_with_texts(
    app: &AppState,
    client: ClientKey,
    index: &str,
    path: &str,
    query_string: Option<&str>,
) -> Option<String> {
    let texts = page_texts(app, client, path, query_string.unwrap_or_default()).await?;
    add_texts(index, &texts)
}

async fn page_texts(
    app: &AppState,
    client: ClientKey,
    path: &str,
    query_string: &str,
) -> Option<PageTexts> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts[..] {
        // Parameters are documents of the reader.
        ["playground"] if !query_string.is_empty() => None,
        ["studies", study]
        | [
            "studies",
            study,
            "behavioral-tests" | "human-judgments" | "figures" | "reproducibility",
        ] => of_study(app, client, study, |study| Ok(PageTexts::of_study(study))).await,
        // The items of a task are not known yet.
        ["studies", _, "trial"] if parameter(query_string, "task").is_some() => None,
        ["studies", study, "trial"] => {
            let seed = parameter(query_string, "seed").and_then(|it| it.parse().ok());
            let seed = seed.unwrap_or(0);
            of_study(app, client, study, move |study| trial_texts(study, seed)).await
        }
        ["studies", study, "probes", probe, "instances", number] => {
            let (probe, number) = (probe.parse().ok()?, number.parse().ok()?);
            let variant = parameter(query_string, "variant").map(str::to_owned);
            of_study(app, client, study, move |study| {
                let variants = &study.definition.variants;
                let wanted = |it: &&AxiomVariant| variant.as_deref() == Some(it.slug());
                let variant = variants.iter().find(wanted).or(variants.first());
                instance_texts(study, probe, variant.copied(), number)
            })
            .await
        }
        _ => PageTexts::of_path(path),
    }
}

/// Returns a parameter of a query string whose value has no escapes.
fn parameter<'a>(query_string: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = query_string.split('&').filter_map(|it| it.split_once('='));
    pairs.find(|it| it.0 == name).map(|it| it.1)
}

/// Computes the texts of a page from a published study, within the rate limit of the client.
async fn of_study(
    app: &AppState,
    client: ClientKey,
    name: &str,
    texts: impl FnOnce(&Study) -> Result<PageTexts, InputError> + Send + 'static,
) -> Option<PageTexts> {
    app.limits.reads.take(client).ok()?;
    let listed = app.store.study_entry_by_name(name).await.ok()?;
    if !listed.is_published {
        return None;
    }
    let texts = app.studies.compute(&listed, |study| Ok(texts(study)?));
    tokio::time::timeout(PATIENCE, texts).await.ok()?.ok()
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
        return Ok(PageTexts::of_study(study));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_name() {
        assert_eq!(parameter("a=1&variant=code", "variant"), Some("code"));
        assert_eq!(parameter("variants=code", "variant"), None);
    }
}

//! The annotations of an instance: the items of tasks that are of it, with their results.

use leptos::prelude::*;
use shared::api::annotation::{InstanceAnnotations, ListInstanceAnnotationsRequest};
use shared::api::people::{AccessRole, GetSessionRequest};
use shared::study::instance_details::InstanceDetails;

use crate::api;
use crate::number_format::format_count_with_noun;
use crate::pages::review::curate::labels::consensus_label;
use crate::routes::PageRoute;
use crate::widgets::section::Section;

/// Renders the section with the annotations; nothing if there are none, or no server. They are an
/// addition to the page, which is complete if they cannot be loaded.
#[component]
pub(super) fn InstanceAnnotationsSection(
    /// The name of the study.
    study: String,
    /// The instance.
    shown: InstanceDetails,
) -> impl IntoView {
    let name = study.clone();
    let answer = LocalResource::new(move || {
        let asked = ListInstanceAnnotationsRequest {
            study: name.clone(),
            probe: shown.probe,
            variant: Some(shown.variant),
            number: shown.number,
        };
        async move {
            api::fetch_server_info().await.ok()??;
            let found = api::send_and_parse(&asked).await.ok()?;
            if found.is_empty() {
                return None;
            }
            let who = api::send_and_parse(&GetSessionRequest {}).await.ok()?;
            Some((found, who.role >= AccessRole::Curator))
        }
    });
    move || {
        let (found, curates) = answer.get().flatten()?;
        let study = study.clone();
        let rows = found
            .into_iter()
            .map(|it| view! { <AnnotationRow study=study.clone() found=it curates/> });
        let rows = rows.collect_view();
        Some(view! {
            <Section id="annotations" name="Annotations">
                <ul class="links">{rows}</ul>
            </Section>
        })
    }
}

#[component]
fn AnnotationRow(study: String, found: InstanceAnnotations, curates: bool) -> impl IntoView {
    let href = match curates {
        true => PageRoute::CurateTask { task: found.task }.href_with([
            ("tab", "adjudication".to_owned()),
            ("item", found.item.0.to_string()),
        ]),
        false => PageRoute::HumanJudgments { study }.href(),
    };
    let item = format!("item {}", found.item.0);
    view! {
        <li>
            <a href=href><bdi>{found.title.clone()}</bdi> ", " {item}</a>
            <span class="note">{result_text(&found)}</span>
        </li>
    }
}

/// Describes the result, as in `3 votes of simulated annotators: document 1 is better`.
fn result_text(found: &InstanceAnnotations) -> String {
    let votes = format_count_with_noun(u64::from(found.n_votes), "vote", "votes");
    let votes = match found.is_simulated {
        true => format!("{votes} of simulated annotators"),
        false => votes,
    };
    format!("{votes}: {}", consensus_label(found.consensus, found.claim))
}

#[cfg(test)]
mod tests {
    use shared::annotation::judgments::ItemConsensus;
    use shared::annotation::{DocumentPreference, ItemNo};
    use shared::api::annotation::TaskId;
    use shared::probe::ScoreClaimKind;

    use super::*;

    #[test]
    fn votes_of_simulated_annotators_are_named_as_such() {
        let mut found = InstanceAnnotations {
            task: TaskId(1),
            title: "Rivers".to_owned(),
            item: ItemNo(0),
            is_simulated: false,
            n_votes: 3,
            claim: ScoreClaimKind::Higher,
            consensus: ItemConsensus::Prefers(DocumentPreference::Equal),
        };
        assert_eq!(result_text(&found), "3 votes: equal");
        found.is_simulated = true;
        assert_eq!(
            result_text(&found),
            "3 votes of simulated annotators: equal"
        );
    }
}

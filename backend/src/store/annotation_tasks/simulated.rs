//! Tasks whose annotators are simulated.

use shared::annotation::AnnotationItem;
use shared::annotation::simulation::simulate_annotation_events;
use shared::api::annotation::{AnnotationTaskStatus, TaskId};
use shared::study::Study;

use crate::error::Error;
use crate::store::Database;
use crate::store::annotation_tasks::events::AnnotationWriteBatch;
use crate::store::annotation_tasks::{NewAnnotationTask, name_of};

impl Database {
    /// Returns the latest task of a study, as it is now, whose annotators are simulated.
    pub(crate) async fn simulated_task_of_study(
        &self,
        study: &str,
        study_hash: &str,
    ) -> Result<Option<TaskId>, Error> {
        let query = sqlx::query_scalar(SIMULATED_TASK)
            .bind(study)
            .bind(study_hash)
            .fetch_optional(&self.pool);
        let found: Option<i64> = query.await.map_err(|it| self.failed(it))?;
        Ok(found.map(|it| TaskId(it as u32)))
    }

    /// Creates a closed task with public results, with all events of its simulated annotators, in
    /// one transaction, and returns its id. If the study has a task with simulated annotators
    /// already, the number of that one is returned.
    pub(crate) async fn add_simulated_task(
        &self,
        study: &Study,
        new: &NewAnnotationTask,
    ) -> Result<TaskId, Error> {
        let failed = |it| self.failed(it);
        let rates = new.task.simulation.iter().flat_map(|it| &it.error_rates);
        let rates: Vec<f64> = rates.copied().collect();
        let mut transaction = self.begin().await?;
        let people = self
            .add_simulated_annotators(&mut transaction, &rates, new.made_ms as i64)
            .await?;
        let known: Option<i64> = sqlx::query_scalar(SIMULATED_TASK)
            .bind(&new.task.study)
            .bind(&new.study_hash)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(failed)?;
        if let Some(known) = known {
            transaction.rollback().await.map_err(failed)?;
            return Ok(TaskId(known as u32));
        }
        let task = self.insert_task_with_items(&mut transaction, new).await?;
        let items: Vec<AnnotationItem> = new.items.iter().map(|it| it.item.clone()).collect();
        let events = simulate_annotation_events(study, &new.task, &items, &people, new.made_ms)?;
        let batch = AnnotationWriteBatch {
            events: (0..)
                .zip(events)
                .map(|(at, event)| (task, at, event))
                .collect(),
            ..AnnotationWriteBatch::default()
        };
        self.insert_events_and_leases(&mut transaction, &batch)
            .await?;
        let statement =
            sqlx::query("UPDATE review_task SET state = $1, results_public = 1 WHERE no = $2")
                .bind(name_of(AnnotationTaskStatus::Closed))
                .bind(i64::from(task.0));
        self.execute_in(&mut transaction, statement).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(task)
    }
}

const SIMULATED_TASK: &str = "SELECT no FROM review_task
     WHERE study = $1 AND study_hash = $2 AND no IN (
         SELECT task FROM review_event
         WHERE person IN (SELECT no FROM person WHERE simulated = 1)
     )
     ORDER BY no DESC LIMIT 1";

#[cfg(test)]
mod tests {
    use shared::annotation::PersonId;
    use shared::api::people::AccessRole;

    use super::*;
    use crate::annotation::new_task_from_study;
    use crate::annotation::tests::{simulated_task, study};
    use crate::store::people::{JoiningPersonDetails, NewInvitation};
    use crate::store::secret_token::SecretToken;
    use crate::store::tests::TestFolder;

    #[tokio::test]
    async fn a_simulated_task_is_made_once_from_the_events_of_its_annotators() {
        for place in TestFolder::each() {
            let store = place.store().await;
            let study = study("rivers");
            let new = new_task_from_study(&study, simulated_task("rivers")).unwrap();
            let found = store.simulated_task_of_study("rivers", &new.study_hash);
            assert_eq!(found.await.unwrap(), None);
            let task = store.add_simulated_task(&study, &new).await.unwrap();
            let again = store.add_simulated_task(&study, &new).await.unwrap();
            assert_eq!(task, again);
            assert_eq!(store.annotation_task_ids().await.unwrap(), [task]);
            let found = store.simulated_task_of_study("rivers", &new.study_hash);
            assert_eq!(found.await.unwrap(), Some(task));
            // The study as it was before, or another one, has none.
            let other = store.simulated_task_of_study("rivers", "0");
            assert_eq!(other.await.unwrap(), None);

            let row = store.annotation_task(task).await.unwrap();
            let state = (row.state, row.results_public);
            assert_eq!(state, (AnnotationTaskStatus::Closed, true));
            let events = store
                .annotation_events_from_position(task, 0)
                .await
                .unwrap();
            assert_eq!(events.len(), 3 * new.items.len());
            let names = store.annotator_names_of_task(task).await.unwrap();
            let names: Vec<String> = names.into_values().collect();
            assert_eq!(names.len(), 3);
            assert_eq!(names[1], "Simulated annotator 2 (15 % errors)");
        }
    }

    #[tokio::test]
    async fn a_simulated_annotator_is_in_no_list_and_has_no_way_in() {
        for place in TestFolder::each() {
            let store = place.store().await;
            let study = study("rivers");
            let new = new_task_from_study(&study, simulated_task("rivers")).unwrap();
            let task = store.add_simulated_task(&study, &new).await.unwrap();
            let events = store
                .annotation_events_from_position(task, 0)
                .await
                .unwrap();
            let person = events[0].person;

            let listed = store.list_people_and_invitations(0).await.unwrap();
            assert_eq!(listed.people, []);
            let unknown = [
                store.person_by_id(person).await.err(),
                store.person_data(person, Vec::new()).await.err(),
            ];
            for error in unknown {
                assert!(error.unwrap().to_string().contains("person"));
            }
            for name in [
                "Simulated annotator 1 (5 % errors)",
                "simulated annotator 1 5",
            ] {
                assert_eq!(store.person_by_name(name).await.unwrap(), None);
            }
            // Even an invitation for its number lets nobody in.
            let invite = NewInvitation {
                role: AccessRole::Annotator,
                person: Some(person),
                hours: 1,
                note: String::new(),
                made_by: None,
            };
            let made = store.create_invitation(&invite, 0).await.unwrap();
            let token = SecretToken::from_unchecked_text(&made.token);
            let joining = JoiningPersonDetails::default();
            let joined = store.accept_invitation_and_begin_session(&token, &joining, 0);
            assert!(joined.await.is_err());
            // Nor can it be deleted or take anybody's number.
            store.delete_person(person, 5).await.unwrap();
            let names = store.annotator_names_of_task(task).await.unwrap();
            assert!(names[&person].starts_with("Simulated"), "{names:?}");
            assert_ne!(person, PersonId(0));
        }
    }
}

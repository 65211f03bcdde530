use super::sessions::SessionUser;
use super::*;
use crate::error::InvitationClosedReason;
use crate::store::secret_token::SecretToken;
use crate::store::tests::TestFolder;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

fn invite(role: AccessRole) -> NewInvitation {
    NewInvitation {
        role,
        person: None,
        hours: 2,
        note: String::new(),
        made_by: None,
    }
}

fn named(name: &str) -> JoiningPersonDetails {
    JoiningPersonDetails {
        name: name.to_owned(),
        password_hash: None,
    }
}

async fn token(store: &Database, invite: &NewInvitation, now_ms: i64) -> SecretToken {
    let made = store.create_invitation(invite, now_ms).await.unwrap();
    SecretToken::from_unchecked_text(&made.token)
}

async fn n_people(store: &Database, now_ms: i64) -> usize {
    let listed = store.list_people_and_invitations(now_ms).await.unwrap();
    listed.people.len()
}

/// Adds a person and starts a session.
async fn somebody(store: &Database, name: &str, now_ms: i64) -> (PersonId, SecretToken) {
    let token = token(store, &invite(AccessRole::Annotator), now_ms).await;
    let session = store
        .accept_invitation_and_begin_session(&token, &named(name), now_ms)
        .await
        .unwrap();
    let found = found(store, &session, now_ms).await.unwrap();
    (found.person.unwrap().id, session)
}

async fn found(store: &Database, session: &SecretToken, now_ms: i64) -> Option<SessionUser> {
    store
        .validate_and_extend_session(session, now_ms)
        .await
        .unwrap()
}

/// Returns why an invitation lets nobody in.
async fn join_refusal(
    store: &Database,
    token: &SecretToken,
    name: &str,
    now_ms: i64,
) -> InvitationClosedReason {
    let joining = named(name);
    let joined = store.accept_invitation_and_begin_session(token, &joining, now_ms);
    over(joined.await)
}

fn over<T: std::fmt::Debug>(result: Result<T, Error>) -> InvitationClosedReason {
    match result {
        Err(Error::InvitationClosed { over }) => over,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_invitation_lets_in_once_and_in_time() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let token = token(&store, &invite(AccessRole::Curator), 0).await;
        let to = store.usable_invitation_details(&token, 0).await.unwrap();
        assert_eq!((to.role, to.expires_ms), (AccessRole::Curator, 7_200_000));
        let late = 2 * HOUR_MS;
        assert_eq!(
            join_refusal(&store, &token, "Ada", late).await,
            InvitationClosedReason::Expired
        );
        let session = store
            .accept_invitation_and_begin_session(&token, &named("Ada"), late - 1)
            .await
            .unwrap();
        let who = found(&store, &session, late).await.unwrap();
        let name = who.person.unwrap().name;
        assert_eq!((who.role, name.as_str()), (AccessRole::Curator, "Ada"));
        assert_eq!(
            join_refusal(&store, &token, "Eve", 1).await,
            InvitationClosedReason::Used
        );
        let unknown = store
            .usable_invitation_details(&SecretToken::generate(), 0)
            .await;
        assert!(
            matches!(unknown, Err(Error::InvitationNotFound)),
            "{unknown:?}"
        );

        let made = store
            .create_invitation(&invite(AccessRole::Annotator), 0)
            .await
            .unwrap();
        assert_eq!(
            store
                .list_people_and_invitations(1)
                .await
                .unwrap()
                .invitations,
            std::slice::from_ref(&made.invitation)
        );
        store
            .revoke_invitation(made.invitation.id, 1)
            .await
            .unwrap();
        let token = SecretToken::from_unchecked_text(&made.token);
        assert_eq!(
            join_refusal(&store, &token, "Eve", 1).await,
            InvitationClosedReason::Withdrawn
        );
        assert!(
            store
                .pending_invitation_by_number(made.invitation.id, 1)
                .await
                .is_err()
        );
        assert_eq!(n_people(&store, 1).await, 1);
    }
}

#[tokio::test]
async fn of_two_who_join_at_once_one_does() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let token = token(&store, &invite(AccessRole::Annotator), 0).await;
        let joins = (0..8).map(|it| {
            let (store, token) = (store.clone(), token.clone());
            tokio::spawn(async move {
                store
                    .accept_invitation_and_begin_session(&token, &named(&format!("P{it}")), 1)
                    .await
            })
        });
        let joins: Vec<_> = joins.collect();
        let mut n_in = 0;
        for join in joins {
            match join.await.unwrap() {
                Ok(_) => n_in += 1,
                refused => assert_eq!(over(refused), InvitationClosedReason::Used),
            }
        }
        assert_eq!(n_in, 1);
        assert_eq!(n_people(&store, 1).await, 1);
    }
}

#[tokio::test]
async fn a_name_is_one_persons() {
    for place in TestFolder::each() {
        let store = place.store().await;
        somebody(&store, " Ada  Lovelace ", 0).await;
        for same in [
            "ada lovelace",
            "ADA\u{3000}LOVELACE",
            "A\u{200D}da Lovelace",
            "Ａda Lovelace",
        ] {
            let token = token(&store, &invite(AccessRole::Annotator), 0).await;
            let refused = store
                .accept_invitation_and_begin_session(&token, &named(same), 0)
                .await;
            assert!(matches!(refused, Err(Error::NameTaken { .. })), "{same}");
            // The invitation has not been used up.
            store.usable_invitation_details(&token, 0).await.unwrap();
            let known = store.person_by_name(same).await.unwrap().unwrap();
            assert_eq!(known.person.name, "Ada Lovelace");
        }
        let token = token(&store, &invite(AccessRole::Annotator), 0).await;
        for bad in ["", "A\u{202E}da", "A\0da", &"a".repeat(61)] {
            let refused = store
                .accept_invitation_and_begin_session(&token, &named(bad), 0)
                .await;
            assert!(matches!(refused, Err(Error::Input(_))), "{bad:?}");
        }
        for nobody in ["", "a\0b", "Eve"] {
            assert_eq!(store.person_by_name(nobody).await.unwrap(), None);
        }
    }
}

#[tokio::test]
async fn a_session_lasts_while_it_is_used() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (no, session) = somebody(&store, "Ada", 0).await;
        assert!(found(&store, &session, 90 * DAY_MS).await.is_none());
        assert!(found(&store, &session, 89 * DAY_MS).await.is_some());
        // The activity on that day extends the session.
        assert!(found(&store, &session, 178 * DAY_MS).await.is_some());
        let everybody = store
            .list_people_and_invitations(178 * DAY_MS)
            .await
            .unwrap();
        assert_eq!(everybody.people[0].last_seen_ms, 178 * DAY_MS as u64);
        assert_eq!(everybody.people[0].n_sessions, 1);

        let other = store.begin_session(no, 178 * DAY_MS).await.unwrap();
        assert_ne!(other, session);
        store
            .end_person_sessions_except(no, Some(&other))
            .await
            .unwrap();
        assert!(found(&store, &session, 178 * DAY_MS).await.is_none());
        assert!(found(&store, &other, 178 * DAY_MS).await.is_some());
        store.end_session(&other).await.unwrap();
        assert!(found(&store, &other, 178 * DAY_MS).await.is_none());
    }
}

#[tokio::test]
async fn a_session_of_the_operator_lasts_as_one_of_a_person() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let session = store.begin_unnamed_operator_session(0).await.unwrap();
        let operator = SessionUser {
            person: None,
            role: AccessRole::Operator,
        };
        assert_eq!(found(&store, &session, 90 * DAY_MS).await, None);
        let seen = found(&store, &session, 89 * DAY_MS).await;
        assert_eq!(seen.as_ref(), Some(&operator));
        // The activity on that day extends the session.
        let seen = found(&store, &session, 178 * DAY_MS).await;
        assert_eq!(seen.as_ref(), Some(&operator));
        assert!(
            store
                .list_people_and_invitations(178 * DAY_MS)
                .await
                .unwrap()
                .people
                .is_empty()
        );

        let other = store
            .begin_unnamed_operator_session(178 * DAY_MS)
            .await
            .unwrap();
        assert_ne!(other, session);
        store.end_session(&session).await.unwrap();
        assert_eq!(found(&store, &session, 178 * DAY_MS).await, None);
        assert!(found(&store, &other, 178 * DAY_MS).await.is_some());
        store.end_unnamed_operator_sessions().await.unwrap();
        assert_eq!(found(&store, &other, 178 * DAY_MS).await, None);
    }
}

#[tokio::test]
async fn a_revoked_person_needs_a_new_invitation() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (no, session) = somebody(&store, "Ada", 0).await;
        let again = NewInvitation {
            person: Some(no),
            ..invite(AccessRole::Annotator)
        };
        let before = token(&store, &again, 0).await;
        let by_them = NewInvitation {
            made_by: Some(no),
            ..invite(AccessRole::Annotator)
        };
        let by_them = token(&store, &by_them, 0).await;
        store.revoke_access_of_person(no, 1).await.unwrap();
        assert!(found(&store, &session, 1).await.is_none());
        assert!(store.list_people_and_invitations(1).await.unwrap().people[0].is_revoked);
        for token in [before, by_them] {
            let refused = store
                .accept_invitation_and_begin_session(&token, &named("Eve"), 1)
                .await;
            assert_eq!(over(refused), InvitationClosedReason::Withdrawn);
        }

        let link = token(&store, &again, 2).await;
        let to = store.usable_invitation_details(&link, 2).await.unwrap();
        assert_eq!(to.person_name.as_deref(), Some("Ada"));
        let session = store
            .accept_invitation_and_begin_session(&link, &named("ignored"), 2)
            .await
            .unwrap();
        let who = found(&store, &session, 2).await.unwrap().person.unwrap();
        assert_eq!((who.id, who.name.as_str()), (no, "Ada"));
        assert!(!store.person_by_id(no).await.unwrap().is_revoked);
    }
}

#[tokio::test]
async fn a_deleted_person_is_a_number_for_good() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (ada, session) = somebody(&store, "Ada", 1_000).await;
        let (bob, _) = somebody(&store, "Bob", 2_000).await;
        store.set_password(ada, Some("$argon2id$")).await.unwrap();
        let again = NewInvitation {
            person: Some(ada),
            note: "Ada, on her phone".to_owned(),
            ..invite(AccessRole::Annotator)
        };
        let for_ada = token(&store, &again, 3_000).await;
        let by_ada = NewInvitation {
            made_by: Some(ada),
            ..invite(AccessRole::Annotator)
        };
        let by_ada = token(&store, &by_ada, 3_000).await;
        for now_ms in [4_000, 5_000] {
            store.delete_person(ada, now_ms).await.unwrap();
        }
        assert_eq!(found(&store, &session, 4_000).await, None);
        for token in [&for_ada, &by_ada] {
            let refusal = join_refusal(&store, token, "Eve", 4_000).await;
            assert_eq!(refusal, InvitationClosedReason::Withdrawn);
        }
        let data = store.person_data(ada, Vec::new()).await.unwrap();
        assert_eq!(data.person.name, format!("Deleted person {}", ada.0));
        assert_eq!((data.joined_ms, data.last_seen_ms), (1_000, 1_000));
        assert!(data.sessions.is_empty() && !data.person.has_password);
        assert!(data.invitations.iter().all(|it| it.note.is_empty()));
        let deleted: Vec<Option<i64>> =
            sqlx::query_scalar("SELECT deleted_ms FROM person ORDER BY no")
                .fetch_all(&store.pool)
                .await
                .unwrap();
        assert_eq!(
            deleted,
            [Some(4_000), None],
            "the second time changes nothing"
        );

        // Neither an invitation that was created meanwhile nor a chosen name leads back.
        let late = token(&store, &again, 6_000).await;
        let refusal = join_refusal(&store, &late, "", 6_000).await;
        assert_eq!(refusal, InvitationClosedReason::Withdrawn);
        let taken = format!("Deleted person {}", ada.0);
        let (other, _) = somebody(&store, &taken, 7_000).await;
        let named = store.person_by_name(&taken).await.unwrap().unwrap();
        assert_eq!(named.person.id, other);
        assert!(![ada, bob].contains(&other));
    }
}

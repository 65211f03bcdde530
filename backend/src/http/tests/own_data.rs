//! The data of the caller, and the deletion of an account.

use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest, OwnDataResponse};
use shared::api::people::SignInRequest;

use super::*;

fn deletion(name: &str, password: Option<&str>) -> DeleteOwnAccountRequest {
    DeleteOwnAccountRequest {
        confirmed_name: name.to_owned(),
        current_password: password.map(str::to_owned),
    }
}

#[tokio::test]
async fn an_account_is_deleted_by_its_owner_with_name_and_password() {
    let site = Site::new(ListenScope::Network).await;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    site.set_password(&ada.session).await;
    for (request, field) in [
        (deletion("Eve", Some(PASSWORD)), "confirmed_name"),
        (deletion("", Some(PASSWORD)), "confirmed_name"),
        (deletion("Ada", None), "current_password"),
        (deletion("Ada", Some("wrong horse")), "current_password"),
    ] {
        let (status, error) = site.ask_by(&request, &ada.session).await.problem();
        assert_eq!(status, 422, "{error}");
        assert!(error.starts_with(field), "{error}");
    }
    let file = site.ask_by(&GetOwnDataRequest {}, &ada.session).await;
    let name = "attachment; filename=\"axioscope-my-data.json\"";
    assert_eq!(file.header("content-disposition"), name);
    assert_eq!(file.header("cache-control"), "no-store");
    let text = String::from_utf8_lossy(&file.body).into_owned();
    for secret in [ada.session.reveal(), &ada.session.sha256(), "argon2"] {
        assert!(!text.contains(secret), "{text}");
    }
    let data: OwnDataResponse = file.json();
    assert!(data.person.has_password && data.tasks.is_empty());

    let gone = site
        .ask_by(&deletion(" ADA ", Some(PASSWORD)), &ada.session)
        .await;
    assert_eq!(gone.json::<SessionResponse>(), SessionResponse::default());
    assert!(gone.header("set-cookie").contains("Max-Age=0"));
    for answer in [
        site.ask_by(&deletion("Ada", Some(PASSWORD)), &ada.session)
            .await,
        site.ask(&SignInRequest {
            name: "Ada".to_owned(),
            password: PASSWORD.to_owned(),
        })
        .await,
    ] {
        assert_eq!(answer.problem().0, 401);
    }
    let known = site.app.store.person_by_id(ada.person.id).await.unwrap();
    assert!(known.is_deleted && known.password_hash.is_none());
    assert!(
        site.app
            .store
            .person_by_name(&known.person.name)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn the_last_operator_with_a_name_stays() {
    let site = Site::new(ListenScope::Network).await;
    let one = site.somebody(AccessRole::Operator, "One").await;
    let (status, error) = site
        .ask_by(&deletion("One", None), &one.session)
        .await
        .problem();
    assert_eq!(status, 409, "{error}");
    assert!(error.contains("`axioscope people delete NAME`"), "{error}");
    let other = site.somebody(AccessRole::Operator, "Other").await;
    let gone = site.ask_by(&deletion("One", None), &one.session).await;
    assert_eq!(gone.json::<SessionResponse>().person, None);
    let refused = site.ask_by(&deletion("Other", None), &other.session).await;
    assert_eq!(refused.problem().0, 409);
}

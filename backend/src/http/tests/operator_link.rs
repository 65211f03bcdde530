//! The operator link that the server prints at each start.

use shared::api::models::ListModelsRequest;
use shared::api::people::{AcceptInvitationRequest, OperatorSignInRequest};

use super::people::kept;
use super::*;

fn sign_in(token: &SecretToken) -> OperatorSignInRequest {
    OperatorSignInRequest {
        token: token.reveal().to_owned(),
    }
}

/// Returns a server on loopback without further arguments.
async fn site() -> Site {
    Site::exposed(exposure(ListenScope::Loopback), models::tests::tiny()).await
}

#[tokio::test]
async fn the_link_makes_one_browser_the_operators_once() {
    let site = site().await;
    let wrong = site.ask(&sign_in(&SecretToken::generate())).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);

    let answer = site.ask(&sign_in(&site.link)).await;
    let session = kept(&site, &answer);
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
    let who: SessionResponse = answer.json();
    assert_eq!(
        (who.role, who.person.as_ref()),
        (AccessRole::Operator, None)
    );
    assert_eq!(who.csrf_token, Some(session.csrf_token()));
    assert_eq!(site.get_session(&session).await, who);
    let models = site.ask_by(&ListModelsRequest {}, &session).await;
    assert_eq!(models.status, StatusCode::OK);

    let (status, error) = site.ask(&sign_in(&site.link)).await.problem();
    assert_eq!(status, 401);
    assert!(error.contains("works once"), "{error}");
    assert_eq!(
        site.ask(&GetSessionRequest {})
            .await
            .json::<SessionResponse>(),
        SessionResponse::default()
    );

    let out = site.sign_out(&session).await;
    assert_eq!(out.json::<SessionResponse>(), SessionResponse::default());
    let after = site.get_session(&session).await;
    assert_eq!(after, SessionResponse::default());
}

#[tokio::test]
async fn a_page_of_another_site_does_nothing_with_the_session_of_the_link() {
    let site = site().await;
    let session = kept(&site, &site.ask(&sign_in(&site.link)).await);
    let mut forged = site.by(request("POST", "/api/jobs", "{}"), &session);
    forged.headers_mut().remove(CSRF_HEADER);
    assert_eq!(site.send(forged).await.status, StatusCode::FORBIDDEN);
    // DNS rebinding: a page of another site, under a name that resolves to this machine.
    let rebound = site.by(request("GET", "/api/jobs", ""), &session);
    let rebound = with_headers(rebound, &[("host", "rebound.example:8080")]);
    assert_eq!(site.send(rebound).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_operator_who_came_by_the_link_takes_a_name() {
    let site = site().await;
    let session = kept(&site, &site.ask(&sign_in(&site.link)).await);
    let joining = AcceptInvitationRequest {
        token: None,
        name: "Olga".to_owned(),
        password: None,
    };
    let joined = site.ask_by(&joining, &session).await;
    let named = kept(&site, &joined);
    let who: SessionResponse = joined.json();
    assert_eq!(
        (who.role, who.person.unwrap().name.as_str()),
        (AccessRole::Operator, "Olga")
    );
    let before = site.get_session(&session).await;
    assert_eq!(
        before,
        SessionResponse::default(),
        "the session without a name has ended"
    );
    assert_eq!(site.get_session(&named).await.role, AccessRole::Operator);
}

#[tokio::test]
async fn a_new_token_signs_the_operator_out() {
    let site = site().await;
    let session = kept(&site, &site.ask(&sign_in(&site.link)).await);
    let exposure = &site.app.exposure;
    let same = operator(&site.app.store, exposure, OperatorTokenPolicy::Keep)
        .await
        .unwrap();
    assert_eq!(same, site.app.operator);
    assert_eq!(site.get_session(&session).await.role, AccessRole::Operator);
    let new = operator(&site.app.store, exposure, OperatorTokenPolicy::Renew)
        .await
        .unwrap();
    assert_ne!(new, site.app.operator);
    assert_eq!(site.get_session(&session).await, SessionResponse::default());
}

#[tokio::test]
async fn the_line_of_the_link_comes_again_below_other_lines_until_it_is_used() {
    let site = site().await;
    let again = async |has_lines_below: bool| {
        let (told, lines_below) = oneshot::channel();
        if has_lines_below {
            told.send(()).unwrap();
        } else {
            drop(told);
        }
        let (app, line) = (site.app.clone(), "the link".to_owned());
        let mut out = Vec::new();
        announce_again(app, line, lines_below, &mut out).await;
        String::from_utf8(out).unwrap()
    };
    assert_eq!(again(true).await, "the link\n");
    assert_eq!(again(false).await, "");
    let signed_in = site.ask(&sign_in(&site.link)).await;
    assert_eq!(signed_in.status, StatusCode::OK);
    assert_eq!(again(true).await, "");
}

//! Signing in, invitations and passwords.

use shared::api::people::{
    AcceptInvitationRequest, CreateInvitationRequest, CreateInvitationResponse,
    InvitationGrantsResponse, ListPeopleRequest, LookUpInvitationRequest,
    PeopleAndInvitationsResponse, RevokePersonOrInvitationRequest, SetPasswordRequest,
    SignInRequest,
};

use super::*;

fn invitation(role: AccessRole) -> CreateInvitationRequest {
    CreateInvitationRequest {
        role,
        valid_hours: 1,
        person: None,
        note: "for Ada".to_owned(),
    }
}

fn join(token: &str, name: &str) -> AcceptInvitationRequest {
    AcceptInvitationRequest {
        token: Some(token.to_owned()),
        name: name.to_owned(),
        password: None,
    }
}

fn sign_in(name: &str, password: &str) -> SignInRequest {
    SignInRequest {
        name: name.to_owned(),
        password: password.to_owned(),
    }
}

/// Returns the session token in the cookie of a response.
pub(super) fn kept(site: &Site, answer: &Answer) -> SecretToken {
    let cookie = answer.header("set-cookie");
    let value = cookie.strip_prefix(&format!("{}=", site.cookie()));
    let value = value.and_then(|it| it.split(';').next());
    SecretToken::from_unchecked_text(value.unwrap_or_else(|| panic!("{} {cookie}", answer.status)))
}

/// Creates an invitation as a curator.
async fn link(site: &Site, role: AccessRole) -> CreateInvitationResponse {
    let asked = as_request(
        RequestMethod::Post,
        CreateInvitationRequest::PATH,
        &invitation(role),
    );
    site.send(with_token(asked, &site.token)).await.json()
}

#[tokio::test]
async fn a_link_leads_to_a_name_a_session_and_a_password() {
    let site = Site::new(ListenScope::Network).await;
    let nobody: SessionResponse = site.ask(&GetSessionRequest {}).await.json();
    assert_eq!(nobody, SessionResponse::default());
    let made = link(&site, AccessRole::Annotator).await;
    let token = made.token.clone();
    let to: InvitationGrantsResponse = site.ask(&LookUpInvitationRequest { token }).await.json();
    assert_eq!((to.role, to.person_name), (AccessRole::Annotator, None));

    let joined = site.ask(&join(&made.token, "Ada")).await;
    let who: SessionResponse = joined.json();
    let session = kept(&site, &joined);
    assert_eq!(who.role, AccessRole::Annotator);
    assert_eq!(who.csrf_token, Some(session.csrf_token()));
    assert!(!String::from_utf8_lossy(&joined.body).contains(session.reveal()));
    assert_eq!(site.get_session(&session).await, who);

    let who = site.set_password(&session).await;
    assert!(who.person.unwrap().has_password);
    let again = site.ask(&sign_in("ADA", PASSWORD)).await;
    let other = kept(&site, &again);
    assert_ne!(other, session, "every session has a token of its own");

    // A new password ends the other sessions and requires the old one.
    let change = |before: &str| SetPasswordRequest {
        current_password: Some(before.to_owned()),
        new_password: Some("another horse".to_owned()),
    };
    let (status, error) = site
        .ask_by(&change("wrong horse"), &session)
        .await
        .problem();
    assert_eq!(status, 422, "{error}");
    site.ask_by(&change(PASSWORD), &session)
        .await
        .json::<SessionResponse>();
    assert_eq!(site.get_session(&other).await, nobody);
    assert_eq!(site.ask(&sign_in("Ada", PASSWORD)).await.problem().0, 401);

    let out = site.sign_out(&session).await;
    assert_eq!(out.json::<SessionResponse>(), nobody);
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(site.get_session(&session).await, nobody);
}

#[tokio::test]
async fn cookies_are_seen_by_no_script_and_no_other_site() {
    for (door, begins, ends) in [
        (
            ListenScope::Network,
            "__Host-axioscope=",
            "; HttpOnly; SameSite=Lax; Secure",
        ),
        (
            ListenScope::Loopback,
            "axioscope-8080=",
            "; HttpOnly; SameSite=Lax",
        ),
    ] {
        let site = Site::new(door).await;
        let made = link(&site, AccessRole::Annotator).await;
        let joined = site.ask(&join(&made.token, "Ada")).await;
        let cookie = joined.header("set-cookie");
        assert!(
            cookie.starts_with(begins) && cookie.ends_with(ends),
            "{cookie}"
        );
        assert!(cookie.contains("; Path=/; Max-Age=34560000;"), "{cookie}");
        assert!(!cookie.contains("Domain"), "{cookie}");
        assert_eq!(joined.header("cache-control"), "no-store");
    }
}

#[tokio::test]
async fn a_session_that_somebody_else_chose_is_not_taken() {
    let site = Site::new(ListenScope::Network).await;
    let made = link(&site, AccessRole::Annotator).await;
    let chosen = SecretToken::from_unchecked_text("chosen-by-somebody-else");
    let joined = site.ask_by(&join(&made.token, "Ada"), &chosen).await;
    let session = kept(&site, &joined);
    assert_ne!(session, chosen);
    let nobody = site.get_session(&chosen).await;
    assert_eq!(nobody, SessionResponse::default());

    // An existing session of the browser ends as well, whoever it belongs to.
    let eve = site.somebody(AccessRole::Annotator, "Eve").await;
    let made = link(&site, AccessRole::Annotator).await;
    let joined = site.ask_by(&join(&made.token, "Bob"), &eve.session).await;
    assert_ne!(kept(&site, &joined), eve.session);
    let before = site.get_session(&eve.session).await;
    assert_eq!(before, SessionResponse::default());
}

#[tokio::test]
async fn an_invitation_that_does_not_let_in_says_why() {
    let site = Site::new(ListenScope::Network).await;
    let check = async |token: &str, status: u16, says: &str| {
        let token = token.to_owned();
        for answer in [
            site.ask(&join(&token, "Eve")).await,
            site.ask(&LookUpInvitationRequest { token }).await,
        ] {
            let (found, error) = answer.problem();
            assert_eq!(found, status, "{error}");
            assert!(error.contains(says) && error.contains("ask"), "{error}");
        }
    };
    let used = link(&site, AccessRole::Annotator).await;
    site.ask(&join(&used.token, "Ada"))
        .await
        .json::<SessionResponse>();
    check(&used.token, 410, "was already used").await;

    let taken_back = link(&site, AccessRole::Annotator).await;
    // The id of an invitation was named `no`.
    let asked = as_request(
        RequestMethod::Post,
        RevokePersonOrInvitationRequest::PATH,
        &json!({"kind": "invitation", "no": taken_back.invitation.id}),
    );
    let left: PeopleAndInvitationsResponse = site.send(with_token(asked, &site.token)).await.json();
    assert!(left.invitations.is_empty());
    check(&taken_back.token, 410, "was withdrawn").await;

    let early = NewInvitation {
        role: AccessRole::Curator,
        person: None,
        hours: 1,
        note: String::new(),
        made_by: None,
    };
    let long_ago = unix_time_ms() - 3_600_000;
    let expired = site
        .app
        .store
        .create_invitation(&early, long_ago)
        .await
        .unwrap();
    check(&expired.token, 410, "has expired").await;
    check("no-such", 404, "no such invitation").await;

    let (status, error) = site
        .ask(&AcceptInvitationRequest {
            token: None,
            name: "Eve".to_owned(),
            password: None,
        })
        .await
        .problem();
    assert_eq!(status, 422);
    assert!(error.contains("invitation"), "{error}");
}

#[tokio::test]
async fn wrong_guesses_are_delayed() {
    let site = Site::new(ListenScope::Network).await;
    let from = |last: u8, asked| from([192, 0, 2, last], asked);
    let guess = |at: u32| {
        as_request(
            RequestMethod::Post,
            AcceptInvitationRequest::PATH,
            &join(&format!("guess-{at}"), "Eve"),
        )
    };
    for at in 0..10 {
        assert_eq!(
            site.send(from(1, guess(at))).await.status,
            StatusCode::NOT_FOUND
        );
    }
    let refused = site.send(from(1, guess(10))).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=7).contains(&seconds), "{seconds}");
    // A right guess gets the same response, otherwise it could be recognized.
    let made = link(&site, AccessRole::Annotator).await;
    let right = || {
        as_request(
            RequestMethod::Post,
            AcceptInvitationRequest::PATH,
            &join(&made.token, "Ada"),
        )
    };
    let refused = site.send(from(1, right())).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(site.send(from(2, right())).await.status, StatusCode::OK);

    // Many people who share an address do not block each other.
    for at in 0..20 {
        let made = link(&site, AccessRole::Annotator).await;
        let joining = join(&made.token, &format!("Person {at}"));
        let joining = as_request(RequestMethod::Post, AcceptInvitationRequest::PATH, &joining);
        assert_eq!(site.send(from(3, joining)).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_password_is_not_guessed_from_many_addresses_either() {
    let site = Site::new(ListenScope::Network).await;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    let long = "x".repeat(257);
    for at in 0..20 {
        // A name without a password and an unknown name get the same response.
        let asked = as_request(
            RequestMethod::Post,
            SignInRequest::PATH,
            &sign_in("ada", &long),
        );
        let answer = site.send(from([192, 0, 2, at], asked)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    let refused = site.ask(&sign_in(" ADA ", PASSWORD)).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(site.ask(&sign_in("Eve", PASSWORD)).await.status, 401);
    let who = site.get_session(&ada.session).await;
    assert_eq!(who.role, AccessRole::Annotator, "whoever is in stays in");
}

#[tokio::test]
async fn wrong_passwords_of_one_address_never_block_a_right_one_of_another() {
    let site = Site::new(ListenScope::Network).await;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    site.set_password(&ada.session).await;
    let asked = |password: &str| {
        as_request(
            RequestMethod::Post,
            SignInRequest::PATH,
            &sign_in("Ada", password),
        )
    };
    for at in 0..6 {
        let guess = site.send(from([192, 0, 2, 1], asked("wrong horse"))).await;
        let expected = if at < 5 { 401 } else { 429 };
        assert_eq!(guess.status.as_u16(), expected, "guess {at}");
    }
    let right = site.send(from([192, 0, 2, 2], asked(PASSWORD))).await;
    assert_eq!(right.status, StatusCode::OK);
}

#[tokio::test]
async fn a_name_without_a_password_and_no_name_are_answered_alike() {
    let site = Site::new(ListenScope::Network).await;
    site.somebody(AccessRole::Annotator, "Ada").await;
    let known = site.ask(&sign_in("Ada", PASSWORD)).await;
    let unknown = site.ask(&sign_in("Nobody", PASSWORD)).await;
    assert_eq!(known.status, StatusCode::UNAUTHORIZED);
    assert_eq!(known.problem(), unknown.problem());
}

#[tokio::test]
async fn a_revoked_person_has_no_session() {
    let site = Site::new(ListenScope::Network).await;
    let curator = site.somebody(AccessRole::Curator, "Cleo").await;
    let other = site.somebody(AccessRole::Curator, "Otto").await;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    let away = |it: &Signed| RevokePersonOrInvitationRequest::Person { id: it.person.id };
    let left: PeopleAndInvitationsResponse =
        site.ask_by(&away(&ada), &curator.session).await.json();
    let of_ada = left
        .people
        .iter()
        .find(|it| it.person.name == "Ada")
        .unwrap();
    assert!(of_ada.is_revoked && of_ada.n_sessions == 0);
    let who = site.get_session(&ada.session).await;
    assert_eq!(who, SessionResponse::default());

    let refused = site.ask_by(&away(&other), &curator.session).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "another curator");
    let operator = site.somebody(AccessRole::Operator, "Olga").await;
    let (status, error) = site
        .ask_by(&away(&operator), &operator.session)
        .await
        .problem();
    assert_eq!(status, 403);
    assert!(error.contains("your own access"), "{error}");
    site.ask_by(&away(&other), &operator.session)
        .await
        .json::<PeopleAndInvitationsResponse>();

    // The person is invited again under the same name.
    let again = CreateInvitationRequest {
        person: Some(ada.person.id),
        ..invitation(AccessRole::Operator)
    };
    let made: CreateInvitationResponse = site.ask_by(&again, &curator.session).await.json();
    assert_eq!(
        made.invitation.role,
        AccessRole::Annotator,
        "as what they were"
    );
    let joined = site.ask(&join(&made.token, "")).await;
    assert_eq!(joined.json::<SessionResponse>().person.unwrap(), ada.person);
}

#[tokio::test]
async fn curators_invite_annotators_alone() {
    let site = Site::new(ListenScope::Network).await;
    let curator = site.somebody(AccessRole::Curator, "Cleo").await;
    for (role, status) in [
        (AccessRole::Annotator, 200),
        (AccessRole::Curator, 403),
        (AccessRole::Operator, 403),
        (AccessRole::Visitor, 422),
    ] {
        let answer = site.ask_by(&invitation(role), &curator.session).await;
        assert_eq!(answer.status, status, "{role:?}");
    }
    for hours in [0, 721] {
        let asked = CreateInvitationRequest {
            valid_hours: hours,
            ..invitation(AccessRole::Annotator)
        };
        assert_eq!(site.ask_by(&asked, &curator.session).await.status, 422);
    }
    let operators = link(&site, AccessRole::Operator).await;
    let id = operators.invitation.id;
    let refused = site
        .ask_by(
            &RevokePersonOrInvitationRequest::Invitation { id },
            &curator.session,
        )
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let listed = site.ask_by(&ListPeopleRequest {}, &curator.session).await;
    let text = String::from_utf8_lossy(&listed.body).into_owned();
    assert!(!text.contains(&operators.token), "a token is shown once");
    assert_eq!(
        listed
            .json::<PeopleAndInvitationsResponse>()
            .invitations
            .len(),
        2
    );
}

#[tokio::test]
async fn what_is_said_of_people_is_bounded() {
    let site = Site::new(ListenScope::Network).await;
    let made = link(&site, AccessRole::Annotator).await;
    for name in ["", "A\u{202E}da", "A\u{2066}da", "A\0da", &"a".repeat(61)] {
        let (status, error) = site.ask(&join(&made.token, name)).await.problem();
        assert_eq!(status, 422, "{name:?} {error}");
    }
    for password in ["short", &"x".repeat(257)] {
        let joining = AcceptInvitationRequest {
            password: Some(password.to_owned()),
            ..join(&made.token, "Ada")
        };
        let (status, error) = site.ask(&joining).await.problem();
        assert_eq!(status, 422);
        assert!(error.contains("characters; take at"), "{error}");
    }
    let joined = site.ask(&join(&made.token, &"a".repeat(70_000))).await;
    assert_eq!(joined.status, StatusCode::PAYLOAD_TOO_LARGE);
    let long = CreateInvitationRequest {
        note: "x".repeat(2_001),
        ..invitation(AccessRole::Annotator)
    };
    let curator = site.somebody(AccessRole::Curator, "Cleo").await;
    assert_eq!(site.ask_by(&long, &curator.session).await.status, 422);
    // None of this has used up the invitation.
    site.ask(&join(&made.token, "Ada"))
        .await
        .json::<SessionResponse>();
}

#[tokio::test]
async fn an_operator_without_a_name_takes_one() {
    let site = Site::new(ListenScope::Loopback).await;
    let who: SessionResponse = site.ask(&GetSessionRequest {}).await.json();
    assert_eq!((who.role, who.person), (AccessRole::Operator, None));
    let unnamed = SetPasswordRequest {
        current_password: None,
        new_password: Some(PASSWORD.to_owned()),
    };
    let (status, error) = site.ask(&unnamed).await.problem();
    assert_eq!(status, 403);
    assert!(error.contains("/join"), "{error}");
    let joining = AcceptInvitationRequest {
        token: None,
        name: "Olga".to_owned(),
        password: Some(PASSWORD.to_owned()),
    };
    let joined = site.ask(&joining).await;
    let session = kept(&site, &joined);
    let who: SessionResponse = joined.json();
    assert_eq!(who.role, AccessRole::Operator);
    assert!(who.person.unwrap().has_password);
    assert_eq!(
        site.ask_by(&joining, &session).await.problem().0,
        422,
        "has one"
    );
    let out = site
        .ask_by(&SignOutRequest { all_sessions: true }, &session)
        .await;
    assert_eq!(
        out.json::<SessionResponse>().role,
        AccessRole::Operator,
        "by the door again"
    );
}

#[tokio::test]
async fn without_tls_an_invitation_is_not_used_for_nothing() {
    let site = Site::new(ListenScope::Network).await;
    let made = link(&site, AccessRole::Annotator).await;
    let asked = |origin: &str, host: &str| {
        let mut asked = as_request(
            RequestMethod::Post,
            AcceptInvitationRequest::PATH,
            &join(&made.token, "Ada"),
        );
        let headers = asked.headers_mut();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        headers.insert(header::HOST, host.parse().unwrap());
        asked
    };
    let plain = site
        .send(asked("http://axio.example", "axio.example"))
        .await;
    let (status, error) = plain.problem();
    assert_eq!(status, 403);
    assert!(error.contains("https"), "{error}");
    let secure = site
        .send(asked("https://axio.example", "axio.example"))
        .await;
    assert_eq!(secure.status, StatusCode::OK);
}

#[tokio::test]
async fn other_sessions_end_with_the_password_even_if_the_client_disconnects() {
    let site = Site::new(ListenScope::Network).await;
    let store = &site.app.store;
    let ada = site.somebody(AccessRole::Annotator, "Ada").await;
    let other = site.begin_session(&ada.person).await;
    let is_stored = async || {
        let known = store.person_by_id(ada.person.id).await.unwrap();
        known.password_hash.is_some()
    };
    drop_once(is_stored, site.set_password(&ada.session)).await;
    let has_ended = async {
        while store
            .validate_and_extend_session(&other, unix_time_ms())
            .await
            .unwrap()
            .is_some()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let has_ended = tokio::time::timeout(Duration::from_secs(10), has_ended).await;
    has_ended.expect("the other session has ended");
}

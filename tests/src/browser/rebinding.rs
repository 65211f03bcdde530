//! DNS rebinding: the page of another site under a host name that now resolves to this machine.

use serde_json::{Value, json};
use shared::api::models::ListModelsRequest;
use shared::api::people::{
    CreateInvitationRequest, GetSessionRequest, ListPeopleRequest, OperatorSignInRequest,
    PeopleAndInvitationsResponse, SignOutRequest,
};
use shared::api::{
    CreateScoringJobRequest, Endpoint, GetServerInfoRequest, ListScoringJobsRequest,
    ListStudiesRequest,
};

use super::tab::BrowserTab;
use super::with_operator_path;
use crate::harness::{TestHome, reply};

#[test]
fn a_page_under_another_name_of_this_machine_reads_and_changes_nothing() {
    with_operator_path(TestHome::new, |tab, _, server, path| {
        let rebound = server.address.replace("127.0.0.1", "rebound.example");
        let (_, port) = server.address.rsplit_once(':').unwrap();
        tab.open(path);
        tab.wait_until("the studies", "return location.pathname === '/'");
        tab.open("/operator");
        tab.wait_for_text("This server has no neural model");
        assert_eq!(n_cookies(tab, &server.address), 1);
        // The attacking page came from another server, so our content security policy does not
        // apply to it.
        tab.devtools("Page.setBypassCSP", json!({"enabled": true}));
        tab.visit(&rebound);
        tab.wait_for_text("this server answers on this machine only");
        assert_eq!(tab.js("return location.origin", &[]), json!(rebound));

        assert_eq!(n_cookies(tab, &rebound), 0);
        let asked = [
            request::<GetServerInfoRequest>(),
            request::<GetSessionRequest>(),
            request::<ListStudiesRequest>(),
            request::<ListScoringJobsRequest>(),
            request::<ListModelsRequest>(),
            request::<ListPeopleRequest>(),
            request::<CreateScoringJobRequest>(),
            request::<CreateInvitationRequest>(),
            request::<OperatorSignInRequest>(),
            request::<SignOutRequest>(),
            json!({"method": "GET", "path": "/metrics"}),
        ];
        let statuses = "return Promise.all(arguments[0].map(async ({method, path}) => {
            const body = method === 'POST' ? '{}' : undefined;
            const answer = await fetch(path, {method, body, credentials: 'include'});
            return answer.status;
        }))";
        let expected = vec![403; asked.len()];
        assert_eq!(tab.js_async(statuses, &[json!(asked)]), json!(expected));

        // Under the host name of the cookie, the page may send a POST but cannot read the answer;
        // other methods that change something need a preflight.
        let blindly = |method: &str, mode: &str, path: &str, body: Value| {
            let script = "const [address, method, mode, body] = arguments;
                const request = {method, mode, body, credentials: 'include'};
                return fetch(address, request).then(it => it.status, () => 0)";
            let address = format!("{}{path}", server.address);
            let arguments = [
                json!(address),
                json!(method),
                json!(mode),
                json!(body.to_string()),
            ];
            assert_eq!(tab.js_async(script, &arguments), json!(0));
            tab.expect_in_console(&format!(":{port}"));
        };
        let invitation = json!({"role": "annotator", "valid_hours": 1});
        blindly("POST", "no-cors", CreateInvitationRequest::PATH, invitation);
        blindly("DELETE", "cors", SignOutRequest::PATH, json!({}));

        tab.open("/operator");
        tab.wait_for_text("This server has no neural model");
        let listed = server.request("GET", ListPeopleRequest::PATH);
        let listed = listed.bearer_auth(server.token.as_deref().unwrap());
        let listed: PeopleAndInvitationsResponse = reply(listed.send().unwrap()).unwrap();
        assert_eq!(listed.invitations, []);
    });
}

fn request<E: Endpoint>() -> Value {
    json!({"method": E::METHOD.to_string(), "path": E::PATH})
}

/// Returns how many cookies the browser would send to a site.
fn n_cookies(tab: &BrowserTab, origin: &str) -> usize {
    let told = tab.devtools("Network.getCookies", json!({"urls": [origin]}));
    told["cookies"].as_array().unwrap().len()
}

//! A person with a session, as in a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use shared::annotation::PersonId;
use shared::annotation::export::ExportedAnnotationEvent;
use shared::api::annotation::{ExportTaskRequest, TaskExportFormat, TaskId};
use shared::api::people::{AcceptInvitationRequest, CSRF_HEADER, SessionResponse};
use shared::api::{Endpoint, ErrorResponse, RequestMethod};

use super::server_address::ServerAddress;

/// A server that takes longer counts as gone, as for a page.
const PATIENCE: Duration = Duration::from_secs(20);

/// A person with the session of one browser.
pub(crate) struct PersonClient {
    /// The id that the server assigned.
    pub(crate) no: PersonId,
    /// The name that the person chose.
    pub(crate) name: String,
    site: ServerAddress,
    client: Client,
    cookie: Cookie,
    csrf: String,
}

/// Why a request has no reply.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// There was no complete answer, so the request may or may not have been accepted.
    Lost(reqwest::Error),
    /// The status, and the error of the server.
    Refused(u16, ErrorResponse),
}

/// The session cookie, as a browser stores it.
struct Cookie {
    /// The name of the cookie; on loopback it contains the port.
    name: String,
    value: String,
    /// The address at which it was set.
    address: String,
}

impl PersonClient {
    /// Accepts an invitation; an operator without a name needs none.
    pub(crate) fn join(site: &ServerAddress, token: Option<String>, name: &str) -> PersonClient {
        let client = Client::builder().timeout(PATIENCE);
        let client = client.local_address(own_address()).build().unwrap();
        let address = site.address();
        let join = AcceptInvitationRequest {
            token,
            name: name.to_owned(),
            password: None,
        };
        let asked = asking(&client, &address, &join).header(ORIGIN, &address);
        let response = asked.send().unwrap();
        let set = response.headers().get_all(SET_COOKIE).iter();
        let set = set.filter_map(|it| it.to_str().ok()?.split(';').next());
        let session = set.filter_map(|it| it.split_once('=')).next_back();
        let cookie = session.map(|(name, value)| Cookie {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            address,
        });
        let who: SessionResponse = reply(response).unwrap_or_else(|it| panic!("{name}: {it:?}"));
        let person = who.person.expect("somebody who has joined has a number");
        PersonClient {
            no: person.id,
            name: person.name,
            site: site.clone(),
            client,
            cookie: cookie.expect("somebody who has joined has a session"),
            csrf: who
                .csrf_token
                .expect("a session has a token for its requests"),
        }
    }

    /// Calls an endpoint and returns its reply or the failure.
    pub(crate) fn try_ask<E: Endpoint>(&self, asked: &E) -> Result<E::Reply, RequestFailure> {
        reply(self.send(asked)?)
    }

    /// Calls an endpoint and returns its reply.
    pub(crate) fn call<E: Endpoint>(&self, asked: &E) -> E::Reply {
        let replied = self.try_ask(asked);
        replied.unwrap_or_else(|it| panic!("{} asks {}: {it:?}", self.name, E::PATH))
    }

    /// Returns the status and the message with which an endpoint must refuse a request.
    pub(crate) fn expect_refusal<E: Endpoint>(&self, asked: &E) -> (u16, String) {
        match self.try_ask(asked) {
            Err(RequestFailure::Refused(status, problem)) => (status, problem.error),
            Err(RequestFailure::Lost(error)) => panic!("{}: {error}", E::PATH),
            Ok(_) => panic!("{} was allowed to {}", E::PATH, self.name),
        }
    }

    /// Downloads an export of a task.
    pub(crate) fn download(&self, task: TaskId, format: TaskExportFormat) -> String {
        let names = false;
        let asked = ExportTaskRequest {
            task,
            format,
            include_names: names,
        };
        let response = self.send(&asked).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(response.status(), 200);
        response.text().unwrap()
    }

    /// Returns every event of a task, from its JSON Lines export.
    pub(crate) fn rows(&self, task: TaskId) -> Vec<ExportedAnnotationEvent> {
        let file = self.download(task, TaskExportFormat::Jsonl);
        let row = |it| serde_json::from_str(it).unwrap_or_else(|why| panic!("{why}: {it}"));
        file.lines().map(row).collect()
    }

    fn send<E: Endpoint>(&self, asked: &E) -> Result<Response, RequestFailure> {
        let address = self.site.address();
        let mut request = asking(&self.client, &address, asked);
        request = request.header(COOKIE, self.cookie.at(&address));
        if E::METHOD != RequestMethod::Get {
            request = request
                .header(ORIGIN, &address)
                .header(CSRF_HEADER, &self.csrf);
        }
        request.send().map_err(RequestFailure::Lost)
    }
}

impl Cookie {
    /// Returns the cookie for a server that may be on another port than when the cookie was set. A
    /// browser would not send it there; the tests check whether the server still knows the session.
    fn at(&self, address: &str) -> String {
        let port = |it: &str| it.rsplit_once(':').unwrap().1.to_owned();
        let name = self.name.replace(&port(&self.address), &port(address));
        format!("{name}={}", self.value)
    }
}

/// Returns a different address for each person, since the server limits how often one address may
/// use invitations. Only Linux has all of 127.0.0.0/8 without configuration.
pub(super) fn own_address() -> Option<IpAddr> {
    static N_PEOPLE: AtomicU32 = AtomicU32::new(0);
    let number = N_PEOPLE.fetch_add(1, Ordering::Relaxed);
    let [.., third, fourth] = number.to_be_bytes();
    // The last number must not be that of a network or a broadcast address.
    let own = Ipv4Addr::new(127, 2, third, fourth.clamp(1, 254));
    cfg!(target_os = "linux").then_some(IpAddr::V4(own))
}

/// Builds the request of an endpoint.
fn asking<E: Endpoint>(client: &Client, address: &str, asked: &E) -> RequestBuilder {
    let sent = asked.address();
    let method = E::METHOD.to_string();
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let request = client.request(method, format!("{address}{}", sent.path));
    match sent.body {
        Some(body) => request.body(body).header(CONTENT_TYPE, "application/json"),
        None => request,
    }
}

/// Parses the reply of a server that may have ended in the middle of it.
fn reply<T: serde::de::DeserializeOwned>(response: Response) -> Result<T, RequestFailure> {
    let status = response.status().as_u16();
    let body = response.bytes().map_err(RequestFailure::Lost)?;
    let broken = |it: serde_json::Error| -> ! {
        panic!("{status}, {it}: {}", String::from_utf8_lossy(&body))
    };
    if status == 200 {
        return Ok(serde_json::from_slice(&body).unwrap_or_else(|it| broken(it)));
    }
    let problem = serde_json::from_slice(&body).unwrap_or_else(|it| broken(it));
    Err(RequestFailure::Refused(status, problem))
}

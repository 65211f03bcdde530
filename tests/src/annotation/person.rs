//! Somebody with a session, as the server sees their browser.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use shared::annotation::PersonId;
use shared::annotation::export::ExportRow;
use shared::api::annotation::{ExportTaskRequest, TaskExportFormat, TaskId};
use shared::api::people::{AcceptInvitationRequest, CSRF_HEADER, SessionResponse};
use shared::api::{Endpoint, ErrorResponse, Method};

use super::server_address::ServerAddress;

/// A server that takes longer is taken for gone, as a page would.
const PATIENCE: Duration = Duration::from_secs(20);

/// A person with the session of one browser.
pub(crate) struct PersonClient {
    /// As the server numbers them.
    pub(crate) no: PersonId,
    /// As they chose it.
    pub(crate) name: String,
    site: ServerAddress,
    client: Client,
    cookie: Cookie,
    csrf: String,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// There was none, or not the whole of it: the request may have been taken or not.
    Lost(reqwest::Error),
    /// Status, and what is wrong.
    Refused(u16, ErrorResponse),
}

/// What the browser keeps of a session.
struct Cookie {
    /// On loopback it has the port in it.
    name: String,
    value: String,
    /// Where it was set.
    address: String,
}

impl PersonClient {
    /// Uses an invitation; an operator without a name needs none.
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

    /// What an endpoint replies, or why it does not.
    pub(crate) fn try_ask<E: Endpoint>(&self, asked: &E) -> Result<E::Reply, RequestFailure> {
        reply(self.send(asked)?)
    }

    /// What an endpoint replies.
    pub(crate) fn call<E: Endpoint>(&self, asked: &E) -> E::Reply {
        let replied = self.try_ask(asked);
        replied.unwrap_or_else(|it| panic!("{} asks {}: {it:?}", self.name, E::PATH))
    }

    /// The status and the words with which an endpoint must refuse.
    pub(crate) fn expect_refusal<E: Endpoint>(&self, asked: &E) -> (u16, String) {
        match self.try_ask(asked) {
            Err(RequestFailure::Refused(status, problem)) => (status, problem.error),
            Err(RequestFailure::Lost(error)) => panic!("{}: {error}", E::PATH),
            Ok(_) => panic!("{} was allowed to {}", E::PATH, self.name),
        }
    }

    /// A file of a task.
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

    /// Every event of a task, from its file of JSON lines.
    pub(crate) fn rows(&self, task: TaskId) -> Vec<ExportRow> {
        let file = self.download(task, TaskExportFormat::Jsonl);
        let row = |it| serde_json::from_str(it).unwrap_or_else(|why| panic!("{why}: {it}"));
        file.lines().map(row).collect()
    }

    fn send<E: Endpoint>(&self, asked: &E) -> Result<Response, RequestFailure> {
        let address = self.site.address();
        let mut request = asking(&self.client, &address, asked);
        request = request.header(COOKIE, self.cookie.at(&address));
        if E::METHOD == Method::Post {
            request = request
                .header(ORIGIN, &address)
                .header(CSRF_HEADER, &self.csrf);
        }
        request.send().map_err(RequestFailure::Lost)
    }
}

impl Cookie {
    /// What is sent to a server that may be on another port than when the cookie was set. A
    /// browser would have none there; what matters here is whether the session is still known.
    fn at(&self, address: &str) -> String {
        let port = |it: &str| it.rsplit_once(':').unwrap().1.to_owned();
        let name = self.name.replace(&port(&self.address), &port(address));
        format!("{name}={}", self.value)
    }
}

/// Everybody comes from an address of their own, since the server counts how often an address
/// brings invitations. Only Linux has all of 127.0.0.0/8 without being told.
pub(super) fn own_address() -> Option<IpAddr> {
    static N_PEOPLE: AtomicU32 = AtomicU32::new(0);
    let number = N_PEOPLE.fetch_add(1, Ordering::Relaxed);
    let [.., third, fourth] = number.to_be_bytes();
    // Neither a network nor a broadcast ends so.
    let own = Ipv4Addr::new(127, 2, third, fourth.clamp(1, 254));
    cfg!(target_os = "linux").then_some(IpAddr::V4(own))
}

/// The request of an endpoint, to be sent.
fn asking<E: Endpoint>(client: &Client, address: &str, asked: &E) -> RequestBuilder {
    let url = format!("{address}{}", E::PATH);
    let json = serde_json::to_string(asked).unwrap();
    match E::METHOD {
        Method::Get => client.get(url).query(&[("q", json)]),
        Method::Post => {
            let request = client.post(url).body(json);
            request.header(CONTENT_TYPE, "application/json")
        }
    }
}

/// Takes a reply apart, of a server that may have ended in its middle.
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

//! The address of a request: its path with the values of the request in it, and named parameters.
//!
//! A path template such as `/api/studies/{study}/figures` names fields of the request. The fields
//! of a GET or DELETE that are not in the path are parameters of the query string; nested objects
//! are flattened, so that `{"study": "demo", "options": {"controls": {"variant": "code"}}}` becomes
//! `/api/studies/demo/figures?variant=code`. The fields of other requests are a JSON body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::RequestMethod;

/// The characters of a value that are encoded, in the path and in the query string.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':')
    .remove(b'@')
    .remove(b',')
    .remove(b'(')
    .remove(b')')
    .remove(b'*');

/// A request as HTTP sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestAddress {
    /// The path with the query string.
    pub path: String,
    /// The JSON body; `None` for a GET or DELETE.
    pub body: Option<String>,
}

impl RequestAddress {
    /// Returns the address of a request, given its path template and its JSON, which is an object.
    pub fn new(method: RequestMethod, template: &str, request: Value) -> RequestAddress {
        let mut fields = match request {
            Value::Object(fields) if method.has_body() => fields,
            Value::Object(fields) => {
                let mut flat = Map::new();
                flatten(fields, &mut flat);
                flat
            }
            _ => Map::new(),
        };
        let mut path = String::new();
        for segment in template.split('/').skip(1) {
            path.push('/');
            match path_parameter(segment) {
                Some(name) => {
                    let value = fields.remove(name).and_then(parameter_text);
                    path.push_str(&encode(&value.unwrap_or_default()));
                }
                None => path.push_str(segment),
            }
        }
        if method.has_body() {
            let body = Some(Value::Object(fields).to_string());
            return RequestAddress { path, body };
        }
        let mut separator = '?';
        for (name, value) in fields {
            if let Some(text) = parameter_text(value) {
                path.push(separator);
                separator = '&';
                path.push_str(&format!("{name}={}", encode(&text)));
            }
        }
        RequestAddress { path, body: None }
    }
}

/// Returns the name of a path parameter: `study` for the segment `{study}`.
pub fn path_parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn flatten(fields: Map<String, Value>, flat: &mut Map<String, Value>) {
    for (name, value) in fields {
        match value {
            Value::Object(inner) => flatten(inner, flat),
            other => {
                flat.insert(name, other);
            }
        }
    }
}

/// Returns the text of a parameter; `None` for a value that is absent. The items of a list are
/// separated by commas.
fn parameter_text(value: Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::String(text) => Some(text),
        value @ (Value::Bool(_) | Value::Number(_)) => Some(value.to_string()),
        Value::Array(items) => {
            let items: Vec<String> = items.into_iter().filter_map(parameter_text).collect();
            Some(items.join(","))
        }
    }
}

fn encode(text: &str) -> String {
    // A segment `.` or `..` would be resolved away, even when it is encoded.
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_in_the_path_in_the_query_string_or_in_the_body() {
        let of = |method, template: &str, request| RequestAddress::new(method, template, request);
        for (template, request, path) in [
            ("/api/jobs", json!({}), "/api/jobs"),
            ("/api/jobs/{job}", json!({"job": "a b"}), "/api/jobs/a%20b"),
            (
                "/api/studies/{study}/probes/{probe}/instances",
                json!({"study": "demo", "filter": {"probe": "tfc1&lnc1/2", "limit": 5, "min": -1.5,
                       "controls": {"variant": "code", "split": null}, "all": true}}),
                "/api/studies/demo/probes/tfc1%26lnc1%2F2/instances?all=true&variant=code&limit=5\
                 &min=-1.5",
            ),
            (
                "/api/x",
                json!({"rankers": ["0", "run:a b+c"], "query": "a=b&c"}),
                "/api/x?query=a%3Db%26c&rankers=0,run:a%20b%2Bc",
            ),
        ] {
            let address = of(RequestMethod::Get, template, request);
            let split = |it: &str| {
                let (path, query) = it.split_once('?').unwrap_or((it, ""));
                let mut parameters: Vec<String> = query.split('&').map(str::to_owned).collect();
                parameters.sort_unstable();
                (path.to_owned(), parameters)
            };
            assert_eq!(split(&address.path), split(path));
            assert_eq!(address.body, None);
        }
        let cancel = of(
            RequestMethod::Post,
            "/api/jobs/{job}/cancel",
            json!({"job": 7}),
        );
        assert_eq!(cancel.path, "/api/jobs/7/cancel");
        assert_eq!(cancel.body.as_deref(), Some("{}"));
        let nested = json!({"task": 3, "definition": {"title": "a"}});
        let change = of(RequestMethod::Patch, "/api/annotation/tasks/{task}", nested);
        assert_eq!(change.path, "/api/annotation/tasks/3");
        assert_eq!(
            change.body.as_deref(),
            Some(r#"{"definition":{"title":"a"}}"#)
        );
    }
}

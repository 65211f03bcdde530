//! The examples of the API description: each is read back, and requests for the demo study are
//! answered.

use super::*;
use crate::http::parameters::ParameterLocation;

/// Returns the value of a parameter as an address has it.
fn parameter_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(parameter_text).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

/// Checks that the example of a body has the fields that its schema requires, and no others than
/// it has.
fn check_body_schema(document: &Value, request_body: &Value, name: &str) {
    let content = &request_body["content"]["application/json"];
    let reference = content["schema"]["$ref"].as_str().unwrap();
    let schema = reference.rsplit('/').next().unwrap();
    let schema = &document["components"]["schemas"][schema];
    let example = content["example"].as_object().unwrap();
    for field in schema["required"].as_array().into_iter().flatten() {
        let field = field.as_str().unwrap();
        assert!(example.contains_key(field), "{name}: no {field}");
    }
    // The variants of an enum have properties of their own.
    if schema["oneOf"].is_null() {
        for field in example.keys() {
            assert!(schema["properties"][field].is_object(), "{name}: {field}");
        }
    }
    if example.is_empty() {
        assert_eq!(request_body["required"], false, "{name}");
    }
}

#[tokio::test]
async fn every_operation_has_a_description_and_an_example_that_is_read_back() {
    let site = Site::new(ListenScope::Loopback).await;
    let document: Value = site.get("/api/openapi.json").await.json();
    let docs = site.get("/api/docs").await;
    let docs = String::from_utf8(docs.body.to_vec()).unwrap();
    for it in Endpoints::all().operations() {
        let name = format!("{} {}", it.method, it.path);
        let method = it.method.to_string().to_lowercase();
        let operation = &document["paths"][it.path][&method];
        let description = operation["description"].as_str().unwrap();
        let (about, _) = description.split_once("\n\nAccess: ").unwrap();
        assert!(!about.trim().is_empty(), "{name} has no description");

        let body = &operation["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(body.is_object(), it.method.has_body(), "{name}: {body}");
        let mut given_fields = body.as_object().cloned().unwrap_or_default();
        let parameters: &[Value] = operation["parameters"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for (place, location) in [
            ("path", ParameterLocation::Path),
            ("query", ParameterLocation::Query),
        ] {
            let given = parameters
                .iter()
                .filter(|it| it["in"] == place && !it["example"].is_null())
                .map(|it| {
                    let name = it["name"].as_str().unwrap().to_owned();
                    (name, parameter_text(&it["example"]))
                });
            let decoded = (it.parameters)().decode(location, given, &mut given_fields);
            assert!(decoded.is_ok(), "{name}: {decoded:?}");
        }
        if it.method.has_body() {
            check_body_schema(&document, &operation["requestBody"], &name);
        }
        let example = (it.examples)().request;
        match (it.read_request)(Value::Object(given_fields)) {
            Ok(read) => assert_eq!(read, example, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }

        let sample = operation["x-codeSamples"][0]["source"].as_str().unwrap();
        let first_line = sample.lines().next().unwrap();
        let (method, address) = first_line.split_once(' ').unwrap();
        assert_eq!(method, it.method.to_string());
        // The address leads to this endpoint: the server knows its path, and reads its parameters.
        let sent = site.send(request(method, address, "{}")).await;
        assert_ne!(sent.status, StatusCode::METHOD_NOT_ALLOWED, "{first_line}");
        if sent.status.is_client_error() {
            let (_, error) = sent.problem();
            let is_unread = error.contains("does not exist;") || error.contains("the address");
            assert!(!is_unread, "{first_line}: {error}");
        }
        assert!(docs.contains(&first_line.replace('&', "&amp;")), "{name}");
    }
}

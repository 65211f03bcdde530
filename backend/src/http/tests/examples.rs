//! The examples of the API description: each is read back, and requests for the demo study are
//! answered.

use shared::api::GetLateInteractionTopDocumentsRequest;

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
        let mut request = body.as_object().cloned().unwrap_or_default();
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
            let decoded = (it.parameters)().decode(location, given, &mut request);
            assert!(decoded.is_ok(), "{name}: {decoded:?}");
        }
        let example = (it.examples)().request;
        match (it.read_request)(Value::Object(request)) {
            Ok(read) => assert_eq!(read, example, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }

        let address = RequestAddress::new(it.method, it.path, example).path;
        let first_line = format!("{} {address}", it.method);
        let sample = operation["x-codeSamples"][0]["source"].as_str().unwrap();
        assert_eq!(sample.lines().next(), Some(&*first_line));
        assert!(docs.contains(&first_line.replace('&', "&amp;")), "{name}");
    }
}

#[tokio::test]
async fn the_example_requests_of_the_demo_study_are_answered() {
    let site = Site::new(ListenScope::Loopback).await;
    let demo = crate::annotation::tests::study("demo");
    crate::store::studies::files::save_study_files(&site.folder, &demo).unwrap();
    site.app.store.upsert_study_entry(&demo).await.unwrap();
    for it in Endpoints::all().operations() {
        if !it.path.starts_with("/api/studies/") {
            continue;
        }
        let address = RequestAddress::new(it.method, it.path, (it.examples)().request);
        // This demo study has other queries.
        let path = address.path.replace("q-glaciers-1", "q1");
        let expected = match it.path {
            // The study has no late-interaction analysis.
            GetLateInteractionTopDocumentsRequest::PATH => 404,
            _ => 200,
        };
        let answer = site.get(&path).await;
        let body = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status.as_u16(), expected, "{path}: {body}");
    }
}

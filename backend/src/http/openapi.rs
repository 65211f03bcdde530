//! The API description, derived from its types: `/api/openapi.json` for programs, `/api/docs` for
//! people.

mod examples;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use serde_json::{Value, json};
use shared::api::address::RequestAddress;
use shared::api::people::{CSRF_HEADER, GetSessionRequest};
use shared::api::{Endpoint, ErrorResponse, RequestMethod};
use utoipa::ToSchema;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, Content, ContentBuilder, HttpMethod, Info, OpenApi, OpenApiBuilder,
    PathItem, Paths, Ref, RefOr, Required, ResponseBuilder, Schema,
};

use crate::http::AppState;
use crate::http::access::AccessLevel;
use crate::http::endpoints::Endpoints;
use crate::http::parameters::{Parameter, ParameterKind, ParameterLocation, ParameterTable};

#[cfg(test)]
pub(super) use examples::empty_study;
pub(super) use examples::{ExampleRequest, OperationExamples};

/// Name of the security scheme of the operator token.
const TOKEN: &str = "operator";

/// Name of the security scheme of the session cookie.
const SESSION: &str = "session";

/// Extension of an operation with its example as HTTP sends it. Viewers of OpenAPI documents show
/// it.
const CODE_SAMPLES: &str = "x-codeSamples";

/// The description of an endpoint.
pub(super) struct Operation {
    pub(super) method: RequestMethod,
    pub(super) path: &'static str,
    pub(super) access: AccessLevel,
    /// Content type of the reply.
    pub(super) reply: &'static str,
    pub(super) schemas: fn() -> OperationSchemas,
    pub(super) parameters: fn() -> ParameterTable,
    pub(super) examples: fn() -> OperationExamples,
    /// Reads a request from JSON and returns it as JSON.
    #[cfg(test)]
    pub(super) read_request: fn(Value) -> serde_json::Result<Value>,
}

/// The schemas of a request and its reply, and of all types that they refer to.
pub(super) struct OperationSchemas {
    description: String,
    request: RefOr<Schema>,
    reply: RefOr<Schema>,
    named: Vec<(String, RefOr<Schema>)>,
}

impl Operation {
    pub(super) fn of<E: ExampleRequest>(access: AccessLevel) -> Operation
    where
        E::Reply: ToSchema,
    {
        Operation {
            method: E::METHOD,
            path: E::PATH,
            access,
            reply: "application/json",
            schemas: OperationSchemas::of::<E, E::Reply>,
            parameters: ParameterTable::of::<E>,
            examples: OperationExamples::of::<E>,
            #[cfg(test)]
            read_request: |json| serde_json::to_value(serde_json::from_value::<E>(json)?),
        }
    }
}

impl OperationSchemas {
    /// Returns the schemas that request and reply refer to, by name.
    #[cfg(test)]
    pub(super) fn named(&self) -> &[(String, RefOr<Schema>)] {
        &self.named
    }

    fn of<E: ToSchema, R: ToSchema>() -> OperationSchemas {
        let mut named = Vec::new();
        let description = serde_json::to_value(E::schema()).ok();
        let description = description.and_then(|it| it["description"].as_str().map(str::to_owned));
        OperationSchemas {
            description: description.unwrap_or_default(),
            request: name::<E>(&mut named),
            reply: name::<R>(&mut named),
            named,
        }
    }
}

/// Returns a reference to the schema of a type, or the schema itself for a list.
fn name<T: ToSchema>(named: &mut Vec<(String, RefOr<Schema>)>) -> RefOr<Schema> {
    T::schemas(named);
    match T::schema() {
        list @ RefOr::T(Schema::Array(_)) => list,
        schema => {
            named.push((T::name().into_owned(), schema));
            Ref::from_schema_name(T::name()).into()
        }
    }
}

pub(super) fn router() -> Router<AppState> {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
        document()
            .to_pretty_json()
            .expect("a document of types is JSON")
    });
    static PAGE: LazyLock<String> =
        LazyLock::new(|| page(&serde_json::from_str(&DOCUMENT).expect("the document is JSON")));
    let json = (header::CONTENT_TYPE, "application/json");
    Router::new()
        .route(
            "/api/openapi.json",
            get(move || async move { ([json], DOCUMENT.as_str()) }),
        )
        .route(
            "/api/docs",
            get(|| async { Html(PAGE.as_str()).into_response() }),
        )
}

fn document() -> OpenApi {
    let mut paths = Paths::new();
    let mut named = BTreeMap::new();
    let mut problems = Vec::new();
    let problem = name::<ErrorResponse>(&mut problems);
    named.extend(problems);
    for it in Endpoints::all().operations() {
        let OperationSchemas {
            description,
            request,
            reply,
            named: more,
        } = (it.schemas)();
        named.extend(more);
        let examples = (it.examples)();
        let address = RequestAddress::new(it.method, it.path, examples.request.clone());
        let body = address.body.map(|it| -> Value {
            serde_json::from_str(&it).expect("the body of a request is JSON")
        });
        let answer = |text: &str, kind: &str, content: Content| {
            ResponseBuilder::new()
                .description(text)
                .content(kind, content)
                .build()
        };
        // Events and files have the values in another form.
        let reply_example = examples.reply.filter(|_| it.reply == "application/json");
        let operation = OperationBuilder::new()
            .summary(description.lines().next())
            .description(Some(format!(
                "{description}\n\n{}",
                access_description(it.access)
            )))
            .response(
                "200",
                answer("Success", it.reply, content(reply, reply_example)),
            )
            .response(
                "default",
                answer("Error", "application/json", content(problem.clone(), None)),
            )
            .extensions(Some(Extensions::from_iter([(
                CODE_SAMPLES,
                json!([{
                    "lang": "HTTP",
                    "source": code_sample(it.method, &address.path, body.as_ref()),
                }]),
            )])));
        let parameters = (it.parameters)();
        let operation = parameters.iter().fold(operation, |operation, (name, it)| {
            operation.parameter(openapi_parameter(name, it, &examples.request))
        });
        let operation = match body {
            None => operation,
            Some(body) => {
                let required = remove_path_fields(&request, &parameters, &mut named);
                operation.request_body(Some(
                    RequestBodyBuilder::new()
                        .content("application/json", content(request, Some(body)))
                        .required(Some(required))
                        .build(),
                ))
            }
        };
        let way = |name| SecurityRequirement::new::<_, [&str; 0], &str>(name, []);
        let operation = match it.access {
            AccessLevel::Public | AccessLevel::PublicScoring | AccessLevel::PublicCredentials => {
                operation
            }
            AccessLevel::Annotator | AccessLevel::Curator | AccessLevel::Operator => {
                operation.security(way(TOKEN)).security(way(SESSION))
            }
        };
        let method = match it.method {
            RequestMethod::Get => HttpMethod::Get,
            RequestMethod::Post => HttpMethod::Post,
            RequestMethod::Put => HttpMethod::Put,
            RequestMethod::Patch => HttpMethod::Patch,
            RequestMethod::Delete => HttpMethod::Delete,
        };
        let item = PathItem::new(method, operation.build());
        match paths.paths.get_mut(it.path) {
            Some(other) => other.merge_operations(item),
            None => {
                paths.paths.insert(it.path.to_owned(), item);
            }
        }
    }
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let session = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
        "__Host-axioscope",
        &format!(
            "Named `axioscope-PORT` on a loopback address. A request other than GET and HEAD with \
             this cookie also needs the header `{CSRF_HEADER}` with the `csrf_token` of `GET {}`.",
            GetSessionRequest::PATH
        ),
    )));
    let components = ComponentsBuilder::new()
        .schemas_from_iter(named)
        .security_scheme(TOKEN, token)
        .security_scheme(SESSION, session);
    let mut info = Info::new("Axioscope", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Diagnoses why a ranker ranks as it does: read studies, score documents, run scoring \
         jobs, train rankers, collect human judgments. `/health`, `/ready` and `/metrics` are for monitoring."
            .to_owned(),
    );
    OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

/// Removes the fields that are in the path from the schema of a request with a body. Returns
/// whether the body is required: the server takes an empty one if the path has what is required.
fn remove_path_fields(
    request: &RefOr<Schema>,
    parameters: &ParameterTable,
    named: &mut BTreeMap<String, RefOr<Schema>>,
) -> Required {
    let is_in_path = |field: &str| parameters.iter().any(|(name, _)| name == field);
    let RefOr::Ref(reference) = request else {
        return Required::True;
    };
    let name = reference.ref_location.rsplit('/').next();
    let schema = named.get_mut(name.unwrap_or_default());
    let Some(RefOr::T(Schema::Object(body))) = schema else {
        return Required::True;
    };
    body.required.retain(|it| !is_in_path(it));
    body.properties.retain(|it, _| !is_in_path(it));
    match body.required.is_empty() && parameters.iter().next().is_some() {
        true => Required::False,
        false => Required::True,
    }
}

fn content(schema: RefOr<Schema>, example: Option<Value>) -> Content {
    let content = ContentBuilder::new().schema(Some(schema));
    content.example(example).build()
}

/// Returns the example of a request as HTTP sends it.
fn code_sample(method: RequestMethod, address: &str, body: Option<&Value>) -> String {
    match body {
        None => format!("{method} {address}"),
        Some(body) => format!("{method} {address}\nContent-Type: application/json\n\n{body:#}"),
    }
}

fn openapi_parameter(
    name: &str,
    parameter: &Parameter,
    request: &Value,
) -> utoipa::openapi::path::Parameter {
    let schema = serde_json::from_value::<RefOr<Schema>>(parameter.schema.clone());
    ParameterBuilder::new()
        .name(name)
        .parameter_in(match parameter.location {
            ParameterLocation::Path => ParameterIn::Path,
            ParameterLocation::Query => ParameterIn::Query,
        })
        .required(match parameter.is_required {
            true => Required::True,
            false => Required::False,
        })
        .description(parameter.description.clone())
        .schema(schema.ok())
        // The items of a list are separated by commas.
        .explode(matches!(parameter.kind, ParameterKind::List(_)).then_some(false))
        .example(parameter.value_in(request).cloned())
        .build()
}

fn access_description(access: AccessLevel) -> &'static str {
    match access {
        AccessLevel::Public => {
            "Access: everyone; visitors see published studies and trainings only."
        }
        AccessLevel::PublicScoring => {
            "Access: everyone; visitors can send at most 8 documents at a time, at a limited rate."
        }
        AccessLevel::PublicCredentials => {
            "Access: everyone; the rate is limited after several wrong attempts."
        }
        AccessLevel::Annotator => "Access: annotators, curators and operators.",
        AccessLevel::Curator => "Access: curators and operators.",
        AccessLevel::Operator => "Access: operators.",
    }
}

/// Returns the documentation as an HTML page without scripts.
fn page(document: &Value) -> String {
    let mut html = String::from(HEAD);
    let none = serde_json::Map::new();
    for (path, methods) in document["paths"].as_object().unwrap_or(&none) {
        for (method, operation) in methods.as_object().unwrap_or(&none) {
            let text = |value: &Value| escaped(value.as_str().unwrap_or_default());
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let mut request: Vec<String> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| {
                    format!(
                        "<code>{}</code>{} {}",
                        text(&it["name"]),
                        if it["required"] == true {
                            ", required:"
                        } else {
                            ":"
                        },
                        text(&it["description"])
                    )
                })
                .collect();
            if body.is_object() {
                request.push(format!("body: {}", linked(body)));
            }
            let request: String = request.iter().map(|it| format!("<li>{it}</li>")).collect();
            let replies = operation["responses"]["200"]["content"].as_object();
            let replies = replies.into_iter().flat_map(|it| it.values());
            let replies: String = replies
                .map(|it| {
                    let example = it.get("example").map(|it| format!("{it:#}"));
                    format!(
                        "<p>Response: {}.</p>{}",
                        linked(&it["schema"]),
                        example.map_or_else(String::new, |it| preformatted(&it))
                    )
                })
                .collect();
            let sample = operation[CODE_SAMPLES][0]["source"].as_str();
            write!(
                html,
                "<section><h2><code>{} {}</code></h2><p>{}</p><ul>{}</ul>\
                 <p>Example:</p>{}{}</section>",
                method.to_uppercase(),
                escaped(path),
                text(&operation["description"]),
                request,
                preformatted(sample.unwrap_or_default()),
                replies,
            )
            .expect("a String takes every write");
        }
    }
    html.push_str("<h1>Types</h1>");
    for (name, schema) in document["components"]["schemas"]
        .as_object()
        .unwrap_or(&none)
    {
        let json = serde_json::to_string_pretty(schema).unwrap_or_default();
        write!(
            html,
            "<details id=\"{0}\"><summary><code>{0}</code></summary>{1}</details>",
            escaped(name),
            preformatted(&json),
        )
        .expect("a String takes every write");
    }
    html.push_str("</main></html>\n");
    html
}

const HEAD: &str = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <title>Axioscope API</title><style>\
    :root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}\
    main{max-width:48rem;margin:auto;padding:1rem}h2{font-size:1.1rem;margin-bottom:0}\
    pre{overflow-x:auto;font-size:.85rem}section{border-top:1px solid #8886;padding:.5rem 0}\
    </style><main><h1>Axioscope API</h1><p>Every error is an \
    <a href=\"#ErrorResponse\">ErrorResponse</a>. Programs can read \
    <a href=\"/api/openapi.json\">openapi.json</a>.</p>";

/// Returns the name of a schema as a link to its description.
fn linked(schema: &Value) -> String {
    if schema["type"] == "array" {
        let title = escaped(schema["items"]["description"].as_str().unwrap_or("values"));
        return match &schema["items"]["$ref"] {
            Value::String(_) => format!("a list of {}", linked(&schema["items"])),
            _ => format!("a list: {title}"),
        };
    }
    let name = schema["$ref"]
        .as_str()
        .and_then(|it| it.rsplit('/').next())
        .unwrap_or_default();
    format!("<a href=\"#{0}\">{0}</a>", escaped(name))
}

fn preformatted(text: &str) -> String {
    format!("<pre>{}</pre>", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

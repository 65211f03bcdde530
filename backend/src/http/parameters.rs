//! Named parameters of requests, in the path and in the query string.
//!
//! The parameters of an endpoint and their types are those of the schema of its request: each field
//! that is a text, a number, a truth value or a list of these is a parameter, and the fields of
//! nested objects count as fields of the request. [`shared::api::address`] is the other direction.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use shared::api::Endpoint;
use shared::api::address::path_parameter;
use shared::error::Error as InputError;
use utoipa::ToSchema;

use crate::error::Error;

/// The parameters of an endpoint.
#[derive(Debug, Clone)]
pub(super) struct ParameterTable {
    by_name: BTreeMap<String, Parameter>,
    /// Objects of the request that exist even if none of their fields is given.
    objects: Vec<Vec<String>>,
    /// Whether nested objects are in the body instead.
    has_body: bool,
    /// Whether the endpoint is our own. The others ignore what they do not know, as other rerank
    /// services do.
    is_strict: bool,
}

/// A parameter of an endpoint.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) location: ParameterLocation,
    pub(super) is_required: bool,
    pub(super) description: Option<String>,
    pub(super) kind: ParameterKind,
    /// The schema of the value.
    pub(super) schema: Value,
    /// The fields that lead to the value in the JSON of the request.
    fields: Vec<String>,
}

impl Parameter {
    /// Returns the value in the JSON of a request; `None` if the request does not have it.
    pub(super) fn value_in<'a>(&self, request: &'a Value) -> Option<&'a Value> {
        let mut fields = self.fields.iter();
        let value = fields.try_fold(request, |object, name| object.get(name))?;
        (!value.is_null()).then_some(value)
    }
}

/// The part of the address that has a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterLocation {
    Path,
    Query,
}

/// How the text of a parameter is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Text,
    Number,
    Boolean,
    /// Values separated by commas.
    List(Box<ParameterKind>),
}

/// The schemas that the schema of a request refers to, by name.
type NamedSchemas = BTreeMap<String, Value>;

impl ParameterTable {
    /// Returns the parameters of an endpoint whose request has no body; for others, those in the
    /// path.
    pub(super) fn of<E: Endpoint + ToSchema>() -> ParameterTable {
        let mut named = Vec::new();
        E::schemas(&mut named);
        let json = |it| serde_json::to_value(it).expect("a schema is JSON");
        let named = named.into_iter().map(|(name, it)| (name, json(it)));
        let mut table = ParameterTable {
            by_name: BTreeMap::new(),
            objects: Vec::new(),
            has_body: E::METHOD.has_body(),
            is_strict: E::PATH.starts_with("/api/"),
        };
        let request = SchemaField {
            fields: Vec::new(),
            is_required: true,
            description: None,
        };
        table.add(&json(E::schema()), request, &named.collect());
        table.place(E::PATH);
        table
    }

    /// Marks the parameters that are in the path, and removes the others if there is a body.
    fn place(&mut self, template: &str) {
        for name in template.split('/').filter_map(path_parameter) {
            let parameter = self.by_name.get_mut(name);
            let parameter = parameter.unwrap_or_else(|| panic!("{template} has no field {name}"));
            parameter.location = ParameterLocation::Path;
            parameter.is_required = true;
        }
        if self.has_body {
            self.by_name
                .retain(|_, it| it.location == ParameterLocation::Path);
        }
    }

    fn add(&mut self, schema: &Value, field: SchemaField, named: &NamedSchemas) {
        let schema = resolve(schema, named);
        let field = SchemaField {
            description: field.description.clone().or_else(|| {
                let text = schema["description"].as_str();
                text.map(str::to_owned)
            }),
            ..field
        };
        let variants = variants(schema, named);
        if let [only] = variants[..]
            && schema.get("oneOf").is_some()
        {
            return self.add(only, field, named);
        }
        let mut parts = all_of(schema, named);
        parts.extend(variants.iter().copied());
        let is_object = parts.iter().any(|it| it["properties"].is_object());
        // Of a value that is a text or an object, an address can have the text.
        let is_object = is_object && parts.iter().all(|it| it["type"] != "string");
        if !is_object {
            return self.add_value(schema, &parts, field);
        }
        if self.has_body && !field.fields.is_empty() {
            return;
        }
        if field.is_required && !field.fields.is_empty() {
            self.objects.push(field.fields.clone());
        }
        for part in parts {
            let required: Vec<&str> = part["required"]
                .as_array()
                .map_or_else(Vec::new, |it| it.iter().filter_map(Value::as_str).collect());
            for (name, inner) in part["properties"].as_object().into_iter().flatten() {
                let description = inner["description"].as_str().map(str::to_owned);
                let inner_field = SchemaField {
                    fields: [&field.fields[..], std::slice::from_ref(name)].concat(),
                    is_required: field.is_required
                        && variants.is_empty()
                        && required.contains(&&**name),
                    description,
                };
                self.add(inner, inner_field, named);
            }
        }
    }

    fn add_value(&mut self, schema: &Value, parts: &[&Value], field: SchemaField) {
        let Some(name) = field.fields.last().cloned() else {
            // A request without fields.
            return;
        };
        let added = Parameter {
            location: ParameterLocation::Query,
            is_required: field.is_required,
            description: field.description,
            kind: kind(parts),
            schema: schema.clone(),
            fields: field.fields,
        };
        let Some(known) = self.by_name.get_mut(&name) else {
            self.by_name.insert(name, added);
            return;
        };
        assert_eq!(
            known.fields, added.fields,
            "two parameters have the same name"
        );
        // Variants of an enum may share a field, such as the one that tells them apart.
        if let Some(words) = known.schema["enum"].as_array_mut() {
            let others = added.schema["enum"].as_array().cloned().unwrap_or_default();
            let others = others.into_iter().filter(|it| !words.contains(it));
            let others: Vec<Value> = others.collect();
            words.extend(others);
        }
    }

    /// Returns the JSON of a request, given the parameters of its address as written there.
    pub(super) fn decode(
        &self,
        location: ParameterLocation,
        given: impl IntoIterator<Item = (String, String)>,
        request: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        for (name, text) in given {
            let known = self.by_name.get(&name);
            let Some(parameter) = known.filter(|it| it.location == location) else {
                let known = self.by_name.iter();
                let known = known.filter(|it| it.1.location == location);
                let known: Vec<&str> = known.map(|it| &**it.0).collect();
                let among = match known[..] {
                    [] => "is not a parameter here; there are none".to_owned(),
                    _ => format!("is not a parameter here; there are {}", known.join(", ")),
                };
                return Err(InputError::unsupported_value(&*field_name(&name), among).into());
            };
            let value = parameter.kind.parse(&name, &text)?;
            let (last, outer) = parameter.fields.split_last().expect("at least the name");
            let before = insert_object(request, outer).insert(last.clone(), value);
            if before.is_some() {
                return Err(InputError::conflicting_value(&*name, "is given twice").into());
            }
        }
        for object in &self.objects {
            insert_object(request, object);
        }
        Ok(())
    }

    /// Whether fields that the request does not have are an error.
    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Whether the query string of a request may contain anything.
    pub(super) fn ignores_query_string(&self) -> bool {
        self.has_body && !self.is_strict
    }

    /// Returns the parameters by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.by_name.iter().map(|(name, it)| (&**name, it))
    }
}

/// Returns the object at a place of the request, and creates it if there is none.
fn insert_object<'a>(
    mut object: &'a mut Map<String, Value>,
    fields: &[String],
) -> &'a mut Map<String, Value> {
    for name in fields {
        let inner = object.entry(name).or_insert_with(|| Map::new().into());
        object = inner.as_object_mut().expect("a field is one or the other");
    }
    object
}

/// Returns a name for an error, which may come from anybody, at a bounded length.
pub(super) fn field_name(name: &str) -> String {
    name.chars().take(40).collect()
}

/// A field of a request, with the fields that lead to it.
struct SchemaField {
    fields: Vec<String>,
    is_required: bool,
    description: Option<String>,
}

fn resolve<'a>(schema: &'a Value, named: &'a NamedSchemas) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    match name {
        Some(name) => named.get(name).expect("every reference has a schema"),
        None => schema,
    }
}

/// Returns the variants of an enum or an option, without null.
fn variants<'a>(schema: &'a Value, named: &'a NamedSchemas) -> Vec<&'a Value> {
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let variants = variants.map(|it| resolve(it, named));
    let parts = variants.flat_map(|it| match it["allOf"].is_array() {
        true => all_of(it, named),
        false => vec![it],
    });
    parts.filter(|it| it["type"] != "null").collect()
}

/// Returns the schemas that hold together: those of `allOf`, or the schema itself.
fn all_of<'a>(schema: &'a Value, named: &'a NamedSchemas) -> Vec<&'a Value> {
    match schema["allOf"].as_array() {
        Some(parts) => parts.iter().map(|it| resolve(it, named)).collect(),
        None if schema.get("oneOf").is_some() => Vec::new(),
        None => vec![schema],
    }
}

fn kind(parts: &[&Value]) -> ParameterKind {
    let has = |name: &str| {
        parts.iter().any(|it| match &it["type"] {
            Value::Array(types) => types.iter().any(|it| it == name),
            one => one == name,
        })
    };
    let is_number = has("number") || has("integer");
    if has("array") {
        let items = &parts[0]["items"];
        return ParameterKind::List(Box::new(kind(&[items])));
    }
    match (is_number, has("boolean"), has("string")) {
        (true, _, false) => ParameterKind::Number,
        (false, true, _) => ParameterKind::Boolean,
        _ => ParameterKind::Text,
    }
}

impl ParameterKind {
    fn parse(&self, name: &str, text: &str) -> Result<Value, Error> {
        let invalid = |expected: &str| InputError::unparsable_value(name, text, expected).into();
        // A number as JSON writes it; what else Rust can read, such as `inf`, is none.
        let number = || text.parse::<serde_json::Number>().map(Value::Number);
        match self {
            ParameterKind::Text => Ok(Value::String(text.to_owned())),
            ParameterKind::Number => number().map_err(|_| invalid("a number")),
            ParameterKind::Boolean => match text {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err(invalid("`true` or `false`")),
            },
            ParameterKind::List(items) => {
                let items = text.split(',').map(|it| items.parse(name, it));
                items
                    .collect::<Result<Vec<Value>, Error>>()
                    .map(Value::from)
            }
        }
    }
}

//! Names of the document that stay distinct in generated clients.
//!
//! Generators write names in the style of their language: they change case and drop all but letters and digits. Go
//! code has all types, constructors, and constants in one scope.

use std::collections::BTreeMap;

use headroom_api::openapi;
use serde_json::{Map, Value, json};

/// Types that generated Go code brings along.
const GENERATED: [&str; 7] = [
    "APIClient",
    "APIKey",
    "APIResponse",
    "BasicAuth",
    "Configuration",
    "GenericOpenAPIError",
    "ServerConfiguration",
];

/// Words of Go that are no names, or stand for a type of the language.
const RESERVED: [&str; 44] = [
    "any",
    "bool",
    "break",
    "byte",
    "case",
    "chan",
    "complex128",
    "complex64",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "error",
    "fallthrough",
    "float32",
    "float64",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "interface",
    "map",
    "nil",
    "package",
    "range",
    "return",
    "rune",
    "select",
    "string",
    "struct",
    "switch",
    "type",
    "uint",
    "uint64",
    "uintptr",
    "var",
];

/// Names in one scope, each with its origin.
#[derive(Default)]
struct Scope {
    origins: BTreeMap<String, String>,
    collisions: Vec<String>,
}

impl Scope {
    fn add(&mut self, name: &str, origin: &str) {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let mangled: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        if let Some(first) = self.origins.insert(mangled, origin.to_owned()) {
            self.collisions.push(format!("{first} and {origin}"));
        }
    }
}

fn fields<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(name).and_then(Value::as_object).into_iter().flatten()
}

fn texts<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    value.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Names of types, constructors, and constants that become equal.
fn in_package(document: &Value) -> Vec<String> {
    let mut scope = Scope::default();
    for name in GENERATED {
        scope.add(name, "generated code");
    }
    for word in RESERVED {
        scope.add(word, "a word of Go");
    }
    for (schema, content) in fields(&document["components"], "schemas") {
        scope.add(schema, schema);
        for (before, behind) in
            [("New", ""), ("New", "WithDefaults"), ("Nullable", ""), ("NewNullable", "")]
        {
            scope.add(
                &format!("{before}{schema}{behind}"),
                &format!("{before}{schema}{behind} of {schema}"),
            );
        }
        let named = content.get("x-enum-varnames").is_some();
        let constants = if named { "x-enum-varnames" } else { "enum" };
        for constant in texts(content, constants) {
            scope.add(constant, &format!("{constant} of {schema}"));
        }
        if texts(content, constants).count() != texts(content, "enum").count() {
            scope.collisions.push(format!("{schema} does not name each constant"));
        }
    }
    for (_, operation) in fields(document, "paths").flat_map(|(_, path)| path.as_object().unwrap())
    {
        let id = operation["operationId"].as_str().unwrap();
        scope.add(&format!("Api{id}Request"), &format!("operation {id}"));
    }
    scope.collisions
}

/// Properties of one object, with their accessors, that become equal.
fn in_objects(value: &Value, place: &str) -> Vec<String> {
    let mut scope = Scope::default();
    for (property, _) in fields(value, "properties") {
        for (before, behind) in
            [("", ""), ("get", ""), ("get", "Ok"), ("set", ""), ("has", ""), ("unset", "")]
        {
            scope.add(
                &format!("{before}{property}{behind}"),
                &format!("{place}: {before} {property} {behind}"),
            );
        }
    }
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, one)| (name.clone(), one)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, one)| (at.to_string(), one)).collect()
        }
        _ => Vec::new(),
    };
    let inner =
        inner.into_iter().flat_map(|(name, one)| in_objects(one, &format!("{place}/{name}")));
    scope.collisions.into_iter().chain(inner).collect()
}

/// Parameters of one operation that become equal, wherever they are sent.
fn in_operations(document: &Value) -> Vec<String> {
    let operations = fields(document, "paths").flat_map(|(_, path)| path.as_object().unwrap());
    let collisions = operations.flat_map(|(_, operation)| {
        let mut scope = Scope::default();
        let parameters = operation.get("parameters").and_then(Value::as_array);
        for parameter in parameters.into_iter().flatten() {
            let (id, name) = (&operation["operationId"], parameter["name"].as_str().unwrap());
            scope.add(name, &format!("{id}: {} {name}", parameter["in"]));
        }
        scope.collisions
    });
    collisions.collect()
}

/// Alternatives that are references and have more than the reference, which the generator of TypeScript code drops.
fn in_alternatives(document: &Value) -> Vec<String> {
    let schemas = fields(&document["components"], "schemas");
    let described = schemas.flat_map(|(schema, content)| {
        let alternatives = content.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let objects = alternatives.filter_map(Value::as_object);
        let described = objects.filter(|one| one.contains_key("$ref") && one.len() > 1);
        described.map(move |_| format!("{schema} describes an alternative that is a reference"))
    });
    described.collect()
}

fn collisions(document: &Value) -> Vec<String> {
    let objects = in_objects(document, "");
    let others = in_operations(document).into_iter().chain(in_alternatives(document));
    in_package(document).into_iter().chain(objects).chain(others).collect()
}

#[test]
fn names_stay_distinct_in_generated_clients() {
    let document = serde_json::to_value(openapi()).unwrap();
    assert_eq!(collisions(&document), Vec::<String>::new());
}

/// Returns a document with these schemas and no paths.
fn of_schemas(schemas: &Map<String, Value>) -> Value {
    json!({"paths": {}, "components": {"schemas": schemas}})
}

#[test]
fn each_kind_of_collision_is_found() {
    let object = |properties: &[&str]| {
        let properties = properties.iter().map(|name| ((*name).to_owned(), json!({})));
        json!({"type": "object", "properties": properties.collect::<Value>()})
    };
    for (schemas, expected) in [
        (json!({"Task": {}, "NewTask": {}}), "New"),
        (json!({"UserLimit": {}, "user_limit": {}}), "UserLimit and user_limit"),
        (
            json!({"A": {"enum": ["active"]}, "B": {"enum": ["active"]}}),
            "active of A and active of B",
        ),
        (json!({"A": {"enum": ["on", "ON"]}}), "on of A and ON of A"),
        (json!({"A": {"enum": ["task"]}, "Task": {}}), "task of A and Task"),
        (json!({"A": {"enum": ["a", "b"], "x-enum-varnames": ["A_A"]}}), "does not name each"),
        (json!({"Limit": object(&["b", "B"])}), "Limit:"),
        (json!({"Limit": object(&["node-id", "nodeId"])}), "Limit:"),
        (json!({"Limit": object(&["node", "getNode"])}), "Limit:"),
        (json!({"Configuration": {}}), "generated code and Configuration"),
        (
            json!({"Line": {"oneOf": [{"$ref": "#/components/schemas/A", "description": "Of A."}]}}),
            "Line describes",
        ),
        (json!({"Type": {}}), "a word of Go and Type"),
        (json!({"A": {"enum": ["default"]}}), "a word of Go and default of A"),
    ] {
        let Value::Object(schemas) = schemas else { unreachable!() };
        let found = collisions(&of_schemas(&schemas));
        assert!(found.iter().any(|one| one.contains(expected)), "{expected}: {found:?}");
    }
}

#[test]
fn parameters_and_operations_that_become_equal_are_found() {
    let operation = |id: &str| {
        let parameters = json!([{"in": "path", "name": "state"}, {"in": "query", "name": "State"}]);
        json!({"operationId": id, "parameters": parameters})
    };
    let document = json!({"paths": {"/a": {"get": operation("getA"), "put": operation("GetA")}}});
    assert_eq!(collisions(&document).len(), 3);
}

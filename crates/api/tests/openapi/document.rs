//! The document as a whole: the same as before, and without loose ends.

use std::collections::BTreeSet;

use expect_test::expect_file;
use headroom_api::{openapi, routes};
use serde_json::Value;

fn document() -> Value {
    serde_json::to_value(openapi()).expect("the document is JSON")
}

#[test]
fn the_document_is_as_it_was() {
    let text = openapi().to_pretty_json().unwrap() + "\n";
    expect_file!["../../openapi.json"].assert_eq(&text);
}

#[test]
fn the_document_is_openapi_3_1() {
    assert_eq!(document()["openapi"], "3.1.0");
}

/// Call `visit` with every object within `value`, the outermost first.
fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(fields);
            fields.values().for_each(|one| walk(one, visit));
        }
        Value::Array(items) => items.iter().for_each(|one| walk(one, visit)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_referred_to() {
    let document = document();
    let mut referred = BTreeSet::new();
    walk(&document, &mut |fields| {
        if let Some(Value::String(reference)) = fields.get("$ref") {
            let pointer = reference.strip_prefix('#').expect("references stay in the document");
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
            referred.insert(reference.rsplit('/').next().unwrap().to_owned());
        }
    });
    let schemas: BTreeSet<_> =
        document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
    // Frames of streams that no media type can name.
    let frames = ["Bye", "Hello", "TenantEvent"].map(str::to_owned).into();
    let unused: BTreeSet<_> = schemas.difference(&referred).cloned().collect();
    assert_eq!(unused, frames);
}

#[test]
fn every_operation_is_whole() {
    let document = document();
    let tags: Vec<_> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
    for route in routes::all() {
        let name = route.operation;
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        assert_eq!(operation["operationId"], name);
        assert_eq!(operation["x-access"], route.access.as_str(), "{name}");
        assert!(tags.contains(&operation["tags"][0]), "{name}");
        assert!(operation["summary"].as_str().unwrap().ends_with(['.', '`']), "{name}");

        let mut seen = BTreeSet::new();
        let mut in_path = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let place = parameter["in"].as_str().unwrap();
            assert!(seen.insert((place, parameter["name"].as_str().unwrap())), "{name}");
            assert_eq!(parameter["required"], place == "path", "{name}");
            if place == "path" {
                in_path.push(parameter["name"].as_str().unwrap());
            }
        }
        let expected: Vec<_> = route.path_parameters().collect();
        assert_eq!(in_path, expected, "{name}");

        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| matches!(&**status, "200" | "201" | "204" | "301")),
            "{name}"
        );
        for (status, response) in responses {
            assert!(!response["description"].as_str().unwrap().is_empty(), "{name} {status}");
            assert_eq!(
                response.get("content").is_some_and(|content| content != &serde_json::json!({})),
                !matches!(&**status, "204" | "304"),
                "{name} {status}"
            );
        }
        let secured = !operation["security"].as_array().unwrap().is_empty();
        assert_eq!(secured, route.access != routes::Access::Open, "{name}");
    }
}

#[test]
fn headers_of_the_page_are_named() {
    let document = document();
    for (path, status, expected) in [
        ("/ws/v1/partitions", "200", &["Access-Control-Allow-Origin", "Vary"][..]),
        ("/ws/v1/partitions", "401", &["WWW-Authenticate"]),
        ("/ws/v1/partitions", "503", &["Retry-After"]),
        ("/ws/v1/stack", "301", &["Location"]),
        ("/headroom/v1/partitions", "200", &["ETag", "Server-Timing"]),
        ("/headroom/v1/partitions", "304", &["ETag"]),
        ("/headroom/v1/partitions", "429", &["Retry-After"]),
    ] {
        let headers = &document["paths"][path]["get"]["responses"][status]["headers"];
        for header in expected {
            assert!(headers.get(header).is_some(), "{path} {status} lacks {header}");
        }
    }
    let metrics = &document["paths"]["/ws/v1/metrics"]["get"]["responses"]["200"];
    assert!(metrics["headers"].get("Access-Control-Allow-Origin").is_none());
}

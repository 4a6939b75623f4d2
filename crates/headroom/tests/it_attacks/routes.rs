//! Every route that takes a body, with the largest that each of its fields allows.
//!
//! The served `OpenAPI` document says which routes and fields there are, so that a new one is tried without a word here.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{code, tenants};

/// How large one field is made, in bytes.
const LARGE: usize = 2 << 20;

/// How deep a field may lie in its body.
const DEPTH: usize = 4;

/// What the routes of the document have in their paths.
const NAMES: [(&str, &str); 4] = [
    ("{partition}", "default"),
    ("{tenant}", "lab"),
    ("{task}", "held"),
    ("{queue}", "root.tenants.lab"),
];

/// Bodies for the schemas of a document.
struct Bodies<'a> {
    schemas: &'a Value,
}

impl<'a> Bodies<'a> {
    /// What a schema stands for, references and alternatives to nothing followed.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return self.resolved(&self.schemas[name]);
        }
        let some = schema["oneOf"].as_array().and_then(|all| {
            let one = all.iter().find(|one| one["type"] != "null");
            one.filter(|_| all.iter().any(|one| one["type"] == "null"))
        });
        some.map_or(schema, |one| self.resolved(one))
    }

    /// A small value of a schema: what it requires, and no more.
    fn small(&self, schema: &'a Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
            return first.clone();
        }
        if let Some(first) = schema["oneOf"].as_array().and_then(|all| all.first()) {
            return self.small(first);
        }
        match kind(schema) {
            "object" => {
                let required = schema["required"].as_array().into_iter().flatten();
                let fields = required.filter_map(Value::as_str).map(|name| {
                    let field = &schema["properties"][name];
                    let value =
                        if name == "resources" { json!({"vcore": 1}) } else { self.small(field) };
                    (name.to_owned(), value)
                });
                Value::Object(fields.collect())
            }
            "array" => json!([]),
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            _ => json!("x"),
        }
    }

    /// Each way to make a value of a schema large, with where in it.
    fn large(&self, schema: &'a Value, place: &str, depth: usize) -> Vec<(String, Value)> {
        let schema = self.resolved(schema);
        if depth == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        match kind(schema) {
            "object" => {
                for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                    for (within, value) in self.large(field, &format!("{place}.{name}"), depth - 1)
                    {
                        let mut body = self.small(schema);
                        body[name.as_str()] = value;
                        found.push((within, body));
                    }
                }
                let values = &schema["additionalProperties"];
                if values.is_object() || *values == true {
                    let one = if values.is_object() { self.small(values) } else { json!(1) };
                    let size = one.to_string().len() + 16;
                    let many =
                        (0..LARGE / size).map(|number| (format!("k{number:09}"), one.clone()));
                    found.push((format!("{place}{{many}}"), Value::Object(many.collect())));
                    let long = Map::from_iter([("k".repeat(LARGE), one)]);
                    found.push((format!("{place}{{long}}"), Value::Object(long)));
                }
            }
            "array" => {
                let one = self.small(&schema["items"]);
                let size = one.to_string().len() + 8;
                let many = (0..LARGE / size).map(|number| match &one {
                    Value::String(_) => json!(format!("n{number:07}")),
                    one => one.clone(),
                });
                found.push((format!("{place}[many]"), many.collect()));
                let within = self.large(&schema["items"], &format!("{place}[]"), depth - 1);
                found.extend(within.into_iter().map(|(place, one)| (place, json!([one]))));
            }
            "string" if schema["enum"].is_null() => {
                found.push((place.to_owned(), json!("x".repeat(LARGE))));
            }
            "integer" => found.push((place.to_owned(), json!(i64::MAX))),
            _ => {}
        }
        found
    }
}

/// The type of a schema, apart from nothing.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(one) => one,
        Value::Array(all) => {
            all.iter().filter_map(Value::as_str).find(|one| *one != "null").unwrap()
        }
        _ if schema["properties"].is_object() => "object",
        _ => "",
    }
}

/// Queue files that are large in one thing each.
fn queue_files() -> Vec<(&'static str, String)> {
    let head =
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n";
    let filled = |line: &dyn Fn(usize) -> String| {
        let mut text = String::from(head);
        for number in 0.. {
            if text.len() > LARGE {
                break;
            }
            text.push_str(&line(number));
        }
        text
    };
    let mut nested = String::from("partitions: [{name: default");
    for depth in 0..1_000 {
        let _ = write!(nested, ", queues: [{{name: a{depth}");
    }
    vec![
        (
            "queues",
            filled(&|number| match number {
                0 => String::from("        queues:\n"),
                number => format!("          - {{name: q{number}}}\n"),
            }),
        ),
        (
            "types",
            filled(&|number| match number {
                0 => String::from("        resources:\n          max:\n"),
                number => format!("            t{number}: 1\n"),
            }),
        ),
        (
            "properties",
            filled(&|number| match number {
                0 => String::from("        properties:\n"),
                number => format!("          p{number}: x\n"),
            }),
        ),
        (
            "limits",
            filled(&|number| match number {
                0 => String::from("        limits:\n"),
                number => {
                    format!("          - {{limit: l, users: [u{number}], maxapplications: 1}}\n")
                }
            }),
        ),
        ("access", format!("{head}        adminacl: '{}'\n", "u,".repeat(LARGE / 2))),
        ("name", format!("{head}        queues: [{{name: {}}}]\n", "q".repeat(LARGE))),
        ("nested", nested),
        ("brackets", "[".repeat(LARGE)),
        ("comments", "# x\n".repeat(LARGE / 4)),
    ]
}

#[test]
fn no_route_makes_much_of_a_large_body() {
    let (_folder, server) = tenants("attack-routes");
    let held = json!({"id": "held", "resources": {"vcore": 8}, "user": "ann"});
    let (status, answer) = server.post("/headroom/v1/tenants/lab/tasks", &held);
    assert!(matches!(status, 201 | 202), "{answer}");
    let (_, document) = server.send("GET", "/headroom/v1/openapi.json", &[], "");
    let document: Value = serde_json::from_str(&document).unwrap();
    let bodies = Bodies { schemas: &document["components"]["schemas"] };
    let (mut tried, mut routes) = (0, 0);
    let mut worst = (0, String::new());
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let Some(content) = operation["requestBody"]["content"].as_object() else { continue };
            let (media, schema) = content.iter().next().unwrap();
            let schema = &schema["schema"];
            let large: Vec<(String, String)> = if media.ends_with("json") {
                let large = bodies.large(schema, "", DEPTH);
                large.into_iter().map(|(place, body)| (place, body.to_string())).collect()
            } else {
                queue_files().into_iter().map(|(what, text)| (what.to_owned(), text)).collect()
            };
            // A body of nothing but words of a list has nothing that can be large.
            if large.is_empty() {
                continue;
            }
            routes += 1;
            let named =
                NAMES.iter().fold(path.clone(), |path, (key, name)| path.replace(key, name));
            for (place, body) in large {
                let bytes = body.len() as u64;
                let before = server.forget_peak();
                let header = format!("Content-Type: {media}");
                let (status, answer) =
                    server.send(&method.to_uppercase(), &named, &[&header], &body);
                let grown = server.peak().saturating_sub(before);
                let what = format!("{method} {path} with {bytes} bytes at {place:?}");
                assert!(
                    grown <= 64 * bytes + (64 << 20),
                    "{what} grew the process by {grown}: {status}"
                );
                assert!((200..500).contains(&status), "{what}: {status} {}", code(&answer));
                if grown > worst.0 {
                    worst = (grown, what);
                }
                tried += 1;
            }
        }
    }
    println!(
        "{tried} bodies for {routes} routes; the most memory, {} KiB: {}",
        worst.0 >> 10,
        worst.1
    );
    assert!(tried > 100, "{tried} bodies for {routes} routes");
    assert!(server.is_ready());
}

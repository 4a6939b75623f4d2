//! What is asked: every route of the document, for whatever there is, is not there, or is others'.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// Whether a version is expected that everything has.
    pub(super) is_condition_met: bool,
}

impl Asked {
    pub(super) fn get(path: &str) -> Self {
        let (method, path) = ("GET".to_owned(), path.to_owned());
        Self { method, path, body: None, is_condition_met: false }
    }

    pub(super) fn post(path: &str, body: Value) -> Self {
        Self { method: "POST".to_owned(), body: Some(body), ..Self::get(path) }
    }

    pub(super) fn changes(&self) -> bool {
        self.method != "GET"
    }

    /// Whether something of the others, or nothing that is there, is named in it.
    pub(super) fn names_others(&self) -> bool {
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        [&self.path, &body].iter().any(|text| text.contains("zulu") || text.contains("nowhere"))
    }
}

/// Names for a parameter of a path: our own, those of others, and one that is nowhere. A parameter that is not
/// here says that somebody has to think of what might be asked of others by it.
fn names(parameter: &str) -> &'static [&'static str] {
    match parameter {
        "partition" => &["default", "nowhere"],
        "tenant" => &["ours", "dept", "zulu", "zulu-below", "zulu-two", "nowhere"],
        "task" | "application" => {
            &["ours-runs", "ours-waits", "ours-behind", "zulu-runs", "zulu-waits", "nowhere"]
        }
        // No pod is scheduled by these servers.
        "ask" | "pod" => &["ours-waits", "zulu-waits", "nowhere"],
        "queue" => &[
            "root",
            "root.shared",
            "root.tenants",
            "root.tenants.ours",
            "root.tenants.dept",
            "root.tenants.dept.ours",
            "root.tenants.zulu",
            "root.tenants.zulu.own",
            "root.tenants.dept.zulu",
            "root.tenants.zulu-two",
            "root.nowhere",
        ],
        "node" => &["n1", "nowhere"],
        "user" => &["bea", "zulu-user", "nowhere"],
        "group" => &["lab", "zulu-group", "nowhere"],
        "namespace" => &["ours", "zulu", "nowhere"],
        other => panic!("there is a path with {{{other}}}; say here what may be asked by it"),
    }
}

/// What a parameter behind `?` may be, each by itself.
fn values(parameter: &Value) -> Vec<String> {
    let schema = &parameter["schema"];
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    }
    let words: &[&str] = match parameter["name"].as_str().unwrap() {
        "seconds" => &["0"],
        "remedies" => &["all"],
        "from" | "to" => &["2001-09-09T01:46:40Z"],
        "queue" => names("queue"),
        "parent" | "find" | "object" | "subtree" => &["ours", "zulu", "zulu-runs", "nowhere"],
        _ if schema["type"] == "integer" => &["1", "1000"],
        _ => &["ours", "zulu", "t-zulu", "a-1", "k-1", "w-1"],
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Every path that a pattern with names stands for.
fn paths(pattern: &str, parameters: &[&Value]) -> Vec<String> {
    let mut paths = vec![pattern.to_owned()];
    for parameter in parameters.iter().filter(|one| one["in"] == "path") {
        let name = parameter["name"].as_str().unwrap();
        let words: Vec<String> = match parameter["schema"]["enum"].as_array() {
            Some(words) => words.iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
            None => names(name).iter().map(|&name| name.to_owned()).collect(),
        };
        let fill = |path: &String| {
            let fill = |word: &String| path.replace(&format!("{{{name}}}"), word);
            words.iter().map(fill).collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(fill).collect();
    }
    paths
}

/// Everything that the document has.
pub(super) fn all(document: &Value) -> Vec<Asked> {
    let mut all = Vec::new();
    for (pattern, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array();
            let parameters: Vec<&Value> = parameters.into_iter().flatten().collect();
            let bodies: Vec<Option<Value>> = match operation.get("requestBody") {
                None => vec![None],
                Some(_) => [
                    json!({}),
                    json!({"resources": {"vcore": "1"}}),
                    json!({"id": "new", "parent": "zulu", "resources": {"vcore": "1"}}),
                    json!({"outcome": "failed"}),
                    json!({"tenant": "ours", "resources": {"vcore": "1"}, "members": 2}),
                    json!({"tenant": "zulu", "resources": {"vcore": "1"}}),
                    json!({"queue": "root.tenants.zulu", "resources": {"vcore": "1"}}),
                ]
                .map(Some)
                .to_vec(),
            };
            for path in paths(pattern, &parameters) {
                let queries = parameters.iter().filter(|one| one["in"] == "query");
                let queries = queries.flat_map(|one| {
                    let name = one["name"].as_str().unwrap();
                    values(one).into_iter().map(move |value| format!("?{name}={value}"))
                });
                for query in [String::new()].into_iter().chain(queries) {
                    let path = format!("{path}{query}");
                    for body in &bodies {
                        let method = method.to_uppercase();
                        let is_condition_met = method != "GET";
                        all.push(Asked {
                            method,
                            path: path.clone(),
                            body: body.clone(),
                            is_condition_met,
                        });
                    }
                }
            }
        }
    }
    all
}

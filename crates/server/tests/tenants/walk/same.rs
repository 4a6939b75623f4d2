//! What was answered, without what every answer has to itself: numbers of records, ids of requests, hashes.

use axum::http::response::Parts;
use serde_json::Value;

/// Fields that differ between servers for every caller: positions in the order of all events, and the chain of all
/// records of the audit log.
const OWN: [&str; 9] = [
    "ledgerVersion",
    "sequence",
    "seq",
    "epoch",
    "requestId",
    "hash",
    "prevHash",
    "cursor",
    "instance",
];

/// Headers that are of an answer alone.
const OWN_HEADERS: [&str; 5] = ["x-request-id", "etag", "content-length", "date", "server-timing"];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) text: String,
}

impl Said {
    pub(super) fn of(parts: &Parts) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), value.to_str().unwrap_or_default().to_owned())
        });
        Self { status: parts.status.as_u16(), headers: headers.collect(), text: String::new() }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.text += &String::from_utf8_lossy(bytes);
    }

    pub(super) fn is_stream(&self) -> bool {
        self.status == 200
            && self.headers.iter().any(|(_, value)| value.starts_with("text/event-stream"))
    }

    /// Without what is of this answer alone.
    pub(super) fn bare(&self) -> Self {
        let of_all = |(name, _): &&(String, String)| !OWN_HEADERS.contains(&&**name);
        let headers = self.headers.iter().filter(of_all).cloned().collect();
        let lines = self.text.lines().filter(|line| !line.starts_with("id:")).map(|line| {
            let (before, json) = match line.strip_prefix("data:") {
                Some(json) => ("data:", json),
                None => ("", line),
            };
            serde_json::from_str(json).map_or_else(
                |_| line.to_owned(),
                |mut value: Value| {
                    blank(&mut value);
                    format!("{before}{value}")
                },
            )
        });
        Self { status: self.status, headers, text: lines.collect::<Vec<_>>().join("\n") }
    }
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if OWN.contains(&&**name) && !value.is_null() {
                    *value = Value::from("…");
                } else {
                    blank(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank),
        _ => {}
    }
}

//! A stand-in for the API server, which gives written answers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;
use headroom_kubernetes::client::Api;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use kube::client::Body;
use serde_json::{Value, json};

/// An answer.
pub struct Answer {
    code: u16,
    retry_after: Option<u32>,
    parts: Vec<String>,
    stays_open: bool,
}

impl Answer {
    /// Returns an answer with one object.
    pub fn object(code: u16, object: &Value) -> Self {
        Self { code, retry_after: None, parts: vec![object.to_string()], stays_open: false }
    }

    /// Returns a refusal.
    pub fn refusal(code: u16) -> Self {
        let status = json!({ "kind": "Status", "code": code, "message": "refused" });
        Self::object(code, &status)
    }

    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Returns a watch with these events, which ends then.
    pub fn watch(events: &[Value]) -> Self {
        let parts = events.iter().map(|event| format!("{event}\n")).collect();
        Self { code: 200, retry_after: None, parts, stays_open: false }
    }

    /// Ends the connection within one more event.
    pub fn torn(mut self) -> Self {
        self.parts.push(r#"{"type":"ADDED","obj"#.to_owned());
        self
    }

    /// Keeps the watch open.
    pub fn open(self) -> Self {
        Self { stays_open: true, ..self }
    }
}

/// A server that gives its answers in their order. Then, it never answers.
#[derive(Clone, Default)]
pub struct StandIn {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            requests: Arc::default(),
        }
    }

    /// Returns the requests so far, as method and path.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn api(&self) -> Api {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (method, uri) = (request.method(), request.uri());
            server.requests.lock().unwrap().push(format!("{method} {uri}"));
            let answer = server.answers.lock().unwrap().pop_front();
            async move {
                match answer {
                    Some(answer) => Ok::<_, Infallible>(response(answer)),
                    None => std::future::pending().await,
                }
            }
        });
        Api::from(kube::Client::new(service, "default"))
    }
}

fn response(answer: Answer) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let frames = stream::iter(answer.parts)
        .map(|part| Ok::<_, Infallible>(http_body::Frame::data(Bytes::from(part))));
    let body = if answer.stays_open {
        StreamBody::new(frames.chain(stream::pending())).boxed_unsync()
    } else {
        StreamBody::new(frames).boxed_unsync()
    };
    let mut response = Response::builder().status(answer.code);
    if let Some(seconds) = answer.retry_after {
        response = response.header("Retry-After", seconds);
    }
    response.body(body).unwrap()
}

/// Returns an event about a node.
pub fn event(kind: &str, node: &Value) -> Value {
    json!({ "type": kind, "object": node })
}

/// Returns a node.
pub fn node(name: &str, uid: &str, version: u32, label: &str) -> Value {
    json!({
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": uid,
            "resourceVersion": version.to_string(),
            "labels": { "label": label },
        },
    })
}

/// Returns a bookmark.
pub fn bookmark(version: u32, ends_list: bool) -> Value {
    let annotations =
        if ends_list { json!({ "k8s.io/initial-events-end": "true" }) } else { json!({}) };
    let metadata = json!({ "resourceVersion": version.to_string(), "annotations": annotations });
    event("BOOKMARK", &json!({ "kind": "Node", "metadata": metadata }))
}

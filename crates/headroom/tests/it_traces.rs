//! Traces of a server, as a collector gets them.

#![cfg(feature = "otlp")]
#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use support::Folder;
use support::server::Server;
use tokio::runtime::Runtime;
use tonic::{Request, Response, Status, async_trait};

/// A collector that keeps what it is sent.
#[derive(Clone, Default)]
struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    services: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for of_service in request.into_inner().resource_spans {
            let attributes = of_service.resource.unwrap_or_default().attributes;
            self.services.lock().unwrap().extend(text(&attributes, "service.name"));
            let spans = of_service.scope_spans.into_iter().flat_map(|scope| scope.spans);
            self.spans.lock().unwrap().extend(spans);
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// One that runs as long as the runtime; and its URL.
    fn start() -> (Runtime, Self, String) {
        let runtime = Runtime::new().unwrap();
        let collector = Self::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = TraceServiceServer::new(collector.clone());
        let router = tonic::service::Routes::new(service).into_axum_router();
        runtime.spawn(async move { axum::serve(listener, router).await });
        (runtime, collector, url)
    }

    /// Wait for something in what was sent so far.
    fn find<T>(&self, what: &str, find: impl Fn(&[Span]) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            let spans = self.spans.lock().unwrap().clone();
            if let Some(found) = find(&spans) {
                return found;
            }
            let names: std::collections::BTreeSet<_> =
                spans.iter().map(|span| span.name.clone()).collect();
            assert!(begin.elapsed() < Duration::from_secs(30), "no {what} among {names:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|one| one.key == key)?.value.as_ref()?.value.as_ref()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match value(attributes, key)? {
        Value::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

fn number(span: &Span, key: &str) -> Option<i64> {
    match value(&span.attributes, key)? {
        Value::IntValue(number) => Some(*number),
        _ => None,
    }
}

/// Sends a request within a trace of the client.
fn get_within(server: &Server, path: &str, parent: &str) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\ntraceparent: {parent}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

#[test]
fn requests_commands_and_flushes_are_spans() {
    let (_runtime, collector, url) = Collector::start();
    let folder = Folder::new("traces");
    let arguments = ["--demo", "--otlp-endpoint", &url, "--otlp-sampling", "1"];
    let server = Server::start(&folder, &arguments);
    assert!(server.get("/ws/v1/partitions").starts_with("HTTP/1.1 200 "));
    let request = collector.find("request", |spans| {
        spans.iter().find(|span| span.name == "GET /ws/v1/partitions").cloned()
    });
    assert_eq!(request.kind(), SpanKind::Server);
    assert_eq!(number(&request, "http.response.status_code"), Some(200));
    assert!(text(&request.attributes, "headroom.request_id").is_some_and(|id| !id.is_empty()));
    assert!(request.parent_span_id.is_empty());
    // What an RM asks for, by a stream of gRPC, and the flush that made it durable.
    let (ask, message) = collector.find("ask within a message", |spans| {
        let ask = spans.iter().find(|span| span.name == "Ask")?;
        let of = |span: &&Span| span.span_id == ask.parent_span_id;
        Some((ask.clone(), spans.iter().find(of)?.clone()))
    });
    assert_eq!((&*message.name, &ask.trace_id), ("AllocationRequest", &message.trace_id));
    let sequence = number(&ask, "headroom.sequence").unwrap();
    let flush = collector.find("flush of the ask", |spans| {
        let holds = |span: &&Span| {
            let ends = ["headroom.sequence.first", "headroom.sequence.last"];
            let [Some(first), Some(last)] = ends.map(|key| number(span, key)) else { return false };
            span.name == "flush" && (first..=last).contains(&sequence)
        };
        spans.iter().find(holds).cloned()
    });
    assert!(ask.end_time_unix_nano >= flush.end_time_unix_nano, "it is answered when durable");
    // A request within a trace stays in it.
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    get_within(&server, "/ws/v1/clusters", &format!("00-{trace}-{parent}-01"));
    let within = collector.find("request of the trace", |spans| {
        spans.iter().find(|span| span.name == "GET /ws/v1/clusters").cloned()
    });
    let number = |hex| u128::from_str_radix(hex, 16).unwrap();
    let of = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    assert_eq!((of(&within.trace_id), of(&within.parent_span_id)), (number(trace), number(parent)));
    assert!(collector.services.lock().unwrap().iter().all(|name| name == "headroom"));
    let metrics = server.get("/metrics");
    let count = |result: &str| {
        let name = format!("headroom_trace_spans_total{{result=\"{result}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&*name));
        line.unwrap_or_else(|| panic!("no {name}")).parse::<u64>().unwrap()
    };
    assert!(count("exported") > 0);
    assert_eq!((count("dropped"), count("failed")), (0, 0));
    // Spans are no lines of the log, and say nothing of those within them.
    assert!(!folder.read("log").contains("headroom::traces"), "{}", folder.read("log"));
}

#[test]
fn nothing_is_traced_that_was_not_chosen() {
    let (_runtime, collector, url) = Collector::start();
    let folder = Folder::new("traces-few");
    let server = Server::start(&folder, &["--otlp-endpoint", &url, "--otlp-sampling", "0"]);
    server.get("/ws/v1/partitions");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    get_within(&server, "/ws/v1/clusters", parent);
    collector.find("request that is part of a trace", |spans| (!spans.is_empty()).then_some(()));
    let names: Vec<_> =
        collector.spans.lock().unwrap().iter().map(|span| span.name.clone()).collect();
    assert_eq!(names, ["GET /ws/v1/clusters"]);
}

#[test]
fn a_collector_that_says_nothing_holds_up_nobody() {
    // It takes connections, as far as the system does that by itself, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", silent.local_addr().unwrap());
    for (number, url) in [nowhere.as_str(), "http://127.0.0.1:1"].into_iter().enumerate() {
        let folder = Folder::new(&format!("traces-gone-{number}"));
        let arguments = ["--demo", "--otlp-endpoint", url, "--otlp-sampling", "1"];
        let mut server = Server::start(&folder, &arguments);
        let begin = Instant::now();
        while !server.get("/ws/v1/partition/default/nodes").contains("cpu-1") {
            assert!(begin.elapsed() < Duration::from_secs(20), "it does not go on");
            std::thread::sleep(Duration::from_millis(50));
        }
        server.signal("TERM");
        let (status, took) = server.end();
        assert_eq!(status.code(), Some(0), "{}", folder.read("log"));
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn what_is_no_collector_is_refused_at_the_start() {
    let folder = Folder::new("traces-refused");
    for (arguments, expected) in [
        (&["--otlp-endpoint", "collector:4317"][..], "expected a URL without a path"),
        (&["--otlp-endpoint", "http://a/v1/traces"], "expected a URL without a path"),
        (&["--otlp-endpoint", "http://a", "--otlp-sampling", "2"], "expected a number from 0 to 1"),
        (&["--otlp-sampling", "0.5"], "`otlp.endpoint` is not set"),
    ] {
        let ran = folder.run(&[&["serve"], arguments].concat());
        assert_eq!(ran.code, Some(1), "{arguments:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
}

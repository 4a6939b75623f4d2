//! `/debug`: the state dump and what can be known of the process.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::GzDecoder;
use futures_util::future::BoxFuture;
use headroom_api::wsv1::{StateDump, to_json_indented};
use headroom_server::rest::{Manager, RestSettings, RmMetadata, Tags};
use serde_json::{Map, Value, json};

use crate::support::{Exchange, Options, Server};

#[tokio::test]
async fn the_dump_has_everything_in_its_order() {
    let server = Server::start().await;
    server.furnish().await;
    server.turn(60_000).await;
    server.accept(headroom_core::Command::AddNode(crate::support::node("n3", 1))).await;
    let answer = server.get("/debug/fullstatedump").await;
    assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"));
    let text = answer.text();
    let dump: StateDump = serde_json::from_str(&text).unwrap();
    // It is sent piece by piece; read and written as a whole it is the same.
    let again = String::from_utf8(to_json_indented(&dump).unwrap()).unwrap();
    assert_eq!(text, again);
    assert_eq!(dump.partitions.len(), 2);
    let ids: Vec<&str> = dump.applications.iter().map(|one| one.application_id.as_str()).collect();
    assert_eq!(ids, ["app-1", "app-2", "app-3", "app-refused"]);
    assert_eq!(dump.nodes[0].nodes_info.len(), 3);
    assert_eq!(dump.nodes[1].nodes_info, []);
    assert_eq!((dump.app_history.len(), dump.container_history.len()), (2, 2));
    assert_eq!(dump.queues[0].children.len(), 2);
    assert_eq!(dump.rm_diagnostics["empty"], "the resource manager has no state dump");
    assert_eq!(dump.log_level, "info");
    assert_eq!(dump.config.unwrap().partitions.len(), 2);
    assert_eq!(dump.placement_rules[1].rules[1].name, "recovery");
}

#[tokio::test]
async fn a_dump_of_nothing_is_a_dump() {
    let server = Server::with(Options { queues: None, ..Options::default() }).await;
    let dump = server.client().get_state_dump().await.unwrap();
    assert_eq!((dump.partitions.len(), dump.nodes.len()), (0, 0));
}

#[tokio::test]
async fn a_dump_of_too_much_is_refused() {
    let settings = RestSettings { dump_objects_max: 10, ..RestSettings::default() };
    let server = Server::with(Options { settings, ..Options::default() }).await;
    server.furnish().await;
    let answer = server.get("/debug/fullstatedump").await;
    assert_eq!(answer.status, 500);
    let said = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("at most 10"), "{said}");
}

#[tokio::test]
async fn what_can_be_known_of_the_process_is_told() {
    let server = Server::start().await;
    let stack = server.client().get_stack().await.unwrap();
    assert!(stack.contains("headroom-writer") || stack.contains("headroom-write"), "{stack}");
    let stack = server.get("/debug/stack").await;
    assert_eq!(stack.header("content-type"), Some("text/plain; charset=utf-8"));
    let line = server.get("/debug/pprof/cmdline").await.text();
    assert!(line.split('\0').next().unwrap().contains("wsv1"), "{line}");
    assert_eq!(server.get("/debug/pprof/symbol").await.text(), "num_symbols: 1\n");
    assert!(server.get("/debug/pprof/").await.text().starts_with("<!DOCTYPE html>"));
    for name in ["allocs", "block", "goroutine", "mutex", "threadcreate", "trace"] {
        let answer = server.get(&format!("/debug/pprof/{name}")).await;
        assert_eq!((answer.status, &answer.json()["status_code"]), (501, &json!(501)), "{name}");
    }
    assert!(profile(&server, "pprof/heap").await.contains("inuse_space"));
    let heap = server.get("/debug/pprof/heap?debug=1").await;
    assert!(heap.text().starts_with("memory in use") && heap.text().lines().count() > 3);
}

/// A profile that is asked for, in the clear.
async fn profile(server: &Server, path: &str) -> String {
    let raw = server.raw().header("Accept-Encoding", "gzip");
    unpacked(&raw.send("GET", &format!("/debug/{path}")).await, path)
}

/// What a profile has in the clear: its texts, among bytes of other kinds.
fn unpacked(answer: &Exchange, path: &str) -> String {
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"), "{path}");
    assert_eq!(answer.header("content-encoding"), None, "it is compressed already");
    assert!(answer.header("content-disposition").unwrap().starts_with("attachment"));
    let mut bytes = Vec::new();
    GzDecoder::new(&*answer.body).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Uses the processor until `end` is set.
#[inline(never)]
fn spin_until(end: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !end.load(Ordering::Relaxed) {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
    }
    sum
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_shows_where_processor_time_goes_and_one_is_taken_at_a_time() {
    let server = Server::start().await;
    let end = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&end);
    let busy = std::thread::Builder::new().name("busy-thread".into());
    let busy = busy.spawn(move || spin_until(&told)).unwrap();
    // Two at once, long enough to meet however slow the machine is: whichever comes later is refused.
    let take = |path| {
        let raw = server.raw().header("Accept-Encoding", "gzip");
        async move { raw.send("GET", path).await }
    };
    let (one, other) =
        tokio::join!(take("/debug/profile?seconds=4"), take("/debug/pprof/profile?seconds=4"));
    let (first, second) = if one.status == 200 { (one, other) } else { (other, one) };
    let first = unpacked(&first, "the profile");
    assert_eq!((second.status, &second.json()["status_code"]), (429, &json!(429)));
    assert!(second.header("retry-after").is_some());
    for expected in ["nanoseconds", "spin_until", "busy-thread", "debug.rs"] {
        assert!(first.contains(expected), "{expected} is not in the profile");
    }
    // The one before has left nothing behind that keeps another from being taken.
    assert!(profile(&server, "pprof/profile?seconds=1").await.contains("spin_until"));
    end.store(true, Ordering::Relaxed);
    busy.join().unwrap();
    for wrong in ["301", "-1", "soon"] {
        let answer = server.get(&format!("/debug/profile?seconds={wrong}")).await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

/// An RM that has registered.
#[derive(Debug, Default)]
struct Registered {
    is_recovering: AtomicBool,
}

impl RmMetadata for Registered {
    fn manager(&self) -> Option<Manager> {
        let build = BTreeMap::from([("buildVersion".to_owned(), "1.9".to_owned())]);
        let is_recovering = self.is_recovering.load(Ordering::Relaxed);
        Some(Manager { id: "mycluster".into(), build, is_recovering })
    }

    fn tags(&self, partition: &str, key: &str) -> Option<Tags> {
        let pod = format!("{partition}/{key}");
        Some(BTreeMap::from([("kubernetes.io/meta/podName".to_owned(), pod)]))
    }

    fn diagnostics(&self) -> BoxFuture<'_, Result<Option<Map<String, Value>>, String>> {
        Box::pin(std::future::ready(Err("it took too long".to_owned())))
    }

    fn log_level(&self) -> String {
        "debug".to_owned()
    }
}

#[tokio::test]
async fn what_the_rm_says_is_shown_where_it_belongs() {
    let beside = Arc::new(Registered::default());
    let server =
        Server::with(Options { beside: Arc::clone(&beside) as _, ..Options::default() }).await;
    server.furnish().await;
    beside.is_recovering.store(true, Ordering::Relaxed);
    assert_eq!(server.json("/ws/v1/partitions").await, json!([]), "applications can be missing");
    beside.is_recovering.store(false, Ordering::Relaxed);
    let cluster = &server.json("/ws/v1/clusters").await[0];
    let build = json!([{"buildVersion": "1.9", "rmId": "mycluster"}]);
    assert_eq!(cluster["rmBuildInformation"], build);
    assert_eq!(server.json("/ws/v1/partitions").await[0]["clusterId"], "mycluster");
    let nodes = server.client().get_nodes("default").await.unwrap();
    assert_eq!(nodes[0].attributes["si/node-partition"], "[mycluster]default");
    let foreign = &nodes[0].foreign_allocations[0];
    assert_eq!(foreign.allocation_tags["kubernetes.io/meta/podName"], "default/daemon");
    let one = server.client().get_application("default", "app-1").await.unwrap();
    assert_eq!(one.requests[0].allocation_tags["kubernetes.io/meta/podName"], "default/a2");
    let dump = server.client().get_state_dump().await.unwrap();
    assert_eq!(dump.rm_diagnostics["Error"], "it took too long");
    assert_eq!(dump.log_level, "debug");
}

//! Checklist 4: batches and streams of events.

use std::collections::BTreeMap;
use std::time::Duration;

use headroom_core::{Command, Name};
use headroom_engine::Origin;
use headroom_engine::testkit::MemoryJournal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::{Options, QUEUES, START, Server, node};

fn extra(entries: &[(&str, &str)]) -> Options {
    let extra = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Options { extra: extra.collect(), ..Options::default() }
}

/// Drain a node and take it back, so often; each way is one event.
async fn toggle(server: &Server, times: usize) {
    for time in 0..times {
        let (partition, node) = (Name::new("default"), Name::new("n1"));
        let schedulable = time % 2 == 1;
        server.accept(Command::SetSchedulable { partition, node, schedulable }).await;
    }
}

#[tokio::test]
async fn batches_page_through_what_is_kept() {
    let server = Server::with(Options { queues: None, ..Options::default() }).await;
    let empty = server.json("/ws/v1/events/batch").await;
    let bounds = (&empty["LowestID"], &empty["HighestID"], &empty["EventRecords"]);
    assert_eq!(bounds, (&json!(0), &json!(0), &Value::Null));
    server.service.queue_file.apply(Origin::default(), QUEUES).await.unwrap();
    server.accept(Command::AddNode(node("n1", 1))).await;
    toggle(&server, 20).await;
    let all = server.client().get_events(0, None).await.unwrap();
    let newest = all.highest_id;
    assert_eq!((all.lowest_id, all.event_records.len() as u64), (0, newest + 1));
    let first = server.json("/ws/v1/events/batch?count=1").await["EventRecords"].take();
    let at = i64::try_from(START.as_millis()).unwrap() * 1_000_000;
    let root = json!({
        "type": 4,
        "objectID": "root",
        "timestampNano": at,
        "eventChangeType": 2,
        "resource": {},
    });
    assert_eq!(first, json!([root]), "values of nothing are left out, but for the resource");
    let of_node = all.event_records.iter().filter(|one| one.object_id == "n1");
    let kinds: Vec<(i32, i32)> = of_node.map(|one| (one.kind, one.event_change_type)).collect();
    // It may be used, and it came; then it is drained and taken back.
    assert_eq!(kinds[..2], [(3, 1), (3, 2)]);
    let mut paged = Vec::new();
    while paged.len() as u64 <= newest {
        let batch = server.client().get_events(paged.len() as u64, Some(7)).await.unwrap();
        assert!(batch.event_records.len() <= 7);
        paged.extend(batch.event_records);
    }
    assert_eq!(paged, all.event_records);
    let beyond = server.json(&format!("/ws/v1/events/batch?start={}", newest + 1)).await;
    assert_eq!(beyond["EventRecords"], Value::Null);
    assert_eq!(beyond["HighestID"], newest);
}

#[tokio::test]
async fn the_oldest_are_forgotten_and_settings_hold_at_once() {
    let options = extra(&[("event.ringBufferCapacity", "10"), ("event.RESTResponseSize", "4")]);
    let server = Server::with(options).await;
    server.accept(Command::AddNode(node("n1", 1))).await;
    toggle(&server, 20).await;
    let lost = server.client().get_events(0, None).await.unwrap();
    assert_eq!(lost.highest_id - lost.lowest_id, 9);
    assert_eq!(lost.event_records, []);
    let some = server.client().get_events(lost.lowest_id, Some(1_000)).await.unwrap();
    assert_eq!(some.event_records.len(), 4, "a larger count means the most");
    let extra = [("event.RESTResponseSize".to_owned(), "6".to_owned())].into();
    server.service.queue_file.set_extra(extra);
    let more = server.client().get_events(lost.lowest_id, None).await.unwrap();
    assert_eq!(more.event_records.len(), 6);
    // What an RM does not name stays as the server has it.
    toggle(&server, 20).await;
    let kept = server.client().get_events(0, None).await.unwrap();
    assert_eq!(kept.highest_id - kept.lowest_id, 9);
    server.service.queue_file.set_extra(BTreeMap::new());
    let fewer = server.client().get_events(kept.lowest_id, None).await.unwrap();
    assert_eq!(fewer.event_records.len(), 4, "the server's own number holds again");
}

#[tokio::test]
async fn another_process_has_another_name() {
    let journal = MemoryJournal::default();
    let before = Server::on(&journal, Options::default()).await;
    let one = before.client().get_events(0, None).await.unwrap().instance_uuid;
    drop(before);
    let after = Server::on(&journal, Options { queues: None, ..Options::default() }).await;
    let other = after.client().get_events(0, None).await.unwrap().instance_uuid;
    assert!(one != other && one.len() == 36, "{one} {other}");
}

#[tokio::test]
async fn a_stream_tells_the_past_and_then_what_happens_without_a_gap() {
    let server = Server::start().await;
    server.accept(Command::AddNode(node("n1", 1))).await;
    toggle(&server, 6).await;
    let raw = server.raw().header("Accept-Encoding", "gzip");
    let mut lines = Lines::of(raw.open("GET", "/ws/v1/events/stream?count=3").await).await;
    assert!(lines.head.contains("content-type: application/json; charset=UTF-8"));
    assert!(!lines.head.contains("content-encoding") && lines.head.contains("chunked"));
    let instance = server.client().get_events(0, None).await.unwrap().instance_uuid;
    assert_eq!(lines.next().await.unwrap(), json!({"InstanceUUID": instance}));
    toggle(&server, 4).await;
    let mut heard = Vec::new();
    for _ in 0..7 {
        heard.push(lines.next().await.unwrap());
    }
    let all = server.json("/ws/v1/events/batch").await["EventRecords"].take();
    let all = all.as_array().unwrap();
    assert_eq!(heard, all[all.len() - 7..]);
    let more = server.raw().open("GET", "/ws/v1/events/stream?count=99999").await;
    let mut more = Lines::of(more).await;
    more.next().await.unwrap();
    assert_eq!(more.next().await.unwrap(), all[0], "more than there are is all there are");
}

#[tokio::test]
async fn streams_are_limited_in_all_and_by_the_name_of_the_server() {
    let options = extra(&[("event.maxStreams", "20")]);
    let server = Server::with(options).await;
    let open = |host: &'static str| server.raw().header("Host", host).open("GET", STREAM);
    let mut streams = Vec::new();
    for _ in 0..15 {
        streams.push(Lines::of(open("one").await).await);
    }
    let sixteenth = server.raw().header("Host", "one").send("GET", "/ws/v1/events/stream?count=x");
    let refused = sixteenth.await;
    assert_eq!(refused.status, 503, "the limit wins over a bad count");
    assert_eq!(refused.json()["message"], "Too many streaming connections");
    for _ in 0..5 {
        streams.push(Lines::of(open("two").await).await);
    }
    let refused = server.raw().header("Host", "three").send("GET", STREAM).await;
    assert_eq!(refused.status, 503, "twenty are all there may be");
    let dump = server.json("/debug/fullstatedump").await;
    assert_eq!(dump["eventStreams"].as_array().unwrap().len(), 20);
    assert_eq!(dump["eventStreams"][0]["Name"], "one");
    drop(streams);
    places_are_free(&server).await;
}

const STREAM: &str = "/ws/v1/events/stream";

#[tokio::test]
async fn a_reader_that_is_too_slow_is_told_so_in_a_last_line() {
    let server = Server::with(extra(&[("event.ringBufferCapacity", "5000")])).await;
    server.accept(Command::AddNode(node("n1", 1))).await;
    let mut slow = Lines::of(server.raw().open("GET", STREAM).await).await;
    slow.next().await.unwrap();
    // More than the buffers of a connection and the lines that wait for it hold.
    let toggle = |schedulable| {
        let (partition, node) = (Name::new("default"), Name::new("n1"));
        headroom_engine::Submission::from(Command::SetSchedulable { partition, node, schedulable })
    };
    for _ in 0..120 {
        let all = (0..1_000).map(|time| toggle(time % 2 == 1)).collect();
        server.handle.submit_all(all).await.unwrap();
    }
    let (mut count, mut last) = (0, Value::Null);
    while let Some(line) = slow.next().await {
        count += 1;
        last = line;
    }
    assert!(count < 120_000, "{count} lines");
    let said = "Event stream was closed by the producer";
    assert_eq!(last, json!({"status_code": 200, "message": said, "description": said}));
    places_are_free(&server).await;
}

async fn places_are_free(server: &Server) {
    for _ in 0..500 {
        if server.rest.streams.count() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("places are not free again");
}

/// The lines of a chunked answer, read as they come.
struct Lines {
    head: String,
    stream: BufReader<TcpStream>,
    left: Vec<u8>,
}

impl Lines {
    async fn of(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        Self { head, stream, left: Vec::new() }
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.left.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.left.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let mut size = String::new();
            let read = self.stream.read_line(&mut size);
            tokio::time::timeout(Duration::from_secs(30), read).await.unwrap().unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            if size == 0 {
                return None;
            }
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).await.unwrap();
            self.left.extend_from_slice(&chunk[..size]);
        }
    }
}

//! What happens, as a stream.

use std::time::Duration;

use headroom_api::client::{ClientError, EventFilter, Frames};
use headroom_api::headroomv1::{Event, Frame};
use headroom_core::{Command, Name, Submit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::time::timeout;

use crate::server::Server;

async fn next(frames: &mut Frames) -> Option<Frame> {
    timeout(Duration::from_secs(20), frames.next()).await.expect("it comes soon").unwrap()
}

/// The next events, up to the first of this kind.
async fn until(frames: &mut Frames, kind: &str) -> Vec<(Event, bool)> {
    let mut events = Vec::new();
    loop {
        match next(frames).await {
            Some(Frame::Event { event, last }) => {
                let found = event.kind == kind;
                events.push((event, last));
                if found {
                    return events;
                }
            }
            Some(Frame::Hello(_)) => {}
            other => panic!("{other:?} before {kind}"),
        }
    }
}

#[tokio::test]
async fn a_stream_says_hello_and_goes_on_with_what_happens() {
    let server = Server::furnished().await;
    let mut frames = server.client().watch_events(&EventFilter::default(), None).await.unwrap();
    let Some(Frame::Hello(hello)) = next(&mut frames).await else { panic!("no hello") };
    assert_eq!(hello.sequence, server.service.engine.feed().newest());
    assert_eq!(hello.server_time.to_string(), "2026-11-22T09:00:00Z");
    server.application("app1", "ann", "root.a").await;
    server.ask("app1", "a1", 2).await;
    server.turn(1).await;
    let events = until(&mut frames, "allocationGranted").await;
    assert_eq!(events[0].0.kind, "applicationAccepted");
    assert_eq!(events[0].0.sequence, hello.sequence + 1);
    // Of each record the last event carries its number.
    for pair in events.windows(2) {
        let same = pair[0].0.sequence == pair[1].0.sequence;
        assert_eq!(pair[0].1, !same, "{pair:?}");
    }
}

#[tokio::test]
async fn whoever_comes_back_misses_nothing() {
    let server = Server::furnished().await;
    let client = server.client();
    let mut frames = client.watch_events(&EventFilter::default(), None).await.unwrap();
    server.application("app1", "ann", "root.a").await;
    let seen = until(&mut frames, "applicationAccepted").await.pop().unwrap().0.sequence;
    drop(frames);
    server.node("n2", 1).await;
    server.node("n3", 1).await;
    let mut frames = client.watch_events(&EventFilter::default(), Some(seen)).await.unwrap();
    let events = until(&mut frames, "nodeAdded").await;
    assert_eq!((&*events[0].0.object, events[0].0.sequence), ("n2", seen + 1));
    assert_eq!(until(&mut frames, "nodeAdded").await[0].0.object, "n3");

    let from = EventFilter {
        from: Some("1".into()),
        kind: Some("nodeAdded".into()),
        ..EventFilter::default()
    };
    let mut frames = client.watch_events(&from, None).await.unwrap();
    for node in ["n1", "n2", "n3"] {
        let events = until(&mut frames, "nodeAdded").await;
        assert_eq!((&*events[0].0.object, events.len()), (node, 1));
    }
}

#[tokio::test]
async fn a_place_that_is_none_of_this_server_is_gone() {
    let server = Server::with(|settings| settings.retention.entries = 2).await;
    server.configure(crate::server::QUEUES).await;
    for number in 0..5 {
        server.node(&format!("n{number}"), 1).await;
    }
    for after in [0, 2, 1_000] {
        let refused = server.client().watch_events(&EventFilter::default(), Some(after)).await;
        match refused {
            Err(ClientError::Refused(refusal)) => {
                assert!(refusal.to_string().contains("Start again"), "{after}: {refusal}");
            }
            other => panic!("{after}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_stream_ends_with_the_engine_and_says_so() {
    let server = Server::furnished().await;
    let mut frames = server.client().watch_events(&EventFilter::default(), None).await.unwrap();
    assert!(matches!(next(&mut frames).await, Some(Frame::Hello(_))));
    server.stop_engine().await;
    let Some(Frame::Bye(bye)) = next(&mut frames).await else { panic!("no bye") };
    assert_eq!(bye.reason, "stopping");
    assert!(next(&mut frames).await.is_none());
}

/// A client that reads nothing: the server keeps a few pieces for it and no more, tells it that
/// it was too slow, and goes on for others.
#[tokio::test]
async fn a_client_that_does_not_read_is_left_behind() {
    let server = Server::with(|settings| settings.retention.entries = 64).await;
    server.configure(crate::server::QUEUES).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut slow = socket.connect(server.address).await.unwrap();
    let request = "GET /headroom/v1/events HTTP/1.1\r\nHost: localhost\r\n\
                   Accept: text/event-stream\r\n\r\n";
    slow.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 15];
    slow.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    // More than sockets and pieces can hold, in records of which few are stored.
    let name = "x".repeat(150);
    for hundred in 0..80 {
        let all = (0..100).map(|number| submit(&format!("{name}{hundred}-{number}")).into());
        server.service.engine.submit_all(all.collect()).await.unwrap();
    }
    assert_eq!(server.text("/livez").await, "ok\n", "others are served");
    let mut rest = Vec::new();
    timeout(Duration::from_mins(1), async {
        let mut piece = vec![0; 1 << 16];
        loop {
            match slow.read(&mut piece).await.unwrap() {
                0 => break,
                count => rest.extend_from_slice(&piece[..count]),
            }
            if rest.windows(16).any(|part| part == b"\"reason\":\"slow\",") {
                break;
            }
        }
    })
    .await
    .expect("the server ends the stream");
    let told = rest.windows(13).filter(|part| part == b"event: event\n").count();
    assert!(told < 7_900, "{told} of 8,000 were stored for a client that did not read");
}

fn submit(application: &str) -> Command {
    Command::Submit(Submit {
        partition: Name::new("default"),
        application: Name::new(application),
        queue: Name::new("root.a"),
        user: Name::new("ann"),
        ..Submit::default()
    })
}

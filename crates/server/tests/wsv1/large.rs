//! Answers of many pieces: whole, as they were when they began, and not for ever.

use std::time::Duration;

use headroom_core::{Command, Name};
use headroom_engine::Submission;
use headroom_server::rest::RestSettings;
use tokio::io::AsyncReadExt as _;

use crate::support::{Options, Server, ask, node, submit};

/// So many nodes, and asks that wait in one application.
async fn filled(server: &Server, nodes: usize, asks: usize) {
    let node = |place| Submission::from(Command::AddNode(node(&format!("node-{place:05}"), 1)));
    server.handle.submit_all((0..nodes).map(node).collect()).await.unwrap();
    for first in (0..asks).step_by(100) {
        let application = format!("app-{first:05}");
        server.accept(Command::Submit(submit(&application, "root.sales", "ann"))).await;
        let ask = |place| {
            let key = format!("ask-{place:05}");
            Submission::from(Command::Ask(ask(&application, &key, 100)))
        };
        server.handle.submit_all((first..first + 100).map(ask).collect()).await.unwrap();
    }
}

#[tokio::test]
async fn a_long_list_is_whole_and_sorted() {
    let server = Server::start().await;
    filled(&server, 3_000, 3_000).await;
    let nodes = server.get("/ws/v1/partition/default/nodes").await;
    assert!(nodes.is_whole && nodes.body.len() > 500_000, "{}", nodes.body.len());
    assert_eq!(nodes.header("transfer-encoding"), Some("chunked"));
    let nodes = nodes.json();
    let ids: Vec<&str> =
        nodes.as_array().unwrap().iter().map(|one| one["nodeID"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3_000);
    assert!(ids.is_sorted());
    let client = server.client();
    let applications = client.get_queue_applications("default", "root.sales");
    let applications = applications.await.unwrap();
    assert_eq!(applications.iter().map(|one| one.requests.len()).sum::<usize>(), 3_000);
    let zipped = server.raw().header("Accept-Encoding", "gzip");
    let zipped = zipped.send("GET", "/ws/v1/partition/default/nodes").await;
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert!(zipped.is_whole && zipped.body.len() < 200_000, "{}", zipped.body.len());
}

#[tokio::test]
async fn a_slow_reader_gets_the_books_as_they_were_and_holds_up_nobody() {
    let server = Server::start().await;
    filled(&server, 20_000, 0).await;
    let path = "/ws/v1/partition/default/nodes";
    let mut slow = server.raw().open("GET", path).await;
    let mut first = vec![0; 1_000];
    slow.read_exact(&mut first).await.unwrap();
    let remove = |place| {
        let (partition, node) = (Name::new("default"), Name::new(format!("node-{place:05}")));
        Submission::from(Command::RemoveNode { partition, node })
    };
    server.handle.submit_all((0..20_000).map(remove).collect()).await.unwrap();
    assert_eq!(server.client().get_nodes("default").await.unwrap(), []);
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).await.unwrap();
    let text = String::from_utf8(rest).unwrap();
    assert!(text.contains("\"nodeID\":\"node-19999\"") && text.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn an_answer_that_nobody_takes_is_given_up() {
    let settings =
        RestSettings { answer_time: Duration::from_millis(100), ..RestSettings::default() };
    let settings = RestSettings { answers_at_once: 1, ..settings };
    let server = Server::with(Options { settings, ..Options::default() }).await;
    filled(&server, 30_000, 0).await;
    let path = "/ws/v1/partition/default/nodes";
    let mut slow = server.raw().open("GET", path).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Its place is free, so that another is served or given up in its turn.
    assert_eq!(server.get("/ws/v1/partition/default/node/node-00001").await.status, 200);
    let other = server.get(path).await;
    assert_eq!(other.status, 200);
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    assert!(!rest.ends_with(b"0\r\n\r\n"), "what was given up does not look whole");
}

#[tokio::test]
async fn there_are_no_more_large_answers_than_may_be() {
    let settings = RestSettings { answers_at_once: 1, ..RestSettings::default() };
    let server = Server::with(Options { settings, ..Options::default() }).await;
    filled(&server, 30_000, 0).await;
    let path = "/ws/v1/partition/default/nodes";
    let _slow = server.raw().open("GET", path).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = server.get(path).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(server.get("/ws/v1/partitions").await.status, 200, "small ones are served");
}

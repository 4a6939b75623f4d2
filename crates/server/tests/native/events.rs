//! What happened, as a list.

use headroom_api::client::EventFilter;
use headroom_api::headroomv1::{Event, Page};
use serde_json::Value;

use crate::server::Server;

async fn list(server: &Server, query: &str) -> Page<Event> {
    let request = server.http.get(server.url(&format!("/headroom/v1/events{query}")));
    let answer = request.header("accept", "application/json").send().await.unwrap();
    assert_eq!(answer.status(), 200, "{query}");
    answer.json().await.unwrap()
}

fn kinds(page: &Page<Event>) -> Vec<&str> {
    page.items.iter().map(|one| &*one.kind).collect()
}

async fn busy() -> Server {
    let server = Server::furnished().await;
    server.turn(100).await;
    server.application("app1", "ann", "root.a").await;
    server.ask("app1", "a1", 2).await;
    server.turn(1).await;
    server.release("app1", Some("a1")).await;
    server
}

#[tokio::test]
async fn the_newest_come_first_and_from_a_place_on_the_oldest() {
    let server = busy().await;
    let page = list(&server, "?limit=5").await;
    assert!(page.items.windows(2).all(|pair| pair[0].sequence >= pair[1].sequence));
    let first = page.items.iter().find(|one| one.kind == "allocationReleased").unwrap();
    assert_eq!((&*first.object, first.application.as_deref()), ("a1", Some("app1")));
    assert_eq!((first.queue.as_deref(), first.user.as_deref()), (Some("root.a"), Some("ann")));
    assert_eq!(first.node.as_deref(), Some("n1"));
    assert_eq!(
        first.text,
        "a1 of application app1 released vcore 2 on node n1: the resource manager stopped it"
    );
    assert_eq!(first.detail["resources"]["vcore"], Value::from(2_000));

    let page = list(&server, "?from=2026-11-22T09:01:40Z").await;
    assert_eq!(kinds(&page)[..2], ["applicationAccepted", "askAdded"], "{:?}", kinds(&page));
    assert!(kinds(&page).contains(&"allocationGranted"));
    let after = page.items[0].sequence;
    let page = list(&server, &format!("?from={after}&to={after}")).await;
    assert!(page.items.iter().all(|one| one.sequence == after) && !page.items.is_empty());
}

#[tokio::test]
async fn filters_go_together() {
    let server = busy().await;
    for (query, expected) in [
        ("?kind=allocationGranted", vec!["allocationGranted"]),
        ("?object=a1&from=1", vec!["askAdded", "allocationGranted", "allocationReleased"]),
        ("?object=n1&kind=nodeAdded", vec!["nodeAdded"]),
        ("?find=JOINED", vec!["nodeAdded"]),
        ("?find=joined&object=n2", vec![]),
        ("?kind=nothing", vec![]),
    ] {
        assert_eq!(kinds(&list(&server, query).await), expected, "{query}");
    }
}

#[tokio::test]
async fn pages_of_a_list_fit_together_while_more_happens() {
    let server = busy().await;
    let whole = list(&server, "?limit=1000").await;
    let (mut all, mut query) = (Vec::new(), "?limit=3".to_owned());
    loop {
        let page = list(&server, &query).await;
        assert_eq!(page.total, whole.total);
        all.extend(page.items);
        server.application(&format!("more{}", all.len()), "ann", "root.a").await;
        match page.cursor {
            Some(cursor) => query = format!("?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(all, whole.items);
    let cursor = list(&server, "?limit=1").await.cursor.unwrap();
    let other = EventFilter { kind: Some("nodeAdded".into()), ..EventFilter::default() };
    let refused = server.client().list_events(&other, Some(&cursor)).await;
    assert!(refused.unwrap_err().to_string().contains("another list"));
}

#[tokio::test]
async fn what_is_kept_no_more_is_gone() {
    let server = Server::with(|settings| settings.retention.entries = 4).await;
    server.configure(crate::server::QUEUES).await;
    for number in 0..10 {
        server.node(&format!("n{number}"), 1).await;
    }
    let newest = server.service.engine.feed().newest();
    assert_eq!(list(&server, "").await.items.last().unwrap().sequence, newest - 3);
    for from in ["1", "2026-11-22T08:00:00Z"] {
        let answer = server.http.get(server.url(&format!("/headroom/v1/events?from={from}")));
        let answer = answer.header("accept", "application/json").send().await.unwrap();
        assert_eq!(answer.status(), 410, "{from}");
        let text = answer.text().await.unwrap();
        assert!(text.contains("GONE") && text.contains(&format!("{}", newest - 3)), "{text}");
    }
    assert_eq!(list(&server, &format!("?from={}", newest - 3)).await.items.len(), 4);
}

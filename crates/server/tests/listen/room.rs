//! How much of what clients send is held at once.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::unbounded_channel;

use crate::support::{client, start_with};

#[tokio::test]
async fn large_bodies_beyond_the_room_are_told_to_wait_and_small_ones_are_taken() {
    const LARGE: usize = 1 << 20;
    let (gate, (arrived, mut arrivals)) = (Arc::new(Semaphore::new(0)), unbounded_channel());
    let held = Arc::clone(&gate);
    let wait = post(move |body: Bytes| {
        let (held, arrived) = (Arc::clone(&held), arrived.clone());
        async move {
            arrived.send(body.len()).unwrap();
            held.acquire().await.map(|_| "done").unwrap()
        }
    });
    let rest = Router::new().route("/ws/v1/validate-conf", wait);
    let server = start_with("limits: {requestBody: 1MiB}", rest);
    let url = server.url("/ws/v1/validate-conf");
    let send = |bytes: usize| client().post(&url).body(vec![b'a'; bytes]).send();
    // Those who are being answered hold the room for their bodies.
    let first = [tokio::spawn(send(LARGE)), tokio::spawn(send(LARGE))];
    assert_eq!((arrivals.recv().await, arrivals.recv().await), (Some(LARGE), Some(LARGE)));
    let refused = send(LARGE).await.unwrap();
    let retry = refused.headers().contains_key("retry-after");
    assert_eq!((refused.status().as_u16(), retry), (429, true));
    let small = tokio::spawn(send(32 << 10));
    assert_eq!(arrivals.recv().await, Some(32 << 10));
    gate.add_permits(10);
    for answer in first.into_iter().chain([small]) {
        assert_eq!(answer.await.unwrap().unwrap().status(), 200);
    }
    assert_eq!(send(LARGE).await.unwrap().status(), 200, "the room was given back");
}

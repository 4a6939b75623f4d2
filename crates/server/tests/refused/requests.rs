//! Requests to `/headroom/v1` that are refused whatever they are about.

use std::time::Duration;

use crate::example::Example;
use crate::scene::{Scene, TENANTS};
use crate::sent::Sent;

const ONE: &str = "/headroom/v1/tenants/sales";

pub(crate) async fn examples() -> Vec<Example> {
    let scene = Scene::with(&[r#"{"id": "sales"}"#]).await;
    let patch = Sent::new("PATCH", ONE).json(r#"{"displayName": "Sales of shoes"}"#);
    let text = Sent::post(TENANTS).with("Content-Type", "text/plain").text(r#"{"id": "shop"}"#);
    let events = Sent::get(&format!("{ONE}/events")).with("Last-Event-ID", "4180");
    let there = "Tenant `sales` is in version 1.";
    vec![
        scene.refuses("MALFORMED", "", Sent::get(&format!("{TENANTS}?colour=red"))).await,
        scene
            .refuses(
                "NOT_FOUND",
                "The queue file has partition `default` alone.",
                Sent::get("/headroom/v1/partitions/gpu/summary"),
            )
            .await,
        scene.refuses("UNSUPPORTED_MEDIA_TYPE", "", text).await,
        scene.refuses("PRECONDITION_REQUIRED", there, patch.clone()).await,
        scene.refuses("PRECONDITION_FAILED", there, patch.with("If-Match", "\"7\"")).await,
        scene
            .refuses(
                "GONE",
                "The server was started on an empty journal, and the client has read another.",
                events,
            )
            .await,
        read_only().await,
    ]
}

async fn read_only() -> Example {
    let scene = Scene::with(&[]).await;
    scene.0.handle.stop().await;
    while scene.0.handle.stopped().is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let make = Sent::post(TENANTS).json(r#"{"id": "shop"}"#);
    scene.refuses("READ_ONLY", "The server ends, and has written its last record.", make).await
}

//! Metrics of leaves that hold back applications, and of what holds asks back.

use crate::scrape::Parsed;
use crate::server::Server;

/// Two leaves: one where drivers may have 2 of 8 cores and one that counts applications; and one that
/// holds back nothing.
const QUEUES: &str = "
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: a
      submitacl: '*'
      resources: {guaranteed: {vcore: 8}}
      applicationlimits: {maximumdriverresourcepercent: 0.25}
    - name: b
      submitacl: '*'
      applicationlimits: {maxparallelapps: 1}
    - name: c
      submitacl: '*'
";

#[tokio::test]
async fn leaves_that_hold_back_applications_say_how_many_and_what_their_drivers_have() {
    let server = Server::empty().await;
    server.configure(QUEUES).await;
    server.node("n1", 8).await;
    for (application, queue) in
        [("a1", "root.a"), ("a2", "root.a"), ("b1", "root.b"), ("b2", "root.b"), ("c1", "root.c")]
    {
        server.application(application, "ann", queue).await;
        server.ask(application, &format!("{application}-driver"), 1).await;
    }
    server.application("a3", "ann", "root.a").await;
    server.ask("a3", "a3-driver", 1).await;
    server.turn(8).await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    let of = |queue: &str| format!("{{partition=\"default\",queue=\"root.{queue}\"");
    let get = |name: &str, queue: &str, more: &str| {
        parsed.get(&format!("headroom_{name}{}{more}}}", of(queue)))
    };
    let vcore = ",resource=\"vcore\"";
    assert_eq!(get("driver_limit", "a", vcore), Some(2_000.0));
    assert_eq!(get("driver_used", "a", vcore), Some(2_000.0));
    assert_eq!(get("activated_applications", "a", ""), Some(2.0));
    assert_eq!(get("parked_applications", "a", ""), Some(1.0));
    // Only counts: the amounts of drivers are not shown.
    assert_eq!(get("activated_applications", "b", ""), Some(1.0));
    assert_eq!(get("parked_applications", "b", ""), Some(1.0));
    assert_eq!(get("driver_limit", "b", vcore), None);
    assert_eq!(get("driver_used", "b", vcore), None);
    // No leaf that holds back nothing.
    assert_eq!(get("activated_applications", "c", ""), None);
    let held = |reason: &str, check: &str| {
        parsed.get(&format!("headroom_held_back_total{{reason=\"{reason}\",check=\"{check}\"}}"))
    };
    assert_eq!(held("DRIVER_LIMIT_QUEUE", "e"), Some(1.0));
    assert_eq!(held("PARALLEL_LIMIT", "e"), Some(1.0));
    assert_eq!(held("QUEUE_MAX", "c"), Some(0.0));
    assert_eq!(held("REQUIRED_NODE_SIZE", ""), Some(0.0));
}

#[tokio::test]
async fn how_often_asks_came_to_wait_only_rises() {
    let server = Server::empty().await;
    server.configure(QUEUES).await;
    server.node("n1", 2).await;
    server.application("c1", "ann", "root.c").await;
    server.ask("c1", "one", 2).await;
    server.turn(4).await;
    server.ask("c1", "two", 1).await;
    server.turn(4).await;
    let held = |text: &str| {
        let parsed = Parsed::of(text);
        let series = "headroom_held_back_total{reason=\"ROOT_CAPACITY\",check=\"c\"}";
        let waiting = "headroom_waiting_asks{partition=\"default\",reason=\"ROOT_CAPACITY\"}";
        (parsed.get(series), parsed.get(waiting))
    };
    assert_eq!(held(&server.text("/metrics").await), (Some(1.0), Some(1.0)));
    server.node("n2", 1).await;
    server.turn(4).await;
    assert_eq!(held(&server.text("/metrics").await), (Some(1.0), Some(0.0)));
}

//! Metrics of leaves with user limits.

use std::collections::BTreeSet;

use headroom_core::Command;
use headroom_core::Name;

use crate::scrape::Parsed;
use crate::server::Server;

const QUEUES: &str = "
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: a
      submitacl: '*'
      resources: {guaranteed: {vcore: 6}, max: {vcore: 7}}
      userlimits: {minimumuserlimitpercent: 25, userlimitfactor: 1, weights: {ann: 1.5}}
    - name: b
      submitacl: '*'
";

/// ann uses 3 cores and wants more, bob uses 2 and wants nothing, eve is in a queue without user limits.
pub(crate) async fn sharing() -> Server {
    let server = Server::empty().await;
    server.configure(QUEUES).await;
    server.node("n1", 8).await;
    for (application, user, queue) in
        [("app1", "ann", "root.a"), ("app2", "bob", "root.a"), ("app3", "eve", "root.b")]
    {
        server.application(application, user, queue).await;
    }
    server.ask("app1", "a1", 3).await;
    server.ask("app2", "b1", 2).await;
    server.ask("app3", "e1", 1).await;
    server.turn(1).await;
    server.ask("app1", "a2", 4).await;
    server.turn(1).await;
    server
}

fn of(user: &str, more: &str) -> String {
    format!("{{partition=\"default\",queue=\"root.a\",user=\"{user}\"{more}}}")
}

#[tokio::test]
async fn each_user_of_a_leaf_with_user_limits_has_a_series_for_each_type() {
    let server = sharing().await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    let vcore = ",resource=\"vcore\"";
    for (name, user, more, value) in [
        // 4 are left by bob, 7 are what she uses and wants, and she is alone.
        ("soft_share", "ann", vcore, 7_000.0),
        ("hard_cap", "ann", vcore, 7_000.0),
        ("used", "ann", vcore, 3_000.0),
        ("headroom", "ann", vcore, 2_000.0),
        ("active", "ann", "", 1.0),
        ("weight", "ann", "", 1.5),
        // As with an ask: two fifths of the guarantee.
        ("soft_share", "bob", vcore, 2_400.0),
        ("hard_cap", "bob", vcore, 6_000.0),
        ("headroom", "bob", vcore, 400.0),
        ("active", "bob", "", 0.0),
        ("weight", "bob", "", 1.0),
    ] {
        let series = format!("headroom_user_limit_{name}{}", of(user, more));
        assert_eq!(parsed.get(&series), Some(value), "{series}");
    }
    let leaf = "{partition=\"default\",queue=\"root.a\"";
    let get = |series: String| parsed.get(&series);
    assert_eq!(get(format!("headroom_user_limit_active_users{leaf}}}")), Some(1.0));
    let inactive = format!("headroom_user_limit_inactive_used{leaf},resource=\"vcore\"}}");
    assert_eq!(get(inactive), Some(2_000.0));
    assert_eq!(
        get(format!("headroom_user_limit_used{}", of("bob", ",resource=\"memory\""))),
        Some(0.0),
    );
}

#[tokio::test]
async fn only_users_with_something_in_a_leaf_with_user_limits_have_series() {
    let server = sharing().await;
    let users = |parsed: &Parsed| -> BTreeSet<String> {
        let all = parsed.series().filter(|series| series.starts_with("headroom_user_limit_"));
        let named = all.filter_map(|series| series.split("user=\"").nth(1));
        named.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
    };
    let parsed = Parsed::of(&server.text("/metrics").await);
    assert_eq!(users(&parsed), ["ann".to_owned(), "bob".to_owned()].into());
    // Four amounts of two types, at most, and two more.
    let of_bob = parsed.series().filter(|series| series.contains("user=\"bob\"")).count();
    assert!((6..=10).contains(&of_bob), "{of_bob}");
    let (partition, application) = (Name::new("default"), Name::new("app2"));
    server.accept(Command::RemoveApplication { partition, application }).await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    assert_eq!(users(&parsed), ["ann".to_owned()].into());
    server.configure(&QUEUES.replace("userlimits", "# userlimits")).await;
    let parsed = Parsed::of(&server.text("/metrics").await);
    assert_eq!(parsed.series().filter(|series| series.contains("_user_limit_")).count(), 0);
    // YuniKorn's alone have none of it, and asks that wait for their user are counted by reason.
    let reference = Parsed::of(&sharing().await.text("/ws/v1/metrics").await);
    assert_eq!(reference.series().filter(|series| series.contains("user_limit")).count(), 0);
}

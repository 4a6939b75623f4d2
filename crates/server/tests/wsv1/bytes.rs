//! Checklist 2, over the wire: bodies byte by byte, with the order of their fields, sorted maps, what
//! is left out, and the newline at their end.

use std::fmt::Write as _;

use expect_test::expect_file;

use crate::support::Server;

/// What has the same bytes each time on a clock that goes by hand.
const PATHS: [&str; 19] = [
    "partitions",
    "partition/default/placementrules",
    "partition/default/queues",
    "partition/default/queue/root.dev",
    "partition/default/queue/root.dev?subtree",
    "partition/default/queue/root.sales/applications",
    "partition/default/nodes",
    "partition/default/node/n1",
    "partition/default/application/app-1",
    "partition/default/applications/active",
    "partition/default/applications/rejected",
    "partition/default/applications/completed",
    "partition/default/usage/users",
    "partition/default/usage/groups",
    "partition/gpu/queues",
    "partition/gpu/nodes",
    "partition/gpu/usage/users",
    "partition/none/nodes",
    "scheduler/node-utilizations",
];

#[tokio::test]
async fn bodies_are_the_same_to_the_byte() {
    let server = Server::start().await;
    server.furnish().await;
    let mut text = String::new();
    for path in PATHS {
        let answer = server.get(&format!("/ws/v1/{path}")).await;
        let body = answer.text();
        assert!(body.ends_with('\n') && !body.ends_with("\n\n"), "{path}: {body}");
        assert_eq!(body.lines().count(), 1, "{path}: {body}");
        write!(text, "{} {path}\n{body}", answer.status).unwrap();
    }
    expect_file!["bytes.txt"].assert_eq(&text);
}

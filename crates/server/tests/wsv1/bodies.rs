//! What is in the answers.

use serde_json::{Value, json};

use crate::support::Server;

#[tokio::test]
async fn partitions_come_default_first_with_their_totals() {
    let server = Server::start().await;
    server.furnish().await;
    let all = server.client().get_partitions().await.unwrap();
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["default", "gpu"]);
    assert_eq!((all[0].total_nodes, all[0].total_containers), (2, 2));
    assert_eq!(all[0].applications["total"], 4);
    assert_eq!(all[0].applications["Rejected"], 1);
    assert_eq!(all[1].applications, [("total".to_owned(), 0)].into());
}

//! Scenes that the product was asked for, from one end to the other: in by the scheduler interface,
//! out by REST.

use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, NodeInfo, NodeRequest, Quantity, Resource,
    UserGroupInformation,
};
use serde_json::{Value, json};

use crate::support::{Rm, Server, ask, new, node, placed};

const USERS: &str = "/ws/v1/partition/default/usage/users";
const GROUPS: &str = "/ws/v1/partition/default/usage/groups";

const EXAMPLE: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: default
          - name: test
            limits:
              - {limit: testers, groups: [tester], maxapplications: 10}
";

fn size(memory: i64, vcore: i64) -> Resource {
    let of = |name: &str, value| (name.to_owned(), Quantity { value });
    Resource { resources: [of("memory", memory), of("vcore", vcore)].into() }
}

pub(crate) fn of_user(
    user: &str,
    groups: &[&str],
    one: AddApplicationRequest,
) -> AddApplicationRequest {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    let ugi = Some(UserGroupInformation { user: user.into(), groups });
    AddApplicationRequest { ugi, ..one }
}

/// The cluster of the example: user1 runs app1 in root.default without a group, and app2 in
/// root.test under the group tester.
async fn example(server: &Server) -> Rm {
    let mut rm = Rm::on(server, EXAMPLE).await;
    let large = NodeInfo {
        schedulable_resource: Some(size(64_000_000_000, 64_000)),
        ..node("n1", ActionFromRm::Create, 1)
    };
    rm.nodes.send(NodeRequest { nodes: vec![large], rm_id: "rm".into() });
    assert_eq!(rm.nodes.next().await.accepted.len(), 1);
    for (application, queue) in [("app1", "root.default"), ("app2", "root.test")] {
        rm.add(of_user("user1", &["tester"], new(application, queue)));
        assert_eq!(rm.applications.next().await.accepted.len(), 1);
    }
    for application in ["app1", "app2"] {
        let resource_per_alloc = Some(size(6_000_000_000, 6_000));
        rm.ask(vec![Allocation { resource_per_alloc, ..ask(application, application, 1) }]);
    }
    rm.states(2).await;
    server.turn(10).await;
    rm.allocated(2).await;
    rm
}

/// The words of the example are all there. Empty lists are left out, and there is `queuePath` in addition to
/// `queuename`: rest-api.md §17.
fn shows(shown: &Value, example: &Value, place: &str) {
    match (shown, example) {
        (Value::Object(shown), Value::Object(example)) => {
            for (key, wanted) in example {
                let place = format!("{place}.{key}");
                match shown.get(key) {
                    Some(shown) => shows(shown, wanted, &place),
                    None => assert_eq!(wanted, &json!([]), "{place} is not shown"),
                }
                if key == "queuename" {
                    assert_eq!(shown.get("queuePath"), Some(wanted), "{place}");
                }
            }
        }
        (Value::Array(shown), Value::Array(example)) => {
            assert_eq!(shown.len(), example.len(), "{place}: {shown:?}");
            for (index, (shown, wanted)) in shown.iter().zip(example).enumerate() {
                shows(shown, wanted, &format!("{place}[{index}]"));
            }
        }
        (shown, example) => assert_eq!(shown, example, "{place}"),
    }
}

fn level(queue: &str, memory: i64, vcore: i64, running: &[&str], children: &[Value]) -> Value {
    json!({
        "queuename": queue,
        "resourceUsage": {"memory": memory, "vcore": vcore},
        "runningApplications": running,
        "children": children,
    })
}

#[tokio::test]
#[doc(alias = "SD-01")]
async fn the_usage_of_a_user_from_requests_to_rest() {
    let server = Server::start().await;
    let _rm = example(&server).await;
    let default = level("root.default", 6_000_000_000, 6_000, &["app1"], &[]);
    let test = level("root.test", 6_000_000_000, 6_000, &["app2"], &[]);
    let root = level("root", 12_000_000_000, 12_000, &["app1", "app2"], &[default, test]);
    let user = json!({"userName": "user1", "groups": {"app2": "tester"}, "queues": root});
    shows(&server.json(USERS).await, &json!([user]), "users");
    shows(&server.json("/ws/v1/partition/default/usage/user/user1").await, &user, "user");
}

#[tokio::test]
#[doc(alias = "SD-02")]
async fn the_usage_of_a_group_from_requests_to_rest() {
    let server = Server::start().await;
    let _rm = example(&server).await;
    let test = level("root.test", 6_000_000_000, 6_000, &["app2"], &[]);
    let root = level("root", 6_000_000_000, 6_000, &["app2"], &[test]);
    let group = json!({"groupName": "tester", "applications": ["app2"], "queues": root});
    shows(&server.json(GROUPS).await, &json!([group]), "groups");
    shows(&server.json("/ws/v1/partition/default/usage/group/tester").await, &group, "group");
}

const TWO_PARTITIONS: &str = "
partitions:
  - name: default
    queues: &queues
      - name: root
        submitacl: '*'
        limits:
          - {limit: dev, groups: [dev], maxresources: {vcore: 100}}
        queues:
          - name: a
  - name: gpu
    queues: *queues
";

#[tokio::test]
#[doc(alias = "SD-11")]
async fn one_user_in_two_partitions_is_counted_apart() {
    let server = Server::start().await;
    let mut rm = Rm::on(&server, TWO_PARTITIONS).await;
    let partitions = [("default", 2_i64), ("gpu", 3)];
    for (partition, _) in partitions {
        let id = format!("{partition}-node");
        let attributes = [("si/node-partition".to_owned(), partition.to_owned())].into();
        let one = NodeInfo { attributes, ..node(&id, ActionFromRm::Create, 10) };
        rm.nodes.send(NodeRequest { nodes: vec![one], rm_id: "rm".into() });
        assert_eq!(rm.nodes.next().await.accepted.len(), 1);
        let application = AddApplicationRequest {
            partition_name: partition.into(),
            ..of_user("joe", &["dev"], new("app", "root.a"))
        };
        rm.add(application);
        assert_eq!(rm.applications.next().await.accepted.len(), 1, "the same id in {partition}");
    }
    for (partition, count) in partitions {
        let id = format!("{partition}-node");
        let keys = (0..count).map(|number| Allocation {
            partition_name: partition.into(),
            ..placed("app", &format!("{partition}-{number}"), 1, &id)
        });
        rm.ask(keys.collect());
        rm.allocated(usize::try_from(count).unwrap()).await;
    }
    for (partition, vcore) in [("default", 2_000), ("gpu", 3_000)] {
        for path in ["users", "user/joe", "groups", "group/dev"] {
            let shown = server.json(&format!("/ws/v1/partition/{partition}/usage/{path}")).await;
            let one = shown.get(0).unwrap_or(&shown);
            assert_eq!(one["queues"]["resourceUsage"]["vcore"], vcore, "{partition} {path}");
        }
    }
    for path in ["users", "user/joe", "groups", "group/dev"] {
        let (status, body) = server.rest(&format!("/ws/v1/partition/none/usage/{path}")).await;
        assert_eq!(status, 404, "{path}: {body}");
    }
    // What goes in one partition is still there in the other.
    rm.applications.send(headroom_api::si::v1::ApplicationRequest {
        remove: vec![headroom_api::si::v1::RemoveApplicationRequest {
            application_id: "app".into(),
            partition_name: "gpu".into(),
        }],
        rm_id: "rm".into(),
        ..Default::default()
    });
    rm.released(3).await;
    assert_eq!(server.json("/ws/v1/partition/gpu/usage/users").await, json!([]));
    let left = server.json("/ws/v1/partition/default/usage/users").await;
    assert_eq!(left[0]["queues"]["resourceUsage"]["vcore"], 2_000);
}

//! A restart: example 24, and nothing is lost or placed twice.

use serde_json::json;

use crate::examples::requests;
use crate::lab;
use crate::world::Lab;

#[test]
fn a_killed_scheduler_continues_with_what_runs_and_waits() {
    lab!(world, alone);
    let quota = json!({"yunikorn.apache.org/namespace.quota": r#"{"cpu":"2"}"#});
    let lab = Lab::new(world, quota);
    let id = format!("{}-app", lab.name);
    let pod = |name: &str| {
        lab.pod(name, json!({"labels": {"applicationId": id}}), requests(json!({"cpu": "1"})));
    };
    pod("p0");
    pod("p1");
    let nodes = (lab.runs("p0"), lab.runs("p1"));
    pod("p2");
    lab.waits("p2");
    world.kill_scheduler();
    pod("p3");
    world.start_scheduler();
    lab.eventually("the allocations are known again", || {
        let application = world.rest(&format!("/ws/v1/partition/default/application/{id}"))?;
        (application["usedResource"]["vcore"] == 2_000).then_some(())
    });
    assert_eq!((lab.runs("p0"), lab.runs("p1")), nodes);
    lab.waits("p3");
    lab.stays_pending("p2");
    lab.kubectl(&["delete", "pod", "p0"]);
    lab.runs("p2");
    lab.stays_pending("p3");
    lab.kubectl(&["delete", "pod", "p1"]);
    lab.runs("p3");
}

//! Workloads as their controllers make them: Spark, `KubeRay`, Kubeflow's training operator, a Job, and a Deployment.
//!
//! The labels and annotations are those that these projects set for YuniKorn. The tests do the part of their operators.

use serde_json::{Value, json};

use crate::examples::requests;
use crate::lab;
use crate::world::{Lab, World};

const TASK_GROUP: &str = "yunikorn.apache.org/task-group-name";
const TASK_GROUPS: &str = "yunikorn.apache.org/task-groups";

/// Returns the number of the pods of a namespace that have a node and are no placeholders, and the number of
/// placeholders.
fn counted(lab: &Lab) -> (usize, usize) {
    let pods = lab.get(&["pods"]).unwrap();
    let all = pods["items"].as_array().unwrap().iter();
    let (placeholders, own): (Vec<&Value>, Vec<&Value>) = all.partition(|pod| {
        pod["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("tg-"))
    });
    (own.iter().filter(|pod| pod["spec"]["nodeName"].is_string()).count(), placeholders.len())
}

#[test]
fn a_spark_driver_makes_its_executors_in_a_gang() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let id = format!("spark-{}", lab.name);
    let groups = json!([
        {"name": "spark-driver", "minMember": 1, "minResource": {"cpu": "500m", "memory": "512Mi"}},
        {"name": "spark-executor", "minMember": 2, "minResource": {"cpu": "1", "memory": "1Gi"}}
    ]);
    // As Spark's operator does: labels of Spark, the label of the queue, and the task groups at the driver only.
    let labels = |role: &str| json!({"spark-app-selector": id, "spark-role": role, "queue": format!("root.{}", lab.name)});
    let annotations = json!({TASK_GROUP: "spark-driver", TASK_GROUPS: groups.to_string()});
    lab.pod(
        "driver",
        json!({"labels": labels("driver"), "annotations": annotations}),
        requests(json!({"cpu": "500m", "memory": "512Mi"})),
    );
    lab.runs("driver");
    let driver = lab.get(&["pod", "driver"]).unwrap()["metadata"]["uid"].clone();
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "driver", "uid": driver,
        "controller": true}]);
    // The third executor, as with dynamic allocation, has no placeholder.
    for name in ["exec-1", "exec-2", "exec-3"] {
        let annotations = json!({TASK_GROUP: "spark-executor"});
        lab.pod(
            name,
            json!({"labels": labels("executor"), "annotations": annotations,
                "ownerReferences": owner}),
            requests(json!({"cpu": "1", "memory": "1Gi"})),
        );
        lab.runs(name);
    }
    lab.eventually("all placeholders are replaced", || (counted(&lab) == (4, 0)).then_some(()));
    let application = lab.application(&id);
    assert_eq!(application["usedResource"]["vcore"], 3_500, "{application}");
    // The garbage collector deletes the executors with their driver.
    lab.kubectl(&["delete", "pod", "driver"]);
    lab.eventually("nothing is used", || {
        let queue = world.rest(&format!("/ws/v1/partition/default/queue/root.{}", lab.name))?;
        let used = &queue["allocatedResource"]["vcore"];
        (used.is_null() || *used == 0).then_some(())
    });
}

#[test]
fn a_ray_cluster_starts_as_a_gang() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let id = format!("ray-{}", lab.name);
    let groups = json!([
        {"name": "headgroup", "minMember": 1, "minResource": {"cpu": "1", "memory": "2Gi"}},
        {"name": "worker", "minMember": 2, "minResource": {"cpu": "500m", "memory": "1Gi"}}
    ]);
    // KubeRay gives all pods the task groups.
    let member = |name: &str, group: &str, amounts: Value| {
        let more = json!({
            "labels": {
                "applicationId": id, "queue": format!("root.{}", lab.name),
                "ray.io/cluster": id, "ray.io/group": group
            },
            "annotations": {TASK_GROUP: group, TASK_GROUPS: groups.to_string()}
        });
        lab.pod(name, more, requests(amounts));
    };
    member("head", "headgroup", json!({"cpu": "1", "memory": "2Gi"}));
    for name in ["worker-a", "worker-b"] {
        member(name, "worker", json!({"cpu": "500m", "memory": "1Gi"}));
    }
    for name in ["head", "worker-a", "worker-b"] {
        lab.runs(name);
    }
    lab.eventually("all placeholders are replaced", || (counted(&lab) == (3, 0)).then_some(()));
    assert_eq!(lab.application(&id)["usedResource"]["vcore"], 2_000);
}

#[test]
fn a_gang_of_the_training_operator_waits_for_capacity_as_a_whole() {
    lab!(world, shared);
    let quota = json!({"yunikorn.apache.org/namespace.quota": r#"{"cpu":"3"}"#});
    let lab = Lab::new(world, quota);
    let (first, second) = (format!("{}-first", lab.name), format!("{}-second", lab.name));
    let groups = json!([
        {"name": "master", "minMember": 1, "minResource": {"cpu": "500m"}},
        {"name": "worker", "minMember": 3, "minResource": {"cpu": "500m"}}
    ]);
    let job = |id: &str| {
        for (name, role) in
            [("m-0", "master"), ("w-0", "worker"), ("w-1", "worker"), ("w-2", "worker")]
        {
            let more = json!({
                "labels": {
                    "applicationId": id, "queue": format!("root.{}", lab.name),
                    "training.kubeflow.org/job-name": id, "training.kubeflow.org/replica-type": role
                },
                "annotations": {TASK_GROUP: role, TASK_GROUPS: groups.to_string()}
            });
            lab.pod(&format!("{id}-{name}"), more, requests(json!({"cpu": "500m"})));
        }
    };
    job(&first);
    for name in ["m-0", "w-0", "w-1", "w-2"] {
        lab.runs(&format!("{first}-{name}"));
    }
    // Two of its members would fit, but none starts before all fit.
    job(&second);
    for name in ["m-0", "w-0", "w-1", "w-2"] {
        lab.stays_pending(&format!("{second}-{name}"));
    }
    lab.kubectl(&["delete", "pod", "-l", &format!("applicationId={first}")]);
    for name in ["m-0", "w-0", "w-1", "w-2"] {
        lab.runs(&format!("{second}-{name}"));
    }
}

#[test]
fn a_job_completes_and_a_deployment_grows_and_shrinks() {
    lab!(world, shared);
    let lab = Lab::new(world, json!({}));
    let template = |spec: Value| {
        let mut whole = requests(json!({"cpu": "250m"}));
        whole["schedulerName"] = json!("yunikorn");
        whole["terminationGracePeriodSeconds"] = json!(0);
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        whole
    };
    let once = template(json!({"restartPolicy": "Never"}));
    world.apply(&json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "job", "namespace": lab.name},
        "spec": {"completions": 3, "parallelism": 2, "template": {
            // The pretended kubelets end a pod after this time.
            "metadata": {"annotations": {"headroom.test/runs-for": "1s"}}, "spec": once}}}));
    lab.eventually("the job completes", || {
        (lab.get(&["job", "job"])?["status"]["succeeded"] == 3).then_some(())
    });
    let labels = json!({"app": "web"});
    world.apply(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": lab.name},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template(json!({}))}}}));
    for count in [2, 5, 1] {
        lab.kubectl(&["scale", "deployment", "web", &format!("--replicas={count}")]);
        lab.eventually("the deployment has its pods, and its queue their amounts", || {
            let set = lab.get(&["deployment", "web"])?;
            let is_ready = set["status"]["readyReplicas"].as_i64() == Some(count);
            (is_ready && used(world, &lab) == Some(250 * count)).then_some(())
        });
    }
}

/// Returns the cores that the queue of a namespace uses, in thousandths.
fn used(world: &World, lab: &Lab) -> Option<i64> {
    let queue = world.rest(&format!("/ws/v1/partition/default/queue/root.{}", lab.name))?;
    queue["allocatedResource"]["vcore"].as_i64()
}

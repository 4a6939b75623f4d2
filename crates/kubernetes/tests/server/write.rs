//! Binds, conditions, deletions, placeholders, and events.

use headroom_kubernetes::client::path;
use headroom_kubernetes::queue::ToServer;
use headroom_pods::convert::event::{Event, EventKind, EventObject};
use headroom_pods::convert::gang::Placeholder;
use headroom_pods::shim::{
    ApiWrite, BindDone, BindError, BindStep, DeletePurpose, Notice, Outcome, PodIdentity,
    WaitReason,
};
use headroom_server::EventOutcome;
use serde_json::{Value, json};

use super::support::cluster::{delete, eventually, namespace, pod, post};
use super::{Writes, identity, with_cluster};

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_pod_runs_and_is_bound_only_once() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "binds").await;
        let pods = path::pods("binds");
        let created = identity(&post(&api, &pods, &pod("one")).await.unwrap());
        let mut writes = Writes::new(&api);
        let bind = BindStep::BindPod;
        assert_eq!(writes.bind(&created, "node-0001", bind).await, Ok(BindDone::PodBound));
        let path = path::pod("binds", "one");
        eventually("the pod runs", async || {
            let pod = api.get::<Value>(&path).await.ok()?;
            (pod["status"]["phase"] == "Running").then_some(())
        })
        .await;
        // A second bind to the same node is a success, and one to another node is not.
        assert_eq!(writes.bind(&created, "node-0001", bind).await, Ok(BindDone::PodBound));
        let elsewhere = Err(BindError::BoundElsewhere { node: "node-0001".into() });
        assert_eq!(writes.bind(&created, "node-0002", bind).await, elsewhere);
        // A pod of the same name is another pod.
        delete(&api, &path).await.unwrap();
        eventually("the pod is gone", async || api.get::<Value>(&path).await.err()).await;
        assert_eq!(writes.bind(&created, "node-0001", bind).await, Err(BindError::Gone));
        let again = identity(&post(&api, &pods, &pod("one")).await.unwrap());
        assert_eq!(writes.bind(&created, "node-0001", bind).await, Err(BindError::Gone));
        assert_eq!(writes.bind(&again, "node-0001", bind).await, Ok(BindDone::PodBound));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_and_failures_are_written_to_the_right_pod() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "conditions").await;
        let created = identity(&post(&api, &path::pods("conditions"), &pod("one")).await.unwrap());
        let path = path::pod("conditions", "one");
        let writes = Writes::new(&api);
        let status = async |what: &str, holds: fn(&Value) -> bool| {
            eventually(what, async || {
                let pod = api.get::<Value>(&path).await.ok()?;
                holds(&pod["status"]).then(|| pod["status"].clone())
            })
            .await
        };
        let condition = |reason, message: &str| ApiWrite::Condition {
            pod: created.clone(),
            reason,
            message: message.into(),
        };
        writes.write(condition(WaitReason::Quota, "queue root.lab is full")).await;
        writes.write(condition(WaitReason::NoNode, "no node has an accelerator")).await;
        let written = status("the condition", |status| {
            status["conditions"].as_array().is_some_and(|conditions| {
                conditions.iter().any(|condition| condition["reason"] == "Unschedulable")
            })
        })
        .await;
        let conditions = written["conditions"].as_array().unwrap();
        let scheduled: Vec<_> =
            conditions.iter().filter(|condition| condition["type"] == "PodScheduled").collect();
        assert_eq!(scheduled.len(), 1);
        assert_eq!(scheduled[0]["message"], "no node has an accelerator");
        assert_eq!(scheduled[0]["status"], "False");

        let other = PodIdentity { uid: "another".into(), ..created.clone() };
        let fail = |pod: &PodIdentity, message: &str| ApiWrite::FailPod {
            pod: pod.clone(),
            reason: "ApplicationRejected",
            message: message.into(),
        };
        writes.write(fail(&other, "wrong")).await;
        writes.write(fail(&created, "queue root.none does not exist")).await;
        let failed = status("the failure", |status| status["phase"] == "Failed").await;
        assert_eq!(failed["reason"], "ApplicationRejected");
        assert_eq!(failed["message"], "queue root.none does not exist");
        assert!(failed.get("conditions").is_none(), "{failed}");
    });
}

fn placeholder(name: &str, pod: Value) -> Placeholder {
    let (namespace, group) = ("placeholders".into(), "workers".into());
    Placeholder { name: name.into(), namespace, group, body: pod }
}

#[tokio::test(flavor = "multi_thread")]
async fn placeholders_are_created_and_deleted() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "placeholders").await;
        let mut writes = Writes::new(&api);
        let create = |placeholder| ApiWrite::CreatePlaceholder {
            application: "app".into(),
            placeholder: Box::new(placeholder),
        };
        writes.write(create(placeholder("tg-app-workers-0", pod("tg-app-workers-0")))).await;
        let Outcome::PlaceholderCreated { application, pod: created } = writes.outcome().await
        else {
            panic!()
        };
        assert_eq!((&*application, &*created.name), ("app", "tg-app-workers-0"));

        let mut bad = pod("tg-app-workers-1");
        bad["spec"]["containers"] = json!([]);
        writes.write(create(placeholder("tg-app-workers-1", bad))).await;
        let Outcome::PlaceholderRefused { error, .. } = writes.outcome().await else { panic!() };
        assert!(error.contains("containers"), "{error}");

        let purpose = DeletePurpose::Cleanup;
        let other = PodIdentity { uid: "another".into(), ..created.clone() };
        writes.write(ApiWrite::DeletePod { pod: other, purpose }).await;
        // An outcome of this write follows those of earlier deletions that failed.
        writes.write(ApiWrite::ReadNamespace { name: "placeholders".into() }).await;
        let Notice::NamespaceRead { namespace: Some(_), .. } = writes.notice().await else {
            panic!()
        };
        let path = path::pod("placeholders", "tg-app-workers-0");
        api.get::<Value>(&path).await.unwrap();
        writes.write(ApiWrite::DeletePod { pod: created.clone(), purpose }).await;
        eventually("the placeholder is gone", async || api.get::<Value>(&path).await.err()).await;
        writes.write(ApiWrite::DeletePod { pod: created, purpose }).await;
        writes.write(ApiWrite::ReadNamespace { name: "nowhere".into() }).await;
        let Notice::NamespaceRead { namespace: None, .. } = writes.notice().await else { panic!() };
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_written_on_their_objects() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "events").await;
        let created = identity(&post(&api, &path::pods("events"), &pod("one")).await.unwrap());
        let writes = Writes::new(&api);
        let about_pod = EventObject::Pod {
            namespace: created.namespace.clone(),
            name: created.name.clone(),
            uid: created.uid.clone(),
        };
        let about_node = EventObject::Node { name: "node-0001".into(), uid: "u".into() };
        let about_map = EventObject::ConfigMap { name: "yunikorn-configs".into() };
        let about_namespace = EventObject::Namespace { name: "events".into() };
        for (about, kind) in [
            (about_pod.clone(), EventKind::Scheduled),
            (about_pod.clone(), EventKind::Scheduled),
            (about_pod, EventKind::Bound),
            (about_node, EventKind::NodeAccepted),
            (about_map, EventKind::ConfigurationIgnored),
            (about_namespace, EventKind::NamespaceIgnored),
        ] {
            let event = Event { about, kind, note: "a sentence".into() };
            writes.to.send(ToServer::Event(event)).await.unwrap();
        }
        let counts = eventually("five events", async || {
            let counts = EventOutcome::ALL.map(|outcome| api.counters().events(outcome));
            (counts.iter().sum::<u64>() >= 5).then_some(counts)
        })
        .await;
        assert_eq!(counts, [5, 0, 0]);
        let events = api.get::<Value>(&path::events("events")).await.unwrap();
        let mut reasons: Vec<_> = events["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["reason"].to_string())
            .collect();
        reasons.sort();
        assert_eq!(reasons, [r#""PodBindSuccessful""#, r#""Scheduled""#]);
        // The repeat becomes a series half a minute later.
        eventually("a series", async || {
            let events = api.get::<Value>(&path::events("events")).await.ok()?;
            let mut events = events["items"].as_array()?.iter();
            events.any(|event| event["series"]["count"] == 2).then_some(())
        })
        .await;
    });
}

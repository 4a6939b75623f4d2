//! Volumes that are bound late.

use headroom_kubernetes::client::path;
use headroom_kubernetes::observe::{Observer, observe};
use headroom_kubernetes::queue::Observed;
use headroom_pods::shim::{ApiWrite, BindDone, BindError, BindStep, Notice};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::support::cluster::{eventually, namespace, patch, pod, post, soon};
use super::{Writes, identity, with_cluster};

/// Watches, and waits until all kinds are listed.
async fn listed(writes: &Writes, api: &headroom_kubernetes::client::Api) -> Observer {
    let (to, mut queue) = mpsc::channel(1_000);
    let observer = observe(api, "default", &writes.volumes, to);
    loop {
        let observed = soon("the lists", queue.recv()).await.unwrap();
        if matches!(observed, Observed::Notice(Notice::Listed { .. })) {
            break;
        }
    }
    // The queue must be read, or the watches stop.
    tokio::spawn(async move { while queue.recv().await.is_some() {} });
    observer
}

fn class(name: &str, provisioner: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": { "name": name },
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    })
}

fn volume(name: &str, class: &str, size: &str, node: &str) -> Value {
    let hostname = json!([{ "key": "kubernetes.io/hostname", "operator": "In", "values": [node] }]);
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": { "name": name },
        "spec": {
            "storageClassName": class,
            "capacity": { "storage": size },
            "accessModes": ["ReadWriteOnce"],
            "local": { "path": "/none" },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": hostname }] } },
        },
    })
}

fn claim(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": name },
        "spec": {
            "storageClassName": class,
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}

fn pod_with(name: &str, claim: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["volumes"] =
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": claim } }]);
    pod
}

#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_volume_of_the_node_is_bound_before_the_pod() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "static").await;
        let classes = "/apis/storage.k8s.io/v1/storageclasses";
        post(&api, classes, &class("local", "kubernetes.io/no-provisioner")).await.unwrap();
        for (name, size, node) in [
            ("large", "9Gi", "node-0001"),
            ("small", "2Gi", "node-0001"),
            ("far", "1Gi", "node-0002"),
        ] {
            post(&api, path::VOLUMES, &volume(name, "local", size, node)).await.unwrap();
        }
        for name in ["large", "small", "far"] {
            eventually("a volume is available", async || {
                let volume = api.get::<Value>(&path::volume(name)).await.ok()?;
                (volume["status"]["phase"] == "Available").then_some(())
            })
            .await;
        }
        let claims = format!("{}/persistentvolumeclaims", path::namespace("static"));
        // A controller that does not know the class yet, as after a restart of the API server, binds claims at once.
        let mut probe = claim("probe", "local");
        probe["spec"]["resources"]["requests"]["storage"] = json!("100Ti");
        post(&api, &claims, &probe).await.unwrap();
        eventually("the controller knows the class", async || {
            let path = format!("{}/events", path::namespace("static"));
            let events = api.get::<Value>(&path).await.ok()?;
            let mut reasons = events["items"].as_array()?.iter().map(|event| &event["reason"]);
            reasons.any(|reason| reason == "WaitForFirstConsumer").then_some(())
        })
        .await;
        for name in ["one", "two"] {
            post(&api, &claims, &claim(name, "local")).await.unwrap();
        }
        let pods = path::pods("static");
        let one = identity(&post(&api, &pods, &pod_with("one", "one")).await.unwrap());
        let two = identity(&post(&api, &pods, &pod_with("two", "two")).await.unwrap());
        let mut writes = Writes::new(&api);
        let _observer = listed(&writes, &api).await;

        // An undone selection is free again, and an assumed volume is not.
        let assume = BindStep::AssumeVolumes;
        let assumed = Ok(BindDone::VolumesAssumed);
        let bind = BindStep::BindVolumes;
        assert_eq!(writes.bind(&two, "node-0001", assume).await, assumed);
        writes.write(ApiWrite::UndoVolumes { pod: two.clone() }).await;
        let none = Err(BindError::Final("no volumes are selected".into()));
        assert_eq!(writes.bind(&two, "node-0001", bind).await, none);
        assert_eq!(writes.bind(&one, "node-0001", assume).await, assumed);
        let refused = writes.bind(&two, "node-0003", assume).await;
        assert!(matches!(refused, Err(BindError::Retry(_))), "{refused:?}");
        assert_eq!(writes.bind(&two, "node-0001", assume).await, assumed);

        assert_eq!(writes.bind(&one, "node-0001", bind).await, Ok(BindDone::VolumesBound));
        let bound = api.get::<Value>(&path::claim("static", "one")).await.unwrap();
        assert_eq!(bound["spec"]["volumeName"], "small");
        assert_eq!(writes.bind(&two, "node-0001", bind).await, Ok(BindDone::VolumesBound));
        let bound = api.get::<Value>(&path::claim("static", "two")).await.unwrap();
        assert_eq!(bound["spec"]["volumeName"], "large");
        // A pod whose volumes are bound has nothing to assume.
        assert_eq!(writes.bind(&one, "node-0001", assume).await, Ok(BindDone::VolumesBound));
        let bind = BindStep::BindPod;
        assert_eq!(writes.bind(&one, "node-0001", bind).await, Ok(BindDone::PodBound));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_is_created_for_the_selected_node() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "dynamic").await;
        let classes = "/apis/storage.k8s.io/v1/storageclasses";
        post(&api, classes, &class("disks", "test.example/disks")).await.unwrap();
        let claims = format!("{}/persistentvolumeclaims", path::namespace("dynamic"));
        let claimed = post(&api, &claims, &claim("one", "disks")).await.unwrap();
        post(&api, &claims, &claim("two", "disks")).await.unwrap();
        let pods = path::pods("dynamic");
        let one = identity(&post(&api, &pods, &pod_with("one", "one")).await.unwrap());
        let two = identity(&post(&api, &pods, &pod_with("two", "two")).await.unwrap());
        let mut writes = Writes::new(&api);
        let _observer = listed(&writes, &api).await;
        let (assume, bind) = (BindStep::AssumeVolumes, BindStep::BindVolumes);
        let selected = async |name: &str| {
            eventually("the selected node", async || {
                let claim = api.get::<Value>(&path::claim("dynamic", name)).await.ok()?;
                let key = "volume.kubernetes.io/selected-node";
                claim["metadata"]["annotations"][key].as_str().map(str::to_owned)
            })
            .await
        };

        assert_eq!(writes.bind(&one, "node-0002", assume).await, Ok(BindDone::VolumesAssumed));
        // The provisioner, which this test plays.
        let provision = async {
            assert_eq!(selected("one").await, "node-0002");
            let mut volume = volume("created", "disks", "1Gi", "node-0002");
            volume["spec"]["claimRef"] = json!({
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": "dynamic",
                "name": "one",
                "uid": claimed["metadata"]["uid"],
            });
            post(&api, path::VOLUMES, &volume).await.unwrap();
        };
        let (result, ()) = tokio::join!(writes.bind(&one, "node-0002", bind), provision);
        assert_eq!(result, Ok(BindDone::VolumesBound));

        assert_eq!(writes.bind(&two, "node-0002", assume).await, Ok(BindDone::VolumesAssumed));
        // The provisioner has no space on the node.
        let refuse = async {
            selected("two").await;
            // The watch must show the node first.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            let none = json!({ "volume.kubernetes.io/selected-node": null });
            let body = json!({ "metadata": { "annotations": none } });
            patch(&api, &path::claim("dynamic", "two"), &body).await.unwrap();
        };
        let (result, ()) = tokio::join!(writes.bind(&two, "node-0002", bind), refuse);
        let Err(BindError::Final(error)) = result else { panic!("{result:?}") };
        assert!(error.starts_with("binding volumes: no volume could be created"), "{error}");
    });
}

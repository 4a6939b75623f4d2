//! Devices that claims get, and lose with a rollback.

use headroom_kubernetes::client::{Api, path};
use headroom_kubernetes::queue::{ClaimWrite, DeviceWrite, ToServer, WhichClaim};
use headroom_pods::object::{Allocation, Claim};
use headroom_pods::shim::{BindDone, BindError, BindRequest, BindStep, Outcome, PodIdentity};
use serde_json::{Value, json};

use super::support::cluster::{eventually, namespace, pod, post};
use super::{Writes, identity, with_cluster};

/// Creates a claim, and pods that name it. Returns what the claim gets, and the pods.
async fn claim_of(api: &Api, namespace: &str, pods: &[&str]) -> (ClaimWrite, Vec<PodIdentity>) {
    let class = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": namespace}, "spec": {}});
    post(api, "/apis/resource.k8s.io/v1/deviceclasses", &class).await.unwrap();
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
    "metadata": {"name": "one"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {
        "deviceClassName": namespace,
        "tolerations": [{"key": "old", "operator": "Exists", "effect": "NoSchedule"}]
    }}]}}});
    let claims = format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims");
    let created: Claim = serde_json::from_value(post(api, &claims, &claim).await.unwrap()).unwrap();
    let allocation: Allocation = serde_json::from_value(json!({
        "devices": {"results": [
            {"request": "gpu", "driver": "gpu.example", "pool": "p", "device": "gpu-0"}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["node-0001"]}]}]}
    }))
    .unwrap();
    let mut identities = Vec::new();
    for name in pods {
        let mut pod = pod(name);
        pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": "one"}]);
        identities.push(identity(&post(api, &path::pods(namespace), &pod).await.unwrap()));
    }
    let write = ClaimWrite {
        namespace: namespace.into(),
        name: "one".into(),
        which: WhichClaim::Existing(created.metadata.uid.clone()),
        allocation: Some(allocation),
        class_config: vec![json!({"source": "FromClass", "requests": ["gpu"],
            "opaque": {"driver": "gpu.example", "parameters": {"mode": "fast"}}})],
        assumption: 1,
    };
    (write, identities)
}

async fn allocate(writes: &mut Writes, pod: &PodIdentity, claim: ClaimWrite) {
    let step = BindStep::AllocateDevices;
    let request = BindRequest { pod: pod.clone(), node: "node-0001".into(), step, ticket: 1 };
    let write = DeviceWrite::Allocate(request, vec![claim]);
    writes.to.send(ToServer::Devices(write)).await.unwrap();
    match writes.outcome().await {
        Outcome::Bind { result, .. } => assert_eq!(result, Ok(BindDone::DevicesAllocated)),
        other => panic!("{other:?}"),
    }
}

/// Takes the devices of a pod back. Another step for the pod is answered afterwards, because the writes of one pod follow
/// each other. The pod is not bound, because the controller of claims reserves the claims of a bound pod.
async fn undo(writes: &mut Writes, pod: &PodIdentity, claim: ClaimWrite) {
    let undo = DeviceWrite::Undo(pod.clone(), vec![claim]);
    writes.to.send(ToServer::Devices(undo)).await.unwrap();
    let next = writes.bind(pod, "node-0001", BindStep::AllocateDevices).await;
    assert!(matches!(next, Err(BindError::Retry(_))), "nothing was selected: {next:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_are_given_and_taken_back_with_the_last_pod() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "gives").await;
        let (claim, pods) = claim_of(&api, "gives", &["a", "b"]).await;
        let path = path::device_claim("gives", "one");
        let mut writes = Writes::new(&api);
        allocate(&mut writes, &pods[0], claim.clone()).await;
        // A second try, and another pod that shares the devices.
        allocate(&mut writes, &pods[0], claim.clone()).await;
        allocate(&mut writes, &pods[1], ClaimWrite { allocation: None, ..claim.clone() }).await;
        let given = api.get::<Value>(&path).await.unwrap();
        let status = &given["status"];
        let result = &status["allocation"]["devices"]["results"][0];
        assert_eq!(
            (&result["device"], &result["tolerations"][0]["key"]),
            (&json!("gpu-0"), &json!("old"))
        );
        let config = &status["allocation"]["devices"]["config"];
        assert_eq!(config.as_array().unwrap().len(), 1, "{config}");
        assert_eq!(config[0]["source"], "FromClass");
        assert_eq!(status["reservedFor"].as_array().unwrap().len(), 2, "{status}");
        let finalizers = &given["metadata"]["finalizers"];
        assert!(finalizers.to_string().contains("delete-protection"), "{finalizers}");
        // The other pod still uses the devices.
        undo(&mut writes, &pods[0], claim.clone()).await;
        let shared = api.get::<Value>(&path).await.unwrap();
        assert_eq!(shared["status"]["allocation"], status["allocation"]);
        assert_eq!(shared["status"]["reservedFor"][0]["name"], "b");
        undo(&mut writes, &pods[1], ClaimWrite { allocation: None, ..claim }).await;
        let free = api.get::<Value>(&path).await.unwrap();
        assert_eq!(free["status"]["allocation"], Value::Null, "{free}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_bound_keeps_its_devices() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "keeps").await;
        let (claim, pods) = claim_of(&api, "keeps", &["a"]).await;
        let path = path::device_claim("keeps", "one");
        let mut writes = Writes::new(&api);
        allocate(&mut writes, &pods[0], claim.clone()).await;
        // As another scheduler does, so that this one rolls back.
        let bound = writes.bind(&pods[0], "node-0001", BindStep::BindPod).await;
        assert_eq!(bound, Ok(BindDone::PodBound));
        undo(&mut writes, &pods[0], claim).await;
        let kept = api.get::<Value>(&path).await.unwrap();
        assert!(kept["status"]["allocation"].is_object(), "{kept}");
        assert_eq!(kept["status"]["reservedFor"][0]["name"], "a");
        eventually("the pod runs", async || {
            let pod = api.get::<Value>(&path::pod("keeps", "a")).await.ok()?;
            (pod["status"]["phase"] == "Running").then_some(())
        })
        .await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_no_other_pod_uses_is_freed() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "frees").await;
        let (claim, pods) = claim_of(&api, "frees", &["a", "b"]).await;
        let path = path::device_claim("frees", "one");
        let mut writes = Writes::new(&api);
        allocate(&mut writes, &pods[0], claim.clone()).await;
        let free = async |writes: &mut Writes, pod: &PodIdentity| {
            let free = DeviceWrite::Free(pod.clone(), claim.clone());
            writes.to.send(ToServer::Devices(free)).await.unwrap();
            let next = writes.bind(pod, "node-0001", BindStep::AllocateDevices).await;
            assert!(matches!(next, Err(BindError::Retry(_))), "nothing was selected: {next:?}");
            api.get::<Value>(&path).await.unwrap()["status"]["allocation"].is_object()
        };
        assert!(free(&mut writes, &pods[1]).await, "the first pod uses the devices");
        assert!(!free(&mut writes, &pods[0]).await);
    });
}

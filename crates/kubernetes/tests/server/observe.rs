//! The start and the order of what the scheduler observes.

use std::sync::Arc;
use std::time::Duration;

use headroom_kubernetes::client::path;
use headroom_kubernetes::observe::{observe, read_settings};
use headroom_kubernetes::queue::Observed;
use headroom_kubernetes::volumes::Volumes;
use headroom_pods::predicate::Snapshot;
use headroom_pods::shim::{Notice, SettingsMap};
use serde_json::json;
use tokio::sync::mpsc;

use super::support::cluster::{NODES, delete, namespace, pod, post, soon};
use super::with_cluster;

#[tokio::test(flavor = "multi_thread")]
async fn nodes_and_pods_are_listed_after_all_other_kinds() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "observed").await;
        post(&api, &path::pods("observed"), &pod("early")).await.unwrap();
        let map = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": "yunikorn-configs" },
            "data": { "service.policyGroup": "queues" },
        });
        post(&api, &path::config_maps("observed"), &map).await.unwrap();
        let class = json!({
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": { "name": "observed" },
            "provisioner": "kubernetes.io/no-provisioner",
        });
        post(&api, "/apis/storage.k8s.io/v1/storageclasses", &class).await.unwrap();
        let (defaults, configs) = read_settings(&api, "observed").await.unwrap();
        assert!(defaults.is_none() && configs.is_some());

        // The queue is small, so the watches wait for space.
        let (to, mut queue) = mpsc::channel(2);
        let mut observer = observe(&api, "observed", &Arc::new(Volumes::default()), to);
        let mut snapshot = Snapshot::default();
        let (mut maps, mut classes) = (Vec::new(), 0);
        let pods = loop {
            match soon("the lists", queue.recv()).await.unwrap() {
                Observed::Change(change) => (change.0)(&mut snapshot),
                Observed::Notice(Notice::ConfigMap { which, map }) => {
                    maps.push((which, map.is_some()));
                }
                Observed::Notice(Notice::PriorityClass(_)) => classes += 1,
                Observed::Notice(Notice::Namespace(_) | Notice::Claim { .. }) => {}
                Observed::Notice(Notice::Listed { nodes, pods }) => {
                    assert_eq!(nodes.len(), NODES);
                    break pods;
                }
                Observed::Notice(other) => panic!("{other:?}"),
            }
        };
        assert!(pods.iter().any(|pod| pod.metadata.name == *"early"));
        maps.sort_by_key(|(which, _)| matches!(which, SettingsMap::Configs));
        assert_eq!(maps, [(SettingsMap::Defaults, false), (SettingsMap::Configs, true)]);
        assert!(classes >= 2, "Kubernetes has two classes of its own");
        assert!(snapshot.namespace("observed").is_some());
        assert!(snapshot.storage().classes.contains_key("observed"));

        post(&api, &path::pods("observed"), &pod("late")).await.unwrap();
        delete(&api, &path::pod("observed", "late")).await.unwrap();
        let mut words = Vec::new();
        while words.last() != Some(&"gone") {
            match soon("changes", queue.recv()).await.unwrap() {
                Observed::Notice(Notice::Pod(pod)) if pod.metadata.name == *"late" => {
                    words.push("pod");
                }
                Observed::Notice(Notice::PodGone(pod)) if pod.metadata.name == *"late" => {
                    words.push("gone");
                }
                Observed::Notice(_) | Observed::Change(_) => {}
            }
        }
        assert_eq!(words[0], "pod");
        drop(queue);
        post(&api, &path::pods("observed"), &pod("last")).await.unwrap();
        tokio::time::timeout(Duration::from_mins(1), observer.ended()).await.unwrap();
    });
}

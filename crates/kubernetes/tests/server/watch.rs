//! Watches of a real API server.

use headroom_kubernetes::client::path;
use headroom_kubernetes::watch::{Change, Need, Source, Watch};
use headroom_pods::object::{Node, Pod};
use serde_json::json;

use super::support::cluster::{NODES, delete, namespace, patch, pod, post, soon};
use super::with_cluster;

/// Returns the next change of the pod with this name, as a word and a label.
pub(crate) async fn next(watch: &mut Watch<Pod>, name: &str) -> (&'static str, String) {
    loop {
        let (word, pod) = match soon("a change of a pod", watch.next()).await {
            Change::Listed(_) => continue,
            Change::Applied(pod) => ("applied", pod),
            Change::Deleted(pod) => ("deleted", pod),
        };
        if pod.metadata.name == *name {
            let label = pod.metadata.labels.get("app").cloned().unwrap_or_default();
            return (word, label.to_string());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_shows_a_created_a_changed_and_a_deleted_pod() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        namespace(&api, "watched").await;
        for pages in [false, true] {
            let source = Source::new(path::pods("watched"), Need::Required);
            let watch = Watch::<Pod>::new(api.clone(), source);
            let mut watch = if pages { watch.in_pages(1) } else { watch };
            let Change::Listed(pods) = soon("a list", watch.next()).await else { panic!() };
            assert!(pods.is_empty());
            post(&api, &path::pods("watched"), &pod("one")).await.unwrap();
            assert_eq!(next(&mut watch, "one").await, ("applied", "test".into()));
            let path = path::pod("watched", "one");
            patch(&api, &path, &json!({ "metadata": { "labels": { "app": "new" } } }))
                .await
                .unwrap();
            assert_eq!(next(&mut watch, "one").await, ("applied", "new".into()));
            delete(&api, &path).await.unwrap();
            // The pod can be shown once more, as one that is being deleted.
            let mut seen = next(&mut watch, "one").await;
            if seen.0 == "applied" {
                assert_eq!(seen.1, "new");
                seen = next(&mut watch, "one").await;
            }
            assert_eq!(seen, ("deleted", "new".into()));
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_to_list_find_the_same() {
    with_cluster!(cluster, shared, {
        let api = cluster.api().await;
        let mut lists = Vec::new();
        for pages in [None, Some(2), Some(NODES), Some(500)] {
            let watch = Watch::<Node>::new(api.clone(), Source::new(path::NODES, Need::Required));
            let mut watch = match pages {
                Some(objects) => watch.in_pages(objects),
                None => watch,
            };
            let Change::Listed(nodes) = soon("a list", watch.next()).await else { panic!() };
            let mut names: Vec<_> =
                nodes.iter().map(|node| node.metadata.name.to_string()).collect();
            names.sort();
            assert_eq!(names.len(), NODES);
            lists.push(names);
        }
        assert!(lists.iter().all(|list| *list == lists[0]));
    });
}

//! Watches bear the loss of the API server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use headroom_kubernetes::client::path;
use headroom_kubernetes::watch::{Change, Need, Source, Watch};
use headroom_pods::object::Pod;
use serde_json::json;

use super::support::cluster::{namespace, pod, post, soon};
use super::watch::next;
use super::with_cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_goes_on_after_a_restart_of_the_api_server() {
    with_cluster!(cluster, alone, {
        let api = cluster.api().await;
        namespace(&api, "restarted").await;
        let pods = path::pods("restarted");
        post(&api, &pods, &pod("lost")).await.unwrap();
        post(&api, &pods, &pod("stays")).await.unwrap();
        let mut watch = Watch::<Pod>::new(api.clone(), Source::new(&*pods, Need::Required));
        let Change::Listed(listed) = soon("a list", watch.next()).await else { panic!() };
        assert_eq!(listed.len(), 2);

        // The pod is deleted while nobody can see it, so no event will tell.
        cluster.stop_part("kube-apiserver");
        let watching = tokio::spawn(async move {
            let lost = next(&mut watch, "lost").await;
            (watch, lost)
        });
        let key = STANDARD.encode("/registry/pods/restarted/lost");
        cluster.etcd("deleterange", &json!({ "key": key }));
        cluster.start_parts();
        let (mut watch, lost) = soon("the deletion of a pod", watching).await.unwrap();
        assert_eq!(lost.0, "deleted");
        post(&api, &pods, &pod("new")).await.unwrap();
        assert_eq!(next(&mut watch, "new").await.0, "applied");
    });
}

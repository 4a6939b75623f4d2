//! The start: nodes and pods are reported together, after all other kinds are listed.

use std::pin::Pin;
use std::sync::Arc;

use headroom_pods::object::{Node, Pod};
use headroom_pods::shim::Notice;
use tokio::sync::{mpsc, oneshot, watch};

use crate::client::path;
use crate::queue::Observed;
use crate::watch::{Change, Need, Object, Source, Watch};

use super::{Seen, Target, pod};

/// Opens when every entry is dropped.
#[derive(Debug)]
pub(super) struct Gate {
    entries: mpsc::Sender<()>,
    ends: mpsc::Receiver<()>,
}

/// A kind that is not listed yet.
#[derive(Debug)]
pub(super) struct Entry {
    _held: mpsc::Sender<()>,
}

impl Default for Gate {
    fn default() -> Self {
        let (entries, ends) = mpsc::channel(1);
        Self { entries, ends }
    }
}

impl Gate {
    pub(super) fn entry(&self) -> Entry {
        Entry { _held: self.entries.clone() }
    }

    /// Waits until all kinds are listed.
    async fn opened(mut self) {
        drop(self.entries);
        self.ends.recv().await;
    }
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Returns the tasks of nodes, of pods, and of their common start.
pub(super) fn tasks(target: &Target, gate: Gate) -> [Task; 3] {
    let (nodes, listed_nodes) = oneshot::channel();
    let (pods, listed_pods) = oneshot::channel();
    // True when `Notice::Listed` is in the queue. Then, changes follow.
    let (begun, is_begun) = watch::channel(false);
    let volumes = Arc::clone(&target.volumes);
    let list_nodes = move |listed: Vec<Arc<Node>>| {
        for node in &listed {
            volumes.put_node(Arc::clone(node));
        }
        drop(nodes.send(listed));
    };
    let list_pods = move |listed: Vec<Arc<Pod>>| drop(pods.send(listed));
    let node_target = target.clone();
    let node = move |seen| node_target.node(seen);
    let follow_nodes = follow(target.clone(), path::NODES, is_begun.clone(), list_nodes, node);
    let follow_pods = follow(target.clone(), path::PODS, is_begun, list_pods, pod);
    let to = target.to.clone();
    let start = async move {
        gate.opened().await;
        let (Ok(nodes), Ok(pods)) = (listed_nodes.await, listed_pods.await) else { return };
        tracing::info!(nodes = nodes.len(), pods = pods.len(), "all kinds are listed");
        if to.send(Observed::Notice(Notice::Listed { nodes, pods })).await.is_ok() {
            begun.send_replace(true);
        }
        // The end of a task means the end of the observer.
        to.closed().await;
    };
    [Box::pin(follow_nodes), Box::pin(follow_pods), Box::pin(start)]
}

/// Follows nodes or pods. Changes are reported after the start.
async fn follow<T: Object>(
    target: Target,
    path: &'static str,
    mut is_begun: watch::Receiver<bool>,
    listed: impl FnOnce(Vec<Arc<T>>) + Send,
    tell: impl Fn(Seen<T>) -> Notice + Send,
) {
    let mut watch = Watch::new(target.api, Source::new(path, Need::Required));
    let mut listed = Some(listed);
    loop {
        let notice = match watch.next().await {
            Change::Listed(objects) => {
                if let Some(listed) = listed.take() {
                    listed(objects);
                }
                if is_begun.wait_for(|is_begun| *is_begun).await.is_err() {
                    return;
                }
                continue;
            }
            Change::Applied(object) => tell(Seen::Applied(object)),
            Change::Deleted(object) => tell(Seen::Deleted(object)),
        };
        if target.to.send(Observed::Notice(notice)).await.is_err() {
            return;
        }
    }
}

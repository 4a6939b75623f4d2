//! How far the claims of a pod are.

use headroom_pods::object::Text;

use super::assumption::{has_node, is_lost, is_served};
use super::{State, Step, Volumes};

/// How far the claims of a pod are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All claims are bound.
    Done,
    /// This claim is not bound yet.
    Waits(Text),
    /// The claims will not be bound.
    Failed(String),
}

impl Volumes {
    /// Waits until the claims of a pod are bound, or will not be bound.
    pub(crate) async fn settled(&self, steps: &[Step]) -> Progress {
        loop {
            // Registers first, so that no change between the look and the wait is missed.
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.progress(steps) {
                Progress::Waits(_) => changed.await,
                settled @ (Progress::Done | Progress::Failed(_)) => return settled,
            }
        }
    }

    /// Returns how far the claims of a pod are.
    pub(crate) fn progress(&self, steps: &[Step]) -> Progress {
        let state = self.state();
        let mut waits = None;
        for step in steps {
            match state.step_progress(step) {
                Progress::Done => {}
                Progress::Waits(claim) => waits = Some(claim),
                failed @ Progress::Failed(_) => return failed,
            }
        }
        waits.map_or(Progress::Done, Progress::Waits)
    }
}

impl State {
    fn step_progress(&self, step: &Step) -> Progress {
        let (name, storage) = (step.claim(), self.snapshot.storage());
        let claim = storage.claims.get(&name.namespace, &name.name);
        let Some(claim) = claim.filter(|claim| claim.metadata.uid == *step.claim_uid()) else {
            return Progress::Failed(format!("claim {} was deleted", name.name));
        };
        if is_lost(claim) {
            return Progress::Failed(format!("claim {} lost its volume", name.name));
        }
        if is_served(claim) {
            return Progress::Done;
        }
        match step {
            Step::Bind { volume, .. } => {
                if !storage.volumes.contains_key(volume) {
                    return Progress::Failed(format!("volume {volume} was deleted"));
                }
            }
            Step::Create { node, .. } => {
                // The provisioner takes the node back if it cannot create the volume there.
                if !has_node(claim) {
                    return Progress::Failed(format!(
                        "no volume could be created for claim {} and node {node}",
                        name.name
                    ));
                }
            }
        }
        Progress::Waits(name.name.clone())
    }
}

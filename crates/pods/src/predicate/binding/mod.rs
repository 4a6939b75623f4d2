//! `VolumeBinding`: the volumes of the claims are reachable from the node, or can be bound or created there.

mod choose;
mod provision;

use std::collections::{BTreeMap, BTreeSet};

use crate::object::{
    BindingMode, ClaimPhase, Labels, PersistentVolume, PersistentVolumeClaim, Text,
};
use crate::quantity::Quantity;

use super::claim::{ClaimName, class_of_claim, class_of_volume};
use super::label::selects_labels;
use super::{BindingRefusal, Context, NodeFacts, Predicate, Preparation, Refusal};

use choose::choose;
use provision::{Provision, can_provision};

/// Annotation of a claim whose binding is complete.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// Annotation of a claim with the node on which its volume is created.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Resource that is the size of a volume.
const STORAGE: &str = "storage";

/// What must be done for a claim before the pod is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeStep<'a> {
    /// The volume is to serve the claim.
    Bind {
        /// The claim.
        claim: &'a PersistentVolumeClaim,
        /// The volume.
        volume: &'a PersistentVolume,
    },
    /// A volume for the claim is to be created for the node.
    Create {
        /// The claim.
        claim: &'a PersistentVolumeClaim,
    },
}

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct VolumeBinding<'a> {
    /// Volumes of bound claims, in the order of the claims. A missing volume is `None`.
    bound: Vec<Option<&'a PersistentVolume>>,
    /// Claims without volume whose node is not selected, the smallest first.
    unbound: Vec<&'a PersistentVolumeClaim>,
    /// Claims whose volume is being created, and the node that was selected for it.
    selected: Vec<(&'a PersistentVolumeClaim, &'a Text)>,
    /// Volumes of the classes of unbound claims.
    volumes: BTreeMap<&'a str, Vec<&'a PersistentVolume>>,
}

impl<'a> Predicate<'a> for VolumeBinding<'a> {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let claims = match claims(context) {
            Ok(claims) if claims.is_empty() => return Preparation::Skip,
            Ok(claims) => claims,
            Err(refusal) => return Preparation::Refuse(Refusal::Binding(refusal)),
        };
        match sort(context, claims) {
            Ok(state) => Preparation::check(state),
            Err(refusal) => Preparation::Refuse(Refusal::Binding(refusal)),
        }
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        self.steps(context, node).map(drop)
    }
}

/// Returns the claims of the pod, if all of them are sound.
fn claims(context: Context<'_>) -> Result<Vec<&PersistentVolumeClaim>, BindingRefusal> {
    let mut claims = Vec::new();
    for volume in &context.pod.pod().spec.volumes {
        let Some(name) = ClaimName::of(context.pod, volume) else { continue };
        let claim = name.find(context, context.pod).map_err(BindingRefusal::Claim)?;
        let metadata = &claim.metadata;
        if claim.status.phase == ClaimPhase::Lost {
            return Err(BindingRefusal::Lost {
                claim: metadata.name.clone(),
                volume: claim.spec.volume_name.clone(),
            });
        }
        if metadata.is_deleting() {
            return Err(BindingRefusal::Deleting { claim: metadata.name.clone() });
        }
        name.check_owner(context.pod, claim).map_err(BindingRefusal::Claim)?;
        claims.push(claim);
    }
    Ok(claims)
}

/// Sorts claims by what must be done for them.
fn sort<'a>(
    context: Context<'a>,
    claims: Vec<&'a PersistentVolumeClaim>,
) -> Result<VolumeBinding<'a>, BindingRefusal> {
    let storage = context.snapshot.storage();
    let mut state = VolumeBinding {
        bound: Vec::new(),
        unbound: Vec::new(),
        selected: Vec::new(),
        volumes: BTreeMap::new(),
    };
    let mut is_immediate = false;
    for claim in claims {
        let volume = &claim.spec.volume_name;
        if !volume.is_empty() && claim.metadata.annotations.contains(BIND_COMPLETED) {
            state.bound.push(storage.volumes.get(volume).map(|volume| &**volume));
        } else if !waits(context, claim)? || !volume.is_empty() {
            is_immediate = true;
        } else {
            match claim.metadata.annotations.get(SELECTED_NODE) {
                Some(node) => state.selected.push((claim, node)),
                None => state.unbound.push(claim),
            }
        }
    }
    if is_immediate {
        return Err(BindingRefusal::UnboundImmediate);
    }
    state.unbound.sort_by_key(|claim| size_of_claim(claim));
    let classes: BTreeSet<_> = state.unbound.iter().map(|claim| class_of_claim(claim)).collect();
    for volume in storage.volumes.values().filter(|_| !classes.is_empty()) {
        let class = class_of_volume(volume);
        if classes.contains(class) {
            state.volumes.entry(class).or_default().push(volume);
        }
    }
    Ok(state)
}

/// Returns whether the claim is bound when a pod uses it.
fn waits(context: Context<'_>, claim: &PersistentVolumeClaim) -> Result<bool, BindingRefusal> {
    let name = class_of_claim(claim);
    let Some(class) = context.snapshot.storage().classes.get(name) else { return Ok(false) };
    match class.volume_binding_mode {
        None => Err(BindingRefusal::NoBindingMode { class: name.into() }),
        Some(BindingMode::WaitForFirstConsumer) => Ok(true),
        Some(BindingMode::Immediate | BindingMode::Unknown) => Ok(false),
    }
}

impl<'a> VolumeBinding<'a> {
    /// Returns what must be done before the pod is bound to the node.
    pub(super) fn steps(
        &self,
        context: Context<'a>,
        node: &NodeFacts,
    ) -> Result<Vec<VolumeStep<'a>>, Refusal> {
        self.check_node(context, node).map_err(Refusal::Binding)
    }

    fn check_node(
        &self,
        context: Context<'a>,
        node: &NodeFacts,
    ) -> Result<Vec<VolumeStep<'a>>, BindingRefusal> {
        let (mut unreachable, mut missing_volume) = (false, false);
        // The first volume with a fault decides.
        for volume in &self.bound {
            match volume {
                None => missing_volume = true,
                Some(volume) => unreachable = !is_reachable(volume, node.labels()),
            }
            if unreachable || missing_volume {
                break;
            }
        }
        let (mut no_volume, mut no_storage) = (false, false);
        let (found, steps) = self.find(context, node)?;
        match found {
            Provision::Possible => {}
            Provision::Impossible => no_volume = true,
            Provision::NoStorage => no_storage = true,
        }
        if unreachable || missing_volume || no_volume || no_storage {
            return Err(BindingRefusal::Node {
                unreachable,
                no_volume,
                no_storage,
                missing_volume,
            });
        }
        Ok(steps)
    }

    /// Finds volumes for the claims without volume, or checks whether they can be created.
    ///
    /// The steps are complete only if all volumes are possible.
    fn find(
        &self,
        context: Context<'a>,
        node: &NodeFacts,
    ) -> Result<(Provision, Vec<VolumeStep<'a>>), BindingRefusal> {
        let mut steps = Vec::new();
        if self.selected.iter().any(|(_, selected)| *selected != node.name()) {
            return Ok((Provision::Impossible, steps));
        }
        let mut to_create: Vec<_> = self.selected.iter().map(|(claim, _)| *claim).collect();
        let mut chosen = Vec::new();
        for claim in &self.unbound {
            let volumes = self.volumes.get(class_of_claim(claim)).map_or(&[][..], Vec::as_slice);
            match choose(claim, volumes, node.labels(), &chosen) {
                Some(volume) => {
                    chosen.push(volume);
                    steps.push(VolumeStep::Bind { claim, volume });
                }
                None => to_create.push(claim),
            }
        }
        for claim in to_create {
            match can_provision(context, claim, node.labels())? {
                Provision::Possible => steps.push(VolumeStep::Create { claim }),
                found @ (Provision::Impossible | Provision::NoStorage) => {
                    return Ok((found, steps));
                }
            }
        }
        Ok((Provision::Possible, steps))
    }
}

/// Returns whether nodes with these labels can reach a volume.
fn is_reachable(volume: &PersistentVolume, labels: &Labels) -> bool {
    let affinity = volume.spec.node_affinity.as_ref();
    let required = affinity.and_then(|affinity| affinity.required.as_ref());
    // Conditions on the name of a node are not read here.
    required.is_none_or(|selector| selects_labels(selector, labels, None))
}

fn size_of_claim(claim: &PersistentVolumeClaim) -> Quantity {
    claim.spec.resources.requests.get(STORAGE).copied().unwrap_or_default()
}

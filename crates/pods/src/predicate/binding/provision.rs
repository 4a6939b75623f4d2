//! Whether a volume can be created for a claim.

use crate::object::{
    CsiStorageCapacity, Labels, PersistentVolumeClaim, StorageClass, TopologyTerm,
};
use crate::predicate::claim::class_of_claim;
use crate::predicate::label::{has_one_of, selects_some};
use crate::predicate::{BindingRefusal, Context};

use super::{STORAGE, size_of_claim};

/// Provisioner of classes whose volumes people create.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Whether volumes can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provision {
    /// They can.
    Possible,
    /// The class creates no volumes, or not for this node.
    Impossible,
    /// Not enough storage is left.
    NoStorage,
}

/// Returns whether a volume can be created for the claim that nodes with these labels reach.
pub(super) fn can_provision(
    context: Context<'_>,
    claim: &PersistentVolumeClaim,
    labels: &Labels,
) -> Result<Provision, BindingRefusal> {
    let name = class_of_claim(claim);
    if name.is_empty() {
        return Ok(Provision::Impossible);
    }
    let Some(class) = context.snapshot.storage().classes.get(name) else {
        return Err(BindingRefusal::NoClass { class: name.into() });
    };
    let creates = !class.provisioner.is_empty() && class.provisioner != NO_PROVISIONER;
    if !creates || !is_allowed(class, labels) {
        return Ok(Provision::Impossible);
    }
    if has_storage(context, claim, class, labels) {
        Ok(Provision::Possible)
    } else {
        Ok(Provision::NoStorage)
    }
}

/// Returns whether the class creates volumes for nodes with these labels.
fn is_allowed(class: &StorageClass, labels: &Labels) -> bool {
    let holds = |term: &TopologyTerm| {
        let requirements = &term.match_label_expressions;
        let mut requirements_hold = requirements
            .iter()
            .map(|requirement| has_one_of(labels, &requirement.key, &requirement.values));
        !requirements.is_empty() && requirements_hold.all(|holds| holds)
    };
    class.allowed_topologies.is_empty() || class.allowed_topologies.iter().any(holds)
}

/// Returns whether enough storage is left, as far as the driver reports it.
fn has_storage(
    context: Context<'_>,
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    labels: &Labels,
) -> bool {
    let storage = context.snapshot.storage();
    let driver = storage.csi_drivers.get(&class.provisioner);
    let reports = driver.and_then(|driver| driver.spec.storage_capacity).unwrap_or(false);
    if !reports || !claim.spec.resources.requests.contains(STORAGE) {
        return true;
    }
    let size = size_of_claim(claim).value();
    let suffices = |left: &CsiStorageCapacity| {
        let limit = left.maximum_volume_size.or(left.capacity);
        left.storage_class_name == class.metadata.name
            && limit.is_some_and(|limit| limit.value() >= size)
            && selects_some(left.node_topology.as_ref(), labels)
    };
    storage.capacities.iter().any(suffices)
}

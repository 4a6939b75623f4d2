//! Choice of an existing volume for a claim.

use crate::object::{Labels, PersistentVolume, PersistentVolumeClaim, VolumePhase};
use crate::predicate::label::selects;
use crate::quantity::Quantity;

use super::{STORAGE, is_reachable, size_of_claim};

/// Returns the volume that is reserved for the claim, or the smallest volume that can serve it.
///
/// `volumes` are those of the class of the claim. `chosen` volumes are taken by other claims.
pub(super) fn choose<'a>(
    claim: &PersistentVolumeClaim,
    volumes: &[&'a PersistentVolume],
    labels: &Labels,
    chosen: &[&'a PersistentVolume],
) -> Option<&'a PersistentVolume> {
    let is_taken =
        |volume: &PersistentVolume| chosen.iter().any(|taken| std::ptr::eq(*taken, volume));
    let mut best: Option<&PersistentVolume> = None;
    for &volume in volumes.iter().filter(|volume| !is_taken(volume)) {
        let reservation = reservation(volume, claim);
        let is_candidate = reservation != Reservation::Other
            && size(volume) >= size_of_claim(claim)
            && volume.spec.volume_mode == claim.spec.volume_mode
            && !volume.metadata.is_deleting();
        if !is_candidate {
            continue;
        }
        if reservation == Reservation::This {
            return is_reachable(volume, labels).then_some(volume);
        }
        if can_serve(volume, claim, labels) && best.is_none_or(|best| size(volume) < size(best)) {
            best = Some(volume);
        }
    }
    best
}

fn size(volume: &PersistentVolume) -> Quantity {
    volume.spec.capacity.get(STORAGE).copied().unwrap_or_default()
}

/// For which claim a volume is reserved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reservation {
    None,
    This,
    Other,
}

fn reservation(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Reservation {
    let Some(reference) = &volume.spec.claim_ref else { return Reservation::None };
    let metadata = &claim.metadata;
    let is_this = reference.name == metadata.name
        && reference.namespace == metadata.namespace
        && (reference.uid.is_empty() || reference.uid == metadata.uid);
    if is_this { Reservation::This } else { Reservation::Other }
}

/// Returns whether an unreserved volume can serve a claim.
fn can_serve(volume: &PersistentVolume, claim: &PersistentVolumeClaim, labels: &Labels) -> bool {
    let selector = claim.spec.selector.as_ref();
    volume.status.phase == VolumePhase::Available
        && selector.is_none_or(|selector| selects(selector, &volume.metadata.labels))
        && claim.spec.access_modes.iter().all(|mode| volume.spec.access_modes.contains(mode))
        && is_reachable(volume, labels)
}

//! Whether the devices of a claim are ready for a pod: some are attached to the node only after the claim has them.

use crate::object::{
    AllocationResult, Claim, ConditionStatus, DeviceCondition, DeviceStatus, Text,
};

/// Whether a pod can be bound with the devices of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceReadiness {
    /// All conditions hold, or there are none.
    Ready,
    /// A condition does not hold yet.
    Waits {
        /// Name of the device.
        device: String,
        /// The condition.
        condition: String,
    },
    /// A driver reports a failure.
    Failed {
        /// Name of the device.
        device: String,
        /// The condition, with what the driver says.
        reason: String,
    },
}

/// Returns whether a pod can be bound with the devices of a claim, as their drivers report it. A claim without devices
/// is ready.
pub fn readiness(claim: &Claim) -> DeviceReadiness {
    let results = claim.status.allocation.iter().flat_map(|one| &one.devices.results);
    let mut waits = DeviceReadiness::Ready;
    for result in results.filter(|result| !result.binding_conditions.is_empty()) {
        match of_device(claim, result) {
            DeviceReadiness::Ready => {}
            DeviceReadiness::Waits { .. } if waits != DeviceReadiness::Ready => {}
            other @ DeviceReadiness::Waits { .. } => waits = other,
            failed @ DeviceReadiness::Failed { .. } => return failed,
        }
    }
    waits
}

fn of_device(claim: &Claim, result: &AllocationResult) -> DeviceReadiness {
    let is_meant = |status: &&DeviceStatus| {
        (&status.driver, &status.pool, &status.device)
            == (&result.driver, &result.pool, &result.device)
    };
    let status = claim.status.devices.iter().find(is_meant);
    let conditions = status.map_or(&[][..], |status| &status.conditions);
    let holds = |kind: &str| {
        let holding = |it: &&DeviceCondition| it.status == ConditionStatus::True;
        conditions.iter().find(|it| it.kind == *kind).filter(holding)
    };
    let device = || result.device.to_string();
    if let Some(failed) = result.binding_failure_conditions.iter().find_map(|kind| holds(kind)) {
        let details = [&failed.reason, &failed.message];
        let details = details.into_iter().filter(|text| !text.is_empty());
        let words = std::iter::once(&failed.kind).chain(details).map(Text::as_str);
        return DeviceReadiness::Failed {
            device: device(),
            reason: words.collect::<Vec<_>>().join(": "),
        };
    }
    match result.binding_conditions.iter().find(|kind| holds(kind).is_none()) {
        Some(kind) => DeviceReadiness::Waits { device: device(), condition: kind.to_string() },
        None => DeviceReadiness::Ready,
    }
}

//! From the core's values to those of the wire.

use headroom_api::headroomv1::Stamp;
use headroom_api::wsv1::Resources;
use headroom_core::Timestamp;
use headroom_core::resource::Amounts;
use headroom_engine::View;

use super::asked::short;
use crate::service::Service;

/// A point in time; one that no calendar has is the epoch.
pub(super) fn time(at: Timestamp) -> jiff::Timestamp {
    let millis = i64::try_from(at.as_millis()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).unwrap_or_default()
}

/// Amounts by resource type.
pub(super) fn resources(amounts: &Amounts) -> Resources {
    amounts.iter().map(|(name, amount)| (name.as_str(), amount.get())).collect()
}

/// Numbers begin anew with another of these: a process that did not take over what another knew.
pub(super) fn epoch(service: &Service) -> String {
    short(&service.about.instance).to_owned()
}

/// The moment of a view.
pub(super) fn stamp(service: &Service, view: &View) -> Stamp {
    Stamp { sequence: view.sequence, epoch: epoch(service), as_of: time(view.time) }
}

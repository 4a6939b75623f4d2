//! From the core's values to those of the wire.

use headroom_api::headroomv1::Stamp;
use headroom_core::Timestamp;
use headroom_engine::View;

use super::request::short;
use crate::convert::value::moment;
use crate::service::Service;

/// A point in time; one that no calendar has is the epoch.
pub(crate) fn time(at: Timestamp) -> jiff::Timestamp {
    moment(at).unwrap_or_default()
}

/// Numbers begin again with another of these: a process that did not take over what another knew.
pub(super) fn epoch(service: &Service) -> String {
    short(&service.about.instance).to_owned()
}

/// The moment of a view.
pub(super) fn stamp(service: &Service, view: &View) -> Stamp {
    Stamp { sequence: view.sequence, epoch: epoch(service), as_of: time(view.time) }
}

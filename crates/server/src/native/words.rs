//! Conversion of values of the core to values of the API.

use headroom_api::headroomv1::Stamp;
use headroom_core::Timestamp;
use headroom_engine::View;

use super::request::short;
use crate::convert::value::moment;
use crate::service::Service;

/// Returns a point in time. A time outside the calendar becomes the epoch.
pub(crate) fn time(at: Timestamp) -> jiff::Timestamp {
    moment(at).unwrap_or_default()
}

/// Returns the epoch of numbers. Numbers begin again after a change of the epoch, which means a new process.
pub(super) fn epoch(service: &Service) -> String {
    short(&service.about.instance).to_owned()
}

/// Returns the moment of a view.
pub(super) fn stamp(service: &Service, view: &View) -> Stamp {
    Stamp { sequence: view.sequence, epoch: epoch(service), as_of: time(view.time) }
}

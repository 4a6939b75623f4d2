//! The minutes of the last day.

use headroom_api::wsv1::{ApplicationHistory, ContainerHistory, IntegerText};
use headroom_core::view::Sample;

use super::value::nanos;

/// How many applications ran.
pub(crate) fn applications(sample: &Sample) -> ApplicationHistory {
    ApplicationHistory {
        timestamp: nanos(sample.at),
        total_applications: Some(IntegerText(sample.applications)),
    }
}

/// How many allocations there were.
pub(crate) fn containers(sample: &Sample) -> ContainerHistory {
    ContainerHistory {
        timestamp: nanos(sample.at),
        total_containers: Some(IntegerText(sample.allocations)),
    }
}

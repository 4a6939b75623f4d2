//! Samples of each minute of the last day.

use headroom_api::wsv1::{ApplicationHistory, ContainerHistory, IntegerText};
use headroom_core::view::Sample;

use super::value::nanos;

/// Returns the number of running applications.
pub(crate) fn applications(sample: &Sample) -> ApplicationHistory {
    ApplicationHistory {
        timestamp: nanos(sample.at),
        total_applications: Some(IntegerText(sample.applications)),
    }
}

/// Returns the number of allocations.
pub(crate) fn containers(sample: &Sample) -> ContainerHistory {
    ContainerHistory {
        timestamp: nanos(sample.at),
        total_containers: Some(IntegerText(sample.allocations)),
    }
}

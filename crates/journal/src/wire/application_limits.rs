//! Limits of the number of applications, and of what their drivers use.

use std::sync::Arc;

use headroom_core::Name;
use headroom_core::config::ApplicationLimitsConfig;

use super::types::ascending;
use super::{Decoded, Field, structure};
use crate::proto;

structure!(
    ApplicationLimitsConfig = proto::ApplicationLimits {
        max,
        max_per_user,
        max_parallel,
        max_parallel_per_user,
        max_parallel_by_user,
        driver,
        max_per_queue,
    }
);

impl Field<Option<proto::ApplicationLimits>> for Option<ApplicationLimitsConfig> {
    fn put(&self) -> Option<proto::ApplicationLimits> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::ApplicationLimits>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}

impl Field<Option<proto::ApplicationLimits>> for Option<Arc<ApplicationLimitsConfig>> {
    fn put(&self) -> Option<proto::ApplicationLimits> {
        self.as_deref().map(Field::put)
    }

    fn take(field: Option<proto::ApplicationLimits>) -> Decoded<Self> {
        field.map(|one| ApplicationLimitsConfig::take(one).map(Arc::new)).transpose()
    }
}

impl Field<Vec<proto::ParallelOfUser>> for Vec<(Name, u64)> {
    fn put(&self) -> Vec<proto::ParallelOfUser> {
        let number = |(user, applications): &(Name, u64)| proto::ParallelOfUser {
            user: user.put(),
            applications: *applications,
        };
        self.iter().map(number).collect()
    }

    fn take(field: Vec<proto::ParallelOfUser>) -> Decoded<Self> {
        ascending(field.iter().map(|one| &one.user))?;
        let number = |one: proto::ParallelOfUser| {
            let proto::ParallelOfUser { user, applications } = one;
            (Name::from(user), applications)
        };
        Ok(field.into_iter().map(number).collect())
    }
}

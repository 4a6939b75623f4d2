//! Single changes of a remedy.

use alloc::borrow::Cow;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::QueueSettings;
use crate::config::{CapacityShare, UserFactor};
use crate::id::{AllocationId, LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType};
use crate::time::Timestamp;
use crate::userlimit::Decimal;

/// A single change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Changes the maximum of a queue in one type.
    QueueMax {
        /// Queue to change.
        queue: QueueId,
        /// Resource type.
        resource: ResourceType,
        /// Current maximum.
        from: Quantity,
        /// New maximum.
        to: Quantity,
    },
    /// Changes the limit of a user or group at a queue in one type.
    Limit {
        /// Partition of the level.
        partition: PartitionId,
        /// Level of the user or group. A limit for all others is raised for all of them.
        level: LevelId,
        /// Resource type.
        resource: ResourceType,
        /// Current limit.
        from: Quantity,
        /// New limit.
        to: Quantity,
    },
    /// Raises the limit on running applications of a queue.
    QueueApplications {
        /// Queue to change.
        queue: QueueId,
        /// Current limit.
        from: u64,
        /// New limit.
        to: u64,
    },
    /// Raises the limit on running applications of a user or group at a queue.
    LimitApplications {
        /// Partition of the level.
        partition: PartitionId,
        /// Level of the user or group.
        level: LevelId,
        /// Current limit.
        from: u64,
        /// New limit.
        to: u64,
    },
    /// Raises the limit on active applications of a queue.
    ParallelApplications {
        /// Queue to change.
        queue: QueueId,
        /// Current limit.
        from: u64,
        /// New limit.
        to: u64,
    },
    /// Raises the limit on active applications of a user in the partition, which a leaf sets.
    ParallelOfUser {
        /// Leaf to change.
        queue: QueueId,
        /// Name of the user.
        user: Name,
        /// Current limit.
        from: u64,
        /// New limit.
        to: u64,
    },
    /// Changes a setting of a queue that determines limits.
    Setting {
        /// Queue to change.
        queue: QueueId,
        /// Setting to change.
        setting: Setting,
        /// Current value.
        from: Decimal,
        /// New value.
        to: Decimal,
    },
    /// Resumes a suspended tenant.
    Resume {
        /// Partition of the tenant.
        partition: PartitionId,
        /// Name of the tenant.
        tenant: Name,
        /// Queue of the tenant that contains the ask, directly or in a descendant.
        queue: QueueId,
    },
    /// Releases an allocation, or withdraws an ask with a reserved node.
    Release {
        /// Allocation or ask to release.
        allocation: AllocationId,
    },
    /// Ends an allocation with the lifetime of its application.
    End {
        /// Allocation that ends.
        allocation: AllocationId,
        /// Time of the end.
        at: Timestamp,
    },
    /// Lowers the request of the ask in one type.
    Size {
        /// Ask to change.
        ask: AllocationId,
        /// Resource type.
        resource: ResourceType,
        /// Current request.
        from: Quantity,
        /// New request.
        to: Quantity,
    },
    /// Adds a node.
    Node {
        /// Partition of the node.
        partition: PartitionId,
        /// Name of the node. Empty if it does not matter.
        name: Name,
        /// Node label. Empty for none.
        label: Name,
        /// Capacity of the node.
        capacity: Amounts,
    },
    /// Enlarges a node.
    Larger {
        /// Node to enlarge.
        node: NodeId,
        /// Additional amounts.
        by: Amounts,
    },
    /// Submits the ask to another leaf.
    Leaf {
        /// Ask to move.
        ask: AllocationId,
        /// New leaf.
        queue: QueueId,
    },
}

/// A setting of a queue that determines limits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// Maximum as a percentage of the maximum of the parent: `capacity.maximum`.
    PartOfParent,
    /// Maximum as a percentage on nodes with a label: `nodelabels.<label>.maximum`.
    PartOfLabel(Name),
    /// Fraction of a leaf that drivers can use: `maximumdriverresourcepercent`.
    Drivers,
    /// Smallest fair share of a user in percent: `minimumuserlimitpercent`.
    UserFloor,
    /// User cap as a multiple of the capacity: `userlimitfactor`.
    UserFactor,
}

impl Setting {
    /// Returns the key in the queue file.
    pub fn key(&self) -> Cow<'static, str> {
        match self {
            Self::PartOfParent => "capacity.maximum".into(),
            Self::PartOfLabel(label) => format!("nodelabels.{label}.maximum").into(),
            Self::Drivers => "maximumdriverresourcepercent".into(),
            Self::UserFloor => "minimumuserlimitpercent".into(),
            Self::UserFactor => "userlimitfactor".into(),
        }
    }

    /// Returns the largest valid or useful value.
    pub(super) const fn most(&self) -> Decimal {
        match self {
            Self::PartOfParent | Self::PartOfLabel(_) | Self::UserFloor => Decimal::HUNDRED,
            Self::Drivers => Decimal::ONE,
            Self::UserFactor => Decimal::whole(1_000_000),
        }
    }

    /// Returns the current value at a queue. `None` if the queue does not use the setting.
    pub(super) fn of(&self, settings: &QueueSettings) -> Option<Decimal> {
        let users = settings.user_limits.as_ref();
        match self {
            Self::PartOfParent => {
                let part =
                    settings.capacity.filter(|part| part.share != CapacityShare::Absolute)?;
                part.maximum
            }
            Self::PartOfLabel(label) => {
                let mut capacities = settings.label_capacities.iter();
                capacities.find(|one| one.label == *label)?.capacity.maximum
            }
            Self::Drivers => {
                Some(settings.application_limits.as_ref()?.driver.unwrap_or(Decimal::TENTH))
            }
            Self::UserFloor => Some(users?.floor.unwrap_or(Decimal::HUNDRED)),
            Self::UserFactor => users?.times(),
        }
    }

    pub(super) fn set(&self, settings: &mut QueueSettings, to: Decimal) {
        match self {
            Self::PartOfParent => {
                if let Some(part) = &mut settings.capacity {
                    part.maximum = Some(to);
                }
            }
            Self::PartOfLabel(label) => {
                let mut capacities = settings.label_capacities.iter_mut();
                if let Some(one) = capacities.find(|one| one.label == *label) {
                    one.capacity.maximum = Some(to);
                }
            }
            Self::Drivers => {
                if let Some(limits) = &mut settings.application_limits {
                    Arc::make_mut(limits).driver = Some(to);
                }
            }
            Self::UserFloor => {
                if let Some(limits) = &mut settings.user_limits {
                    Arc::make_mut(limits).floor = Some(to);
                }
            }
            Self::UserFactor => {
                if let Some(limits) = &mut settings.user_limits {
                    Arc::make_mut(limits).factor = Some(UserFactor::Times(to));
                }
            }
        }
    }
}

impl Edit {
    /// Returns the edit with each of its numbers moved one unit towards the current value, one at a time. Empty for an
    /// edit without numbers.
    pub(super) fn smaller(&self) -> Vec<Option<Self>> {
        let one = Quantity::of(1);
        let mut less = self.clone();
        match &mut less {
            Self::QueueMax { to, .. } | Self::Limit { to, .. } => *to = to.minus(one),
            Self::QueueApplications { to, .. }
            | Self::LimitApplications { to, .. }
            | Self::ParallelApplications { to, .. }
            | Self::ParallelOfUser { to, .. } => *to -= 1,
            Self::Setting { to, .. } => *to = to.minus(Decimal::SMALLEST),
            Self::Size { to, .. } => *to = to.plus(one),
            Self::Node { capacity, .. } | Self::Larger { by: capacity, .. } => {
                let all = capacity.clone();
                let each = all.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
                return each
                    .map(|(name, amount)| Some(self.with(name, amount.minus(one))))
                    .collect();
            }
            Self::Resume { .. } | Self::Release { .. } | Self::End { .. } | Self::Leaf { .. } => {
                return Vec::new();
            }
        }
        vec![Some(less)]
    }

    /// Returns the edit with another amount of a type.
    fn with(&self, name: &Name, amount: Quantity) -> Self {
        let mut edit = self.clone();
        if let Self::Node { capacity, .. } | Self::Larger { by: capacity, .. } = &mut edit {
            capacity.set(name.clone(), amount);
        }
        edit
    }
}

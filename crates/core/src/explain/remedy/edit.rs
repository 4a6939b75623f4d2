//! One change to a cluster.

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

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A queue has another maximum of a type.
    QueueMax {
        /// Which.
        queue: QueueId,
        /// Of what.
        resource: ResourceType,
        /// What it was.
        from: Quantity,
        /// What it is to be.
        to: Quantity,
    },
    /// A user or group has another limit of a type at a queue.
    Limit {
        /// In which partition.
        partition: PartitionId,
        /// Whose, and where; where the limit is that of all others, it is raised for all.
        level: LevelId,
        /// Of what.
        resource: ResourceType,
        /// What it was.
        from: Quantity,
        /// What it is to be.
        to: Quantity,
    },
    /// More applications may run in a queue.
    QueueApplications {
        /// Which.
        queue: QueueId,
        /// How many might.
        from: u64,
        /// How many may.
        to: u64,
    },
    /// A user or group may run more applications at a queue.
    LimitApplications {
        /// In which partition.
        partition: PartitionId,
        /// Whose, and where.
        level: LevelId,
        /// How many they might.
        from: u64,
        /// How many they may.
        to: u64,
    },
    /// More applications may have been activated in a queue.
    ParallelApplications {
        /// Which.
        queue: QueueId,
        /// How many might.
        from: u64,
        /// How many may.
        to: u64,
    },
    /// More applications of a user may have been activated in the partition, as a leaf says.
    ParallelOfUser {
        /// Which leaf.
        queue: QueueId,
        /// Of whom.
        user: Name,
        /// How many might.
        from: u64,
        /// How many may.
        to: u64,
    },
    /// A setting of a queue from which limits follow has another value.
    Setting {
        /// Which queue.
        queue: QueueId,
        /// Which setting.
        setting: Setting,
        /// What it was.
        from: Decimal,
        /// What it is to be.
        to: Decimal,
    },
    /// A tenant is suspended no more.
    Resume {
        /// In which partition.
        partition: PartitionId,
        /// Which.
        tenant: Name,
        /// Its queue in which the ask waits, or below which.
        queue: QueueId,
    },
    /// An allocation is given back, or an ask withdrawn for which a node is reserved.
    Release {
        /// Which.
        allocation: AllocationId,
    },
    /// The lifetime of an application is over, so that it gives an allocation back.
    End {
        /// Which.
        allocation: AllocationId,
        /// When.
        at: Timestamp,
    },
    /// The ask wants less of a type.
    Size {
        /// The ask.
        ask: AllocationId,
        /// Of what.
        resource: ResourceType,
        /// What it wants.
        from: Quantity,
        /// What it is to want.
        to: Quantity,
    },
    /// A node joins.
    Node {
        /// In which partition.
        partition: PartitionId,
        /// Its name, where it is to have one.
        name: Name,
        /// Its label; empty for none.
        label: Name,
        /// Its size.
        capacity: Amounts,
    },
    /// A node is larger.
    Larger {
        /// Which.
        node: NodeId,
        /// By how much.
        by: Amounts,
    },
    /// The ask is made in another leaf.
    Leaf {
        /// The ask.
        ask: AllocationId,
        /// Where.
        queue: QueueId,
    },
}

/// A number of a queue from which limits follow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// How much it may use, in percent of what its parent may: `capacity.maximum`.
    PartOfParent,
    /// The same of the nodes of a label: `nodelabels.<label>.maximum`.
    PartOfLabel(Name),
    /// How much of a leaf drivers may have, as a factor: `maximumdriverresourcepercent`.
    Drivers,
    /// The least that the share of a user may shrink to: `minimumuserlimitpercent`.
    UserFloor,
    /// How many times the capacity one user may have: `userlimitfactor`.
    UserFactor,
}

impl Setting {
    /// As the queue file calls it.
    pub fn key(&self) -> Cow<'static, str> {
        match self {
            Self::PartOfParent => "capacity.maximum".into(),
            Self::PartOfLabel(label) => format!("nodelabels.{label}.maximum").into(),
            Self::Drivers => "maximumdriverresourcepercent".into(),
            Self::UserFloor => "minimumuserlimitpercent".into(),
            Self::UserFactor => "userlimitfactor".into(),
        }
    }

    /// The largest value that helps any more, or that there may be.
    pub(super) const fn most(&self) -> Decimal {
        match self {
            Self::PartOfParent | Self::PartOfLabel(_) | Self::UserFloor => Decimal::HUNDRED,
            Self::Drivers => Decimal::ONE,
            Self::UserFactor => Decimal::whole(1_000_000),
        }
    }

    /// What it is at a queue; none where nothing follows from it there.
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
    /// It one unit nearer to what is: for each of its numbers once. Nothing where it has none.
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

    /// The same with another amount of a type.
    fn with(&self, name: &Name, amount: Quantity) -> Self {
        let mut edit = self.clone();
        if let Self::Node { capacity, .. } | Self::Larger { by: capacity, .. } = &mut edit {
            capacity.set(name.clone(), amount);
        }
        edit
    }
}

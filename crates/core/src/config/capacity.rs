//! `capacity` of the queue file: the fraction of the parent that a queue is guaranteed and can use. Source:
//! user-headroom §4 and §4.1.

use crate::name::Name;
use crate::userlimit::Decimal;

/// The block `capacity` of one queue or template.
///
/// Its amounts depend on the nodes and the siblings. [`Books`](crate::books::Books) compute them as the guarantee and
/// the maximum of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct CapacityConfig {
    /// `mode` and `value`: the guarantee of the queue.
    pub share: CapacityShare,
    /// `maximum`: the maximum as a percentage of the maximum of the parent. `None` is 100 %. Also `None` if the share
    /// is absolute.
    pub maximum: Option<Decimal>,
}

/// Configured guarantee of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum CapacityShare {
    /// Percentage of the guarantee of the parent, from 0 to 100.
    Percent(Decimal),
    /// Weight from 0 to 10,000. Siblings with weights split what percentages leave. Zero if siblings have absolute
    /// amounts.
    Weight(Decimal),
    /// The amounts of `resources.guaranteed`, reduced if the sum of all siblings exceeds the guarantee of the parent.
    /// The maximum is `resources.max`.
    Absolute,
}

impl CapacityShare {
    /// Returns the word of `mode` in a queue file.
    pub const fn mode(self) -> &'static str {
        match self {
            Self::Percent(_) => "percent",
            Self::Weight(_) => "weight",
            Self::Absolute => "absolute",
        }
    }
}

/// Fraction of a queue on the nodes of an exclusive label: `nodelabels.<label>`. It needs a `capacity` by percentage or
/// weight, and has the same mode. Source: user-headroom §4 and §10 (C18).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LabelCapacity {
    /// Name of the label.
    pub label: Name,
    /// `value` and `maximum`, as in `capacity`.
    pub capacity: CapacityConfig,
}

impl LabelCapacity {
    /// Returns the capacity on the nodes of a label for a queue with the capacity `plain`.
    ///
    /// This is the entry of the label, or zero in the same mode. Absolute amounts apply to each type.
    pub fn at(label: &str, all: &[Self], plain: Option<CapacityConfig>) -> Option<CapacityConfig> {
        let plain = plain?;
        let share = match plain.share {
            CapacityShare::Absolute => return Some(plain),
            CapacityShare::Percent(_) => CapacityShare::Percent(Decimal::ZERO),
            CapacityShare::Weight(_) => CapacityShare::Weight(Decimal::ZERO),
        };
        let specified = all.iter().find(|one| one.label == *label).map(|one| one.capacity);
        specified.or(Some(CapacityConfig { share, maximum: None }))
    }
}

impl CapacityConfig {
    /// Largest weight.
    pub const WEIGHT_MAX: Decimal = Decimal::whole(10_000);

    /// Capacity of a queue with a weight that is not configured.
    pub const ONE: Self = Self { share: CapacityShare::Weight(Decimal::ONE), maximum: None };

    /// Returns whether the queue has a weight.
    pub const fn is_weight(&self) -> bool {
        matches!(self.share, CapacityShare::Weight(_))
    }
}

//! `capacity` of the queue file: what part of its parent a queue is guaranteed, and how much of it
//! the queue may use. Source: user-headroom §4 and §4.1.

use crate::name::Name;
use crate::userlimit::Decimal;

/// The block `capacity` of one queue or template.
///
/// What it comes to depends on the nodes and on the siblings, see
/// [`Books`](crate::books::Books): there it is the guarantee and the maximum of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct CapacityConfig {
    /// `mode` and `value`: what the queue is guaranteed.
    pub share: CapacityShare,
    /// `maximum`: how much it may use, in percent of what its parent may; none is all of that.
    /// None where the share is absolute.
    pub maximum: Option<Decimal>,
}

/// What a queue is guaranteed, as the file says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum CapacityShare {
    /// So many percent of what its parent is guaranteed, from 0 to 100.
    Percent(Decimal),
    /// Its share by weight, among the weights of all siblings, of what siblings with percentages
    /// leave; 0 to 10,000. Nothing next to siblings with absolute amounts.
    Weight(Decimal),
    /// The amounts of `resources.guaranteed`; less where those of all siblings are more than the
    /// parent is guaranteed. Its maximum is `resources.max`.
    Absolute,
}

impl CapacityShare {
    /// The word of `mode` in a queue file.
    pub const fn mode(self) -> &'static str {
        match self {
            Self::Percent(_) => "percent",
            Self::Weight(_) => "weight",
            Self::Absolute => "absolute",
        }
    }
}

/// The part that a queue has of the nodes of an exclusive label: `nodelabels.<label>`. It needs a
/// `capacity` by percent or weight, and has the same mode. Source: user-headroom §4 and §10 (C18).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LabelCapacity {
    /// The label.
    pub label: Name,
    /// `value` and `maximum`, as in `capacity`.
    pub capacity: CapacityConfig,
}

impl LabelCapacity {
    /// What holds for the nodes of a label where a queue has this part of all others. It is the
    /// entry of the label, or nothing of them by the same mode; amounts apply to each type.
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
    /// The largest weight there is.
    pub const WEIGHT_MAX: Decimal = Decimal::whole(10_000);

    /// The weight of a queue that shares by weight without a configured weight.
    pub const ONE: Self = Self { share: CapacityShare::Weight(Decimal::ONE), maximum: None };

    /// Whether the queue has a part by weight.
    pub const fn is_weight(&self) -> bool {
        matches!(self.share, CapacityShare::Weight(_))
    }
}

//! `preemption` of a queue of the queue file: who may be stopped for whom there, beyond what its
//! partition says. Source: user-headroom §4 and §6, decision L-12.

/// The block `preemption` of one queue; what is absent is inherited. That of the partition is above
/// the root's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct QueuePreemptionConfig {
    /// `disabled`: nothing in the leaves here and below is stopped for other queues.
    pub disabled: Option<bool>,
    /// `intraqueuedisabled`: nothing in the leaves here and below is stopped for other users of the
    /// same leaf.
    pub intra_queue_disabled: Option<bool>,
    /// `balance`: leaves here and below have others stopped up to their part of what is there, when
    /// that is more than their guarantee.
    pub balance: Option<bool>,
}

impl QueuePreemptionConfig {
    /// Whether it says nothing.
    pub fn says_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// This block over an inherited one: field by field, the nearer wins.
    #[must_use]
    pub fn over(&self, above: &Self) -> Self {
        Self {
            disabled: self.disabled.or(above.disabled),
            intra_queue_disabled: self.intra_queue_disabled.or(above.intra_queue_disabled),
            balance: self.balance.or(above.balance),
        }
    }

    /// Whether nothing is stopped for other queues.
    pub fn is_disabled(&self) -> bool {
        self.disabled == Some(true)
    }

    /// Whether something may be stopped for other users of the same leaf.
    pub fn is_within_queue(&self) -> bool {
        self.intra_queue_disabled != Some(true)
    }

    /// Whether others are stopped beyond guarantees.
    pub fn balances(&self) -> bool {
        self.balance == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_wins_field_by_field() {
        let above = QueuePreemptionConfig {
            disabled: Some(true),
            balance: Some(true),
            ..QueuePreemptionConfig::default()
        };
        let own = QueuePreemptionConfig {
            disabled: Some(false),
            intra_queue_disabled: Some(true),
            ..QueuePreemptionConfig::default()
        };
        let all = own.over(&above);
        assert_eq!(
            [all.is_disabled(), all.is_within_queue(), all.balances()],
            [false, false, true]
        );
        let nothing = QueuePreemptionConfig::default();
        assert!(nothing.says_nothing() && nothing.is_within_queue());
        assert_eq!(nothing.over(&above), above);
    }
}

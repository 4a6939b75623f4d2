//! `preemption` of a queue of the queue file: preemption settings in addition to those of the partition. Source:
//! user-headroom §4 and §6, decision L-12; no-starvation NS-43.

use crate::time::Millis;

/// Preemption for asks of the same leaf, in addition to fair shares. Source: no-starvation NS-43.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithinQueue {
    /// None.
    #[default]
    None,
    /// Allocations of a lower priority.
    Priority,
}

impl WithinQueue {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Priority => "priority",
        }
    }

    /// Returns the value of a word in a queue file. `None` for an unknown word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::None, Self::Priority].into_iter().find(|one| one.word() == word)
    }
}

/// The block `preemption` of one queue. Absent values are inherited. The root inherits those of the partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct QueuePreemptionConfig {
    /// `disabled`: whether the leaves in its subtree are protected from preemption by other queues.
    pub disabled: Option<bool>,
    /// `intraqueuedisabled`: whether the leaves in its subtree are protected from preemption among their users.
    pub intra_queue_disabled: Option<bool>,
    /// `balance`: whether the leaves in its subtree preempt up to their ideal assignment if that exceeds their
    /// guarantee.
    pub balance: Option<bool>,
    /// `withinqueue`: preemption for asks of the same leaf, in the leaves in its subtree.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub within_queue: Option<WithinQueue>,
    /// `minruntime`: time for which allocations in the leaves in its subtree are protected from preemption.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub min_runtime: Option<Millis>,
}

impl QueuePreemptionConfig {
    /// Returns whether all values are absent.
    pub fn says_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the values of this block, with those of the parent where absent.
    #[must_use]
    pub fn over(&self, above: &Self) -> Self {
        Self {
            disabled: self.disabled.or(above.disabled),
            intra_queue_disabled: self.intra_queue_disabled.or(above.intra_queue_disabled),
            balance: self.balance.or(above.balance),
            within_queue: self.within_queue.or(above.within_queue),
            min_runtime: self.min_runtime.or(above.min_runtime),
        }
    }

    /// Returns whether the queue is protected from preemption by other queues.
    pub fn is_disabled(&self) -> bool {
        self.disabled == Some(true)
    }

    /// Returns whether users of the same leaf can preempt each other.
    pub fn is_within_queue(&self) -> bool {
        self.intra_queue_disabled != Some(true)
    }

    /// Returns whether asks can preempt allocations of a lower priority in the same leaf.
    pub fn is_by_priority(&self) -> bool {
        self.within_queue == Some(WithinQueue::Priority)
    }

    /// Returns the time for which an allocation is protected from preemption.
    pub fn least_run(&self) -> Millis {
        self.min_runtime.unwrap_or(Millis::ZERO)
    }

    /// Returns whether asks preempt beyond guarantees, up to the ideal assignment.
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

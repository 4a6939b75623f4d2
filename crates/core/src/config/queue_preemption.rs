//! `preemption` of a queue of the queue file: who may be stopped for whom there, beyond what its
//! partition says. Source: user-headroom §4 and §6, decision L-12; no-starvation NS-43.

use crate::time::Millis;

/// Who may be stopped for an ask of the same leaf, beyond what users share. No-starvation NS-43.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithinQueue {
    /// Nobody.
    #[default]
    None,
    /// What has a lower priority.
    Priority,
}

impl WithinQueue {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Priority => "priority",
        }
    }

    /// What a word of a queue file stands for; none for any other.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::None, Self::Priority].into_iter().find(|one| one.word() == word)
    }
}

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
    /// `withinqueue`: what may be stopped for asks of the same leaf of the leaves here and below.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub within_queue: Option<WithinQueue>,
    /// `minruntime`: what runs in the leaves here and below is not stopped for other asks before it has
    /// run for so long.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub min_runtime: Option<Millis>,
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
            within_queue: self.within_queue.or(above.within_queue),
            min_runtime: self.min_runtime.or(above.min_runtime),
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

    /// Whether what has a lower priority may be stopped for asks of the same leaf.
    pub fn is_by_priority(&self) -> bool {
        self.within_queue == Some(WithinQueue::Priority)
    }

    /// How long an allocation runs before it may be stopped for another ask.
    pub fn least_run(&self) -> Millis {
        self.min_runtime.unwrap_or(Millis::ZERO)
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

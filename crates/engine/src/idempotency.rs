//! What was answered to commands that carry an id of their sender, so that a repeat gets the first
//! answer again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use headroom_journal::{Origin, Record};

/// How many answers are remembered, the newest.
pub const ANSWERS_KEPT: usize = 65_536;

/// The newest accepted commands with an id, and their records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdempotencyCache {
    records: HashMap<Key, u64>,
    order: VecDeque<Key>,
}

/// Who sent it, and under which id. Shared, so that a copy for a snapshot copies no text.
type Key = Arc<(String, String)>;

fn key_of(origin: &Origin) -> Option<(String, String)> {
    let Origin { identity, command_id, .. } = origin;
    (!command_id.is_empty()).then(|| (identity.clone(), command_id.clone()))
}

/// As a list, the oldest first.
impl Serialize for IdempotencyCache {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let listed = self.order.iter().map(|key| (&**key, self.records.get(key).copied()));
        to.collect_seq(listed)
    }
}

impl<'de> Deserialize<'de> for IdempotencyCache {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let listed: Vec<((String, String), Option<u64>)> = Vec::deserialize(from)?;
        let mut answers = Self::default();
        for (key, record) in listed {
            let key = Arc::new(key);
            if let Some(record) = record
                && answers.records.insert(key.clone(), record).is_none()
            {
                answers.order.push_back(key);
            }
        }
        Ok(answers)
    }
}

impl IdempotencyCache {
    /// Remember a record that a command with an id has led to.
    pub(crate) fn note(&mut self, record: &Record) {
        let Some(key) = record.origin.as_ref().and_then(key_of) else { return };
        let key = Arc::new(key);
        if self.records.insert(key.clone(), record.sequence).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > ANSWERS_KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.records.remove(&oldest);
        }
    }

    /// The record that the command of this id has led to; ids are of one sender.
    pub(crate) fn find(&self, origin: &Origin) -> Option<u64> {
        self.records.get(&key_of(origin)?).copied()
    }
}

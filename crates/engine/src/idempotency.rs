//! Results of commands with an ID of their sender. A repeated command gets the first result again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use headroom_journal::{Origin, Record};

/// Number of stored results, which are the newest results.
pub const ANSWERS_KEPT: usize = 65_536;

/// The newest accepted commands with an id, and their records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdempotencyCache {
    records: HashMap<Key, u64>,
    order: VecDeque<Key>,
}

/// Sender and ID of a command. Shared, so that a copy for a snapshot does not copy the texts.
type Key = Arc<(String, String)>;

fn key_of(origin: &Origin) -> Option<(String, String)> {
    let Origin { identity, command_id, .. } = origin;
    (!command_id.is_empty()).then(|| (identity.clone(), command_id.clone()))
}

/// Serializes the entries as a list, the oldest first.
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
    /// Stores a record that a command with an id caused.
    pub(crate) fn note(&mut self, record: &Record) {
        let Some(key) = record.origin.as_deref().and_then(key_of) else { return };
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

    /// Returns the record that the command with this id caused. Ids are separate for each sender.
    pub(crate) fn find(&self, origin: &Origin) -> Option<u64> {
        self.records.get(&key_of(origin)?).copied()
    }
}

//! The order of the writes for one pod.

use std::collections::{HashMap, VecDeque};

use headroom_pods::object::Text;
use headroom_pods::shim::{ApiWrite, BindRequest};

use crate::queue::DeviceWrite;

/// A write.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Plain(ApiWrite),
    Devices(DeviceWrite),
}

/// What a write is about. Writes about the same are sent in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A pod, by UID.
    Pod(Text),
    /// A placeholder without UID, by namespace and name.
    Placeholder(Text, Text),
    /// A namespace, by name.
    Namespace(Text),
}

impl Key {
    pub(super) fn of(write: &Write) -> Self {
        let write = match write {
            Write::Plain(write) => write,
            Write::Devices(
                DeviceWrite::Allocate(BindRequest { pod, .. }, _)
                | DeviceWrite::Undo(pod, _)
                | DeviceWrite::Free(pod, _),
            ) => return Self::Pod(pod.uid.clone()),
        };
        match write {
            ApiWrite::Bind(request) => Self::Pod(request.pod.uid.clone()),
            ApiWrite::UndoVolumes { pod }
            | ApiWrite::UndoDevices { pod }
            | ApiWrite::DeletePod { pod, .. }
            | ApiWrite::Condition { pod, .. }
            | ApiWrite::FailPod { pod, .. } => Self::Pod(pod.uid.clone()),
            ApiWrite::CreatePlaceholder { placeholder, .. } => {
                Self::Placeholder(placeholder.namespace.clone(), placeholder.name.clone())
            }
            ApiWrite::ReadNamespace { name } => Self::Namespace(name.clone()),
        }
    }
}

/// Writes that run, and those that wait for them.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Keys with a write in flight, and the writes behind it.
    keys: HashMap<Key, VecDeque<Write>>,
    behind: usize,
}

impl Order {
    /// Returns the number of writes that wait.
    pub(super) fn behind(&self) -> usize {
        self.behind
    }

    /// Returns the write if it can start now. Otherwise, it starts after the writes before it.
    pub(super) fn begin(&mut self, key: &Key, write: Write) -> Option<Write> {
        if let Some(behind) = self.keys.get_mut(key) {
            behind.push_back(write);
            self.behind += 1;
            return None;
        }
        self.keys.insert(key.clone(), VecDeque::new());
        Some(write)
    }

    /// Ends the write of a key, and returns the next one.
    pub(super) fn next(&mut self, key: &Key) -> Option<Write> {
        let write = self.keys.get_mut(key)?.pop_front();
        if write.is_some() {
            self.behind -= 1;
        } else {
            self.keys.remove(key);
        }
        write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_one_key_follow_each_other() {
        let write = |name: &str| Write::Plain(ApiWrite::ReadNamespace { name: name.into() });
        let (one, two) = (Key::of(&write("one")), Key::of(&write("two")));
        let mut order = Order::default();
        assert!(order.begin(&one, write("one")).is_some());
        assert!(order.begin(&two, write("two")).is_some());
        assert!(order.begin(&one, write("one")).is_none());
        assert_eq!(order.behind(), 1);
        assert!(order.next(&two).is_none());
        assert!(order.next(&one).is_some());
        assert_eq!(order.behind(), 0);
        assert!(order.next(&one).is_none());
        assert!(order.begin(&one, write("one")).is_some());
    }
}

//! The objects that a watch knows.

use std::collections::HashMap;
use std::sync::Arc;

use headroom_pods::object::Text;

use super::{Change, Object};

/// The objects that a watch knows, by UID. `None` before the first list.
#[derive(Debug)]
pub(super) struct Table<T>(Option<HashMap<Text, Arc<T>>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Object> Table<T> {
    pub(super) fn is_listed(&self) -> bool {
        self.0.is_some()
    }

    /// Takes an object. Returns the change, or nothing if the object is as before.
    pub(super) fn apply(&mut self, object: Arc<T>) -> Option<Change<T>> {
        let objects = self.0.get_or_insert_default();
        let uid = &object.metadata().uid;
        if objects.get(uid).is_some_and(|known| *known == object) {
            return None;
        }
        objects.insert(uid.clone(), Arc::clone(&object));
        Some(Change::Applied(object))
    }

    /// Removes an object. Returns the change, or nothing if the object is unknown.
    pub(super) fn delete(&mut self, object: Arc<T>) -> Option<Change<T>> {
        let known = self.0.as_mut()?.remove(&object.metadata().uid);
        known.map(|_| Change::Deleted(object))
    }

    /// Takes a new list. Returns the differences, with deletions first: a new object can have the name of an old one.
    pub(super) fn replace(&mut self, mut objects: HashMap<Text, Arc<T>>) -> Vec<Change<T>> {
        let Some(old) = &self.0 else {
            let listed = objects.values().cloned().collect();
            self.0 = Some(objects);
            return vec![Change::Listed(listed)];
        };
        let mut changes = Vec::new();
        for (uid, known) in old {
            match objects.get_mut(uid) {
                None => changes.push(Change::Deleted(Arc::clone(known))),
                // The consumer shares the known object.
                Some(object) if object == known => *object = Arc::clone(known),
                Some(_) => {}
            }
        }
        for (uid, object) in &objects {
            if !old.get(uid).is_some_and(|known| Arc::ptr_eq(known, object)) {
                changes.push(Change::Applied(Arc::clone(object)));
            }
        }
        self.0 = Some(objects);
        changes
    }
}

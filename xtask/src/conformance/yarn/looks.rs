//! What `CapacityScheduler` knew when it last looked.
//!
//! It reports headroom and driver limits by what a leaf might have, and an application asked for,
//! when it last looked at them; ours follow from the books that are asked. Decision M-17. When it
//! looked is seen where it placed or reserved something. Where it may have looked once more since,
//! there are several values that it may have had in mind, and one of them must give what is recorded.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::record::Record;
use super::size::Size;
use super::world::World;

/// What may have been seen last.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// By leaf, what it might have.
    limits: BTreeMap<String, BTreeSet<Size>>,
    /// By application, what it asked for.
    asks: BTreeMap<String, BTreeSet<Size>>,
    /// The applications that were looked at, as far as it can be seen.
    seen: BTreeSet<String>,
}

impl Looks {
    /// Something is about to be placed or reserved for an application: its leaf is looked at, and so
    /// are leaves before it that get nothing.
    pub(super) fn place(
        &mut self,
        world: &World,
        record: &Record,
        app: &str,
        step: Size,
    ) -> Result<()> {
        let leaf = world.apps.get(app).map(|app| app.queue.as_str()).unwrap_or_default();
        for (path, _) in record.leaves() {
            let limit = world.queue_limit(path, step)?;
            if path == leaf {
                self.limits.insert(path.to_owned(), BTreeSet::from([limit]));
            } else if world.is_looked_at(path, record) {
                self.limits.entry(path.to_owned()).or_default().insert(limit);
            }
        }
        self.seen.insert(app.to_owned());
        Ok(())
    }

    /// An application was given this much.
    pub(super) fn placed(&mut self, app: &str, size: Size) {
        self.asks.insert(app.to_owned(), BTreeSet::from([size]));
    }

    /// A node came or went: all leaves and active applications are looked at, as if they asked for
    /// nothing. Before a node goes, what runs there counts still, so the limits are those recorded.
    pub(super) fn nodes_changed(&mut self, world: &World, record: &Record) -> Result<()> {
        for (path, _) in record.leaves() {
            let limit = record.queue_size(path, "current_limit")?;
            self.limits.insert(path.to_owned(), BTreeSet::from([limit]));
        }
        for name in world.apps.keys().filter(|name| record.is_active(name)) {
            self.asks.insert(name.clone(), BTreeSet::from([Size::ZERO]));
            self.seen.insert(name.clone());
        }
        Ok(())
    }

    /// Nodes have offered room: whatever waits may have been looked at once more.
    ///
    /// What a parent hands down is less in 3.4.3 where another leaf below its guarantee waits too,
    /// which is not copied (decision M-13); it is recorded.
    pub(super) fn offered(&mut self, world: &World, record: &Record, step: Size) -> Result<()> {
        for (path, _) in record.leaves() {
            if world.is_looked_at(path, record) {
                let limits = self.limits.entry(path.to_owned()).or_default();
                limits.insert(world.queue_limit(path, step)?);
                limits.insert(record.queue_size(path, "current_limit")?);
            }
        }
        for (name, app) in &world.apps {
            if let Some(next) = app.next().filter(|_| record.is_active(name)) {
                self.asks.entry(name.clone()).or_default().insert(next);
            }
        }
        Ok(())
    }

    /// An application has ended.
    pub(super) fn forget(&mut self, app: &str) {
        self.asks.remove(app);
        self.seen.remove(app);
    }

    /// The headroom of an application is all zero until the first look.
    pub(super) fn see(&mut self, record: &Record) -> Result<()> {
        for (name, app) in record.apps() {
            if let Some(headroom) = app.get("headroom")
                && Size::read(headroom)? != Size::ZERO
                && !self.seen.contains(name)
            {
                self.seen.insert(name.to_owned());
            }
        }
        Ok(())
    }

    /// What a leaf might have.
    pub(super) fn limits(&self, path: &str, record: &Record) -> Result<BTreeSet<Size>> {
        match self.limits.get(path) {
            Some(limits) if !limits.is_empty() => Ok(limits.clone()),
            _ => Ok(BTreeSet::from([record.queue_size(path, "current_limit")?])),
        }
    }

    /// Whether an application was looked at, as far as it can be seen.
    pub(super) fn has_seen(&self, app: &str) -> bool {
        self.seen.contains(app)
    }

    /// What an application asked for; the minimum allocation if that is not known.
    pub(super) fn asks(&self, app: &str, step: Size) -> BTreeSet<Size> {
        match self.asks.get(app) {
            Some(asks) if !asks.is_empty() => asks.clone(),
            _ => BTreeSet::from([step]),
        }
    }
}

//! Judges histories of YARN's `CapacityScheduler`, 2.7.3 and 3.4.3: what was placed, reserved and given
//! back is applied to our books as it was recorded, and after each step the limits and headroom that
//! follow are compared.
//!
//! - `setup` makes one of our configurations of theirs, `world` applies operations and events,
//!   `record` keeps what was recorded, `looks` what `CapacityScheduler` knew when it last looked,
//!   `compare` makes our figures, `own` and `placements` what our core decides where it may, `figures`
//!   puts all of that beside what is recorded.
//! - Compared: what queues, users and applications use; what applications wait for; who is active;
//!   limits among active users and among all; the limits of 2.7.3 by application; headroom; the limits of
//!   drivers; the demand that preemption sees (`pending_capped`). Memory alone where the calculator of
//!   the case is `default` (decision M-18).
//! - Decided by our core and compared: which applications are taken in, activated or wait, how many of
//!   each kind a leaf and its users have, and what their drivers use; how many applications a leaf and
//!   one user may have; and, where there is one node and the order is `fifo`, what is placed next, or
//!   that nothing is.
//! - Taken from the record, beside what happened: what queues have guaranteed and at most (M-10); when
//!   driver limits were looked at (M-15), and what a leaf might have by then; in figures of users, what
//!   of an application that waits makes its user active, and how many users have only such ones (M-16);
//!   at a change of nodes, and where another leaf holds something back (M-13), what a leaf might have.
//! - Not compared: `current_limit` and `limit_reported`, which go stale (M-17); `abs_used`, which is
//!   `used` once more.

mod compare;
mod figures;
mod looks;
mod own;
mod placements;
mod record;
mod setup;
mod size;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use headroom_core::userlimit::{Calculator, Formula};
use serde_json::Value;

use self::figures::Figures;
use self::looks::Looks;
use self::own::Own;
use self::placements::Placements;
use self::record::Record;
use self::setup::{Says, Setup};
use self::size::Size;
use self::world::World;
use super::case::text_of;
use super::{Judge, Verdict};

/// Judges by the core's books and its formulas; a case is equal when every figure of every step is.
pub(super) struct Yarn;

impl Judge for Yarn {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let mut replay = Replay::new(case)?;
        for (number, step) in steps(case)?.iter().enumerate() {
            let figures = replay.step(step).with_context(|| format!("step {number}"))?;
            if let Some(first) = figures.differences.first() {
                return Ok(Verdict::Differs { step: number, what: first.to_string() });
            }
        }
        Ok(Verdict::Equal)
    }

    fn subset(&self, _case: &Value, file: &str) -> Option<&'static str> {
        ["am-limits", "scenes", "user-limit-2.7.3", "user-limit-3.x"]
            .into_iter()
            .find(|part| *part == file)
    }

    /// Every step, and what differs after it.
    fn show(&self, case: &Value) -> Result<String> {
        let mut replay = Replay::new(case)?;
        let mut page = format!("{:#}\n", case["config"]);
        for (number, step) in steps(case)?.iter().enumerate() {
            let _ = writeln!(page, "{number}: {step}");
            for difference in replay.step(step)?.differences {
                let _ = writeln!(page, "  DIFFERS  {difference}");
            }
        }
        Ok(page)
    }
}

fn steps(case: &Value) -> Result<&Vec<Value>> {
    case.get("steps").and_then(Value::as_array).context("the field \"steps\" must be a list")
}

/// One history on its way.
#[derive(Debug)]
struct Replay {
    setup: Setup,
    /// Where what applications may start is a fact.
    world: World,
    /// Where our core decides that.
    own: Own,
    placements: Placements,
    record: Record,
    looks: Looks,
    /// By leaf, what drivers may have as it was worked out last.
    driver_limits: BTreeMap<String, BTreeSet<Size>>,
}

impl Replay {
    fn new(case: &Value) -> Result<Self> {
        let (setup, record) = (Setup::read(case)?, Record::default());
        let mut world = World::default();
        world.configure(setup.configuration(&record, Size::ZERO, Says::NoMore)?)?;
        let own = Own::new(&setup)?;
        let placements = Placements::of(&setup, steps(case)?);
        let (looks, driver_limits) = (Looks::default(), BTreeMap::new());
        Ok(Self { setup, world, own, placements, record, looks, driver_limits })
    }

    /// Play one step, and compare what follows.
    fn step(&mut self, step: &Value) -> Result<Figures> {
        let operation = text_of(step, "op")?;
        let leaf = self.leaf_of(step);
        let mut figures = Figures::default();
        self.operate(operation, step)?;
        let mut reserved_on = BTreeMap::new();
        self.placements.begin(&self.record, step);
        for event in step.get("events").and_then(Value::as_array).into_iter().flatten() {
            let played = self.event(event, &mut reserved_on, &mut figures);
            played.with_context(|| event.to_string())?;
        }
        self.placements.end(&self.own, &mut figures)?;
        self.record.merge(step);
        if operation == "finish" {
            let app = text_of(step, "app")?;
            self.record.forget(app);
            self.looks.forget(app);
        }
        let names: Vec<String> = self.world.apps.keys().cloned().collect();
        for name in names {
            let node = reserved_on.get(&*name).copied();
            self.world.reserve(&name, self.record.reserved(&name)?, node)?;
            if self.own.knows(&name) {
                self.own.world.reserve(&name, self.record.reserved(&name)?, node)?;
            }
        }
        let total = self.world.total();
        self.world.configure(self.setup.configuration(&self.record, total, Says::NoMore)?)?;
        self.own.configure(&self.setup, &self.record)?;
        let nodes_changed = matches!(operation, "add_node" | "remove_node");
        if nodes_changed {
            self.looks.nodes_changed(&self.world, &self.record)?;
        } else if operation == "heartbeat" {
            self.looks.offered(&self.world, &self.record, self.setup.step)?;
        }
        self.looks.see(&self.record)?;
        self.limit_drivers(operation, nodes_changed, leaf.as_deref())?;
        self.start(operation, nodes_changed, leaf.as_deref())?;
        self.world.books.check()?;
        self.own.world.books.check()?;
        self.compare(&mut figures)?;
        self.own.compare(&self.setup, &self.record, &mut figures)?;
        Ok(figures)
    }

    /// The leaf of the application that a step is about.
    fn leaf_of(&self, step: &Value) -> Option<String> {
        let known = step["app"].as_str().and_then(|app| self.world.apps.get(app));
        let queue = known.map(|app| app.queue.as_str()).or_else(|| step["queue"].as_str());
        queue.map(str::to_owned)
    }

    fn operate(&mut self, operation: &str, step: &Value) -> Result<()> {
        match operation {
            "add_node" => {
                let (node, size) = (text_of(step, "node")?, Size::read(&step["resource"])?);
                self.own.add_node(node, size)?;
                self.world.add_node(node, size)
            }
            "remove_node" => {
                self.own.remove_node(text_of(step, "node")?)?;
                self.world.remove_node(text_of(step, "node")?)
            }
            "submit" => {
                let (app, driver) = (text_of(step, "app")?, Size::read(&step["am"]).context("am")?);
                let (user, queue) = (text_of(step, "user")?, text_of(step, "queue")?);
                self.own.submit((app, driver), user, queue)?;
                if step["apps"][app]["state"] != "rejected" {
                    self.world.submit(app, user, queue)?;
                }
                Ok(())
            }
            "ask" => {
                let app = text_of(step, "app")?;
                let count = step["count"].as_u64().and_then(|count| u32::try_from(count).ok());
                let count = count.context("the field \"count\" must be a number")?;
                let priority = step["priority"].as_i64();
                let priority = priority.context("the field \"priority\" must be a number")?;
                let (size, counts) = (Size::read(&step["resource"])?, self.counts(app));
                self.own.ask(app, priority, size, count)?;
                self.world.ask(app, priority, size, count, counts)
            }
            "finish" => {
                self.own.finish(text_of(step, "app")?)?;
                self.world.finish(text_of(step, "app")?)
            }
            // What came of them are events.
            "heartbeat" | "release" | "preemption_round" => Ok(()),
            other => bail!("the operation {other} is not known"),
        }
    }

    /// Whether what an application asks for now makes its user active. That it waits for a driver
    /// limit is a fact here: our core, which decides it in [`Own`], never counts who waits for one.
    ///
    /// In 2.7.3 it always does. In 3.4.3 it does when an application of its user in the leaf is
    /// activated by then, itself or another; and once it does, it does until it has ended.
    fn counts(&self, app: &str) -> bool {
        let Some(asking) = self.world.apps.get(app) else { return false };
        let mut his = self
            .world
            .apps
            .iter()
            .filter(|(_, other)| (&other.user, &other.queue) == (&asking.user, &asking.queue));
        self.setup.formula == Formula::Yarn27 || his.any(|(name, _)| self.record.is_active(name))
    }

    fn event<'step>(
        &mut self,
        event: &'step Value,
        reserved_on: &mut BTreeMap<&'step str, &'step str>,
        figures: &mut Figures,
    ) -> Result<()> {
        let text = |place: usize| event[place].as_str().context("a text is missing");
        let (kind, app, node) = (text(0)?, text(1)?, text(3)?);
        let size = Size::read(&event[2])?;
        let count = event[4].as_u64().context("the count is missing")?;
        let by_memory = self.setup.calculator == Calculator::Memory;
        for _ in 0..count {
            match kind {
                "alloc" => {
                    self.placements.compare(&self.own, (app, size), figures)?;
                    self.looks.place(&self.world, &self.record, app, self.setup.step)?;
                    self.world.place(app, size, node, by_memory)?;
                    if self.own.knows(app) {
                        self.own.world.place(app, size, node, by_memory)?;
                    }
                    self.looks.placed(app, size);
                }
                "reserve" => {
                    self.looks.place(&self.world, &self.record, app, self.setup.step)?;
                    reserved_on.insert(app, node);
                }
                "release" | "kill" => {
                    self.world.give_back(app, size, node, kind == "kill")?;
                    if self.own.knows(app) {
                        self.own.world.give_back(app, size, node, kind == "kill")?;
                    }
                }
                "mark" => {}
                other => bail!("the event {other} is not known"),
            }
        }
        Ok(())
    }

    /// Have our core activate whoever may start, when the driver limits of his leaf are looked at.
    /// Decision M-15.
    fn start(&mut self, operation: &str, nodes_changed: bool, leaf: Option<&str>) -> Result<()> {
        let here = matches!(operation, "submit" | "finish").then_some(leaf).flatten();
        let leaves = self.record.leaves().map(|(path, _)| path);
        let looked_at: Vec<String> =
            leaves.filter(|path| nodes_changed || here == Some(*path)).map(str::to_owned).collect();
        looked_at.iter().try_for_each(|path| self.own.activate(path, &self.record))
    }

    /// 2.7.3 works out what drivers may have whenever it is asked, 3.4.3 when an application comes or
    /// goes in the leaf, and when nodes do. Decision M-15.
    fn limit_drivers(
        &mut self,
        operation: &str,
        nodes_changed: bool,
        leaf: Option<&str>,
    ) -> Result<()> {
        let always = self.setup.formula == Formula::Yarn27 || nodes_changed;
        let here = matches!(operation, "submit" | "finish").then_some(leaf).flatten();
        let leaves = self.record.leaves().map(|(path, _)| path);
        let changed: Vec<String> =
            leaves.filter(|path| always || here == Some(*path)).map(str::to_owned).collect();
        for path in changed {
            let limits = self.driver_limits_of(&path)?;
            self.driver_limits.insert(path, limits);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

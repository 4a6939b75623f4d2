//! The same history where our core decides: which applications it takes in, which of them it
//! activates, and what it would place next. What was placed and given back is a fact here too.
//!
//! When the driver limits of a leaf are looked at is the record's: on submit, on finish, and when the
//! cluster changes (decision M-15). What all drivers of the leaf may have is recorded as it was
//! worked out last, and is compared for itself.

use anyhow::{Context as _, Result};
use headroom_core::DriverGate;
use headroom_core::books::UserDrivers;
use headroom_core::userlimit::Calculator;
use headroom_core::view::max_applications;
use serde_json::{Map, Value};

use super::figures::Figures;
use super::record::Record;
use super::setup::{Says, Setup};
use super::size::Size;
use super::world::World;

/// What our core makes of a history.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) world: World,
    /// The same queues with parts of their parents, and no applications.
    pub(super) parts: World,
    /// Those that were taken in and wait to be activated, in the order in which they came, each with
    /// what its driver counts as.
    waiting: Vec<(String, Size)>,
    /// Those that were not taken in.
    rejected: Vec<String>,
}

impl Own {
    /// # Errors
    /// When the case lacks something; the text names the field.
    pub(super) fn new(setup: &Setup) -> Result<Self> {
        let world = World::counting(setup.calculator == Calculator::Memory);
        let mut own = Self { world, ..Self::default() };
        own.parts.configure(setup.parts()?)?;
        own.configure(setup, &Record::default())?;
        Ok(own)
    }

    /// Take what is recorded of queues into force.
    pub(super) fn configure(&mut self, setup: &Setup, record: &Record) -> Result<()> {
        let total = self.world.total();
        self.world.configure(setup.configuration(record, total, Says::Limits)?)
    }

    pub(super) fn add_node(&mut self, node: &str, size: Size) -> Result<()> {
        self.parts.add_node(node, size)?;
        self.world.add_node(node, size)
    }

    pub(super) fn remove_node(&mut self, node: &str) -> Result<()> {
        self.parts.remove_node(node)?;
        self.world.remove_node(node)
    }

    pub(super) fn submit(
        &mut self,
        (app, driver): (&str, Size),
        user: &str,
        queue: &str,
    ) -> Result<()> {
        if self.world.submit(app, user, queue)? {
            self.waiting.push((app.to_owned(), driver));
        } else {
            self.rejected.push(app.to_owned());
        }
        Ok(())
    }

    /// Only what an activated application asks for is looked at.
    pub(super) fn ask(&mut self, app: &str, priority: i64, size: Size, count: u32) -> Result<()> {
        let is_active = self.state(app) == "active";
        self.world.ask(app, priority, size, count, is_active)
    }

    pub(super) fn finish(&mut self, app: &str) -> Result<()> {
        self.waiting.retain(|(name, _)| name != app);
        self.world.finish(app)
    }

    /// Whether an application is known here: it was taken in, and has not ended.
    pub(super) fn knows(&self, app: &str) -> bool {
        self.world.apps.contains_key(app)
    }

    /// Activate whoever may start in a leaf, one after another.
    pub(super) fn activate(&mut self, path: &str, record: &Record) -> Result<()> {
        let limit = record.queue_size(path, "am_limit")?;
        let leaf = self.world.queue(path)?;
        for (app, driver) in self.waiting.clone() {
            let row = self.world.apps.get(&app).context("it waits")?;
            if row.queue != path {
                continue;
            }
            let limit = self.world.vector(limit)?;
            let gate = DriverGate::of(&self.world.books, leaf).context("drivers are limited")?;
            if gate.with_limit(limit).lets_start(&row.user, &self.world.vector(driver)?) {
                self.world.activate(&app, driver)?;
                self.waiting.retain(|(name, _)| *name != app);
            }
        }
        Ok(())
    }

    /// What became of an application, as records say it.
    fn state(&self, app: &str) -> &'static str {
        let is_it = |name: &String| name == app;
        if self.rejected.iter().any(is_it) {
            "rejected"
        } else if self.waiting.iter().any(|(name, _)| name == app) {
            "pending"
        } else {
            "active"
        }
    }

    /// Compare what became of applications, how many there are, and how many there may be.
    pub(super) fn compare(
        &self,
        setup: &Setup,
        record: &Record,
        figures: &mut Figures,
    ) -> Result<()> {
        for (app, recorded) in record.apps() {
            figures.plain(app, "state", &Some(self.state(app)), &recorded["state"].as_str());
        }
        for (path, recorded) in record.leaves() {
            self.compare_leaf(setup, (path, recorded), figures).with_context(|| path.to_owned())?;
        }
        Ok(())
    }

    fn compare_leaf(
        &self,
        setup: &Setup,
        (path, recorded): (&str, &Value),
        figures: &mut Figures,
    ) -> Result<()> {
        let leaf = self.world.queue(path)?;
        let counted = |size| setup.counted(size);
        let number = |value: &Value| value.as_u64();
        let drivers = self.world.books.drivers_of(leaf).context("its applications are counted")?;
        let Counts { active, pending } = counts(drivers.users().map(|(_, user)| user));
        figures.plain(path, "active_apps", &Some(active), &number(&recorded["active_apps"]));
        figures.plain(path, "pending_apps", &Some(pending), &number(&recorded["pending_apps"]));
        figures.size(path, "am_used", Size::of(&drivers.used), &recorded["am_used"], counted)?;
        for (user, recorded) in recorded["users"].as_object().unwrap_or(&Map::new()) {
            let who = format!("{user} in {path}");
            let his = drivers.user(user);
            let Counts { active, pending } = counts(his.into_iter());
            figures.plain(&who, "active_apps", &Some(active), &number(&recorded["active_apps"]));
            figures.plain(&who, "pending_apps", &Some(pending), &number(&recorded["pending_apps"]));
            if let Some(recorded) = recorded.get("am_used") {
                let used = his.map(|his| his.used.clone()).unwrap_or_default();
                figures.size(&who, "am_used", Size::of(&used), recorded, counted)?;
            }
        }
        self.compare_maxima(setup, (path, recorded), figures)
    }

    /// How many applications a leaf takes in, by its part; and how many of one user, by that.
    fn compare_maxima(
        &self,
        setup: &Setup,
        (path, recorded): (&str, &Value),
        figures: &mut Figures,
    ) -> Result<()> {
        let (ours, _) = max_applications(&self.parts.books, self.parts.queue(path)?);
        let recorded_max = recorded["max_apps"].as_u64();
        if recorded_max == Some(0) && setup.own_applications(path).is_none() {
            // A leaf that is guaranteed nothing takes in as many as there may be. Decision M-11.
            figures.plain(path, "max_apps", &ours, &Some(setup.applications()?));
            return Ok(());
        }
        // A part of a part may be a little less with fractions of 32 bits. Decision M-10.
        let is_part_of_part = path.matches('.').count() > 1;
        let less = ours.map(|ours| ours - 1).filter(|_| is_part_of_part);
        let ours = if less == recorded_max { less } else { ours };
        figures.plain(path, "max_apps", &ours, &recorded_max);
        let (_, of_user) = max_applications(&self.world.books, self.world.queue(path)?);
        let recorded = recorded["max_apps_per_user"].as_u64();
        figures.plain(path, "max_apps_per_user", &of_user, &recorded);
        Ok(())
    }
}

/// How many applications were activated and have not ended, and how many wait for that.
struct Counts {
    active: u64,
    pending: u64,
}

fn counts<'a>(users: impl Iterator<Item = &'a UserDrivers>) -> Counts {
    users.fold(Counts { active: 0, pending: 0 }, |sum, user| Counts {
        active: sum.active + user.activated,
        pending: sum.pending + user.applications - user.activated,
    })
}

//! Which figures are compared after each step, and how ours are made.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use headroom_core::Name;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::books::{LeafUser, LeafUsers, Queue};
use headroom_core::id::QueueId;
use headroom_core::resource::Resources;
use headroom_core::userlimit::{
    Among, Bound, Calculator, Decimal, Formula, Leaf, Remaining, Rules, ShareQuery,
};
use serde_json::{Map, Value};

use super::Replay;
use super::figures::Figures;
use super::record::is_active;
use super::size::Size;

/// A leaf, recorded and ours.
struct Subject<'replay> {
    path: &'replay str,
    recorded: &'replay Value,
    id: QueueId,
    row: &'replay Queue,
    users: LeafUsers<'replay>,
    leaf: Leaf,
}

impl Replay {
    /// Compare all that the core can tell with what is recorded.
    pub(super) fn compare(&self, figures: &mut Figures) -> Result<()> {
        for (path, recorded) in self.record.queues() {
            let row = self.world.books.queue(self.world.queue(path)?);
            figures.size(path, "used", Size::of(&row.allocated), &recorded["used"], whole)?;
        }
        for (path, recorded) in self.record.leaves() {
            let subject = self.subject(path, recorded)?;
            self.compare_leaf(&subject, figures).with_context(|| path.to_owned())?;
            self.compare_drivers(&subject, figures).with_context(|| path.to_owned())?;
        }
        for (name, recorded) in self.record.apps() {
            self.compare_app(name, recorded, figures).with_context(|| name.to_owned())?;
        }
        Ok(())
    }

    fn subject<'replay>(
        &'replay self,
        path: &'replay str,
        recorded: &'replay Value,
    ) -> Result<Subject<'replay>> {
        let id = self.world.queue(path)?;
        let leaf = self.world.books.shared_leaf(id).context("its users share it")?;
        let (row, users) = (self.world.books.queue(id), self.world.users(path)?);
        Ok(Subject { path, recorded, id, row, users, leaf: leaf.clone() })
    }

    /// Users, who of them is active, what each uses and, in 3.4.3, may have.
    fn compare_leaf(&self, subject: &Subject<'_>, figures: &mut Figures) -> Result<()> {
        let Subject { path, recorded, id, leaf, .. } = subject;
        let books = &self.world.books;
        figures.plain(path, "active_users", &Some(leaf.active), &recorded["active_users"].as_u64());
        if let Some(recorded) = recorded.get("pending_capped") {
            let demand = Size::of(&books.demand_of(*id));
            figures.size(path, "pending_capped", demand, recorded, self.counted())?;
        }
        let nobody = Map::new();
        let users = recorded["users"].as_object().unwrap_or(&nobody);
        let everyone: Vec<&str> = books.everyone_in(*id).into_iter().map(Name::as_str).collect();
        figures.plain(path, "users", &everyone, &users.keys().map(String::as_str).collect());
        let everyone = books.among_everyone(*id).context("its users share it")?;
        for (user, recorded) in users {
            let who = format!("{user} in {path}");
            let kept = subject.of_user(self, user);
            let (active, used) =
                kept.map_or((false, Resources::new()), |kept| (kept.active, kept.used()));
            figures.plain(&who, "active", &Some(active), &recorded["active"].as_bool());
            figures.size(&who, "used", Size::of(&used), &recorded["used"], whole)?;
            for (field, among) in [("limit_active", Among::Active), ("limit_all", everyone)] {
                if let Some(recorded) = recorded.get(field) {
                    let ask = &self.world.vector(self.setup.step)?;
                    let limit = books.limit_among(*id, user, among, ask);
                    let limit = limit.context("its users share it")?.limit;
                    figures.size(&who, field, Size::of(&limit), recorded, self.counted())?;
                }
            }
        }
        Ok(())
    }

    /// What drivers may have, all and of one user, when the formulas are given what is recorded beside
    /// the books; who starts by that is compared for itself.
    fn compare_drivers(&self, subject: &Subject<'_>, figures: &mut Figures) -> Result<()> {
        let Subject { path, recorded, leaf, .. } = subject;
        let drivers = self.setup.drivers(path)?;
        let rules = subject.users.rules();
        let ours = self.driver_limits.get(*path).cloned().unwrap_or_default();
        figures.one_of(path, "am_limit", &ours, &recorded["am_limit"], self.counted())?;
        // Who has nothing but applications that wait is counted late. Decision M-16.
        let late = recorded.get("pending_only_users").and_then(Value::as_u64).unwrap_or_default();
        let users = leaf.active + late;
        let of_queue = self.world.vector(Size::read(&recorded["am_limit"])?)?;
        let of = |weight| Size::of(&drivers.of_user(rules, leaf, &of_queue, users, weight));
        if let Some(recorded) = recorded.get("user_am_limit") {
            figures.size(path, "user_am_limit", of(Decimal::ONE), recorded, self.counted())?;
        }
        for (user, recorded) in recorded["users"].as_object().into_iter().flatten() {
            if let Some(recorded) = recorded.get("am_limit") {
                let who = format!("{user} in {path}");
                let ours = of(subject.users.weight_of(user));
                figures.size(&who, "am_limit of a user", ours, recorded, self.counted())?;
            }
        }
        Ok(())
    }

    /// What drivers of a leaf may have, by what it might have when it was last looked at.
    pub(super) fn driver_limits_of(&self, path: &str) -> Result<BTreeSet<Size>> {
        let leaf = self.world.books.shared_leaf(self.world.queue(path)?);
        let leaf = leaf.context("its users share it")?;
        let (rules, drivers) = (self.world.users(path)?.rules(), self.setup.drivers(path)?);
        let without_steps = Rules { step: Resources::new(), ..rules.clone() };
        let mut found = BTreeSet::new();
        for limit in self.looks.limits(path, &self.record)? {
            let current = self.world.vector(limit)?;
            let of = |rules| Size::of(&drivers.of_queue(rules, &leaf, &current));
            let (ours, exact) = (of(rules), of(&without_steps));
            found.insert(ours);
            if self.setup.calculator == Calculator::Dominant {
                found.extend(a_step_more(ours, exact, self.setup.step));
            }
        }
        Ok(found)
    }

    fn compare_app(&self, name: &str, recorded: &Value, figures: &mut Figures) -> Result<()> {
        let Some(app) = self.world.apps.get(name) else {
            let state = recorded["state"].as_str();
            ensure!(state == Some("rejected"), "{name} was not submitted, and is {state:?}");
            return Ok(());
        };
        let row = self.world.books.application(self.world.application(name)?);
        let used = Size::of(&row.allocated).minus(app.reserved());
        figures.size(name, "used", used, &recorded["used"], whole)?;
        figures.size(name, "pending", app.pending(), &recorded["pending"], self.counted())?;
        if !is_active(recorded) {
            return Ok(());
        }
        let subject = self.subject(&app.queue, &Value::Null)?;
        let limit = |ask: Size| -> Result<Size> {
            let books = &self.world.books;
            let limit =
                books.limit_among(subject.id, &app.user, Among::Active, &self.world.vector(ask)?);
            Ok(Size::of(&limit.context("its users share it")?.limit))
        };
        if let Some(recorded) = recorded.get("limit_min_alloc") {
            let ours = limit(self.setup.step)?;
            figures.size(name, "limit_min_alloc", ours, recorded, self.counted())?;
        }
        if self.setup.formula == Formula::Yarn27 {
            let next = recorded.get("limit_next_ask");
            figures.plain(name, "whether it waits", &app.next().is_some(), &next.is_some());
            if let Some((ask, recorded)) = app.next().zip(next) {
                figures.size(name, "limit_next_ask", limit(ask)?, recorded, self.counted())?;
            }
        }
        if self.looks.has_seen(name) {
            let ours = self.headrooms(name, &app.user, &subject)?;
            figures.one_of(name, "headroom", &ours, &recorded["headroom"], self.counted())?;
        }
        Ok(())
    }

    /// How much more an application may have, by what was known when it was last looked at.
    fn headrooms(&self, name: &str, user: &str, subject: &Subject<'_>) -> Result<BTreeSet<Size>> {
        let Subject { path, users, leaf, .. } = subject;
        let root = self.world.queue("root")?;
        let free = leaf.total.minus(&self.world.books.queue(root).allocated);
        let used = subject.of_user(self, user).map(|kept| kept.used()).unwrap_or_default();
        let weight = users.weight_of(user);
        let asks = match self.setup.formula {
            Formula::Yarn27 => self.looks.asks(name, self.setup.step),
            _ => BTreeSet::from([self.setup.step]),
        };
        let mut found = BTreeSet::new();
        for ask in asks {
            // Not normalised: after a node came or went 2.7.3 has an ask of nothing in mind.
            let part = ShareQuery { weight, among: Among::Active, ask: &self.world.vector(ask)? };
            let limit = users.rules().limit(leaf, part);
            for queue in self.looks.limits(path, &self.record)? {
                let queue = &self.world.vector(queue)?;
                let left = queue.minus(&leaf.used);
                let others = [Remaining { bound: Bound::QueueMax(subject.id), left }];
                let found_now = users.rules().headroom(leaf, (&limit, &used), &others, &free);
                found.insert(Size::of(&found_now.amounts));
            }
        }
        Ok(found)
    }

    /// What counts of limits.
    fn counted(&self) -> impl Fn(Size) -> Size {
        |size| self.setup.counted(size)
    }
}

impl Subject<'_> {
    /// The row of a user in the books, if he uses something or waits.
    fn of_user<'replay>(
        &'replay self,
        replay: &'replay Replay,
        user: &str,
    ) -> Option<LeafUser<'replay>> {
        let trackers = &replay.world.books.partition(self.row.partition).trackers;
        self.users.user(trackers.level_of(TrackerKind::User, user, self.id)?)
    }
}

/// What a part may be that is whole steps, if the percentage has 32 bits and so is a little more: a
/// step more in one of the types or both. Decision M-10.
fn a_step_more(part: Size, exact: Size, step: Size) -> Vec<Size> {
    let memory = if part.memory == exact.memory { step.memory } else { 0 };
    let cores = if part.cores == exact.cores { step.cores } else { 0 };
    let more = [(memory, 0), (0, cores), (memory, cores)];
    more.map(|(memory, cores)| part.plus(Size { memory, cores })).to_vec()
}

/// All of a size counts.
const fn whole(size: Size) -> Size {
    size
}

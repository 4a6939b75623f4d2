//! Random histories of one cache against a list of what happened.

use std::sync::Arc;

use headroom_core::Millis;
use headroom_engine::users::testkit::Scripted;
use headroom_engine::users::{CacheSettings, LookupFailure, Submitted, UserCache};
use proptest::prelude::*;

use super::{Shared, at, info, name, unresolved};

/// When every history begins, in seconds, so that the clock can step back.
const START: u64 = 1_000;

const USERS: [&str; 3] = ["ann", "bob", "eve"];
const GROUPS: [&[&str]; 4] = [&["dev"], &["ops", "dev"], &["test"], &[]];

#[derive(Clone, Debug)]
enum Step {
    /// Time passes, in seconds.
    Pass(u64),
    /// The wall clock is put back, in seconds.
    Back(u64),
    LookUp(usize),
    /// A submission with groups, or a forced one without.
    Send(usize, usize),
    Force(usize),
    /// The directory has other groups from now on.
    Change(usize, usize),
    /// The directory fails from now on; groups may be known all the same.
    Fail(usize, usize),
    Tick,
}

fn step() -> impl Strategy<Value = Step> {
    let (user, groups) = (0..USERS.len(), 0..GROUPS.len());
    prop_oneof![
        2 => prop_oneof![0..3_u64, 28..33_u64, 58..62_u64, 298..303_u64].prop_map(Step::Pass),
        1 => (0..100_u64).prop_map(Step::Back),
        4 => user.clone().prop_map(Step::LookUp),
        1 => (user.clone(), 0..3_usize).prop_map(|(user, groups)| Step::Send(user, groups)),
        1 => user.clone().prop_map(Step::Force),
        1 => (user.clone(), groups.clone()).prop_map(|(user, groups)| Step::Change(user, groups)),
        1 => (user, groups).prop_map(|(user, groups)| Step::Fail(user, groups)),
        2 => Just(Step::Tick),
    ]
}

/// What is remembered, as the rules are written down: seconds, flags, one row per user.
#[derive(Default)]
struct Model {
    now: u64,
    cleaned: u64,
    rows: [Option<Row>; USERS.len()],
    directory: [(&'static [&'static str], bool); USERS.len()],
    asked: [usize; USERS.len()],
}

#[derive(Clone)]
struct Row {
    groups: &'static [&'static str],
    failed: bool,
    resolved: u64,
}

impl Model {
    /// The groups of a user; none on failure.
    fn look_up(&mut self, user: usize) -> Option<&'static [&'static str]> {
        let hit = self.rows[user]
            .as_ref()
            .filter(|row| row.failed || self.now.saturating_sub(row.resolved) < 300);
        if hit.is_none() {
            let (groups, found) = self.directory[user];
            self.asked[user] += 1;
            self.rows[user] = Some(Row { groups, failed: !found, resolved: self.now });
        }
        let row = self.rows[user].as_ref().unwrap();
        (!row.failed).then_some(row.groups)
    }

    fn store(&mut self, user: usize, groups: &'static [&'static str]) {
        self.rows[user] = Some(Row { groups, failed: false, resolved: self.now });
    }

    fn tick(&mut self, every: u64) {
        self.cleaned = self.cleaned.min(self.now);
        if self.now < self.cleaned + every {
            return;
        }
        self.cleaned = self.now;
        for row in &mut self.rows {
            let age = row.as_ref().map(|row| (self.now.saturating_sub(row.resolved), row.failed));
            if age.is_some_and(|(age, failed)| age > 300 || failed && age > 30) {
                *row = None;
            }
        }
    }
}

/// A cache and the model of it, played side by side.
struct Run {
    directory: Arc<Scripted>,
    cache: UserCache,
    model: Model,
    every: u64,
}

impl Run {
    fn new(every: u64) -> Self {
        let directory = Arc::new(Scripted::default());
        let clean_every = Millis::from_secs(every);
        let settings = CacheSettings { clean_every, ..CacheSettings::default() };
        let cache = UserCache::new(Shared(Arc::clone(&directory)), settings, at(START));
        let model = Model { now: START, cleaned: START, ..Model::default() };
        Self { directory, cache, model, every }
    }

    fn play(&mut self, step: &Step) {
        let Self { directory, cache, model, every } = self;
        let now = at(model.now);
        match *step {
            Step::Pass(seconds) => model.now += seconds,
            Step::Back(seconds) => model.now = model.now.saturating_sub(seconds),
            Step::LookUp(user) => {
                let failed = unresolved(USERS[user], LookupFailure::NoSuchUser);
                let expected = model.look_up(user).map(|groups| info(USERS[user], groups));
                assert_eq!(cache.look_up(&name(USERS[user]), now), expected.ok_or(failed));
            }
            Step::Send(user, groups) => {
                model.store(user, GROUPS[groups]);
                let sent = info(USERS[user], GROUPS[groups]);
                let (user, groups) = (sent.name.clone(), sent.groups.clone());
                let submitted = Submitted { user, groups, forced: false };
                assert_eq!(cache.convert(&submitted, now), Ok(sent));
            }
            Step::Force(user) => {
                let groups = model.look_up(user).unwrap_or_else(|| {
                    model.store(user, &["nogroup"]);
                    &["nogroup"]
                });
                let submitted =
                    Submitted { user: name(USERS[user]), groups: Vec::new(), forced: true };
                assert_eq!(cache.convert(&submitted, now), Ok(info(USERS[user], groups)));
            }
            Step::Change(user, groups) => {
                directory.set(USERS[user], GROUPS[groups]);
                model.directory[user] = (GROUPS[groups], true);
            }
            Step::Fail(user, groups) => {
                directory.fail(USERS[user], GROUPS[groups], LookupFailure::NoSuchUser);
                model.directory[user] = (GROUPS[groups], false);
            }
            Step::Tick => {
                model.tick(*every);
                assert_eq!(cache.tick(now), at(model.cleaned + *every), "the cleaner's turn");
            }
        }
    }

    /// What is remembered is the same on both sides, and so is what was asked for.
    fn compare(&self) {
        for (user, row) in USERS.iter().zip(&self.model.rows) {
            let entry = self.cache.entry(user);
            let entry = entry.map(|entry| (entry.groups, entry.failure.is_some(), entry.resolved));
            let row = row.as_ref();
            let row = row.map(|row| (info(user, row.groups).groups, row.failed, at(row.resolved)));
            assert_eq!(entry, row, "entry of {user}");
        }
        assert_eq!(USERS.map(|user| self.directory.asked(user)), self.model.asked);
    }
}

proptest! {
    #[test]
    fn a_cache_remembers_what_a_list_of_what_happened_says(
        steps in prop::collection::vec(step(), 0..200),
        every in prop_oneof![Just(1_u64), Just(60)],
    ) {
        let mut run = Run::new(every);
        for step in &steps {
            run.play(step);
            run.compare();
        }
    }
}

//! Plays one history against the core: steps in, what came of them out.

use anyhow::{Context as _, Result, bail};
use headroom_core::books::Books;
use headroom_core::{
    AllocationEvent, AskEvent, Command, Event, Name, Rejection, Scheduler, Step, Timestamp, decide,
};
use headroom_engine::users::{Resolver, UserCache};
use serde_json::{Value, json};

use super::print;
use super::requests;
use super::told::Told;

/// 2000-01-01T00:00:00Z, when every history begins.
const START: Timestamp = Timestamp::from_millis(946_684_800_000);

/// Something that the core is in, and that can play a recorded history.
pub trait Home {
    /// Play one step.
    ///
    /// # Errors
    /// A fault of the case, or of the home.
    fn step(&mut self, step: &Value) -> Result<Outcome>;
}

/// What became of one step, in the form of the record.
#[derive(Debug)]
pub struct Outcome {
    /// What the resource manager was told: see [`super::Told::into_responses`].
    pub responses: Value,
    /// What the step answered, for those that answer.
    pub result: Option<Value>,
    /// The state, if the step asks for it.
    pub snapshot: Option<Value>,
}

/// The core in the middle of a history.
#[derive(Debug)]
pub(super) struct Driver {
    books: Books,
    scheduler: Scheduler,
    now: Timestamp,
    config: String,
    /// What the resource manager calls itself.
    manager: String,
    /// Who submits, and in which groups.
    pub(super) users: UserCache,
    pub(super) told: Told,
}

impl Driver {
    pub(super) fn new(config: &str) -> Self {
        Self {
            books: Books::default(),
            scheduler: Scheduler::default(),
            now: START,
            config: config.to_owned(),
            manager: String::new(),
            users: Resolver::default().cache(START),
            told: Told::default(),
        }
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Carry a command out; the caller says what a refusal means.
    ///
    /// # Errors
    /// The refusal; nothing changed.
    pub(super) fn command(&mut self, command: &Command) -> Result<(), Rejection> {
        let events = decide(&self.books, self.now, command)?;
        self.apply(Some(command), &events);
        Ok(())
    }

    fn apply(&mut self, cause: Option<&Command>, events: &[Event]) {
        for event in events {
            self.told.hear(&self.books, self.now, cause, event);
            self.scheduler.apply(&mut self.books, self.now, event);
        }
    }

    /// Take a queue file into force; whether it could be.
    fn configure(&mut self, text: &str) -> bool {
        let Ok(loaded) = headroom_config::read(text) else { return false };
        let mut configuration = loaded.configuration;
        for partition in &mut configuration.partitions {
            // The recorded reference takes victims as it does without this law of ours. C-5.
            partition.preemption.strict_guarantee = false;
        }
        self.command(&Command::Configure(Box::new(configuration))).is_ok()
    }

    /// Look for queues above their maximum, in all partitions.
    fn scan_quotas(&mut self) {
        let names: Vec<Name> =
            self.books.partitions().values().map(|one| one.name.clone()).collect();
        for partition in names {
            let scanned = self.command(&Command::ScanQuotas { partition });
            assert!(scanned.is_ok(), "the partition is there");
        }
    }

    /// Let the scheduler go through up to this many cycles.
    fn schedule(&mut self, most: u64) {
        let mut cycles = 0;
        let mut events = Vec::new();
        while cycles < most {
            events.clear();
            if self.scheduler.next(&self.books, self.now, &mut events) != Step::Moved {
                return;
            }
            self.apply(None, &events);
            cycles += u64::from(events.iter().any(is_result));
        }
    }

    /// Let time pass; each timer fires when it is due.
    fn advance(&mut self, millis: u64) {
        let end = self.now + headroom_core::Millis::new(millis);
        while let Some(due) = self.books.next_deadline().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            let fired = self.command(&Command::Tick);
            let stuck = self.books.next_deadline().is_some_and(|next| next <= due);
            assert!(fired.is_ok() && !stuck, "a timer that is due fires and is gone");
        }
        self.now = end;
    }
}

impl Home for Driver {
    fn step(&mut self, step: &Value) -> Result<Outcome> {
        let input = step.as_object().context("a step must be an object")?;
        self.advance(1);
        let mut result = None;
        for (key, value) in input {
            match key.as_str() {
                "register" => {
                    value["rmID"].as_str().unwrap_or_default().clone_into(&mut self.manager);
                    let config = self.config.clone();
                    self.configure(&config);
                }
                "applications" => requests::applications(self, value)?,
                "nodes" => requests::nodes(self, value)?,
                "allocations" => requests::allocations(self, value)?,
                "config" => {
                    let text = value.as_str().context("config must be a text")?;
                    result = Some(json!({"ok": self.configure(text)}));
                }
                "schedule" => self.schedule(count(value, key)?),
                "confirm" => {
                    let releases = self.told.take_unconfirmed();
                    for release in &releases {
                        requests::confirm(self, release)?;
                    }
                    result = Some(json!(releases.len()));
                }
                "quota_preemption" => self.scan_quotas(),
                "advance_ms" => self.advance(count(value, key)?),
                "responses" | "result" | "snapshot" | "cycles" | "settled" | "error"
                | "unstable" => {}
                _ => bail!("a step with {key:?} is unknown"),
            }
        }
        let told = self.told.take();
        let snapshot = input.contains_key("snapshot");
        Ok(Outcome {
            responses: told.into_responses(),
            result,
            snapshot: snapshot.then(|| print::snapshot(&self.books, &self.manager)),
        })
    }
}

/// Whether an event is the result of one of their cycles. Tying an application to its trackers
/// is a step of ours alone, and so is noting that nothing could be stopped for an ask.
pub const fn is_result(event: &Event) -> bool {
    matches!(
        event,
        Event::Ask(
            AskEvent::Placed { .. } | AskEvent::Reserved { .. } | AskEvent::Unreserved { .. }
        ) | Event::Allocation(AllocationEvent::SwapStarted { .. })
    )
}

fn count(value: &Value, key: &str) -> Result<u64> {
    value.as_u64().with_context(|| format!("{key} must be a whole number"))
}

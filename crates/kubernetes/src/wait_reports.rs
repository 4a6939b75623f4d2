//! Waiting pods whose condition does not have the reason yet.
//!
//! The core explains each pod a moment after it was asked for, and again when it says that the reason changed. It
//! explains some pods at a time, so many waiting pods cannot keep it from its work.

use std::collections::VecDeque;
use std::time::Duration;

use headroom_core::Name;
use headroom_pods::object::Text;
use headroom_pods::shim::Moment;

/// Time between two questions.
pub(crate) const EVERY: Duration = Duration::from_millis(200);
/// Number of pods in a question. With an explanation of half a millisecond, the core spends at most a tenth of its time.
const AT_ONCE: usize = 40;
/// Time after which a pod that still waits is explained.
const AFTER: i64 = 1_000;
/// Time after which a pod is explained again that would have started next.
const AGAIN_AFTER: i64 = 10_000;

/// Waiting pods, each with the time from which it is explained.
#[derive(Debug, Default)]
pub(crate) struct WaitReports {
    changed: VecDeque<(Moment, Text)>,
    new: VecDeque<(Moment, Text)>,
    again: VecDeque<(Moment, Text)>,
}

impl WaitReports {
    /// Adds a pod that was just asked for.
    pub(crate) fn add(&mut self, now: Moment, pod: Text) {
        self.new.push_back((Moment(now.0.saturating_add(AFTER)), pod));
    }

    /// Adds a pod whose reason changed.
    pub(crate) fn add_due(&mut self, now: Moment, pod: Text) {
        self.changed.push_back((now, pod));
    }

    /// Adds a pod that was explained too early.
    pub(crate) fn add_later(&mut self, now: Moment, pod: Text) {
        self.again.push_back((Moment(now.0.saturating_add(AGAIN_AFTER)), pod));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.new.is_empty() && self.again.is_empty()
    }

    /// Takes the pods that are due.
    pub(crate) fn due(&mut self, now: Moment) -> Vec<Name> {
        let mut due = Vec::new();
        for queue in [&mut self.changed, &mut self.new, &mut self.again] {
            while due.len() < AT_ONCE
                && let Some((_, pod)) = queue.pop_front_if(|(at, _)| *at <= now)
            {
                due.push(Name::from(pod.as_str()));
            }
        }
        due
    }
}

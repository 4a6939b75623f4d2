//! Waiting pods whose condition does not have the reason yet.
//!
//! The core explains each pod a moment after it was asked for, and again when it says that the reason changed. It
//! explains some pods at a time, so many waiting pods cannot keep it from its work.

use std::collections::{HashSet, VecDeque};
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
    new: VecDeque<(Moment, Text)>,
    changed: VecDeque<(Moment, Text)>,
    again: VecDeque<(Moment, Text)>,
    /// Pods that were explained a short time ago, each with the time until which a change does not count.
    recent: VecDeque<(Moment, Text)>,
    /// Pods of `changed` and `recent`.
    known: HashSet<Text>,
}

impl WaitReports {
    /// Adds a pod that was just asked for.
    pub(crate) fn add(&mut self, now: Moment, pod: Text) {
        self.new.push_back((Moment(now.0.saturating_add(AFTER)), pod));
    }

    /// Adds a pod whose reason can have changed. The core says so each second, so most calls change nothing.
    pub(crate) fn add_changed(&mut self, now: Moment, pod: Text) {
        if self.known.insert(pod.clone()) {
            self.changed.push_back((now, pod));
        }
    }

    /// Adds a pod that was explained too early.
    pub(crate) fn add_later(&mut self, now: Moment, pod: Text) {
        self.again.push_back((Moment(now.0.saturating_add(AGAIN_AFTER)), pod));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty()
            && self.changed.is_empty()
            && self.again.is_empty()
            && self.recent.is_empty()
    }

    /// Takes the pods that are due.
    pub(crate) fn due(&mut self, now: Moment) -> Vec<Name> {
        while let Some((_, pod)) = self.recent.pop_front_if(|(until, _)| *until <= now) {
            self.known.remove(&pod);
        }
        let mut due = Vec::new();
        for queue in [&mut self.new, &mut self.changed, &mut self.again] {
            while due.len() < AT_ONCE
                && let Some((_, pod)) = queue.pop_front_if(|(at, _)| *at <= now)
            {
                due.push(Name::from(pod.as_str()));
                let until = Moment(now.0.saturating_add(AGAIN_AFTER));
                self.known.insert(pod.clone());
                self.recent.push_back((until, pod));
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(reports: &mut WaitReports, at: i64) -> Vec<String> {
        reports.due(Moment(at)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pod_is_explained_after_a_moment_and_again_after_a_change() {
        let mut reports = WaitReports::default();
        reports.add(Moment(0), "a".into());
        assert_eq!(due(&mut reports, AFTER - 1), [""; 0]);
        assert_eq!(due(&mut reports, AFTER), ["a"]);
        // The core repeats itself, and an explanation is still fresh.
        for _ in 0..1_000 {
            reports.add_changed(Moment(AFTER), "a".into());
        }
        assert_eq!(due(&mut reports, AFTER + 1), [""; 0]);
        assert_eq!(due(&mut reports, AFTER + AGAIN_AFTER), [""; 0]);
        for _ in 0..1_000 {
            reports.add_changed(Moment(AFTER + AGAIN_AFTER), "a".into());
        }
        assert_eq!(due(&mut reports, AFTER + AGAIN_AFTER), ["a"]);
        assert_eq!(due(&mut reports, AFTER + 2 * AGAIN_AFTER), [""; 0]);
        assert!(reports.is_empty());
    }

    #[test]
    fn changes_do_not_keep_new_pods_waiting() {
        let mut reports = WaitReports::default();
        for number in 0..1_000 {
            reports.add_changed(Moment(0), format!("old{number}").into());
        }
        reports.add(Moment(0), "new".into());
        let first = due(&mut reports, AFTER);
        assert_eq!((first.len(), first[0].as_str()), (AT_ONCE, "new"));
    }
}

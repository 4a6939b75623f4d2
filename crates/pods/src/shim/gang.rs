//! Gangs: placeholders are created, hold resources until all have nodes, and make way for the members.

use crate::convert::event::EventKind;
use crate::convert::gang::{DEFAULT_TIMEOUT_SECONDS, GangStyle, Placeholder, SUFFIX_LENGTH};
use crate::object::Text;

use super::Shim;
use super::application::Failure;
use super::message::{ApiWrite, CoreMessage, DeletePurpose, PodIdentity};
use super::state::{ApplicationState, Place};
use super::timer::Timer;

/// Time between two tries to delete a placeholder, in seconds.
const DELETE_AGAIN_SECONDS: i64 = 5;

/// Letters of the random end of a placeholder name.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

impl Shim {
    /// Returns whether an accepted application must reserve before it runs.
    ///
    /// A member that has a node proves that the gang has started before, so it must not reserve again.
    pub(super) fn must_reserve(&self, id: &Text) -> bool {
        let Some(application) = self.applications.get(id) else { return false };
        let has_gang = application.gang.as_ref().is_some_and(|gang| !gang.abandoned);
        let has_started = application.tasks.iter().any(|uid| {
            self.pods.get(uid).is_some_and(|entry| {
                entry.task().is_some_and(|task| !task.placeholder) && entry.place != Place::Nowhere
            })
        });
        has_gang && !has_started
    }

    /// Moves an application to `Reserving`, and creates the placeholders that do not exist.
    pub(super) fn reserve(&mut self, id: &Text) {
        let now = self.now.0 / 1000;
        let class = self.originator_class(id);
        let Some(application) = self.applications.get_mut(id) else { return };
        let created = application.created.unwrap_or(now);
        let Some(gang) = &mut application.gang else { return };
        let timeout = match gang.plan.policy.timeout_seconds {
            0 => DEFAULT_TIMEOUT_SECONDS,
            seconds => seconds,
        };
        let is_late = now.saturating_sub(created) >= timeout;
        if gang.placeholders.is_empty() && is_late {
            let style = gang.plan.policy.style;
            return self.reserve_too_late(id, style);
        }
        if let Some(class) = class {
            gang.plan.source.priority_class = class;
        }
        gang.count_missing();
        let (groups, missing) = gang
            .groups
            .iter()
            .fold((0, 0_u64), |(groups, sum), group| (groups + 1, sum + u64::from(group.missing)));
        application.state = ApplicationState::Reserving;
        if missing > 0 {
            let note =
                format!("application {id} creates {missing} placeholders for {groups} task groups");
            self.originator_event(id, EventKind::CreatingPlaceholders, note);
        }
        self.create_placeholders(id);
        self.offer_fresh(id);
        self.check_reservation(id);
    }

    /// Returns the priority class of the pod that owns the placeholders, if the pod exists.
    fn originator_class(&self, id: &Text) -> Option<Text> {
        let originator = &self.applications.get(id)?.originator;
        Some(self.pods.get(originator)?.pod.spec.priority_class_name.clone())
    }

    fn reserve_too_late(&mut self, id: &Text, style: GangStyle) {
        let note = format!("the placeholder timeout of application {id} was over at the start");
        self.originator_event(id, EventKind::PlaceholderTimeout, note);
        match style {
            GangStyle::Soft => self.run_application(id),
            GangStyle::Hard => {
                // The core does not know about the failure yet.
                self.tell(CoreMessage::RemoveApplication { id: id.clone() });
                self.fail_application(id, &Failure::TimedOut, ApplicationState::Failed);
            }
        }
    }

    /// Creates placeholders, as many at once as allowed.
    fn create_placeholders(&mut self, id: &Text) {
        loop {
            let suffix = self.random_suffix();
            let Some(application) = self.applications.get_mut(id) else { return };
            let Some(gang) = &mut application.gang else { return };
            let Some(position) = gang.next_missing() else { return };
            let settings = &self.configuration.settings().placeholders;
            let group = &gang.plan.groups[position];
            let placeholder = Placeholder::new(&gang.plan.source, group, settings, &suffix);
            gang.creating.insert(placeholder.name.clone());
            let (application, placeholder) = (id.clone(), Box::new(placeholder));
            self.write(ApiWrite::CreatePlaceholder { application, placeholder });
        }
    }

    pub(super) fn placeholder_created(&mut self, id: &Text, pod: PodIdentity) {
        let gang = self.applications.get_mut(id).and_then(|application| application.gang.as_mut());
        let is_wanted = gang.is_some_and(|gang| {
            gang.creating.remove(&pod.name);
            !gang.abandoned
        });
        if is_wanted {
            self.create_placeholders(id);
        } else {
            self.write(ApiWrite::DeletePod { pod, purpose: DeletePurpose::Cleanup });
        }
    }

    /// Gives up the gang. The application runs without placeholders.
    pub(super) fn placeholder_refused(&mut self, id: &Text, name: &Text, error: &str) {
        let Some(application) = self.applications.get_mut(id) else { return };
        let state = application.state;
        let Some(gang) = &mut application.gang else { return };
        gang.creating.remove(name);
        if gang.abandoned {
            return;
        }
        let note = format!("placeholder {name} was not created, the gang is given up: {error}");
        self.originator_event(id, EventKind::PlaceholderCreateFailed, note);
        self.delete_placeholders(id);
        if state == ApplicationState::Reserving {
            self.run_application(id);
        }
    }

    /// Follows a placeholder that got its node.
    pub(super) fn placeholder_bound(&mut self, id: &Text, uid: &Text) {
        let state = self.applications.get(id).map(|application| application.state);
        if state == Some(ApplicationState::Reserving) {
            let name = self.pod_name(uid);
            let note = format!("placeholder {name} of application {id} has a node");
            self.originator_event(id, EventKind::PlaceholderAllocated, note);
            self.check_reservation(id);
        }
    }

    fn check_reservation(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        let is_complete = application.gang.as_ref().is_some_and(|gang| gang.is_complete());
        if application.state == ApplicationState::Reserving && is_complete {
            let note = format!("all placeholders of application {id} have nodes");
            self.originator_event(id, EventKind::ReservationComplete, note);
            self.run_application(id);
        }
    }

    /// Moves an application to `Resuming` after the placeholder timeout.
    pub(super) fn resume(&mut self, id: &Text) {
        self.set_application_state(id, ApplicationState::Resuming);
        if let Some(application) = self.applications.get_mut(id)
            && let Some(gang) = &mut application.gang
        {
            gang.abandoned = true;
        }
        let note = format!("application {id} runs without gang, because a placeholder timed out");
        self.originator_event(id, EventKind::GangSchedulingFailed, note);
        self.check_resumed(id);
    }

    /// Runs a resuming application whose placeholders have ended.
    pub(super) fn check_resumed(&mut self, id: &Text) {
        let Some(application) = self.applications.get(id) else { return };
        let has_placeholders =
            application.gang.as_ref().is_some_and(|gang| !gang.placeholders.is_empty());
        if application.state == ApplicationState::Resuming && !has_placeholders {
            self.run_application(id);
        }
    }

    pub(super) fn delete_failed(&mut self, pod: PodIdentity, purpose: DeletePurpose, error: &str) {
        let PodIdentity { namespace, name, .. } = &pod;
        self.log(format!("pod {namespace}/{name} was not deleted: {error}"));
        match purpose {
            // The core asks again.
            DeletePurpose::Released => {}
            DeletePurpose::Cleanup => {
                self.start_timer(DELETE_AGAIN_SECONDS, Timer::Delete { pod });
            }
        }
    }

    /// Returns the random end of a placeholder name.
    fn random_suffix(&mut self) -> String {
        let mut number = self.next_random();
        let letters = u64::try_from(LETTERS.len()).unwrap_or(1);
        let mut letter = || {
            let at = usize::try_from(number % letters).unwrap_or(0);
            number /= letters;
            char::from(LETTERS[at])
        };
        (0..SUFFIX_LENGTH).map(|_| letter()).collect()
    }

    /// Returns the next number of the SplitMix64 generator.
    ///
    /// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    fn next_random(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

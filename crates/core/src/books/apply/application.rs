//! Applications come, move on and go.

use crate::books::line::Line;
use crate::books::link::Untold;
use crate::books::priority::AskPriorities;
use crate::books::tracker::TrackerKind;
use crate::books::{
    Application, ApplicationState, Books, GroupLink, Link, REMEMBERED_FOR, Rejected, StateLog,
    Timer,
};
use crate::event::Event;
use crate::id::{ApplicationId, QueueId};
use crate::name::Name;
use crate::resource::Resources;
use crate::time::Timestamp;

/// Why the trackers do not refuse what the books ask of them.
pub(super) const LIVE: &str = "a linked level lives, and knows who is tied to it";

impl Books {
    pub(super) fn add_application(
        &mut self,
        now: Timestamp,
        queue: QueueId,
        name: &Name,
        user: &Name,
        groups: &[Name],
    ) {
        let partition = self.queues[queue].partition;
        self.submissions += 1;
        let application = self.applications.insert(Application {
            partition,
            name: name.clone(),
            queue,
            queue_path: self.queues[queue].path.clone(),
            user: user.clone(),
            groups: groups.into(),
            submitted: now,
            number: self.submissions,
            state: ApplicationState::New,
            state_since: now,
            timer: None,
            started: None,
            state_log: StateLog::default(),
            link: None,
            counted: false,
            untold: None,
            pending: Resources::new(),
            allocated: Resources::new(),
            peak: Resources::new(),
            ask_count: 0,
            allocation_count: 0,
            priorities: AskPriorities::default(),
            line: Line::default(),
            first_allocation: None,
            next_in_queue: None,
            previous_in_queue: None,
        });
        self.attach_application(application);
        self.partition_mut(partition).applications.insert(name.clone(), application);
        self.watch_emptiness(now, queue);
    }

    pub(super) fn reject_application(&mut self, now: Timestamp, event: &Event) {
        let Event::ApplicationRejected {
            partition,
            queue,
            application,
            user,
            groups,
            code,
            message,
        } = event
        else {
            return;
        };
        self.rejections += 1;
        let number = self.rejections;
        let rejected = &mut self.partition_mut(*partition).rejected;
        let row = Rejected {
            application: application.clone(),
            queue: queue.clone(),
            user: user.clone(),
            groups: groups.as_slice().into(),
            at: now,
            code: code.clone(),
            message: message.clone(),
        };
        rejected.insert(number, row);
        // Old ones go when a new one comes: nothing but memory depends on it.
        while let Some((first, oldest)) = rejected.first() {
            let expired = oldest.at + REMEMBERED_FOR < now;
            if !expired && rejected.len() <= Rejected::REMEMBERED {
                break;
            }
            let first = *first;
            rejected.remove(&first);
        }
    }

    /// Tie an application to its trackers, or only to a group if it has a user already: what
    /// it has by then is nothing that the group is told.
    pub(super) fn link(&mut self, application: ApplicationId, group: Option<&Name>) {
        let row = &self.applications[application];
        let (partition, user, path) = (row.partition, row.user.clone(), self.path_of(row.queue));
        let before = row.link;
        let late = (row.counted || !row.allocated.is_empty()) && group.is_some();
        let untold = late.then(|| Untold { amount: row.allocated.clone(), counted: false }.into());
        let trackers = self.trackers(partition);
        let mut level = |kind, name| trackers.link(kind, name, &path).expect(LIVE);
        let user = before.map_or_else(|| level(TrackerKind::User, &user), |link| link.user);
        let group = group.map(|group| level(TrackerKind::Group, group));
        let group = group.map_or(GroupLink::Nobody, GroupLink::Level);
        let row = &mut self.applications[application];
        row.link = Some(Link { user, group });
        row.untold = untold;
    }

    /// Take an application off its group, whose limit is gone: what it added, and no more.
    pub(super) fn unlink_group(&mut self, application: ApplicationId) {
        let row = &self.applications[application];
        let (partition, counted) = (row.partition, row.counted_by_group());
        let Some(charged) = row.charged_to_group() else { return };
        let row = &mut self.applications[application];
        row.untold = None;
        let link = row.link.as_mut().expect("it is charged to a group");
        let group = core::mem::replace(&mut link.group, GroupLink::Undecided);
        let level = group.level().expect("it is charged to a group");
        let trackers = self.trackers(partition);
        trackers.decrease(level, &charged).expect(LIVE);
        if counted {
            trackers.stop_application(level).expect(LIVE);
        }
        trackers.unlink(level).expect(LIVE);
    }

    /// Let go of the trackers of an application that has nothing left.
    pub(super) fn unlink(&mut self, application: ApplicationId) {
        let row = &self.applications[application];
        let (partition, by_group) = (row.partition, row.counted_by_group());
        let row = &mut self.applications[application];
        let by_user = core::mem::take(&mut row.counted);
        row.untold = None;
        let Some(link) = row.link.take() else { return };
        let trackers = self.trackers(partition);
        let group = link.group.level().map(|level| (level, by_group));
        for (level, counted) in core::iter::once((link.user, by_user)).chain(group) {
            if counted {
                trackers.stop_application(level).expect(LIVE);
            }
            trackers.unlink(level).expect(LIVE);
        }
    }

    pub(super) fn move_application(
        &mut self,
        now: Timestamp,
        application: ApplicationId,
        state: ApplicationState,
        timer: Option<Timestamp>,
    ) {
        let row = &mut self.applications[application];
        let before = core::mem::replace(&mut row.state, state);
        row.state_since = now;
        row.state_log.push(now, state);
        let old_timer = core::mem::replace(&mut row.timer, timer);
        if state == ApplicationState::Running {
            row.started = Some(now);
        }
        let (queue, partition, name) = (row.queue, row.partition, row.name.clone());
        if let Some(old) = old_timer {
            self.timers.remove(&(old, Timer::Application(application)));
        }
        if let Some(at) = timer {
            self.timers.insert((at, Timer::Application(application)), ());
        }
        match (before == ApplicationState::Running, state == ApplicationState::Running) {
            (false, true) => self.each_up(queue, |queue| queue.running += 1),
            (true, false) => self.each_up(queue, |queue| queue.running -= 1),
            _ => {}
        }
        if before.is_active() && !state.is_active() {
            self.detach_application(application);
            self.partition_mut(partition).applications.remove(&*name);
            self.watch_emptiness(now, queue);
        }
    }

    pub(super) fn remove_application(&mut self, now: Timestamp, application: ApplicationId) {
        let row = &self.applications[application];
        let (queue, state, timer) = (row.queue, row.state, row.timer);
        if state == ApplicationState::Running {
            self.each_up(queue, |queue| queue.running -= 1);
        }
        if let Some(at) = timer {
            self.timers.remove(&(at, Timer::Application(application)));
        }
        if state.is_active() {
            self.detach_application(application);
        }
        let row = self.applications.remove(application).expect("looked at above");
        if state.is_active() {
            self.partition_mut(row.partition).applications.remove(&*row.name);
            self.watch_emptiness(now, queue);
        }
    }
}

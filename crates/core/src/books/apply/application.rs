//! Applies events of applications.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::books::ask_order::AskOrder;
use crate::books::link::UnchargedToGroup;
use crate::books::priority::AskPriorities;
use crate::books::tracker::TrackerKind;
use crate::books::{
    Allocation, Application, ApplicationState, Books, Deadline, Gang, GangSettings, GroupLink,
    Lifetime, Node, REMEMBERED_FOR, Rejected, StateLog, TaskGroup, Timer, TrackerLink,
};
use crate::event::ApplicationEvent;
use crate::id::{ApplicationId, QueueId};
use crate::name::Name;
use crate::resource::Resources;
use crate::time::Timestamp;

/// Invariant: the reason why the trackers always accept changes of the books.
pub(super) const LIVE: &str = "a linked level lives, and knows who is tied to it";

impl Books {
    pub(super) fn add_application(
        &mut self,
        now: Timestamp,
        queue: QueueId,
        name: &Name,
        user: &Name,
        groups: &[Name],
        gang: &GangSettings,
    ) {
        let partition = self.queues[queue].partition;
        let gang = (*gang != GangSettings::default()).then(|| Box::new(self.gang(gang)));
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
            allocating: false,
            driver: None,
            lifetime: Lifetime { since: now, ..Lifetime::default() },
            gang,
            backed_off: None,
            untold: None,
            pending: Resources::new(),
            allocated: Resources::new(),
            peak: Resources::new(),
            usage: None,
            ask_count: 0,
            homebound: 0,
            swap_count: 0,
            reservation_count: 0,
            reservation_ended: None,
            allocation_count: 0,
            deadline: Deadline::default(),
            overtaken: 0,
            overtaken_by: None,
            task: None,
            metered: None,
            priorities: AskPriorities::default(),
            line: AskOrder::default(),
            first_allocation: None,
            next_in_queue: None,
            previous_in_queue: None,
        });
        if let Some(mark) = self.queues[queue].settings.tenant.clone() {
            self.begin_meter(application, &mark.tenant);
        }
        self.attach_application(application);
        self.count_application(application, true);
        self.partition_mut(partition).applications.insert(name.clone(), application);
        self.renew_lifetime(application);
        self.watch_emptiness(now, queue);
        self.watch_drains(now, queue);
    }

    fn gang(&mut self, settings: &GangSettings) -> Gang {
        Gang {
            ask: self.types.intern_all(&settings.ask).pruned(),
            style: settings.style,
            timeout: settings.timeout,
            ..Gang::default()
        }
    }

    pub(super) fn reject_application(&mut self, now: Timestamp, event: &ApplicationEvent) {
        let ApplicationEvent::Rejected {
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
        // Old rejections are removed when a new one is added. They affect only memory.
        while let Some((first, oldest)) = rejected.first() {
            let expired = oldest.at + REMEMBERED_FOR < now;
            if !expired && rejected.len() <= Rejected::REMEMBERED {
                break;
            }
            let first = *first;
            rejected.remove(&first);
        }
    }

    /// Links an application to its trackers, or only to a group if it already has a user. The group is not charged for
    /// existing allocations.
    pub(super) fn link(&mut self, application: ApplicationId, group: Option<&Name>) {
        let row = &self.applications[application];
        let (partition, user, path) = (row.partition, row.user.clone(), self.path_of(row.queue));
        let before = row.link;
        let late = (row.counted || !row.allocated.is_empty()) && group.is_some();
        let untold =
            late.then(|| UnchargedToGroup { amount: row.allocated.clone(), counted: false }.into());
        let trackers = self.trackers(partition);
        let mut level = |kind, name| trackers.link(kind, name, &path).expect(LIVE);
        let user = before.map_or_else(|| level(TrackerKind::User, &user), |link| link.user);
        let group = group.map(|group| level(TrackerKind::Group, group));
        let group = group.map_or(GroupLink::Nobody, GroupLink::Level);
        let row = &mut self.applications[application];
        row.link = Some(TrackerLink { user, group });
        row.untold = untold;
        if before.is_none() {
            self.share_all(application, true);
        }
    }

    /// Unlinks an application from a group whose limit was removed, and refunds the amounts that the group was charged
    /// with.
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

    /// Unlinks an application without allocations from its trackers.
    pub(super) fn unlink(&mut self, application: ApplicationId) {
        self.stop_counting(application);
        self.share_all(application, false);
        let row = &mut self.applications[application];
        row.untold = None;
        let (partition, link) = (row.partition, row.link.take());
        let trackers = self.trackers(partition);
        for level in link.into_iter().flat_map(TrackerLink::levels) {
            trackers.unlink(level).expect(LIVE);
        }
    }

    /// Makes the trackers of an application no longer count it as running, even if placeholders remain.
    fn stop_counting(&mut self, application: ApplicationId) {
        let row = &self.applications[application];
        let (partition, by_group) = (row.partition, row.counted_by_group());
        let row = &mut self.applications[application];
        let by_user = core::mem::take(&mut row.counted);
        if let Some(untold) = &mut row.untold {
            untold.counted = false;
        }
        let Some(link) = row.link else { return };
        let trackers = self.trackers(partition);
        let group = link.group.level().map(|level| (level, by_group));
        for (level, counted) in core::iter::once((link.user, by_user)).chain(group) {
            if counted {
                trackers.stop_application(level).expect(LIVE);
            }
        }
    }

    pub(super) fn move_application(
        &mut self,
        now: Timestamp,
        application: ApplicationId,
        state: ApplicationState,
        timer: Option<Timestamp>,
    ) {
        if state == ApplicationState::Completing {
            self.stop_counting(application);
        }
        let row = &mut self.applications[application];
        let waited = row.is_waiting();
        let before = core::mem::replace(&mut row.state, state);
        row.state_since = now;
        row.state_log.push(now, state);
        let old_timer = core::mem::replace(&mut row.timer, timer);
        if state == ApplicationState::Running {
            row.started = Some(now);
        }
        let (queue, partition, name) = (row.queue, row.partition, row.name.clone());
        // An application that restarts still counts as running, until it runs or ends.
        let keeps = matches!(state, ApplicationState::Accepted | ApplicationState::Resuming);
        let allocated = !keeps && core::mem::take(&mut row.allocating);
        if allocated {
            self.each_up(queue, |queue| queue.allocating -= 1);
        }
        if let Some(old) = old_timer {
            self.timers.remove(&(old, Timer::Application(application)));
        }
        if let Some(at) = timer {
            self.timers.insert((at, Timer::Application(application)), ());
        }
        self.follow_start(application, waited);
        match (before == ApplicationState::Running, state == ApplicationState::Running) {
            (false, true) => self.each_up(queue, |queue| queue.running += 1),
            (true, false) => self.each_up(queue, |queue| queue.running -= 1),
            _ => {}
        }
        if before.is_active() && !state.is_active() {
            // Readers have already used the usage. Source: scheduling §18.2.
            self.applications[application].usage = None;
            self.expire_placeholders(application);
            self.count_application(application, false);
            self.detach_application(application);
            let number = self.applications[application].number;
            let row = self.partition_mut(partition);
            row.applications.remove(&*name);
            row.ended.insert((name, number), application);
            self.forget_lifetime(application);
            self.task_is_over(now, application);
            self.watch_emptiness(now, queue);
            self.watch_drains(now, queue);
        }
    }

    /// Clears the timer of the placeholders of an application.
    pub(super) fn expire_placeholders(&mut self, application: ApplicationId) {
        let Some(gang) = self.applications[application].gang.as_mut() else { return };
        gang.lost = 0;
        if let Some(at) = gang.deadline.take() {
            self.timers.remove(&(at, Timer::Placeholders(application)));
        }
    }

    /// Clears the timer of the state of an application.
    pub(super) fn stop_timer(&mut self, application: ApplicationId) {
        if let Some(at) = self.applications[application].timer.take() {
            self.timers.remove(&(at, Timer::Application(application)));
        }
    }

    pub(super) fn remove_application(&mut self, now: Timestamp, application: ApplicationId) {
        self.expire_placeholders(application);
        self.forget_lifetime(application);
        self.forget_task(application);
        let row = &self.applications[application];
        let (queue, state, timer) = (row.queue, row.state, row.timer);
        if row.allocating {
            self.each_up(queue, |queue| queue.allocating -= 1);
        }
        if state == ApplicationState::Running {
            self.each_up(queue, |queue| queue.running -= 1);
        }
        if let Some(at) = timer {
            self.timers.remove(&(at, Timer::Application(application)));
        }
        if state.is_active() {
            self.count_application(application, false);
            self.detach_application(application);
        }
        let row = self.applications.remove(application).expect("looked at above");
        let partition = self.partition_mut(row.partition);
        if state.is_active() {
            partition.applications.remove(&*row.name);
            self.watch_emptiness(now, queue);
            self.watch_drains(now, queue);
        } else {
            partition.ended.remove(&(row.name, row.number));
        }
    }
}

impl Application {
    /// Counts the usage of a released allocation.
    pub(super) fn spend(
        &mut self,
        now: Timestamp,
        allocation: &Allocation,
        node: &Node,
        size: &Resources,
    ) {
        let usage = self.usage.get_or_insert_default();
        Arc::make_mut(usage).add(now, allocation, node, size);
    }

    /// Counts a placeholder that was placed. Returns the placeholder deadline if it is the first and the application
    /// waits for its gang.
    pub(super) fn hold(&mut self, now: Timestamp, size: &Resources) -> Option<Timestamp> {
        let waits = self.state == ApplicationState::Accepted;
        let gang = self.gang.get_or_insert_default();
        gang.placeholders.add(size);
        gang.placeholder_count += 1;
        if waits { gang.start_timer(now) } else { None }
    }

    /// Counts a placeholder that a member replaced.
    pub(super) fn replaced(&mut self, placeholder: &Allocation, size: &Resources) {
        self.no_longer_hold(size);
        if let Some(group) = self.group_of(placeholder) {
            group.replaced += 1;
        }
    }

    /// Counts a placeholder that ended without a replacement.
    pub(super) fn given_up(&mut self, placeholder: &Allocation, size: &Resources) {
        self.no_longer_hold(size);
        self.timed_out(placeholder);
    }

    /// Counts an unsuccessful placeholder in its task group. Ignores other asks.
    pub(super) fn timed_out(&mut self, ask: &Allocation) {
        if let Some(group) = self.group_of(ask).filter(|_| ask.placeholder) {
            group.timed_out += 1;
        }
    }

    fn no_longer_hold(&mut self, size: &Resources) {
        if let Some(gang) = &mut self.gang {
            gang.placeholders.subtract(size);
            gang.placeholders.prune();
            gang.placeholder_count -= 1;
        }
    }

    fn group_of(&mut self, ask: &Allocation) -> Option<&mut TaskGroup> {
        self.gang.as_mut()?.group_mut(ask.task_group()?)
    }
}

//! State changes of an application that loses an ask or an allocation. Source: scheduling §3.3.
//!
//! One command can remove many asks and allocations of an application. Each removal is evaluated with the state that
//! the previous ones left.

use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, REMEMBERED_FOR, StopRequest};
use crate::event::{AllocationEvent, ApplicationEvent, AskEvent, Event, Termination};
use crate::id::{AllocationId, ApplicationId};
use crate::time::{Millis, Timestamp};

/// Time that an application without asks and real allocations stays Completing. Its placeholders are released at the
/// end. Source: scheduling §3.5, the constant of YuniKorn.
pub(crate) const COMPLETING_FOR: Millis = Millis::from_secs(30);

/// An application from which a command removes asks or allocations.
pub(super) struct Lifecycle<'books> {
    books: &'books Books,
    now: Timestamp,
    application: ApplicationId,
    state: ApplicationState,
    timers: Timers,
    linked: bool,
    asks: u32,
    /// Number of allocations that are no placeholders.
    real: u32,
    placeholders: u32,
    /// Whether it is a task of several members, which end together.
    together: bool,
    /// Whether its lifetime is over. Then it ends with its last ask or allocation.
    over: bool,
    /// Asks and allocations that were removed so far.
    lost: Vec<AllocationId>,
}

/// Timers of an application that events must stop.
struct Timers {
    /// Timer of its state.
    state: bool,
    /// Timer of its placeholders.
    placeholders: bool,
}

impl<'books> Lifecycle<'books> {
    pub(super) fn of(books: &'books Books, now: Timestamp, application: ApplicationId) -> Self {
        let row = books.application(application);
        let (_, placeholders) = row.placeholders();
        Self {
            books,
            now,
            application,
            state: row.state,
            timers: Timers {
                state: row.timer.is_some(),
                placeholders: row.gang.as_ref().is_some_and(|gang| gang.deadline.is_some()),
            },
            linked: row.link.is_some(),
            asks: row.ask_count,
            real: row.allocation_count - placeholders,
            placeholders,
            together: books.members_of(application) > 1,
            over: row.lifetime.over,
            lost: Vec::new(),
        }
    }

    /// Ends the lifetime of the application: withdraws its asks, and asks the RM to stop its allocations. With the last
    /// of them, the application fails, or completes if it was Completing. Source: user-headroom §10 (C27).
    pub(super) fn expire(&mut self, events: &mut Vec<Event>) {
        events.push(Event::Application(ApplicationEvent::LifetimeOver {
            application: self.application,
        }));
        self.over = true;
        if self.state.may_become(ApplicationState::Failing) {
            self.enter(ApplicationState::Failing, None, events);
        } else if core::mem::take(&mut self.timers.state) {
            events.push(Event::Application(ApplicationEvent::TimerStopped {
                application: self.application,
            }));
        }
        if core::mem::take(&mut self.timers.placeholders) {
            events.push(Event::Application(ApplicationEvent::PlaceholdersExpired {
                application: self.application,
            }));
        }
        let termination = Termination::LifetimeOver;
        let books = self.books;
        let rows = || books.allocations_of(self.application);
        let swaps: Vec<AllocationId> =
            rows().filter(|(_, row)| row.is_swapping()).map(|(id, _)| id).collect();
        let mut rows: Vec<AllocationId> = rows().map(|(id, _)| id).collect();
        rows.reverse(); // The oldest first.
        for ask in swaps {
            self.part(ask, events);
        }
        for id in rows {
            let row = books.allocation(id);
            if !row.is_allocated() {
                self.drop_ask(id, termination, events);
            } else if row.mark == StopRequest::None {
                events.push(Event::Allocation(AllocationEvent::ReleaseAsked {
                    allocation: id,
                    termination,
                }));
            }
        }
        self.end_over(events);
    }

    /// Ends the application if its lifetime is over and it has no ask and no allocation left.
    fn end_over(&mut self, events: &mut Vec<Event>) {
        if self.asks + self.real + self.placeholders > 0 {
            return;
        }
        match self.state {
            ApplicationState::Failing => self.fail(events),
            ApplicationState::Resuming => {
                self.enter(ApplicationState::Accepted, None, events);
                self.enter(ApplicationState::Failing, None, events);
                self.fail(events);
            }
            ApplicationState::Completing => self.complete(events),
            ApplicationState::New
            | ApplicationState::Accepted
            | ApplicationState::Running
            | ApplicationState::Completed
            | ApplicationState::Failed => {}
        }
    }

    /// Withdraws a waiting ask.
    pub(super) fn withdraw(
        &mut self,
        ask: AllocationId,
        termination: Termination,
        events: &mut Vec<Event>,
    ) {
        self.drop_ask(ask, termination, events);
        if self.together {
            self.lose_all(termination, events);
        }
        let waits = matches!(self.state, ApplicationState::Failing | ApplicationState::Completing);
        if self.has_nothing_real() && self.placeholders == 0 && !waits {
            self.complete(events);
        }
    }

    /// Cancels the replacement of a placeholder by this member, which waits again.
    pub(super) fn drop_swap(&mut self, ask: AllocationId, events: &mut Vec<Event>) {
        self.part(ask, events);
        if self.state == ApplicationState::Completing {
            self.enter(ApplicationState::Running, None, events);
        }
    }

    /// Withdraws a member during its placeholder replacement.
    pub(super) fn abandon(
        &mut self,
        ask: AllocationId,
        termination: Termination,
        events: &mut Vec<Event>,
    ) {
        self.part(ask, events);
        self.drop_ask(ask, termination, events);
    }

    /// Releases an allocation. A member that was about to replace it waits again.
    pub(super) fn release(
        &mut self,
        allocation: AllocationId,
        termination: Termination,
        events: &mut Vec<Event>,
    ) {
        let row = self.books.allocation(allocation);
        if let Some(member) = row.partner() {
            self.drop_swap(member, events);
        }
        if self.together && self.lost.contains(&allocation) {
            return; // It went with another member.
        }
        self.lose(allocation, termination, events);
        if self.together {
            self.lose_all(termination, events);
        }
        if self.over {
            return self.end_over(events);
        }
        if !row.placeholder {
            if self.has_nothing_real() {
                self.complete(events);
            }
        } else if self.placeholders == 0 {
            self.placeholders_gone(events);
        }
    }

    /// Confirms that the RM stopped a placeholder, and places its member. The two steps let an application without
    /// other allocations complete and run again. Source: scheduling §10.4.
    pub(super) fn confirm(&mut self, placeholder: AllocationId, events: &mut Vec<Event>) {
        if self.state == ApplicationState::Failing {
            // The application is about to end, so no member replaces the placeholder.
            let member = self.books.allocation(placeholder).partner();
            self.release(placeholder, Termination::PlaceholderReplaced, events);
            if let Some(member) = member.filter(|_| self.state == ApplicationState::Failing) {
                self.drop_ask(member, Termination::Timeout, events);
            }
            return;
        }
        let had_real = self.real > 0;
        if self.placeholders == 1 {
            if self.state == ApplicationState::Resuming {
                self.enter(ApplicationState::Accepted, None, events);
            } else if self.has_nothing_real() && self.state != ApplicationState::Completing {
                self.start_completing(Some(self.now + COMPLETING_FOR), events);
            }
        }
        events.push(Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }));
        self.lost.push(placeholder);
        self.placeholders -= 1;
        self.real += 1;
        self.stop_waiting(events);
        if (had_real || self.state == ApplicationState::Completing)
            && let Some(state) = self.state.run()
        {
            self.enter(state, None, events);
        }
    }

    /// Releases everything. An application without asks then stays Completing, without a timer.
    pub(super) fn give_up_all(&mut self, termination: Termination, events: &mut Vec<Event>) {
        let asked = self.asks > 0;
        let rows = || self.books.allocations_of(self.application);
        let swaps: Vec<AllocationId> =
            rows().filter(|(_, row)| row.is_swapping()).map(|(id, _)| id).collect();
        let mut rows: Vec<AllocationId> = rows().map(|(id, _)| id).collect();
        rows.reverse(); // The oldest first.
        let held = self.placeholders > 0;
        let keeps_asks = termination == Termination::Timeout;
        for ask in swaps {
            if keeps_asks {
                self.drop_swap(ask, events);
            } else {
                self.part(ask, events);
            }
        }
        for id in rows {
            if self.books.allocation(id).is_allocated() {
                self.lose(id, termination, events);
            } else if !keeps_asks {
                self.drop_ask(id, termination, events);
            }
        }
        self.stop_waiting(events);
        if self.over {
            return self.end_over(events);
        }
        match self.state {
            ApplicationState::Failing | ApplicationState::Resuming if held => {
                self.placeholders_gone(events);
            }
            ApplicationState::Completing => self.complete(events),
            _ if self.asks > 0 => {}
            _ if asked => self.complete(events),
            state @ (ApplicationState::New
            | ApplicationState::Accepted
            | ApplicationState::Running
            | ApplicationState::Completed
            | ApplicationState::Resuming
            | ApplicationState::Failing
            | ApplicationState::Failed) => {
                if state.may_become(ApplicationState::Completing) {
                    self.start_completing(None, events);
                }
            }
        }
    }

    /// Ends the application at once: withdraws its asks and releases its allocations.
    pub(super) fn finish(&mut self, termination: Termination, events: &mut Vec<Event>) {
        self.lose_all(termination, events);
        match self.state {
            ApplicationState::Failing => self.fail(events),
            ApplicationState::Accepted | ApplicationState::Running => {
                self.start_completing(None, events);
                self.complete(events);
            }
            ApplicationState::New
            | ApplicationState::Completing
            | ApplicationState::Completed
            | ApplicationState::Resuming
            | ApplicationState::Failed => self.complete(events),
        }
    }

    /// Releases the allocations of an application that is about to request them again.
    pub(super) fn give_back(&mut self, termination: Termination, events: &mut Vec<Event>) {
        self.lose_all(termination, events);
        if self.state.may_become(ApplicationState::Completing) {
            self.start_completing(None, events);
        }
    }

    /// Removes the remaining asks and allocations, oldest first.
    fn lose_all(&mut self, termination: Termination, events: &mut Vec<Event>) {
        let rows = self.books.allocations_of(self.application);
        let mut rest: Vec<AllocationId> = rows.map(|(id, _)| id).collect();
        rest.reverse();
        rest.retain(|id| !self.lost.contains(id));
        for id in rest {
            if self.books.allocation(id).is_allocated() {
                self.lose(id, termination, events);
            } else {
                self.drop_ask(id, termination, events);
            }
        }
    }

    /// Ends the time in the state Completing. If placeholders are left, asks the RM to stop them, and the last stopped
    /// one completes the application.
    pub(super) fn end_completing(&mut self, events: &mut Vec<Event>) {
        if self.placeholders == 0 {
            return self.complete(events);
        }
        super::gang::ask_back(self.books, self.application, true, events);
        events.push(Event::Application(ApplicationEvent::TimerStopped {
            application: self.application,
        }));
    }

    /// Returns whether the application failed and lost this allocation with it.
    pub(super) fn ended_with(&self, allocation: AllocationId) -> bool {
        self.state == ApplicationState::Failed && self.lost.contains(&allocation)
    }

    fn has_nothing_real(&self) -> bool {
        self.asks == 0 && self.real == 0
    }

    fn part(&mut self, ask: AllocationId, events: &mut Vec<Event>) {
        events.push(Event::Allocation(AllocationEvent::SwapDropped { ask }));
        self.asks += 1;
    }

    fn drop_ask(&mut self, ask: AllocationId, termination: Termination, events: &mut Vec<Event>) {
        events.push(Event::Ask(AskEvent::Removed { ask, termination }));
        self.lost.push(ask);
        self.asks -= 1;
    }

    fn lose(
        &mut self,
        allocation: AllocationId,
        termination: Termination,
        events: &mut Vec<Event>,
    ) {
        events.push(Event::Allocation(AllocationEvent::Released { allocation, termination }));
        self.lost.push(allocation);
        if self.books.allocation(allocation).placeholder {
            self.placeholders -= 1;
            self.stop_waiting(events);
        } else {
            self.real -= 1;
        }
    }

    /// Stops the timer of placeholders if none is left.
    fn stop_waiting(&mut self, events: &mut Vec<Event>) {
        if self.placeholders == 0 && core::mem::take(&mut self.timers.placeholders) {
            events.push(Event::Application(ApplicationEvent::PlaceholdersExpired {
                application: self.application,
            }));
        }
    }

    /// Changes the state after the last placeholder ended without a replacement.
    fn placeholders_gone(&mut self, events: &mut Vec<Event>) {
        match self.state {
            ApplicationState::Failing => self.fail(events),
            ApplicationState::Resuming => self.enter(ApplicationState::Accepted, None, events),
            ApplicationState::Completing if !self.timers.state => self.complete(events),
            _ if self.has_nothing_real() => self.complete(events),
            ApplicationState::New
            | ApplicationState::Accepted
            | ApplicationState::Running
            | ApplicationState::Completing
            | ApplicationState::Completed
            | ApplicationState::Failed => {}
        }
    }

    /// Makes one step towards the end of the application, if its state allows one.
    fn complete(&mut self, events: &mut Vec<Event>) {
        match self.state {
            ApplicationState::Accepted | ApplicationState::Running => {
                self.start_completing(Some(self.now + COMPLETING_FOR), events);
            }
            ApplicationState::Completing => {
                self.unlink(events);
                let timer = Some(self.now + REMEMBERED_FOR);
                self.enter(ApplicationState::Completed, timer, events);
            }
            ApplicationState::New
            | ApplicationState::Completed
            | ApplicationState::Resuming
            | ApplicationState::Failing
            | ApplicationState::Failed => {}
        }
    }

    fn start_completing(&mut self, timer: Option<Timestamp>, events: &mut Vec<Event>) {
        if self.real + self.placeholders == 0 {
            self.unlink(events);
        }
        self.enter(ApplicationState::Completing, timer, events);
    }

    /// Fails the application, and removes its remaining asks and allocations.
    fn fail(&mut self, events: &mut Vec<Event>) {
        self.lose_all(Termination::Timeout, events);
        self.unlink(events);
        let timer = Some(self.now + REMEMBERED_FOR);
        self.enter(ApplicationState::Failed, timer, events);
    }

    fn unlink(&mut self, events: &mut Vec<Event>) {
        if core::mem::take(&mut self.linked) {
            events.push(Event::Application(ApplicationEvent::Unlinked {
                application: self.application,
            }));
        }
    }

    fn enter(
        &mut self,
        state: ApplicationState,
        timer: Option<Timestamp>,
        events: &mut Vec<Event>,
    ) {
        self.state = state;
        self.timers.state = timer.is_some();
        events.push(Event::Application(ApplicationEvent::Moved {
            application: self.application,
            state,
            timer,
        }));
    }
}

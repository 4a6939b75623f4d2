//! Views of accumulated usage, and the summary of an ended application.

use alloc::vec::Vec;

use crate::books::{Application, ApplicationState, Books, Spent};
use crate::event::{ApplicationEvent, Event};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// Accumulated usage of released allocations by instance type: amounts times whole seconds. Millicore seconds of
/// `vcore`, byte seconds of `memory`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpentView {
    /// Usage of ordinary allocations.
    pub used: Vec<(Name, Amounts)>,
    /// Usage of placeholders.
    pub placeholders: Vec<(Name, Amounts)>,
    /// Usage of preempted allocations.
    pub preempted: Vec<(Name, Amounts)>,
}

impl SpentView {
    pub(super) fn of(books: &Books, row: &Application) -> Self {
        let Some(usage) = &row.usage else { return Self::default() };
        let amounts = |spent: &Spent| {
            spent.iter().map(|(name, one)| (name.clone(), books.types().amounts(one))).collect()
        };
        Self {
            used: amounts(&usage.used),
            placeholders: amounts(&usage.placeholders),
            preempted: amounts(&usage.preempted),
        }
    }
}

/// Summary of an ended application: the data of the line `YK_APP_SUMMARY` of YuniKorn. Source: scheduling §18.2.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryView {
    /// Application id.
    pub application: Name,
    /// Time of submission, or the creation time of its oldest ask if that is earlier.
    pub submitted: Timestamp,
    /// Time at which it last became Running.
    pub started: Timestamp,
    /// Time of its end.
    pub finished: Timestamp,
    /// User that was charged.
    pub user: Name,
    /// Path of the queue.
    pub queue: Name,
    /// Final state.
    pub state: ApplicationState,
    /// Name of the partition, which identifies its RM.
    pub partition: Name,
    /// Accumulated usage.
    pub spent: SpentView,
}

impl SummaryView {
    /// Returns the summary for an event, from the books just before it. `None` unless the event ends an application
    /// that ever ran. The books drop the usage afterwards.
    pub fn before(books: &Books, now: Timestamp, event: &Event) -> Option<Self> {
        let Event::Application(ApplicationEvent::Moved { application, state, .. }) = event else {
            return None;
        };
        let ends = !state.is_active() && books.application(*application).state.is_active();
        if ends { Self::of(books, now, *application, *state) } else { None }
    }

    fn of(
        books: &Books,
        now: Timestamp,
        application: ApplicationId,
        state: ApplicationState,
    ) -> Option<Self> {
        let row = books.application(application);
        Some(Self {
            application: row.name.clone(),
            submitted: row.submitted,
            started: row.started?,
            finished: now,
            user: row.user.clone(),
            queue: row.queue_path.clone(),
            state,
            partition: books.partition(row.partition).name.clone(),
            spent: SpentView::of(books, row),
        })
    }
}

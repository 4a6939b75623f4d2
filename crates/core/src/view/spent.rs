//! What applications used over time, and the summary of one that ends.

use alloc::vec::Vec;

use crate::books::{Application, ApplicationState, Books, Spent};
use crate::event::{ApplicationEvent, Event};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// What an application used with all that it gave back: by instance type, amounts times whole
/// seconds. Millicore seconds of `vcore`, byte seconds of `memory`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpentView {
    /// By allocations that served it.
    pub used: Vec<(Name, Amounts)>,
    /// By placeholders.
    pub placeholders: Vec<(Name, Amounts)>,
    /// By allocations that were stopped for the sake of others.
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

/// What is written down about an application when it ends: the data of the reference's line
/// `YK_APP_SUMMARY`. Source: scheduling §18.2.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryView {
    /// Application id.
    pub application: Name,
    /// When it was submitted, or its oldest ask was made if that is earlier.
    pub submitted: Timestamp,
    /// When it last began to run.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
    /// Who was charged.
    pub user: Name,
    /// Path of its queue.
    pub queue: Name,
    /// How it ended.
    pub state: ApplicationState,
    /// Name of its partition, which says whose RM it was.
    pub partition: Name,
    /// What it used.
    pub spent: SpentView,
}

impl SummaryView {
    /// The summary that an event leads to, from the books just before it: none unless it ends an
    /// application that ever ran. The books forget afterwards what it used.
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

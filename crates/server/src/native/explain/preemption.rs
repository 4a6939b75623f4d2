//! Prediction of preemption for an ask, with the victims that the caller can see.

use headroom_api::headroomv1::{ExplainedPreemption, PreemptionOutcome, PreemptionVictim};
use headroom_core::books::Books;
use headroom_core::explain::{PreemptionFound, PreemptionOutlook};
use headroom_core::id::AllocationId;

use super::super::visible;
use super::super::words::time;
use super::Viewer;
use crate::convert::value::resources;

/// The prediction for the caller.
pub(super) fn visible(
    books: &Books,
    viewer: &Viewer,
    outlook: &PreemptionOutlook,
) -> ExplainedPreemption {
    let (outcome, stopped) = match &outlook.found {
        PreemptionFound::Pending => (PreemptionOutcome::Pending, &[][..]),
        PreemptionFound::Stops(plan) => (PreemptionOutcome::Preempts, &*plan.victims),
        PreemptionFound::AsksManager(_) => (PreemptionOutcome::AsksManager, &[][..]),
        PreemptionFound::Nothing(_) => (PreemptionOutcome::Nothing, &[][..]),
    };
    let seen = stopped.iter().filter_map(|one| victim(books, viewer, *one));
    let victims: Vec<PreemptionVictim> = seen.collect();
    ExplainedPreemption {
        outcome,
        sentence: outlook.found.to_string(),
        from: time(outlook.from),
        tried: outlook.tried.map(time),
        hidden: (stopped.len() - victims.len()) as u64,
        victims,
    }
}

fn victim(books: &Books, viewer: &Viewer, one: AllocationId) -> Option<PreemptionVictim> {
    let row = books.allocation(one);
    let application = books.application(row.application);
    let (user, queue) = (&application.user, application.queue);
    visible::user_in(books, &viewer.caller, user, queue).then(|| PreemptionVictim {
        application: application.name.to_string(),
        allocation: row.key.to_string(),
        pod: viewer.pods.of(&books.partition(application.partition).name, &row.key),
        queue: application.queue_path.to_string(),
        user: user.to_string(),
        resources: resources(&books.plain_size_of(one)),
    })
}

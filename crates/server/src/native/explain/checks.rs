//! The checks of an ask, as the caller may see them: of queues whose figures he does not see he learns what they
//! allow, and of others who hold something the sum.

use headroom_api::headroomv1::{
    CheckHolder, CheckVerdict, ExplainedCheck, NearMiss, NodesLookedAt,
};
use headroom_core::books::Books;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::explain::{Amount, Check, Explanation, Holder, Nodes};
use headroom_core::id::QueueId;
use headroom_core::{Blocker, letter};

use super::super::visible;
use crate::caller::Caller;
use crate::convert::value::resources;
use crate::rest::Sight;

/// Who is told, of which books.
pub(super) struct Told<'a> {
    pub(super) books: &'a Books,
    pub(super) caller: &'a Caller,
}

impl Told<'_> {
    /// All checks, one line for each type.
    pub(super) fn checks(&self, explanation: &Explanation) -> Vec<ExplainedCheck> {
        explanation.checks.iter().flat_map(|check| self.lines(check)).collect()
    }

    /// The answer in one line, without figures that the caller may not see.
    pub(super) fn line(&self, explanation: &Explanation) -> String {
        let first = explanation.blocked_by().next();
        match first.filter(|check| !self.is_open(check.blocker)) {
            Some(check) => {
                let code = check.blocker.code(self.books);
                let word = explanation.verdict.word();
                headroom_core::explain::cut(&format!(
                    "{word}: {code} {}",
                    self.scope(check.blocker)
                ))
            }
            None => explanation.line(self.books),
        }
    }

    /// The first reason in a sentence, if the caller may see all that it tells.
    pub(super) fn sentence(&self, explanation: &Explanation) -> Option<String> {
        let first = explanation.blocked_by().next()?;
        let open = self.is_open(first.blocker) && self.sees_nodes_of(first.blocker);
        open.then(|| first.wait.map(|wait| wait.sentence(self.books, explanation.ask))).flatten()
    }

    fn lines(&self, check: &Check) -> Vec<ExplainedCheck> {
        let code = check.blocker.code(self.books);
        let bare = ExplainedCheck {
            id: code.to_owned(),
            letter: letter(code).map(|letter| letter.to_string()),
            scope: self.scope(check.blocker),
            verdict: if check.failed { CheckVerdict::Failed } else { CheckVerdict::Passed },
            nodes: check.nodes.as_ref().map(|nodes| self.nodes(nodes)),
            ..ExplainedCheck::default()
        };
        if check.amounts.is_empty() {
            return vec![bare];
        }
        check.amounts.iter().map(|amount| self.of_type(bare.clone(), check, amount)).collect()
    }

    fn of_type(&self, bare: ExplainedCheck, check: &Check, amount: &Amount) -> ExplainedCheck {
        let open = self.is_open(check.blocker);
        let of = |holder: &Holder| {
            amount.resource.map_or(1, |resource| holder.used.get_or_zero(resource).get())
        };
        let seen = |holder: &&Holder| {
            let row = self.books.application(holder.application);
            visible::user_in(self.books, self.caller, &row.user, row.queue)
        };
        let (seen, hidden): (Vec<&Holder>, Vec<&Holder>) = check.holders.iter().partition(seen);
        let hidden: i64 = hidden.into_iter().map(of).fold(0, i64::saturating_add);
        let named = |holder: &Holder| {
            let row = self.books.application(holder.application);
            CheckHolder {
                application: row.name.to_string(),
                user: row.user.to_string(),
                amount: of(holder),
            }
        };
        let holders = seen.into_iter().filter(|holder| of(holder) > 0).map(named).collect();
        ExplainedCheck {
            resource: amount.resource.map(|one| self.books.types().name(one).to_string()),
            limit: Some(amount.limit.get()),
            used: open.then(|| amount.used.get()),
            asked: Some(amount.asked.get()),
            short: open.then(|| amount.short().get().max(0)),
            holders,
            hidden: (open && hidden > 0).then_some(hidden),
            ..bare
        }
    }

    fn nodes(&self, nodes: &Nodes) -> NodesLookedAt {
        let refused = nodes.refused.iter();
        let nearest = nodes.nearest.iter().filter(|_| visible::everything(self.caller));
        let miss = |miss: &headroom_core::explain::Miss| {
            let lacks = miss.lacks.iter().filter_map(|one| Some((one.resource?, one.short())));
            NearMiss {
                node: self.books.node(miss.node).name.to_string(),
                lacks: resources(&self.books.types().amounts(&lacks.collect())),
            }
        };
        NodesLookedAt {
            looked_at: nodes.looked_at as u64,
            fitting: nodes.fitting as u64,
            refused: refused.map(|(why, count)| (why.word().to_owned(), *count as u64)).collect(),
            nearest: nearest.map(miss).collect(),
        }
    }

    /// What sets the bound, without the name of anybody or any node that the caller does not see.
    fn scope(&self, blocker: Blocker) -> String {
        let sight = Sight::of(self.caller);
        if let Some((kind, name, queue)) = self.level(blocker) {
            let path = &self.books.queue(queue).path;
            match kind {
                TrackerKind::User if !sight.sees_user(name) => {
                    return format!("another user at {path}");
                }
                TrackerKind::Group if !sight.sees_group(name) => {
                    return format!("another group at {path}");
                }
                TrackerKind::User | TrackerKind::Group => {}
            }
        }
        if self.sees_nodes_of(blocker) { blocker.subject(self.books) } else { "a node".to_owned() }
    }

    /// Whether the caller sees the node that a check names, if it names one.
    fn sees_nodes_of(&self, blocker: Blocker) -> bool {
        let one = matches!(blocker, Blocker::KeptNode(_));
        !one || visible::everything(self.caller)
    }

    /// Whether the caller sees what is used of a bound.
    pub(super) fn is_open(&self, blocker: Blocker) -> bool {
        let sees = |queue: QueueId| visible::queue(self.books, self.caller, queue);
        if let Some((kind, name, queue)) = self.level(blocker) {
            let sight = Sight::of(self.caller);
            let own = match kind {
                TrackerKind::User => sight.sees_user(name),
                TrackerKind::Group => sight.sees_group(name),
            };
            return own || sees(queue);
        }
        match blocker {
            Blocker::QueueMax(queue)
            | Blocker::QueueApplications(queue)
            | Blocker::ParallelApplications(queue)
            | Blocker::DriverQueue(queue)
            | Blocker::BehindHead(queue, _) => sees(queue),
            Blocker::KeptNode(_) | Blocker::RequiredNode(_) | Blocker::RequiredNodeSize(_) => {
                visible::everything(self.caller)
            }
            _ => true,
        }
    }

    /// Whose bound it is, and where, if it is that of a user or group.
    fn level(&self, blocker: Blocker) -> Option<(TrackerKind, &str, QueueId)> {
        match blocker {
            Blocker::Limit(partition, level)
            | Blocker::LimitApplications(partition, level)
            | Blocker::UserCap(partition, level)
            | Blocker::UserShare(partition, level)
            | Blocker::ParallelOfUser(partition, level)
            | Blocker::DriverUser(partition, level) => {
                let trackers = &self.books.partition(partition).trackers;
                let level = trackers.level(level);
                let tracker = trackers.tracker(level.tracker);
                Some((tracker.kind, &tracker.name, level.queue))
            }
            _ => None,
        }
    }
}

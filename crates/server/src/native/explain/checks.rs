//! The checks of an ask, from the view of a caller. For queues whose figures are hidden, only the limits are shown.
//! Usage by hidden users is shown as a sum.

use headroom_api::headroomv1::{
    CheckHolder, CheckVerdict, ExplainedCheck, NearMiss, NodesLookedAt,
};
use headroom_core::books::Books;
use headroom_core::explain::{Amount, Check, Explanation, Holder, Nodes};

use super::super::visible;
use crate::caller::Caller;
use crate::convert::value::resources;
use crate::rest::Visibility;

/// The caller, and the books.
pub(super) struct VisibleChecks<'a> {
    pub(super) books: &'a Books,
    pub(super) caller: &'a Caller,
}

impl VisibleChecks<'_> {
    /// Returns all checks, one line for each type.
    pub(super) fn checks(&self, explanation: &Explanation) -> Vec<ExplainedCheck> {
        explanation.checks.iter().flat_map(|check| self.lines(check)).collect()
    }

    /// Returns the answer in one line, without figures that are hidden from the caller.
    pub(super) fn line(&self, explanation: &Explanation) -> String {
        let first = explanation.blocked_by().next();
        let sight = self.sight();
        match first.filter(|check| !sight.sees_use_of(self.books, check.blocker)) {
            Some(check) => {
                let code = check.code.as_str();
                let word = explanation.verdict.word();
                headroom_core::explain::cut(&format!(
                    "{word}: {code} {}",
                    sight.scope_of(self.books, check.blocker)
                ))
            }
            None => explanation.line(self.books),
        }
    }

    /// Returns the first reason as a sentence. `None` if the reason contains hidden data.
    pub(super) fn sentence(&self, explanation: &Explanation) -> Option<String> {
        let first = explanation.blocked_by().next()?;
        self.sight().sentence(self.books, first.wait.as_ref()?, explanation.ask)
    }

    fn lines(&self, check: &Check) -> Vec<ExplainedCheck> {
        let code = check.code;
        let bare = ExplainedCheck {
            id: code.as_str().to_owned(),
            letter: code.letter().map(|letter| letter.to_string()),
            scope: self.sight().scope_of(self.books, check.blocker),
            verdict: if check.failed { CheckVerdict::Failed } else { CheckVerdict::Passed },
            nodes: check.nodes.as_ref().map(|nodes| self.nodes(nodes)),
            ..ExplainedCheck::default()
        };
        if check.amounts.is_empty() {
            // The order of asks is the reason here, so there are no holders of capacity.
            let holders = check.holders.iter().filter(|one| self.sees(one));
            let holders = holders.map(|one| self.holder(one, 0)).collect();
            return vec![ExplainedCheck { holders, ..bare }];
        }
        check.amounts.iter().map(|amount| self.of_type(bare.clone(), check, amount)).collect()
    }

    fn of_type(&self, bare: ExplainedCheck, check: &Check, amount: &Amount) -> ExplainedCheck {
        let (sight, blocker) = (self.sight(), check.blocker);
        let open = sight.sees_use_of(self.books, blocker);
        let bound = sight.sees_bound_of(self.books, blocker);
        let of = |holder: &Holder| {
            amount.resource.map_or(1, |resource| holder.used.get_or_zero(resource).get())
        };
        let seen = |holder: &&Holder| self.sees(holder);
        let (seen, hidden): (Vec<&Holder>, Vec<&Holder>) = check.holders.iter().partition(seen);
        let hidden: i64 = hidden.into_iter().map(of).fold(0, i64::saturating_add);
        let some = seen.into_iter().filter(|holder| of(holder) > 0);
        let holders = some.map(|holder| self.holder(holder, of(holder))).collect();
        ExplainedCheck {
            resource: amount.resource.map(|one| self.books.types().name(one).to_string()),
            limit: bound.then(|| amount.limit.get()),
            used: open.then(|| amount.used.get()),
            asked: Some(amount.asked.get()),
            short: open.then(|| amount.short().get().max(0)),
            holders,
            hidden: (open && hidden > 0).then_some(hidden),
            ..bare
        }
    }

    /// Returns whether the caller sees the user of this holder.
    fn sees(&self, holder: &Holder) -> bool {
        let row = self.books.application(holder.application);
        visible::user_in(self.books, self.caller, &row.user, row.queue)
    }

    fn holder(&self, holder: &Holder, amount: i64) -> CheckHolder {
        let row = self.books.application(holder.application);
        CheckHolder { application: row.name.to_string(), user: row.user.to_string(), amount }
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

    fn sight(&self) -> Visibility {
        Visibility::of(self.caller)
    }
}

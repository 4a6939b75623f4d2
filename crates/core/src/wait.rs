//! Wait reasons: the first check that an ask fails, with both sides of the comparison.
//!
//! [`reason`] has the table of all reasons. The other modules write the sentences that the table names.

use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, QueueId};
use crate::resource::{Quantity, Shortfall, format_quantities};

mod about;
mod activation;
mod amount;
mod check_result;
mod code;
mod compared;
mod figure;
mod impossible;
mod later;
mod node_reason;
mod nodes;
mod questions;
mod reason;
mod room;
mod standstill;
mod state;
mod tenant;

pub use about::{About, AtQueue};
pub use check_result::CheckResult;
pub use code::{WaitCode, WaitCounts};
pub use compared::Compared;
pub use node_reason::NodeReason;
pub(crate) use questions::refusals;
pub use reason::{Blocker, CountedAs, Kind, Precedence, Row, SeenBy};
pub(crate) use standstill::standstill;
pub use tenant::{TenantReason, TenantShort};

use reason::Code;

/// Reason why an ask waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Bound that the ask fails.
    pub blocker: Blocker,
    /// Resource type that is short, with both sides. `None` if applications are counted, or if each type is free on
    /// some node but no single node has all types.
    pub shortfall: Option<Shortfall>,
}

impl Blocker {
    /// Returns the code under which asks of a leaf wait for this reason. All asks of a leaf have the same code for one
    /// reason at one time. The code follows from the state of what the reason is about, and changes with it.
    pub fn code(self, books: &Books, leaf: QueueId) -> WaitCode {
        match self.row().code {
            Code::Always(code) => code,
            Code::By(code) => code(books, self, leaf),
        }
    }

    /// Returns the figure of a reason that compares nothing: a count or a time. Often empty.
    pub(crate) fn figure(self, books: &Books) -> String {
        (self.row().figure)(books, self)
    }
}

impl Wait {
    /// Returns a wait without a shortfall: the blocker has no amounts, or the caller does not need them.
    #[inline]
    pub(crate) const fn of(blocker: Blocker) -> Self {
        Self { blocker, shortfall: None }
    }

    /// Returns the code under which an ask waits.
    pub fn code(&self, books: &Books, ask: AllocationId) -> WaitCode {
        let application = books.application(books.allocation(ask).application);
        self.blocker.code(books, application.queue)
    }

    /// Returns the reason in one sentence: the bound that the ask fails, both sides of the comparison, and a remedy.
    ///
    /// Costs the number of nodes for reasons that count nodes.
    pub fn sentence(&self, books: &Books, ask: AllocationId) -> String {
        (self.blocker.row().sentence)(self, books, ask)
    }
}

/// Returns the name of the short resource type, and `amounts` formatted in its unit.
fn figures_of<const N: usize>(
    books: &Books,
    short: Shortfall,
    amounts: [Quantity; N],
) -> (&str, [String; N]) {
    let name = books.types().name(short.resource).as_str();
    (name, format_quantities(name, amounts))
}

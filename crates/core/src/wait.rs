//! Why something waits: the first check that it fails, with both sides of the comparison.
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

/// Why an ask waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What holds it back.
    pub blocker: Blocker,
    /// What there is too little of; none where applications are counted, and where each type
    /// would do by itself but no single node has all.
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

    /// Returns what a short line says of a reason that compares nothing: how many, or until when. Often empty.
    pub(crate) fn figure(self, books: &Books) -> String {
        (self.row().figure)(books, self)
    }
}

impl Wait {
    /// A wait for something of which there is no amount, or whose amount is not looked for.
    #[inline]
    pub(crate) const fn of(blocker: Blocker) -> Self {
        Self { blocker, shortfall: None }
    }

    /// Returns the code under which an ask waits.
    pub fn code(&self, books: &Books, ask: AllocationId) -> WaitCode {
        let application = books.application(books.allocation(ask).application);
        self.blocker.code(books, application.queue)
    }

    /// Returns the reason in one sentence: what holds the ask back, both sides of the comparison, and
    /// what would help. Costs the nodes where these are counted.
    pub fn sentence(&self, books: &Books, ask: AllocationId) -> String {
        (self.blocker.row().sentence)(self, books, ask)
    }
}

/// What there is too little of, and amounts of it as people write them.
fn figures_of<const N: usize>(
    books: &Books,
    short: Shortfall,
    amounts: [Quantity; N],
) -> (&str, [String; N]) {
    let name = books.types().name(short.resource).as_str();
    (name, format_quantities(name, amounts))
}

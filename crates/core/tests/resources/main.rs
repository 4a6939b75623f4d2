//! Operations, predicates, fit checks and shares of queues-and-limits §1.4 and §1.5.
//!
//! In these tables a vector is written `a=1 b=0`: type `a` with 1, type `b` with an explicit
//! zero, all others absent. `nil` is no object at all, the empty text an object without types.

mod arithmetic;
mod model;
mod predicates;
mod shares;

use headroom_core::resource::Resources;
use headroom_core::testkit::vector;

/// The largest amount.
const MAX: &str = "9223372036854775807";

/// The vector of a text.
fn r(text: &str) -> Resources {
    vector(text.split_whitespace().map(|entry| {
        let (name, amount) = entry.split_once('=').expect("entries are `type=amount`");
        (usize::from(name.as_bytes()[0] - b'a'), amount.parse().expect("amounts are whole"))
    }))
}

/// The object of a text, if it is one.
fn o(text: &str) -> Option<Resources> {
    (text != "nil").then(|| r(text))
}

//! The single writer: takes commands one by one, asks the core, journals the answer, tells
//! everyone.
//!
//! Here today is what happens to a submission before the writer sees it: [`users`] finds out
//! who submits and which groups that user is in. And [`snapshot`] turns the books into bytes and back.

pub mod snapshot;
pub mod users;

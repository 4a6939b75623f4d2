//! The document that is made from the table of routes: whole, as it was, and true to the examples.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod document;
mod example;
mod names;
mod table;

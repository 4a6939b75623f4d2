//! Who is calling, and may they: over real sockets.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

#[path = "../gate/mod.rs"]
mod support;

mod jwt;
mod matrix;
mod tokens;

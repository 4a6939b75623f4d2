//! The `headroom` program.

fn main() {}

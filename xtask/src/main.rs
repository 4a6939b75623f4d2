//! The developer's tool.

fn main() {}

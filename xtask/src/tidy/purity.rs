//! The core reads no clock, file or socket, and walks nothing in a random order.

use super::Violation;
use crate::project::{Text, Tree};

const FRONT_DOOR: &str = "crates/core/src/lib.rs";

/// What the core's own code may not name, and why.
const FORBIDDEN: [(&str, &str); 3] = [
    ("std::", "the core has no operating system: use core:: or alloc::"),
    ("HashMap", "its order is random: use BTreeMap or an id-indexed table"),
    ("HashSet", "its order is random: use BTreeSet or an id-indexed table"),
];

/// The core is `#![no_std]` and names neither `std` nor a hash table outside its tests.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in tree.with_ending(&["rs"]) {
        if text.path.starts_with("crates/core/src/") {
            found.extend(forbidden_in(text));
        }
    }
    if let Some(door) = tree.get(FRONT_DOOR) {
        let masked = door.code.as_ref().map_or("", |code| code.masked());
        if !masked.contains("#![no_std]") {
            found.push(Violation::new(door, 1, "#![no_std] is missing"));
        }
    }
    found
}

fn forbidden_in(text: &Text) -> Vec<Violation> {
    let Some(code) = &text.code else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (word, why) in FORBIDDEN {
        for place in code.find(word) {
            if !code.in_tests(place) {
                let message = format!("{word} in the core: {why}");
                found.push(Violation::new(text, code.line_of(place), message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{FRONT_DOOR, check};

    #[test]
    fn the_front_door_says_no_std() {
        assert_eq!(found(check, &[(FRONT_DOOR, "#![no_std]")]).len(), 0);
        assert_eq!(found(check, &[(FRONT_DOOR, "// #![no_std]")]).len(), 1);
    }

    #[test]
    fn the_core_names_no_std_and_no_hash_table() {
        for (path, text, expected) in [
            ("crates/core/src/a.rs", "use std::fs;", 1),
            ("crates/core/src/a.rs", "use hashbrown::HashMap;", 1),
            ("crates/core/src/a.rs", "fn a() -> no_std::A {}", 0),
            ("crates/core/src/a.rs", "use core::fmt; // std::fmt", 0),
            ("crates/core/src/a.rs", "#[cfg(test)] mod t { use std::fs; }", 0),
            ("crates/sim/src/a.rs", "use std::fs;", 0),
        ] {
            assert_eq!(found(check, &[(path, text)]).len(), expected, "{text}");
        }
    }
}

//! A match on what the core says or is told names each case.
//!
//! With `_`, a new event or reason is passed over without a word, in each place that should have
//! decided about it. The compiler finds these places only where no `_` hides them.

use syn::visit::{self, Visit};
use syn::{Arm, ExprMatch, ItemImpl, ItemMod, Pat, Path, Type};

use super::Violation;
use crate::project::Tree;

/// The groups of events. `Event::NAME(NAMEEvent::…)` is how one is written.
const GROUPS: [&str; 9] =
    ["Allocation", "Application", "Ask", "Foreign", "Node", "Partition", "Queue", "Task", "Tenant"];

/// The other types, with some of their variants, by which they are told from types of the same name.
const TYPES: [(&str, &[&str]); 3] = [
    ("Blocker", &[]),
    ("Termination", &[]),
    ("Command", &["Configure", "AddNode", "Ask", "Submit", "SubmitTask", "Release", "SetForeign"]),
];

/// No match on events, reasons, terminations or commands of the core has an arm for all the others, outside tests.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in tree.with_ending(&["rs"]) {
        let is_test = text.is_test() || text.path.contains("/testkit");
        if !text.path.starts_with("crates/") || is_test {
            continue;
        }
        let file = match syn::parse_file(&text.content) {
            Ok(file) => file,
            Err(why) => {
                found.push(Violation::new(text, 1, format!("cannot be read: {why}")));
                continue;
            }
        };
        let mut search = Search::default();
        search.visit_file(&file);
        found.extend(search.lines.into_iter().map(|line| {
            Violation::new(
                text,
                line,
                "`_` hides new cases; name each case, or match with `if let`",
            )
        }));
    }
    found
}

#[derive(Default)]
struct Search {
    /// The type whose methods are read.
    own: Option<String>,
    lines: Vec<usize>,
}

impl Search {
    /// Whether a pattern is of one of the types.
    fn is_of_core(&self, pattern: &Pat) -> bool {
        match pattern {
            Pat::Or(all) => all.cases.iter().any(|one| self.is_of_core(one)),
            Pat::Guard(guarded) => self.is_of_core(&guarded.pat),
            Pat::Paren(inner) => self.is_of_core(&inner.pat),
            Pat::Reference(inner) => self.is_of_core(&inner.pat),
            Pat::Ident(named) => named.subpat.iter().any(|(_, inner)| self.is_of_core(inner)),
            Pat::Path(named) => self.names(&named.path),
            Pat::Struct(named) => self.names(&named.path),
            Pat::TupleStruct(named) => self.names(&named.path),
            _ => false,
        }
    }

    fn names(&self, path: &Path) -> bool {
        let words: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let [.., of, variant] = words.as_slice() else { return false };
        let of = if of == "Self" { self.own.as_deref().unwrap_or_default() } else { of };
        let is_group = |name: &str| GROUPS.contains(&name);
        let is_type = |(name, variants): &(&str, &[&str])| {
            *name == of && (variants.is_empty() || variants.contains(&variant.as_str()))
        };
        (of == "Event" && is_group(variant))
            || of.strip_suffix("Event").is_some_and(is_group)
            || TYPES.iter().any(is_type)
    }
}

/// Whether an arm takes whatever the others leave.
fn takes_the_rest(arm: &Arm) -> bool {
    match &arm.pat {
        Pat::Wild(_) => true,
        Pat::Ident(named) => named.subpat.is_none(),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let is_test = |one: &syn::Attribute| {
            one.path().is_ident("cfg")
                && one.parse_args::<Path>().is_ok_and(|path| path.is_ident("test"))
        };
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        if let Type::Path(own) = &*block.self_ty {
            self.own = own.path.segments.last().map(|part| part.ident.to_string());
        }
        visit::visit_item_impl(self, block);
        self.own = None;
    }

    fn visit_expr_match(&mut self, one: &'ast ExprMatch) {
        if one.arms.iter().any(|arm| self.is_of_core(&arm.pat)) {
            let rest = one.arms.iter().filter(|arm| takes_the_rest(arm));
            self.lines.extend(rest.map(|arm| arm.fat_arrow_token.spans[0].start().line));
        }
        visit::visit_expr_match(self, one);
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn lines(code: &str) -> Vec<String> {
        found(check, &[("crates/core/src/x.rs", code)])
    }

    #[test]
    fn an_arm_for_all_others_is_found() {
        let text = "fn f(e: &Event) {\n match e {\n Event::Node(_) => 1,\n _ => 0,\n };\n}";
        assert_eq!(lines(text), ["crates/core/src/x.rs:4"]);
        let bound = "fn f(e: E) { match e {\n NodeEvent::Added { .. } | NodeEvent::Removed { .. } => e,\n other => other,\n } }";
        assert_eq!(lines(bound), ["crates/core/src/x.rs:3"]);
        let own =
            "impl Command { fn f(self) { match self {\n Self::AddNode(_) => 1,\n _ => 0,\n } } }";
        assert_eq!(lines(own), ["crates/core/src/x.rs:3"]);
    }

    #[test]
    fn what_cannot_be_read_is_found() {
        assert_eq!(lines("fn f( {"), ["crates/core/src/x.rs:1"]);
    }

    #[test]
    fn other_types_guards_and_tests_are_left_alone() {
        for text in [
            "fn f(e: Xml) { match e { Event::Text(_) => 1, _ => 0 }; }",
            "fn f(e: Cli) { match e { Command::Serve => 1, _ => 0 }; }",
            "fn f(e: &Event) { match e { _ if g() => 1, Event::Node(_) => 0 }; }",
            "fn f(e: &Event) { if let Event::Node(_) = e {} }",
            "#[cfg(test)] mod tests { fn f(e: &Event) { match e { Event::Node(_) => 1, _ => 0 }; } }",
        ] {
            assert_eq!(lines(text), [""; 0], "{text}");
        }
        let test = "fn f(e: &Event) { match e { Event::Node(_) => 1, _ => 0 }; }";
        assert_eq!(found(check, &[("crates/core/tests/x.rs", test)]), [""; 0]);
    }
}

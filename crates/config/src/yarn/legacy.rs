//! Mappings as a list: `u:ann:etl, g:dev:dev, u:%user:root.users.%user`.

use super::placement::{USER, Who, no_rule, target};
use super::properties::Property;
use super::scope::Scope;
use super::tree::Tree;
use super::write::Pairs;

/// Reads the rules of a list. Reports entries that have no rule.
pub(super) fn read(whole: &Scope<'_>, tree: &Tree, property: &Property, rules: &mut Vec<Pairs>) {
    for mapping in property.value.split(',').map(str::trim).filter(|mapping| !mapping.is_empty()) {
        match one(whole, tree, mapping) {
            Ok(rule) => rules.push(rule),
            Err(why) => no_rule(whole, property, mapping, &why),
        }
    }
}

fn one(whole: &Scope<'_>, tree: &Tree, mapping: &str) -> Result<Pairs, String> {
    let parts: Vec<&str> = mapping.split(':').map(str::trim).collect();
    let [kind, source, to] = parts[..] else {
        return Err("the mapping is not u:user:queue or g:group:queue".to_owned());
    };
    let who = match (kind, source) {
        ("u", USER) => Who::All,
        ("u", name) => Who::User(name.to_owned()),
        ("g", name) => Who::Group(name.to_owned()),
        _ => return Err("the mapping begins neither with u: nor with g:".to_owned()),
    };
    // Queues are created where a mapping selects them.
    target(whole, tree, to, true, &who)
}

//! Placement rules.

use headroom_api::wsv1::{PlacementFilter, PlacementRule};
use headroom_core::Name;
use headroom_core::config::legal::{is_group_name, is_user_name};
use headroom_core::view::{FilterView, RuleView};

use super::value::names;

/// Returns an active placement rule.
pub(crate) fn rule(view: &RuleView) -> PlacementRule {
    let parameters = view.parameters.iter();
    PlacementRule {
        name: view.name.to_string(),
        parameters: parameters.map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        filter: view.filter.as_ref().map(filter),
        parent_rule: view.parent.as_deref().map(|parent| Box::new(rule(parent))),
    }
}

fn filter(view: &FilterView) -> PlacementFilter {
    let (user_list, user_exp) = names_or_expression(&view.users, is_user_name);
    let (group_list, group_exp) = names_or_expression(&view.groups, is_group_name);
    PlacementFilter {
        kind: if view.deny { "deny" } else { "allow" }.to_owned(),
        user_list,
        group_list,
        user_exp,
        group_exp,
    }
}

/// Returns the entries as names, or a single entry that is not a name as an expression.
fn names_or_expression(entries: &[Name], is_name: fn(&str) -> bool) -> (Vec<String>, String) {
    match entries {
        [one] if !is_name(one) => (Vec::new(), one.to_string()),
        all => (names(all), String::new()),
    }
}

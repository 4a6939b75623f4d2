//! Views of the current placement rules.

use alloc::boxed::Box;
use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::RuleConfig;
use crate::id::PartitionId;
use crate::name::Name;

/// A placement rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleView {
    /// Name of the rule.
    pub name: Name,
    /// Parameters by name: `create`, and those of its kind.
    pub parameters: Vec<(Name, Name)>,
    /// Users that the rule applies to. `None` for all users.
    pub filter: Option<FilterView>,
    /// Rule that selects the parent queue.
    pub parent: Option<Box<RuleView>>,
}

/// Filter of a placement rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterView {
    /// Whether matching users are excluded instead of included.
    pub deny: bool,
    /// User names, or one expression, as configured.
    pub users: Vec<Name>,
    /// Group names, or one expression, as configured.
    pub groups: Vec<Name>,
}

/// Returns the rules of a partition in the order in which they are tried. Without rules in the file, the rule is
/// `provided`. The rule for forced applications is always last.
pub fn rules(books: &Books, partition: PartitionId) -> Vec<RuleView> {
    let configured = &books.partition(partition).settings.placement_rules;
    let mut rules: Vec<RuleView> = configured.iter().map(RuleView::of).collect();
    if rules.is_empty() {
        rules.push(RuleView::of(&RuleConfig { name: "provided".into(), ..RuleConfig::default() }));
    }
    rules.push(RuleView {
        name: Name::new("recovery"),
        parameters: vec![parameter("queue", "root.@recovery@")],
        filter: None,
        parent: None,
    });
    rules
}

impl RuleView {
    fn of(rule: &RuleConfig) -> Self {
        let name = rule.name.to_lowercase();
        let mut parameters = vec![parameter("create", &rule.create.to_string())];
        match &*name {
            "fixed" => {
                let value = rule.value.to_lowercase();
                let qualified = value == "root" || value.starts_with("root.");
                parameters.push(parameter("qualified", &qualified.to_string()));
                parameters.push(parameter("queue", &value));
            }
            "tag" => parameters.push(parameter("tagName", &rule.value.to_lowercase())),
            _ => {}
        }
        let filter = &rule.filter;
        let deny = filter.kind.eq_ignore_ascii_case("deny");
        let is_open = !deny && filter.users.is_empty() && filter.groups.is_empty();
        Self {
            name: name.into(),
            parameters,
            filter: (!is_open).then(|| FilterView {
                deny,
                users: filter.users.clone(),
                groups: filter.groups.clone(),
            }),
            parent: rule.parent.as_deref().map(|parent| Box::new(Self::of(parent))),
        }
    }
}

fn parameter(name: &str, value: &str) -> (Name, Name) {
    (Name::new(name), Name::new(value))
}

//! Roles and tenants of an identity, by its name and groups.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::headroomv1::Role;
use headroom_config::process;
use headroom_core::Name;

/// Returns the role with this name.
pub fn role_named(name: &str) -> Option<Role> {
    let place = process::ROLES.iter().position(|known| *known == name)?;
    Role::ALL.get(place).copied()
}

/// Returns the name of a role.
pub fn name_of(role: Role) -> &'static str {
    let place = Role::ALL.iter().position(|known| *known == role);
    place.and_then(|place| process::ROLES.get(place)).copied().unwrap_or_default()
}

/// Roles by user and group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RoleRules {
    users: BTreeMap<String, Vec<Role>>,
    groups: BTreeMap<String, Vec<Role>>,
    all: Vec<Role>,
}

impl RoleRules {
    /// Returns the rules of the process settings.
    pub(super) fn new(settings: &process::Roles) -> Self {
        let mut rules = Self::default();
        for (who, names) in settings {
            let roles: Vec<Role> = names.iter().filter_map(|name| role_named(name)).collect();
            if let Some(user) = who.strip_prefix("user:") {
                rules.users.insert(user.to_owned(), roles);
            } else if let Some(group) = who.strip_prefix("group:") {
                rules.groups.insert(group.to_owned(), roles);
            } else {
                rules.all = roles;
            }
        }
        rules
    }

    /// Returns the roles of a user in these groups, in order and without duplicates.
    pub(super) fn of(&self, user: &str, groups: &[Name]) -> Vec<Role> {
        let by_group = groups.iter().filter_map(|group| self.groups.get(group.as_str()));
        let by_user = self.users.get(user);
        let found = by_group.chain(by_user).chain([&self.all]).flatten().copied();
        in_order(found)
    }
}

/// Tenants by user and group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TenantRules(process::TenantsOf);

impl TenantRules {
    /// Returns the rules of the process settings.
    pub(super) fn new(settings: &process::TenantsOf) -> Self {
        Self(settings.clone())
    }

    /// Returns the tenants of a user in these groups, in order and without duplicates.
    pub(super) fn of(&self, user: &str, groups: &[Name]) -> Vec<Name> {
        let groups = groups.iter().map(|group| format!("group:{group}"));
        let keys = groups.chain([format!("user:{user}"), "*".to_owned()]);
        let found: BTreeSet<&String> = keys.filter_map(|key| self.0.get(&key)).flatten().collect();
        found.into_iter().map(Name::new).collect()
    }
}

/// Returns the roles in order and without duplicates.
pub(super) fn in_order(roles: impl IntoIterator<Item = Role>) -> Vec<Role> {
    let mut roles: Vec<Role> = roles.into_iter().collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

#[cfg(test)]
mod tests {
    use headroom_api::headroomv1::Role;
    use headroom_config::process::{ROLES, Roles};
    use headroom_core::Name;

    use super::{RoleRules, TenantRules, name_of, role_named};

    #[test]
    fn names_are_those_of_the_wire() {
        for (name, role) in ROLES.into_iter().zip(Role::ALL) {
            assert_eq!(serde_json::to_value(role).unwrap(), name);
            assert_eq!((role_named(name), name_of(role)), (Some(role), name));
        }
        assert_eq!((ROLES.len(), role_named("king")), (Role::ALL.len(), None));
    }

    #[test]
    fn tenants_of_user_and_groups_add_up() {
        let settings = [("user:ann", "b"), ("group:lab", "a"), ("group:ann", "c"), ("*", "b")];
        let settings = settings.map(|(who, tenant)| (who.to_owned(), vec![tenant.to_owned()]));
        let rules = TenantRules::new(&settings.into());
        let of = |user: &str, group: &str| {
            rules
                .of(user, &[Name::new(group)])
                .iter()
                .map(Name::as_str)
                .collect::<Vec<_>>()
                .join(",")
        };
        assert_eq!((of("ann", "lab"), of("bob", "ann")), ("a,b".to_owned(), "b,c".to_owned()));
        assert_eq!(of("lab", ""), "b", "a user is no group");
    }

    #[test]
    fn roles_of_user_and_groups_add_up() {
        let settings = [
            ("user:ann", ["rm", "viewer"].as_slice()),
            ("group:ops", &["operator", "viewer"]),
            ("*", &["submitter"]),
        ];
        let settings: Roles = settings
            .into_iter()
            .map(|(who, roles)| (who.to_owned(), roles.iter().map(ToString::to_string).collect()))
            .collect();
        let rules = RoleRules::new(&settings);
        let groups = [Name::new("ops"), Name::new("ann")];
        let all = [Role::Operator, Role::Viewer, Role::Submitter, Role::Rm];
        assert_eq!(rules.of("ann", &groups), all);
        assert_eq!(rules.of("ops", &[]), [Role::Submitter]);
    }
}

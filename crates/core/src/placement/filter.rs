//! Filters of placement rules.

use alloc::collections::BTreeSet;

use crate::config::FilterConfig;
use crate::config::expression::{self, Expression, ExpressionError};
use crate::config::legal::{is_group_name, is_user_name};
use crate::name::Name;

use super::fault::Wrong;

/// Users that a placement rule applies to: all users, the named ones, or all except the named ones.
///
/// Source: queues and limits §6.5.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    deny: bool,
    /// Whether the filter names no user and no group. Then its type alone decides.
    empty: bool,
    users: Names,
    groups: Names,
}

#[derive(Clone, Debug)]
enum Names {
    List(BTreeSet<Name>),
    Expression(Expression),
}

impl Filter {
    pub(super) fn everybody() -> Self {
        let nobody = || Names::List(BTreeSet::new());
        Self { deny: false, empty: true, users: nobody(), groups: nobody() }
    }

    pub(super) fn compile(written: &FilterConfig) -> Result<Self, Wrong> {
        let (users, groups) = (&written.users, &written.groups);
        let users = Names::compile(users, is_user_name)
            .map_err(|(text, error)| Wrong::Users { text, error })?;
        let groups = Names::compile(groups, is_group_name)
            .map_err(|(text, error)| Wrong::Groups { text, error })?;
        Ok(Self {
            deny: written.kind.eq_ignore_ascii_case("deny"),
            empty: written.users.is_empty() && written.groups.is_empty(),
            users,
            groups,
        })
    }

    /// Returns whether the rule applies to this user.
    pub(super) fn passes(&self, user: &str, groups: &[Name]) -> bool {
        let named = self.empty
            || self.users.contains(user)
            || groups.iter().any(|group| self.groups.contains(group));
        named != self.deny
    }
}

impl Names {
    /// Compiles a list. A single entry can be an expression. Invalid names in longer lists are omitted.
    fn compile(list: &[Name], legal: fn(&str) -> bool) -> Result<Self, (Name, ExpressionError)> {
        if let [only] = list
            && expression::is_meant(only)
        {
            let compiled = expression::compile(only);
            return compiled.map(Self::Expression).map_err(|error| (only.clone(), error));
        }
        Ok(Self::List(list.iter().filter(|name| legal(name)).cloned().collect()))
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Self::List(names) => names.contains(name),
            Self::Expression(expression) => expression.occurs_in(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned as _;

    use super::*;

    #[test]
    fn a_filter_lets_through_whom_it_names_or_all_others() {
        let (none, one): (&[&str], &[&str]) = (&[], &["^adm"]);
        for (kind, users, groups, user, of, expected) in [
            ("", none, none, "ann", none, true),
            ("allow", none, none, "ann", none, true),
            ("deny", none, none, "ann", none, false),
            ("Deny", none, none, "ann", none, false),
            ("deny", one, none, "admin1", none, false),
            ("deny", one, none, "myadm", none, true),
            ("deny", &["adm"], none, "adm", none, false),
            ("DENY", &["adm"], none, "admin1", none, true),
            ("", &["svc$"], none, "mysvc", none, true),
            ("", none, &["dev", "te*st"], "ann", &["te*st"], false),
            ("", none, &["dev", "te*st"], "ann", &["ops", "dev"], true),
            ("", none, &["^d"], "ann", &["ops", "dev"], true),
            ("", &["5!"], none, "5!", none, false),
            ("deny", &["5!"], none, "5!", none, true),
            ("", &["ann"], &["dev"], "bob", &["dev"], true),
            ("", &["ann", "ann"], none, "ann", none, true),
            ("", &["Ann"], none, "ann", none, false),
        ] {
            let names = |list: &[&str]| list.iter().map(Name::new).collect::<alloc::vec::Vec<_>>();
            let written =
                FilterConfig { kind: kind.to_owned(), users: names(users), groups: names(groups) };
            let filter = Filter::compile(&written).unwrap();
            let found = filter.passes(user, &names(of));
            assert_eq!(found, expected, "{kind:?} {users:?} {groups:?} for {user} in {of:?}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_a_fault() {
        let written = FilterConfig { users: [Name::new("(")].into(), ..FilterConfig::default() };
        let Err(Wrong::Users { text, error }) = Filter::compile(&written) else {
            panic!("a group that is never closed is accepted");
        };
        assert_eq!(
            (text, error),
            (Name::new("("), ExpressionError::Other("unclosed group".to_owned()))
        );
    }
}

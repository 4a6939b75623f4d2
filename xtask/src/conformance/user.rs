//! From the user that a client names to the one who is charged: queues and limits §9.1, with
//! the default resolver. Decisions K-6 and K-7.

use headroom_core::Name;
use headroom_core::config::legal::is_user_name;
use serde_json::Value;

/// The user and his groups; none if the application is to be refused.
pub(super) fn resolve(application: &Value, forced: bool) -> Option<(Name, Vec<Name>)> {
    let info = &application["ugi"];
    let user = info["user"].as_str().unwrap_or_default();
    if user.is_empty() {
        return forced.then(|| (Name::new("nobody"), vec![Name::new("nogroup")]));
    }
    if !is_user_name(user) {
        return None;
    }
    let listed = info["groups"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut groups: Vec<Name> = listed.map(Name::new).collect();
    if groups.is_empty() {
        groups.push(Name::new(user)); // The default resolver: one group of the same name.
    }
    Some((Name::new(user), groups))
}

/// Whether a tag says that an application is forced, in the words that Go takes for true.
pub(super) fn is_forced(tags: &[(Name, Name)]) -> bool {
    let forced = tags.iter().find(|(key, _)| key.eq_ignore_ascii_case("application.create.force"));
    forced.is_some_and(|(_, value)| matches!(&**value, "1" | "t" | "T" | "true" | "TRUE" | "True"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn users_are_checked_and_have_a_group() {
        for (user, groups, forced, expected) in [
            ("u", vec![], false, Some(("u", vec!["u"]))),
            ("u", vec!["b", "a"], false, Some(("u", vec!["b", "a"]))),
            ("", vec!["a"], false, None),
            ("", vec!["a"], true, Some(("nobody", vec!["nogroup"]))),
            ("1u", vec![], true, None),
            ("u$", vec![], false, Some(("u$", vec!["u$"]))),
            ("u$x", vec![], false, None),
        ] {
            let found = resolve(&json!({"ugi": {"user": user, "groups": groups}}), forced);
            let found = found
                .as_ref()
                .map(|(user, groups)| (user.as_str(), groups.iter().map(Name::as_str).collect()));
            assert_eq!(found, expected, "{user:?} {groups:?} {forced}");
        }
    }
}

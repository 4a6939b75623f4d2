//! From the user that a recorded request names to the one who is charged, as the engine finds
//! him: queues and limits §9.1, decisions K-6 and K-7.

use headroom_core::placement::is_forced;
use headroom_core::{Name, Timestamp};
use headroom_engine::users::{Submitted, UserCache, UserInfo};
use serde_json::Value;

/// The user and his groups; none if the application is to be refused.
pub(super) fn resolve(
    users: &UserCache,
    now: Timestamp,
    application: &Value,
    tags: &[(Name, Name)],
) -> Option<UserInfo> {
    let info = &application["ugi"];
    let listed = info["groups"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let submitted = Submitted {
        user: Name::new(info["user"].as_str().unwrap_or_default()),
        groups: listed.map(Name::new).collect(),
        forced: is_forced(tags),
    };
    users.convert(&submitted, now).ok()
}

#[cfg(test)]
mod tests {
    use headroom_engine::users::Resolver;
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
            let users = Resolver::default().cache(Timestamp::ZERO);
            let tags = [(Name::new("application.create.force"), Name::new(forced.to_string()))];
            let request = json!({"ugi": {"user": user, "groups": groups}});
            let found = resolve(&users, Timestamp::ZERO, &request, &tags);
            let found = found
                .as_ref()
                .map(|one| (one.name.as_str(), one.groups.iter().map(Name::as_str).collect()));
            assert_eq!(found, expected, "{user:?} {groups:?} {forced}");
        }
    }
}

//! Validity of names.

/// Largest length of a queue name in characters.
pub const QUEUE_NAME_MAX: usize = 64;

/// Child of the root for applications that must not be lost. It cannot be configured or requested.
pub const RECOVERY_QUEUE: &str = "@recovery@";

/// Returns whether a name is valid as one level of a queue path: 1 to 64 of `A-Z a-z 0-9 _ : # / @ -`, without dots and
/// spaces.
pub fn is_queue_name(name: &str) -> bool {
    (1..=QUEUE_NAME_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:#/@-".contains(&byte))
}

/// Returns whether a name is valid for a user in a limit, filter, or access list. The wildcard is not.
pub fn is_user_name(name: &str) -> bool {
    let body = name.strip_suffix('$').unwrap_or(name);
    starts_like_a_name(body)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":#/_.@-".contains(&byte))
}

/// Returns whether a name is valid for a group in a limit, filter, or access list. The wildcard is not.
pub fn is_group_name(name: &str) -> bool {
    starts_like_a_name(name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_.-".contains(&byte))
}

/// Returns whether a name is an identifier: a letter or `_`, followed by letters, digits, and `_`.
pub fn is_identifier(name: &str) -> bool {
    starts_like_a_name(name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn starts_like_a_name(name: &str) -> bool {
    matches!(name.bytes().next(), Some(first) if first.is_ascii_alphabetic() || first == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_by_their_characters() {
        for (name, queue, user, group) in [
            ("a", true, true, true),
            ("", false, false, false),
            ("a.b", false, true, true),
            ("a b", false, false, false),
            ("5", true, false, false),
            ("system:serviceaccount:ns:name", true, true, true),
            ("u@example.com", false, true, false),
            ("svc$", false, true, false),
            ("$", false, false, false),
            ("a#/", true, true, false),
            ("é", false, false, false),
        ] {
            let found = (is_queue_name(name), is_user_name(name), is_group_name(name));
            assert_eq!(found, (queue, user, group), "looking at {name:?}");
        }
        let longest = "q".repeat(QUEUE_NAME_MAX);
        assert!(is_queue_name(&longest) && !is_queue_name(&(longest + "q")));
    }
}

//! Which user and group names can be written in a queue file.

/// A letter or `_`, then letters, digits and `: # / _ . @ -`; a `$` may end it.
pub(super) fn is_user_name(name: &str) -> bool {
    let body = name.strip_suffix('$').unwrap_or(name);
    starts_like_a_name(body)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":#/_.@-".contains(&byte))
}

/// A letter or `_`, then letters, digits and `: _ . -`.
pub(super) fn is_group_name(name: &str) -> bool {
    starts_like_a_name(name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_.-".contains(&byte))
}

fn starts_like_a_name(name: &str) -> bool {
    matches!(name.bytes().next(), Some(first) if first.is_ascii_alphabetic() || first == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_by_their_characters() {
        for (name, user, group) in [
            ("a", true, true),
            ("_a9", true, true),
            ("", false, false),
            ("a.b-c", true, true),
            ("a b", false, false),
            ("5", false, false),
            (".a", false, false),
            ("system:serviceaccount:ns:name", true, true),
            ("u@example.com", true, false),
            ("svc$", true, false),
            ("s$vc", false, false),
            ("svc$$", false, false),
            ("$", false, false),
            ("a#/", true, false),
            ("*", false, false),
            ("é", false, false),
            ("a\0", false, false),
            ("a\n", false, false),
        ] {
            let found = (is_user_name(name), is_group_name(name));
            assert_eq!(found, (user, group), "looking at {name:?}");
        }
    }
}

//! Text that comes from traces, made harmless.

/// Text for an element or a quoted attribute.
///
/// Control characters are replaced: browsers treat some of them as ends of things.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(' '),
            _ if one.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(one),
        }
    }
    safe
}

/// JSON for a script element: no `<` is left, so nothing in it can end the element or begin
/// a comment. It stays the same JSON.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// At most `width` characters of a queue path: its last parts, since they tell most.
pub(super) fn cut_front(path: &str, width: usize) -> String {
    let length = path.chars().count();
    if length <= width {
        return path.to_owned();
    }
    let mut tails = path.match_indices('.').map(|(dot, _)| &path[dot + 1..]);
    if let Some(tail) = tails.find(|tail| !tail.is_empty() && tail.chars().count() <= width) {
        return tail.to_owned();
    }
    let head: String = path.chars().take(width - 1).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_harmless() {
        assert_eq!(escape("<b a='\"'>&\u{0}"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;\u{fffd}");
        let json = serde_json::to_string("</script><!--").unwrap();
        let safe = json_in_script(&json);
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!--");
    }

    #[test]
    fn long_paths_keep_their_end() {
        for (path, width, expected) in [
            ("root.a", 6, "root.a"),
            ("root.department.team", 8, "team"),
            ("root.department.team", 15, "department.team"),
            ("averylongname", 5, "aver…"),
        ] {
            assert_eq!(cut_front(path, width), expected);
        }
    }
}

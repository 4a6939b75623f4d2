//! Escapes text from traces.

use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped, Render};

/// Text for an element or a quoted attribute.
///
/// Control characters are replaced, because browsers treat some of them as delimiters.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Render for Text<'_> {
    fn render_to(&self, html: &mut String) {
        let visible = |one| match one {
            '\n' | '\t' => ' ',
            _ if char::is_control(one) => '\u{fffd}',
            _ => one,
        };
        let text: String = self.0.chars().map(visible).collect();
        for (number, part) in text.split('\'').enumerate() {
            // The library does not escape it, because its attributes are in double quotes.
            html.push_str(if number > 0 { "&#39;" } else { "" });
            // Writing into a string cannot fail.
            let _ = Escaper::new(html).write_str(part);
        }
    }
}

/// Returns escaped text for a drawing, which is inserted unescaped.
pub(super) fn escape(text: &str) -> String {
    Text(text).render().into_string()
}

/// Returns trusted markup, such as a drawing or a built-in style sheet.
pub(super) fn drawn(markup: impl Into<String>) -> Markup {
    PreEscaped(markup.into())
}

/// Returns JSON for a script element, with the same meaning. The text has no `<`, so it can neither end the element nor
/// begin a comment.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Returns the last `width` characters of a queue path, because the last parts are the most specific.
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

//! Text that comes from traces, made harmless.

use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped, Render};

/// Text for an element or a quoted attribute.
///
/// Control characters are replaced: browsers treat some of them as ends of things.
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
            // The library leaves it, since its attributes are in double quotes.
            html.push_str(if number > 0 { "&#39;" } else { "" });
            // Writing into a string cannot fail.
            let _ = Escaper::new(html).write_str(part);
        }
    }
}

/// The same for a drawing, which is written as it is.
pub(super) fn escape(text: &str) -> String {
    Text(text).render().into_string()
}

/// What is markup already, such as a drawing or a style sheet of ours.
pub(super) fn drawn(markup: impl Into<String>) -> Markup {
    PreEscaped(markup.into())
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

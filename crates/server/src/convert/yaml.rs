//! The active queue file as YAML, in the format of the reference: keys in lower case, in the order of the file's
//! description, without empty objects and lists.

use std::fmt::Write as _;

use headroom_api::wsv1::Config;
use headroom_config::schema::Content;

/// Returns the whole file: its partitions, and the fields that the reference writes after them.
pub(crate) fn config(partitions: &[Content], config: &Config) -> String {
    let mut root = Map::default();
    root.0.push(("partitions".to_owned(), list(partitions)));
    let mut scalar = |key: &str, value: String| root.0.push((key.to_owned(), Node::Scalar(value)));
    if !config.checksum.is_empty() {
        scalar("checksum", quoted(&config.checksum));
    }
    if !config.extra.is_empty() {
        let extra = config.extra.iter();
        let extra = extra.map(|(key, value)| (quoted(key), Node::Scalar(quoted(value))));
        root.0.push(("extra".to_owned(), Node::Map(Map(extra.collect()))));
    }
    let mut scalar = |key: &str, value: String| root.0.push((key.to_owned(), Node::Scalar(value)));
    scalar("deadlockdetectionenabled", config.deadlock_detection_enabled.to_string());
    scalar("deadlocktimeoutseconds", config.deadlock_timeout_seconds.to_string());
    let mut out = String::new();
    write_map(&mut out, &root, 0);
    out
}

/// A value of the output.
enum Node {
    Scalar(String),
    List(Vec<Self>),
    Map(Map),
}

/// Keys in the order of the output.
#[derive(Default)]
struct Map(Vec<(String, Node)>);

fn node(content: &Content) -> Node {
    match content {
        Content::Switch(is) => Node::Scalar(is.to_string()),
        Content::Whole(number) => Node::Scalar(number.to_string()),
        Content::Decimal(number) => Node::Scalar(number.to_string()),
        // Quotes would turn it into a string.
        Content::Number(text) => Node::Scalar(text.clone()),
        Content::Text(text) => Node::Scalar(quoted(text)),
        Content::List(items) => list(items),
        Content::Pairs(pairs) => map(self::pairs(pairs).collect()),
        Content::Block(_, rows) => {
            let mut keys = Vec::with_capacity(rows.len());
            for (setting, content) in rows {
                match content {
                    // Keys that users choose are at the same level as those of the block.
                    Content::Pairs(pairs) if setting.key.is_empty() => {
                        keys.extend(self::pairs(pairs));
                    }
                    content => keys.push((setting.key.to_owned(), node(content))),
                }
            }
            map(keys)
        }
    }
}

fn pairs(pairs: &[(String, Content)]) -> impl Iterator<Item = (String, Node)> {
    pairs.iter().map(|(key, content)| (quoted(key), node(content)))
}

fn list(items: &[Content]) -> Node {
    if items.is_empty() {
        return Node::Scalar("[]".to_owned());
    }
    Node::List(items.iter().map(node).collect())
}

fn map(keys: Vec<(String, Node)>) -> Node {
    if keys.is_empty() { Node::Scalar("{}".to_owned()) } else { Node::Map(Map(keys)) }
}

/// Returns a string, with quotes unless every parser reads it as the same string.
fn quoted(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./@-".contains(&byte))
        && !looks_like_a_value(text);
    if is_plain {
        return text.to_owned();
    }
    // A JSON string is a valid YAML string.
    serde_json::Value::from(text).to_string()
}

/// Returns whether some YAML parser reads this word as a boolean, a number, or null.
fn looks_like_a_value(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    matches!(
        word.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "nan" | "inf"
    )
}

fn write_map(out: &mut String, map: &Map, depth: usize) {
    for (place, (key, value)) in map.0.iter().enumerate() {
        // The first key of a list item is on the line of the dash.
        if place > 0 || !out.ends_with("- ") {
            out.push_str(&"  ".repeat(depth));
        }
        match value {
            Node::Scalar(text) => {
                // Writing into a string cannot fail.
                let _ = writeln!(out, "{key}: {text}");
            }
            Node::Map(inner) => {
                let _ = writeln!(out, "{key}:");
                write_map(out, inner, depth + 1);
            }
            Node::List(items) => {
                let _ = writeln!(out, "{key}:");
                write_list(out, items, depth + 1);
            }
        }
    }
}

fn write_list(out: &mut String, items: &[Node], depth: usize) {
    for item in items {
        // Dashes have the indentation of the key of the list.
        out.push_str(&"  ".repeat(depth - 1));
        out.push_str("- ");
        match item {
            Node::Scalar(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Node::Map(map) => write_map(out, map, depth),
            Node::List(items) => write_list(out, items, depth + 1),
        }
    }
}

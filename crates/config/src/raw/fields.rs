//! Reads the fields of one mapping strictly: an unknown key or a value of the wrong kind is a fault.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::scalar::{Meaning, Reading};
use crate::schema::{Block, Null, Setting};
use crate::spelling::nearest;
use crate::yaml::{Entry, Kind, Node, Scalar};

use super::{At, Pairs, Text};

/// The fields of one mapping, and the report for their faults.
pub(crate) struct Fields<'n, 'r> {
    entries: &'n [Entry],
    block: &'static Block,
    /// Place of the mapping. Absent fields have the same place.
    pub(crate) span: Span,
    pub(crate) report: &'r mut Report,
}

impl<'n, 'r> Fields<'n, 'r> {
    /// Returns the fields of `node`, which must be this block. A node without a value has no fields.
    ///
    /// Unknown keys are faults. A node that is not a mapping is a fault too.
    pub(crate) fn of(
        node: &'n Node,
        block: &'static Block,
        report: &'r mut Report,
    ) -> Fields<'n, 'r> {
        Self::called(node, block.what, block, report)
    }

    /// Does the same as [`Fields::of`], with another name of the block in messages.
    pub(crate) fn called(
        node: &'n Node,
        what: &str,
        block: &'static Block,
        report: &'r mut Report,
    ) -> Fields<'n, 'r> {
        let entries: &[Entry] = match &node.kind {
            Kind::Map(entries) => entries,
            Kind::Scalar(scalar) if scalar.is_null() => &[],
            Kind::Scalar(_) | Kind::List(_) => {
                report.push(wrong_kind(node, &format!("{what} must be a mapping")));
                &[]
            }
        };
        for entry in entries {
            check_key(entry, what, block, report);
        }
        Fields { entries, block, span: node.span, report }
    }

    /// Returns the value of a key. `None` if the key is absent or null.
    pub(crate) fn get(&self, setting: &Setting) -> Option<&'n Node> {
        self.entry(setting).map(|entry| &entry.value).filter(|value| !is_null(value))
    }

    /// Returns the key and its value, which can be null. `None` if the key is absent.
    pub(crate) fn entry(&self, setting: &Setting) -> Option<&'n Entry> {
        let find = |key: &str| {
            let is_key = |node: &Node| matches!(&node.kind, Kind::Scalar(one) if one.text == key);
            self.entries.iter().find(|entry| is_key(&entry.key))
        };
        find(setting.key).or_else(|| find(setting.alias?))
    }

    /// Returns a text. An absent text is empty, and has the place of the mapping.
    pub(crate) fn text(&mut self, setting: &Setting) -> Text {
        let key = setting.key;
        let Some(node) = self.get(setting) else {
            let span = self.entry(setting).map_or(self.span, |entry| entry.key.span);
            return At { value: String::new(), span };
        };
        text_of(node, &format!("`{key}`"), self.report)
            .unwrap_or(At { value: String::new(), span: node.span })
    }

    /// Returns a text. `None` if the key is absent.
    pub(crate) fn word(&mut self, setting: &Setting) -> Option<Text> {
        let key = setting.key;
        let node = self.get(setting)?;
        text_of(node, &format!("`{key}`"), self.report)
    }

    /// Returns a boolean. `None` if the key is absent.
    pub(crate) fn flag(&mut self, setting: &Setting) -> Option<bool> {
        self.flag_at(setting).map(|flag| flag.value)
    }

    /// Returns a boolean with its place. `None` if the key is absent.
    pub(crate) fn flag_at(&mut self, setting: &Setting) -> Option<At<bool>> {
        let key = setting.key;
        let node = self.get(setting)?;
        let read = scalar_of(node).and_then(Scalar::flag);
        let value = match read {
            Some(Reading::Plain(flag)) => Some(flag),
            Some(Reading::Lenient(flag)) => {
                let message =
                    format!("the value of `{key}` is not true or false, and is read as {flag}");
                let warning = Diagnostic::warning(Code::YamlLenient, node.span, message);
                self.report.push(warning.help(format!("write `{key}: {flag}`")));
                Some(flag)
            }
            None => {
                let fault = wrong_kind(node, &format!("`{key}` must be true or false"));
                self.report.push(fault.help("write true or false, without quotes"));
                None
            }
        };
        value.map(|value| At { value, span: node.span })
    }

    /// Returns a count. 0 if the key is absent.
    pub(crate) fn count(&mut self, setting: &Setting) -> At<u64> {
        let key = setting.key;
        let Some(node) = self.get(setting) else {
            let span = self.span;
            return At { value: 0, span };
        };
        let value = match scalar_of(node).and_then(Scalar::count) {
            Some(Reading::Plain(count)) => count,
            Some(Reading::Lenient(count)) => {
                let message = format!(
                    "the value of `{key}` is not written as a plain whole number, and is read as {count}"
                );
                let warning = Diagnostic::warning(Code::YamlLenient, node.span, message);
                self.report.push(warning.help(format!("write `{key}: {count}`")));
                count
            }
            None => {
                let what = format!("`{key}` must be a whole number from 0 to {}", u64::MAX);
                let fault = wrong_kind(node, &what);
                self.report.push(fault.help("write digits only, without quotes or sign"));
                0
            }
        };
        At { value, span: node.span }
    }

    /// Returns the items of a list without null items. `None` if the key is absent.
    pub(crate) fn list(&mut self, setting: &Setting) -> Option<(Vec<&'n Node>, Span)> {
        let key = setting.key;
        let node = self.get(setting)?;
        let Kind::List(items) = &node.kind else {
            self.report.push(wrong_kind(node, &format!("`{key}` must be a list")));
            return None;
        };
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            if is_null(item) {
                let message = format!("an empty entry of `{key}` is ignored");
                let span = if item.span.start == item.span.end { node.span } else { item.span };
                let warning = Diagnostic::warning(Code::YamlLenient, span, message);
                self.report.push(warning.help("remove the entry"));
            } else {
                values.push(item);
            }
        }
        Some((values, node.span))
    }

    /// Returns the texts of a list. `None` if the key is absent.
    pub(crate) fn texts(&mut self, setting: &Setting) -> Option<Vec<Text>> {
        let key = setting.key;
        let (items, _) = self.list(setting)?;
        let what = format!("an entry of `{key}`");
        let texts = items.into_iter().filter_map(|item| text_of(item, &what, self.report));
        Some(texts.collect())
    }

    /// Returns a mapping of free keys to texts. `None` if the key is absent.
    pub(crate) fn pairs(&mut self, setting: &Setting) -> Option<Pairs> {
        let node = self.get(setting)?;
        let value = self
            .items(setting, node)
            .into_iter()
            .filter_map(|(name, value)| {
                if is_null(value) {
                    let span =
                        if value.span.start == value.span.end { name.span } else { value.span };
                    let empty = At { value: String::new(), span };
                    return Some((name, empty));
                }
                let what = format!("`{}`", name.value);
                text_of(value, &what, self.report).map(|text| (name, text))
            })
            .collect();
        Some(At { value, span: node.span })
    }

    /// Returns a number in its original notation. `None` if the key is absent.
    pub(crate) fn number(&mut self, setting: &Setting) -> Option<Text> {
        let node = self.get(setting)?;
        number_of(node, setting.key, self.report)
    }

    /// Returns a mapping of free keys to numbers in their original notation. Empty if the key is absent. A free key
    /// without a value has an empty text.
    pub(crate) fn numbers(&mut self, setting: &Setting) -> Vec<(Text, Text)> {
        let Some(node) = self.get(setting) else {
            return Vec::new();
        };
        let mut numbers = Vec::new();
        for (name, value) in self.items(setting, node) {
            if is_null(value) {
                let nothing = At { value: String::new(), span: name.span };
                numbers.push((name, nothing));
            } else if let Some(number) = number_of(value, &name.value, self.report) {
                numbers.push((name, number));
            }
        }
        numbers
    }

    /// Returns a mapping of free keys to floating point numbers. Empty if the key is absent.
    pub(crate) fn decimals(&mut self, setting: &Setting) -> Vec<(Text, At<f64>)> {
        let Some(node) = self.get(setting) else {
            return Vec::new();
        };
        let mut decimals = Vec::new();
        for (name, value) in self.items(setting, node) {
            let span = value.span;
            if is_null(value) {
                let message = format!("the weight of {} has no value, so 0 is used", name.value);
                let warning = Diagnostic::warning(Code::YamlLenient, name.span, message);
                self.report.push(warning.help("write a number"));
                decimals.push((name, At { value: 0.0, span }));
                continue;
            }
            if let Some(decimal) = scalar_of(value).and_then(Scalar::decimal) {
                let weight = At { value: decimal, span };
                decimals.push((name, weight));
            } else {
                let what = format!("`{}` must be a number", name.value);
                self.report.push(wrong_kind(value, &what));
            }
        }
        decimals
    }

    /// Returns the keys that are not in the table and have a mapping, with their values.
    pub(crate) fn others(&self) -> impl Iterator<Item = (Text, &'n Node)> {
        self.entries.iter().filter_map(|entry| {
            let scalar = scalar_of(&entry.key).filter(|scalar| !scalar.is_null())?;
            let is_block = matches!(entry.value.kind, Kind::Map(_));
            let is_other = is_block && !self.block.has(&scalar.text);
            let key = At { value: scalar.text.clone(), span: entry.key.span };
            is_other.then_some((key, &entry.value))
        })
    }

    /// Returns keys and values of a mapping with free keys. Null keys are omitted.
    fn items(&mut self, setting: &Setting, node: &'n Node) -> Vec<(Text, &'n Node)> {
        let key = setting.key;
        let Kind::Map(entries) = &node.kind else {
            self.report.push(wrong_kind(node, &format!("`{key}` must be a mapping")));
            return Vec::new();
        };
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            if is_null(&entry.key) {
                let message = format!("an entry of `{key}` without a key is ignored");
                let warning = Diagnostic::warning(Code::YamlLenient, entry.key.span, message);
                self.report.push(warning.help("remove the entry, or write its key"));
            } else if let Some(name) = text_of(&entry.key, "a key", self.report) {
                items.push((name, &entry.value));
            }
        }
        items
    }
}

/// Checks a key of a mapping that is `block`.
fn check_key(entry: &Entry, what: &str, block: &Block, report: &mut Report) {
    let key = &entry.key;
    if is_null(key) {
        let message = format!("an entry of {what} without a key is ignored");
        let warning = Diagnostic::warning(Code::YamlLenient, key.span, message);
        report.push(warning.help("remove the entry, or write its key"));
        return;
    }
    let Some(name) = text_of(key, "a key", report) else {
        return;
    };
    let is_other = block.takes_other_blocks() && matches!(entry.value.kind, Kind::Map(_));
    if is_other || block.has(&name.value) {
        if block.null == Null::KeyWithWarning && is_null(&entry.value) {
            let message = format!("`{}` has no value and is ignored", name.value);
            let warning = Diagnostic::warning(Code::YamlLenient, key.span, message);
            report.push(warning.help("write a value, or remove the key"));
        }
        return;
    }
    let known: Vec<&str> = block.keys().collect();
    let message = format!("{what} has no key `{}`", name.value);
    let help = match nearest(&name.value, &known) {
        Some(key) if key == name.value.to_lowercase() => {
            format!("write `{key}`; keys are lower case")
        }
        Some(key) => format!("did you mean `{key}`?"),
        None => format!("use one of these keys: {}", known.join(", ")),
    };
    report.push(Diagnostic::error(Code::YamlKey, name.span, message).help(help));
}

fn scalar_of(node: &Node) -> Option<&Scalar> {
    match &node.kind {
        Kind::Scalar(scalar) => Some(scalar),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

fn is_null(node: &Node) -> bool {
    scalar_of(node).is_some_and(Scalar::is_null)
}

/// Returns a scalar as the written text. Empty for null.
fn text_of(node: &Node, what: &str, report: &mut Report) -> Option<Text> {
    let Some(scalar) = scalar_of(node) else {
        report.push(wrong_kind(node, &format!("{what} must be a text")));
        return None;
    };
    Some(At { value: scalar.text.clone(), span: node.span })
}

/// Returns a scalar that has the form of a number, as the written text.
fn number_of(node: &Node, key: &str, report: &mut Report) -> Option<Text> {
    let number = scalar_of(node)
        .filter(|scalar| matches!(scalar.meaning(), Meaning::Whole(_) | Meaning::Decimal(_)));
    let Some(scalar) = number else {
        report.push(wrong_kind(node, &format!("`{key}` must be a number")));
        return None;
    };
    Some(At { value: scalar.text.clone(), span: node.span })
}

fn wrong_kind(node: &Node, must: &str) -> Diagnostic {
    let label = match &node.kind {
        Kind::List(_) => "this is a list",
        Kind::Map(_) => "this is a mapping",
        Kind::Scalar(scalar) if scalar.quoted => "this is a text in quotes",
        Kind::Scalar(scalar) => match scalar.meaning() {
            Meaning::Flag(_) => "this is a boolean",
            Meaning::Whole(_) | Meaning::Decimal(_) => "this is a number",
            Meaning::Null | Meaning::Text => "this is a text",
        },
    };
    let help = match &node.kind {
        Kind::Scalar(scalar) if scalar.quoted => {
            "write a value of the expected type. A number or a boolean has no quotes"
        }
        Kind::Scalar(_) => "write the value after the key, or indented below it",
        Kind::List(_) => "remove the `-`, or the brackets",
        Kind::Map(_) => "add a `-` before each entry, or correct the indentation",
    };
    Diagnostic::error(Code::YamlType, node.span, must).label(label).help(help)
}

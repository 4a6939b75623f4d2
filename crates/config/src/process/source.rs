//! Sources of values: the file, environment variables, and flags. Each source overrides the previous sources.

use std::collections::BTreeMap;

use super::key::{KEYS, Key, LATER, VARIABLE_PREFIX};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::scalar::Reading;
use crate::spelling::distance;
use crate::yaml::{Entry, Kind, Node};

/// Place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    File(Span),
    Variable(String),
    Flag(String),
}

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// One text, or the texts of a list.
    pub(super) texts: Vec<String>,
    pub(super) place: Place,
}

/// Values by key.
pub(super) type All = BTreeMap<&'static str, Given>;

/// Reads the values of a file.
pub(super) fn of_file(document: Option<&Node>, report: &mut Report) -> All {
    let mut all = All::new();
    if let Some(node) = document {
        mapping("", node, &mut all, report);
    }
    all
}

fn mapping(prefix: &str, node: &Node, all: &mut All, report: &mut Report) {
    let entries = match &node.kind {
        Kind::Map(entries) => entries,
        Kind::Scalar(scalar) if scalar.is_null() => return,
        Kind::Scalar(_) | Kind::List(_) => {
            let what = if prefix.is_empty() { "the file" } else { prefix };
            let message = format!("`{what}` must be a mapping of keys to values");
            report.push(Diagnostic::error(Code::YamlType, node.span, message));
            return;
        }
    };
    for Entry { key, value } in entries {
        let Kind::Scalar(name) = &key.kind else {
            let fault = Diagnostic::error(Code::YamlKey, key.span, "a key must be a string");
            report.push(fault);
            continue;
        };
        let name =
            if prefix.is_empty() { name.text.clone() } else { format!("{prefix}.{}", name.text) };
        if let Some(known) = KEYS.iter().find(|known| known.name == name) {
            take(known, key, value, all, report);
        } else if KEYS.iter().any(|known| is_inside(known.name, &name)) {
            mapping(&name, value, all, report);
        } else {
            let (message, help) = unknown(&name);
            report.push(Diagnostic::error(Code::YamlKey, key.span, message).help(help));
        }
    }
}

fn is_inside(name: &str, mapping: &str) -> bool {
    name.strip_prefix(mapping).is_some_and(|rest| rest.starts_with('.'))
}

/// Reads one value of a file. A null value counts as absent.
fn take(known: &'static Key, key: &Node, value: &Node, all: &mut All, report: &mut Report) {
    let mut wrong = |node: &Node, what: &str| {
        let message = format!("`{}` must be {what}", known.name);
        report.push(Diagnostic::error(Code::YamlType, node.span, message));
    };
    let texts = match &value.kind {
        Kind::Scalar(scalar) if scalar.is_null() => return,
        Kind::Scalar(scalar) if known.kind.is_list() => separate(&scalar.text),
        Kind::Scalar(scalar) => {
            // Old YAML words for true and false are accepted.
            let flag = scalar.flag().filter(|_| known.kind == super::Kind::Switch);
            let text = match flag {
                Some(Reading::Plain(flag) | Reading::Lenient(flag)) => flag.to_string(),
                None => scalar.text.clone(),
            };
            vec![text]
        }
        Kind::List(items) if known.kind.is_list() => {
            let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
            let Some(texts) = texts else { return wrong(value, "a list of strings") };
            texts
        }
        Kind::Map(entries) if known.kind == super::Kind::Roles => {
            let pairs: Option<Vec<String>> = entries.iter().map(pair_of).collect();
            let Some(pairs) = pairs else { return wrong(value, "a mapping to roles") };
            pairs
        }
        Kind::List(_) => return wrong(value, "a single value, but it is a list"),
        Kind::Map(_) => return wrong(value, "a single value, but it is a mapping"),
    };
    let place = Place::File(value.span);
    if all.insert(known.name, Given { texts, place }).is_some() {
        let message = format!("`{}` occurs twice, in two spellings", known.name);
        let fault = Diagnostic::error(Code::YamlDuplicate, key.span, message);
        report.push(fault.help("remove one of the two entries"));
    }
}

fn text_of(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Scalar(scalar) => Some(scalar.text.clone()),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

/// Returns `group:ops: [operator, viewer]` as `group:ops=operator+viewer`.
fn pair_of(entry: &Entry) -> Option<String> {
    let who = text_of(&entry.key)?;
    let roles = match &entry.value.kind {
        Kind::List(items) => items.iter().map(text_of).collect::<Option<Vec<_>>>()?.join("+"),
        Kind::Scalar(_) | Kind::Map(_) => text_of(&entry.value)?,
    };
    Some(format!("{who}={roles}"))
}

/// Splits values at commas.
fn separate(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn given(known: &'static Key, text: String, place: Place) -> (&'static str, Given) {
    let texts = if known.kind.is_list() { separate(&text) } else { vec![text] };
    (known.name, Given { texts, place })
}

/// Reads the values of environment variables. Faults are sentences.
///
/// Other programs also create variables with this prefix: Kubernetes creates some for each service. Only names that
/// closely resemble a key are therefore refused.
pub(super) fn of_environment(
    variables: impl IntoIterator<Item = (String, String)>,
    all: &mut All,
    faults: &mut Vec<String>,
) {
    let known: Vec<(String, &'static Key)> = KEYS.iter().map(|key| (key.variable(), key)).collect();
    for (name, value) in variables {
        if !name.starts_with(VARIABLE_PREFIX) {
            continue;
        }
        if let Some((_, key)) = known.iter().find(|(variable, _)| *variable == name) {
            all.extend([given(key, value, Place::Variable(name))]);
            continue;
        }
        let near =
            known.iter().map(|(variable, _)| (distance(shortened(&name), variable), variable));
        if let Some((_, nearest)) = near.min().filter(|(letters, _)| *letters <= 2) {
            faults.push(format!(
                "error: the environment variable {name} does not match a key of the configuration. \
                 Rename the variable to {nearest}, or unset it"
            ));
        }
    }
}

/// Reads the values of flags, by key.
pub(super) fn of_flags(flags: impl IntoIterator<Item = (&'static str, String)>, all: &mut All) {
    for (name, value) in flags {
        if let Some(key) = KEYS.iter().find(|key| key.name == name) {
            all.extend([given(key, value, Place::Flag(format!("--{}", key.flag())))]);
        }
    }
}

/// Returns the fault of an unknown name, and a suggestion.
fn unknown(name: &str) -> (String, String) {
    let shown = shortened(name);
    if let Some((_, instead)) = LATER.iter().find(|(later, _)| *later == name) {
        return (format!("this version does not support `{shown}`"), (*instead).to_owned());
    }
    let help = match nearest(shown) {
        Some(key) => format!("did you mean `{key}`?"),
        None => "list all keys with `headroom serve --help`".to_owned(),
    };
    (format!("the key `{shown}` does not exist"), help)
}

/// Shortens a name, because a comparison costs the product of the lengths. No key is longer.
fn shortened(name: &str) -> &str {
    let end = name.char_indices().nth(64).map_or(name.len(), |(place, _)| place);
    &name[..end]
}

/// Returns the key, or mapping of keys, with the smallest edit distance, compared as a whole or from its last dot on.
fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let last = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
    let letters = |known: &&'static str| {
        let known = known.to_lowercase();
        // The correct word in the wrong mapping counts as one wrong letter.
        distance(&lower, &known).min(distance(&last(&lower), &last(&known)) + 1)
    };
    let mappings = KEYS
        .iter()
        .flat_map(|key| key.name.match_indices('.').map(|(place, _)| &key.name[..place]));
    KEYS.iter().map(|key| key.name).chain(mappings).min_by_key(letters)
}

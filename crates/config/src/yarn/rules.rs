//! Mappings in JSON: `{"rules": [{"type": "user", "matches": "*", "policy": "user"}]}`.

use serde_json::Value;

use super::note::Kind;
use super::placement::{
    USER, Who, fixed, is_no_leaf, no_rule, provided, reject, takes_none, target,
};
use super::properties::Property;
use super::scope::Scope;
use super::tree::{Node, Tree};
use super::write::Pairs;

/// Reads the rules in JSON. Reports entries that have no rule.
pub(super) fn read(whole: &Scope<'_>, tree: &Tree) -> Vec<Pairs> {
    let mut rules = Vec::new();
    let Some(property) = whole.get("mapping-rule-json") else {
        let name = whole.full("mapping-rule-json");
        let why = "mapping-rule-format is json, but no file contains the rules";
        whole.tell_absent(&name, why, "add `placementrules` to the queue file");
        return rules;
    };
    let parsed = serde_json::from_str::<Value>(&property.value);
    let list = parsed.as_ref().ok().and_then(|value| value.get("rules")).and_then(Value::as_array);
    let Some(list) = list else {
        let why = match &parsed {
            Err(error) => format!("the value is not JSON: {error}"),
            Ok(_) => "the JSON object has no list `rules`".to_owned(),
        };
        whole.tell(Kind::NoEquivalent, property, &why, "add `placementrules` to the queue file");
        return rules;
    };
    let mut default =
        tree.meant("default").map_or("root.default", |node| node.full.as_str()).to_owned();
    for rule in list {
        let shown = rule.to_string();
        match one(whole, tree, property, rule, &mut default) {
            Ok(Found::Rule(rule)) => rules.push(rule),
            Ok(Found::Nothing) => {}
            // Later rules are never used.
            Ok(Found::End(rule)) => {
                rules.push(rule);
                break;
            }
            Err(why) => no_rule(whole, property, &shown, &why),
        }
    }
    rules
}

enum Found {
    Rule(Pairs),
    Nothing,
    /// A rule that applies to every application.
    End(Pairs),
}

fn one(
    whole: &Scope<'_>,
    tree: &Tree,
    property: &Property,
    rule: &Value,
    default: &mut String,
) -> Result<Found, String> {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
    let matches = text("matches");
    let who = match (text("type"), matches) {
        ("user", "*") => Who::All,
        ("user", name) if !name.is_empty() => Who::User(name.to_owned()),
        ("group", name) if !matches!(name, "" | "*") => Who::Group(name.to_owned()),
        ("application", _) => {
            return Err("a rule cannot use the name of the application".to_owned());
        }
        _ => return Err("the rule matches neither users nor groups".to_owned()),
    };
    let parent = text("parentQueue");
    let may_create = rule.get("create").and_then(Value::as_bool).unwrap_or(false);
    let found = match text("policy") {
        "specified" => provided(tree, &who),
        "defaultQueue" => {
            let is_there = |node: &&Node| node.full == *default && !takes_none(whole, node);
            let found = tree.nodes.iter().find(is_there);
            let found = found.ok_or_else(|| format!("leaf `{default}` does not exist"))?;
            fixed(&found.full, false, &who)
        }
        "user" if parent.is_empty() => target(whole, tree, USER, may_create, &who)?,
        "user" => target(whole, tree, &format!("{parent}.{USER}"), may_create, &who)?,
        "custom" => target(whole, tree, text("customPlacement"), may_create, &who)?,
        "reject" if who == Who::All => return Ok(Found::End(reject(&who))),
        "reject" => reject(&who),
        "setDefaultQueue" if who == Who::All => {
            let named = tree.meant(text("value")).ok_or("the queue does not exist")?;
            if takes_none(whole, named) {
                return Err(is_no_leaf(tree, named));
            }
            named.full.clone_into(default);
            return Ok(Found::Nothing);
        }
        "setDefaultQueue" => {
            return Err("all applications share one default queue".to_owned());
        }
        "primaryGroup" | "primaryGroupUser" | "secondaryGroup" | "secondaryGroupUser"
        | "applicationName" => {
            return Err(
                "a rule can use the name of the user, but not the groups of the user or the \
                 application name"
                    .to_owned(),
            );
        }
        _ => return Err("the policy does not exist".to_owned()),
    };
    let fallback = text("fallbackResult");
    if !matches!(fallback, "" | "skip") {
        let shown = super::xml::shown(&rule.to_string());
        let why = format!(
            "if the rule {shown} finds no queue, Headroom tries the next rule and ignores \
             fallbackResult"
        );
        whole.tell(
            Kind::Adjusted,
            property,
            &why,
            "to use a specific queue instead, add a `fixed` rule after this rule",
        );
    }
    Ok(Found::Rule(found))
}

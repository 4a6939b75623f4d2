//! A plan names each setting by the keys of the queue file, and each value as the file writes it. A user who
//! writes what a plan shows gets it.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::collections::{BTreeMap, BTreeSet};

use headroom_config::{read, review};
use headroom_core::books::Books;
use headroom_core::config::Configuration;
use headroom_core::plan::{Reach, plan};
use headroom_core::{Command, Timestamp, decide};

/// A setting: where it is written, what, and what else the file says on both sides.
struct Setting {
    path: &'static str,
    value: &'static str,
    context: &'static [(&'static str, &'static str)],
    /// What the plan shows, where that is not the path and the value.
    shown: Option<(&'static str, &'static str)>,
}

const fn setting(path: &'static str, value: &'static str) -> Setting {
    Setting { path, value, context: &[], shown: None }
}

impl Setting {
    const fn context(self, context: &'static [(&'static str, &'static str)]) -> Self {
        Self { context, ..self }
    }

    const fn shown(self, key: &'static str, value: &'static str) -> Self {
        Self { shown: Some((key, value)), ..self }
    }
}

const TENANTS: &[(&str, &str)] = &[("partition/tenants.enabled", "true")];
const USERS: &[(&str, &str)] = &[("leaf/userlimits", "{}")];
/// Without the parent next to the leaf: siblings have their parts all by the same mode.
const ALONE: (&str, &str) = ("parent/", "");
const WEIGHT: &[(&str, &str)] = &[("leaf/capacity", "{mode: weight, value: 20}"), ALONE];
const OF_LABEL: &[(&str, &str)] = &[
    ALONE,
    ("leaf/capacity", "{mode: weight, value: 20}"),
    ("leaf/nodelabels.accessible", "[gpu]"),
    ("leaf/nodelabels.exclusive", "[gpu]"),
    ("leaf/nodelabels.gpu.value", "30"),
];
const TEMPLATE: &[(&str, &str)] = &[("parent/childtemplate.userlimits", "{}")];
const TEMPLATE_PART: &[(&str, &str)] =
    &[("parent/childtemplate.capacity", "{mode: weight, value: 20}")];

/// All settings of the file, each with a value other than its default.
const SETTINGS: &[Setting] = &[
    setting("partition/preemption.enabled", "false"),
    setting("partition/preemption.quotapreemptionenabled", "true"),
    setting("partition/preemption.strictguarantee", "false"),
    setting("partition/preemption.balance", "true"),
    setting("partition/preemption.intraqueueenabled", "true"),
    setting("partition/preemption.observeonly", "true"),
    setting("partition/nodesortpolicy.type", "binpacking"),
    setting("partition/nodesortpolicy.resourceweights.memory", "2.5"),
    setting("partition/usergroupresolver.type", "os"),
    setting("partition/limitprecedence", "user"),
    setting("partition/gangs.placement", "whole"),
    setting("partition/starvation.after", "600s"),
    setting("partition/reservations.share", "0.2"),
    setting(
        "partition/placementrules",
        "[{name: tag, value: namespace, create: true, filter: {type: deny, users: [ann, bob], groups: [dev]}, \
         parent: {name: fixed, value: root.parent}}]",
    )
    .shown(
        "placementrules.1",
        "{name: tag, value: namespace, create: true, filter: {type: deny, users: [ann, bob], groups: [dev]}, \
         parent: {name: fixed, value: root.parent}}",
    ),
    setting("partition/limits", "[{limit: all, users: [ann], maxapplications: 3}]")
        .shown("limits[users: ann].maxapplications", "3"),
    setting("partition/userlimits.minimumuserlimitpercent", "25")
        .context(&[("partition/userlimits", "{}")])
        .shown("userlimits.minimumuserlimitpercent", "25"),
    setting("partition/applicationlimits.maximumapplications", "50"),
    setting("partition/tenants.enabled", "true").context(&[("partition/queues", "[{name: tenants, parent: true}]")]),
    setting("partition/tenants.rootqueue", "root.parent").context(TENANTS),
    setting("partition/tenants.exempt", "[admin, system]").context(TENANTS),
    setting("partition/tenants.defaults.quota.memory", "64Gi").context(TENANTS),
    setting("partition/tenants.defaults.maxwaiting", "70").context(TENANTS),
    setting("partition/tenants.defaults.waiting.strategy", "urgency").context(TENANTS),
    setting("partition/tenants.defaults.waiting.agingintervalseconds", "30").context(TENANTS),
    setting("partition/tenants.defaults.waiting.agingstep", "2").context(TENANTS),
    setting("partition/tenants.defaults.waiting.agingmax", "9").context(TENANTS),
    setting("partition/tenants.defaults.waiting.maxovertakes", "4").context(TENANTS),
    setting("partition/tenants.defaults.waiting.maxheadwaitseconds", "100").context(TENANTS),
    setting("partition/tenants.defaults.waiting.maxwaitseconds", "600").context(TENANTS),
    setting("partition/tenants.defaults.onlower.action", "refuse").context(TENANTS),
    setting("partition/tenants.defaults.onlower.graceseconds", "5")
        .context(&[("partition/tenants.enabled", "true"), ("partition/tenants.defaults.onlower.action", "preempt")]),
    setting("partition/tenants.defaults.oversized", "park").context(TENANTS),
    setting("partition/tenants.recoverytimeoutseconds", "10").context(TENANTS),
    setting("partition/tenants.verifyintervalseconds", "20").context(TENANTS),
    setting("partition/tenants.reclaim", "false").context(TENANTS),
    setting("partition/tenants.idempotencyttlseconds", "3600").context(TENANTS),
    setting("partition/tenants.audit.retentiondays", "31").context(TENANTS),
    setting("leaf/parent", "true"),
    setting("leaf/resources.max.memory", "64Gi"),
    setting("leaf/resources.max.vcore", "1500m"),
    setting("leaf/resources.guaranteed.memory", "8G"),
    setting("leaf/maxapplications", "12"),
    setting("leaf/properties.priority.offset", "7").shown("properties.priority.offset", "7"),
    setting("leaf/adminacl", "'ann,bob ops'").shown("adminacl", "ann,bob ops"),
    setting("leaf/submitacl", "'*'").shown("submitacl", "*"),
    setting("leaf/limits", "[{groups: [dev], maxresources: {memory: 512Mi}}]")
        .shown("limits[groups: dev].maxresources.memory", "512Mi"),
    setting("leaf/userlimits", "{}"),
    setting("leaf/userlimits.minimumuserlimitpercent", "12.5").context(USERS),
    setting("leaf/userlimits.userlimitfactor", "-1").context(USERS),
    setting("leaf/userlimits.weights.ann", "0.5").context(USERS),
    setting("leaf/userlimits.formula", "yarn3").context(USERS),
    setting("leaf/userlimits.enforcement", "overshoot").context(USERS),
    setting("leaf/userlimits.calculator", "dominant").context(USERS),
    setting("leaf/userlimits.minimumallocation.memory", "1Gi").context(USERS),
    setting("leaf/userlimits.increment.memory", "512Mi").context(USERS),
    setting("leaf/userlimits.maximumallocation.memory", "8Gi").context(USERS),
    setting("leaf/applicationlimits.maximumapplications", "50"),
    setting("leaf/applicationlimits.maximumapplicationsperuser", "5"),
    setting("leaf/applicationlimits.maxparallelapps", "4"),
    setting("leaf/applicationlimits.maxparallelappsperuser", "3"),
    setting("leaf/applicationlimits.maxparallelappsbyuser.ann", "2"),
    setting("leaf/applicationlimits.maximumdriverresourcepercent", "0.25"),
    setting("partition/applicationlimits.globalqueuemaxapplication", "9"),
    setting("leaf/capacity.mode", "percent").context(&[("leaf/capacity", "{mode: weight, value: 100}"), ALONE]),
    setting("leaf/capacity.value", "12.5").context(WEIGHT),
    setting("leaf/capacity.maximum", "80").context(WEIGHT),
    setting("leaf/preemption.disabled", "true"),
    setting("leaf/preemption.intraqueuedisabled", "true"),
    setting("leaf/preemption.balance", "true"),
    setting("leaf/preemption.withinqueue", "priority"),
    setting("leaf/preemption.minruntime", "300s"),
    setting("leaf/state", "stopped"),
    setting("leaf/orderingpolicy", "fair").shown("properties.application.sort.policy", "fair"),
    setting("leaf/maximumapplicationlifetime", "3600"),
    setting("leaf/defaultapplicationlifetime", "600"),
    setting("leaf/nodelabels.accessible", "[fpga, gpu]"),
    setting("leaf/nodelabels.default", "gpu").context(&[("leaf/nodelabels.accessible", "[gpu]")]),
    setting("leaf/nodelabels.exclusive", "[gpu]").context(&[("leaf/nodelabels.accessible", "[gpu]")]),
    setting("leaf/nodelabels.lends", "[gpu]")
        .context(&[("leaf/nodelabels.accessible", "[gpu]"), ("leaf/nodelabels.exclusive", "[gpu]")]),
    setting("leaf/nodelabels.gpu.value", "40").context(OF_LABEL),
    setting("leaf/nodelabels.gpu.maximum", "80").context(OF_LABEL),
    setting("parent/childtemplate.maxapplications", "5"),
    setting("parent/childtemplate.properties.priority.offset", "7")
        .shown("childtemplate.properties.priority.offset", "7"),
    setting("parent/childtemplate.resources.max.memory", "64Gi"),
    setting("parent/childtemplate.resources.guaranteed.memory", "8Gi"),
    setting("parent/childtemplate.userlimits.minimumuserlimitpercent", "25").context(TEMPLATE),
    setting("parent/childtemplate.applicationlimits.maximumapplications", "5"),
    setting("parent/childtemplate.capacity.value", "30").context(TEMPLATE_PART),
];

/// Keys that are no settings where they are: a plan names the queue or the partition, a description decides nothing, and
/// a default for all queues counts at the partition alone.
const NAMES: &[&str] = &[
    "partition/name",
    "partition/queues",
    "leaf/name",
    "leaf/queues",
    "partition/limits[].limit",
    "leaf/applicationlimits.globalqueuemaxapplication",
];

/// A mapping of the file that is being written.
#[derive(Default)]
struct Map(BTreeMap<String, Entry>);

enum Entry {
    Map(Map),
    Text(String),
}

impl Map {
    /// Write a value; properties have keys with dots.
    fn set(&mut self, path: &str, value: &str) {
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) if first != "properties" => (first, Some(rest)),
            Some((first, rest)) => {
                return self
                    .0
                    .entry(first.into())
                    .or_insert_with(|| Entry::Map(Self::default()))
                    .map()
                    .put(rest, value);
            }
            None => (path, None),
        };
        match rest {
            Some(rest) => {
                self.0
                    .entry(first.into())
                    .or_insert_with(|| Entry::Map(Self::default()))
                    .map()
                    .set(rest, value);
            }
            // A mapping of the context is one that more may be written into.
            None if value.starts_with('{') => {
                let inner = value.trim_matches(|one| one == '{' || one == '}');
                let map =
                    self.0.entry(first.into()).or_insert_with(|| Entry::Map(Self::default())).map();
                for (key, value) in inner.split(", ").filter_map(|pair| pair.split_once(": ")) {
                    map.put(key, value);
                }
            }
            None => self.put(first, value),
        }
    }

    fn put(&mut self, key: &str, value: &str) {
        self.0.insert(key.into(), Entry::Text(value.into()));
    }

    fn text(&self) -> String {
        let entry = |(key, entry): (&String, &Entry)| match entry {
            Entry::Map(map) => format!("{key}: {}", map.text()),
            Entry::Text(text) => format!("{key}: {text}"),
        };
        format!("{{{}}}", self.0.iter().map(entry).collect::<Vec<_>>().join(", "))
    }
}

impl Entry {
    fn map(&mut self) -> &mut Map {
        match self {
            Self::Map(map) => map,
            Self::Text(text) => panic!("{text} is no mapping"),
        }
    }
}

/// A file with a leaf and a parent, and what is written at them, at the root and at the partition.
fn file<'all>(written: impl IntoIterator<Item = (&'all str, &'all str)>) -> String {
    let [mut partition, mut root, mut leaf, mut parent] = [const { Map(BTreeMap::new()) }; 4];
    partition.put("name", "default");
    leaf.put("name", "leaf");
    parent.put("name", "parent");
    parent.put("parent", "true");
    let mut others: BTreeMap<&str, Map> = BTreeMap::new();
    let mut more = String::new();
    for (path, value) in written {
        match path.split_once('/').unwrap() {
            ("partition", "queues") => more = format!(", {}", value.trim_matches(['[', ']'])),
            ("partition", path) => partition.set(path, value),
            ("root", path) => root.set(path, value),
            ("leaf", path) => leaf.set(path, value),
            ("parent", "") => parent.0.clear(),
            ("parent", path) => parent.set(path, value),
            (queue, path) => {
                let map = others.entry(queue).or_default();
                map.put("name", queue);
                map.set(path, value);
            }
        }
    }
    let queues = [leaf, parent].into_iter().chain(others.into_values());
    let queues = queues.filter(|queue| !queue.0.is_empty());
    let queues: Vec<String> = queues.map(|queue| queue.text()).collect();
    let mut queues = format!("[{}{more}]", queues.join(", "));
    if !root.0.is_empty() {
        root.put("name", "root");
        root.put("queues", &queues);
        queues = format!("[{}]", root.text());
    }
    partition.put("queues", &queues);
    format!("partitions: [{}]\n", partition.text())
}

fn configuration(text: &str) -> Configuration {
    read(text).unwrap_or_else(|faults| panic!("{text}\n{faults}")).configuration
}

fn in_force(text: &str) -> Books {
    let mut books = Books::default();
    let command = Command::Configure(Box::new(configuration(text)));
    for event in decide(&books, Timestamp::default(), &command).unwrap() {
        books.apply(Timestamp::default(), &event);
    }
    books
}

/// What a plan shows: queue or nothing, key, and both values.
type Shown = (String, String, String, String);

/// What a plan shows of two files.
fn shown(before: &str, after: &str) -> Vec<Shown> {
    shown_on(&in_force(before), after)
}

fn shown_on(before: &Books, after: &str) -> Vec<Shown> {
    let found = plan(before, Timestamp::default(), &configuration(after), Reach::default());
    let found = found.unwrap_or_else(|refused| panic!("{after}\n{refused}"));
    let differences = found.differences.into_iter().map(|one| {
        let text = |value: Option<headroom_core::plan::Value>| {
            value.map_or_else(|| "-".to_owned(), |value| value.to_string())
        };
        let queue = one.queue.map(|queue| queue.to_string()).unwrap_or_default();
        (queue, one.key.to_string(), text(one.before), text(one.after))
    });
    differences.collect()
}

#[test]
fn each_setting_is_shown_by_the_keys_and_the_value_that_the_file_has() {
    for one in SETTINGS {
        let (place, path) = one.path.split_once('/').unwrap();
        let queue = match place {
            "leaf" => "root.leaf",
            "parent" => "root.parent",
            _ if path.starts_with("limits") || path.starts_with("userlimits") => "root",
            _ if path.starts_with("applicationlimits") => "root",
            _ => "",
        };
        let (key, value) = one.shown.unwrap_or((path, one.value));
        let base = file(one.context.iter().copied());
        let changed = file(one.context.iter().copied().chain([(one.path, one.value)]));
        let found = shown(&base, &changed);
        let of_key: Vec<_> = found.iter().filter(|(_, found, ..)| found == key).collect();
        let [(of, _, _, after)] = &of_key[..] else {
            panic!("{} is not shown once as {key}: {found:?}", one.path);
        };
        assert_eq!((&**of, &**after), (queue, value), "{}", one.path);
        // On the way back it is what was there, or nothing.
        let back = shown(&changed, &base);
        assert!(
            back.iter().any(|(_, found, before, _)| found == key && before == value),
            "{back:?}"
        );
    }
}

/// Where and what a user writes who writes what a plan shows.
fn as_written((queue, key, _, after): &Shown) -> (String, String) {
    let place = match &**queue {
        "" => "partition",
        "root" => "root",
        queue => queue.strip_prefix("root.").unwrap(),
    };
    // An entry of a list has its position or its name in the key. No setting here has two entries.
    if let Some(position) = key.strip_prefix("placementrules.") {
        assert_eq!(position, "1", "{key}");
        return (format!("{place}/placementrules"), format!("[{after}]"));
    }
    if let Some(limit) = key.strip_prefix("limits[") {
        let (who, rest) = limit.split_once("].").unwrap_or_else(|| panic!("{key} has no end"));
        let (kind, name) = who.split_once(": ").unwrap_or_else(|| panic!("{key} is for nobody"));
        let mut map = Map::default();
        map.put(kind, &format!("[{name}]"));
        map.set(rest, after);
        return (format!("{place}/limits"), format!("[{}]", map.text()));
    }
    // Inside a line, YAML takes these for something else.
    let is_text = !after.starts_with(['[', '{']) && after.contains([',', '*']);
    let value = if is_text { format!("'{after}'") } else { after.clone() };
    (format!("{place}/{key}"), value)
}

/// A file of a context, and of what a plan shows.
fn rewritten(context: &[(&str, &str)], shown: &[Shown]) -> String {
    // What is absent is not written.
    let present = shown.iter().filter(|(.., after)| after != "-");
    let more: Vec<(String, String)> = present.map(as_written).collect();
    let more = more.iter().map(|(path, value)| (&**path, &**value));
    file(context.iter().copied().chain(more))
}

#[test]
fn the_file_accepts_each_key_that_a_plan_shows() {
    for one in SETTINGS {
        let base = file(one.context.iter().copied());
        let changed = file(one.context.iter().copied().chain([(one.path, one.value)]));
        // What differs, and everything that is in force.
        let differences = shown(&base, &changed);
        let everything = shown_on(&Books::default(), &changed);
        assert!(!differences.is_empty() && everything.len() > differences.len(), "{}", one.path);
        let alone: Vec<_> = one.context.iter().copied().filter(|each| *each == ALONE).collect();
        for (context, shown_keys) in [(one.context, &differences), (&alone[..], &everything)] {
            let written = rewritten(context, shown_keys);
            // A key that does not exist refuses the file.
            let mut others = shown(&changed, &written);
            // It counts at the root alone, so that a leaf that says the same is not shown.
            others.retain(|(_, key, ..)| key != "nodelabels.exclusive");
            assert_eq!(others, [], "{}: {changed}\n{written}", one.path);
        }
    }
}

/// Mappings of the file, and what is written so that one has a key that nobody knows.
const MAPPINGS: &[(&str, &str, &str)] = &[
    ("partition", "partition/zzzzzzzz", "1"),
    ("partition/preemption", "partition/preemption.zzzzzzzz", "1"),
    ("partition/nodesortpolicy", "partition/nodesortpolicy.zzzzzzzz", "1"),
    ("partition/usergroupresolver", "partition/usergroupresolver.zzzzzzzz", "1"),
    ("partition/tenants", "partition/tenants.zzzzzzzz", "1"),
    ("partition/tenants.audit", "partition/tenants.audit.zzzzzzzz", "1"),
    ("partition/tenants.defaults", "partition/tenants.defaults.zzzzzzzz", "1"),
    ("partition/tenants.defaults.onlower", "partition/tenants.defaults.onlower.zzzzzzzz", "1"),
    ("partition/tenants.defaults.waiting", "partition/tenants.defaults.waiting.zzzzzzzz", "1"),
    ("partition/placementrules[]", "partition/placementrules", "[{zzzzzzzz: 1}]"),
    (
        "partition/placementrules[].filter",
        "partition/placementrules",
        "[{name: user, filter: {zzzzzzzz: 1}}]",
    ),
    ("partition/limits[]", "partition/limits", "[{zzzzzzzz: 1}]"),
    ("leaf", "leaf/zzzzzzzz", "1"),
    ("leaf/resources", "leaf/resources.zzzzzzzz", "1"),
    ("leaf/preemption", "leaf/preemption.zzzzzzzz", "1"),
    ("leaf/capacity", "leaf/capacity.zzzzzzzz", "1"),
    ("leaf/nodelabels", "leaf/nodelabels.zzzzzzzz", "1"),
    ("leaf/nodelabels.gpu", "leaf/nodelabels.gpu.zzzzzzzz", "1"),
    ("leaf/userlimits", "leaf/userlimits.zzzzzzzz", "1"),
    ("leaf/applicationlimits", "leaf/applicationlimits.zzzzzzzz", "1"),
    ("parent/childtemplate", "parent/childtemplate.zzzzzzzz", "1"),
];

/// The keys of a mapping, as the file's own reader names them.
fn keys(path: &str, value: &str) -> Vec<String> {
    let review = review(&file([(path, value)]));
    let named = |help: &str| Some(help.strip_prefix("use one of these keys: ")?.to_owned());
    let help = review.diagnostics.iter().find_map(|one| one.help.as_deref().and_then(named));
    let help = help.unwrap_or_else(|| panic!("{path}: {}", review.diagnostics));
    help.split(", ").map(str::to_owned).collect()
}

#[test]
fn no_key_of_the_file_is_left_out() {
    let mut written = BTreeSet::new();
    for one in SETTINGS {
        let (place, path) = one.path.split_once('/').unwrap();
        let parts: Vec<&str> = path.split('.').collect();
        for length in 1..=parts.len() {
            // Those of a leaf are those of a queue.
            written.insert(format!("{place}/{}", parts[..length].join(".")));
            if place == "parent" {
                written.insert(format!("leaf/{}", parts[..length].join(".")));
            }
        }
        let words = one.value.split(['{', ',', ' ']).filter_map(|word| word.strip_suffix(':'));
        written.extend(words.map(|word| format!("{}[].{word}", one.path)));
        let of_filter = one.value.split_once("filter: {").map(|(_, rest)| rest);
        let words = of_filter.into_iter().flat_map(|rest| rest.split([',', ' ', '{']));
        let words = words.filter_map(|word| word.strip_suffix(':'));
        written.extend(words.map(|word| format!("{}[].filter.{word}", one.path)));
        if one.path == "leaf/limits" {
            let words = one.value.split(['{', ',', ' ']).filter_map(|word| word.strip_suffix(':'));
            written.extend(words.map(|word| format!("partition/limits[].{word}")));
        }
    }
    let mut count = 0;
    for (mapping, path, value) in MAPPINGS {
        for key in keys(path, value) {
            // In words of the interface; the file's own are lower case.
            if key.chars().any(char::is_uppercase) {
                continue;
            }
            let separator = if mapping.contains('/') { "." } else { "/" };
            let whole = format!("{mapping}{separator}{key}");
            count += 1;
            assert!(
                written.contains(&whole) || NAMES.contains(&&*whole),
                "{whole} is a key of the file, and nothing shows how a plan shows it"
            );
        }
    }
    assert!(count > 80, "{count} keys");
}

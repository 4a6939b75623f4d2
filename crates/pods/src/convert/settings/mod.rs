//! Settings from the config maps: merged, parsed, and reloaded.

mod merge;
pub mod table;

use std::fmt;

pub use merge::{CorruptEntry, Entries, entries, merge};

use crate::object::Text;

use super::application::ApplicationRules;
use super::gang::PlaceholderSettings;
use super::identity::GeneratedIds;
use super::text::{parse_bool, parse_duration, parse_integer, parse_log_level};
use table::{Reader, Reload, SETTINGS, Setting, ValueKind};

/// Config map with the settings of the chart.
pub const DEFAULTS_MAP: &str = "yunikorn-defaults";
/// Config map with the settings of the user, which win.
pub const CONFIGS_MAP: &str = "yunikorn-configs";

/// Suffix of queue files. Entries with it are no settings.
const QUEUE_FILE_SUFFIX: &str = ".yaml";

/// Typed settings of the scheduler. Durations are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Name of the cluster.
    pub cluster: Text,
    /// Name of the queue file without suffix.
    pub policy_group: Text,
    /// Interval at which waiting applications are checked.
    pub interval: i64,
    /// Time within which the volumes of a pod must be bound, in nanoseconds.
    pub volume_timeout: i64,
    /// Capacity of the internal message queue.
    pub event_capacity: i64,
    /// Time within which an internal message must be delivered.
    pub dispatch_timeout: i64,
    /// Whether task groups are ignored.
    pub disable_gangs: bool,
    /// Whether changes take effect without a restart.
    pub hot_refresh: bool,
    /// Settings of placeholder pods.
    pub placeholders: PlaceholderSettings,
    /// Whether tolerations can compare numbers with `Gt` and `Lt`.
    pub compares_taints: bool,
    /// Node label with the instance type.
    pub instance_type_label: Text,
    /// Writes to the API server per second.
    pub qps: i64,
    /// Writes to the API server at once.
    pub burst: i64,
    /// How missing application IDs are generated.
    pub generated_ids: GeneratedIds,
}

impl Settings {
    /// Returns how applications are built from pods.
    pub fn application_rules(&self) -> ApplicationRules {
        ApplicationRules { generated_ids: self.generated_ids, gangs: !self.disable_gangs }
    }
}

/// A value that is unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFault {
    /// The setting.
    pub setting: Setting,
    /// Its value.
    pub value: Text,
}

impl fmt::Display for SettingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = match self.setting.kind {
            ValueKind::Text => "a text",
            ValueKind::Duration => "a duration such as 1h30m",
            ValueKind::Integer => "an integer",
            ValueKind::Bool => "true or false",
            ValueKind::Level => "a log level",
            ValueKind::Patterns => "regular expressions, separated by commas",
        };
        write!(f, "{} is {:?}. Write {expected}.", self.setting.key, self.value)
    }
}

/// Values of settings in the merged entries.
#[derive(Clone, Copy)]
struct Values<'a>(&'a Entries);

impl Values<'_> {
    fn text(self, setting: Setting) -> Text {
        self.0.get(setting.key).cloned().unwrap_or_else(|| setting.default.into())
    }

    fn read<T>(self, setting: Setting, parse: fn(&str) -> Option<T>) -> Result<T, SettingFault> {
        let value = self.text(setting);
        parse(&value).ok_or(SettingFault { setting, value })
    }
}

/// Reads the settings of the scheduler from the merged entries. Absent keys have their defaults.
///
/// # Errors
///
/// Returns the first unreadable value, which refuses the whole update.
pub fn parse(entries: &Entries) -> Result<Settings, SettingFault> {
    let values = Values(entries);
    let alias = table::INSTANCE_TYPE_LABEL_ALIAS;
    let label = if entries.contains_key(alias.key) { alias } else { table::INSTANCE_TYPE_LABEL };
    let generated_ids = if values.read(table::UNIQUE_IDS, parse_bool)? {
        GeneratedIds::PerPod
    } else {
        GeneratedIds::PerNamespace
    };
    Ok(Settings {
        cluster: values.text(table::CLUSTER),
        policy_group: values.text(table::POLICY_GROUP),
        interval: values.read(table::INTERVAL, parse_duration)?,
        volume_timeout: values.read(table::VOLUME_TIMEOUT, parse_duration)?,
        event_capacity: values.read(table::EVENT_CAPACITY, parse_integer)?,
        dispatch_timeout: values.read(table::DISPATCH_TIMEOUT, parse_duration)?,
        disable_gangs: values.read(table::DISABLE_GANGS, parse_bool)?,
        hot_refresh: values.read(table::HOT_REFRESH, parse_bool)?,
        placeholders: PlaceholderSettings {
            image: values.text(table::PLACEHOLDER_IMAGE),
            run_as_user: values.read(table::PLACEHOLDER_USER, parse_integer)?,
            run_as_group: values.read(table::PLACEHOLDER_GROUP, parse_integer)?,
            fs_group: values.read(table::PLACEHOLDER_FS_GROUP, parse_integer)?,
        },
        compares_taints: values.read(table::COMPARES_TAINTS, parse_bool)?,
        instance_type_label: values.text(label),
        qps: values.read(table::QPS, parse_integer)?,
        burst: values.read(table::BURST, parse_integer)?,
        generated_ids,
    })
}

impl Default for Settings {
    fn default() -> Self {
        parse(&Entries::new()).expect("the defaults in the table are readable")
    }
}

/// Returns the queue file in the merged entries. Nothing means that the core uses its default.
pub fn queue_file<'a>(entries: &'a Entries, policy_group: &str) -> Option<&'a Text> {
    let key = format!("{policy_group}{QUEUE_FILE_SUFFIX}");
    entries.get(key.as_str()).filter(|text| !text.is_empty())
}

/// Returns the entries for the core without the queue files.
pub fn extra_entries(entries: &Entries) -> Entries {
    let extra = entries.iter().filter(|(key, _)| !key.ends_with(QUEUE_FILE_SUFFIX));
    extra.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns the entries whose value is no log level, though their key is that of one.
pub fn unreadable_levels(entries: &Entries) -> impl Iterator<Item = (&Text, &Text)> {
    entries.iter().filter(|(key, text)| is_level_key(key) && parse_log_level(text).is_none())
}

/// Returns whether a key is that of a log level: `log.level`, or `log.SUBSYSTEM.level`.
pub fn is_level_key(key: &str) -> bool {
    let is_subsystem = |rest: &str| rest.strip_suffix(".level").is_some();
    key == table::LOG_LEVEL.key || key.strip_prefix("log.").is_some_and(is_subsystem)
}

/// Settings after a change of the config maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Settings that are in effect.
    pub settings: Settings,
    /// Keys whose change takes effect after a restart.
    pub ignored: Vec<&'static str>,
}

/// Applies new entries to the settings that are in effect.
///
/// Of the typed settings, only the hot refresh changes without a restart. Once it is off, it stays off.
///
/// # Errors
///
/// Returns the first unreadable value. The settings stay as they are.
pub fn reload(current: &Settings, old: &Entries, new: &Entries) -> Result<Reloaded, SettingFault> {
    let read = parse(new)?;
    let hot_refresh = current.hot_refresh && read.hot_refresh;
    let value = |entries: &Entries, setting: &Setting| Values(entries).text(*setting);
    let changed = |setting: &&Setting| {
        setting.reader == Reader::Scheduler
            && setting.reload == Reload::Restart
            && value(old, setting) != value(new, setting)
    };
    let ignored = SETTINGS.iter().filter(changed).map(|setting| setting.key).collect();
    Ok(Reloaded { settings: Settings { hot_refresh, ..current.clone() }, ignored })
}

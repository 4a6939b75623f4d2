//! The configuration in effect, and changes of the config maps.

use crate::convert::event::{EventKind, EventObject};
use crate::convert::settings::{
    CONFIGS_MAP, CorruptEntry, DEFAULTS_MAP, Entries, SettingFault, Settings, entries,
    extra_entries, merge, parse, queue_file, reload, unreadable_levels,
};
use crate::object::{ConfigMap, Text};

use super::Shim;
use super::message::{CoreMessage, SettingsMap};

/// Number of characters of a value that an event shows.
const SHOWN: usize = 60;

/// Entries of both config maps, and the settings in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    defaults: Entries,
    configs: Entries,
    settings: Settings,
}

impl Configuration {
    /// Reads both config maps at the start. Returns the unreadable entries too, which are absent.
    ///
    /// # Errors
    ///
    /// Returns the first unreadable value.
    pub fn load(
        defaults: Option<&ConfigMap>,
        configs: Option<&ConfigMap>,
    ) -> Result<(Self, Vec<CorruptEntry>), SettingFault> {
        let read = |map: Option<&ConfigMap>| {
            map.map_or_else(Default::default, |map| entries(map, &Entries::new()))
        };
        let ((defaults, mut corrupt), (configs, more)) = (read(defaults), read(configs));
        corrupt.extend(more);
        let settings = parse(&merge(&defaults, &configs))?;
        Ok((Self { defaults, configs, settings }, corrupt))
    }

    /// Returns the settings in effect.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the entries of both config maps.
    pub fn entries(&self) -> Entries {
        merge(&self.defaults, &self.configs)
    }

    /// Returns the queue file, or nothing for the default of the core.
    pub fn queue_file(&self) -> Option<Text> {
        queue_file(&self.entries(), &self.settings.policy_group).cloned()
    }

    /// Returns the entries for the core without the queue files.
    pub fn extra(&self) -> Entries {
        extra_entries(&self.entries())
    }
}

impl Shim {
    pub(super) fn config_map(&mut self, which: SettingsMap, map: Option<&ConfigMap>) {
        let (last, name) = match which {
            SettingsMap::Defaults => (&self.configuration.defaults, DEFAULTS_MAP),
            SettingsMap::Configs => (&self.configuration.configs, CONFIGS_MAP),
        };
        let (read, corrupt) = map.map_or_else(Default::default, |map| entries(map, last));
        for CorruptEntry { key, error } in corrupt {
            let note = format!("entry {key} is unreadable, the last readable value stays: {error}");
            let about = EventObject::ConfigMap { name: name.into() };
            self.event(about, EventKind::ConfigurationIgnored, note);
        }
        let last = match which {
            SettingsMap::Defaults => &self.configuration.defaults,
            SettingsMap::Configs => &self.configuration.configs,
        };
        if let Some(note) = note_of_levels(&read, last) {
            let about = EventObject::ConfigMap { name: name.into() };
            self.event(about, EventKind::ConfigurationIgnored, note);
        }
        let mut next = self.configuration.clone();
        match which {
            SettingsMap::Defaults => next.defaults = read,
            SettingsMap::Configs => next.configs = read,
        }
        self.apply_configuration(next);
    }

    /// Reports that a change has no effect, in the log and at the config map that people change.
    pub(super) fn configuration_refused(&mut self, reason: &str) {
        let note = format!("the change is refused, and the former configuration stays: {reason}");
        let about = EventObject::ConfigMap { name: CONFIGS_MAP.into() };
        self.event(about, EventKind::ConfigurationRefused, note.clone());
        self.log(note);
    }

    fn apply_configuration(&mut self, mut next: Configuration) {
        let current = &self.configuration;
        let (old, new) = (current.entries(), next.entries());
        if old == new {
            self.configuration = next;
            return;
        }
        if !current.settings.hot_refresh {
            return self.log("the change of the configuration takes effect after a restart".into());
        }
        match reload(&current.settings, &old, &new) {
            Err(fault) => self.configuration_refused(&fault.to_string()),
            Ok(reloaded) => {
                next.settings = reloaded.settings;
                self.configuration = next;
                for key in reloaded.ignored {
                    self.log(format!("the change of {key} takes effect after a restart"));
                }
                let message = CoreMessage::Configuration {
                    queue_file: self.configuration.queue_file(),
                    extra: self.configuration.extra(),
                };
                self.tell(message);
            }
        }
    }
}

/// Returns what is to say about new entries that should be log levels, but are none.
fn note_of_levels(entries: &Entries, last: &Entries) -> Option<String> {
    let is_new = |(key, value): &(&Text, &Text)| last.get(*key) != Some(value);
    let mut unreadable = unreadable_levels(entries).filter(is_new);
    let (key, value) = unreadable.next()?;
    let start: String = value.chars().take(SHOWN).collect();
    let more = match unreadable.count() {
        0 => String::new(),
        count => format!(". {count} other entries have no log level either"),
    };
    Some(format!("{key} is {start:?}, which is no log level, and has no effect{more}"))
}

//! One sample of every command and every event, with something in every field.

mod command;
mod event;
mod parts;

use std::sync::Arc;

use headroom_core::{Command, Event, Timestamp};
use headroom_journal::{Origin, Record};

/// Each variant once: `command-tick`, `event-placed`, … with a record that holds it.
pub(crate) fn samples() -> Vec<(String, Record)> {
    let commands = command::samples()
        .into_iter()
        .map(|(name, command)| (format!("command-{name}"), record(Some(command), Vec::new())));
    let events = event::samples()
        .into_iter()
        .map(|(name, event)| (format!("event-{name}"), record(None, vec![event])));
    commands.chain(events).collect()
}

/// The names that files must have.
pub(crate) fn names() -> Vec<String> {
    let commands = command::NAMES.iter().map(|name| format!("command-{name}"));
    commands.chain(event::NAMES.iter().map(|name| format!("event-{name}"))).collect()
}

fn record(command: Option<Command>, events: Vec<Event>) -> Record {
    let origin = command.as_ref().map(|_| Origin {
        identity: "CN=ann".into(),
        command_id: "7f3e".into(),
        request_id: "req-1".into(),
        any_version: false,
    });
    Record {
        sequence: 300,
        time: Timestamp::from_millis(1_700_000_000_123),
        origin: origin.map(Arc::new),
        command,
        events,
    }
}

/// The name of each variant, so that a new one must get a sample.
macro_rules! named {
    ($type:ident { $($variant:ident $name:literal)* }) => {
        pub(crate) const NAMES: &[&str] = &[$($name),*];

        fn name_of(value: &$type) -> &'static str {
            match value {
                $($type::$variant { .. } => $name),*
            }
        }
    };
}

use named;

//! The flags of `headroom serve`, created from the table of configuration keys.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use headroom_config::process::{KEYS, Key, Kind};

/// The values that flags set, by key.
#[derive(Debug)]
pub(super) struct KeyFlags {
    pub(super) given: Vec<(&'static str, String)>,
}

impl FromArgMatches for KeyFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = KEYS.iter().filter_map(|key| {
            let values: Vec<&String> = matches.get_many(key.name)?.collect();
            // Every source separates the items of a list with commas.
            let values: Vec<&str> = values.into_iter().map(String::as_str).collect();
            Some((key.name, values.join(",")))
        });
        Ok(Self { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KeyFlags {
    fn augment_args(command: Command) -> Command {
        KEYS.iter().fold(command, |command, key| command.arg(flag(key)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(key: &'static Key) -> Arg {
    let default = key.default.map(|default| format!(" [default: {default}]"));
    let help = format!("{}{}", key.meaning, default.unwrap_or_default());
    let flag = Arg::new(key.name).long(key.flag()).help(help).value_name(key.kind.value_name());
    match key.kind {
        Kind::Addresses | Kind::Names | Kind::Roles => flag.action(ArgAction::Append),
        Kind::Switch => flag.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => flag.action(ArgAction::Set),
    }
}

//! `headroom config`: the keys of the queue file.

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use headroom_config::schema::{self, KeyLine};

use crate::output;
use crate::remote::{Format, Listing};

const EXAMPLE: &str = "\
Example:
  headroom config keys
  headroom config keys capacity
  headroom config keys tenants.defaults -o json";

/// Show the keys of the queue file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List keys with their values, defaults, and meanings
    Keys(Keys),
}

/// List keys of the queue file with their values, defaults, and meanings.
///
/// `[]` marks a list. Queues nest: `queues` of a queue has the same keys.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
struct Keys {
    /// List only keys with this key, or these keys with dots between them, in their path
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
}

impl Config {
    /// Prints the list.
    ///
    /// # Errors
    /// When no key has the path, or standard output cannot be written.
    pub(crate) fn run(&self) -> Result<()> {
        match &self.action {
            Action::Keys(keys) => output::print(&listing(keys)?.render(keys.output)?),
        }
    }
}

fn listing(keys: &Keys) -> Result<Listing> {
    let path = keys.path.as_deref();
    let lines = schema::keys(path).map_err(|nearest| {
        let path = path.unwrap_or_default();
        let hint = match nearest {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "List all keys with `headroom config keys`.".to_owned(),
        };
        anyhow!("the queue file has no key `{path}`. {hint}")
    })?;
    let mut listing = Listing::new(&["KEY", "VALUES", "DEFAULT", "MEANING"], &lines)?;
    for KeyLine { key, values, default, meaning } in lines {
        listing.row([key, values, default, meaning]);
    }
    Ok(listing)
}

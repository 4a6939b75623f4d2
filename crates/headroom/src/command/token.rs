//! `headroom token`: tokens for callers of a server.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use headroom_api::headroomv1::Role;
use headroom_config::process::ROLES;
use headroom_server::auth::{Secret, TokenEntry, TokenFile, name_of, role_named};
use jiff::{SignedDuration, Timestamp};

use crate::output;

const EXAMPLE: &str = "\
Example:
  headroom token create ci --role submitter --user ci
  headroom serve --auth-tokens headroom-tokens
  curl -H \"Authorization: Bearer headroom_…\" http://127.0.0.1:9080/ws/v1/partitions";

/// Make, list and revoke tokens; a running server takes changes within a second.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Token {
    #[command(subcommand)]
    deed: Deed,
    /// File of their hashes, as `auth.tokens` of the server names it
    #[arg(long, global = true, value_name = "FILE", default_value = "headroom-tokens")]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Make one, and print it; it is nowhere kept, only its hash is
    Create(Create),
    /// Print those that there are, without the tokens themselves
    #[command(after_help = "Example: headroom token list --file tokens")]
    List,
    /// Make one worthless
    #[command(after_help = "Example: headroom token revoke ci")]
    Revoke {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom token create ci --role submitter --user ci --days 90")]
struct Create {
    /// What to call it, for the audit and to revoke it
    name: String,
    /// What its holder may do; may be given more than once
    #[arg(long = "role", required = true, value_name = "ROLE", value_parser = ROLES)]
    roles: Vec<String>,
    /// Its holder's user name, as access lists and limits know it
    #[arg(long, default_value = "")]
    user: String,
    /// A group of that user; may be given more than once
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// After how many days it is worth nothing; never if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
}

/// How long a name may be, in bytes.
const NAME_BYTES_MAX: usize = 64;

impl Token {
    /// Do it.
    pub(crate) fn run(self) -> Result<()> {
        let file = &self.file;
        match self.deed {
            Deed::Create(create) => {
                let secret = Secret::random()?;
                let entry = create.entry(&secret)?;
                TokenFile::update(file, |tokens| tokens.add(entry))?;
                output::tell("keep it well: it is shown this once");
                output::print(&format!("{}\n", secret.reveal()))
            }
            Deed::List => output::print(&table(TokenFile::read(file)?.entries())),
            Deed::Revoke { name } => {
                TokenFile::update(file, |tokens| tokens.remove(&name))?;
                output::tell(&format!("the token {name} is worth nothing any more"));
                Ok(())
            }
        }
    }
}

impl Create {
    fn entry(self, secret: &Secret) -> Result<TokenEntry> {
        let Self { name, roles, user, groups, days } = self;
        let is_legal = |one: char| one.is_ascii_alphanumeric() || "-_.@".contains(one);
        ensure!(
            (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_legal),
            "{name:?} is no name of a token: it has 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_`, `.` and `@`"
        );
        let created = Timestamp::now();
        let life = days.map(|days| SignedDuration::from_hours(i64::from(days) * 24));
        let roles: Vec<Role> = roles.iter().filter_map(|role| role_named(role)).collect();
        let expires = life.map(|life| created.checked_add(life)).transpose()?;
        Ok(TokenEntry { name, sha256: secret.sha256(), user, groups, roles, created, expires })
    }
}

fn table(entries: &[TokenEntry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NAME", "ROLES", "USER", "GROUPS", "CREATED", "EXPIRES"]);
    for entry in entries {
        let roles: Vec<_> = entry.roles.iter().map(|role| name_of(*role)).collect();
        let expires = entry.expires.map_or_else(|| "never".to_owned(), day);
        table.add_row([
            entry.name.clone(),
            roles.join(", "),
            entry.user.clone(),
            entry.groups.join(", "),
            day(entry.created),
            expires,
        ]);
    }
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{table}");
    text
}

/// To the second: nobody needs more.
fn day(time: Timestamp) -> String {
    let text = time.to_string();
    text.split('.')
        .next()
        .map_or_else(String::new, |text| format!("{}Z", text.trim_end_matches('Z')))
}

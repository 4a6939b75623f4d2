//! `headroom token`: tokens that authenticate callers of a server.

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

/// Create, list, and revoke tokens. A running server applies changes within one second.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Token {
    #[command(subcommand)]
    deed: TokenCommand,
    /// File with the hashes of the tokens, as in `auth.tokens` of the server
    #[arg(long, global = true, value_name = "FILE", default_value = "headroom-tokens")]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token, and print it. Only its hash is stored
    Create(Create),
    /// List the tokens without their secrets
    #[command(after_help = "Example: headroom token list --file tokens")]
    List,
    /// Revoke a token
    #[command(after_help = "Example: headroom token revoke ci")]
    Revoke {
        /// Name of the token
        name: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom token create ci --role submitter --user ci --days 90")]
struct Create {
    /// Name of the token, for the audit log and to revoke it
    name: String,
    /// Role of the caller. Can be given several times
    #[arg(long = "role", required = true, value_name = "ROLE", value_parser = ROLES)]
    roles: Vec<String>,
    /// User name of the caller, for access lists and limits
    #[arg(long, default_value = "")]
    user: String,
    /// Group of the user. Can be given several times
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// Days until the token expires. The default is never
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
}

/// Maximum length of a name, in bytes.
const NAME_BYTES_MAX: usize = 64;

impl Token {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        let file = &self.file;
        match self.deed {
            TokenCommand::Create(create) => {
                let secret = Secret::random()?;
                let entry = create.entry(&secret)?;
                TokenFile::update(file, |tokens| tokens.add(entry))?;
                output::tell("store the token safely, because it is shown only once");
                output::print(&format!("{}\n", secret.reveal()))
            }
            TokenCommand::List => output::print(&table(TokenFile::read(file)?.entries())),
            TokenCommand::Revoke { name } => {
                TokenFile::update(file, |tokens| tokens.remove(&name))?;
                output::tell(&format!("the token {name} is revoked"));
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
            "{name:?} is not a token name. Use 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_`, `.`, and `@`."
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

/// Returns a time without fractions of a second.
fn day(time: Timestamp) -> String {
    let text = time.to_string();
    text.split('.')
        .next()
        .map_or_else(String::new, |text| format!("{}Z", text.trim_end_matches('Z')))
}

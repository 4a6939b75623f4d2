//! Settings of the server process: `headroom.yaml`, environment variables, and flags.
//!
//! [`KEYS`] is the table of all settings. A flag overrides a variable, a variable overrides the file, and the file
//! overrides the default.
//!
//! ```
//! use headroom_config::process::{Process, Sources};
//!
//! let file = "limits: {requestBody: 1MiB}".to_owned();
//! let sources = Sources { file: Some(("headroom.yaml".into(), file)), ..Sources::default() };
//! let process = Process::read(sources)?;
//! assert_eq!(process.limits.request_body, 1 << 20);
//! assert_eq!(process.listen[0].to_string(), "127.0.0.1:9080");
//! # Ok::<(), headroom_config::process::ProcessError>(())
//! ```

mod key;
mod read;
mod source;
mod value;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use key::{KEYS, Key, Kind, table};
pub use value::{Level, Levels, ROLES, Roles, TenantsOf};

/// Settings of the server process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Addresses to listen on, at least one.
    pub listen: Vec<SocketAddr>,
    /// Whether to listen on non-loopback addresses without authentication.
    pub insecure: bool,
    /// Path of the queue file. `None` for the built-in file, or the last active file.
    pub queues: Option<PathBuf>,
    /// Settings of the journal.
    pub journal: Journal,
    /// TLS settings. `None` without encryption.
    pub tls: Option<Tls>,
    /// Settings of authentication.
    pub auth: Auth,
    /// Host names of this server in addition to those of the loopback interface, in lower case, without ports.
    pub hosts: Vec<String>,
    /// Whether pages of any site can read `/ws/v1`, even on an open server.
    pub cors_any: bool,
    /// Limits per client, and in total.
    pub limits: Limits,
    /// Settings of the log.
    pub log: Log,
    /// Settings of traces. `None` without traces.
    pub otlp: Option<Otlp>,
    /// Folder of a separate web UI.
    pub web_dir: Option<PathBuf>,
    /// `YuniKorn`'s settings of events.
    pub event: Event,
    /// Interval of health checks. Zero disables them.
    pub health_interval: Duration,
    /// Written values of `event` and `health`, by key.
    pub extra: BTreeMap<String, String>,
}

/// Settings of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Path of the folder.
    pub path: PathBuf,
    /// Number of records after which a snapshot is taken.
    pub snapshot_every: u64,
}

/// TLS settings. All files are PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificate chain of the server, its own certificate first.
    pub cert: PathBuf,
    /// Private key of that certificate.
    pub key: PathBuf,
    /// CA certificates for clients. `None` if clients present no certificate.
    pub client_ca: Option<PathBuf>,
}

/// Settings of authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// Path of the token file.
    pub tokens: Option<PathBuf>,
    /// Issuer of trusted tokens.
    pub oidc: Option<Oidc>,
    /// Rules for client certificates.
    pub certificates: Certificates,
    /// Tenants for which the tenant roles hold, by user and group, whatever the way of authentication.
    pub tenants: TenantsOf,
}

/// Rules for client certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// Whether the user is the first alternative name, instead of the common name.
    pub user_is_alternative_name: bool,
    /// Roles by user and organization.
    pub roles: Roles,
}

/// Issuer of trusted tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oidc {
    /// URL of the issuer.
    pub issuer: String,
    /// Audience that the tokens must have.
    pub audience: String,
    /// PEM file of CA certificates for the connection to the issuer, in addition to the CA certificates of the system.
    pub ca: Option<PathBuf>,
    /// Claim with the user name.
    pub user_claim: String,
    /// Claim with the groups.
    pub groups_claim: String,
    /// Claim with the roles.
    pub roles_claim: Option<String>,
    /// Roles by user and group.
    pub roles: Roles,
}

/// Limits per client, and in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest body, in bytes.
    pub request_body: usize,
    /// Longest duration of a request, except streams.
    pub request_time: Duration,
    /// Longest duration of the first headers of a connection, and of a TLS handshake.
    pub header_time: Duration,
    /// Longest time between two requests of a connection.
    pub idle_time: Duration,
    /// Largest size of the headers of a request, in bytes.
    pub header_size: usize,
    /// Maximum number of concurrent requests, except streams.
    pub requests: usize,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of connections from one address.
    pub connections_per_address: usize,
    /// Maximum number of commands that wait for the scheduler.
    pub commands: usize,
    /// Rate of requests of each tenant. `None` without a limit.
    pub tenants: Option<Rate>,
}

/// A limit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Number of requests, at least 1.
    pub count: u32,
    /// Time in which that number is allowed, on average.
    pub per: Duration,
    /// Maximum number of requests at once, at least 1.
    pub burst: u32,
}

/// Settings of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Log levels.
    pub levels: Levels,
    /// Format of the lines.
    pub format: LogFormat,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, and otherwise JSON.
    #[default]
    Auto,
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

/// Settings of traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Otlp {
    /// URL of a collector that accepts OTLP over gRPC.
    pub endpoint: String,
    /// Fraction of new traces that are recorded, from 0 to 1.
    pub sampling: f64,
}

/// `YuniKorn`'s settings of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whether events are stored and served.
    pub tracking_enabled: bool,
    /// Maximum number of events that wait for the RM.
    pub request_capacity: usize,
    /// Maximum number of stored events.
    pub ring_buffer_capacity: usize,
    /// Maximum number of concurrent streams.
    pub max_streams: usize,
    /// Maximum number of concurrent streams of one address.
    pub max_streams_per_host: usize,
    /// Maximum number of events in one answer.
    pub rest_response_size: usize,
}

impl Process {
    /// Returns whether callers must authenticate. Otherwise, every caller who reaches the server has the role `admin`.
    pub fn has_auth(&self) -> bool {
        let certificates = self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        certificates || self.auth.tokens.is_some() || self.auth.oidc.is_some()
    }
}

/// Sources of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Path and text of the file.
    pub file: Option<(PathBuf, String)>,
    /// Environment variables. Only variables of Headroom are used.
    pub environment: Vec<(String, String)>,
    /// Values of flags, by key.
    pub flags: Vec<(&'static str, String)>,
}

/// Reason why the server does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", faults.join("\n\n"))]
pub struct ProcessError {
    /// The faults: lines of the file with marks, or sentences.
    pub faults: Vec<String>,
}

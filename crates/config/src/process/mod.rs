//! Settings of the server process: `headroom.yaml`, the environment, flags.
//!
//! [`KEYS`] is the one table of what there is; a flag wins over a variable, a variable over the
//! file, and the file over the default.
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
    /// Where to listen; at least one address.
    pub listen: Vec<SocketAddr>,
    /// Whether to listen on non-loopback addresses without authentication.
    pub insecure: bool,
    /// The queue file; none for the built-in one, or the last that was in force.
    pub queues: Option<PathBuf>,
    /// Where the journal is stored.
    pub journal: Journal,
    /// How connections are encrypted, if they are.
    pub tls: Option<Tls>,
    /// How callers are known.
    pub auth: Auth,
    /// Names of this server besides those of the loopback, in lower case, without ports.
    pub hosts: Vec<String>,
    /// Whether pages of any site may read `/ws/v1`, even on an open server.
    pub cors_any: bool,
    /// What one client, and all together, may take.
    pub limits: Limits,
    /// What is logged, and how.
    pub log: Log,
    /// Where traces are sent; none: nothing is traced.
    pub otlp: Option<Otlp>,
    /// Folder of a built web UI.
    pub web_dir: Option<PathBuf>,
    /// `YuniKorn`'s settings of events.
    pub event: Event,
    /// How often health is checked; zero for not at all.
    pub health_interval: Duration,
    /// What was given of `event` and `health`, as it was written, by key.
    pub extra: BTreeMap<String, String>,
}

/// Where the journal is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Its folder.
    pub path: PathBuf,
    /// After how many records a snapshot is taken.
    pub snapshot_every: u64,
}

/// How connections are encrypted. All are PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificates of the server, its own first.
    pub cert: PathBuf,
    /// The key of that certificate.
    pub key: PathBuf,
    /// Who vouches for clients; none: they show no certificate.
    pub client_ca: Option<PathBuf>,
}

/// How callers are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// File of hashes of tokens.
    pub tokens: Option<PathBuf>,
    /// Who issues tokens that are trusted.
    pub oidc: Option<Oidc>,
    /// What client certificates say.
    pub certificates: Certificates,
    /// For which tenants roles of tenants hold, by user and group, however they authenticate.
    pub tenants: TenantsOf,
}

/// What client certificates say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// Whether the user is the first alternative name, in place of the common name.
    pub user_is_alternative_name: bool,
    /// Roles by user and organisation.
    pub roles: Roles,
}

/// Who issues tokens that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oidc {
    /// Its URL.
    pub issuer: String,
    /// For whom the tokens must be issued.
    pub audience: String,
    /// Who vouches for the issuer, besides those that the system trusts: a PEM file.
    pub ca: Option<PathBuf>,
    /// The claim that names the user.
    pub user_claim: String,
    /// The claim that lists the groups.
    pub groups_claim: String,
    /// The claim that lists roles.
    pub roles_claim: Option<String>,
    /// Roles by user and group.
    pub roles: Roles,
}

/// What one client, and all together, may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub request_body: usize,
    /// For a whole request, streams aside.
    pub request_time: Duration,
    /// For the head of a request, and for a TLS handshake.
    pub header_time: Duration,
    /// Bytes of the head of a request.
    pub header_size: usize,
    /// Requests that are answered at once, streams aside.
    pub requests: usize,
    /// Connections.
    pub connections: usize,
    /// Connections from one address.
    pub connections_per_address: usize,
    /// Commands that wait for the scheduler.
    pub commands: usize,
    /// Requests of each tenant; none: as many as come.
    pub tenants: Option<Rate>,
}

/// How much is taken over time, and at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many, from 1 on.
    pub count: u32,
    /// In so long, on average.
    pub per: Duration,
    /// So many at once, from 1 on.
    pub burst: u32,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// How much.
    pub levels: Levels,
    /// As what.
    pub format: LogFormat,
}

/// What lines of the log look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// As text on a terminal, else as JSON.
    #[default]
    Auto,
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Where traces are sent, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct Otlp {
    /// A collector that takes OTLP over gRPC: its URL.
    pub endpoint: String,
    /// Part of what begins here that is traced, from 0 to 1.
    pub sampling: f64,
}

/// `YuniKorn`'s settings of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whether events are stored and served.
    pub tracking_enabled: bool,
    /// Events that wait for the RM.
    pub request_capacity: usize,
    /// Maximum number of stored events.
    pub ring_buffer_capacity: usize,
    /// Streams at once.
    pub max_streams: usize,
    /// Streams of one address at once.
    pub max_streams_per_host: usize,
    /// Events in one answer.
    pub rest_response_size: usize,
}

impl Process {
    /// Whether callers have to say who they are; else the server trusts all that reach it.
    pub fn has_auth(&self) -> bool {
        let certificates = self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        certificates || self.auth.tokens.is_some() || self.auth.oidc.is_some()
    }
}

/// Where to read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The file, and what is written in it.
    pub file: Option<(PathBuf, String)>,
    /// Variables of the environment; others than ours do no harm.
    pub environment: Vec<(String, String)>,
    /// Values of flags, by the names of their keys.
    pub flags: Vec<(&'static str, String)>,
}

/// Why the server does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", faults.join("\n\n"))]
pub struct ProcessError {
    /// What is wrong: lines of the file as people read them, or sentences.
    pub faults: Vec<String>,
}

//! The table of all keys. The file, the environment, flags, `--help`, and the documentation page are based on this
//! table.

use std::fmt::Write as _;

/// A key of `headroom.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name in the file, such as `limits.requestBody`. In the file, a dot is a nested mapping, or a dot in the key.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// Default in the notation of the file. `None` if the key has no default.
    pub default: Option<&'static str>,
    /// Meaning in one or two sentences.
    pub meaning: &'static str,
}

/// Kind of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A path of a file or a folder.
    Path,
    /// `true` or `false`. A flag can omit the value.
    Switch,
    /// A whole number.
    Count,
    /// A number of bytes, such as `16MiB`.
    Size,
    /// A duration, such as `10s`, `1m30s`, or `500ms`.
    Time,
    /// A rate, such as `100/s`, `600/m`, or `1000/h`.
    Rate,
    /// A number from 0 to 1.
    Share,
    /// Addresses with ports: a list, or separated by commas.
    Addresses,
    /// Names: a list, or separated by commas.
    Names,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A level, and optionally levels of targets: `info,headroom_server::grpc=debug`.
    Levels,
    /// Roles or tenants by user and group: a mapping, or `group:ops=operator+viewer,user:ann=admin`.
    Roles,
}

impl Kind {
    /// Returns the placeholder of the value in `--help`.
    pub const fn value_name(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Path => "PATH",
            Self::Switch => "true|false",
            Self::Count => "NUMBER",
            Self::Size => "SIZE",
            Self::Time => "TIME",
            Self::Rate => "NUMBER/TIME",
            Self::Share => "SHARE",
            Self::Addresses => "ADDRESS:PORT,…",
            Self::Names => "NAME,…",
            Self::Word(_) => "WORD",
            Self::Levels => "LEVEL,PART=LEVEL,…",
            Self::Roles => "WHO=ROLE+ROLE,…",
        }
    }

    /// Returns whether several values are possible, separated by commas.
    pub(super) const fn is_list(self) -> bool {
        matches!(self, Self::Addresses | Self::Names | Self::Roles)
    }
}

impl Key {
    /// Returns the environment variable, such as `HEADROOM_LIMITS_REQUEST_BODY`.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.words('_').to_uppercase())
    }

    /// Returns the flag without its dashes, such as `limits-request-body`.
    pub fn flag(&self) -> String {
        self.words('-')
    }

    fn words(&self, between: char) -> String {
        let mut words = String::new();
        let mut after_capital = true;
        for one in self.name.chars() {
            // `clientCa` has two words, `RESTResponseSize` three.
            if one.is_uppercase() && !after_capital {
                words.push(between);
            }
            after_capital = one.is_uppercase() || one == '.';
            words.push(if one == '.' { between } else { one.to_ascii_lowercase() });
        }
        words
    }
}

/// Prefix of the environment variables of all keys.
pub(super) const VARIABLE_PREFIX: &str = "HEADROOM_";

const fn key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    meaning: &'static str,
) -> Key {
    Key { name, kind, default, meaning }
}

/// All keys.
pub const KEYS: &[Key] = &[
    key(
        "listen",
        Kind::Addresses,
        Some("127.0.0.1:9080"),
        "Addresses on which the server listens. REST, gRPC, and the status page share one port. \
         `:9080` means every address of the machine",
    ),
    key(
        "insecure",
        Kind::Switch,
        Some("false"),
        "Listen on non-loopback addresses without authentication",
    ),
    key(
        "queues",
        Kind::Path,
        None,
        "Queue file. The server applies changes immediately. If the file is invalid, the server \
         reports the errors and keeps the active file. None: the built-in file, or the last active \
         file",
    ),
    key("journal.path", Kind::Path, Some("headroom-data"), "Folder of the journal"),
    key(
        "journal.snapshotEvery",
        Kind::Count,
        Some("100000"),
        "Minimum number of records between snapshots. The records since a snapshot must also have \
         at least as many bytes as the snapshot",
    ),
    key(
        "tls.cert",
        Kind::Path,
        None,
        "PEM file with the certificate of the server, followed by its intermediate certificates",
    ),
    key("tls.key", Kind::Path, None, "PEM file with the private key of the server certificate"),
    key(
        "tls.clientCa",
        Kind::Path,
        None,
        "PEM file of CA certificates. If set, clients can authenticate with a certificate that one \
         of these CAs signed",
    ),
    key(
        "auth.tokens",
        Kind::Path,
        None,
        "File with the hashes of tokens, which `headroom token` writes",
    ),
    key(
        "auth.tenants",
        Kind::Roles,
        None,
        "Tenants for which `tenant-admin` and `tenant-viewer` apply, with all tenants below: \
         `user:NAME`, `group:NAME`, or `*` for all",
    ),
    key(
        "auth.certificates.user",
        Kind::Word(&["subject", "san"]),
        Some("subject"),
        "The part of a client certificate that names the user: the common name, or the first alternative name",
    ),
    key(
        "auth.certificates.roles",
        Kind::Roles,
        None,
        "Roles of callers with a client certificate: `user:NAME`, `group:ORGANISATION`, or `*` for \
         all",
    ),
    key(
        "auth.oidc.issuer",
        Kind::Text,
        None,
        "URL of the issuer whose tokens (JWT) the server accepts. The server reads the signing \
         keys from the OpenID configuration of the issuer",
    ),
    key("auth.oidc.audience", Kind::Text, None, "Required audience of these tokens"),
    key(
        "auth.oidc.ca",
        Kind::Path,
        None,
        "PEM file of CA certificates for the issuer, in addition to the CA certificates of the \
         system",
    ),
    key("auth.oidc.userClaim", Kind::Text, Some("sub"), "The claim that names the user"),
    key("auth.oidc.groupsClaim", Kind::Text, Some("groups"), "The claim that lists the groups"),
    key("auth.oidc.rolesClaim", Kind::Text, None, "The optional claim that lists roles by name"),
    key(
        "auth.oidc.roles",
        Kind::Roles,
        None,
        "Roles of callers with a token of the issuer: `user:NAME`, `group:NAME`, or `*` for all",
    ),
    key(
        "hosts",
        Kind::Names,
        None,
        "Host names of this server, in addition to the loopback names. On a server without \
         authentication, the header `Host` must be one of these names",
    ),
    key(
        "cors",
        Kind::Word(&["auto", "any"]),
        Some("auto"),
        "When web pages of other sites can read `/ws/v1`: `auto` means only if authentication is \
         configured, and `any` means always",
    ),
    key("limits.requestBody", Kind::Size, Some("16MiB"), "Maximum size of a request body"),
    key(
        "limits.requestTime",
        Kind::Time,
        Some("30s"),
        "Maximum time of a request. Streams are exempt",
    ),
    key(
        "limits.headerTime",
        Kind::Time,
        Some("10s"),
        "Maximum time to receive the first headers of a connection, and to complete a TLS handshake",
    ),
    key(
        "limits.idleTime",
        Kind::Time,
        Some("2m"),
        "Maximum time from the end of a request to the next complete headers of the connection",
    ),
    key("limits.headerSize", Kind::Size, Some("64KiB"), "Maximum size of the headers of a request"),
    key(
        "limits.requests",
        Kind::Count,
        Some("1024"),
        "Maximum number of concurrent requests. Streams are exempt",
    ),
    key(
        "limits.connections",
        Kind::Count,
        Some("20000"),
        "Maximum number of connections. The limit is lower if the system allows fewer open files",
    ),
    key(
        "limits.connectionsPerAddress",
        Kind::Count,
        Some("10240"),
        "Maximum number of connections from one address, such as a proxy",
    ),
    key(
        "limits.commands",
        Kind::Count,
        Some("8192"),
        "Maximum number of commands that wait for the scheduler",
    ),
    key(
        "limits.tenantRate",
        Kind::Rate,
        None,
        "Maximum average request rate of each tenant, such as `100/s`, `600/m` or `1000/h`. None: \
         no limit",
    ),
    key(
        "limits.tenantBurst",
        Kind::Count,
        None,
        "Maximum number of requests that a tenant can send at once. None: the number in \
         `limits.tenantRate`",
    ),
    key(
        "log.level",
        Kind::Levels,
        Some("info"),
        "Log level, with optional levels of single targets, such as `info,name=debug`",
    ),
    key(
        "log.format",
        Kind::Word(&["auto", "text", "json"]),
        Some("auto"),
        "Log format. `auto` means text on a terminal, and JSON otherwise",
    ),
    key(
        "otlp.endpoint",
        Kind::Text,
        None,
        "URL of an OpenTelemetry collector that receives traces as OTLP over gRPC, such as `http://127.0.0.1:4317`",
    ),
    key(
        "otlp.sampling",
        Kind::Share,
        Some("0.1"),
        "Fraction of new traces that the server sends, from 0 to 1. For a request with \
         `traceparent`, the header decides",
    ),
    key(
        "web.dir",
        Kind::Path,
        None,
        "Folder of a built web UI, served at `/` instead of the status page",
    ),
    key("event.trackingEnabled", Kind::Switch, Some("true"), "Store and serve events"),
    key(
        "event.requestCapacity",
        Kind::Count,
        Some("1000"),
        "Maximum number of events that wait for the resource manager. Later events are counted and \
         dropped",
    ),
    key("event.ringBufferCapacity", Kind::Count, Some("100000"), "Maximum number of stored events"),
    key("event.maxStreams", Kind::Count, Some("100"), "Maximum number of event streams"),
    key(
        "event.maxStreamsPerHost",
        Kind::Count,
        Some("15"),
        "Maximum number of event streams from one address",
    ),
    key(
        "event.RESTResponseSize",
        Kind::Count,
        Some("10000"),
        "Maximum number of events in one response. 0 means the default",
    ),
    key(
        "health.checkInterval",
        Kind::Time,
        Some("30s"),
        "Interval between health checks. `0s` means only on request",
    ),
];

/// Keys of the specification that this version does not support, each with an alternative.
pub(super) const LATER: &[(&str, &str)] =
    &[("journal.url", "set `journal.path`; this version stores the journal in a folder")];

/// Returns whether a key is also passed on as a setting next to the queue file.
pub(super) fn is_extra(key: &Key) -> bool {
    key.name.starts_with("event.") || key.name.starts_with("health.")
}

/// Returns the table of the keys for the documentation page, in Markdown.
pub fn table() -> String {
    let mut text = String::from("| key | default | meaning |\n| --- | --- | --- |\n");
    for key in KEYS {
        let default = key.default.map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| `{}` | {default} | {} |", key.name, key.meaning);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{KEYS, Kind};

    #[test]
    fn a_key_is_a_variable_and_a_flag() {
        for (name, variable, flag) in [
            ("listen", "HEADROOM_LISTEN", "listen"),
            ("limits.requestBody", "HEADROOM_LIMITS_REQUEST_BODY", "limits-request-body"),
            ("tls.clientCa", "HEADROOM_TLS_CLIENT_CA", "tls-client-ca"),
            (
                "event.RESTResponseSize",
                "HEADROOM_EVENT_RESTRESPONSE_SIZE",
                "event-restresponse-size",
            ),
        ] {
            let key = KEYS.iter().find(|key| key.name == name).unwrap();
            assert_eq!((&*key.variable(), &*key.flag()), (variable, flag));
        }
    }

    #[test]
    fn every_key_has_names_of_its_own() {
        let flags: BTreeSet<_> = KEYS.iter().map(super::Key::flag).collect();
        assert_eq!(flags.len(), KEYS.len());
        for key in KEYS {
            let inside = |other: &super::Key| other.name.starts_with(&format!("{}.", key.name));
            assert!(!KEYS.iter().any(inside), "{} is a value and a mapping", key.name);
            assert!(key.kind != Kind::Switch || key.default.is_some(), "{}", key.name);
        }
    }
}

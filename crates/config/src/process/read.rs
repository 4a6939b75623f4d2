//! Converts texts to the types of this module, and reports all faults.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::key::{KEYS, is_extra};
use super::source::{All, Place, of_environment, of_file, of_flags};
use super::value::{self, Expected, RATE_MAX};
use super::{
    Auth, Certificates, Event, Journal, Limits, Log, LogFormat, Oidc, Otlp, Process, ProcessError,
    Rate, Sources, Tls,
};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::render::Style;
use crate::{STACK_BYTES, yaml};

/// Maximum size of a file in bytes. A usual file has a few hundred bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// Upper bound of `limits.commands`. More commands would only wait longer.
const COMMANDS_MAX: usize = 1_000_000;

impl Process {
    /// Reads settings from these sources.
    ///
    /// # Errors
    /// All faults: unknown keys with the nearest known key, invalid values, conflicting keys, and a server that would
    /// be open to other machines.
    pub fn read(sources: Sources) -> Result<Self, ProcessError> {
        let Sources { file, environment, flags } = sources;
        let (path, text) = file.unwrap_or_default();
        if text.len() > FILE_BYTES_MAX {
            let fault = format!(
                "error: {} has {} bytes, but a configuration file can have at most \
                 {FILE_BYTES_MAX}. Check that this is the intended file",
                path.display(),
                text.len()
            );
            return Err(ProcessError { faults: vec![fault] });
        }
        let (mut given, mut report) = given_in(&text);
        let mut faults = Vec::new();
        of_environment(environment, &mut given, &mut faults);
        of_flags(flags, &mut given);
        let mut reader = Reader { given, report: &mut report, faults };
        let process = reader.process();
        let mut faults = reader.faults;
        if report.has_errors() {
            faults.insert(0, report.finish(&text).render(&name_of(&path), Style::Plain));
        }
        let process = process.filter(|_| faults.is_empty());
        process.ok_or(ProcessError { faults })
    }
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the settings of a file. Reads the file on a separate stack, because files can nest deeply.
fn given_in(text: &str) -> (All, Report) {
    let read = || {
        let mut report = Report::default();
        let document = yaml::parse(text, &mut report);
        (of_file(document.as_ref(), &mut report), report)
    };
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
        let reader = reader.spawn_scoped(scope, read);
        match reader.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(read)) => read,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let mut report = Report::default();
                let message = format!("cannot start a thread to read the file: {error}");
                report.push(Diagnostic::error(Code::Yaml, crate::Span::default(), message));
                (All::new(), report)
            }
        }
    })
}

/// A fault that is already reported.
struct AlreadyReported;

/// Reads values by key, and reports their faults.
struct Reader<'r> {
    given: All,
    report: &'r mut Report,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn process(&mut self) -> Option<Process> {
        let (journal, tls, auth) = (self.journal(), self.tls(), self.auth());
        let (limits, log, event) = (self.limits(), self.log(), self.event());
        let process = Process {
            listen: self.several("listen", value::addresses)?,
            insecure: self.one("insecure", value::switch)?,
            queues: self.path("queues"),
            journal: journal?,
            tls: tls.ok()?,
            auth: auth?,
            hosts: self.several("hosts", value::hosts)?,
            cors_any: self.word("cors", &["auto", "any"])? == "any",
            limits: limits?,
            log: log?,
            otlp: self.otlp()?,
            web_dir: self.path("web.dir"),
            event: event?,
            health_interval: self.one("health.checkInterval", value::time)?,
            extra: self.extra(),
        };
        self.refuse_open(&process);
        self.refuse_certificates_for_nobody(&process);
        Some(process)
    }

    fn journal(&mut self) -> Option<Journal> {
        let path = self.path("journal.path")?;
        let snapshot_every = self.one("journal.snapshotEvery", |text| value::count(text, 1))?;
        Some(Journal { path, snapshot_every })
    }

    fn tls(&mut self) -> Result<Option<Tls>, AlreadyReported> {
        let (cert, key) = (self.path("tls.cert"), self.path("tls.key"));
        let client_ca = self.path("tls.clientCa");
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(Tls { cert, key, client_ca })),
            (None, None) if client_ca.is_none() => Ok(None),
            (None, _) => Err(self.missing(
                "tls.cert",
                "TLS needs a certificate in addition to `tls.key` or `tls.clientCa`",
            )),
            (_, None) => Err(self.missing("tls.key", "TLS needs the key of `tls.cert`")),
        }
    }

    fn auth(&mut self) -> Option<Auth> {
        let tokens = self.path("auth.tokens");
        let user = self.word("auth.certificates.user", &["subject", "san"])?;
        let certificates = Certificates {
            user_is_alternative_name: user == "san",
            roles: self.several("auth.certificates.roles", value::roles)?,
        };
        let tenants = self.several("auth.tenants", value::tenants)?;
        let (issuer, audience) = (self.text("auth.oidc.issuer"), self.text("auth.oidc.audience"));
        let oidc = Oidc {
            issuer: issuer.clone().unwrap_or_default(),
            audience: audience.clone().unwrap_or_default(),
            ca: self.path("auth.oidc.ca"),
            user_claim: self.text("auth.oidc.userClaim")?,
            groups_claim: self.text("auth.oidc.groupsClaim")?,
            roles_claim: self.text("auth.oidc.rolesClaim"),
            roles: self.several("auth.oidc.roles", value::roles)?,
        };
        let oidc = match (issuer, audience) {
            (Some(issuer), Some(_)) => {
                self.check_issuer(&issuer);
                Some(oidc)
            }
            (None, None) => {
                let alone = ["auth.oidc.ca", "auth.oidc.rolesClaim", "auth.oidc.roles"];
                if alone.iter().any(|key| self.given.contains_key(key)) {
                    self.missing(
                        "auth.oidc.issuer",
                        "the other keys of `auth.oidc` have no effect without an issuer",
                    );
                    return None;
                }
                None
            }
            (Some(_), None) => {
                let why = "without an audience, the server would accept tokens that the issuer \
                           made for other services";
                self.missing("auth.oidc.audience", why);
                return None;
            }
            (None, Some(_)) => {
                self.missing(
                    "auth.oidc.issuer",
                    "the other keys of `auth.oidc` have no effect without an issuer",
                );
                return None;
            }
        };
        Some(Auth { tokens, oidc, certificates, tenants })
    }

    /// Checks that the issuer has an encrypted URL, because keys from an unencrypted connection prove nothing.
    fn check_issuer(&mut self, issuer: &str) {
        let local = issuer.strip_prefix("http://").is_some_and(|rest| {
            let host = rest.split(['/', '?']).next().unwrap_or_default();
            let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
            let inner = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || inner.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        });
        if !issuer.starts_with("https://") && !local {
            let message =
                "expected a URL that begins with https://, or with http:// on a loopback address";
            self.wrong("auth.oidc.issuer", message);
        }
    }

    fn limits(&mut self) -> Option<Limits> {
        Some(Limits {
            request_body: self.one("limits.requestBody", value::size)?,
            request_time: self.one("limits.requestTime", positive_time)?,
            header_time: self.one("limits.headerTime", positive_time)?,
            idle_time: self.one("limits.idleTime", positive_time)?,
            // HTTP libraries need at least this size.
            header_size: self.one("limits.headerSize", |text| {
                let size = value::size(text)?;
                let right = (8 << 10..=1 << 20).contains(&size);
                right.then_some(size).ok_or_else(|| "expected a size from 8KiB to 1MiB".to_owned())
            })?,
            requests: self.count("limits.requests", 1)?,
            connections: self.count("limits.connections", 1)?,
            connections_per_address: self.count("limits.connectionsPerAddress", 1)?,
            commands: self.one("limits.commands", |text| {
                let count = value::count(text, 1)?;
                let count = usize::try_from(count).ok().filter(|count| *count <= COMMANDS_MAX);
                count.ok_or_else(|| format!("expected a number up to {COMMANDS_MAX}"))
            })?,
            tenants: self.rate()?,
        })
    }

    /// Returns the rate. The inner `None` means no limit.
    #[expect(clippy::option_option, reason = "the outer one says that something is wrong, as ever")]
    fn rate(&mut self) -> Option<Option<Rate>> {
        if self.text("limits.tenantRate").is_none() {
            if self.text("limits.tenantBurst").is_some() {
                self.missing(
                    "limits.tenantRate",
                    "`limits.tenantBurst` has no effect without a rate",
                );
            }
            return Some(None);
        }
        let (count, per) = self.one("limits.tenantRate", value::rate)?;
        if self.text("limits.tenantBurst").is_none() {
            return Some(Some(Rate { count, per, burst: count }));
        }
        let burst = self.one("limits.tenantBurst", |text| {
            let burst = value::count(text, 1)?;
            let burst = u32::try_from(burst).ok().filter(|burst| *burst <= RATE_MAX);
            burst.ok_or_else(|| format!("expected a number up to {RATE_MAX}"))
        })?;
        Some(Some(Rate { count, per, burst }))
    }

    fn log(&mut self) -> Option<Log> {
        let levels = self.one("log.level", value::levels)?;
        let format = match self.word("log.format", &["auto", "text", "json"])? {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => LogFormat::Auto,
        };
        Some(Log { levels, format })
    }

    /// Returns the settings of traces. The inner `None` means no traces.
    #[expect(clippy::option_option, reason = "the outer one says that something is wrong, as ever")]
    fn otlp(&mut self) -> Option<Option<Otlp>> {
        let sampling = self.one("otlp.sampling", value::share)?;
        if self.text("otlp.endpoint").is_none() {
            if self.given.contains_key("otlp.sampling") {
                self.missing("otlp.endpoint", "`otlp.sampling` has no effect without an endpoint");
            }
            return Some(None);
        }
        let endpoint = self.one("otlp.endpoint", value::origin)?;
        Some(Some(Otlp { endpoint, sampling }))
    }

    fn event(&mut self) -> Option<Event> {
        let response = self.count("event.RESTResponseSize", 0)?;
        Some(Event {
            tracking_enabled: self.one("event.trackingEnabled", value::switch)?,
            request_capacity: self.count("event.requestCapacity", 1)?,
            ring_buffer_capacity: self.count("event.ringBufferCapacity", 1)?,
            max_streams: self.count("event.maxStreams", 0)?,
            max_streams_per_host: self.count("event.maxStreamsPerHost", 0)?,
            rest_response_size: if response == 0 { 10_000 } else { response },
        })
    }

    /// Returns the written values of `YuniKorn`'s settings.
    fn extra(&self) -> BTreeMap<String, String> {
        let keys = KEYS.iter().filter(|key| is_extra(key));
        let given = keys.filter_map(|key| self.given.get_key_value(key.name));
        given.map(|(name, given)| ((*name).to_owned(), given.texts.concat())).collect()
    }

    fn refuse_open(&mut self, process: &Process) {
        let beyond = process.listen.iter().find(|address| !address.ip().is_loopback());
        if let Some(address) = beyond.filter(|_| !process.has_auth() && !process.insecure) {
            self.wrong(
                "listen",
                &format!(
                    "other machines can reach {address}, and every caller would have the role \
                     `admin`. Set `auth.tokens`, `auth.oidc.issuer` or `tls.clientCa`, listen on \
                     127.0.0.1, or set --insecure"
                ),
            );
        }
    }

    fn refuse_certificates_for_nobody(&mut self, process: &Process) {
        let shown = process.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        if !shown && !process.auth.certificates.roles.is_empty() {
            let why =
                "clients cannot present certificates without `tls.clientCa`. Set `tls.clientCa`";
            self.wrong("auth.certificates.roles", why);
        }
    }

    /// Returns the values of a key, or its default.
    fn texts(&self, key: &str) -> Vec<String> {
        let given = self.given.get(key).map(|given| given.texts.clone());
        given.unwrap_or_else(|| default(key))
    }

    /// Parses the values of a key. Reports an invalid value and uses the default, so that all other faults are reported
    /// too.
    fn several<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&[String]) -> Result<T, Expected>,
    ) -> Option<T> {
        match parse(&self.texts(key)) {
            Ok(value) => Some(value),
            Err(expected) => {
                self.wrong(key, &expected);
                parse(&default(key)).ok()
            }
        }
    }

    fn one<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, Expected>,
    ) -> Option<T> {
        self.several(key, |texts| {
            let text = texts.first().map(String::as_str).unwrap_or_default();
            parse(text).map_err(|expected| format!("found `{text}`, {expected}"))
        })
    }

    fn count(&mut self, key: &'static str, least: u64) -> Option<usize> {
        let count = self.one(key, |text| value::count(text, least))?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn word(&mut self, key: &'static str, words: &[&'static str]) -> Option<&'static str> {
        self.one(key, |text| value::word(text, words))
    }

    /// Returns the value of a key. `None` if the value is absent or empty.
    fn text(&mut self, key: &'static str) -> Option<String> {
        self.texts(key).into_iter().next().filter(|text| !text.is_empty())
    }

    fn path(&mut self, key: &'static str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    fn missing(&mut self, key: &str, why: &str) -> AlreadyReported {
        self.faults.push(format!("error: `{key}` is not set; {why}"));
        AlreadyReported
    }

    /// Reports the fault of a value at its place.
    fn wrong(&mut self, key: &str, message: &str) {
        let message = format!("`{key}`: {message}");
        match self.given.get(key).map(|given| &given.place) {
            Some(Place::File(span)) => {
                self.report.push(Diagnostic::error(Code::YamlType, *span, message));
            }
            Some(Place::Variable(name) | Place::Flag(name)) => {
                self.faults.push(format!("error: {name}: {message}"));
            }
            None => self.faults.push(format!("error: {message}")),
        }
    }
}

/// Returns the default of a key.
fn default(key: &str) -> Vec<String> {
    let known = KEYS.iter().find(|known| known.name == key);
    known.and_then(|known| known.default).map(str::to_owned).into_iter().collect()
}

fn positive_time(text: &str) -> Result<std::time::Duration, Expected> {
    let time = value::time(text)?;
    if time.is_zero() { Err("expected a time above 0".to_owned()) } else { Ok(time) }
}

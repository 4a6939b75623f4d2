//! Parses the values of keys.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// Log level. Each level includes the previous levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No messages.
    Off,
    /// Errors.
    Error,
    /// Warnings.
    Warn,
    /// Events.
    #[default]
    Info,
    /// Details of events.
    Debug,
    /// Every step.
    Trace,
}

/// Log levels by target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Level of all targets that are not in `targets`.
    pub level: Level,
    /// Levels of targets, such as `headroom_server::grpc`.
    pub targets: BTreeMap<String, Level>,
}

/// Roles by identity. A key is `user:` with a name, `group:` with a name, or `*`.
pub type Roles = BTreeMap<String, Vec<String>>;

/// Tenants by identity. A key is `user:` with a name, `group:` with a name, or `*`.
pub type TenantsOf = BTreeMap<String, Vec<String>>;

/// Names of all roles.
pub const ROLES: [&str; 8] = [
    "admin",
    "operator",
    "viewer",
    "submitter",
    "queue-admin",
    "tenant-admin",
    "tenant-viewer",
    "rm",
];

/// Description of the expected value, for a text that is not valid.
pub(super) type Expected = String;

pub(super) fn switch(text: &str) -> Result<bool, Expected> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// Parses a whole number of at least `least`.
pub(super) fn count(text: &str, least: u64) -> Result<u64, Expected> {
    let number = text.parse::<u64>().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("expected a whole number of at least {least}"))
}

/// Parses a fraction from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, Expected> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.25".to_owned())
}

/// Parses the URL of a server without a path.
pub(super) fn origin(text: &str) -> Result<String, Expected> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.map(|rest| rest.strip_suffix('/').unwrap_or(rest));
    let is_host = |host: &str| {
        let is_legal = |one: char| one.is_ascii_alphanumeric() || "-._:[]".contains(one);
        host.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '[')
            && host.chars().all(is_legal)
    };
    host.filter(|host| is_host(host))
        .map(|_| text.to_owned())
        .ok_or_else(|| "expected a URL without a path, such as http://127.0.0.1:4317".to_owned())
}

/// Parses a number of bytes.
pub(super) fn size(text: &str) -> Result<usize, Expected> {
    let expected =
        || "expected a size of at least 1 byte, such as 16MiB, 64KiB or 1000000".to_owned();
    let end = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit: usize = match unit {
        "" | "B" => 1,
        "KiB" | "Ki" => 1 << 10,
        "MiB" | "Mi" => 1 << 20,
        "GiB" | "Gi" => 1 << 30,
        _ => return Err(expected()),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(expected)
}

/// Longest accepted duration. A longer duration probably means no limit.
const TIME_MAX: Duration = Duration::from_hours(24 * 365);

/// Largest count of a rate or a burst. A larger count probably means no limit.
pub(super) const RATE_MAX: u32 = 1_000_000;

/// Parses a duration in the format of Go: numbers with units, in any order.
pub(super) fn time(text: &str) -> Result<Duration, Expected> {
    let expected = || "expected a time of at most a year, such as 10s, 1m30s or 500ms".to_owned();
    let mut rest = text;
    let mut sum = Duration::ZERO;
    if rest.is_empty() {
        return Err(expected());
    }
    while !rest.is_empty() {
        let end = rest.find(|one: char| !one.is_ascii_digit()).ok_or_else(expected)?;
        let number: u64 = rest[..end].parse().map_err(|_| expected())?;
        rest = &rest[end..];
        let end = rest.find(|one: char| one.is_ascii_digit()).unwrap_or(rest.len());
        let unit_ms = match &rest[..end] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(expected()),
        };
        rest = &rest[end..];
        let part = number.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(expected)?;
        sum = sum.checked_add(part).filter(|sum| *sum <= TIME_MAX).ok_or_else(expected)?;
    }
    Ok(sum)
}

/// Parses a rate, such as `100/s`.
pub(super) fn rate(text: &str) -> Result<(u32, Duration), Expected> {
    let expected = || "expected a number and a time, such as 100/s, 600/m or 1000/h".to_owned();
    let (count, unit) = text.split_once('/').ok_or_else(expected)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return Err(expected()),
    };
    let count = count.parse::<u32>().ok().filter(|count| (1..=RATE_MAX).contains(count));
    let count =
        count.ok_or_else(|| format!("expected a number from 1 to {RATE_MAX} before the `/`"))?;
    Ok((count, Duration::from_secs(seconds)))
}

/// Parses addresses with ports: `127.0.0.1:9080`, `[::1]:9080`, `localhost:9080`, or `:9080` for all interfaces.
pub(super) fn addresses(texts: &[String]) -> Result<Vec<SocketAddr>, Expected> {
    if texts.is_empty() {
        return Err("expected at least one address, such as 127.0.0.1:9080".to_owned());
    }
    let mut addresses = Vec::with_capacity(texts.len());
    for text in texts {
        let address = address(text).ok_or_else(|| {
            format!(
                "`{text}` is not an address with a port; expected 127.0.0.1:9080, [::1]:9080, \
                 localhost:9080, or :9080 for all addresses of the machine"
            )
        })?;
        if addresses.contains(&address) && address.port() != 0 {
            return Err(format!("{address} is listed twice; expected each address once"));
        }
        addresses.push(address);
    }
    Ok(addresses)
}

fn address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (host, port) = text.rsplit_once(':')?;
    let port = port.parse().ok()?;
    match host {
        "" => Some((Ipv6Addr::UNSPECIFIED, port).into()),
        "localhost" => Some((Ipv4Addr::LOCALHOST, port).into()),
        _ => None,
    }
}

/// Parses host names without ports. Returns them in lower case.
pub(super) fn hosts(texts: &[String]) -> Result<Vec<String>, Expected> {
    texts.iter().map(|text| host(text)).collect()
}

fn host(text: &str) -> Result<String, Expected> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = inner.parse::<Ipv6Addr>() {
        return Ok(format!("[{address}]"));
    }
    let is_legal = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '.' | '_');
    if text.is_empty() || text.len() > 253 || !text.chars().all(is_legal) {
        return Err(format!(
            "`{text}` is not a host name; expected one such as headroom.example.org, without port"
        ));
    }
    Ok(text.to_ascii_lowercase())
}

/// Parses a word from a list.
pub(super) fn word(text: &str, words: &[&'static str]) -> Result<&'static str, Expected> {
    let found = words.iter().copied().find(|word| *word == text);
    found.ok_or_else(|| format!("expected {}", words.join(" or ")))
}

/// Parses levels: `info`, or `info,headroom_server::grpc=debug`.
pub(super) fn levels(text: &str) -> Result<Levels, Expected> {
    let mut levels = Levels::default();
    let mut bare = false;
    for part in text.split(',').map(str::trim) {
        match part.split_once('=') {
            Some((target, one)) if !target.is_empty() => {
                levels.targets.insert(target.to_owned(), level(one)?);
            }
            None if !bare => {
                levels.level = level(part)?;
                bare = true;
            }
            _ => {
                return Err(format!(
                    "`{part}` is a second level, or has no target; expected one level, and targets \
                     as name=level"
                ));
            }
        }
    }
    Ok(levels)
}

fn level(text: &str) -> Result<Level, Expected> {
    Ok(match text {
        "off" => Level::Off,
        "error" => Level::Error,
        "warn" => Level::Warn,
        "info" => Level::Info,
        "debug" => Level::Debug,
        "trace" => Level::Trace,
        _ => {
            return Err(format!(
                "`{text}` is not a level; expected off, error, warn, info, debug or trace"
            ));
        }
    })
}

/// Parses entries such as `group:ops=operator+viewer`.
pub(super) fn roles(texts: &[String]) -> Result<Roles, Expected> {
    let known = |role: &str| {
        let known = ROLES.iter().find(|known| **known == role);
        known
            .map(ToString::to_string)
            .ok_or_else(|| format!("`{role}` is not a role; expected one of {}", ROLES.join(", ")))
    };
    of_each(texts, ("role", "roles", "group:ops=operator+viewer"), known)
}

/// Parses entries such as `group:lab=a+b`.
pub(super) fn tenants(texts: &[String]) -> Result<TenantsOf, Expected> {
    let named = |tenant: &str| {
        let is_named = !tenant.is_empty();
        is_named.then(|| tenant.to_owned()).ok_or_else(|| "a tenant name is missing".to_owned())
    };
    of_each(texts, ("tenant", "tenants", "group:lab=a+b"), named)
}

/// Parses entries whose values are separated by `+`.
fn of_each(
    texts: &[String],
    (one, several, example): (&str, &str, &str),
    read: impl Fn(&str) -> Result<String, Expected>,
) -> Result<BTreeMap<String, Vec<String>>, Expected> {
    let mut all = BTreeMap::new();
    for text in texts {
        let (who, list) = text
            .rsplit_once('=')
            .ok_or_else(|| format!("`{text}` specifies no {one}; expected {example}"))?;
        let named = who.strip_prefix("user:").or_else(|| who.strip_prefix("group:"));
        if who != "*" && named.is_none_or(str::is_empty) {
            return Err(format!(
                "`{who}` matches no user or group; expected user: and a name, group: and a name, or *"
            ));
        }
        let has = list.split('+').map(|text| read(text.trim())).collect::<Result<_, _>>()?;
        if all.insert(who.to_owned(), has).is_some() {
            return Err(format!("`{who}` is listed twice; expected one entry with all {several}"));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{addresses, hosts, levels, roles, size, tenants, time};

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("16MiB", Some(16 << 20)),
            ("1Ki", Some(1_024)),
            ("7", Some(7)),
            ("7B", Some(7)),
            ("0", None),
            ("", None),
            ("MiB", None),
            ("1.5MiB", None),
            ("-1", None),
            ("16MB", None),
            ("99999999999999GiB", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("500ms", Some(500)),
            ("2h", Some(7_200_000)),
            ("0s", Some(0)),
            ("", None),
            ("10", None),
            ("s", None),
            ("1d", None),
            ("99999999999999999999s", None),
            ("18446744073709551615h", None),
            ("8761h", None),
        ] {
            assert_eq!(time(text).ok(), expected.map(Duration::from_millis), "{text:?}");
        }
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_have_ports() {
        for (texts, expected) in [
            (&["127.0.0.1:9080"][..], "127.0.0.1:9080"),
            (&["localhost:1", "[::1]:1"], "127.0.0.1:1 [::1]:1"),
            (&[":9080"], "[::]:9080"),
            (&["127.0.0.1:0", "127.0.0.1:0"], "127.0.0.1:0 127.0.0.1:0"),
        ] {
            let found = addresses(&list(texts)).unwrap();
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected);
        }
        for (bad, expected) in [
            (&["127.0.0.1"][..], "`127.0.0.1` is not an address with a port; "),
            (&["a.b:1"], "`a.b:1` is not an address with a port; "),
            (&["1.2.3.4:99999"], "`1.2.3.4:99999` is not an address with a port; "),
            (&[""], "`` is not an address with a port; "),
            (&[], "expected at least one address, "),
            (&[":1", ":1"], "[::]:1 is listed twice; "),
        ] {
            let refused = addresses(&list(bad)).unwrap_err();
            assert!(refused.starts_with(expected), "{bad:?}: {refused}");
        }
    }

    #[test]
    fn hosts_have_no_ports() {
        let found = hosts(&list(&["Headroom.Example.org", "10.0.0.1", "[::1]", "fe80::1"]));
        assert_eq!(found.unwrap(), ["headroom.example.org", "10.0.0.1", "[::1]", "[fe80::1]"]);
        for bad in ["", "a:1", "a/b", "*"] {
            let refused = hosts(&list(&[bad])).unwrap_err();
            assert!(refused.starts_with(&format!("`{bad}` is not a host name; ")), "{refused}");
        }
    }

    #[test]
    fn levels_and_roles_name_what_is_wrong() {
        assert_eq!(levels("warn,a::b=trace").unwrap().targets.len(), 1);
        assert_eq!(
            roles(&list(&["*=viewer", "user:cn=x=admin+rm"])).unwrap()["user:cn=x"].len(),
            2
        );
        for (found, word) in [
            (levels("loud").err(), "loud"),
            (levels("info,debug").err(), "`debug` is a second level"),
            (levels("=info").err(), "`=info` is a second level, or has no target"),
            (roles(&list(&["group:a=king"])).err(), "king"),
            (roles(&list(&["a=admin"])).err(), "no user"),
            (roles(&list(&["user:=admin"])).err(), "no user"),
            (roles(&list(&["*"])).err(), "no role"),
            (roles(&list(&["*=rm", "*=rm"])).err(), "twice"),
            (tenants(&list(&["group:lab=a+"])).err(), "a tenant name is missing"),
            (tenants(&list(&["lab=a"])).err(), "no user"),
        ] {
            assert!(found.as_deref().is_some_and(|text| text.contains(word)), "{found:?} {word}");
        }
    }
}

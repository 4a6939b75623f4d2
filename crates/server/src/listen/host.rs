//! Host names of a server. A user's browser can open a page that reaches an open server under a name of the page's own
//! site (DNS rebinding). The check of host names prevents this attack.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use headroom_api::headroomv1::Code;

use crate::family::Refusal;

/// The host names of a server.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    names: Vec<String>,
}

/// Returns the host of a request: the authority of HTTP/2, or otherwise `Host`.
pub(super) fn asked<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    if let Some(authority) = uri.authority() {
        return Some(authority.as_str());
    }
    let mut values = headers.get_all(HOST).iter();
    let value = values.next()?;
    // With two different values, a proxy might have used the other one.
    if values.next().is_some() { None } else { value.to_str().ok() }
}

impl Hosts {
    /// Returns the configured names, and the addresses on which the server listens.
    pub(super) fn new(configured: &[String], listens: &[SocketAddr]) -> Self {
        let own =
            listens.iter().map(SocketAddr::ip).filter(|ip| !ip.is_unspecified()).map(
                |ip| match ip {
                    IpAddr::V4(ip) => ip.to_string(),
                    IpAddr::V6(ip) => format!("[{ip}]"),
                },
            );
        Self { names: configured.iter().cloned().chain(own).collect() }
    }

    /// Checks that this is a name of the server. Ignores the port.
    ///
    /// # Errors
    /// If the name is unknown or absent.
    pub(super) fn check(&self, asked: Option<&str>) -> Result<(), Refusal> {
        let authority = asked.and_then(|text| text.parse::<Authority>().ok());
        let host = authority.as_ref().map(|one| one.host().to_ascii_lowercase());
        let host = host.unwrap_or_default();
        if is_loopback(&host) || self.names.contains(&host) {
            return Ok(());
        }
        let why = format!(
            "{host:?} is not a name of this server. Use a name of this server, or add this name to \
             `hosts`."
        );
        Err(Refusal::new(Code::Misdirected, why))
    }
}

fn is_loopback(host: &str) -> bool {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let by_number = inner.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    by_number || host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::{Code, Hosts, Refusal};

    fn refused(host: &str) -> Result<(), Refusal> {
        let why = format!(
            "{host:?} is not a name of this server. Use a name of this server, or add this name to \
             `hosts`."
        );
        Err(Refusal::new(Code::Misdirected, why))
    }

    #[test]
    fn only_own_names_are_taken() {
        let listens = ["10.0.0.7:1".parse().unwrap(), "[::]:1".parse().unwrap()];
        let hosts = Hosts::new(&["head.example".to_owned(), "[fe80::1]".to_owned()], &listens);
        for own in [
            "localhost",
            "LOCALHOST:9080",
            "a.localhost:1",
            "127.0.0.1:9080",
            "127.9.9.9",
            "[::1]:9080",
            "[::ffff:127.0.0.1]",
            "head.example:9080",
            "[fe80::1]:2",
            "10.0.0.7",
        ] {
            assert_eq!(hosts.check(Some(own)), Ok(()), "{own:?}");
        }
        for (other, host) in [
            ("[::]", "[::]"),
            ("0.0.0.0", "0.0.0.0"),
            ("head.example.evil.org:9080", "head.example.evil.org"),
            ("EVIL.org", "evil.org"),
            ("localhost.evil.org", "localhost.evil.org"),
            ("user@evil.org", "evil.org"),
            ("", ""),
        ] {
            assert_eq!(hosts.check(Some(other)), refused(host), "{other:?}");
        }
        assert_eq!(hosts.check(None), refused(""));
    }
}

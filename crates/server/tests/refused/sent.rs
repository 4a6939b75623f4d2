//! Requests, as they are sent and as a page shows them.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::example::Example;
use crate::support::{Exchange, Raw};

/// A request that somebody sends.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    method: &'static str,
    path: String,
    /// Those that matter to the answer.
    headers: Vec<(&'static str, String)>,
    /// Those that do not, or are secrets.
    beside: Vec<(&'static str, String)>,
    body: String,
}

impl Sent {
    pub(crate) fn new(method: &'static str, path: &str) -> Self {
        let (headers, beside) = (Vec::new(), Vec::new());
        Self { method, path: path.to_owned(), headers, beside, body: String::new() }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// With a header that the page does not show.
    pub(crate) fn beside(mut self, name: &'static str, value: &str) -> Self {
        self.beside.push((name, value.to_owned()));
        self
    }

    pub(crate) fn json(self, body: &str) -> Self {
        let sent = self.beside("Content-Type", "application/json");
        Self { body: body.to_owned(), ..sent }
    }

    pub(crate) fn text(self, body: &str) -> Self {
        Self { body: body.to_owned(), ..self }
    }

    pub(crate) async fn to(&self, address: SocketAddr) -> Exchange {
        let mut raw = Raw::new(address);
        for (name, value) in self.headers.iter().chain(&self.beside) {
            raw = raw.header(name, value);
        }
        raw.body(self.body.clone()).send(self.method, &self.path).await
    }

    /// In words, behind what was the case before.
    pub(crate) fn told(&self, before: &str) -> String {
        let mut told = format!("{before} `{} {}`", self.method, self.path);
        for (place, (name, value)) in self.headers.iter().enumerate() {
            let word = if place == 0 { "with" } else { "and" };
            write!(told, " {word} `{name}: {value}`").unwrap();
        }
        if self.body.contains('\n') {
            write!(told, " with the file\n\n```yaml\n{}\n```\n\nreturns:", self.body.trim())
                .unwrap();
        } else if self.body.is_empty() {
            told += " returns:";
        } else {
            let word = if self.headers.is_empty() { "with" } else { "and" };
            write!(told, " {word} `{}` returns:", self.body).unwrap();
        }
        told.trim_start().to_owned()
    }

    /// Send it, and have its answer be the example of a code.
    pub(crate) async fn shows(self, code: &str, before: &str, address: SocketAddr) -> Example {
        let answer = self.to(address).await;
        Example::problem(code, self.told(before), (answer.status, &answer.body))
    }
}

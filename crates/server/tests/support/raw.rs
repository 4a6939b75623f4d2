//! Requests by hand, to see what a client library would hide.

use std::fmt::Write as _;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request that is being made.
#[derive(Clone, Debug)]
pub struct Raw {
    address: SocketAddr,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Without the marks of chunks.
    pub body: Vec<u8>,
    /// Whether the end of the body was there.
    pub is_whole: bool,
}

impl Exchange {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Raw {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new(), body: Vec::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Send it, and read until the server closes.
    pub async fn send(self, method: &str, path: &str) -> Exchange {
        let mut stream = self.open(method, path).await;
        let mut bytes = Vec::new();
        // A body that breaks off is seen by what it lacks.
        let _ = stream.read_to_end(&mut bytes).await;
        exchange(&bytes)
    }

    /// Send it, and leave the answer to be read.
    pub async fn open(self, method: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            write!(head, "Host: {}\r\n", self.address).unwrap();
        }
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if !self.body.is_empty() {
            write!(head, "Content-Length: {}\r\n", self.body.len()).unwrap();
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server may refuse a body before it is through.
        let _ = stream.write_all(&self.body).await;
        stream
    }
}

fn exchange(bytes: &[u8]) -> Exchange {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("there is a head");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        })
        .collect();
    let has =
        |name: &str, value: &str| headers.iter().any(|(key, one)| key == name && one == value);
    let rest = &bytes[end + 4..];
    let (body, is_whole) = if has("transfer-encoding", "chunked") {
        unchunked(rest)
    } else {
        let length = headers.iter().find(|(key, _)| key == "content-length");
        let length = length.map_or(rest.len(), |(_, value)| value.parse().unwrap());
        (rest.to_vec(), rest.len() == length)
    };
    Exchange { status, headers, body, is_whole }
}

fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let chunk = &rest[end + 2..];
        if size == 0 {
            return (body, true);
        }
        let Some(data) = chunk.get(..size) else { return (body, false) };
        body.extend_from_slice(data);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
}

//! A typed client for the routes of [`crate::routes`].
//!
//! Every function has the name of the operation of its route. The client escapes the names of
//! queues, users, nodes, and other objects. It follows no redirects, so it never sends a token to
//! another server.

mod error;
mod headroomv1;
mod stream;
mod tasks;
mod tenants;
mod wsv1;

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

pub use error::{ClientError, Refusal};
pub use headroomv1::{EventFilter, Sought};
pub use stream::{Frames, Lines};
pub use tenants::{AuditFilter, Expect, TenantFilter};
pub use wsv1::ApplicationList;

use crate::headroomv1::Streamed;
use crate::routes::Method;

/// A connection to a server for one caller. Clones are cheap, and share connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    timeout: Duration,
    body_bytes_max: usize,
}

/// The configuration of a client.
#[derive(Clone, Debug)]
pub struct ClientBuilder {
    address: String,
    token: Option<HeaderValue>,
    connect_timeout: Duration,
    timeout: Duration,
    body_bytes_max: usize,
}

impl ClientBuilder {
    /// Sets the token that authenticates the caller.
    ///
    /// # Errors
    /// When the token has characters that a header cannot contain.
    pub fn token(mut self, token: &str) -> Result<Self, ClientError> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim()))
            .map_err(|_| ClientError::Token)?;
        // Keeps it out of debug output, and HTTP/2 from remembering it.
        value.set_sensitive(true);
        self.token = Some(value);
        Ok(self)
    }

    /// Sets the connection timeout. The default is 5 s.
    #[must_use]
    pub fn connect_timeout(mut self, wait: Duration) -> Self {
        self.connect_timeout = wait;
        self
    }

    /// Sets the timeout of a complete response. The default is 30 s. Streams have no timeout.
    #[must_use]
    pub fn timeout(mut self, wait: Duration) -> Self {
        self.timeout = wait;
        self
    }

    /// Sets the maximum size of a response, in bytes. The default is 256 MiB.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// Returns the client. Sends no request.
    ///
    /// # Errors
    /// When the address is not an `http` or `https` URL, or TLS cannot be set up.
    pub fn build(self) -> Result<Client, ClientError> {
        let address = || ClientError::Address { address: self.address.clone() };
        let base = Url::parse(&self.address).map_err(|_| address())?;
        let secret = !base.username().is_empty() || base.password().is_some();
        if !matches!(base.scheme(), "http" | "https") || secret || base.query().is_some() {
            return Err(address());
        }
        let headers = self.token.map(|token| (AUTHORIZATION, token));
        let http = reqwest::Client::builder()
            .user_agent(concat!("headroom/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter(headers))
            .connect_timeout(self.connect_timeout)
            .tcp_keepalive(KEEPALIVE)
            .redirect(Policy::none())
            .build()
            .map_err(|source| ClientError::Setup { source })?;
        Ok(Client { http, base, timeout: self.timeout, body_bytes_max: self.body_bytes_max })
    }
}

/// A connection that says nothing for so long is asked whether it still is one.
const KEEPALIVE: Duration = Duration::from_secs(20);

const JSON: &str = "application/json";

/// A part of a path.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// As it is in the table of routes.
    Fixed(&'a str),
    /// A name that the server decodes once: of a partition, node or application.
    Once(&'a str),
    /// A name that the server decodes twice: of a queue, user or group.
    Twice(&'a str),
}

impl Client {
    /// Returns the builder of a client for the server at this address, such as
    /// `http://127.0.0.1:9080`. A path in the address becomes the prefix of all paths.
    pub fn builder(address: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            address: address.into(),
            token: None,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            body_bytes_max: 256 << 20,
        }
    }

    fn url(&self, parts: &[Part<'_>]) -> Result<Url, ClientError> {
        let mut url = self.base.clone();
        {
            let mut path = url.path_segments_mut().expect("`http` addresses have a path");
            path.pop_if_empty();
            for part in parts {
                match *part {
                    Part::Fixed(text) => path.extend(text.split('/')),
                    Part::Once(name) => path.push(checked(name)?),
                    Part::Twice(name) => path.push(&escape(checked(name)?)),
                };
            }
        }
        Ok(url)
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = match method {
            Method::Get => self.http.get(url),
            Method::Post => self.http.post(url),
            Method::Put => self.http.put(url),
            Method::Patch => self.http.patch(url),
            Method::Delete => self.http.delete(url),
        };
        request.timeout(self.timeout).header(ACCEPT, JSON)
    }

    /// Read JSON from this path.
    async fn get<T: DeserializeOwned>(
        &self,
        parts: &[Part<'_>],
        query: &[(&str, String)],
    ) -> Result<T, ClientError> {
        self.json(self.request(Method::Get, with_query(self.url(parts)?, query))).await
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let (url, body) = self.bytes(request).await?;
        serde_json::from_slice(&body).map_err(|source| ClientError::Unreadable { url, source })
    }

    /// Follow what this address streams, behind the record with this number if one is given.
    async fn frames<E: Streamed>(
        &self,
        url: Url,
        after: Option<u64>,
    ) -> Result<Frames<E>, ClientError> {
        let mut request = self.http.get(url).header(ACCEPT, "text/event-stream");
        if let Some(number) = after {
            request = request.header("Last-Event-ID", number);
        }
        Ok(Frames::new(self.send(request).await?))
    }

    /// Read text from this path.
    async fn plain(&self, path: &str) -> Result<String, ClientError> {
        let url = self.url(&[Part::Fixed(path)])?;
        self.text(self.http.get(url).timeout(self.timeout)).await
    }

    async fn text(&self, request: RequestBuilder) -> Result<String, ClientError> {
        let (url, body) = self.bytes(request).await?;
        String::from_utf8(body).map_err(|_| ClientError::NotText { url })
    }

    async fn bytes(&self, request: RequestBuilder) -> Result<(Url, Vec<u8>), ClientError> {
        let response = self.send(request).await?;
        let url = response.url().clone();
        let body = self.body(response).await?;
        Ok((url, body))
    }

    /// Send a request, and read why it was refused if it was.
    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(ClientError::unreachable)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (url, status) = (response.url().clone(), response.status());
        let headers = response.headers().clone();
        // The reason in the status says enough where the body is cut off.
        let body = self.body(response).await.unwrap_or_default();
        let refusal = Refusal::new(url, status, &headers, &body);
        Err(ClientError::Refused(Box::new(refusal)))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(ClientError::unreachable)? {
            if body.len() + chunk.len() > self.body_bytes_max {
                let bytes_max = self.body_bytes_max;
                return Err(ClientError::TooLarge { url: response.url().clone(), bytes_max });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// A request that sends text of this media type.
fn sending(request: RequestBuilder, media: &'static str, body: Vec<u8>) -> RequestBuilder {
    // Says that no page of another site makes the request: such a page cannot send it.
    request.header("X-Headroom-Request", "1").header(CONTENT_TYPE, media).body(body)
}

fn with_query(mut url: Url, query: &[(&str, String)]) -> Url {
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

/// A name that stands for itself in a path.
fn checked(name: &str) -> Result<&str, ClientError> {
    match name {
        // These would leave the path, or name the list instead of one.
        "" | "." | ".." => Err(ClientError::Name { name: name.to_owned() }),
        name => Ok(name),
    }
}

/// Escape what the second decoding of the server would take for something else.
fn escape(name: &str) -> String {
    name.replace('%', "%25").replace('+', "%2B").replace('/', "%2F")
}

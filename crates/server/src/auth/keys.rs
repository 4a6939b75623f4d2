//! The public keys of an issuer, which are requested, cached, and refreshed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::{Certificate, Client, Url};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Time for which keys are used without a new request.
const KEPT_FOR: Duration = Duration::from_hours(1);
/// Shortest time between two requests to the issuer. Otherwise a client that sends tokens with unknown keys could
/// cause a request for each.
const ASKED_EVERY: Duration = Duration::from_secs(10);
/// Longest time for a response.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Largest size of a response, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Reason why the keys of an issuer are not available.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file of CA certificates cannot be used.
    #[error("the certificates in {} cannot be used", path.display())]
    Certificates {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The HTTP client could not be created.
    #[error("cannot set up connections to the issuer")]
    Setup(#[source] reqwest::Error),
    /// The issuer does not respond.
    #[error("the issuer does not respond at {url}")]
    Unreachable {
        /// URL of the request.
        url: String,
        /// Cause of the error.
        #[source]
        source: reqwest::Error,
    },
    /// The response of the issuer is not valid.
    #[error("the response of {url} is not valid: {why}")]
    Answer {
        /// URL of the request.
        url: String,
        /// The problem with the response.
        why: String,
    },
    /// The last request failed a moment ago, so it is too early for another request.
    #[error("the keys of {issuer} are not available yet")]
    NotYet {
        /// URL of the issuer.
        issuer: String,
    },
}

/// The used fields of the configuration that an issuer publishes.
#[derive(Debug, Deserialize)]
struct Discovered {
    issuer: String,
    jwks_uri: String,
}

/// The keys of one issuer.
#[derive(Debug)]
pub(super) struct Keys {
    issuer: String,
    http: Client,
    known: RwLock<Known>,
    /// Lock of the task that sends a request. All other tasks that need the response wait for this lock.
    asking: Mutex<()>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    keys: Arc<Vec<Jwk>>,
    /// Time at which the keys were received.
    told_at: Option<Instant>,
    /// Time of the last request to the issuer, whatever its result.
    asked_at: Option<Instant>,
}

impl Keys {
    /// Returns the keys of this issuer. `ca` is trusted in addition to the CAs of the system.
    pub(super) fn new(issuer: &str, ca: Option<&Path>) -> Result<Self, KeysError> {
        let mut builder = Client::builder()
            .user_agent(concat!("headroom/", env!("CARGO_PKG_VERSION")))
            .timeout(ANSWER_MAX)
            .redirect(reqwest::redirect::Policy::none());
        if let Some(path) = ca {
            let wrong = |source| KeysError::Certificates { path: path.to_owned(), source };
            let pem = std::fs::read(path).map_err(|source| wrong(source.into()))?;
            let found =
                Certificate::from_pem_bundle(&pem).map_err(|source| wrong(source.into()))?;
            if found.is_empty() {
                return Err(wrong("the file contains no certificate".into()));
            }
            builder = builder.tls_certs_merge(found);
        }
        let http = builder.build().map_err(KeysError::Setup)?;
        let (known, asking) = (RwLock::default(), Mutex::default());
        Ok(Self { issuer: issuer.to_owned(), http, known, asking })
    }

    /// Sets the keys. The issuer is never contacted.
    #[cfg(feature = "testkit")]
    pub(super) fn replace(&self, keys: Vec<Jwk>) {
        let for_ever = Instant::now() + Duration::from_hours(1_000_000);
        let (told_at, asked_at) = (Some(for_ever), Some(for_ever));
        self.change(|known| *known = Known { keys: Arc::new(keys), told_at, asked_at });
    }

    /// Requests the keys, unless keys are available.
    pub(super) async fn load(&self) -> Result<(), KeysError> {
        let _one = self.asking.lock().await;
        if self.known().told_at.is_none() { self.ask().await } else { Ok(()) }
    }

    /// Returns the keys that can have signed a token with this header. Empty if the issuer has none.
    pub(super) async fn find(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<DecodingKey>, KeysError> {
        let fits = |key: &&Jwk| fits(key, kid, algorithm);
        let has = |known: &Known| known.keys.iter().any(|key| fits(&key));
        let known = self.known();
        let is_new = known.told_at.is_some_and(|reported| reported.elapsed() < KEPT_FOR);
        if has(&known) {
            // A request with a known key does not wait. One of these requests refreshes old keys.
            if !is_new && let Ok(_one) = self.asking.try_lock() {
                self.refresh().await;
            }
        } else {
            let _one = self.asking.lock().await;
            let known = self.known();
            let lately = known.asked_at.is_some_and(|asked| asked.elapsed() < ASKED_EVERY);
            if !has(&known) && !lately {
                self.ask().await?;
            } else if known.told_at.is_none() {
                return Err(KeysError::NotYet { issuer: self.issuer.clone() });
            }
        }
        let keys = self.known().keys;
        Ok(keys.iter().filter(fits).filter_map(|key| DecodingKey::from_jwk(key).ok()).collect())
    }

    /// Requests the keys again, unless this happened a moment ago. If the request fails, the old keys stay in use.
    async fn refresh(&self) {
        if self.known().asked_at.is_some_and(|asked| asked.elapsed() < ASKED_EVERY) {
            return;
        }
        if let Err(error) = self.ask().await {
            tracing::warn!(
                error = crate::chain(&error),
                "the keys of the issuer cannot be refreshed; the known keys stay in use"
            );
        }
    }

    async fn ask(&self) -> Result<(), KeysError> {
        self.change(|known| known.asked_at = Some(Instant::now()));
        let base = self.issuer.trim_end_matches('/');
        let at = format!("{base}/.well-known/openid-configuration");
        let found: Discovered = self.get(&at).await?;
        let wrong = |why: String| KeysError::Answer { url: at.clone(), why };
        if found.issuer != self.issuer {
            let why = format!(
                "the issuer in the response is {:?}, but `auth.oidc.issuer` is {:?}",
                found.issuer, self.issuer
            );
            return Err(wrong(why));
        }
        // Keys from an unencrypted connection prove nothing.
        let is_secure = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "https");
        if is_secure(&self.issuer) && !is_secure(&found.jwks_uri) {
            return Err(wrong(format!(
                "`jwks_uri` is {:?}, but it must be an https URL",
                found.jwks_uri
            )));
        }
        let set: JwkSet = self.get(&found.jwks_uri).await?;
        tracing::info!(issuer = self.issuer, keys = set.keys.len(), "keys of the issuer read");
        self.change(|known| {
            known.keys = Arc::new(set.keys);
            known.told_at = Some(Instant::now());
        });
        Ok(())
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, KeysError> {
        let unreachable = |source| KeysError::Unreachable { url: url.to_owned(), source };
        let wrong = |why: String| KeysError::Answer { url: url.to_owned(), why };
        let answer = self.http.get(url).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        let mut answer = answer.map_err(unreachable)?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(wrong(format!("the response is larger than {ANSWER_BYTES_MAX} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))
    }
}

/// Returns whether a key can have signed a token with this header.
fn fits(key: &Jwk, kid: Option<&str>, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let by_name = kid.is_none_or(|kid| common.key_id.as_deref() == Some(kid));
    let for_signatures =
        common.public_key_use.as_ref().is_none_or(|one| *one == PublicKeyUse::Signature);
    let alike = common.key_algorithm.is_none_or(|one| one.to_string() == format!("{algorithm:?}"));
    by_name && for_signatures && alike
}

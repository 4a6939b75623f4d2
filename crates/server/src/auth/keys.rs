//! The public keys of an issuer: asked for, remembered, and asked for again when it has others.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::{Certificate, Client, Url};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long keys are taken for good without asking again.
const KEPT_FOR: Duration = Duration::from_hours(1);
/// How often the issuer is asked at most: a client that sends tokens with unknown keys must not
/// make us ask for each.
const ASKED_EVERY: Duration = Duration::from_secs(10);
/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Largest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Why the keys of an issuer are not to be had.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file of certificates cannot be used.
    #[error("the certificates in {} cannot be used", path.display())]
    Certificates {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No client could be made.
    #[error("cannot set up connections to the issuer")]
    Setup(#[source] reqwest::Error),
    /// The issuer does not answer.
    #[error("the issuer does not respond at {url}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The issuer answers something else.
    #[error("the response of {url} is not valid: {why}")]
    Answer {
        /// Where.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// It did not answer a moment ago, and is not asked again yet.
    #[error("the keys of {issuer} are not available yet")]
    NotYet {
        /// Whose.
        issuer: String,
    },
}

/// What is used of the configuration that an issuer publishes.
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
    /// The task that asks holds this, so that all others who need the answer wait for one.
    asking: Mutex<()>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    keys: Arc<Vec<Jwk>>,
    /// When they were received.
    told_at: Option<Instant>,
    /// When the issuer was asked last, whatever came of it.
    asked_at: Option<Instant>,
}

impl Keys {
    /// Those of this issuer; `ca` vouches for it besides whom the system trusts.
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

    /// These are the keys, and the issuer is never asked.
    #[cfg(feature = "testkit")]
    pub(super) fn replace(&self, keys: Vec<Jwk>) {
        let for_ever = Instant::now() + Duration::from_hours(1_000_000);
        let (told_at, asked_at) = (Some(for_ever), Some(for_ever));
        self.change(|known| *known = Known { keys: Arc::new(keys), told_at, asked_at });
    }

    /// Have keys, if there are none.
    pub(super) async fn load(&self) -> Result<(), KeysError> {
        let _one = self.asking.lock().await;
        if self.known().told_at.is_none() { self.ask().await } else { Ok(()) }
    }

    /// The keys by which a token with this header may be signed; none if the issuer has none.
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
            // Who knows the key waits for nobody: one of those who come refreshes what is old.
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

    /// Ask again, if that was not done a moment ago. What was good an hour ago is better than
    /// letting nobody in.
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
        // Keys that come over a line that anybody can change vouch for nothing.
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

/// Whether a key may have signed a token with this header.
fn fits(key: &Jwk, kid: Option<&str>, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let by_name = kid.is_none_or(|kid| common.key_id.as_deref() == Some(kid));
    let for_signatures =
        common.public_key_use.as_ref().is_none_or(|one| *one == PublicKeyUse::Signature);
    let alike = common.key_algorithm.is_none_or(|one| one.to_string() == format!("{algorithm:?}"));
    by_name && for_signatures && alike
}

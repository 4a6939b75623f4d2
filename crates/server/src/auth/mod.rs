//! Authentication and authorization of callers.

mod certificate;
#[cfg(feature = "testkit")]
mod exercise;
mod keys;
mod oidc;
mod rights;
mod roles;
mod token;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use headroom_api::headroomv1::Code;
use headroom_config::process::Process;
use jiff::Timestamp;

use certificate::CertificateRules;
use oidc::{Oidc, TokenError};

#[cfg(feature = "testkit")]
pub use exercise::exercise;
pub use keys::KeysError;
pub use rights::{NO_FOREIGN_PAGE, is_change, may, may_schedule, not_from_elsewhere};
use roles::TenantRules;
pub use roles::{name_of, role_named};
pub use token::{Secret, TOKEN_PREFIX, TokenEntry, TokenFile, TokenFileError, Tokens};

use crate::caller::Caller;
use crate::family::Refusal;
use crate::listen::Peer;

/// Authenticates requests: by client certificate, by a token of an issuer, or by a static token, in this order.
#[derive(Debug)]
pub struct Authenticator {
    certificates: Option<CertificateRules>,
    oidc: Option<Oidc>,
    tokens: Option<Tokens>,
    /// Rules for the tenants of callers, for every method of authentication.
    tenants: TenantRules,
}

/// Reason why authentication cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The token file cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenFileError),
    /// The keys of the issuer cannot be requested.
    #[error(transparent)]
    Keys(#[from] KeysError),
}

impl Authenticator {
    /// Returns the authenticator for the process settings. `None` if every caller is trusted.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub fn new(process: &Process) -> Result<Option<Self>, AuthError> {
        if !process.has_auth() {
            return Ok(None);
        }
        let auth = &process.auth;
        let shown = process.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        Ok(Some(Self {
            certificates: shown.then(|| CertificateRules::new(&auth.certificates)),
            oidc: auth.oidc.as_ref().map(Oidc::new).transpose()?,
            tokens: auth.tokens.as_deref().map(Tokens::open).transpose()?,
            tenants: TenantRules::new(&auth.tenants),
        }))
    }

    /// Returns the static tokens. `None` if the server has none.
    pub fn tokens(&self) -> Option<&Tokens> {
        self.tokens.as_ref()
    }

    /// Requests the keys of the issuer before the first token arrives. A failure is only logged, because a token
    /// causes another request.
    pub async fn warm(&self) {
        if let Some(oidc) = &self.oidc
            && let Err(error) = oidc.warm().await
        {
            tracing::warn!(
                error = crate::chain(&error),
                "the keys of the issuer are not available yet"
            );
        }
    }

    /// Returns the caller of a request. `None` without credentials.
    ///
    /// # Errors
    /// If the credentials are not valid. Invalid credentials never count as absent.
    pub async fn identify(
        &self,
        peer: Option<&Peer>,
        headers: &HeaderMap,
    ) -> Result<Option<Caller>, Refusal> {
        let caller = self.known(peer, headers).await?;
        Ok(caller.map(|caller| {
            let tenants = self.tenants.of(&caller.user, &caller.groups);
            Caller { tenants, ..caller }
        }))
    }

    async fn known(
        &self,
        peer: Option<&Peer>,
        headers: &HeaderMap,
    ) -> Result<Option<Caller>, Refusal> {
        let unknown = |why: &str| Refusal::new(Code::Unauthenticated, why);
        let shown = peer.and_then(|peer| peer.certificate.as_deref());
        if let (Some(rules), Some(certificate)) = (&self.certificates, shown) {
            return rules.caller(certificate).map(Some).map_err(unknown);
        }
        let Some(token) = bearer(headers).map_err(unknown)? else { return Ok(None) };
        if let Some(tokens) = &self.tokens
            && (token.starts_with(TOKEN_PREFIX) || self.oidc.is_none())
        {
            let caller = tokens.find(token, Timestamp::now());
            return caller.map(Some).ok_or_else(|| unknown("the token is unknown, or has expired"));
        }
        let Some(oidc) = &self.oidc else {
            return Err(unknown("this server accepts no tokens. Use a client certificate."));
        };
        match oidc.caller(token).await {
            Ok(caller) => Ok(Some(caller)),
            Err(error @ TokenError::Bad(_)) => Err(unknown(&error.to_string())),
            Err(TokenError::Keys(error)) => {
                tracing::warn!(error = crate::chain(&error), "a token cannot be verified");
                let why = "the issuer of the token does not respond, so the token cannot be verified. Try again later.";
                Err(Refusal::new(Code::Recovering, why).retry_after(10))
            }
        }
    }
}

/// Returns the bearer token of a request. `None` without a token. Source: RFC 6750, section 2.1.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("the request has more than one `Authorization` header");
    }
    let text = value.to_str().map_err(|_| "`Authorization` cannot be read")?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err("`Authorization` must be `Bearer` followed by a token");
    }
    Ok(Some(token))
}

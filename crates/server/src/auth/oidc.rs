//! Tokens (JWT) of an `OpenID` Connect issuer.
//!
//! Source: RFC 7519 (JWT), RFC 7517 (its keys), `OpenID` Connect Discovery 1.0, section 4.

use headroom_api::headroomv1::Role;
use headroom_config::process;
use headroom_core::Name;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::keys::{Keys, KeysError};
use super::roles::{RoleRules, in_order, role_named};
use crate::caller::{Caller, Proof};

/// Largest accepted token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// Maximum number of groups that are read from a token.
const GROUPS_MAX: usize = 1_000;
/// Tolerated difference between clocks, in seconds.
const LEEWAY_S: u64 = 60;

/// Accepted algorithms, all of which need the issuer's private key. Shared secrets are excluded, because the keys
/// here are public.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Verifies tokens of one issuer.
#[derive(Debug)]
pub(super) struct Oidc {
    settings: process::Oidc,
    roles: RoleRules,
    keys: Keys,
}

/// Reason why a token was not accepted.
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenError {
    /// The token is not valid.
    #[error("the token is invalid: {0}")]
    Bad(String),
    /// The keys of the issuer are not available.
    #[error(transparent)]
    Keys(KeysError),
}

impl Oidc {
    /// # Errors
    /// If the CA certificates for the issuer cannot be used.
    pub(super) fn new(settings: &process::Oidc) -> Result<Self, KeysError> {
        let keys = Keys::new(&settings.issuer, settings.ca.as_deref())?;
        Ok(Self { roles: RoleRules::new(&settings.roles), settings: settings.clone(), keys })
    }

    /// Requests the keys of the issuer before the first token arrives.
    pub(super) async fn warm(&self) -> Result<(), KeysError> {
        self.keys.load().await
    }

    /// Sets the keys of the issuer, which is never contacted.
    #[cfg(feature = "testkit")]
    pub(super) fn replace_keys(&self, keys: Vec<jsonwebtoken::jwk::Jwk>) {
        self.keys.replace(keys);
    }

    /// Returns the caller of a token.
    ///
    /// # Errors
    /// If the token is not valid, or cannot be verified now.
    pub(super) async fn caller(&self, token: &str) -> Result<Caller, TokenError> {
        let bad = |why: &str| TokenError::Bad(why.to_owned());
        if token.len() > TOKEN_BYTES_MAX {
            return Err(bad("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| bad("the token is not a JWT"))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(bad("the signature algorithm of the token is not supported"));
        }
        if header.crit.is_some() {
            return Err(bad("the token has critical extensions (`crit`), which are not supported"));
        }
        let keys = self.keys.find(header.kid.as_deref(), header.alg).await;
        let keys = keys.map_err(TokenError::Keys)?;
        if keys.is_empty() {
            return Err(bad("the issuer does not publish the key that signed the token"));
        }
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_S;
        let mut last = bad("the issuer does not publish the key that signed the token");
        for key in keys {
            match decode::<Map<String, Value>>(token, &key, &validation) {
                Ok(data) => return self.of_claims(&data.claims),
                Err(error) => last = TokenError::Bad(error.to_string()),
            }
        }
        Err(last)
    }

    fn of_claims(&self, claims: &Map<String, Value>) -> Result<Caller, TokenError> {
        let settings = &self.settings;
        let user = claims.get(&settings.user_claim).and_then(Value::as_str);
        let user = user.filter(|user| !user.is_empty() && !user.chars().any(char::is_control));
        let user = user.ok_or_else(|| {
            TokenError::Bad(format!(
                "the claim `{}` of the token does not name a user",
                settings.user_claim
            ))
        })?;
        let groups: Vec<Name> = texts(claims, &settings.groups_claim).map(Name::new).collect();
        let claimed = settings.roles_claim.iter().flat_map(|claim| texts(claims, claim));
        let claimed: Vec<Role> = claimed.filter_map(role_named).collect();
        let roles = in_order(self.roles.of(user, &groups).into_iter().chain(claimed));
        let (identity, user) = (format!("oidc:{user}"), Name::new(user));
        Ok(Caller { identity, user, groups, roles, tenants: Vec::new(), proof: Proof::Bearer })
    }
}

/// Returns the texts of a claim that is a list or a single text.
fn texts<'a>(claims: &'a Map<String, Value>, claim: &str) -> impl Iterator<Item = &'a str> {
    let value = claims.get(claim);
    let one = value.and_then(Value::as_str);
    let many = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many).take(GROUPS_MAX)
}

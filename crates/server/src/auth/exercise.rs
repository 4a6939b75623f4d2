//! Arbitrary bytes as credentials of callers, for the fuzzer and the tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use headroom_api::headroomv1::Role;
use headroom_config::process::{Certificates, Process, Sources};
use jiff::Timestamp;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use tokio::runtime::Runtime;

use super::certificate::CertificateRules;
use super::oidc::{Oidc, TokenError};
use super::roles::TenantRules;
use super::token::{Secret, TokenEntry, TokenFile, Tokens};
use super::{Authenticator, bearer, not_from_elsewhere};
use crate::caller::{Caller, Proof};
use crate::testkit::{Bytes, watched};

/// Settings of the server. The files that they name are not read, and the issuer is not contacted.
const TOLD: &str = "
tls: {cert: cert.pem, key: key.pem, clientCa: clients.pem}
auth:
  tokens: tokens
  certificates: {user: san, roles: {'user:ann': rm, 'group:ops': operator}}
  oidc:
    issuer: https://login.example.org
    audience: headroom
    rolesClaim: roles
    roles: {'group:ops': operator, '*': submitter}
";

/// State that is the same in all calls.
struct Fixed {
    runtime: Runtime,
    certificates: Certificates,
    /// Has a token of the server, and a key of the issuer.
    auth: Authenticator,
    secret: Secret,
    signer: EncodingKey,
    /// An issuer whose keys are replaced each time.
    other: Oidc,
}

fn fixed() -> &'static Fixed {
    static FIXED: OnceLock<Fixed> = OnceLock::new();
    FIXED.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let file = Some((PathBuf::from("headroom.yaml"), TOLD.to_owned()));
        let process = Process::read(Sources { file, ..Sources::default() });
        let settings = process.expect("the file is legal").auth;
        let issuer = settings.oidc.expect("it names an issuer");
        let oidc = || Oidc::new(&issuer).expect("it names no certificates");
        let (known, signer) = (oidc(), signer());
        known.replace_keys(vec![public(&signer)]);
        let secret = Secret::random().expect("the system has random numbers");
        let ours = Authenticator::knowing([("ci", Role::Submitter, &secret)]);
        Fixed {
            runtime: runtime.expect("there are threads"),
            certificates: settings.certificates,
            auth: Authenticator { oidc: Some(known), ..ours },
            secret,
            signer,
            other: oidc(),
        }
    })
}

impl Authenticator {
    /// Returns an authenticator that accepts only tokens with these names.
    pub(crate) fn knowing<'s>(
        tokens: impl IntoIterator<Item = (&'s str, Role, &'s Secret)>,
    ) -> Self {
        let mut file = TokenFile::parse(Path::new("tokens"), "").expect("nothing is wrong in it");
        for (name, role, secret) in tokens {
            let entry = TokenEntry {
                name: name.to_owned(),
                sha256: secret.sha256(),
                user: name.to_owned(),
                groups: vec!["dev".to_owned()],
                roles: vec![role],
                created: Timestamp::UNIX_EPOCH,
                expires: None,
            };
            file.add(entry).expect("names are not repeated");
        }
        let tokens = Some(Tokens::holding(file));
        Self { certificates: None, oidc: None, tokens, tenants: TenantRules::default() }
    }
}

/// Returns a signing key of an issuer.
fn signer() -> EncodingKey {
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};

    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let pair = EcdsaKeyPair::generate_pkcs8(kind, &SystemRandom::new());
    EncodingKey::from_ec_der(pair.expect("the system has random numbers").as_ref())
}

fn public(signer: &EncodingKey) -> Jwk {
    let key = Jwk::from_encoding_key(signer, Algorithm::ES256);
    let mut key = key.expect("the key is of this kind");
    key.common.key_id = Some("a".to_owned());
    key
}

/// Processes arbitrary bytes as credentials. The first byte selects the kind: 0 headers, 1 claims that the issuer has
/// signed, 2 keys of an issuer, 3 a token file, 4 a certificate.
///
/// # Panics
/// If the code under test panics, accepts invalid credentials, or returns an invalid caller.
pub fn exercise(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    watched(|| match bytes.byte() % 5 {
        0 => headers(bytes),
        1 => claims(bytes),
        2 => keys(bytes),
        3 => token_file(bytes.rest()),
        _ => certificate(bytes.rest()),
    });
}

/// Sends `Authorization` as often as the first byte specifies, with or without the valid token at the end. Then sends
/// `Origin` and `Host`.
fn headers(mut bytes: Bytes<'_>) {
    let Fixed { runtime, auth, secret, .. } = fixed();
    let choice = bytes.byte();
    let mut headers = HeaderMap::new();
    for _ in 0..choice & 3 {
        let mut value = bytes.until(0).to_vec();
        if choice & 4 != 0 {
            value.extend_from_slice(secret.reveal().as_bytes());
        }
        headers.extend(HeaderValue::from_bytes(&value).map(|value| (AUTHORIZATION, value)));
    }
    let own = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) = own.and_then(|own| own.split_once(' ')).unwrap_or_default();
    let is_ours = scheme.eq_ignore_ascii_case("bearer") && token.trim() == secret.reveal();
    let is_one = headers.get_all(AUTHORIZATION).iter().count() == 1;
    match runtime.block_on(auth.identify(None, &headers)) {
        Ok(None) => assert!(!headers.contains_key(AUTHORIZATION), "it was taken for nothing"),
        Ok(Some(caller)) => {
            assert!(is_ours && is_one, "{headers:?} let {caller:?} in");
            assert_eq!(caller.identity, "token:ci");
        }
        Err(refusal) => {
            assert!(!(is_ours && is_one), "{refusal:?}");
            assert!(
                !refusal.detail.contains(secret.reveal()),
                "the refusal reveals the secret: {refusal:?}"
            );
        }
    }
    let _ = bearer(&headers);
    for name in [ORIGIN, HOST] {
        headers.extend(HeaderValue::from_bytes(bytes.until(0)).map(|value| (name, value)));
    }
    headers.insert(super::NO_FOREIGN_PAGE, HeaderValue::from_static("1"));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if not_from_elsewhere(Proof::Certificate, &headers, host).is_ok() {
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let same = origin.is_none_or(|origin| origin.to_ascii_lowercase().contains(&host));
        assert!(same, "{origin:?} may change something at {host:?}");
    }
}

/// Sends JSON claims with a header that the first byte selects.
fn claims(mut bytes: Bytes<'_>) {
    let Fixed { runtime, auth, signer, .. } = fixed();
    let choice = bytes.byte();
    let Ok(claims) = serde_json::from_slice::<serde_json::Value>(bytes.rest()) else { return };
    let kid = match choice & 3 {
        0 => None,
        1 => Some("b".to_owned()),
        _ => Some("a".to_owned()),
    };
    let header = Header { kid, ..Header::new(Algorithm::ES256) };
    // Numbers that are valid in JSON, but not in claims, are refused here.
    let Ok(token) = jsonwebtoken::encode(&header, &claims, signer) else { return };
    let oidc = auth.oidc.as_ref().expect("it has one");
    if let Ok(caller) = runtime.block_on(oidc.caller(&token)) {
        let named = |name: &str, text: &str| claims[name].as_str() == Some(text);
        let lists = |name: &str, text: &str| {
            named(name, text)
                || claims[name].as_array().is_some_and(|all| all.contains(&text.into()))
        };
        assert!(named("iss", "https://login.example.org") && lists("aud", "headroom"), "{claims}");
        assert!(claims["exp"].is_number() && choice & 3 != 1, "{claims}");
        judge(&caller);
    }
}

/// Checks properties of every caller.
fn judge(caller: &Caller) {
    let Caller { identity, user, groups, roles, .. } = caller;
    assert!(!user.is_empty() && !user.chars().any(char::is_control), "{caller:?}");
    assert!(identity.ends_with(user.as_str()) && groups.len() <= 1_000, "{caller:?}");
    assert!(roles.is_sorted() && !roles.windows(2).any(|two| two[0] == two[1]), "{caller:?}");
}

/// Sends keys of an issuer. None of them has signed the token, unless it is the correct key.
fn keys(mut bytes: Bytes<'_>) {
    let Fixed { runtime, signer, other, .. } = fixed();
    let choice = bytes.byte();
    let Ok(set) = serde_json::from_slice::<JwkSet>(bytes.rest()) else { return };
    other.replace_keys(set.keys);
    let claims = serde_json::json!({
        "iss": "https://login.example.org", "aud": "headroom", "sub": "ann", "exp": u32::MAX
    });
    let kid = (choice & 1 != 0).then(|| "a".to_owned());
    let header = Header { kid, ..Header::new(Algorithm::ES256) };
    let token = jsonwebtoken::encode(&header, &claims, signer).expect("they are claims");
    let caller = runtime.block_on(other.caller(&token));
    let is_refused = matches!(caller, Err(TokenError::Bad(_)));
    assert!(is_refused, "a key that has not signed it leads to {caller:?}");
}

/// Checks that a token file is unchanged after it is read, written, and read again.
fn token_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("tokens");
    match TokenFile::parse(path, text) {
        Ok(file) => {
            let again = file.text().expect("it can be written");
            let again = TokenFile::parse(path, &again).expect("what was written can be read");
            assert_eq!(again, file);
            let tokens = Tokens::holding(file);
            assert_eq!(tokens.find("headroom_0", Timestamp::UNIX_EPOCH), None);
        }
        Err(error) => assert!(error.to_string().contains("tokens:"), "{error}"),
    }
}

/// Checks the caller of a certificate, with both rules.
fn certificate(der: &[u8]) {
    for user_is_alternative_name in [false, true] {
        let rules = Certificates { user_is_alternative_name, ..fixed().certificates.clone() };
        match CertificateRules::new(&rules).caller(der) {
            Ok(caller) => judge(&caller),
            Err(why) => assert!(!why.is_empty()),
        }
    }
}

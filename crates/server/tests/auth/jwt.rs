//! Tokens of an issuer, which changes its keys.

use std::time::Duration;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, SignatureAlgorithm};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::{Server, client, start};

/// A key of the issuer.
struct Key {
    kid: &'static str,
    algorithm: Algorithm,
    secret: EncodingKey,
}

impl Key {
    fn new(kid: &'static str) -> Self {
        Self::of(kid, Algorithm::ES256, &PKCS_ECDSA_P256_SHA256)
    }

    fn of(kid: &'static str, algorithm: Algorithm, kind: &'static SignatureAlgorithm) -> Self {
        let pair = KeyPair::generate_for(kind).unwrap();
        Self { kid, algorithm, secret: EncodingKey::from_ec_der(&pair.serialize_der()) }
    }

    fn public(&self) -> Jwk {
        let mut jwk = Jwk::from_encoding_key(&self.secret, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.kid.to_owned());
        jwk
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.kid.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, claims, &self.secret).unwrap()
    }
}

async fn issuer() -> MockServer {
    let issuer = MockServer::start().await;
    let found = json!({"issuer": issuer.uri(), "jwks_uri": format!("{}/keys", issuer.uri())});
    Mock::given(method("GET"))
        .and(path("/.well-known/openid-configuration"))
        .respond_with(ResponseTemplate::new(200).set_body_json(found))
        .mount(&issuer)
        .await;
    issuer
}

async fn publish(issuer: &MockServer, keys: &[&Key]) {
    let keys: Vec<Jwk> = keys.iter().map(|key| key.public()).collect();
    Mock::given(method("GET"))
        .and(path("/keys"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"keys": keys})))
        .up_to_n_times(1)
        .mount(issuer)
        .await;
}

fn told(issuer: &str) -> String {
    format!(
        "auth: {{oidc: {{issuer: '{issuer}', audience: headroom, userClaim: name, rolesClaim: roles, \
         roles: {{'group:ops': operator, 'user:ann': [rm]}}}}}}"
    )
}

fn claims(issuer: &str) -> Value {
    let now = jiff::Timestamp::now().as_second();
    json!({"iss": issuer, "aud": ["other", "headroom"], "exp": now + 300, "name": "ann", "groups": ["ops"]})
}

async fn ask(server: &Server, token: &str) -> (u16, String) {
    let request = client().get(server.url("/ws/v1/clusters")).bearer_auth(token);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn a_token_of_the_issuer_says_who_it_is() {
    let issuer = issuer().await;
    let (key, large) = (Key::new("a"), Key::of("b", Algorithm::ES384, &PKCS_ECDSA_P384_SHA384));
    publish(&issuer, &[&key, &large]).await;
    let server = start(&told(&issuer.uri())).await;
    for key in [&key, &large] {
        let (status, text) = ask(&server, &key.sign(&claims(&issuer.uri()))).await;
        assert_eq!((status, &*text), (200, "oidc:ann sent 0"));
    }
    let mut viewer = claims(&issuer.uri());
    viewer["groups"] = json!("dev");
    assert_eq!(ask(&server, &key.sign(&viewer)).await.0, 403);
    viewer["roles"] = json!(["viewer", "king"]);
    assert_eq!(ask(&server, &key.sign(&viewer)).await.0, 200);
}

#[tokio::test]
async fn a_token_that_is_not_good_is_refused() {
    let issuer = issuer().await;
    let (key, stranger) = (Key::new("a"), Key::new("a"));
    publish(&issuer, &[&key]).await;
    let server = start(&told(&issuer.uri())).await;
    let good = claims(&issuer.uri());
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        key.sign(&claims)
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        key.sign(&claims)
    };
    let now = jiff::Timestamp::now().as_second();
    // The public key is known to everybody, so it must never count as a shared secret.
    let public = serde_json::to_vec(&key.public()).unwrap();
    let header = Header { kid: Some("a".to_owned()), ..Header::new(Algorithm::HS256) };
    let forged = encode(&header, &good, &EncodingKey::from_secret(&public)).unwrap();
    let signed = key.sign(&good);
    let (head, rest) = signed.split_once('.').unwrap();
    let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", rest.split_once('.').unwrap().0);
    for (what, token) in [
        ("another issuer", with("iss", json!("https://evil.example"))),
        ("another audience", with("aud", json!("other"))),
        ("expired", with("exp", json!(now - 120))),
        ("not yet", with("nbf", json!(now + 120))),
        ("no end", without("exp")),
        ("no audience", without("aud")),
        ("no issuer", without("iss")),
        ("no user", without("name")),
        ("a user that is no text", with("name", json!(7))),
        ("an empty user", with("name", json!(""))),
        ("a stranger's key", stranger.sign(&good)),
        ("a shared secret", forged),
        ("no signature", unsigned),
        ("cut off", head.to_owned()),
        ("too long", format!("{signed}{}", "a".repeat(20_000))),
        ("another kind", "headroom_0".to_owned()),
    ] {
        let (status, text) = ask(&server, &token).await;
        assert_eq!(status, 401, "{what}: {text}");
    }
    assert_eq!(ask(&server, &signed).await.0, 200);
}

#[tokio::test]
async fn keys_are_asked_for_again_when_one_is_new_and_not_more_often() {
    let issuer = issuer().await;
    let (old, new) = (Key::new("old"), Key::new("new"));
    publish(&issuer, &[&old]).await;
    publish(&issuer, &[&old, &new]).await;
    let server = start(&told(&issuer.uri())).await;
    let claims = claims(&issuer.uri());
    assert_eq!(ask(&server, &old.sign(&claims)).await.0, 200);
    // Strangers do not make the server ask for each token.
    for _ in 0..5 {
        assert_eq!(ask(&server, &Key::new("stranger").sign(&claims)).await.0, 401);
    }
    let asked = issuer.received_requests().await.unwrap().len();
    assert_eq!(asked, 2, "the configuration and the keys, once");
    let until = tokio::time::Instant::now() + Duration::from_secs(15);
    while ask(&server, &new.sign(&claims)).await.0 != 200 {
        assert!(tokio::time::Instant::now() < until, "the new key is never taken");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(ask(&server, &old.sign(&claims)).await.0, 200);
    assert_eq!(issuer.received_requests().await.unwrap().len(), 4);
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_is_told() {
    let issuer = issuer().await;
    let uri = issuer.uri();
    let key = Key::new("a");
    let token = key.sign(&claims(&uri));
    let server = start(&told(&uri)).await;
    let (status, text) = ask(&server, &token).await;
    assert_eq!(status, 503, "there are no keys: {text}");
    // Without a token nobody has to be asked.
    assert_eq!(server.get("/ws/v1/clusters").await.status(), 401);
    assert_eq!(server.get("/livez").await.status(), 200);
}

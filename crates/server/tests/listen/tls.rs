//! Encrypted connections, and clients that show a certificate.

use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use reqwest::{Certificate, Client, Identity};

use crate::support::{Folder, Server, start};

/// Somebody who vouches.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate and its key.
    fn vouch(&self, change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn client(&self, name: &str, organisation: &str) -> Identity {
        let (cert, key) = self.vouch(|params| {
            params.distinguished_name.push(DnType::CommonName, name);
            params.distinguished_name.push(DnType::OrganizationName, organisation);
            let uri = format!("spiffe://cluster/{name}").try_into().unwrap();
            params.subject_alt_names = vec![SanType::URI(uri)];
        });
        Identity::from_pem(format!("{cert}{key}").as_bytes()).unwrap()
    }

    /// A client that trusts this.
    fn trusting(&self, identity: Option<Identity>) -> Client {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let builder = Client::builder().no_proxy().pool_max_idle_per_host(0);
        let builder = builder.tls_certs_only([Certificate::from_pem(self.pem.as_bytes()).unwrap()]);
        let builder = identity.into_iter().fold(builder, reqwest::ClientBuilder::identity);
        builder.build().unwrap()
    }
}

fn install(folder: &Folder, authority: &Authority) -> String {
    let (cert, key) = authority.vouch(|_| {});
    let (cert, key) = (folder.write("cert.pem", &cert), folder.write("key.pem", &key));
    let ca = folder.write("ca.pem", &authority.pem);
    format!("cert: {cert}, key: {key}, clientCa: {ca}")
}

async fn ask(server: &Server, client: &Client) -> Result<(u16, String), reqwest::Error> {
    let url = format!("https://localhost:{}/ws/v1/clusters", server.address.port());
    let response = client.get(url).send().await?;
    Ok((response.status().as_u16(), response.text().await?))
}

#[tokio::test]
async fn a_certificate_says_who_a_client_is() {
    let folder = Folder::new();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let tls = install(&folder, &authority);
    let roles = "{'user:ann': [operator], 'group:ops': viewer, 'user:spiffe://cluster/bob': rm}";
    let file = format!("tls: {{{tls}}}\nauth: {{certificates: {{roles: {roles}}}}}");
    let server = start(&file).await;
    for (name, organisation, status) in
        [("ann", "dev", 200), ("bob", "ops", 200), ("bob", "dev", 403)]
    {
        let client = authority.trusting(Some(authority.client(name, organisation)));
        let (found, text) = ask(&server, &client).await.unwrap();
        assert_eq!(found, status, "{name} of {organisation}: {text}");
        assert!(text.contains(&format!("certificate:{name}")), "{text}");
    }
    // Without a certificate there is a connection, and nobody at its end.
    assert_eq!(ask(&server, &authority.trusting(None)).await.unwrap().0, 401);
    let forged = authority.trusting(Some(stranger.client("ann", "ops")));
    assert!(ask(&server, &forged).await.is_err(), "a stranger vouches for himself");
    assert!(ask(&server, &stranger.trusting(None)).await.is_err(), "the server is not known");
    let plain = reqwest::get(format!("http://{}/livez", server.address)).await;
    assert!(plain.is_err(), "a plain connection is taken");
}

#[tokio::test]
async fn the_user_may_be_the_alternative_name() {
    let folder = Folder::new();
    let authority = Authority::new();
    let tls = install(&folder, &authority);
    let certificates = "{user: san, roles: {'user:spiffe://cluster/bob': viewer}}";
    let server = start(&format!("tls: {{{tls}}}\nauth: {{certificates: {certificates}}}")).await;
    let client = authority.trusting(Some(authority.client("bob", "dev")));
    let expected = "certificate:spiffe://cluster/bob sent 0";
    assert_eq!(ask(&server, &client).await.unwrap(), (200, expected.to_owned()));
}

#[tokio::test]
async fn renewed_certificates_are_taken_and_broken_ones_are_not() {
    let folder = Folder::new();
    let (old, new) = (Authority::new(), Authority::new());
    let tls = install(&folder, &old);
    let server =
        start(&format!("tls: {{{tls}}}\nauth: {{certificates: {{roles: {{'*': viewer}}}}}}")).await;
    assert_eq!(ask(&server, &old.trusting(None)).await.unwrap().0, 401);
    folder.write("cert.pem", "nonsense");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(ask(&server, &old.trusting(None)).await.unwrap().0, 401);
    let until = Instant::now() + Duration::from_secs(10);
    install(&folder, &new);
    while ask(&server, &new.trusting(None)).await.is_err() {
        assert!(Instant::now() < until, "the new certificate is never shown");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let client = new.trusting(Some(new.client("ann", "dev")));
    assert_eq!(ask(&server, &client).await.unwrap().0, 200);
}

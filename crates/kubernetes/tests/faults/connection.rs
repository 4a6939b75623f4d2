//! Connections of single requests, with a server that speaks TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use headroom_kubernetes::client::{Api, Fault};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// An empty frame SETTINGS, and a frame GOAWAY without an error that says that no request was processed.
const GO_AWAY: &[u8] = &[
    0, 0, 0, 4, 0, 0, 0, 0, 0, //
    0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// What a server does with a connection.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Answers all requests over HTTP/2.
    Answers,
    /// Closes the first connection before it processes a request. Answers on the others.
    GoesAway,
    /// Never answers.
    IsSilent,
    /// Answers over HTTP/1.1, because it knows nothing else.
    IsOld,
}

/// Starts a server. Returns a client of it, and its number of connections.
async fn server(manner: Manner) -> (Api, Arc<AtomicUsize>) {
    let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let private = PrivateKeyDer::try_from(key.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)
        .unwrap();
    if !matches!(manner, Manner::IsOld) {
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        while let Ok((tcp, _)) = listener.accept().await {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let tls = acceptor.accept(tcp).await.unwrap();
                match manner {
                    Manner::GoesAway if number == 0 => go_away(tls).await,
                    Manner::Answers | Manner::GoesAway => answer(tls).await,
                    Manner::IsSilent => be_silent(tls).await,
                    Manner::IsOld => answer_old(tls).await,
                }
            });
        }
    });
    let file =
        std::env::temp_dir().join(format!("headroom-kubeconfig-{}-{port}", std::process::id()));
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{port}', insecure-skip-tls-verify: true}}}}]\n\
         users: [{{name: u, user: {{token: secret}}}}]\n\
         contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
    );
    std::fs::write(&file, text).unwrap();
    let api = Api::from_file(&file).await.unwrap();
    std::fs::remove_file(file).unwrap();
    (api, connections)
}

async fn answer(tls: TlsStream<TcpStream>) {
    let mut connection = h2::server::handshake(tls).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        assert_eq!(request.headers()["authorization"], "Bearer secret");
        let mut body = respond.send_response(http::Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"{}"), true).unwrap();
    }
}

async fn go_away(mut tls: TlsStream<TcpStream>) {
    let mut buffer = [0; 4_096];
    // The preface, the settings, and the request can come in several parts.
    assert!(tls.read(&mut buffer).await.unwrap() > 0);
    tokio::time::sleep(Duration::from_millis(100)).await;
    tls.write_all(GO_AWAY).await.unwrap();
    tls.shutdown().await.unwrap();
}

async fn be_silent(mut tls: TlsStream<TcpStream>) {
    let mut buffer = [0; 4_096];
    // It sends its settings, as any server, but no answer to a request or to a probe.
    tls.write_all(&GO_AWAY[..9]).await.unwrap();
    while tls.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
}

async fn answer_old(mut tls: TlsStream<TcpStream>) {
    let mut buffer = [0; 4_096];
    while tls.read(&mut buffer).await.is_ok_and(|count| count > 0) {
        tls.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    }
}

async fn get(api: &Api) -> Result<Value, Fault> {
    api.get("/api/v1/namespaces/default").await
}

#[tokio::test]
async fn many_requests_share_one_connection() {
    let (api, connections) = server(Manner::Answers).await;
    get(&api).await.unwrap();
    for result in join_all((0..200).map(|_| get(&api))).await {
        result.unwrap();
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_that_was_not_processed_is_sent_again() {
    let (api, connections) = server(Manner::GoesAway).await;
    get(&api).await.unwrap();
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_server_without_http_2_gets_requests() {
    let (api, _) = server(Manner::IsOld).await;
    for _ in 0..3 {
        get(&api).await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_becomes_silent_is_given_up_before_the_request() {
    let (api, connections) = server(Manner::IsSilent).await;
    let begin = Instant::now();
    let fault = get(&api).await.unwrap_err();
    assert!(matches!(fault, Fault::Unreachable(_)), "{fault}");
    assert!(begin.elapsed() < Duration::from_secs(25), "{:?}", begin.elapsed());
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

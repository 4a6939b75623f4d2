//! Connections that are held.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

use crate::attack::Counts;

/// A connection from one of the addresses of the loopback, so that no address has many.
pub(crate) async fn connect(to: SocketAddr, number: usize) -> io::Result<TcpStream> {
    let last = u8::try_from(2 + number % 200).unwrap_or(2);
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0))?;
    socket.connect(to).await
}

/// 10,000 connections from 200 addresses, half of which have asked something before; whoever is sent
/// away comes again.
pub(crate) fn idle(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const MANY: usize = 10_000;
    let one = async move |number: usize, counts: Counts| {
        // Not all at once: the system has a short queue for those who come.
        sleep(Duration::from_millis(u64::try_from(number / 8).unwrap_or(0))).await;
        loop {
            let Ok(mut stream) = connect(to, number).await else {
                counts.count("not taken in");
                sleep(Duration::from_millis(500)).await;
                continue;
            };
            counts.count("connections");
            if number % 2 == 1 {
                let asked =
                    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
                let mut answer = [0; 512];
                let read = stream.read(&mut answer).await;
                if asked.is_ok()
                    && read.is_ok_and(|bytes| answer[..bytes].starts_with(b"HTTP/1.1 200"))
                {
                    counts.count("answered");
                }
            }
            let _ = stream.read(&mut [0; 64]).await;
            counts.count("ended by the server");
        }
    };
    Box::pin(async move {
        join_all((0..MANY).map(|number| one(number, counts.clone()))).await;
    })
}

/// 64 clients that send a byte a second: half of them a head, half a body.
pub(crate) fn slow(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const HEAD: &str = "POST /ws/v1/validate-conf HTTP/1.1\r\nHost: localhost\r\n";
    let one = async move |number: usize, counts: Counts| {
        loop {
            let Ok(mut stream) = connect(to, number).await else { continue };
            let begin = if number.is_multiple_of(2) { "" } else { "Content-Length: 1000\r\n\r\n" };
            let _ = stream.write_all(format!("{HEAD}{begin}").as_bytes()).await;
            counts.count("clients");
            let letter = if number.is_multiple_of(2) { b"A" } else { b"#" };
            while stream.write_all(letter).await.is_ok() {
                counts.count("bytes");
                sleep(Duration::from_secs(1)).await;
            }
            counts.count("ended by the server");
        }
    };
    Box::pin(async move {
        join_all((0..64).map(|number| one(number, counts.clone()))).await;
    })
}

/// 100 clients that follow what happens, from the beginning on, and read nothing of it.
pub(crate) fn unread(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let one = async move |number: usize, counts: Counts| {
        let path = ["/ws/v1/events/stream?count=100000", "/headroom/v1/events?from=0"][number % 2];
        let socket = TcpSocket::new_v4();
        let Ok(socket) = socket else { return };
        let _ = socket.set_recv_buffer_size(4_096);
        let last = u8::try_from(2 + number % 200).unwrap_or(2);
        let _ = socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0));
        let Ok(mut stream) = socket.connect(to).await else { return };
        // Each goes by a name of its own, since one name has few streams.
        let head = format!("GET {path} HTTP/1.1\r\nHost: h{number}.localhost\r\n\r\n");
        if stream.write_all(head.as_bytes()).await.is_ok() {
            counts.count("followers");
        }
        std::future::pending::<()>().await;
    };
    Box::pin(async move {
        join_all((0..100).map(|number| one(number, counts.clone()))).await;
    })
}

//! What the system tells the server.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that end the server.
#[derive(Debug)]
pub(super) struct Ends {
    terminate: Signal,
    interrupt: Signal,
}

impl Ends {
    pub(super) fn new() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next one; its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// The signal that asks for the queue file to be read again.
pub(super) fn hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

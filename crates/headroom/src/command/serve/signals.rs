//! The signals that the server handles.

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

    /// Waits for the next signal. Returns its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Returns the signal that reloads the queue file.
pub(super) fn hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

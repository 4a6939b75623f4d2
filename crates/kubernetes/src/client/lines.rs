//! An answer that is read line by line.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kube::client::Body;

use super::{Fault, OBJECT_BYTES, body};

/// An answer that is read line by line. A line has at most 16 MiB.
#[derive(Debug)]
pub struct Lines {
    body: Body,
    buffer: BytesMut,
    /// Number of bytes at the beginning of the buffer that are no line break.
    searched: usize,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), searched: 0 }
    }

    /// Returns the next line, or nothing at the end of the answer. `idle` limits the time without any byte.
    ///
    /// A dropped call loses nothing.
    ///
    /// # Errors
    ///
    /// Returns why there is no line. The answer is of no use then.
    pub async fn next(&mut self, idle: Duration) -> Result<Option<Bytes>, Fault> {
        loop {
            let rest = &self.buffer[self.searched..];
            if let Some(position) = rest.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.searched + position + 1).freeze();
                self.searched = 0;
                return Ok(Some(line.slice(..line.len() - 1)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > OBJECT_BYTES {
                return Err(Fault::TooLarge(OBJECT_BYTES));
            }
            let part = tokio::time::timeout(idle, body::part(&mut self.body)).await;
            match part.map_err(|_| Fault::Late(idle))?? {
                Some(part) => self.buffer.extend_from_slice(&part),
                None if self.buffer.is_empty() => return Ok(None),
                // The connection ended within a line.
                None => return Err(Fault::Unreachable("the stream ended within a line".into())),
            }
        }
    }
}

//! Readers and writers that count bytes.

use std::io::{self, Read, Write};

/// Counts the written bytes.
pub(super) struct Counting<W> {
    sink: W,
    written: u64,
}

impl<W: Write> Counting<W> {
    pub(super) const fn new(sink: W) -> Self {
        Self { sink, written: 0 }
    }

    /// Returns the sink, and the number of bytes that it accepted.
    pub(super) fn into_parts(self) -> (W, u64) {
        (self.sink, self.written)
    }
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.sink.write(bytes)?;
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts the read bytes, up to the limit. Returns no bytes after the first end, because another frame could follow.
pub(super) struct Bounded<R> {
    source: R,
    limit: u64,
    read: u64,
    ended: bool,
    exceeded: bool,
}

impl<R: Read> Bounded<R> {
    pub(super) const fn new(source: R, limit: u64) -> Self {
        Self { source, limit, read: 0, ended: false, exceeded: false }
    }

    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the number of bytes that were read.
    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    /// Returns whether the source has more bytes than the limit.
    pub(super) const fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    pub(super) fn into_inner(self) -> R {
        self.source
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ended || into.is_empty() {
            return Ok(0);
        }
        let count = self.source.read(into)?;
        self.ended = count == 0;
        if count as u64 > self.limit - self.read {
            self.exceeded = true;
            return Err(io::Error::other("more content than the limit"));
        }
        self.read += count as u64;
        Ok(count)
    }
}

//! Readers and writers that count.

use std::io::{self, Read, Write};

/// Counts what is written.
pub(super) struct Counting<W> {
    sink: W,
    written: u64,
}

impl<W: Write> Counting<W> {
    pub(super) const fn new(sink: W) -> Self {
        Self { sink, written: 0 }
    }

    /// The sink, and how many bytes it took.
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

/// Counts what is read, gives no more than the limit, and nothing behind the first end: a frame
/// could follow the one that was to be read.
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

    /// How many bytes were read.
    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    /// Whether there were more bytes than the limit.
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

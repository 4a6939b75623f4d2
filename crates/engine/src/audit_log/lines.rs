//! Reads a file line by line.

use std::io;
use std::sync::Arc;

use headroom_journal::disk::DiskFile;

/// Number of bytes that are read at once.
const CHUNK: u64 = 256 << 10;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Content without the line break.
    pub(super) bytes: Vec<u8>,
    /// Whether the line ends with a line break. The last line might not.
    pub(super) is_whole: bool,
    /// Offset of the next line.
    pub(super) end: u64,
}

/// The lines of a file up to a length.
#[derive(Debug)]
pub(super) struct Lines {
    file: Arc<dyn DiskFile>,
    /// Position in `buffer` of the first byte that was not returned yet.
    at: usize,
    buffer: Vec<u8>,
    given: u64,
    read: u64,
    length: u64,
}

impl Lines {
    pub(super) fn of(file: Arc<dyn DiskFile>, length: u64) -> Self {
        Self { file, at: 0, buffer: Vec::new(), given: 0, read: 0, length }
    }

    fn give(&mut self, length: usize, is_whole: bool) -> Line {
        let bytes = self.buffer[self.at..self.at + length].to_vec();
        let taken = length + usize::from(is_whole);
        self.at += taken;
        self.given += taken as u64;
        Line { bytes, is_whole, end: self.given }
    }
}

impl Iterator for Lines {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut looked = 0;
        loop {
            let there = &self.buffer[self.at..];
            if let Some(end) = there[looked..].iter().position(|byte| *byte == b'\n') {
                return Some(Ok(self.give(looked + end, true)));
            }
            looked = there.len();
            if self.read == self.length {
                return (looked > 0).then(|| Ok(self.give(looked, false)));
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            let more = (self.length - self.read).min(CHUNK);
            let start = self.buffer.len();
            self.buffer.resize(start + usize::try_from(more).unwrap_or(0), 0);
            if let Err(error) = self.file.read_at(self.read, &mut self.buffer[start..]) {
                (self.length, self.read) = (0, 0);
                self.buffer.clear();
                return Some(Err(error));
            }
            self.read += more;
        }
    }
}

//! Streams of events.

use std::collections::VecDeque;

use reqwest::Response;

use super::ClientError;
use crate::headroomv1::{Event, Frame, FrameReader, MalformedFrame, Streamed};
use crate::wsv1::StreamLine;

/// The event stream of `/ws/v1`, line by line.
#[derive(Debug)]
pub struct Lines {
    response: Response,
    /// What has arrived and was not given out.
    bytes: Vec<u8>,
    /// Where in `bytes` no line end was found before.
    looked: usize,
}

impl Lines {
    /// Maximum length of a line, in bytes.
    pub const BYTES_MAX: usize = FrameReader::<Event>::BYTES_MAX;

    pub(super) fn new(response: Response) -> Self {
        Self { response, bytes: Vec::new(), looked: 0 }
    }

    /// Returns the next line, or `None` when the server has ended the stream. Cancelling a call
    /// loses no data.
    ///
    /// # Errors
    /// When the connection breaks, or a line is not an event. Open the stream again.
    pub async fn next(&mut self) -> Result<Option<StreamLine>, ClientError> {
        loop {
            if let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=self.looked + end).collect();
                self.looked = 0;
                let read = serde_json::from_slice(&line).map(Some);
                let url = || self.response.url().clone();
                return read.map_err(|source| ClientError::Unreadable { url: url(), source });
            }
            self.looked = self.bytes.len();
            if self.looked > Self::BYTES_MAX {
                let url = self.response.url().clone();
                return Err(ClientError::TooLarge { url, bytes_max: Self::BYTES_MAX });
            }
            match self.response.chunk().await.map_err(ClientError::unreachable)? {
                Some(chunk) => self.bytes.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }
}

/// An event stream of `/headroom/v1`, frame by frame.
///
/// An idle server sends a comment every 15 s, which this type ignores. To detect a dead connection
/// earlier than TCP does, read with a timeout.
#[derive(Debug)]
pub struct Frames<E = Event> {
    response: Response,
    reader: FrameReader<E>,
    ready: VecDeque<Frame<E>>,
}

impl<E: Streamed> Frames<E> {
    pub(super) fn new(response: Response) -> Self {
        Self { response, reader: FrameReader::default(), ready: VecDeque::new() }
    }

    /// Returns the next frame, or `None` when the server has ended the stream. Cancelling a call
    /// loses no data.
    ///
    /// # Errors
    /// When the connection breaks, or a frame is malformed. Open the stream again.
    pub async fn next(&mut self) -> Result<Option<Frame<E>>, ClientError> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            let Some(chunk) = self.response.chunk().await.map_err(ClientError::unreachable)? else {
                return Ok(None);
            };
            let malformed = |source: MalformedFrame| {
                let url = self.response.url().clone();
                ClientError::Stream { url, source }
            };
            self.ready.extend(self.reader.read(&chunk).map_err(malformed)?);
        }
    }
}

//! `GET /headroom/v1/events`: events, as a list or as a stream of server-sent events.
//!
//! A record of the journal can have several events with the same number. Only the last of them has
//! its number as `id`. A reader that resumes after `Last-Event-ID` misses no event, and can see
//! events of one record twice.

use std::fmt;
use std::marker::PhantomData;
use std::mem;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An event of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Number of the record of the event.
    pub sequence: u64,
    /// Time of the event.
    pub at: Timestamp,
    /// Kind of the event, such as `allocationGranted`.
    pub kind: String,
    /// The object of the event: a key, an ID, a path, or a name.
    pub object: String,
    /// Full path of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// ID of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// ID of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The event as a sentence, for people.
    pub text: String,
    /// The complete event, for programs.
    #[schema(value_type = Object)]
    pub detail: Map<String, Value>,
}

/// An item of a stream.
pub trait Streamed: Serialize + DeserializeOwned {
    /// Returns the number of the record of the item. A stream can resume after this number.
    fn number(&self) -> u64;
}

impl Streamed for Event {
    fn number(&self) -> u64 {
        self.sequence
    }
}

/// The first frame of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Number of the newest record.
    pub sequence: u64,
    /// Epoch of the record numbers. A different epoch means that the numbers have restarted.
    pub epoch: String,
    /// Time of the server clock.
    pub server_time: Timestamp,
}

/// The last frame of a stream that the server ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bye {
    /// `slow`, `stopping`, or `gone`. `gone` means that the object no longer exists, or is no
    /// longer visible to the caller.
    pub reason: String,
    /// Time to wait before a retry, in milliseconds.
    pub retry_after_millis: u64,
}

/// A frame of the stream. If the server sends no frame for 15 s, it sends a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<E = Event> {
    /// The first frame. It has no `id`.
    Hello(Hello),
    /// What happened.
    Event {
        /// It.
        event: E,
        /// Whether it is the last one of its number, which makes the number its `id`.
        last: bool,
    },
    /// The last frame. It has no `id`.
    Bye(Bye),
}

/// The reason why a frame cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum MalformedFrame {
    /// The frame is too long.
    #[error("a frame of the event stream has more than {} bytes", FrameReader::<Event>::BYTES_MAX)]
    TooLong,
    /// The frame is not UTF-8 text.
    #[error("a frame of the event stream is not UTF-8")]
    NotText,
    /// Its content is not what its name says.
    #[error("a frame `{name}` of the event stream is malformed")]
    Content {
        /// As it is called.
        name: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

/// As it is sent, the empty line at its end included.
impl<E: Streamed> fmt::Display for Frame<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, data) = match self {
            Self::Hello(hello) => ("hello", serde_json::to_string(hello)),
            Self::Event { event, last } => {
                if *last {
                    writeln!(out, "id: {}", event.number())?;
                }
                ("event", serde_json::to_string(event))
            }
            Self::Bye(bye) => ("bye", serde_json::to_string(bye)),
        };
        // JSON on one line: no line break can end the frame early.
        write!(out, "event: {name}\ndata: {}\n\n", data.map_err(|_| fmt::Error)?)
    }
}

/// Assembles frames from the received bytes.
///
/// Memory is bounded by [`FrameReader::BYTES_MAX`] and the size of one piece.
#[derive(Debug)]
pub struct FrameReader<E = Event> {
    /// What has arrived of the line that is not complete.
    line: Vec<u8>,
    name: String,
    data: String,
    id: bool,
    of: PhantomData<fn() -> E>,
}

impl<E> Default for FrameReader<E> {
    fn default() -> Self {
        let (line, name, data) = (Vec::new(), String::new(), String::new());
        Self { line, name, data, id: false, of: PhantomData }
    }
}

impl<E: Streamed> FrameReader<E> {
    /// Maximum length of a frame, in bytes.
    pub const BYTES_MAX: usize = 1 << 20;

    /// Returns the frames that `bytes` complete, in order. Ignores comments and unknown frames.
    /// After an error, open the stream again.
    ///
    /// # Errors
    /// When a frame is too long, is not UTF-8, or has malformed content.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<Frame<E>>, MalformedFrame> {
        let mut frames = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.data.len() + part.len() > Self::BYTES_MAX {
                return Err(MalformedFrame::TooLong);
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = mem::take(&mut self.line);
                let line = str::from_utf8(&line).map_err(|_| MalformedFrame::NotText)?;
                frames.extend(self.line(line.trim_end_matches(['\r', '\n']))?);
            }
        }
        Ok(frames)
    }

    fn line(&mut self, line: &str) -> Result<Option<Frame<E>>, MalformedFrame> {
        if line.is_empty() {
            return self.end();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" => self.id = true,
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<Option<Frame<E>>, MalformedFrame> {
        let name = mem::take(&mut self.name);
        let data = mem::take(&mut self.data);
        let last = mem::take(&mut self.id);
        let frame = match &*name {
            "hello" => serde_json::from_str(&data).map(Frame::Hello),
            "event" => serde_json::from_str(&data).map(|event| Frame::Event { event, last }),
            "bye" => serde_json::from_str(&data).map(Frame::Bye),
            _ => return Ok(None),
        };
        frame.map(Some).map_err(|source| MalformedFrame::Content { name, source })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bye, Event, Frame, FrameReader, Hello, MalformedFrame};

    fn frames() -> Vec<Frame> {
        let event = Event { sequence: 7, text: "two\nlines".into(), ..Event::default() };
        vec![
            Frame::Hello(Hello { sequence: 7, ..Hello::default() }),
            Frame::Event { event: event.clone(), last: false },
            Frame::Event { event, last: true },
            Frame::Bye(Bye { reason: "slow".into(), retry_after_millis: 1_000 }),
        ]
    }

    #[test]
    fn frames_arrive_however_they_are_cut() {
        let text: String = frames().iter().map(ToString::to_string).collect();
        let text = format!(": nothing happens\n\n{text}event: later\ndata: {{}}\n\n");
        for size in [1, 2, 7, text.len()] {
            let mut reader = FrameReader::<Event>::default();
            let read: Vec<_> = text
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| reader.read(piece).unwrap())
                .collect();
            assert_eq!(read, frames(), "in pieces of {size} bytes");
        }
    }

    #[test]
    fn only_the_last_event_of_a_number_has_an_id() {
        let texts: Vec<_> = frames().iter().map(ToString::to_string).collect();
        let with_id: Vec<_> = texts.iter().map(|text| text.contains("id: 7\n")).collect();
        assert_eq!(with_id, [false, false, true, false]);
    }

    #[test]
    fn a_frame_without_end_is_refused() {
        let mut reader = FrameReader::<Event>::default();
        let piece = vec![b'x'; FrameReader::<Event>::BYTES_MAX];
        assert!(reader.read(&piece).unwrap().is_empty());
        assert!(matches!(reader.read(b"x"), Err(MalformedFrame::TooLong)));

        let mut reader = FrameReader::<Event>::default();
        let line = [b"data: ".as_slice(), &vec![b'x'; 1_000], b"\n"].concat();
        let refused = (0..2_000).find_map(|_| reader.read(&line).err());
        assert!(matches!(refused, Some(MalformedFrame::TooLong)), "{refused:?}");
    }

    #[test]
    fn a_content_that_is_no_event_is_refused() {
        for text in ["event: event\ndata: {}\n\n", "event: bye\n\n", "event: hello\ndata: 7\n\n"] {
            let read = FrameReader::<Event>::default().read(text.as_bytes());
            assert!(matches!(read, Err(MalformedFrame::Content { .. })), "{text:?}");
        }
        let read = FrameReader::<Event>::default().read(b"data: \xff\n");
        assert!(matches!(read, Err(MalformedFrame::NotText)));
    }
}

//! Incoming gRPC messages. The decoder waits for the last byte of each message, so an incomplete message uses memory.
//! The size and the duration of a message are therefore limited.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::Status;

use super::byte_budget::{BudgetPermit, ByteBudget};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Size of the header of each message: a compression flag, and its length. Source: gRPC over HTTP/2,
/// "Length-Prefixed-Message".
const HEAD_BYTES: usize = 5;

/// The decoder allocates a whole message at once, but the system provides memory by pages. This is the size of a
/// large page, in bytes.
const AHEAD_BYTES: usize = 2 << 20;

/// A body of messages.
pub(super) struct Messages {
    inner: Body,
    cut: Cut,
    held: BudgetPermit,
    /// Longest duration of a message.
    time_max: Duration,
    /// Deadline of the current message. `None` without an incomplete message.
    until: Option<Pin<Box<Sleep>>>,
}

/// Position of a body within its current message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cut {
    head: Vec<u8>,
    /// Bytes of the message after the header that have arrived, and bytes that are missing.
    has: usize,
    lacks: usize,
}

impl Cut {
    /// Advances by these bytes. Returns the memory that the last message uses.
    fn go_on(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            if self.lacks == 0 {
                let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
                self.head.extend_from_slice(head);
                bytes = rest;
                if let [_, length @ ..] = &*self.head
                    && let Ok(length) = <[u8; HEAD_BYTES - 1]>::try_from(length)
                {
                    // A length that does not fit exceeds every limit.
                    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                    *self = Self { head: Vec::new(), has: 0, lacks: length };
                }
                continue;
            }
            let more = bytes.len().min(self.lacks);
            (self.has, self.lacks) = (self.has + more, self.lacks - more);
            bytes = &bytes[more..];
        }
        self.takes()
    }

    /// Returns the memory that the last message uses: its bytes, and memory that is allocated for the rest.
    fn takes(&self) -> usize {
        if self.lacks == 0 { self.head.len() } else { self.has + self.lacks.min(AHEAD_BYTES) }
    }

    /// Returns whether the position is between two messages.
    const fn is_between(&self) -> bool {
        self.lacks == 0 && self.head.is_empty()
    }
}

/// Bounds incomplete messages in size and duration.
pub(super) fn messages(body: Body, room: &ByteBudget, time_max: Duration) -> Body {
    let (cut, held) = (Cut::default(), room.hold());
    Body::new(Messages { inner: body, cut, held, time_max, until: None })
}

impl Messages {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Status> {
        let was_between = self.cut.is_between();
        let takes = self.cut.go_on(bytes);
        self.held
            .resize(takes)
            .map_err(|no_room| Status::resource_exhausted(no_room.to_string()))?;
        if self.cut.is_between() {
            self.until = None;
        } else if was_between || self.until.is_none() || self.cut.has < bytes.len() {
            self.until = Some(Box::pin(sleep(self.time_max)));
        }
        Ok(())
    }

    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        self.until.as_mut().is_some_and(|until| until.as_mut().poll(cx).is_ready())
    }
}

impl HttpBody for Messages {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref()
                    && let Err(status) = self.take(&data.clone())
                {
                    return Poll::Ready(Some(Err(status.into())));
                }
            }
            Poll::Pending if self.is_late(cx) => {
                let seconds = self.time_max.as_secs_f32();
                let why =
                    format!("a message did not arrive within {seconds} s (`limits.requestTime`)");
                return Poll::Ready(Some(Err(Status::deadline_exceeded(why).into())));
            }
            _ => {}
        }
        polled.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use axum::body::{Body, Bytes};
    use futures_util::{StreamExt as _, stream};
    use http_body_util::BodyExt as _;
    use tokio::time::timeout;
    use tonic::{Code, Status};

    use super::{AHEAD_BYTES, ByteBudget, Cut, messages};

    const TIME_MAX: Duration = Duration::from_secs(30);

    /// Returns a body that begins with these parts, and never ends.
    fn begun(parts: &[Vec<u8>], room: &ByteBudget) -> Body {
        let parts: Vec<_> = parts.iter().map(|part| Bytes::from(part.clone())).collect();
        let parts = stream::iter(parts.into_iter().map(Ok::<_, Infallible>));
        messages(Body::from_stream(parts.chain(stream::pending())), room, TIME_MAX)
    }

    /// Returns the error of a body after `good` valid parts. `None` if no error occurs for a minute.
    async fn end(mut body: Body, good: usize) -> Option<Code> {
        for _ in 0..good {
            body.frame().await.unwrap().unwrap();
        }
        let next = timeout(2 * TIME_MAX, body.frame()).await.ok()?;
        let error = next.unwrap().unwrap_err();
        Some(Status::from_error(error.into_inner()).code())
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_must_come_to_an_end_and_a_stream_need_not() {
        let room = ByteBudget::new(1 << 20);
        let (whole, head) = (b"\0\0\0\0\x01a".to_vec(), b"\0\0".to_vec());
        assert_eq!(end(begun(std::slice::from_ref(&whole), &room), 1).await, None);
        assert_eq!(end(begun(&[], &room), 0).await, None);
        let late = Some(Code::DeadlineExceeded);
        assert_eq!(end(begun(&[whole.clone(), head.clone()], &room), 2).await, late);
        let both = [head.clone(), [&whole[2..], &*head].concat()];
        assert_eq!(end(begun(&both, &room), 2).await, late);
        assert_eq!(end(begun(&[head, whole[2..].to_vec()], &room), 2).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_room_for_so_much_of_messages_that_are_not_complete() {
        let room = ByteBudget::new(1 << 20);
        let begin = || begun(&[b"\0\0\x08\0\0".to_vec(), vec![0; 1_024]], &room);
        let (mut first, mut second) = (begin(), begin());
        first.frame().await.unwrap().unwrap();
        second.frame().await.unwrap().unwrap();
        assert_eq!(end(begin(), 0).await, Some(Code::ResourceExhausted));
        drop(first);
        assert_eq!(end(begin(), 2).await, Some(Code::DeadlineExceeded));
    }

    #[test]
    fn what_there_is_of_the_last_message_is_known_however_it_is_cut() {
        let bytes = b"\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x01\x00\x00\x00\x03cde\x00\x00";
        let expected = [1, 2, 3, 4, 2, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 3, 3, 3, 0, 1, 2];
        let (mut cut, mut whole) = (Cut::default(), Cut::default());
        for (place, there) in expected.into_iter().enumerate() {
            assert_eq!(cut.go_on(&bytes[place..=place]), there, "behind {}", place + 1);
            let mut other = Cut::default();
            assert_eq!(other.go_on(&bytes[..=place]), there, "{} at once", place + 1);
        }
        assert_eq!(whole.go_on(bytes), 2);
        assert_eq!(whole, cut);
        assert_eq!(Cut::default().go_on(b"\x00\xff\xff\xff\xffx"), 1 + AHEAD_BYTES);
    }
}

//! Streams come piece by piece, and end.

use headroom_api::client::{ClientError, EventFilter, Lines};
use headroom_api::headroomv1::{Bye, Event, Frame};
use headroom_api::wsv1::{EventRecord, StreamLine, message, to_json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, example};

async fn serving(body: impl Into<Vec<u8>>) -> MockServer {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).set_body_bytes(body);
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

#[tokio::test]
async fn lines_are_told_apart() {
    let lines: Vec<StreamLine> = serde_json::from_str(&example("wsv1/events-stream")).unwrap();
    let body: Vec<u8> = lines.iter().flat_map(|line| to_json(line).unwrap()).collect();
    let server = serving(body).await;
    let mut stream = client(&server).stream_events(2).await.unwrap();
    let mut read = Vec::new();
    while let Some(line) = stream.next().await.unwrap() {
        read.push(line);
    }
    assert_eq!(read, lines);
    let [
        StreamLine::Start(start),
        StreamLine::Event(_),
        StreamLine::Event(_),
        StreamLine::Closed(end),
    ] = &read[..]
    else {
        panic!("{read:?}")
    };
    assert!(start.instance_uuid.starts_with("7f1b9a3e"));
    assert_eq!(end.message, message::STREAM_CLOSED);
}

#[tokio::test]
async fn a_line_without_end_is_refused() {
    let server = serving(vec![b' '; 2 * Lines::BYTES_MAX]).await;
    let error = client(&server).stream_events(0).await.unwrap().next().await.unwrap_err();
    assert!(matches!(error, ClientError::TooLarge { .. }), "{error:?}");

    let server = serving("{}\nno event\n").await;
    let mut stream = client(&server).stream_events(0).await.unwrap();
    let first = stream.next().await.unwrap();
    assert_eq!(first, Some(StreamLine::Event(EventRecord::default())));
    let error = stream.next().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn frames_arrive_in_order() {
    let frames = [
        Frame::Hello(serde_json::from_str(&example("headroomv1/hello")).unwrap()),
        Frame::Event { event: Event { sequence: 8, ..Event::default() }, last: true },
        Frame::Bye(Bye { reason: "stopping".into(), retry_after_millis: 500 }),
    ];
    let body: String = frames.iter().map(ToString::to_string).collect();
    let server = serving(format!(": quiet\n\n{body}")).await;
    let mut stream = client(&server).watch_events(&EventFilter::default(), None).await.unwrap();
    for frame in frames {
        assert_eq!(stream.next().await.unwrap(), Some(frame));
    }
    assert_eq!(stream.next().await.unwrap(), None);

    let server = serving("event: bye\ndata: 7\n\n").await;
    let mut stream = client(&server).watch_events(&EventFilter::default(), None).await.unwrap();
    let error = stream.next().await.unwrap_err();
    assert!(matches!(error, ClientError::Stream { .. }), "{error:?}");
}

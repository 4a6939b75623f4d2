//! The output of an event stream.

use anyhow::Result;
use headroom_api::client::Frames;
use headroom_api::headroomv1::{Frame, Streamed};

use super::{Format, Remote};
use crate::output;

impl Remote {
    /// Prints each event of a stream when it arrives, as a line of JSON or text, until the server ends the stream.
    ///
    /// # Errors
    /// When the connection breaks, a frame cannot be parsed, or the output cannot be written.
    pub(crate) async fn follow<E: Streamed, Row: AsRef<[String]>>(
        &self,
        mut frames: Frames<E>,
        row: impl Fn(&E) -> Row,
    ) -> Result<()> {
        while let Some(frame) = frames.next().await? {
            match frame {
                Frame::Hello(_) => {}
                Frame::Event { event, .. } => output::print(&self.line(&event, &row)?)?,
                Frame::Bye(bye) => {
                    output::tell(&format!("the server ended the stream: {}", bye.reason));
                }
            }
        }
        Ok(())
    }

    fn line<E: Streamed, Row: AsRef<[String]>>(
        &self,
        event: &E,
        row: impl Fn(&E) -> Row,
    ) -> Result<String> {
        Ok(match self.output {
            Format::Table | Format::Csv => {
                format!("{}\n", output::printable_lines(&row(event).as_ref().join("  ")))
            }
            Format::Json => format!("{}\n", serde_json::to_string(event)?),
            Format::Yaml => format!("---\n{}", serde_saphyr::to_string(event)?),
        })
    }
}

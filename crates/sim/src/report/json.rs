//! The full report as JSON: every number, in a stable order.

use serde::{Deserialize, Serialize};

use super::header::{Curves, RunHeader};
use crate::metric::Summary;

/// Identifies documents of Headroom. The number changes with incompatible changes.
pub const FORMAT: &str = "headroom-simulation/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// Metadata of the run.
    pub header: RunHeader,
    /// Metrics of the run.
    pub summary: Summary,
    /// Extra plots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curves>,
}

impl Document {
    /// Returns the document of a run.
    pub fn new(header: RunHeader, summary: Summary, curves: Vec<Curves>) -> Self {
        Self { format: FORMAT.to_owned(), header, summary, curves }
    }
}

/// Reason why a text is not a report of Headroom.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is not JSON.
    #[error("the file is not JSON")]
    Syntax(#[source] serde_json::Error),
    /// The JSON has another format.
    #[error(
        "the file is JSON, but not a simulation report: `format` is {found}, expected \"{FORMAT}\""
    )]
    Foreign {
        /// Value of `format` as JSON, or `absent`.
        found: String,
    },
    /// The file has the correct format, but the document is damaged, or its version has other fields.
    #[error("the file is a simulation report, but a field is missing or malformed")]
    Fields(#[source] serde_json::Error),
}

/// Returns the document as indented JSON with a final newline. Keys are in the order of the types.
pub fn render(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("text keys and finite numbers");
    text.push('\n');
    text
}

/// Reads a document that [`render`] wrote.
///
/// # Errors
/// A [`ReadError`], if the text is not JSON, not a report of Headroom, or damaged.
pub fn read(text: &str) -> Result<Document, ReadError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    let format = value.get("format");
    if format.and_then(serde_json::Value::as_str) != Some(FORMAT) {
        let found = format.map_or_else(|| "absent".to_owned(), ToString::to_string);
        return Err(ReadError::Foreign { found });
    }
    serde_json::from_value(value).map_err(ReadError::Fields)
}

//! The full report as JSON: every number, in a stable order.

use serde::{Deserialize, Serialize};

use super::header::{Curves, RunHeader};
use crate::metric::Summary;

/// Tells our documents from other JSON; the number changes when a reader would break.
pub const FORMAT: &str = "headroom-simulation/1";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// How the run was made.
    pub header: RunHeader,
    /// Its numbers.
    pub summary: Summary,
    /// Extra plots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curves>,
}

impl Document {
    /// The document of a run.
    pub fn new(header: RunHeader, summary: Summary, curves: Vec<Curves>) -> Self {
        Self { format: FORMAT.to_owned(), header, summary, curves }
    }
}

/// Why a text is not a report of ours.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON at all.
    #[error("the file is not JSON")]
    Syntax(#[source] serde_json::Error),
    /// JSON of somebody else.
    #[error(
        "the file is JSON, but not a simulation report: `format` is {found}, expected \"{FORMAT}\""
    )]
    Foreign {
        /// The `format` found, as JSON, or `absent`.
        found: String,
    },
    /// Ours, but damaged or from a version that wrote other fields.
    #[error("the file is a simulation report, but a field is missing or malformed")]
    Fields(#[source] serde_json::Error),
}

/// The document as pretty JSON with a final newline; keys in the order of the types.
pub fn render(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("text keys and finite numbers");
    text.push('\n');
    text
}

/// Read a document that [`render`] wrote.
///
/// # Errors
/// [`ReadError`] says whether it is no JSON, not ours, or damaged.
pub fn read(text: &str) -> Result<Document, ReadError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    let format = value.get("format");
    if format.and_then(serde_json::Value::as_str) != Some(FORMAT) {
        let found = format.map_or_else(|| "absent".to_owned(), ToString::to_string);
        return Err(ReadError::Foreign { found });
    }
    serde_json::from_value(value).map_err(ReadError::Fields)
}

//! Reviews a queue file for its author: errors, warnings, and recommendations.

use std::collections::BTreeMap;

use headroom_core::config::Configuration;
use headroom_core::resource::Amounts;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Diagnostics, Report, Span};
use crate::{FILE_BYTES_MAX, checksum, examine};

/// Result of a review of a queue file.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Configuration of the file. `None` if the file has errors.
    pub configuration: Option<Configuration>,
    /// All findings of [`read`](crate::read), advice on settings that are valid, but probably not meant, and recommended
    /// keys.
    pub diagnostics: Diagnostics,
    /// The [`checksum`] of the text.
    pub checksum: String,
}

/// Totals of all nodes of a partition, by its name. The totals of a missing partition are unknown.
pub type NodeTotals = BTreeMap<String, Amounts>;

/// Reads the text of a queue file as [`read`](crate::read) does, and adds advice on settings that were probably not
/// meant. The result is the same, because advice never refuses a file.
pub fn review(text: &str) -> Review {
    review_on(text, &NodeTotals::new())
}

/// Does the same as [`review`], with advice on amounts that exceed the nodes of the cluster.
pub fn review_on(text: &str, nodes: &NodeTotals) -> Review {
    let (configuration, report) = examine(text, Some(nodes), true);
    let known = configuration.as_ref().map(|one| one.checksum.to_string());
    let checksum = known.unwrap_or_else(|| checksum(text));
    Review { configuration, diagnostics: report.finish(text), checksum }
}

/// Does the same as [`review`], for bytes that might not be text.
///
/// Bytes that are not UTF-8 are shown as U+FFFD. Invalid bytes, and too many bytes, are a fault with the code
/// [`Code::File`].
pub fn review_bytes(bytes: &[u8]) -> Review {
    review_bytes_on(bytes, &NodeTotals::new())
}

/// Does the same as [`review_bytes`], with advice on amounts that exceed the nodes of the cluster.
pub fn review_bytes_on(bytes: &[u8], nodes: &NodeTotals) -> Review {
    match text_of(bytes) {
        Ok(text) => review_on(text, nodes),
        Err((diagnostics, checksum)) => Review { configuration: None, diagnostics, checksum },
    }
}

/// Returns the findings on a file without advice, and its [`checksum`]. Uses half the memory of [`review_bytes`],
/// because it does not build the configuration.
pub fn verdict(bytes: &[u8]) -> (Diagnostics, String) {
    match text_of(bytes) {
        Ok(text) => (examine(text, None, false).1.finish(text), checksum(text)),
        Err(refused) => refused,
    }
}

/// Returns the text of a file. If the bytes are not text or too long, returns the fault and the checksum.
fn text_of(bytes: &[u8]) -> Result<&str, (Diagnostics, String)> {
    let refused = |text: &str, fault: Diagnostic| {
        let mut report = Report::default();
        report.push(fault);
        (report.finish(text), checksum(text))
    };
    if bytes.len() > FILE_BYTES_MAX {
        let message = format!(
            "the file has more than {FILE_BYTES_MAX} bytes, which is the limit for a queue file"
        );
        let fault = Diagnostic::error(Code::File, Span::default(), message);
        return Err(refused(
            "",
            fault.help(
                "check that this is the intended file, and remove everything that is not \
                        part of a queue file",
            ),
        ));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let byte = bytes.get(start).copied().unwrap_or_default();
        let message =
            format!("byte 0x{byte:02x} is not valid UTF-8, but a queue file must be UTF-8 text");
        let text = String::from_utf8_lossy(bytes);
        let span = Span { start, end: start + '\u{fffd}'.len_utf8() };
        let fault = Diagnostic::error(Code::File, span, message);
        refused(&text, fault.help("save the file as UTF-8, or specify another file"))
    })
}

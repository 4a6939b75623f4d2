//! Properties that hold for every input: one function for the tests and the fuzzer.

use crate::Record;

/// Decodes arbitrary bytes as a record. Returns whether they are one.
///
/// # Panics
/// If a property does not hold: a decoded record encodes to an equal one, and an error has a text.
pub fn exercise(bytes: &[u8]) -> bool {
    match Record::decode(bytes) {
        Ok(record) => {
            let written = record.encode().unwrap_or_else(|error| panic!("{error}"));
            let again = Record::decode(&written).unwrap_or_else(|error| panic!("{error}"));
            // Compared as text, because a weight that is NaN differs from itself.
            assert_eq!(format!("{again:?}"), format!("{record:?}"), "written and read again");
            assert_eq!(written.len(), bytes.len(), "nothing was passed over");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "a refusal has a reason");
            false
        }
    }
}

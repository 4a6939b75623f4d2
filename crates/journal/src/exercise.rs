//! What must hold for every input whatsoever: one function for the tests and the fuzzer.

use crate::Record;

/// Read any bytes as a record; whether they are one.
///
/// # Panics
/// When something does not hold: what was read is written as the same, and a refusal says why.
pub fn exercise(bytes: &[u8]) -> bool {
    match Record::decode(bytes) {
        Ok(record) => {
            let written = record.encode().unwrap_or_else(|error| panic!("{error}"));
            let again = Record::decode(&written).unwrap_or_else(|error| panic!("{error}"));
            // As text, since a weight that is no number differs from itself.
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

//! A queue file on disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::{Diagnostics, FILE_BYTES_MAX, Loaded, Style, read};

/// Reason why a queue file could not be used. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is missing, is a directory, or is not readable.
    #[error("cannot read the queue file {}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The file is larger than [`FILE_BYTES_MAX`].
    #[error("the queue file {} has more than {FILE_BYTES_MAX} bytes, which is the limit", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is not UTF-8 text.
    #[error("{}:{line}: byte {byte} is not valid UTF-8; expected text in UTF-8", path.display())]
    NotText {
        /// Path of the file.
        path: PathBuf,
        /// Line of the first invalid byte, from 1.
        line: usize,
        /// Position of that byte in its line, from 1.
        byte: usize,
    },
    /// The file breaks rules. The message shows the lines.
    #[error("{}\n\nthe queue file {} has errors and cannot be used", faults.render(&path.display().to_string(), Style::Plain), path.display())]
    Faults {
        /// Path of the file.
        path: PathBuf,
        /// The findings.
        faults: Box<Diagnostics>,
    },
}

/// Reads a queue file from disk.
///
/// An empty file is valid. For such a file, [`Loaded::is_empty`] returns `true`.
///
/// # Errors
/// [`ReadError`], if the file cannot be read or breaks rules.
pub fn read_file(path: impl AsRef<Path>) -> Result<Loaded, ReadError> {
    let path = path.as_ref();
    let failed = |source| ReadError::Io { path: path.to_owned(), source };
    let bytes = bytes_of(File::open(path).map_err(failed)?).map_err(failed)?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ReadError::TooLarge { path: path.to_owned() });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = || before.split(|byte| *byte == b'\n');
        ReadError::NotText {
            path: path.to_owned(),
            line: lines().count(),
            byte: lines().next_back().map_or(0, <[u8]>::len) + 1,
        }
    })?;
    read(&text)
        .map_err(|faults| ReadError::Faults { path: path.to_owned(), faults: Box::new(faults) })
}

/// Reads the whole source, but at most one byte more than the limit of a queue file. The additional byte shows that a
/// file is too large, and bounds the read of endless input.
///
/// # Errors
/// Returns the I/O error of the source.
pub fn bytes_of(source: impl io::Read) -> io::Result<Vec<u8>> {
    let bound = u64::try_from(FILE_BYTES_MAX).map_or(u64::MAX, |bytes| bytes + 1);
    let mut bytes = Vec::new();
    source.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! A queue file on disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::{Diagnostics, FILE_BYTES_MAX, Loaded, Style, read};

/// Why a queue file could not be used; each names the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is missing, a directory, or may not be read.
    #[error("cannot read the queue file {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file is larger than [`FILE_BYTES_MAX`].
    #[error("the queue file {} has more than {FILE_BYTES_MAX} bytes, which is the limit", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not UTF-8 text.
    #[error("{}:{line}: byte {byte} is not valid UTF-8; expected text in UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line with the first byte that is wrong, from 1.
        line: usize,
        /// That byte's place in its line, from 1.
        byte: usize,
    },
    /// The file breaks rules; the message shows the lines.
    #[error("{}\n\nthe queue file {} has errors and cannot be used", faults.render(&path.display().to_string(), Style::Plain), path.display())]
    Faults {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        faults: Box<Diagnostics>,
    },
}

/// Read a queue file from disk.
///
/// An empty file is legal: [`Loaded::is_empty`] then holds, for a caller that wants none.
///
/// # Errors
/// [`ReadError`] says whether the file could not be read or breaks rules.
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

/// Read to the end, or to one byte more than a queue file may have: that tells one that is too
/// large from one that just fits, and an endless one ends.
///
/// # Errors
/// What the source says.
pub fn bytes_of(source: impl io::Read) -> io::Result<Vec<u8>> {
    let bound = u64::try_from(FILE_BYTES_MAX).map_or(u64::MAX, |bytes| bytes + 1);
    let mut bytes = Vec::new();
    source.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! What goes to the terminal: data to standard output, everything else to standard error.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Print data. A reader that has gone away is no mistake of ours.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<()> {
    match anstream::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// A character of a text with names from strangers: nothing that steers the terminal.
pub(crate) fn printable(one: char) -> char {
    if one.is_control() { '\u{fffd}' } else { one }
}

/// The same of a text of several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|one| if one == '\n' { one } else { printable(one) }).collect()
}

/// Print a remark separately from the data.
pub(crate) fn tell(text: &str) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Tell why the program ends without success: the error and its causes.
pub(crate) fn fail(error: &anyhow::Error) {
    let text = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    // A rendered diagnostic begins with its own "error:".
    let text = text.trim_end();
    if text.starts_with("error") || text.starts_with("\u{1b}[") {
        tell(text);
    } else {
        tell(&format!("error: {text}"));
    }
}

/// Write a file that a user asked for, and the folders above it.
///
/// # Errors
/// When it cannot be written; the message names it.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create folder {}", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Whether a file can be written as far as its folder goes, where none is to be made for it: it is one that others
/// read, and with a misspelt name they would go on with an old one.
///
/// # Errors
/// When the folder is not there; the message says what to do.
pub(crate) fn folder_is_there(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let (file, name) = (path.display(), folder.display());
    ensure!(
        folder.exists(),
        "cannot write {file}: the folder {name} does not exist. Create it with `mkdir -p {name}`"
    );
    ensure!(folder.is_dir(), "cannot write {file}: {name} is a file, not a folder");
    Ok(())
}

//! Terminal output: data on standard output, everything else on standard error.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Prints data. Ignores a closed pipe.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<()> {
    match anstream::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Replaces a control character, because names from other users could otherwise control the terminal.
pub(crate) fn printable(one: char) -> char {
    if one.is_control() { '\u{fffd}' } else { one }
}

/// Replaces the control characters of a text, except line breaks.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|one| if one == '\n' { one } else { printable(one) }).collect()
}

/// Prints a message to standard error.
pub(crate) fn tell(text: &str) {
    // If this fails, the error cannot be printed either.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Prints the error and its causes, before the program ends with a failure.
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

/// Writes a file, and creates its missing parent folders.
///
/// # Errors
/// When the file cannot be written. The message contains its name.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create folder {}", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Checks that the folder of a file exists. Creates no folder, because other programs read the file: after a typing
/// error, they would continue to read the old file.
///
/// # Errors
/// When the folder does not exist. The message explains how to create it.
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

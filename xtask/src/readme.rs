//! The step `readme`: what the README promises first, works.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::project;
use crate::step::Bench;
use crate::tally::Tally;

const HEADING: &str = "Try it";

/// Directories that the commands of a README have no use for; one of them is large.
const LEFT_OUT: [&str; 1] = ["conformance"];

/// Run the first block of commands under "Try it", in a copy of the project, so that what
/// it writes does not stay. It ends with a server, which has to answer, and to end when it is told
/// to.
///
/// # Errors
/// When the copy cannot be made, a command fails, or the server does not answer or end.
pub(crate) fn run(bench: &Bench) -> Result<Tally> {
    let Ok(readme) = fs::read_to_string(bench.root.join("README.md")) else {
        println!("there is no README.md yet");
        return Ok(Tally::skipped());
    };
    let script = commands(&readme)
        .with_context(|| format!("README.md has no block of commands under \"{HEADING}\""))?;
    let copy = copy_of(bench)?;
    println!("{script}");
    let mut command =
        within(&copy, bench, bench.command("bash", &["-euo", "pipefail", "-c", &script]));
    // The port that the README names may be taken here.
    command.env("HEADROOM_LISTEN", "127.0.0.1:0");
    let mut server = Server(command.stdout(Stdio::piped()).spawn().context("cannot start bash")?);
    let tried = server.try_it();
    if tried.is_err() {
        let _ = server.0.kill();
    }
    let status = server.0.wait().context("cannot wait for the server")?;
    tried?;
    ensure!(status.success(), "the server ended with {status}");
    Ok(Tally::of(true))
}

/// What the commands leave running.
struct Server(Child);

impl Server {
    /// Read its page, and tell it to end.
    fn try_it(&mut self) -> Result<()> {
        let output = self.0.stdout.take().context("the output was not piped")?;
        let mut lines = BufReader::new(output).lines();
        let address = loop {
            let Some(line) = lines.next() else { bail!("the commands start no server") };
            let line = line.context("cannot read what the commands print")?;
            println!("{line}");
            if let Some((_, rest)) = line.split_once(" serves http://") {
                break rest.split([' ', ',']).next().unwrap_or_default().to_owned();
            }
        };
        let page = get(&address)?;
        ensure!(page.starts_with("HTTP/1.1 200 ") && page.contains("Headroom"), "{page}");
        let told = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        ensure!(told.context("cannot run kill")?.success(), "the server is gone");
        Ok(())
    }
}

/// What a server answers for its first page.
fn get(address: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("no {address}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A copy of the project as it is now, always in the same place: what was compiled in it before
/// is compiled again only where a file is another.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn copy_of(bench: &Bench) -> Result<PathBuf> {
    let to = bench.target().join("copy");
    copy(&bench.root, &to)?;
    Ok(to)
}

/// This command, in the copy; what it compiles goes where everything else is.
pub(crate) fn within(copy: &Path, bench: &Bench, mut command: Command) -> Command {
    command.current_dir(copy).env("CARGO_TARGET_DIR", bench.target());
    // The build without features is not linted, but must have no warnings.
    command.env("RUSTFLAGS", "-Dwarnings");
    command
}

/// The first fenced block under the heading, without prompts.
fn commands(readme: &str) -> Option<String> {
    let mut lines = readme.lines();
    lines.find(|line| {
        let title = line.trim_start_matches('#');
        title.len() < line.len() && title.trim() == HEADING
    })?;
    let mut section = lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    section.find(|line| line.starts_with("```"))?;
    let block: Vec<_> = section
        .take_while(|line| !line.starts_with("```"))
        .map(|line| line.strip_prefix("$ ").unwrap_or(line))
        .collect();
    Some(block.join("\n"))
}

/// Make `to` hold the files of the project and no others. What is the same already keeps its time
/// of change, by which Cargo tells what to compile.
fn copy(root: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let mut old: BTreeSet<PathBuf> = project::files_below(to)?.into_iter().collect();
    for file in project::files_below(root)? {
        let name = file.strip_prefix(root).unwrap_or(&file);
        if LEFT_OUT.iter().any(|directory| name.starts_with(directory)) {
            continue;
        }
        let target = to.join(name);
        let same = old.remove(&target) && fs::read(&target)? == fs::read(&file)?;
        if !same {
            let parent = target.parent().unwrap_or(to);
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make {}", parent.display()))?;
            fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
        }
    }
    for file in old {
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use crate::scratch::Scratch;

    use super::*;

    #[test]
    fn the_first_block_under_the_heading_is_taken() {
        for (readme, expected) in [
            ("# A\n```\nno\n```\n## Try it\ntext\n```sh\n$ one\ntwo\n```\n", Some("one\ntwo")),
            ("## Try it\n## Test it\n```\nno\n```\n", None),
            ("Try it\n```\nno\n```\n", None),
        ] {
            assert_eq!(commands(readme).as_deref(), expected, "{readme}");
        }
    }

    #[test]
    fn the_copy_has_the_sources_and_leaves_out_what_is_built() {
        let (from, to) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        for name in ["docs/a.md", "target/big", "conformance/a.jsonl"] {
            let file = from.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
        copy(from.path(), to.path()).unwrap();
        assert!(to.path().join("docs/a.md").is_file());
        assert!(!to.path().join("target").exists());
        assert!(!to.path().join("conformance").exists());
    }

    #[test]
    fn the_copy_keeps_what_is_the_same_and_loses_what_is_gone() {
        let (from, to) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        for name in ["same", "other"] {
            fs::write(from.path().join(name), name).unwrap();
        }
        copy(from.path(), to.path()).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for name in ["same", "other"] {
            let file = fs::File::options().write(true).open(to.path().join(name)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        fs::write(from.path().join("other"), "new").unwrap();
        fs::write(to.path().join("report.html"), "left behind").unwrap();
        copy(from.path(), to.path()).unwrap();
        let changed = |name: &str| fs::metadata(to.path().join(name)).unwrap().modified().unwrap();
        assert_eq!(changed("same"), long_ago);
        assert_ne!(changed("other"), long_ago);
        assert_eq!(fs::read_to_string(to.path().join("other")).unwrap(), "new");
        assert!(!to.path().join("report.html").exists());
    }
}

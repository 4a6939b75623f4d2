//! `headroom convert`: a queue file from the configuration of another scheduler.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use headroom_config::yarn::{self, Converted, Source, YARN_BYTES_MAX};
use headroom_config::{Counts, Style, Wrapped, Wrapper, review, wrapped};
use headroom_core::userlimit::Formula;

use crate::output;

use super::validate::without_file;

/// Create a queue file from the configuration of another scheduler.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom convert yarn capacity-scheduler.xml --output queues.yaml"
)]
pub(crate) struct Convert {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Convert the files of YARN's `CapacityScheduler`
    ///
    /// The command lists each property that a queue file cannot express, with the reason and what to do. The
    /// queue file that it creates contains this list as comments.
    Yarn(Yarn),
    /// Extract a queue file from a Kubernetes `ConfigMap` or the values of a Helm chart
    #[command(name = "configmap")]
    ConfigMap(ConfigMap),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom convert configmap values.yaml --output queues.yaml\n  kubectl -n yunikorn get configmap yunikorn-configs -o yaml | headroom convert configmap - > queues.yaml"
)]
struct ConfigMap {
    /// A `ConfigMap`, a list of them, Helm values with yunikornDefaults, or a part of either. - means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Entry to extract if there are several: queues.yaml, or the policy group with .yaml
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Queue file to write. `-`, the default, means standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ConfigMap {
    fn run(self) -> Result<ExitCode> {
        let output = self.output.as_deref().filter(|path| *path != Path::new("-"));
        if let Some(path) = output {
            output::folder_is_there(path)?;
            is_no_input(std::slice::from_ref(&self.file), path)?;
        }
        let (name, text) = (name_of(&self.file), read(&self.file)?);
        let held = wrapped(&text).with_context(|| {
            format!(
                "{name} contains neither a Kubernetes ConfigMap nor Helm \
                                      values. Specify a file that contains one of these"
            )
        })?;
        let file = self.choose(&name, &held)?;
        let bytes = file.text.clone().map_err(|why| anyhow!("{name}, {}: {why}", file.key))?;
        let Ok(text) = String::from_utf8(bytes) else {
            bail!("{name}, {}: the text is not UTF-8", file.key)
        };
        let target = if let Some(path) = output {
            output::write_file(path, &text)?;
            path.display().to_string()
        } else {
            output::print(&text)?;
            "the queue file".to_owned()
        };
        Ok(judge(&text, &target))
    }

    /// Returns the only entry, or the entry with the given key.
    fn choose<'h>(&self, name: &str, held: &'h Wrapper) -> Result<&'h Wrapped> {
        let keys =
            || held.files.iter().map(|file| file.key.as_str()).collect::<Vec<_>>().join(", ");
        match (&self.key, &held.files[..]) {
            (_, []) => bail!("{name}: {}", without_file(held)),
            (None, [only]) => Ok(only),
            (None, _) => {
                bail!("{name} contains several queue files: {}. Choose one with --key.", keys())
            }
            (Some(key), files) => {
                let known = key.strip_suffix(".gz").unwrap_or(key);
                let found = files.iter().find(|file| file.key == known);
                found.with_context(|| {
                    format!("{name} contains no queue file {key}. Set --key to one of: {}.", keys())
                })
            }
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom convert yarn capacity-scheduler.xml --output queues.yaml\n  headroom convert yarn yarn-site.xml capacity-scheduler.xml > queues.yaml"
)]
struct Yarn {
    /// `capacity-scheduler.xml`. If `yarn-site.xml` sets allocation sizes or preemption, name it first. - means standard
    /// input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Queue file to write. `-`, the default, means standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Formula of user shares: that of `CapacityScheduler` 3 or 2.7, or that of Headroom (smooth)
    #[arg(long, value_enum, default_value_t = Share::Yarn3)]
    formula: Share,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Share {
    Yarn3,
    Yarn27,
    Smooth,
}

impl Convert {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.from {
            From::Yarn(yarn) => yarn.run(),
            From::ConfigMap(map) => map.run(),
        }
    }
}

impl Yarn {
    fn run(self) -> Result<ExitCode> {
        let formula = match self.formula {
            Share::Yarn3 => Formula::Yarn3,
            Share::Yarn27 => Formula::Yarn27,
            Share::Smooth => Formula::Smooth,
        };
        let output = self.output.as_deref().filter(|path| *path != Path::new("-"));
        if let Some(path) = output {
            output::folder_is_there(path)?;
            is_no_input(&self.files, path)?;
        }
        let read = |path: &PathBuf| Ok((name_of(path), read(path)?));
        let texts = self.files.iter().map(read).collect::<Result<Vec<_>>>()?;
        let sources: Vec<Source<'_>> =
            texts.iter().map(|(name, text)| Source { name, text }).collect();
        let converted = yarn::convert(&sources, formula)?;
        tell(&converted);
        let target = if let Some(path) = output {
            output::write_file(path, &converted.text)?;
            path.display().to_string()
        } else {
            output::print(&converted.text)?;
            "the queue file".to_owned()
        };
        Ok(judge(&converted.text, &target))
    }
}

/// Fails if `output` is one of the input files, under any name.
fn is_no_input(files: &[PathBuf], output: &Path) -> Result<()> {
    let id = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let Some(written) = id(output) else { return Ok(()) };
    let same = files.iter().find(|path| id(path) == Some(written));
    if let Some(input) = same {
        bail!(
            "--output {} would overwrite the input file {}. Choose another file, such as queues.yaml.",
            output.display(),
            input.display()
        );
    }
    Ok(())
}

/// Prints the result of each property on one line.
fn tell(converted: &Converted) {
    for note in &converted.notes {
        let place = note.place.as_ref();
        let place = place.map(|place| format!("{}:{}: ", place.file, place.line));
        output::tell(&format!("{}{note}", place.unwrap_or_default()));
    }
}

/// Returns whether the result can be loaded, and prints its errors.
fn judge(text: &str, target: &str) -> ExitCode {
    let found = review(text);
    let Counts { errors, .. } = found.diagnostics.counts();
    if errors == 0 {
        return ExitCode::SUCCESS;
    }
    let faults = found.diagnostics.render(target, Style::Coloured);
    output::tell(&format!(
        "{faults}\n\nerror: {target} has errors and cannot be loaded. Correct these lines, or the \
         input files."
    ));
    ExitCode::FAILURE
}

fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns the text of a file. Reads at most [`YARN_BYTES_MAX`] bytes and one more.
fn read(path: &Path) -> Result<String> {
    let name = name_of(path);
    let most = u64::try_from(YARN_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let found = if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    found.with_context(|| format!("cannot read {name}"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
            bail!(
                "cannot convert {name}: line {line}: the text is not UTF-8. Save the file as UTF-8."
            )
        }
    }
}

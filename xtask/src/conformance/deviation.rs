//! The differences that we decided on.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::case::Case;

const FILE: &str = "deviations.toml";

/// The content of `deviations.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deviations {
    #[serde(default, rename = "deviation")]
    all: Vec<Deviation>,
}

/// One case that differs by decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deviation {
    folder: String,
    /// As the report names the case, or `name@version`.
    case: String,
    /// The first step that differs; 0 where a case is one question.
    pub(super) step: usize,
    /// The decision's number.
    pub(super) decision: String,
    /// One sentence. Required so that nobody lists a case without a reason.
    #[expect(dead_code, reason = "read by people")]
    why: String,
}

impl Deviations {
    /// Read the list from the first of these directories that has one; none is an empty list.
    ///
    /// # Errors
    /// When the file is there and not such a list.
    pub(super) fn read(directories: &[&Path]) -> Result<Self> {
        let mut files = directories.iter().map(|directory| directory.join(FILE));
        let Some(file) = files.find(|file| file.is_file()) else {
            return Ok(Self::default());
        };
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))
    }

    /// The entry of a case. A caller that looks at a part of the data sees shorter folder
    /// names, so `config` also means `yunikorn/config`.
    pub(super) fn of(&self, folder: &str, case: &Case) -> Option<&Deviation> {
        self.all.iter().find(|one| {
            let rest = one.folder.strip_suffix(folder);
            let same_folder = rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
            same_folder && (one.case == case.id || one.case == case.long_name)
        })
    }
}

//! Reading recorded cases and naming them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::project;

/// One recorded case.
pub(super) struct Case {
    /// Its name, made unique in its folder: see [`name_cases`].
    pub(super) id: String,
    /// Its name and version, which stay the same whatever stands beside it.
    pub(super) long_name: String,
    pub(super) value: Value,
    name: String,
    /// The name of its file without the ending.
    pub(super) stem: String,
    file: PathBuf,
    line: usize,
}

impl Case {
    /// Where it is written, for error messages.
    pub(super) fn place(&self) -> String {
        place(&self.file, self.line)
    }
}

/// The folders below `dir` that hold `*.jsonl` files, with these files in order.
///
/// # Errors
/// When a directory cannot be listed.
pub(super) fn folders(dir: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let dir = fs::canonicalize(dir).with_context(|| format!("cannot open {}", dir.display()))?;
    let mut folders: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in project::files_below(&dir)? {
        if file.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let folder = file.parent().unwrap_or(&dir);
        let mut name = project::slashed(folder.strip_prefix(&dir).unwrap_or(folder));
        if name.is_empty() {
            // The caller pointed at a folder itself: its own name says what it holds.
            let own = dir.file_name().unwrap_or_default();
            name = own.to_string_lossy().into_owned();
        }
        folders.entry(name).or_default().push(file);
    }
    Ok(folders)
}

/// All cases of one folder's files, in order, with unique ids.
///
/// # Errors
/// When a file is not a list of cases, one JSON object with a `name` per line.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for file in files {
        let before = cases.len();
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for (index, line) in text.lines().enumerate() {
            if !line.trim().is_empty() {
                let case = parse(file, index + 1, line);
                cases.push(case.with_context(|| place(file, index + 1))?);
            }
        }
        ensure!(cases.len() > before, "{} holds no case", file.display());
    }
    name_cases(&mut cases)?;
    Ok(cases)
}

fn parse(file: &Path, line: usize, text: &str) -> Result<Case> {
    let value: Value = serde_json::from_str(text).context("not JSON")?;
    let name = text_of(&value, "name")?.to_owned();
    let version = value.get("version").and_then(Value::as_str);
    let long_name = version.map_or_else(|| name.clone(), |version| format!("{name}@{version}"));
    let stem = file.file_stem().unwrap_or_default();
    Ok(Case {
        id: String::new(),
        long_name,
        name,
        stem: stem.to_string_lossy().into_owned(),
        file: file.to_owned(),
        line,
        value,
    })
}

/// Give each case the shortest id that tells it from the others of its folder.
///
/// `name` where only one case has it; else `name@version`; else `file/name@version`. All
/// cases of one name take the same form.
fn name_cases(cases: &mut [Case]) -> Result<()> {
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        same.entry(case.name.clone()).or_default().push(index);
    }
    let forms: [fn(&Case) -> String; 3] = [
        |case| case.name.clone(),
        |case| case.long_name.clone(),
        |case| format!("{}/{}", case.stem, case.long_name),
    ];
    for group in same.values() {
        let form = forms.iter().find(|form| {
            let ids: BTreeSet<_> = group.iter().map(|index| form(&cases[*index])).collect();
            ids.len() == group.len()
        });
        let last = &cases[group[group.len() - 1]];
        let form = form.with_context(|| {
            let (place, name) = (last.place(), &last.name);
            format!("{place}: {name} occurs twice in one file and version")
        })?;
        for index in group {
            cases[*index].id = form(&cases[*index]);
        }
    }
    Ok(())
}

/// The text in a field of a case.
///
/// # Errors
/// When the field is missing or not a text.
pub(super) fn text_of<'a>(case: &'a Value, field: &str) -> Result<&'a str> {
    case.get(field)
        .and_then(Value::as_str)
        .with_context(|| format!("the field {field:?} must be there and be a text"))
}

/// The boolean in a field of a case.
///
/// # Errors
/// When the field is missing or not a boolean.
pub(super) fn bool_of(case: &Value, field: &str) -> Result<bool> {
    case.get(field)
        .and_then(Value::as_bool)
        .with_context(|| format!("the field {field:?} must be there and be true or false"))
}

fn place(file: &Path, line: usize) -> String {
    format!("{}, line {line}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(cases: &[(&str, &str)]) -> Result<Vec<String>> {
        let mut cases: Vec<_> =
            cases.iter().map(|(file, text)| parse(Path::new(file), 1, text).unwrap()).collect();
        name_cases(&mut cases)?;
        Ok(cases.into_iter().map(|case| case.id).collect())
    }

    #[test]
    fn a_name_is_as_long_as_it_must_be() {
        let (plain, old, new) =
            (r#"{"name":"a"}"#, r#"{"name":"a","version":"1"}"#, r#"{"name":"a","version":"2"}"#);
        for (cases, expected) in [
            (&[("x.jsonl", old)][..], &["a"][..]),
            (&[("x.jsonl", old), ("x.jsonl", new)], &["a@1", "a@2"]),
            (&[("x.jsonl", old), ("y.jsonl", old)], &["x/a@1", "y/a@1"]),
            (&[("x.jsonl", plain), ("y.jsonl", plain)], &["x/a", "y/a"]),
        ] {
            assert_eq!(ids(cases).unwrap(), expected, "{cases:?}");
        }
        let twice = ids(&[("x.jsonl", old), ("x.jsonl", old)]).unwrap_err().to_string();
        assert!(twice.ends_with(": a occurs twice in one file and version"), "{twice}");
    }
}

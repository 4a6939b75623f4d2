//! `conformance`: replays what real schedulers answered, and compares.
//!
//! A folder of recorded cases is a directory below the given one that holds `*.jsonl` files;
//! its name is its path. Every case is judged: one that cannot be judged yet has failed. A
//! difference that we decided on counts as deviating. It is listed in `deviations.toml`, or a
//! rule of the judge computes the decided answer from the recorded one.
//!
//! To judge another kind of folder, write a [`Judge`] in a file of its own and name it in
//! [`judge_of`].

mod case;
mod config;
mod deviation;
mod kubernetes;
mod placement;
mod resources;
pub mod scenario;
mod unjudged;
mod user;
mod yarn;

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;

use self::case::Case;
use self::deviation::Deviations;
use self::scenario::{History, Home};

/// Exit code for data that cannot be read, to tell it from differences.
const UNREADABLE: u8 = 2;

/// At most this share of the cases of a recording may be listed in `deviations.toml`: of a folder that
/// has a README, with all folders in it. Cases that deviate by a rule do not count, because the rule
/// says what the answer must be.
const DEVIATING_PERCENT_MAX: usize = 3;

/// Replay recorded data and compare.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the recorded folders are [default: the project's conformance/]
    dir: Option<PathBuf>,
    /// Print a list of {folder, cases, equal, deviating, byRule, failed} and nothing else. `byRule` of the
    /// deviating cases follow from a rule, and the others are in deviations.toml
    #[arg(long)]
    json: bool,
    /// Fail unless every case of these folders, or parts of them (`folder:part`), is equal or deviating
    #[arg(long, value_name = "FOLDER", num_args = 1..)]
    require: Vec<String>,
    /// Print one case step by step, ours beside the record, and nothing else
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "require"])]
    case: Option<String>,
}

/// What a judge says about one case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// Headroom answers what the reference answered.
    Equal,
    /// Headroom answers what these decisions make of the recorded answer.
    Decided(Vec<Rule>),
    /// Headroom answers otherwise, first at this step (0 where a case is one question).
    Differs { step: usize, what: String },
    /// Nobody can tell yet.
    Unjudged,
}

/// A decision by which the expected answer is computed from the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    decision: &'static str,
    why: &'static str,
}

/// Knows one kind of recorded case.
trait Judge {
    /// Ask Headroom and compare.
    ///
    /// # Errors
    /// When the case itself lacks something; the text names the field.
    fn judge(&self, case: &Value) -> Result<Verdict>;

    /// A named part of the folder that the case belongs to, which may be complete before the
    /// whole is. `file` is the file's name without its ending.
    fn subset(&self, _case: &Value, _file: &str) -> Option<&'static str> {
        None
    }

    /// The case in detail, ours beside the record, for `--case`.
    ///
    /// # Errors
    /// When the case itself lacks something; the text names the field.
    fn show(&self, case: &Value) -> Result<String> {
        Ok(format!("{case:#}\n"))
    }
}

/// The judge of a folder, by the last part of its name.
fn judge_of(folder: &str) -> &'static dyn Judge {
    let kind = folder.rsplit_once('/').map_or(folder, |(_, kind)| kind);
    match kind {
        "conversion" => &kubernetes::Conversion,
        "predicates" => &kubernetes::Predicates,
        "resources" => &resources::Resources,
        "config" => &config::Config,
        "placement" => &placement::Placement,
        "scenarios" => &scenario::Scenario,
        "yarn" => &yarn::Yarn,
        _ => &unjudged::Unjudged,
    }
}

/// What came out for one folder.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    folder: String,
    cases: usize,
    equal: usize,
    deviating: usize,
    /// How many of `deviating` follow from a rule.
    #[serde(rename = "byRule")]
    by_rule: usize,
    failed: Vec<String>,
    /// Why each of `failed` did, in the same order.
    #[serde(skip)]
    reasons: Vec<String>,
    /// Listed deviations that no longer deviate, or elsewhere.
    #[serde(skip)]
    stale: Vec<String>,
    /// How many cases deviate by each rule. A case can deviate by several.
    #[serde(skip)]
    rules: BTreeMap<Rule, usize>,
    /// Named parts of the folder.
    #[serde(skip)]
    parts: BTreeMap<&'static str, Part>,
    /// The recording that the folder belongs to, and its name.
    #[serde(skip)]
    recording: Recording,
    #[serde(skip)]
    recording_name: String,
}

/// What came out for all folders of a recording.
#[derive(Clone, Copy, Debug, Default)]
struct Recording {
    cases: usize,
    listed: usize,
}

/// The name of the recording that a folder of `dir` belongs to: the nearest directory with a README, or else
/// the first part of the name.
fn recording_of<'a>(dir: &Path, folder: &'a str) -> &'a str {
    let above = |name: &&'a str| name.rsplit_once('/').map(|(above, _)| above);
    let mut names = std::iter::successors(Some(folder), above);
    let first = folder.split_once('/').map_or(folder, |(first, _)| first);
    names.find(|name| dir.join(name).join("README.md").is_file()).unwrap_or(first)
}

/// Tell each report of its recording; `others` are the cases of folders that have none.
fn sum_up(dir: &Path, reports: &mut [Report], others: &BTreeMap<String, usize>) {
    for report in reports.iter_mut() {
        recording_of(dir, &report.folder).clone_into(&mut report.recording_name);
    }
    let mut recordings: BTreeMap<String, Recording> = BTreeMap::new();
    for report in reports.iter() {
        let sum = recordings.entry(report.recording_name.clone()).or_default();
        sum.cases += report.cases;
        sum.listed += report.deviating - report.by_rule;
    }
    for report in reports {
        let name = &report.recording_name;
        report.recording = recordings.get(name).copied().unwrap_or_default();
        report.recording.cases += others.get(name).copied().unwrap_or_default();
    }
}

/// What came out for a named part of a folder.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    cases: usize,
    failed: usize,
}

impl Report {
    /// Whether every case is equal or deviating, and the list of deviations is right.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.stale.is_empty() && !self.deviates_too_much()
    }

    fn folder(&self) -> &str {
        &self.folder
    }

    /// How many cases of a part failed, by the part's name as `folder:part`.
    fn parts(&self) -> impl Iterator<Item = (String, usize)> {
        self.parts.iter().map(|(name, part)| (format!("{}:{name}", self.folder), part.failed))
    }

    fn deviates_too_much(&self) -> bool {
        self.recording.listed * 100 > self.recording.cases * DEVIATING_PERCENT_MAX
    }
}

/// Run the subcommand.
///
/// # Errors
/// When the answer cannot be printed. Unreadable data is exit code 2.
pub(crate) fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    let own = root.join("conformance");
    let dir = args.dir.as_deref().unwrap_or(&own);
    if let Some(name) = &args.case {
        return show(dir, name);
    }
    let reports = match survey(dir, &own) {
        Ok(reports) => reports,
        Err(error) => {
            eprintln!("error: {error:#}");
            return Ok(ExitCode::from(UNREADABLE));
        }
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&reports)?);
    } else {
        print(&reports, true);
    }
    let complaints = complaints(&reports, &args.require);
    for complaint in &complaints {
        eprintln!("error: {complaint}");
    }
    Ok(ExitCode::from(u8::from(!complaints.is_empty())))
}

/// Print the cases of this name.
fn show(dir: &Path, name: &str) -> Result<ExitCode> {
    let mut found = false;
    for (folder, files) in case::folders(dir)? {
        for case in case::read(&files)?.iter().filter(|case| case.id == name) {
            found = true;
            let page = judge_of(&folder).show(&case.value).with_context(|| case.place())?;
            println!("{folder}: {}\n{page}{:?}", case.id, judge_case(judge_of(&folder), case)?);
        }
    }
    anyhow::ensure!(found, "{} holds no case {name}", dir.display());
    Ok(ExitCode::SUCCESS)
}

/// Judge every case below `dir`. The deviations are those of `dir`, or the project's `own`.
///
/// # Errors
/// When data cannot be read; the file and the line are named.
fn survey(dir: &Path, own: &Path) -> Result<Vec<Report>> {
    let deviations = Deviations::read(&[dir, own])?;
    let mut reports = Vec::new();
    for (folder, files) in case::folders(dir)? {
        let cases = case::read(&files)?;
        let judge = judge_of(&folder);
        reports.push(judge_folder(folder, judge, &cases, &deviations)?);
    }
    anyhow::ensure!(!reports.is_empty(), "{} holds no *.jsonl file", dir.display());
    sum_up(dir, &mut reports, &BTreeMap::new());
    Ok(reports)
}

/// Print one line per folder; with `names`, the failed cases below it.
pub fn print(reports: &[Report], names: bool) {
    for report in reports {
        let by_rule = match report.by_rule {
            0 => String::new(),
            count => format!(" ({count} by rule)"),
        };
        println!(
            "{}: {} cases, {} equal, {} deviating{by_rule}, {} failed",
            report.folder,
            report.cases,
            report.equal,
            report.deviating,
            report.failed.len()
        );
        for (Rule { decision, why }, cases) in &report.rules {
            println!("  by rule {decision} ({cases}): {why}");
        }
        for (name, part) in &report.parts {
            let well = part.cases - part.failed;
            println!(
                "  {name}: {} cases, {well} equal or deviating, {} failed",
                part.cases, part.failed
            );
        }
        if names {
            for (name, reason) in report.failed.iter().zip(&report.reasons) {
                println!("  failed {name}: {reason}");
            }
        }
        for stale in &report.stale {
            println!("  stale  {stale}");
        }
    }
}

/// Judge the recorded histories below `dir` by another home of the core than the core alone;
/// `begin` brings a new one, to which the queue file of the history is given.
///
/// # Errors
/// When data cannot be read; the file and the line are named.
pub fn replay(dir: &Path, begin: &dyn Fn(&str) -> Box<dyn Home>) -> Result<Vec<Report>> {
    let deviations = Deviations::read(&[dir])?;
    let judge = scenario::Replay { begin };
    let (mut reports, mut others) = (Vec::new(), BTreeMap::<String, usize>::new());
    for (folder, files) in case::folders(dir)? {
        let cases = case::read(&files)?;
        if folder.ends_with("/scenarios") {
            reports.push(judge_folder(folder, &judge, &cases, &deviations)?);
        } else {
            *others.entry(recording_of(dir, &folder).to_owned()).or_default() += cases.len();
        }
    }
    sum_up(dir, &mut reports, &others);
    Ok(reports)
}

/// The recorded histories below `dir`, in order, for a home that cannot play all of them.
///
/// # Errors
/// When data cannot be read; the file and the line are named.
pub fn histories(dir: &Path) -> Result<Vec<History>> {
    let deviations = Deviations::read(&[dir])?;
    let mut histories = Vec::new();
    for (folder, files) in case::folders(dir)? {
        if folder.ends_with("/scenarios") {
            for case in case::read(&files)? {
                let deviates = deviations.of(&folder, &case).map(|one| one.step);
                histories.push(History::new(case.id, case.value, deviates));
            }
        }
    }
    Ok(histories)
}

fn judge_folder(
    folder: String,
    judge: &dyn Judge,
    cases: &[Case],
    deviations: &Deviations,
) -> Result<Report> {
    let mut report = Report { cases: cases.len(), folder, ..Report::default() };
    for case in cases {
        let failed_before = report.failed.len();
        let verdict = judge_case(judge, case)?;
        let listed = deviations.of(&report.folder, case);
        match (verdict, listed) {
            (Verdict::Equal, None) => report.equal += 1,
            (Verdict::Equal, Some(listed)) => {
                report.equal += 1;
                let decision = &listed.decision;
                let id = &case.id;
                report
                    .stale
                    .push(format!("{id} is listed under {decision} but equal: delete its entry"));
            }
            (Verdict::Decided(rules), listed) => {
                report.deviating += 1;
                report.by_rule += 1;
                for rule in &rules {
                    *report.rules.entry(*rule).or_default() += 1;
                }
                if let Some(listed) = listed {
                    let (id, decision) = (&case.id, &listed.decision);
                    let rules: Vec<_> = rules.iter().map(|rule| rule.decision).collect();
                    report.stale.push(format!(
                        "{id} is listed under {decision}, but follows from {}: delete its entry",
                        rules.join(" and ")
                    ));
                }
            }
            (Verdict::Differs { step, .. }, Some(listed)) if listed.step == step => {
                report.deviating += 1;
            }
            (Verdict::Differs { step, what }, listed) => {
                let expected = listed.map_or_else(String::new, |listed| {
                    format!(" ({} explains step {})", listed.decision, listed.step)
                });
                report.failed.push(case.id.clone());
                report.reasons.push(format!("step {step}: {what}{expected}"));
            }
            (Verdict::Unjudged, _) => {
                report.failed.push(case.id.clone());
                report.reasons.push("cannot be judged yet".to_owned());
            }
        }
        if let Some(part) = judge.subset(&case.value, &case.stem) {
            let part = report.parts.entry(part).or_default();
            part.cases += 1;
            part.failed += report.failed.len() - failed_before;
        }
    }
    Ok(report)
}

/// A panic in Headroom is a difference in one case and must not hide the others.
fn judge_case(judge: &dyn Judge, case: &Case) -> Result<Verdict> {
    let answer = panic::catch_unwind(AssertUnwindSafe(|| judge.judge(&case.value)));
    match answer {
        Ok(Ok(verdict)) => Ok(verdict),
        Ok(Err(error)) => Err(error.context(case.place())),
        Err(_) => Ok(Verdict::Differs { step: 0, what: "Headroom panicked".to_owned() }),
    }
}

fn complaints(reports: &[Report], required: &[String]) -> Vec<String> {
    let by_name: BTreeMap<_, _> = reports.iter().map(|one| (one.folder(), one)).collect();
    let parts: BTreeMap<String, usize> = reports.iter().flat_map(Report::parts).collect();
    let mut complaints = Vec::new();
    let too_many = reports.iter().filter(|one| one.deviates_too_much());
    let too_many: BTreeMap<&str, Recording> =
        too_many.map(|one| (&*one.recording_name, one.recording)).collect();
    for (name, Recording { cases, listed }) in too_many {
        complaints.push(format!(
            "{name}: {listed} of {cases} cases are listed as deviating, more than {DEVIATING_PERCENT_MAX} %"
        ));
    }
    for name in required {
        if let Some(failed) = parts.get(name) {
            if *failed > 0 {
                complaints.push(format!("{name} is required: {failed} cases failed"));
            }
            continue;
        }
        match by_name.get(&**name) {
            None => complaints.push(format!("{name} is required, and there is no such folder")),
            Some(report) if !report.is_complete() => complaints.push(format!(
                "{name} is required: {} of {} cases failed, {} deviations stale",
                report.failed.len(),
                report.cases,
                report.stale.len()
            )),
            Some(_) => {}
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::project;
    use crate::scratch::Scratch;

    /// Folders whose cases are all equal or deviating.
    const COMPLETE: [&str; 7] = [
        "kubernetes/conversion",
        "kubernetes/predicates",
        "yarn",
        "yunikorn/config",
        "yunikorn/placement",
        "yunikorn/resources",
        "yunikorn/scenarios",
    ];

    #[test]
    fn every_recorded_case_is_equal_or_deviates_by_decision() {
        let recorded = project::root().unwrap().join("conformance");
        let reports = survey(&recorded, &recorded).unwrap();
        print(&reports, true);
        let folders = reports.iter().map(|report| report.folder().to_owned());
        let required: Vec<String> = folders.chain(COMPLETE.map(str::to_owned)).collect();
        assert_eq!(complaints(&reports, &required), Vec::<String>::new());
    }

    const GOOD: &str = r#"{"name":"good","resource":"vcore","text":"2","ok":true,"value":2000}"#;
    const BAD: &str = r#"{"name":"bad","resource":"vcore","text":"2","ok":true,"value":3}"#;

    fn survey_of(cases: &str, deviations: Option<&str>) -> Result<Vec<Report>> {
        let scratch = Scratch::new()?;
        let folder = scratch.path().join("kind/resources");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("a.jsonl"), cases)?;
        if let Some(text) = deviations {
            fs::write(scratch.path().join("deviations.toml"), text)?;
        }
        survey(scratch.path(), scratch.path())
    }

    fn entry(case: &str, step: usize) -> String {
        format!(
            "[[deviation]]\nfolder = \"kind/resources\"\ncase = \"{case}\"\nstep = {step}\n\
             decision = \"K-1\"\nwhy = \"because\"\n"
        )
    }

    #[test]
    fn equal_and_different_cases_are_told_apart() {
        let reports = survey_of(&format!("{GOOD}\n\n{BAD}\n"), None).unwrap();
        let json = serde_json::to_value(&reports).unwrap();
        let expected = serde_json::json!([{
            "folder": "kind/resources", "cases": 2, "equal": 1, "deviating": 0, "byRule": 0,
            "failed": ["bad"],
        }]);
        assert_eq!(json, expected);
        assert_eq!(complaints(&reports, &[]).len(), 0);
        assert_eq!(complaints(&reports, &["kind/resources".into()]).len(), 1);
        assert_eq!(complaints(&reports, &["none".into()]).len(), 1);
    }

    #[test]
    fn a_listed_difference_deviates_only_at_its_step() {
        let many = (0..40).map(|n| GOOD.replace("good", &format!("good-{n}")) + "\n");
        let cases = many.collect::<String>() + BAD;
        for (listed, deviating, failed, stale) in
            [(entry("bad", 0), 1, 0, 0), (entry("bad", 3), 0, 1, 0), (entry("good-7", 0), 0, 1, 1)]
        {
            let reports = survey_of(&cases, Some(&listed)).unwrap();
            let report = &reports[0];
            let counts = (report.deviating, report.failed.len(), report.stale.len());
            assert_eq!(counts, (deviating, failed, stale), "{listed}");
        }
    }

    /// Answers otherwise by rule.
    struct Ruled;

    impl Judge for Ruled {
        fn judge(&self, _: &Value) -> Result<Verdict> {
            Ok(Verdict::Decided(vec![Rule { decision: "K-2", why: "because" }]))
        }
    }

    #[test]
    fn a_rule_deviates_without_limit_and_needs_no_entry() {
        let scratch = Scratch::new().unwrap();
        let file = scratch.path().join("a.jsonl");
        fs::write(&file, GOOD).unwrap();
        let cases = case::read(&[file]).unwrap();
        for (listed, stale) in [(String::new(), 0), (entry("good", 0), 1)] {
            fs::write(scratch.path().join("deviations.toml"), listed).unwrap();
            let deviations = Deviations::read(&[scratch.path()]).unwrap();
            let report = judge_folder("kind/resources".into(), &Ruled, &cases, &deviations);
            let mut reports = [report.unwrap()];
            sum_up(scratch.path(), &mut reports, &BTreeMap::new());
            let report = &reports[0];
            let counts = (report.deviating, report.by_rule, report.stale.len());
            assert_eq!(counts, (1, 1, stale));
            assert_eq!(report.rules.values().sum::<usize>(), 1);
            assert!(!report.deviates_too_much());
            assert_eq!(report.is_complete(), stale == 0);
        }
    }

    #[test]
    fn a_recording_is_the_nearest_directory_with_a_readme() {
        let scratch = Scratch::new().unwrap();
        for directory in ["a", "b/one"] {
            fs::create_dir_all(scratch.path().join(directory)).unwrap();
            fs::write(scratch.path().join(directory).join("README.md"), "").unwrap();
        }
        for (folder, expected) in
            [("a", "a"), ("a/x/y", "a"), ("b/one", "b/one"), ("b/two", "b"), ("c", "c")]
        {
            assert_eq!(recording_of(scratch.path(), folder), expected, "{folder}");
        }
    }

    #[test]
    fn deviations_are_known_when_only_a_part_is_replayed() {
        let scratch = Scratch::new().unwrap();
        let folder = scratch.path().join("kind/resources");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.jsonl"), BAD).unwrap();
        fs::write(scratch.path().join("deviations.toml"), entry("bad", 0)).unwrap();
        for part in ["", "kind", "kind/resources"] {
            let reports = survey(&scratch.path().join(part), scratch.path()).unwrap();
            assert_eq!(reports[0].deviating, 1, "replaying {part:?}");
        }
    }

    #[test]
    fn more_than_three_percent_may_not_deviate() {
        for (equal, expected) in [(33, 0), (32, 1)] {
            let many = (0..equal).map(|n| GOOD.replace("good", &format!("good-{n}")) + "\n");
            let cases = many.collect::<String>() + BAD;
            let reports = survey_of(&cases, Some(&entry("bad", 0))).unwrap();
            assert_eq!(complaints(&reports, &[]).len(), expected, "1 beside {equal}");
        }
    }

    #[test]
    fn unreadable_data_names_file_and_line() {
        for (cases, expected) in [
            (format!("{GOOD}\n{{"), "a.jsonl, line 2"),
            (r#"{"resource":"vcore"}"#.to_owned(), "a.jsonl, line 1"),
            (r#"{"name":"a","text":"1"}"#.to_owned(), "a.jsonl, line 1"),
            ("[1]".to_owned(), "a.jsonl, line 1"),
            (String::from("\n"), "no case"),
            (format!("{GOOD}\n{GOOD}"), "line 2"),
        ] {
            let error = survey_of(&cases, None).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains(expected), "{cases}: {text}");
        }
    }
}

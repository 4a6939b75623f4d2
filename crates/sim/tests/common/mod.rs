//! What the tests of the readers share.

use std::fmt::Write;

use headroom_sim::workload::{Format, ReadOptions, Workload, WorkloadError, read_from};

/// Read a source that is called `t` in messages.
pub(crate) fn read(
    format: Format,
    text: &[u8],
    options: &ReadOptions,
) -> Result<Workload, WorkloadError> {
    read_from(text, "t", format, options)
}

/// A workload as text: one line per job, then what was left out and remarked; or the error.
pub(crate) fn shown(read: Result<Workload, WorkloadError>) -> String {
    let workload = match read {
        Ok(workload) => workload,
        Err(error) => return format!("{error}\n"),
    };
    let mut out = String::new();
    for job in &workload.jobs {
        write!(
            out,
            "{} at {} for {} by {} of {:?} in {:?}, {} of {}, priority {}",
            job.name,
            job.submit_ms,
            job.run_ms,
            job.user,
            job.groups,
            job.queue,
            job.processors,
            job.per_processor,
            job.priority
        )
        .expect("a String takes everything");
        if let Some(label) = &job.node_label {
            write!(out, ", label {label}").expect("a String takes everything");
        }
        out.push('\n');
    }
    for (reason, count) in &workload.skipped {
        writeln!(out, "skipped {count}: {reason}").expect("a String takes everything");
    }
    for remark in &workload.remarks {
        writeln!(out, "remark: {remark}").expect("a String takes everything");
    }
    out
}

/// The errors that these sources give, one per line.
#[allow(dead_code)] // Not every test file has bad lines.
pub(crate) fn errors(format: Format, sources: &[&[u8]]) -> String {
    let options = ReadOptions::default();
    sources.iter().map(|source| shown(read(format, source, &options))).collect()
}

//! Node lists of the Alibaba GPU cluster traces: `sn,cpu_milli,memory_mib,gpu,model`.

use std::io::BufRead;
use std::path::Path;

use headroom_core::resource::{Amounts, Quantity};

use crate::workload::lines::{Lines, split_csv};
use crate::workload::quoted;

use super::{Found, NODES_MAX, NodeOptions, NodesError};

/// Required columns, in order. `model` is optional.
const NEEDED: [&str; 4] = ["sn", "cpu_milli", "memory_mib", "gpu"];
/// Maximum amount of a node. No machine reaches it, and totals of a cluster cannot overflow.
const MILLI_MAX: i64 = 1_000_000_000;

/// Reads all nodes of the list, in order.
pub(super) fn read(
    input: impl BufRead,
    path: &Path,
    options: NodeOptions,
) -> Result<Vec<Found>, NodesError> {
    let mut lines = Lines::new(input);
    let mut columns = None;
    let mut found = Vec::new();
    loop {
        let place = format!("{}:{}", path.display(), lines.number() + 1);
        let wrong = |problem| NodesError::Entry { place: place.clone(), problem };
        let text = match lines.next() {
            Ok(None) => return Ok(found),
            Ok(Some(line)) => line.map_err(wrong)?,
            Err(source) => {
                return Err(NodesError::Read { path: path.to_owned(), source });
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        let fields = split_csv(text).map_err(wrong)?;
        let Some(columns) = columns else {
            check_header(&fields).map_err(wrong)?;
            columns = Some(fields.len());
            continue;
        };
        if fields.len() < NEEDED.len() || fields.len() > columns {
            let problem = format!(
                "the line has {} columns, expected {columns} as in the header",
                fields.len()
            );
            return Err(wrong(problem));
        }
        if fields[0].is_empty() {
            return Err(wrong("sn is empty, expected the name of the node".to_owned()));
        }
        if found.len() >= NODES_MAX {
            return Err(NodesError::TooMany { place, found: found.len() as u64 + 1 });
        }
        let resources = resources_of(&fields, options).map_err(wrong)?;
        let label = fields.get(4).filter(|model| !model.is_empty()).cloned();
        found.push(Found {
            place,
            name: Some(fields[0].clone()),
            resources,
            label,
            from_ms: 0,
            to_ms: None,
        });
    }
}

fn check_header(fields: &[String]) -> Result<(), String> {
    for (position, needed) in NEEDED.iter().enumerate() {
        let found = fields.get(position).map_or("", String::as_str);
        if found != *needed {
            return Err(format!(
                "column {} of the header is {}, expected {needed:?}; a node list begins with {}",
                position + 1,
                quoted(found),
                NEEDED.join(",")
            ));
        }
    }
    Ok(())
}

fn resources_of(fields: &[String], options: NodeOptions) -> Result<Amounts, String> {
    let number = |position: usize, most: i64| match fields[position].parse::<i64>() {
        Ok(number) if (0..=most).contains(&number) => Ok(number),
        _ => Err(format!(
            "{} is {}, expected a whole number from 0 to {most}",
            NEEDED[position],
            quoted(&fields[position])
        )),
    };
    let cpu = number(1, MILLI_MAX)?;
    let mib = number(2, MILLI_MAX)?;
    let cards = number(3, 1_000)?;
    let mut resources = Amounts::EMPTY;
    resources.set("vcore", Quantity::of(cpu));
    resources.set("memory", Quantity::of(mib << 20));
    if cards > 0 && options.gpu_milli {
        resources.set("gpu-milli", Quantity::of(cards * 1_000));
    } else if cards > 0 {
        resources.set("nvidia.com/gpu", Quantity::of(cards));
    }
    Ok(resources)
}

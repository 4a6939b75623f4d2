//! The machines of a simulation, from the values of `--nodes`.
//!
//! | value | meaning |
//! |---|---|
//! | `120*{vcore: 2, memory: 4Gi}` | that many nodes alike, amounts as in the queue file |
//! | `FILE.csv` | an openb node list: `sn,cpu_milli,memory_mib,gpu,model` |
//! | `FILE.yaml`, `FILE.yml` | nodes one by one, see below |
//! | `FILE@1/60` | every 60th node of the file, from the first on |
//!
//! Nodes of the first form are named `n0001` and so on, counted over all values. In a YAML file, only `name` and
//! `resources` are required:
//!
//! ```text
//! nodes:
//!   - name: big1
//!     resources: {vcore: 64, memory: 256Gi, nvidia.com/gpu: 4}
//!     label: a100
//!     from_ms: 3600000    # joins after an hour of virtual time; absent: there from the start
//!     to_ms: 86400000     # is lost after a day; absent: stays
//! ```

mod alike;
mod csv;
mod yaml;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};

/// Maximum number of nodes of a simulation.
pub const NODES_MAX: usize = 1_000_000;

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Name of the node, which is unique.
    pub name: Name,
    /// Resources of the node. No amount is negative, and at least one amount is above zero.
    pub resources: Amounts,
    /// Label of the node. Jobs can request this label.
    pub label: Option<Name>,
    /// Time at which the node joins, in ms of virtual time.
    pub from_ms: u64,
    /// Time after `from_ms` at which the node is lost, in ms of virtual time. `None` if the node stays.
    pub to_ms: Option<u64>,
}

/// Options for reading node lists. The default options change nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeOptions {
    /// For CSV files: each card has 1,000 of `gpu-milli` instead of one `nvidia.com/gpu`.
    pub gpu_milli: bool,
}

/// Reason why `--nodes` has no valid nodes. Messages begin with the value, or with file and line.
#[derive(Debug, thiserror::Error)]
pub enum NodesError {
    /// The value has none of the forms.
    #[error(
        "--nodes {argument}: {problem}; expected N*{{type: amount, …}} such as '4*{{vcore: 2, \
         memory: 4Gi}}', or a .csv, .yaml or .yml file, optionally followed by @1/N"
    )]
    Argument {
        /// Value of `--nodes`.
        argument: String,
        /// The problem with the value.
        problem: String,
    },
    /// The file is missing, not readable, or not text.
    #[error("cannot read the node list {}", path.display())]
    Read {
        /// Path of the file, as given.
        path: PathBuf,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// A line of a file is not valid.
    #[error("{place}: {problem}")]
    Entry {
        /// File and line, or file and node.
        place: String,
        /// The problem, and what is expected.
        problem: String,
    },
    /// A node has no resources.
    #[error("{place}: node {name} has {resources}, but at least one amount must be above 0")]
    Nothing {
        /// Value, or file and line.
        place: String,
        /// Name of the node.
        name: String,
        /// Resources of the node.
        resources: Amounts,
    },
    /// Two nodes have the same name.
    #[error("{place}: node {name} already occurs in {first}. Give every node a different name")]
    Duplicate {
        /// Place of the second node with this name.
        place: String,
        /// Place of the first node with this name.
        first: String,
        /// Name of both.
        name: String,
    },
    /// The list has more nodes than a simulation can have.
    #[error(
        "{place}: there are {found} nodes so far, but a simulation can have at most {NODES_MAX}"
    )]
    TooMany {
        /// Place where the limit was exceeded.
        place: String,
        /// Number of nodes so far.
        found: u64,
    },
    /// The list has no nodes.
    #[error("there are no nodes in {places}; expected at least one node")]
    None {
        /// Values of `--nodes`.
        places: String,
    },
}

/// A node with its place.
struct Found {
    /// Value, or file and line.
    place: String,
    /// Name of the node. `None` for equal nodes, which are named after all values are read.
    name: Option<String>,
    resources: Amounts,
    label: Option<String>,
    from_ms: u64,
    to_ms: Option<u64>,
}

/// Reads all values of `--nodes`, in order.
///
/// # Errors
/// A [`NodesError`] for the first value, file, or node that is not valid.
pub fn read(arguments: &[String], options: NodeOptions) -> Result<Vec<NodeSpec>, NodesError> {
    let mut found = Vec::new();
    for argument in arguments {
        if argument.trim_start().starts_with(|first: char| first.is_ascii_digit())
            && argument.contains('*')
        {
            let (count, resources) = alike::parse(argument)?;
            bounded(argument, found.len() as u64 + count)?;
            found.extend((0..count).map(|_| Found {
                place: argument.clone(),
                name: None,
                resources: resources.clone(),
                label: None,
                from_ms: 0,
                to_ms: None,
            }));
        } else {
            let (path, every) = thinning(argument)?;
            let nodes = read_file(Path::new(path), argument, options)?;
            found.extend(nodes.into_iter().step_by(every));
            bounded(argument, found.len() as u64)?;
        }
    }
    if found.is_empty() {
        let places = match arguments {
            [] => "the values of --nodes".to_owned(),
            _ => arguments.join(", "),
        };
        return Err(NodesError::None { places });
    }
    settle(&found)
}

fn bounded(place: &str, found: u64) -> Result<(), NodesError> {
    if found <= NODES_MAX as u64 {
        return Ok(());
    }
    Err(NodesError::TooMany { place: place.to_owned(), found })
}

/// Returns path and step of `FILE@1/N`.
fn thinning(argument: &str) -> Result<(&str, usize), NodesError> {
    let Some((path, part)) = argument.rsplit_once('@') else {
        return Ok((argument, 1));
    };
    let Some((one, every)) = part.split_once('/') else {
        return Ok((argument, 1)); // An @ in the file name.
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match every.parse() {
        Ok(every) if one == "1" && every > 0 && digits(part.trim_start_matches("1/")) => {
            Ok((path, every))
        }
        // The name of a folder can contain `@`; such a path is not split.
        _ if !digits(one) => Ok((argument, 1)),
        _ => Err(NodesError::Argument {
            argument: argument.to_owned(),
            problem: format!("{part:?} is not a fraction 1/N with N of at least 1"),
        }),
    }
}

fn read_file(path: &Path, argument: &str, options: NodeOptions) -> Result<Vec<Found>, NodesError> {
    let failed = |source| NodesError::Read { path: path.to_owned(), source };
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("csv") => {
            let file = std::fs::File::open(path).map_err(failed)?;
            csv::read(std::io::BufReader::new(file), path, options)
        }
        Some("yaml" | "yml") => {
            let file = std::fs::File::open(path).map_err(failed)?;
            let mut bytes = Vec::new();
            // One byte more than the limit is enough to refuse the file.
            file.take(yaml::FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
            yaml::read(text_of(&bytes, path)?, path)
        }
        _ => Err(NodesError::Argument {
            argument: argument.to_owned(),
            problem: "this is neither a number of equal nodes nor a file of a known kind"
                .to_owned(),
        }),
    }
}

fn text_of<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str, NodesError> {
    str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let lines = || before.split(|byte| *byte == b'\n');
        NodesError::Entry {
            place: format!("{}:{}", path.display(), lines().count()),
            problem: format!(
                "byte {} is not valid UTF-8; expected text in UTF-8",
                lines().next_back().map_or(0, <[u8]>::len) + 1
            ),
        }
    })
}

/// Reads the text of a YAML node list. `file` is its name in messages.
///
/// # Errors
/// The same as [`read`].
pub fn read_yaml(text: &str, file: &str) -> Result<Vec<NodeSpec>, NodesError> {
    settle(&yaml::read(text, Path::new(file))?)
}

/// Names the nodes without a name, and checks properties of all nodes.
fn settle(found: &[Found]) -> Result<Vec<NodeSpec>, NodesError> {
    let alike = found.iter().filter(|node| node.name.is_none()).count();
    // All names have the same number of digits, so that they sort by number.
    let digits = alike.to_string().len().max(4);
    let mut number = 0;
    let mut places: BTreeMap<Name, usize> = BTreeMap::new();
    let mut nodes: Vec<NodeSpec> = Vec::with_capacity(found.len());
    for node in found {
        let name = if let Some(name) = &node.name {
            Name::new(name)
        } else {
            number += 1;
            Name::from(format!("n{number:0digits$}"))
        };
        if !node.resources.is_strictly_positive() {
            return Err(NodesError::Nothing {
                place: node.place.clone(),
                name: name.to_string(),
                resources: node.resources.clone(),
            });
        }
        if let Some(first) = places.insert(name.clone(), nodes.len()) {
            return Err(NodesError::Duplicate {
                place: node.place.clone(),
                first: found[first].place.clone(),
                name: name.to_string(),
            });
        }
        nodes.push(NodeSpec {
            name,
            resources: node.resources.clone(),
            label: node.label.as_ref().map(Name::new),
            from_ms: node.from_ms,
            to_ms: node.to_ms,
        });
    }
    Ok(nodes)
}

/// Parses amounts. Each type can occur only once.
///
/// # Errors
/// A sentence with the type, the text, and what is expected.
fn amounts<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Amounts, String> {
    let mut amounts = Amounts::EMPTY;
    for (resource, text) in entries {
        let amount = Quantity::parse(resource, text)
            .map_err(|error| format!("{resource} is {text:?}, which is not an amount: {error}"))?;
        if amounts.set(resource, amount).is_some() {
            return Err(format!("{resource} occurs twice, expected once"));
        }
    }
    Ok(amounts)
}

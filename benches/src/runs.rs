//! Whole runs of the simulator to measure: real traces, and a generated one of a million jobs.

use std::path::{Path, PathBuf};

use headroom_core::Name;
use headroom_core::config::Configuration;
use headroom_core::resource::Amounts;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::generate::{GenerateOptions, uniform, uniform::Uniform};
use headroom_sim::workload::{ReadOptions, read};
use headroom_sim::world::{Checks, Setup, Shape, queues_of_groups};

/// The folder of the real traces, if `HEADROOM_TRACES` names it.
pub fn traces() -> Option<PathBuf> {
    std::env::var_os("HEADROOM_TRACES").map(PathBuf::from)
}

/// The HPC2N sample as tasks on 120 nodes of two processors.
pub fn hpc2n(traces: &Path) -> Setup {
    let options = ReadOptions {
        queue_of: Some(template("root.division{row%3}.project{row%12}")),
        ..ReadOptions::default()
    };
    let mut setup = setup("hpc2n.yaml", &traces.join("hpc2n/hpc2n.swf"), &options);
    setup.workload.drop_missing_types(&[Name::new("vcore")]);
    setup.nodes = cluster(&["120*{vcore: 2}"]);
    setup.shape = Shape::Tasks;
    setup
}

/// The openb list on its own nodes; with arrivals closer together by this factor.
pub fn openb(traces: &Path, arrivals: &str) -> Setup {
    let options = ReadOptions {
        users: Some(template("u{row%40}")),
        queue_of: Some(template("root.dept{row%5}.team{row%20}")),
        stretch: format!("arrivals={arrivals}").parse().expect("the factor is well-formed"),
        ..ReadOptions::default()
    };
    let list = traces.join("openb/openb_node_list_all_node.csv");
    let mut setup = setup("openb.yaml", &traces.join("openb/openb_pod_list_default.csv"), &options);
    setup.nodes = cluster(&[list.to_str().expect("the path is text")]);
    setup
}

/// A million jobs of 2,000 users for 1,000 queues on 10,000 nodes.
pub fn million() -> Setup {
    let queues = (0..1_000).map(|number| Name::from(format!("root.q{number}"))).collect();
    let options = GenerateOptions {
        jobs: 1_000_000,
        users: 2_000,
        queues,
        seed: 7,
        per_processor: Amounts::from([("memory", 2 << 30), ("vcore", 1_000)]),
        ..GenerateOptions::default()
    };
    let bounds =
        Uniform { period_ms: 14 * 86_400_000, processors: (1, 8), run_ms: (60_000, 86_400_000) };
    let mut workload = uniform(&options, &bounds).expect("the parameters are in bounds");
    Setup {
        configuration: queues_of_groups(&mut workload),
        nodes: cluster(&["10000*{vcore: 16, memory: 32Gi}"]),
        workload,
        source: "a million generated jobs".to_owned(),
        shape: Shape::Fitting,
        until_ms: None,
        checks: Checks::NowAndThen,
        seed: 1,
        faults: None,
        reject_misfits: false,
    }
}

fn template(text: &str) -> headroom_sim::workload::Template {
    text.parse().expect("the template is well-formed")
}

fn cluster(arguments: &[&str]) -> Vec<nodes::NodeSpec> {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    nodes::read(&arguments, NodeOptions::default()).expect("the nodes are well-formed")
}

fn setup(queues: &str, workload: &Path, options: &ReadOptions) -> Setup {
    Setup {
        configuration: example(queues),
        nodes: Vec::new(),
        workload: read(workload, None, options).expect("the trace can be read"),
        source: workload.display().to_string(),
        shape: Shape::Fitting,
        until_ms: None,
        checks: Checks::NowAndThen,
        seed: 1,
        faults: None,
        reject_misfits: false,
    }
}

fn example(name: &str) -> Configuration {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    headroom_config::read_file(&path).expect("the examples are legal").configuration
}

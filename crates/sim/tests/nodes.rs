//! Reading the values of `--nodes`.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect;
use headroom_sim::nodes::{NodeOptions, NodeSpec, NodesError, read};

/// A file of this content in the folder for test files; its name must be used once.
fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What these values give, without the folder for test files.
fn shown(arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    text(read(&arguments, NodeOptions::default()))
}

fn text(nodes: Result<Vec<NodeSpec>, NodesError>) -> String {
    let folder = format!("{}/", env!("CARGO_TARGET_TMPDIR"));
    let mut out = String::new();
    match nodes {
        Ok(nodes) => {
            for node in nodes {
                writeln!(
                    out,
                    "{} {} {:?} from {} to {:?}",
                    node.name, node.resources, node.label, node.from_ms, node.to_ms
                )
                .unwrap();
            }
        }
        Err(error) => writeln!(out, "{error}").unwrap(),
    }
    out.replace(&folder, "")
}

const LIST: &str = "\
sn,cpu_milli,memory_mib,gpu,model
a,32000,262144,0,
b,64000,1024,2,P100
c,64000,1024,8,G2
d,1,1,0,
";

#[test]
fn nodes_alike_are_numbered_over_all_values() {
    expect![[r#"
        n0001 {memory: 4294967296 B, vcore: 2000 m} None from 0 to None
        n0002 {memory: 4294967296 B, vcore: 2000 m} None from 0 to None
        n0003 {nvidia.com/gpu: 4, vcore: 500 m} None from 0 to None
    "#]]
    .assert_eq(&shown(&[
        "2*{vcore: 2, memory: 4Gi}",
        " 1 * { 'vcore' : 500m , \"nvidia.com/gpu\": 4, }",
    ]));
}

#[test]
fn numbers_have_as_many_digits_as_the_last_needs() {
    let nodes = read(&["10000*{vcore: 1}".to_owned()], NodeOptions::default()).unwrap();
    assert_eq!(nodes[0].name, "n00001");
    assert_eq!(nodes[9_999].name, "n10000");
}

#[test]
fn lists_are_read_and_thinned() {
    let list = file("list.csv", LIST);
    expect![[r#"
        a {memory: 274877906944 B, vcore: 32000 m} None from 0 to None
        b {memory: 1073741824 B, nvidia.com/gpu: 2, vcore: 64000 m} Some("P100") from 0 to None
        c {memory: 1073741824 B, nvidia.com/gpu: 8, vcore: 64000 m} Some("G2") from 0 to None
        d {memory: 1048576 B, vcore: 1 m} None from 0 to None
    "#]]
    .assert_eq(&shown(&[&list]));
    expect![[r#"
        a {memory: 274877906944 B, vcore: 32000 m} None from 0 to None
        d {memory: 1048576 B, vcore: 1 m} None from 0 to None
        n0001 {vcore: 1000 m} None from 0 to None
    "#]]
    .assert_eq(&shown(&[&format!("{list}@1/3"), "1*{vcore: 1}"]));
    let milli = NodeOptions { gpu_milli: true };
    expect![[r#"
        a {memory: 274877906944 B, vcore: 32000 m} None from 0 to None
        c {gpu-milli: 8000, memory: 1073741824 B, vcore: 64000 m} Some("G2") from 0 to None
    "#]]
    .assert_eq(&text(read(&[format!("{list}@1/2")], milli)));
}

#[test]
fn yaml_names_nodes_one_by_one() {
    let yaml = file(
        "nodes.yaml",
        "nodes:\n- {name: a, resources: {vcore: 2, memory: 4Gi}}\n- name: b\n  resources: {vcore: 250m}\n  label: big\n  from_ms: 5\n  to_ms: 9\n",
    );
    expect![[r#"
        a {memory: 4294967296 B, vcore: 2000 m} None from 0 to None
        b {vcore: 250 m} Some("big") from 5 to Some(9)
    "#]]
    .assert_eq(&shown(&[&yaml]));
}

#[test]
fn a_yaml_file_may_hold_tens_of_thousands_of_nodes() {
    let mut list = "nodes:\n".to_owned();
    for number in 0..50_000 {
        writeln!(list, "- {{name: m{number}, resources: {{vcore: 2}}}}").unwrap();
    }
    let path = file("many.yaml", &list);
    let nodes = read(&[path], NodeOptions::default()).unwrap();
    assert_eq!(nodes.len(), 50_000);
}

#[test]
fn a_wrong_value_is_told_with_both_sides() {
    let mut found = String::new();
    for arguments in [
        &[][..],
        &["many"],
        &["0*{vcore: 1}"],
        &["1000001*{vcore: 1}"],
        &["99999999999999999999*{vcore: 1}"],
        &["1000000*{vcore: 1}", "1*{vcore: 1}"],
        &["2*vcore: 1"],
        &["2*{vcore}"],
        &["2*{vcore: -1}"],
        &["2*{vcore: 9223372036854775807}"],
        &["2*{memory: 1m}"],
        &["2*{vcore: 1, vcore: 2}"],
        &["2*{}"],
        &["2*{vcore: 0}"],
        &["nodes.csv@1/0"],
        &["nodes.csv@2/3"],
        &["missing.csv"],
    ] {
        found += &shown(arguments);
    }
    expect![[r#"
        there are no nodes in the values of --nodes; expected at least one node
        --nodes many: this is neither a number of equal nodes nor a file of a known kind; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 0*{vcore: 1}: "0" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 1000001*{vcore: 1}: "1000001" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 99999999999999999999*{vcore: 1}: "99999999999999999999" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1*{vcore: 1}: there are 1000001 nodes so far, but a simulation can have at most 1000000
        --nodes 2*vcore: 1: the braces around the amounts are missing; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 2*{vcore}: "vcore" is not of the form type: amount; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 2*{vcore: -1}: vcore is "-1", which is not an amount: it must be digits and an optional suffix: no sign, decimal point or exponent; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 2*{vcore: 9223372036854775807}: vcore is "9223372036854775807", which is not an amount: it is larger than 9223372036854775807 in the smallest unit; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 2*{memory: 1m}: memory is "1m", which is not an amount: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only); expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes 2*{vcore: 1, vcore: 2}: vcore occurs twice, expected once; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        2*{}: node n0001 has {}, but at least one amount must be above 0
        2*{vcore: 0}: node n0001 has {vcore: 0 m}, but at least one amount must be above 0
        --nodes nodes.csv@1/0: "1/0" is not a fraction 1/N with N of at least 1; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        --nodes nodes.csv@2/3: "2/3" is not a fraction 1/N with N of at least 1; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        cannot read the node list missing.csv
    "#]].assert_eq(&found);
}

#[test]
fn a_wrong_file_is_told_with_its_line() {
    let mut found = String::new();
    for (position, list) in [
        "",
        "sn,cpu_milli\n",
        "sn,cpu_milli,memory_mib,gpu\na,1,1\n",
        "sn,cpu_milli,memory_mib,gpu\n\na,-1,1,0\n",
        "sn,cpu_milli,memory_mib,gpu\na,1,99999999999999999999,0\n",
        "sn,cpu_milli,memory_mib,gpu\na,0,0,0\n",
        "sn,cpu_milli,memory_mib,gpu\na,1,1,0\na,1,1,0\n",
        "sn,cpu_milli,memory_mib,gpu\n,1,1,0\n",
    ]
    .into_iter()
    .enumerate()
    {
        found += &shown(&[&file(&format!("bad{position}.csv"), list)]);
    }
    for (position, list) in [
        "",
        "nodes: []\n",
        "nodes:\n- {name: a, resources: {vcore: 1}, labels: [x]}\n",
        "nodes:\n- {name: a, resources: {vcore: -1}}\n",
        "nodes:\n- {name: a, resources: {vcore: 1, vcore: 1}}\n",
        "nodes:\n- {name: a, resources: {vcore: 1}, from_ms: 5, to_ms: 5}\n",
        "nodes:\n- {name: '', resources: {vcore: 1}}\n",
        "nodes:\n- {name: n0001, resources: {vcore: 1}}\n",
    ]
    .into_iter()
    .enumerate()
    {
        found += &shown(&[&file(&format!("bad{position}.yaml"), list), "1*{vcore: 1}"]);
    }
    expect![[r#"
        there are no nodes in bad0.csv; expected at least one node
        bad1.csv:1: column 3 of the header is empty, expected "memory_mib"; a node list begins with sn,cpu_milli,memory_mib,gpu
        bad2.csv:2: the line has 3 columns, expected 4 as in the header
        bad3.csv:3: cpu_milli is "-1", expected a whole number from 0 to 1000000000
        bad4.csv:2: memory_mib is "99999999999999999999", expected a whole number from 0 to 1000000000
        bad5.csv:2: node a has {memory: 0 B, vcore: 0 m}, but at least one amount must be above 0
        bad6.csv:3: node a already occurs in bad6.csv:2. Give every node a different name
        bad7.csv:2: sn is empty, expected the name of the node
        bad0.yaml: the file is empty; expected `nodes:` and a list of nodes
        n0001 {vcore: 1000 m} None from 0 to None
        bad2.yaml:2: unknown field `labels`, expected one of name, resources, label, from_ms, to_ms
        bad3.yaml:2: vcore is "-1", which is not an amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        bad4.yaml:2: duplicate mapping key `vcore` is not allowed here
        bad5.yaml:2: to_ms is 5, expected a time after from_ms, 5
        bad6.yaml:2: name is empty, expected the name of the node
        1*{vcore: 1}: node n0001 already occurs in bad7.yaml:2. Give every node a different name
    "#]].assert_eq(&found);
}

//! The example of two tenants, as a user runs it.

use std::process::{Command, Output};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tenants.py");

fn play(arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg(SCRIPT).args(["--headroom", env!("CARGO_BIN_EXE_headroom")]).args(arguments);
    // Nothing is left behind in the tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap()
}

#[test]
#[doc(alias = "SD-60")]
fn the_seven_steps_of_the_seed_are_a_script_that_comes_to_its_numbers() {
    let played = play(&[]);
    let said = String::from_utf8(played.stdout).unwrap();
    assert!(played.status.success(), "{said}{}", String::from_utf8_lossy(&played.stderr));
    assert!(said.ends_with("all as expected\n") && !said.contains("WRONG"), "{said}");
    // On both clusters, and on the one of 128 cores up to the end.
    for (step, count) in [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (7, 1)] {
        assert_eq!(said.matches(&format!("\n{step}. ")).count(), count, "{said}");
    }
    let short =
        "[{'type': 'vcore', 'used': 90000, 'asked': 20000, 'limit': 100000, 'short': 10000}]";
    assert_eq!(said.matches(short).count(), 2, "{said}");
    assert!(said.contains("for room and not for its quota: ROOT_CAPACITY\n"), "{said}");
}

#[test]
#[doc(alias = "SD-60")]
fn the_script_says_so_when_a_number_is_wrong() {
    let played = play(&["--a-cores", "120"]);
    assert_eq!(played.status.code(), Some(1));
    let said = String::from_utf8(played.stdout).unwrap();
    assert!(
        said.contains("WRONG cores and GB that are left: (30, 20), expected (10, 20)"),
        "{said}"
    );
    assert!(!said.contains("all as expected"), "{said}");
}

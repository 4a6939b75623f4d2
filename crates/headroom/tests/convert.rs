//! `headroom convert` as people use it: where the queue file is written, what is printed, and the exit codes.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use support::Folder;

const SCHEDULER: &str = "<configuration>\n\
    <property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>\n\
    <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>60</value></property>\n\
    <property><name>yarn.scheduler.capacity.root.b.capacity</name><value>40</value></property>\n\
    <property><name>yarn.scheduler.capacity.node-locality-delay</name><value>10</value></property>\n\
    </configuration>\n";

const SITE: &str = "<configuration>\
    <property name='yarn.resourcemanager.scheduler.monitor.enable' value='true'/>\
    <property name='yarn.scheduler.minimum-allocation-mb' value='512'/>\
    </configuration>";

#[test]
fn the_queue_file_goes_where_it_is_wanted_and_can_be_loaded() {
    let folder = Folder::new("convert-where");
    folder.write("capacity-scheduler.xml", SCHEDULER);
    folder.write("yarn-site.xml", SITE);
    let files = ["yarn-site.xml", "capacity-scheduler.xml"];
    let shown = folder.run(&[&["convert", "yarn"], &files[..]].concat());
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let told = "capacity-scheduler.xml:5: not converted: yarn.scheduler.capacity.node-locality-delay = 10: ";
    assert!(shown.stderr.contains(told), "{}", shown.stderr);
    assert!(shown.stdout.contains("minimumallocation: {memory: 512Mi}"), "{}", shown.stdout);

    let written =
        folder.run(&[&["convert", "yarn"], &files[..], &["--output", "queues.yaml"]].concat());
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    assert_eq!(folder.read("queues.yaml"), shown.stdout);
    let judged = folder.run(&["validate", "queues.yaml"]);
    assert_eq!(judged.code, Some(0), "{}", judged.stdout);

    let smooth = folder.run(&["convert", "yarn", "--formula", "smooth", "capacity-scheduler.xml"]);
    assert!(smooth.stdout.contains("formula: smooth"), "{}", smooth.stdout);
}

#[test]
fn what_is_read_is_not_overwritten_however_it_is_called() {
    let folder = Folder::new("convert-over");
    folder.write("in/capacity-scheduler.xml", SCHEDULER);
    folder.write("in/yarn-site.xml", SITE);
    let path = |name: &str| folder.path(name);
    std::os::unix::fs::symlink("in/capacity-scheduler.xml", path("link.xml")).unwrap();
    std::fs::hard_link(path("in/yarn-site.xml"), path("hard.xml")).unwrap();
    std::os::unix::fs::symlink("in", path("way")).unwrap();
    let absolute = path("in/yarn-site.xml").display().to_string();
    for (output, input) in [
        ("in/capacity-scheduler.xml", "in/capacity-scheduler.xml"),
        ("./in/../in/capacity-scheduler.xml", "in/capacity-scheduler.xml"),
        ("link.xml", "in/capacity-scheduler.xml"),
        ("way/yarn-site.xml", "in/yarn-site.xml"),
        ("hard.xml", "in/yarn-site.xml"),
        (absolute.as_str(), "in/yarn-site.xml"),
    ] {
        let inputs = ["in/yarn-site.xml", "in/capacity-scheduler.xml"];
        let ran = folder.run(&[&["convert", "yarn"], &inputs[..], &["--output", output]].concat());
        let expected = format!(
            "error: --output {output} would overwrite the input file {input}. Choose another file, such as \
             queues.yaml.\n"
        );
        assert_eq!((ran.code, ran.stderr), (Some(1), expected));
    }
    assert_eq!(folder.read("in/capacity-scheduler.xml"), SCHEDULER);
    assert_eq!(folder.read("in/yarn-site.xml"), SITE);
}

#[test]
fn no_folder_is_made_and_what_to_do_is_said() {
    let folder = Folder::new("convert-folder");
    folder.write("capacity-scheduler.xml", SCHEDULER);
    let convert = ["convert", "yarn", "capacity-scheduler.xml", "--output"];
    for (output, expected) in [
        (
            "new/deep/queues.yaml",
            "the folder new/deep does not exist. Create it with `mkdir -p new/deep`",
        ),
        ("capacity-scheduler.xml/queues.yaml", "capacity-scheduler.xml is a file, not a folder"),
    ] {
        let ran = folder.run(&[&convert[..], &[output]].concat());
        assert_eq!(ran.code, Some(1));
        assert_eq!(ran.stderr, format!("error: cannot write {output}: {expected}\n"));
    }
    assert!(!folder.path("new").exists());
    // As with what is read, - is no file.
    let shown = folder.run(&[&convert[..], &["-"]].concat());
    assert!(shown.stdout.contains("partitions:"), "{}", shown.stderr);
    assert!(!folder.path("-").exists());
}

#[test]
fn what_cannot_be_converted_or_loaded_ends_with_1_and_says_why() {
    let folder = Folder::new("convert-not");
    folder.write("notes.xml", "partitions:\n");
    folder.write("latin.xml", b"<configuration>\n\xe9</configuration>");
    folder.write("sum.xml", SCHEDULER.replace("40</value>", "30</value>"));
    for (file, expected) in [
        ("none.xml", "error: cannot read none.xml: "),
        ("notes.xml", "error: cannot convert notes.xml: line 2: there is text outside"),
        (
            "latin.xml",
            "error: cannot convert latin.xml: line 2: the text is not UTF-8. Save the file as UTF-8",
        ),
        ("sum.xml", "add up to 90,"),
    ] {
        let ran = folder.run(&["convert", "yarn", file]);
        assert_eq!(ran.code, Some(1), "{file}");
        assert!(ran.stderr.contains(expected), "{file}: {}", ran.stderr);
    }
    assert_eq!(folder.run(&["convert", "yarn"]).code, Some(2));
}

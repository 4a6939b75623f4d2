//! What the study says: the same bytes each time, within the width of a terminal, without network.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

use expect_test::expect;
use headroom_sim::report::html::scenes;
use headroom_sim::study::{Study, text};

use super::STUDY;

#[test]
fn a_study_gives_the_same_bytes_twice() {
    let again = Study::new().unwrap();
    assert_eq!(again.json(), STUDY.json());
    assert_eq!(scenes::page(&again), scenes::page(&STUDY));
}

#[test]
fn the_first_lines_are_the_answer() {
    let text = text::render(&STUDY);
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{wide:?}");
    let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    expect![[r#"
        Of 5 scenes, 3 get stuck by yarn27, 3 by yarn3, none by smooth.
        Scene 2a, B has 30 guaranteed: yarn27 is stuck at 24 with a demand of 6 while 66 containers (132
          GiB) are stopped; yarn3 is stuck at 8 with a demand of 1 while 22 containers (44 GiB) are stopped;
          smooth ends at 32 after 16 containers (32 GiB) were stopped.
        Scene 2b, B has 30 guaranteed: yarn27 is stuck at 32 with a demand of 1 while 46 containers (92 GiB)
          are stopped; yarn3 is stuck at 16 with a demand of 1 while 22 containers (44 GiB) are stopped;
          smooth ends at 32 after 12 containers (24 GiB) were stopped.
        Scene 2b-large-step, B has 30 guaranteed: yarn27 ends at 48 after 6 containers (48 GiB) were
          stopped; yarn3 ends at 32 after 4 containers (32 GiB) were stopped; smooth ends at 32 after 4
          containers (32 GiB) were stopped.
        Scene 3, B has 30 guaranteed: yarn27 is stuck at 24 with a demand of 6 while 66 containers (132 GiB)
          are stopped; yarn3 is stuck at 24 with a demand of 3 while 48 containers (96 GiB) are stopped;
          smooth ends at 32 after 16 containers (32 GiB) were stopped.
        Scene 2a, yarn27 with balance: A 52, B 48.
        Scene 2a, yarn3 with balance: A 52, B 48.
        Scene 2a, smooth with balance: A 52, B 48.
        Scene 3, smooth with balance: A 52, B 48 (16, 16, 16).
        Scene 2a, yarn27 with a factor of 1.67 instead of 100: A 52, B 48 instead of A 76, B 24.
        Scene 3, yarn27 with a factor of 1.67 instead of 100: A 52, B 48 (16, 16, 16) instead of A 76, B 24
          (8, 8, 8)."#]].assert_eq(&first.join("\n"));
}

#[test]
fn the_page_needs_no_network() {
    let page = scenes::page(&STUDY);
    for outside in ["src=", "@import", "url(", "fetch(", "href=\"http", "<script>"] {
        assert!(!page.contains(outside), "the page uses {outside}");
    }
    assert_eq!(page.matches("</script>").count(), 1, "the numbers, and no program");
}

#[test]
fn the_document_has_the_shape_of_the_guide() {
    let document: serde_json::Value = serde_json::from_str(&STUDY.json()).unwrap();
    let keys: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    expect!["findings format monitor scenes smaller_factor tables total unit variants"]
        .assert_eq(&keys.join(" "));
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let scene = &document["scenes"][1];
    let (run, row) = (&scene["runs"][0], &document["tables"]["scene_1"][0]);
    let shape = [
        scene,
        &scene["recorded"][0],
        run,
        &run["end"],
        &run["stopped"],
        &run["dead_zones"][0],
        &run["points"][0],
        row,
        &row["yarn27"],
        &document["tables"]["scene_2"][0],
        &document["tables"]["scene_3"][0],
    ]
    .map(keys)
    .join("\n");
    expect![[r#"
        ask end_ms guaranteed id queue recorded runs story title
        case dead_zones end_ms others points stopped used version
        dead_zones end enforcement factor formula points preemption queue_file stopped
        free queues users
        amount containers work
        demand from_ms to_ms used
        at_ms demand headroom limit others stopped used users waiting
        next smooth used yarn27 yarn3
        capped headroom raw
        frees ideal_2_7 ideal_3 outcome used whole_asks yarn27_demand yarn27_limit yarn3_demand_p100 yarn3_demand_p30
        demand headroom limit progress smooth_share strict used users whole_asks"#]]
    .assert_eq(&shape);
}

//! What the study says: the same bytes each time, within the width of a terminal, without network.

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
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    expect![[r#""#]].assert_eq(&first.join("\n"));
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
    expect!["findings format monitor scenes smaller_factor tables total unit variants"].assert_eq(&keys.join(" "));
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let scene = &document["scenes"][1];
    let run = &scene["runs"][0];
    let shape = [
        scene,
        &scene["recorded"][0],
        run,
        &run["end"],
        &run["stopped"],
        &run["dead_zones"][0],
        &run["points"][0],
    ]
    .map(keys)
    .join("\n");
    expect![[r#""#]].assert_eq(&shape);
}

//! What must hold for every report in a browser, at every width.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::path::Path;

use serde_json::Value;

use super::Browser;

/// Facts about the page, found by its own eyes.
const LOOK: &str = r#"(() => {
  const visible = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 1;
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !visible(parent)) continue;
    let size = parseFloat(getComputedStyle(parent).fontSize);
    const svg = parent.closest("svg");
    // Text in a drawing is scaled with it.
    if (svg) size *= svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    texts.push({ text: walker.currentNode.data.trim().slice(0, 40), size });
  }
  const overflowing = [...document.querySelectorAll("svg text")].filter(visible).filter((one) => {
    const [text, box] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
    return text.left < box.left - 1 || text.right > box.right + 1;
  }).map((one) => one.textContent);
  return {
    scrollWidth: document.documentElement.scrollWidth,
    innerWidth,
    smallest: texts.reduce((least, one) => one.size < least.size ? one : least),
    overflowing,
    cut: [...document.querySelectorAll(".scroll")].filter(visible)
      .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.parentElement.id),
    drawings: [...document.querySelectorAll("svg")].map((svg) => ({
      plot: svg.closest("figure").id,
      visible: visible(svg),
      label: svg.getAttribute("aria-label"),
      axes: [".axis-x", ".axis-y"].map((axis) => svg.querySelector(axis)?.textContent ?? ""),
    })),
    totals: [...document.querySelectorAll("[data-total]")].map((one) => ({
      id: one.id || one.className,
      path: one.dataset.path,
      total: Number(one.dataset.total),
      unit: one.dataset.unit,
    })),
    embedded: document.getElementById("summary").textContent,
    injected: document.querySelectorAll("script").length,
    scopeless: document.querySelectorAll("th:not([scope])").length,
  };
})()"#;

/// Move over the first plot that reads out, and say what is read.
const HOVER: &str = r#"(() => {
  const svg = [...document.querySelectorAll("figure[data-hover] svg")]
    .find((one) => one.getBoundingClientRect().width > 0);
  const box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", {
    clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true,
  }));
  const reader = svg.closest("figure").querySelector(".reader");
  return { hidden: reader.hidden, text: reader.textContent };
})()"#;

/// Open a report at this width: it fits, every axis has its unit, what is drawn adds up to what
/// the JSON file says, and the browser has no complaint.
pub(crate) fn check(browser: &mut Browser, page: &Path, width: u32, summary: &Value) {
    let seen = look(browser, page, width, 2);
    check_totals(&seen, summary);
    let read = browser.evaluate(HOVER);
    assert_eq!(read["hidden"], false, "nothing is read out at {width} px");
    assert!(read["text"].as_str().unwrap().contains(": "), "{read}");
    assert_eq!(browser.complaints(), [] as [String; 0], "at {width} px");
}

/// Open a page with so many scripts at this width: it fits, and every axis has its unit.
pub(crate) fn look(browser: &mut Browser, page: &Path, width: u32, scripts: u64) -> Value {
    browser.open(page, width);
    let seen = browser.evaluate(LOOK);
    check_layout(&seen, width);
    assert_eq!(seen["injected"], scripts, "a name became a script");
    check_axes(&seen, width);
    seen
}

fn check_layout(seen: &Value, width: u32) {
    assert_eq!(seen["innerWidth"], width);
    let needed = seen["scrollWidth"].as_u64().unwrap();
    assert!(needed <= u64::from(width), "the page is {needed} px wide on {width} px");
    let smallest = seen["smallest"]["size"].as_f64().unwrap();
    assert!(smallest >= 11.0, "at {width} px, text of {smallest} px: {}", seen["smallest"]);
    assert_eq!(seen["overflowing"], serde_json::json!([]), "at {width} px");
    assert_eq!(seen["cut"], serde_json::json!([]), "tables wider than the page at {width} px");
    assert_eq!(seen["scopeless"], 0, "a table header without scope");
}

fn check_axes(seen: &Value, width: u32) {
    let drawings = seen["drawings"].as_array().unwrap();
    let visible = drawings.iter().filter(|one| one["visible"] == true).count();
    assert!(visible >= 10, "only {visible} drawings show at {width} px");
    for drawing in drawings {
        assert!(!drawing["label"].as_str().unwrap_or("").is_empty(), "{drawing}");
        for axis in drawing["axes"].as_array().unwrap() {
            let label = axis.as_str().unwrap();
            let unit = label.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
            assert!(unit.is_some_and(|unit| !unit.is_empty()), "no unit on an axis of {drawing}");
        }
    }
}

/// What is drawn, what is embedded and what is in the file are the same numbers.
fn check_totals(seen: &Value, file: &Value) {
    let embedded: Value = serde_json::from_str(seen["embedded"].as_str().unwrap()).unwrap();
    assert_eq!(&embedded, file, "the embedded summary differs from the JSON file");
    let totals = seen["totals"].as_array().unwrap();
    assert!(totals.len() >= 15, "only {} plots state a total", totals.len());
    for one in totals {
        let path = one["path"].as_str().unwrap();
        if path.is_empty() {
            continue; // Extra curves are not part of the summary.
        }
        let expected = total(embedded.pointer(path).unwrap_or_else(|| panic!("no {path}")));
        let drawn = one["total"].as_f64().unwrap();
        let slack = 1e-6 * expected.abs().max(1.0);
        assert!((drawn - expected).abs() <= slack, "{one} draws {drawn}, JSON has {expected}");
    }
}

/// The total of a number, of a series, or of several.
fn total(value: &Value) -> f64 {
    match value {
        Value::Array(series) => series.iter().map(total).sum(),
        Value::Object(series) => series["total"].as_f64().unwrap(),
        number => number.as_f64().unwrap(),
    }
}

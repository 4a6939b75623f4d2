//! Results of the study as sentences: the first lines of every output.

use super::{DeadZone, End, Played, Run, Study};

/// Returns the results.
pub(super) fn findings(study: &Study) -> Vec<String> {
    let mut lines = vec![counts(study)];
    lines.extend(study.scenes.iter().filter(|scene| scene.id != "1").map(of_scene));
    for one in study.variants.iter().filter(|one| one.run.preemption == "balance") {
        let formula = one.run.formula;
        lines.push(format!("Scene {}, {formula} with balance: {}.", one.scene, ends(&one.run.end)));
    }
    for one in study.smaller_factor.iter().filter(|one| one.formula == "yarn27") {
        lines.push(format!(
            "Scene {}, yarn27 with a factor of {} instead of {}: {} instead of {}.",
            one.scene,
            one.small.factor,
            one.large.factor,
            ends(&one.small.end),
            ends(&one.large.end),
        ));
    }
    lines
}

/// Returns the number of scenes that get stuck by each formula.
fn counts(study: &Study) -> String {
    let count = |formula: &str| {
        let of_scene = |scene: &&Played| {
            scene.runs.iter().any(|run| run.formula == formula && !run.dead_zones.is_empty())
        };
        match study.scenes.iter().filter(of_scene).count() {
            0 => "none".to_owned(),
            count => count.to_string(),
        }
    };
    format!(
        "Of {} scenes, {} get stuck by yarn27, {} by yarn3, {} by smooth.",
        study.scenes.len(),
        count("yarn27"),
        count("yarn3"),
        count("smooth"),
    )
}

fn of_scene(scene: &Played) -> String {
    let outcomes = scene.runs.iter().map(|run| format!("{} {}", run.formula, outcome(run, scene)));
    format!(
        "Scene {}, {} has {} guaranteed: {}.",
        scene.id,
        scene.queue.to_uppercase(),
        scene.guaranteed,
        outcomes.collect::<Vec<_>>().join("; "),
    )
}

/// Returns the end of a run in a few words.
fn outcome(run: &Run, scene: &Played) -> String {
    let used = run.points.last().map_or(0, |point| point.used);
    let (containers, amount) = (run.stopped.containers, run.stopped.amount);
    match run.dead_zones.last().filter(|zone| zone.to_ms == scene.end_ms) {
        Some(zone) => format!(
            "is stuck at {used} with a demand of {} while {containers} containers ({amount} GiB) are stopped",
            zone.demand,
        ),
        None => format!("ends at {used} after {containers} containers ({amount} GiB) were stopped"),
    }
}

/// Returns the final usage: `A 68, B 32`.
pub(crate) fn ends(end: &End) -> String {
    let queues = end.queues.iter().map(|one| format!("{} {}", one.name.to_uppercase(), one.used));
    let text = queues.collect::<Vec<_>>().join(", ");
    if end.users.len() < 2 {
        return text;
    }
    let users = end.users.iter().map(|one| one.used.to_string()).collect::<Vec<_>>();
    format!("{text} ({})", users.join(", "))
}

/// Returns the last dead zone: `at 24, 15–120 s, demand 6`.
pub(crate) fn stuck(zones: &[DeadZone]) -> String {
    zones.last().map_or_else(
        || "none".to_owned(),
        |zone| {
            let [from, to] = [zone.from_ms, zone.to_ms].map(|ms| ms / 1_000);
            format!("at {}, {from}–{to} s, demand {}", zone.used, zone.demand)
        },
    )
}

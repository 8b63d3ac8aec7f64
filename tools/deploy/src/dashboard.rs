//! Whether the dashboard can be imported, and asks for what there is.

use std::collections::BTreeSet;

use serde_json::Value;

use super::alerts::query;
use super::metrics::KnownSamples;
use super::objects::{items, part, text_at};

/// How many columns a dashboard has.
const COLUMNS: u64 = 24;

/// The faults of a dashboard.
#[must_use]
pub fn dashboard(dashboard: &Value) -> Vec<String> {
    let known = KnownSamples::new();
    let mut faults = Vec::new();
    if text_at(dashboard, "/uid").is_empty()
        || text_at(dashboard, "/title").is_empty()
        || !dashboard["id"].is_null()
    {
        faults.push("a dashboard to import has a uid and a title, and no id yet".to_owned());
    }
    let variables: Vec<&str> = items(part(dashboard, "/templating/list"))
        .iter()
        .map(|of| text_at(of, "/name"))
        .collect();
    for variable in items(part(dashboard, "/templating/list")) {
        faults.extend(query(text_at(variable, "/query/query"), &known));
    }
    let panels = items(&dashboard["panels"]);
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    if ids.len() != panels.len() {
        faults.push("two panels have the same id".to_owned());
    }
    let mut cells = BTreeSet::new();
    for panel in panels {
        let title = text_at(panel, "/title");
        let place_faults = place(panel, &mut cells)
            .into_iter()
            .chain(targets(panel, &variables, &known));
        faults.extend(place_faults.map(|fault| format!("{title}: {fault}")));
    }
    faults
}

/// Panels lie within the columns, and on no other.
fn place(panel: &Value, cells: &mut BTreeSet<(u64, u64)>) -> Option<String> {
    let of = |name: &str| part(panel, "/gridPos").get(name)?.as_u64();
    let (Some(x), Some(y), Some(w), Some(h)) = (of("x"), of("y"), of("w"), of("h")) else {
        return Some("it has no place".to_owned());
    };
    let mut free = x + w <= COLUMNS;
    for at in (y..y + h).flat_map(|y| (x..x + w).map(move |x| (x, y))) {
        free &= cells.insert(at);
    }
    (!free).then(|| "it lies over another panel or the edge".to_owned())
}

fn targets(panel: &Value, variables: &[&str], known: &KnownSamples) -> Vec<String> {
    let targets = items(&panel["targets"]);
    let mut faults = Vec::new();
    if text_at(panel, "/type") != "row" && targets.is_empty() {
        faults.push("it asks for nothing".to_owned());
    }
    for target in targets {
        let expression = text_at(target, "/expr");
        faults.extend(query(expression, known));
        let used = expression.split('$').skip(1).map(|rest| {
            let end = rest.find(|at: char| !at.is_ascii_alphanumeric() && at != '_');
            rest.split_at_checked(end.unwrap_or(rest.len()))
                .unwrap_or_default()
                .0
        });
        faults.extend(
            used.filter(|name| !variables.contains(name) && !name.starts_with("__"))
                .map(|name| format!("there is no variable {name}")),
        );
        for source in [&panel["datasource"], &target["datasource"]] {
            if text_at(source, "/uid") != "${datasource}" {
                faults.push("it asks another source than the one that is chosen".to_owned());
            }
        }
    }
    faults
}

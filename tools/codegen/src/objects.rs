//! The tables of objects as an API server reads them, from what `tools/go/objects` writes of its schemes.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;
use serde_json::Value;

use super::within;

const KINDS_HEAD: &str = "\
# What the schemes of an API server know of kinds. Made by `cargo xtask codegen`; do not edit.
# scheme GROUP NAME: what messages call the scheme of a group (`-` is the core group).
# internal GROUP/VERSION/KIND TYPE: the type that all versions of a kind are converted to.
";

const DEFAULTS_HEAD: &str = "# What is defaulted where.";

const CONVERSIONS_HEAD: &str =
    "# What changes where in objects that are brought into their internal version and back.";

const PLANS_HEAD: &str = " Made by `cargo xtask codegen`; do not edit.
# plan NUMBER
#  call FUNCTION: a function by hand is called with the value
#  absent|zero FIELD VALUE: a field is set where it is absent, or where it is absent or empty
#  in FIELD PLAN: what is done in a field; `*` are all elements of a list or values of a map
# kind GROUP/VERSION/KIND PLAN
";

/// The output of `tools/go/objects`, without types.
#[derive(Deserialize)]
struct ObjectsDocument {
    kinds: BTreeMap<String, String>,
    internal: BTreeMap<String, String>,
    schemes: BTreeMap<String, String>,
    defaults: BTreeMap<String, Vec<PlanStep>>,
    conversions: BTreeMap<String, Vec<PlanStep>>,
}

#[derive(Deserialize)]
struct PlanStep {
    path: Option<Vec<String>>,
    call: Option<String>,
    when: Option<String>,
    #[serde(default)]
    value: Value,
}

/// Writes `kinds.txt`, `defaults.txt` and `conversions.txt` into the directory `data`.
pub(super) fn run(file: &Path, data: &Path) -> Result<(), ToolError> {
    let text = std::fs::read(file).map_err(ToolError::file(file))?;
    let document: ObjectsDocument = serde_json::from_slice(&text).map_err(within(file.display()))?;
    let write = |name: &str, text: String| {
        let table = data.join(name);
        std::fs::write(&table, text).map_err(ToolError::file(&table))
    };
    write("kinds.txt", kinds(&document))?;
    write("defaults.txt", plans(DEFAULTS_HEAD, &document.defaults))?;
    write("conversions.txt", plans(CONVERSIONS_HEAD, &document.conversions))
}

fn kinds(document: &ObjectsDocument) -> String {
    let mut text = String::from(KINDS_HEAD);
    for (group, name) in &document.schemes {
        let group = if group.is_empty() { "-" } else { group };
        let _ = writeln!(text, "scheme {group} {name}");
    }
    for kind in document.kinds.keys() {
        if let Some(internal) = document.internal.get(kind) {
            let local = internal
                .rsplit_once('/')
                .map_or(internal.as_str(), |(_, local)| local);
            let _ = writeln!(text, "internal {kind} {local}");
        }
    }
    text
}

fn plans(head: &str, by_kind: &BTreeMap<String, Vec<PlanStep>>) -> String {
    let mut plans = WrittenPlans::default();
    let mut kinds = String::new();
    for (kind, steps) in by_kind {
        let steps: Vec<&PlanStep> = steps.iter().collect();
        let plan = plans.plan(&steps, 0);
        let _ = writeln!(kinds, "kind {kind} {plan}");
    }
    format!("{head}{PLANS_HEAD}{}{kinds}", plans.text)
}

/// Plans that were written, each once.
#[derive(Default)]
struct WrittenPlans {
    text: String,
    written: HashMap<String, usize>,
}

impl WrittenPlans {
    /// Writes the plan of steps below a place that is `depth` steps from the root, unless it was written, and gives its
    /// number. What comes in a row in the same field is one plan of that field.
    fn plan(&mut self, steps: &[&PlanStep], depth: usize) -> usize {
        let mut lines = String::new();
        let mut rest = steps;
        while let Some((step, others)) = rest.split_first() {
            let path = step.path.as_deref().unwrap_or_default();
            match (path.get(depth), &step.call, &step.when) {
                (None, Some(call), _) => {
                    let _ = writeln!(lines, " call {call}");
                    rest = others;
                }
                (Some(field), None, Some(when)) if path.len() == depth + 1 => {
                    let _ = writeln!(lines, " {when} {field} {}", step.value);
                    rest = others;
                }
                (field, ..) => {
                    let is_within = |other: &&&PlanStep| {
                        let path = other.path.as_deref().unwrap_or_default();
                        path.get(depth) == field && (other.call.is_some() || path.len() > depth + 1)
                    };
                    let count = rest.iter().take_while(is_within).count().max(1);
                    let (within, others) = rest.split_at(count);
                    let plan = self.plan(within, depth + 1);
                    let _ = writeln!(lines, " in {} {plan}", field.map_or("", String::as_str));
                    rest = others;
                }
            }
        }
        if let Some(plan) = self.written.get(&lines) {
            return *plan;
        }
        let plan = self.written.len();
        let _ = write!(self.text, "plan {plan}\n{lines}");
        self.written.insert(lines, plan);
        plan
    }
}

//! The rows: their work, its size, and the target ratio to the reference.

use std::sync::LazyLock;

use super::policies::{PolicySet, one};
use pratique_harness::ToolError;
use serde::Deserialize;

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BoardRow {
    /// The name on the command line.
    pub(super) name: String,
    /// The work.
    pub(super) title: String,
    /// How it is measured.
    #[serde(flatten)]
    pub(super) work: RowWork,
    /// The least ratio of theirs to ours; `None` without a target.
    pub(super) target: Option<f64>,
    /// Less work of the same kind, to compare the row with.
    pub(super) control: Option<ControlWork>,
}

/// Less work of the same kind, measured in the same rounds as a row.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ControlWork {
    /// The work.
    #[serde(flatten)]
    pub(super) work: RowWork,
    /// How many times as long the row may take.
    pub(super) at_most: f64,
}

/// How a row is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowWork {
    /// One request before policies.
    Evaluate {
        /// The policies.
        #[serde(flatten)]
        policies: PolicySet,
        /// The object of the request.
        #[serde(default)]
        object: EvaluatedObject,
    },
    /// Loading a directory until its policies can be evaluated.
    Start(PolicySet),
    /// From a change of one file until its policy is in effect.
    Reload(PolicySet),
    /// The memory that policies keep.
    Keep(PolicySet),
    /// One request to a server that evaluates by policies.
    Serve(PolicySet),
    /// One request before admission plugins that are built in.
    Plugins(PluginCase),
    /// One object before the server's own validation.
    Validate(ValidationCase),
    /// One request from its bytes to the answer.
    Chain(ChainCase),
}

impl RowWork {
    /// The Go module that does the same work.
    pub(super) fn reference(&self) -> &'static str {
        match self {
            RowWork::Plugins(_) | RowWork::Chain(_) => "plugins",
            RowWork::Validate(_) => "validation",
            RowWork::Evaluate { .. }
            | RowWork::Start(_)
            | RowWork::Reload(_)
            | RowWork::Keep(_)
            | RowWork::Serve(_) => "policy",
        }
    }
}

/// A case of `benches/data/plugins.json`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PluginCase {
    /// Its name.
    pub(super) name: String,
    /// How many of its last object the cluster has.
    #[serde(default = "one")]
    pub(super) of_last: usize,
}

/// An object, and what is done with it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ValidationCase {
    pub(super) object: CaseObject,
    /// `validate`, or `request` for all that a server does besides admission.
    pub(super) work: String,
}

/// An object before the whole chain of a server: decoding, defaults, plugins, policies, preparation, validation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ChainCase {
    pub(super) object: ChainObject,
    /// The policies of the cluster, if it has some.
    pub(super) policies: Option<PolicySet>,
}

/// The object that goes through a chain.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChainObject {
    /// A Pod of 3 kB as a person writes it.
    Written,
    /// The same with what a server refuses.
    Invalid,
    /// A Pod of a controller, of 3 kB.
    Small,
}

/// The object that is validated.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CaseObject {
    /// A Pod of 3 kB.
    Pod,
    /// A Deployment of it.
    Deployment,
    /// The Pod with what a server refuses.
    Invalid,
}

/// The object whose creation is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EvaluatedObject {
    /// A Pod with all fields from controllers and defaults, 9 kB in lines.
    #[default]
    Full,
    /// A Pod of 3 kB.
    Small,
}

/// All rows, in the order of the table.
pub(super) static ROWS: LazyLock<Vec<BoardRow>> =
    // The text is a constant of ours; a test reads it.
    LazyLock::new(|| serde_json::from_str(include_str!("rows.json")).unwrap_or_default());

/// The selected rows, each by the beginning of its name; all rows without a selection.
pub(super) fn wanted(names: &[String]) -> Result<Vec<BoardRow>, ToolError> {
    if let Some(unknown) = names.iter().find(|name| !ROWS.iter().any(|row| row.is(name))) {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name.as_str()).collect();
        return Err(format!("no row is named {unknown:?}; there are {}", known.join(", ")).into());
    }
    let is_wanted = |row: &&BoardRow| names.is_empty() || names.iter().any(|name| row.is(name));
    Ok(ROWS.iter().filter(is_wanted).cloned().collect())
}

impl ControlWork {
    /// The description for the table.
    pub(super) fn title(&self) -> String {
        match &self.work {
            RowWork::Plugins(PluginCase { of_last, .. }) => format!("{of_last} of them"),
            RowWork::Validate(_) | RowWork::Chain(_) => String::new(),
            RowWork::Evaluate { policies, .. }
            | RowWork::Start(policies)
            | RowWork::Reload(policies)
            | RowWork::Keep(policies)
            | RowWork::Serve(policies) => match policies.matching() {
                0 => "no policy".to_owned(),
                count => format!("only those {count}"),
            },
        }
    }
}

impl BoardRow {
    fn is(&self, name: &str) -> bool {
        self.name == name
            || self
                .name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_the_beginning_of_their_names() {
        let check = |names: &[&str], expected: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let found = wanted(&names).unwrap();
            let found: Vec<&str> = found.iter().map(|row| row.name.as_str()).collect();
            assert_eq!(found, expected, "{names:?}");
        };
        assert_eq!(ROWS.len(), 43);
        check(&["match-1"], &["match-1"]);
        check(&["patch", "apply-1"], &["apply-1", "patch-1", "patch-10"]);
        assert_eq!(wanted(&[]).unwrap().len(), ROWS.len());
        assert!(wanted(&["mat".to_owned()]).is_err_and(|error| error.to_string().contains("match-1000")));
    }
}

//! The rows: what work, on how much of what, and how much faster than the reference it is to be.

use super::policies::{Effect, Policies, Shape};
use pratique_harness::Error;

/// A row of the table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What it is asked for by.
    pub(super) name: &'static str,
    /// What is done.
    pub(super) title: &'static str,
    /// How it is measured.
    pub(super) work: Work,
    /// How many times theirs is to be as much as ours at least; `None` where nothing is asked.
    pub(super) target: Option<f64>,
    /// What else of ours it is measured beside.
    pub(super) beside: Option<Beside>,
}

/// Less work of the same kind, done in turns with a row's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// What is done.
    pub(super) work: Work,
    /// How many times as long the row may take.
    pub(super) at_most: f64,
}

/// How a row is measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// One request before policies.
    Evaluate(Policies, Object),
    /// From a directory of policies until they can evaluate.
    Start(Policies),
    /// From a change of one file until its policy evaluates.
    Reload(Policies),
    /// What policies keep in memory.
    Keep(Policies),
    /// One request to a server that evaluates by policies.
    Serve(Policies),
    /// One request before admission plugins that are built in.
    Plugins(PluginCase),
}

/// A case of `benches/data/plugins.json`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PluginCase {
    /// Its name.
    pub(super) name: &'static str,
    /// How many of its last object the cluster has.
    pub(super) of_last: usize,
}

/// Whose creation is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// A Pod with all that controllers and defaults put into it, 9 kB in lines.
    Full,
    /// A Pod of 3 kB.
    Small,
}

const fn row(name: &'static str, title: &'static str, work: Work, target: u32) -> Row {
    let target = if target == 0 { None } else { Some(target as f64) };
    Row {
        name,
        title,
        work,
        target,
        beside: None,
    }
}

impl Row {
    const fn beside(self, work: Work, at_most: f64) -> Self {
        Row {
            beside: Some(Beside { work, at_most }),
            ..self
        }
    }
}

const fn some(shape: Shape, count: usize) -> Policies {
    Policies {
        effect: Effect::Validate,
        shape,
        count,
        matching: count,
        bindings: 1,
    }
}

const fn evaluate(shape: Shape, count: usize) -> Work {
    Work::Evaluate(some(shape, count), Object::Full)
}

const fn mutate(effect: Effect, count: usize) -> Work {
    let policies = Policies {
        effect,
        ..some(Shape::Mix, count)
    };
    Work::Evaluate(policies, Object::Full)
}

const fn few(count: usize) -> Policies {
    Policies {
        matching: 10,
        ..some(Shape::Mix, count)
    }
}

const fn bound(count: usize, bindings: usize) -> Policies {
    Policies {
        bindings,
        ..some(Shape::Mix, count)
    }
}

const fn plugins(name: &'static str) -> Work {
    among(1, name)
}

const fn among(of_last: usize, name: &'static str) -> Work {
    Work::Plugins(PluginCase { name, of_last })
}

/// One policy, which is not about what is evaluated.
const NONE: Policies = Policies {
    matching: 0,
    ..some(Shape::Mix, 1)
};

/// All rows, in the order of the table.
pub(super) const ROWS: [Row; 36] = [
    row("match-1", "1 policy", evaluate(Shape::Mix, 1), 20),
    row("match-10", "10 policies", evaluate(Shape::Mix, 10), 25),
    row("match-100", "100 policies", evaluate(Shape::Mix, 100), 40),
    row("match-1000", "1,000 policies", evaluate(Shape::Mix, 1_000), 60),
    row(
        "small-100",
        "100, smaller Pod",
        Work::Evaluate(some(Shape::Mix, 100), Object::Small),
        40,
    ),
    row(
        "shared-100",
        "100 of equal expressions",
        evaluate(Shape::Shared, 100),
        40,
    ),
    row(
        "shared-1000",
        "1,000 of equal expressions",
        evaluate(Shape::Shared, 1_000),
        60,
    ),
    row(
        "few-1000",
        "1,000, of which 10 match",
        Work::Evaluate(few(1_000), Object::Full),
        60,
    )
    .beside(Work::Evaluate(few(10), Object::Full), 1.2),
    row(
        "bindings-1024",
        "1 policy, 1,024 bindings",
        Work::Evaluate(bound(1, 1_024), Object::Full),
        50,
    ),
    row(
        "distinct-100",
        "100 that share nothing",
        evaluate(Shape::Distinct, 100),
        15,
    ),
    row(
        "distinct-1000",
        "1,000 that share nothing",
        evaluate(Shape::Distinct, 1_000),
        15,
    ),
    row("deny-100", "100 that all deny", evaluate(Shape::Deny, 100), 15),
    row("apply-1", "1 ApplyConfiguration", mutate(Effect::Apply, 1), 25),
    row(
        "apply-10",
        "10 ApplyConfigurations",
        mutate(Effect::Apply, 10),
        25,
    ),
    row("patch-1", "1 JSONPatch", mutate(Effect::Patch, 1), 25),
    row("patch-10", "10 JSONPatches", mutate(Effect::Patch, 10), 25),
    row(
        "start-100",
        "load 100 policies",
        Work::Start(some(Shape::Mix, 100)),
        20,
    ),
    row(
        "start-1000",
        "load 1,000 policies",
        Work::Start(some(Shape::Mix, 1_000)),
        20,
    ),
    row(
        "start-10000",
        "load 10,000 policies",
        Work::Start(some(Shape::Mix, 10_000)),
        20,
    ),
    row(
        "start-distinct",
        "load 1,000 that share nothing",
        Work::Start(some(Shape::Distinct, 1_000)),
        20,
    ),
    row(
        "reload-1000",
        "reload, 1 of 1,000 changed",
        Work::Reload(some(Shape::Mix, 1_000)),
        200,
    ),
    row(
        "keep-1000",
        "memory of 1,000 policies",
        Work::Keep(some(Shape::Mix, 1_000)),
        20,
    ),
    row(
        "keep-distinct",
        "the same, sharing nothing",
        Work::Keep(some(Shape::Distinct, 1_000)),
        20,
    ),
    row(
        "keep-bindings",
        "of 1,000 with 300 bindings",
        Work::Keep(bound(1_000, 300)),
        50,
    ),
    row(
        "serve-100",
        "served, 100 policies",
        Work::Serve(some(Shape::Mix, 100)),
        0,
    )
    .beside(Work::Serve(NONE), 2.0),
    row(
        "plugins-pod",
        "default plugins, Pod",
        plugins("default set, Pod, no quota"),
        8,
    ),
    row(
        "plugins-dry-run",
        "the same with a quota, dry run",
        plugins("default set, Pod, dry run with a quota"),
        8,
    ),
    row(
        "plugins-denied",
        "the same, refused",
        plugins("default set, Pod refused by PodSecurity"),
        0,
    ),
    row(
        "plugins-map",
        "default plugins, ConfigMap",
        plugins("default set, ConfigMap"),
        0,
    ),
    row(
        "plugins-pss",
        "PodSecurity",
        plugins("PodSecurity, restricted Pod"),
        8,
    ),
    row(
        "plugins-pss-no",
        "PodSecurity refuses",
        plugins("PodSecurity, refused Pod"),
        8,
    ),
    row(
        "plugins-quota",
        "ResourceQuota, dry run",
        plugins("ResourceQuota, Pod, dry run"),
        10,
    ),
    row("plugins-limits", "LimitRanger", plugins("LimitRanger, Pod"), 0),
    row(
        "plugins-account",
        "ServiceAccount",
        plugins("ServiceAccount, Pod"),
        0,
    ),
    row(
        "plugins-quotas",
        "1,000 quotas of other things",
        among(1_000, QUOTAS),
        10,
    )
    .beside(plugins(QUOTAS), 1.2),
    row(
        "plugins-ranges",
        "1,000 limits of other things",
        among(1_000, LIMITS),
        0,
    )
    .beside(plugins(LIMITS), 1.2),
];

/// A namespace whose quotas do not limit Pods.
const QUOTAS: &str = "ResourceQuota, 1 that do not limit Pods";
/// A namespace whose limit ranges do not limit Pods.
const LIMITS: &str = "LimitRanger, 1 that do not limit Pods";

/// The rows that were asked for, each by the beginning of its name; all where none was.
pub(super) fn wanted(names: &[String]) -> Result<Vec<Row>, Error> {
    if let Some(unknown) = names.iter().find(|name| !ROWS.iter().any(|row| row.is(name))) {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!("no row is named {unknown:?}; there are {}", known.join(", ")).into());
    }
    let is_wanted = |row: &&Row| names.is_empty() || names.iter().any(|name| row.is(name));
    Ok(ROWS.iter().filter(is_wanted).cloned().collect())
}

impl Beside {
    /// What it is called.
    pub(super) fn title(&self) -> String {
        match self.work {
            Work::Plugins(PluginCase { of_last, .. }) => format!("{of_last} of them"),
            Work::Evaluate(policies, _)
            | Work::Start(policies)
            | Work::Reload(policies)
            | Work::Keep(policies)
            | Work::Serve(policies) => match policies.matching {
                0 => "no policy".to_owned(),
                count => format!("only those {count}"),
            },
        }
    }
}

impl Row {
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
            let found: Vec<&str> = found.iter().map(|row| row.name).collect();
            assert_eq!(found, expected, "{names:?}");
        };
        check(&["match-1"], &["match-1"]);
        check(&["patch", "apply-1"], &["apply-1", "patch-1", "patch-10"]);
        assert_eq!(wanted(&[]).unwrap().len(), ROWS.len());
        assert!(wanted(&["mat".to_owned()]).is_err_and(|error| error.to_string().contains("match-1000")));
    }
}

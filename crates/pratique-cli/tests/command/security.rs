//! The limits in SECURITY.md are those of the program and the sources, and complete as far as they have a flag.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pratique_server::Limits;

const DOCUMENT: &str = include_str!("../../../../SECURITY.md");

/// The first three columns of all tables whose third column has this head.
fn rows(head: &str) -> Vec<[&'static str; 3]> {
    let mut rows = Vec::new();
    let mut is_wanted = false;
    for line in DOCUMENT.lines() {
        is_wanted &= line.starts_with('|');
        let Some(line) = line.strip_prefix("| ") else {
            continue;
        };
        let cells: Vec<&str> = line.split(" | ").collect();
        let [first, second, third, ..] = cells[..] else {
            continue;
        };
        if is_wanted {
            rows.push([first, second, third]);
        }
        is_wanted |= third == head;
    }
    rows
}

/// The help of a command: its flags with their defaults, and those below the heading `Limits`.
struct Help {
    defaults: BTreeMap<String, Option<String>>,
    limits: BTreeSet<String>,
}

impl Help {
    fn of(command: &str) -> Self {
        let run = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args([command, "--help"])
            .env_clear()
            .output()
            .unwrap();
        let text = String::from_utf8(run.stdout).unwrap();
        let mut help = Help {
            defaults: BTreeMap::new(),
            limits: BTreeSet::new(),
        };
        let (mut heading, mut flag) = ("", String::new());
        for line in text.lines() {
            let trimmed = line.trim_start();
            let short = trimmed.strip_prefix('-').map_or(trimmed, |rest| {
                rest.split_once(", -").map_or(trimmed, |(_, rest)| rest)
            });
            let long = short.trim_start_matches('-');
            if !line.starts_with(' ') {
                heading = line.trim_end_matches(':');
            } else if trimmed.starts_with('-') && line.len() - trimmed.len() < 10 {
                flag = format!("--{}", long.split([' ', '=', ',']).next().unwrap());
                help.defaults.insert(flag.clone(), None);
                if heading == "Limits" {
                    help.limits.insert(flag.clone());
                }
            } else if let Some((_, rest)) = trimmed.split_once("[default: ") {
                let default = rest.split_once(']').unwrap().0.to_owned();
                help.defaults.insert(flag.clone(), Some(default));
            }
        }
        help
    }
}

/// The flags that the document names.
fn flags() -> BTreeSet<String> {
    let quoted = DOCUMENT.split('`').skip(1).step_by(2);
    let flags = quoted.filter(|text| text.starts_with("--"));
    flags
        .map(|text| text.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn flags_have_the_documented_defaults() {
    let help = Help::of("serve");
    let rows = rows("flag");
    assert!(rows.len() > 10);
    let limits = Limits::default();
    let mut documented = BTreeSet::new();
    for [what, default, place] in rows {
        let place = place.trim_matches('`');
        let expected = match place.strip_prefix("Limits::") {
            Some("handshake_timeout") => seconds(limits.handshake_timeout),
            Some("head_timeout") => seconds(limits.head_timeout),
            Some("body_timeout") => seconds(limits.body_timeout),
            Some("queue_timeout") => seconds(limits.queue_timeout),
            Some("response_timeout") => seconds(limits.response_timeout),
            Some("response") => (limits.response >> 20).to_string(),
            Some("default_timeout") => seconds(limits.default_timeout),
            Some("max_timeout") => seconds(limits.max_timeout),
            Some(other) => panic!("{what}: no limit {other}"),
            None => {
                documented.insert(place.to_owned());
                let default = help.defaults.get(place);
                let default = default.unwrap_or_else(|| panic!("serve has no {place}"));
                default.clone().unwrap_or_else(|| "none".to_owned())
            }
        };
        let found = default.split(' ').next().unwrap();
        assert_eq!(found, expected, "{what}");
    }
    let missing: Vec<_> = help.limits.difference(&documented).collect();
    assert!(
        missing.is_empty(),
        "SECURITY.md does not say what {missing:?} protect"
    );
}

fn seconds(time: Duration) -> String {
    time.as_secs().to_string()
}

#[test]
fn fixed_limits_are_those_of_the_sources() {
    let rows = rows("where");
    assert!(rows.len() > 10);
    for [what, value, place] in rows {
        let (name, path) = place.split_once(" in ").unwrap();
        let (name, path) = (name.trim_matches('`'), path.trim_matches('`'));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let source = std::fs::read_to_string(root.join(path)).unwrap();
        let line = source
            .lines()
            .find(|line| line.contains(&format!("const {name}: ")));
        let line = line.unwrap_or_else(|| panic!("{what}: no {name} in {path}"));
        let (_, expression) = line.trim_end_matches(';').split_once(" = ").unwrap();
        assert_eq!(number(value), evaluated(expression), "{what}");
    }
}

/// Parses a number of the document.
fn number(text: &str) -> u64 {
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let digits: u64 = digits.replace(',', "").parse().unwrap();
    match unit {
        "" => digits,
        "KiB" => digits << 10,
        "MiB" => digits << 20,
        other => panic!("no unit {other:?}"),
    }
}

/// Evaluates a constant of the sources.
fn evaluated(expression: &str) -> u64 {
    let digits = |text: &str| text.replace('_', "").parse::<u64>().unwrap();
    match expression.split_once(" << ") {
        Some((left, right)) => digits(left) << digits(right),
        None => expression.split(" * ").map(digits).product(),
    }
}

#[test]
fn all_flags_are_some_commands() {
    let commands = ["serve", "check", "review", "impact", "test"].map(Help::of);
    for flag in flags() {
        assert!(
            commands.iter().any(|help| help.defaults.contains_key(&flag)),
            "no command has {flag}"
        );
    }
}

//! Words that people know from other tools and type first.
//!
//! What means the same is taken for ours before the command line is parsed, so that the commands, their help and the project file
//! have one word for a thing. What has no word here is refused as ever, with ours as a tip. docs/other-tools.md has a table of them,
//! each row of which is tried by a test.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;

/// Commands of other tools, and ours that do the same.
const COMMANDS: &[(&str, &str)] = &[
    ("apply", "review"),
    ("validate", "review"),
    ("run", "review"),
    ("lint", "check"),
    ("verify", "test"),
    ("detect", "upgrade"),
    ("detect-files", "upgrade"),
];

/// Commands of other tools that are none here, and what does their work.
const COMMAND_TIPS: &[(&str, &str)] = &[
    (
        "bench",
        "`pratique check --explain-cost` tells the costs of expressions",
    ),
    (
        "checks",
        "docs/warnings.md lists the warnings of `pratique check`",
    ),
    ("create", "`pratique test --init` writes a first suite"),
    (
        "detect-all-in-cluster",
        "`pratique upgrade --cluster` looks at a cluster",
    ),
    (
        "detect-api-resources",
        "`pratique upgrade --cluster` looks at a cluster",
    ),
    ("detect-helm", "`pratique upgrade --cluster` looks at a cluster"),
    ("docs", "`pratique man` writes manual pages"),
    (
        "expand",
        "`pratique review --expand all` reviews the Pods of workloads",
    ),
    ("fmt", "`pratique check` reads policies, and formats none"),
    (
        "inspect",
        "`pratique check --explain-cost` tells what expressions read",
    ),
    ("jp", "`pratique playground` evaluates expressions"),
    (
        "list-versions",
        "`pratique --version` tells the releases of Kubernetes that are known",
    ),
    (
        "parse",
        "`pratique review --output yaml` prints objects as a server has them",
    ),
    ("scaffold", "`pratique init` writes a first project file"),
    (
        "templates",
        "docs/warnings.md lists the warnings of `pratique check`",
    ),
];

/// A flag of another tool, and what it is here.
struct ForeignFlag {
    /// The commands that take it for ours.
    commands: &'static [&'static str],
    names: &'static [&'static str],
    ours: OurWord,
}

/// What a flag of another tool is here.
#[derive(Clone, Copy)]
enum OurWord {
    /// A flag that takes the same value, or none either.
    Flag(&'static str),
    /// The value is what ours has no flag for.
    Positional,
    /// A flag with its value, for one that has none.
    Fixed(&'static str),
    /// A flag without the value that is meant by it.
    Bare(&'static str),
    /// What is done in any case.
    Usual,
    /// Something else, which is told.
    Tip(&'static str),
}

/// The commands that evaluate policies for objects.
const OF_POLICIES: &[&str] = &["review", "scan", "replay", "upgrade", "serve"];
const ALL: &[&str] = &[
    "check", "review", "replay", "impact", "upgrade", "scan", "test", "serve", "snapshot", "lsp",
];

const FLAGS: &[ForeignFlag] = &[
    flag(
        &["check", "review", "scan", "impact", "upgrade", "replay"],
        &["-f", "--filename", "--file", "--file-name"],
        OurWord::Positional,
    ),
    flag(&["check"], &["-p", "--policy", "--policies"], OurWord::Positional),
    flag(OF_POLICIES, &["-p", "--policy"], OurWord::Flag("--policies")),
    flag(
        &["test"],
        &["--filename", "--file", "--file-name"],
        OurWord::Positional,
    ),
    flag(
        &["test"],
        &["--run", "-r", "--test-case-selector", "-t"],
        OurWord::Flag("--filter"),
    ),
    flag(&["test"], &["--fail-only", "--require-tests"], OurWord::Usual),
    flag(&["test"], &["--detailed-results"], OurWord::Flag("--verbose")),
    flag(&["upgrade"], &["-d", "--directory"], OurWord::Positional),
    flag(&["upgrade"], &["--kube-version"], OurWord::Flag("--from")),
    flag(
        ALL,
        &["--kube-version", "-kubernetes-version", "--k8s-version"],
        OurWord::Flag("--kubernetes-version"),
    ),
    flag(ALL, &["-output", "--output-format"], OurWord::Flag("--output")),
    flag(&["review"], &["-summary"], OurWord::Flag("--summary")),
    flag(
        &["review"],
        &["-strict", "--strict"],
        OurWord::Fixed("--field-validation=Strict"),
    ),
    flag(&["review"], &["-verbose"], OurWord::Flag("--all")),
    flag(&["review"], &["--detailed-results"], OurWord::Flag("--all")),
    flag(&["review"], &["--trace"], OurWord::Flag("--explain")),
    flag(&["review"], &["--continue-on-fail"], OurWord::Usual),
    flag(&["review"], &["--deny-only"], OurWord::Flag("--quiet")),
    flag(&["review"], &["-i", "--stdin"], OurWord::Fixed("-")),
    flag(&["review"], &["--request-path"], OurWord::Positional),
    // A directory is read with all in it.
    flag(
        &["check", "review", "scan", "impact", "upgrade"],
        &["-R", "--recursive"],
        OurWord::Usual,
    ),
    flag(
        &["test"],
        &["-p", "--policy", "--policies"],
        OurWord::Tip(
            "suites name their policies; `pratique review PATH --policies PATH` evaluates policies for objects",
        ),
    ),
    flag(
        &["review", "scan", "check", "upgrade"],
        &["-k", "--kustomize"],
        OurWord::Tip("`pratique review --render DIR` reviews what a kustomization or a chart makes"),
    ),
    flag(
        &["scan", "impact", "upgrade"],
        &["--render", "--helm-values", "--values"],
        OurWord::Tip(
            "`helm template DIR` and `kustomize build DIR` print what `-` reads: `pratique review` runs them",
        ),
    ),
    flag(
        &["review", "scan"],
        &["--server-side", "--force-conflicts"],
        OurWord::Tip(
            "`pratique review --operation UPDATE --old FILE` reviews a change; which fields somebody owns is not looked at",
        ),
    ),
    flag(&["review"], &["--values"], OurWord::Flag("--helm-values")),
    flag(
        &["review"],
        &["-t", "--table"],
        OurWord::Tip("`--summary` prints a table"),
    ),
    flag(
        &["check"],
        &["--config"],
        OurWord::Tip(
            "a file `pratique.yaml` says what `pratique check` is given: `pratique init` writes one",
        ),
    ),
    flag(
        &["review", "scan", "upgrade"],
        &["-cache", "--cache"],
        OurWord::Tip("nothing is downloaded, and nothing has to be kept: go without `-cache`"),
    ),
    flag(
        &["review", "scan"],
        &[
            "-d",
            "--data",
            "--local-crds",
            "--target-resource",
            "--target-resources",
        ],
        OurWord::Flag("--objects"),
    ),
    flag(
        // Others fail for other words.
        &["review", "scan"],
        &["--fail-on-warn"],
        OurWord::Fixed("--fail-on=deny,warn,error,undecided"),
    ),
    flag(&["review"], &["--exception"], OurWord::Flag("--exceptions")),
    flag(ALL, &["--kube-context"], OurWord::Flag("--context")),
    flag(ALL, &["--ignore", "--ignore-paths"], OurWord::Flag("--exclude")),
    // A page is what a report is if its name says so.
    flag(
        &["scan", "replay", "impact", "upgrade"],
        &["--html"],
        OurWord::Flag("--report"),
    ),
    flag(
        &["review", "check", "test"],
        &["--html"],
        OurWord::Tip("`pratique scan --report FILE.html` writes a page"),
    ),
    flag(
        ALL,
        &["--ignore-filename-pattern", "-ignore-filename-pattern"],
        OurWord::Tip("`--exclude GLOB` leaves out files"),
    ),
    flag(
        ALL,
        &["-schema-location", "--schema-location", "--local-schemas"],
        OurWord::Tip("`--objects PATH` gives CustomResourceDefinitions; built-in kinds are known"),
    ),
    flag(
        ALL,
        &["-ignore-missing-schemas", "--ignore-missing-schemas"],
        OurWord::Tip(
            "kinds without a definition are told; `--fail-on deny,error` does not fail for what is undecided",
        ),
    ),
    flag(
        ALL,
        &["-skip", "--skip", "-reject", "--reject"],
        OurWord::Tip("`--exceptions FILE` accepts findings by kind"),
    ),
    flag(ALL, &["--json"], OurWord::Tip("`--output json` prints JSON")),
    flag(
        ALL,
        &["--sarif"],
        OurWord::Tip("`--output sarif=FILE` writes SARIF to a file"),
    ),
    flag(
        ALL,
        &["--junit"],
        OurWord::Tip("`--output junit=FILE` writes JUnit XML to a file"),
    ),
    flag(
        ALL,
        &["--output-file"],
        OurWord::Tip("`--output FORMAT=FILE` writes an output to a file"),
    ),
    flag(
        ALL,
        &["--no-color", "--remove-color", "--with-color"],
        OurWord::Tip("`NO_COLOR=1` turns colours off"),
    ),
    flag(
        &["test"],
        &["--include-trace"],
        OurWord::Tip("`pratique review --explain` shows the values of an expression"),
    ),
    flag(
        ALL,
        &["--no-fail"],
        OurWord::Tip("`--fail-on error` fails for nothing that is denied"),
    ),
    flag(
        ALL,
        &["-u", "--userinfo"],
        OurWord::Tip("`--as USER` and `--as-group GROUP` say who sends requests"),
    ),
    flag(
        ALL,
        &["--set", "-s", "--values-file"],
        OurWord::Tip("`--objects PATH` gives params, and `--helm-values FILE` values of charts"),
    ),
    flag(
        ALL,
        &["--policy-report"],
        OurWord::Tip("`pratique scan --output policyreport` writes reports"),
    ),
    flag(
        ALL,
        &["--warn-exit-code", "--audit-warn"],
        OurWord::Tip("`--fail-on deny,warn,audit,error,undecided` fails for warnings"),
    ),
    flag(
        ALL,
        &["-b", "--git-branch"],
        OurWord::Tip("`--since REVISION` compares with a revision"),
    ),
    flag(
        ALL,
        &["--image"],
        OurWord::Tip("`--policies PATH` names files: pull an image first"),
    ),
    flag(
        ALL,
        &["--settings-json", "--settings-path"],
        OurWord::Tip("`--objects PATH` gives the params of policies"),
    ),
    flag(
        ALL,
        &["--allow-context-aware"],
        OurWord::Tip("`--cluster` asks a cluster, and `--snapshot DIR` a copy of one"),
    ),
    flag(
        ALL,
        &["--combine"],
        OurWord::Tip("all inputs are seen together, without `--combine`"),
    ),
    flag(
        ALL,
        &["-A", "--all-namespaces"],
        OurWord::Tip("objects of all namespaces are read; `--namespace NAME` is that of objects without one"),
    ),
    flag(
        ALL,
        &["--target-versions"],
        OurWord::Tip("`--to VERSION` is the release of Kubernetes to upgrade to"),
    ),
    flag(
        ALL,
        &["--ignore-deprecations", "--only-show-removed"],
        OurWord::Tip("`--fail-on breaks,error` fails for what is removed, and not for what is deprecated"),
    ),
    flag(
        ALL,
        &["--ignore-removals"],
        OurWord::Tip(
            "`--fail-on deprecated,error` fails for what is deprecated, and not for what is removed",
        ),
    ),
    flag(
        ALL,
        &["--include", "--add-all-built-in", "--do-not-auto-add-defaults"],
        OurWord::Tip("`--warn NAME`, `--allow NAME` and `--deny NAME` say which warnings count"),
    ),
    flag(
        ALL,
        &["--fail-if-no-objects-found", "--fail-on-invalid-resource"],
        OurWord::Tip(
            "this is so without `--fail-on`: an input without objects, or one that cannot be read, fails",
        ),
    ),
];

const fn flag(
    commands: &'static [&'static str],
    names: &'static [&'static str],
    ours: OurWord,
) -> ForeignFlag {
    ForeignFlag {
        commands,
        names,
        ours,
    }
}

/// The command line with our words in place of those of other tools. `command` says which of its flags take a value.
pub(super) fn translated(line: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let Some(at) = command_position(&line) else {
        return line;
    };
    let Some(typed) = line.get(at).and_then(|word| word.to_str()).map(str::to_owned) else {
        return line;
    };
    let named = COMMANDS.iter().find(|(theirs, _)| *theirs == typed);
    let name = named.map_or(typed.as_str(), |(_, ours)| ours);
    let Some(section) = command.find_subcommand(name) else {
        return line;
    };
    let mut words = line.into_iter();
    let mut translated: Vec<OsString> = words.by_ref().take(at).collect();
    translated.push(name.into());
    let rest = with_our_flags(words.skip(1).collect(), name, section);
    translated.extend(if typed == "apply" {
        with_policies_first(rest, section)
    } else {
        rest
    });
    translated
}

/// Where the command is named: behind flags that all commands have.
pub(super) fn command_position(line: &[OsString]) -> Option<usize> {
    let mut words = line.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        if word == "--project-file-from" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return Some(at);
        }
    }
    None
}

/// The flags of a command in our words.
fn with_our_flags(words: Vec<OsString>, command: &str, section: &Command) -> Vec<OsString> {
    let mut ours = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            ours.push(word);
            break;
        }
        let Some((flag, value)) = word.to_str().map(split_flag) else {
            ours.push(word);
            continue;
        };
        let next = words.peek().map(OsString::as_os_str);
        match our_word(command, flag, value, next) {
            Some(OurWord::Bare(flag)) => ours.push(flag.into()),
            Some(OurWord::Flag(flag)) => ours.push(with_value(flag, value)),
            // Tools in Go have flags that take `=true` and `=false`; what else there is, is refused as it was typed.
            Some(OurWord::Fixed(_) | OurWord::Usual) if !matches!(value, None | Some("true" | "false")) => {
                ours.push(word);
            }
            Some(OurWord::Fixed(_)) if value == Some("false") => {}
            Some(OurWord::Fixed(word)) => ours.push(word.into()),
            Some(OurWord::Positional) => {
                let value = value.map(OsString::from).or_else(|| words.next());
                ours.extend(value);
            }
            Some(OurWord::Usual) => {}
            Some(OurWord::Tip(_)) | None => {
                // The value of a flag is no flag.
                let is_followed = value.is_none() && takes_value(section, flag);
                ours.push(word);
                if is_followed {
                    ours.extend(words.next());
                }
            }
        }
    }
    ours.extend(words);
    ours
}

/// What a flag of another tool is in a command, with the value behind `=` or the word that follows; what ours have under the same name
/// is ours.
fn our_word(command: &str, flag: &str, value: Option<&str>, next: Option<&OsStr>) -> Option<OurWord> {
    let follows = value.map(OsStr::new).or(next);
    // Elsewhere, `-f` is a file; here it is a filter, unless there is such a file.
    if (command, flag) == ("test", "-f") {
        let is_path = follows.is_some_and(|value| Path::new(value).exists());
        return is_path.then_some(OurWord::Positional);
    }
    // A server that is asked so says in its reviews that it is a dry run.
    if let (("review", "--dry-run"), Some(value)) = ((command, flag), value) {
        return (value == "server").then_some(OurWord::Bare("--dry-run"));
    }
    // Without a value, it asks for our own.
    if flag == "--version" {
        let is_release = follows.and_then(OsStr::to_str).is_some_and(is_release);
        return is_release.then_some(OurWord::Flag("--kubernetes-version"));
    }
    let mut flags = FLAGS.iter();
    let known = flags.find(|known| known.commands.contains(&command) && known.names.contains(&flag));
    known.map(|known| known.ours)
}

fn is_release(text: &str) -> bool {
    let numbers = text.trim_start_matches('v').split_once('.');
    numbers.is_some_and(|(major, minor)| {
        [major, minor]
            .iter()
            .all(|number| number.starts_with(|digit: char| digit.is_ascii_digit()))
    })
}

/// The words of `kyverno apply POLICY… --resource OBJECT…` as ours: with objects, what has no flag are policies.
fn with_policies_first(words: Vec<OsString>, section: &Command) -> Vec<OsString> {
    const OBJECTS: [&str; 4] = ["-r", "--resource", "--resources", "--resource-path"];
    let is_objects = |word: &OsString| {
        word.to_str()
            .is_some_and(|word| OBJECTS.contains(&split_flag(word).0))
    };
    if !words.iter().any(is_objects) {
        return words;
    }
    let mut ours = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some((flag, value)) = word.to_str().map(split_flag) else {
            ours.extend([OsString::from("--policies"), word]);
            continue;
        };
        if OBJECTS.contains(&flag) {
            let value = value.map(OsString::from).or_else(|| words.next());
            ours.extend(value);
        } else if flag.starts_with('-') {
            let is_followed = value.is_none() && takes_value(section, flag);
            ours.push(word);
            if is_followed {
                ours.extend(words.next());
            }
        } else {
            ours.extend([OsString::from("--policies"), word]);
        }
    }
    ours
}

/// A flag, and the value behind `=`.
fn split_flag(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => (flag, Some(value)),
        _ => (word, None),
    }
}

fn with_value(flag: &str, value: Option<&str>) -> OsString {
    match value {
        Some(value) => format!("{flag}={value}").into(),
        None => flag.into(),
    }
}

/// Whether one of our flags takes the next word as its value.
fn takes_value(section: &Command, flag: &str) -> bool {
    let mut arguments = section.get_arguments();
    let named = arguments.find(|argument| {
        let short = argument.get_short().map(|short| format!("-{short}"));
        let long = argument.get_long().map(|long| format!("--{long}"));
        short.as_deref() == Some(flag) || long.as_deref() == Some(flag)
    });
    named.is_some_and(|argument| argument.get_action().takes_values())
}

/// Flags that our `review` has without the values of others.
const VALUE_TIPS: &[(&str, &str)] = &[
    (
        "--dry-run=client",
        "`pratique review` answers as a server does, as with `--dry-run=server`: what a client checks is checked in any case",
    ),
    (
        "--dry-run=none",
        "`pratique review` changes nothing: it answers as a server does with `--dry-run=server`",
    ),
];

/// Ours for a command that is none here.
pub(super) fn command_tip(typed: &str) -> Option<&'static str> {
    let mut tips = COMMAND_TIPS.iter();
    tips.find(|(theirs, _)| *theirs == typed).map(|(_, tip)| *tip)
}

/// Ours for a flag that is none of a command.
pub(super) fn flag_tip(command: &str, typed: &str) -> Option<&'static str> {
    let mut value_tips = VALUE_TIPS.iter().filter(|_| command == "review");
    if let Some((_, tip)) = value_tips.find(|(flag, _)| *flag == typed) {
        return Some(tip);
    }
    let (typed, _) = split_flag(typed);
    FLAGS.iter().find_map(|flag| match flag.ours {
        OurWord::Tip(tip) if flag.commands.contains(&command) && flag.names.contains(&typed) => Some(tip),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;
    use crate::arguments::ProgramArguments;

    #[track_caller]
    fn check(typed: &str, expected: &str) {
        let line = format!("pratique {typed}")
            .split(' ')
            .map(OsString::from)
            .collect();
        let line = translated(line, &ProgramArguments::command());
        let words: Vec<&str> = line.iter().skip(1).map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" "), expected, "{typed}");
    }

    #[test]
    fn words_of_others_become_ours() {
        for (typed, expected) in [
            ("apply -f a.yaml", "review a.yaml"),
            ("validate --filename=a.yaml -n b", "review a.yaml -n b"),
            ("review -f - --policy p", "review - --policies p"),
            ("lint p --format json", "check p --format json"),
            ("check --policies p -p q", "check p q"),
            (
                "apply p q --resource a.yaml -n b",
                "review --policies p --policies q a.yaml -n b",
            ),
            (
                "apply a.yaml --resource=b.yaml --as ann",
                "review --policies a.yaml b.yaml --as ann",
            ),
            (
                "validate -summary -output json a",
                "review --summary --output json a",
            ),
            ("validate --version 1.36 a", "review --kubernetes-version 1.36 a"),
            ("review --values v.yaml", "review --helm-values v.yaml"),
            ("scan --html out.html a", "scan --report out.html a"),
            ("test --run x", "test --filter x"),
            ("test -f x", "test -f x"),
            ("test -f Cargo.toml", "test Cargo.toml"),
            ("verify --fail-only a", "test a"),
            ("upgrade --kube-version 1.36 -d a", "upgrade --from 1.36 a"),
            (
                "--project-file-from apply lint p",
                "--project-file-from apply check p",
            ),
            ("review -i", "review -"),
            ("apply -f a.yaml --dry-run=server", "review a.yaml --dry-run"),
            (
                "apply -f a.yaml --dry-run=client",
                "review a.yaml --dry-run=client",
            ),
            ("apply -R -f a", "review a"),
            ("validate -strict=true a", "review --field-validation=Strict a"),
            ("validate -strict=false a", "review a"),
            (
                "scan --fail-on-warn a",
                "scan --fail-on=deny,warn,error,undecided a",
            ),
            ("scan --fail-on-warn=false a", "scan a"),
            ("test --fail-only=true --require-tests=false a", "test a"),
            ("upgrade --html=out.html a", "upgrade --report=out.html a"),
        ] {
            check(typed, expected);
        }
    }

    #[test]
    fn our_words_stay() {
        for line in [
            "review a.yaml --policies p --explain",
            // The values of our flags are no flags of others.
            "review --name --policy a",
            "review a -- -f b",
            "test --filter --run",
            "review --version",
            "review --userinfo a",
            "init apply",
            "unknown -f a",
            // The values are none, and the flags have no such meaning elsewhere.
            "review -strict=maybe a",
            "test --fail-only=maybe a",
            "impact --fail-on-warn a",
            "upgrade --fail-on-warn a",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn no_flag_of_others_is_one_of_ours() {
        let command = ProgramArguments::command();
        for flag in FLAGS {
            for name in flag.commands {
                let section = command.find_subcommand(name);
                for argument in section.into_iter().flat_map(Command::get_arguments) {
                    let long = argument.get_long().map(|long| format!("--{long}"));
                    let short = argument.get_short().map(|short| format!("-{short}"));
                    for ours in [long, short].into_iter().flatten() {
                        assert!(!flag.names.contains(&ours.as_str()), "{name} {ours}");
                    }
                }
            }
        }
        for flag in FLAGS {
            let OurWord::Fixed(word) = flag.ours else {
                continue;
            };
            for name in flag.commands {
                let parsed = command.clone().try_get_matches_from(["pratique", *name, word]);
                // Nothing else of the command line is there.
                let is_valid = match &parsed {
                    Ok(_) => true,
                    Err(error) => error.kind() == ErrorKind::MissingRequiredArgument,
                };
                assert!(is_valid, "{name} {word}: {parsed:?}");
            }
        }
        for (theirs, ours) in COMMANDS {
            assert!(command.find_subcommand(theirs).is_none() && command.find_subcommand(ours).is_some());
        }
        for (theirs, _) in COMMAND_TIPS {
            assert!(command.find_subcommand(theirs).is_none());
        }
    }
}

//! The headings of `--help`, under which flags stand that are about the same, in every command.
//!
//! Arguments that commands share do not know what stands before and behind them, so that their headings are said here.

use clap::Command;

/// The flags under each heading. What has none is of one command only, and stands before them.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "Project file",
        &["no-project-file", "trust-project-file", "project-file-from"],
    ),
    (
        "Inputs",
        &[
            "render",
            "helm-values",
            "stdin-filename",
            "exclude",
            "max-input",
            "remember",
            "allow-path",
            "root",
        ],
    ),
    (
        "Policies",
        &[
            "admission-control-config-file",
            "manifests",
            "policies",
            "input-policies",
            "new",
            "old-rev",
            "new-rev",
            "origin",
            "plugin",
            "level",
            "bind",
            "webhooks",
            "connect",
        ],
    ),
    ("Warnings", &["allow", "warn", "deny"]),
    (
        "Requests",
        &[
            "operation",
            "old",
            "since",
            "name",
            "resource",
            "subresource",
            "namespace",
            "as",
            "as-group",
            "as-uid",
            "as-user-extra",
            "as-update",
            "dry-run",
        ],
    ),
    ("Objects", &["defaults", "field-validation", "validation"]),
    ("Workloads", &["expand", "pod-template"]),
    (
        "Cluster",
        &[
            "objects",
            "objects-complete",
            "none",
            "namespace-object",
            "authorizer",
            "snapshot",
            "cluster",
            "kubeconfig",
            "context",
            "cluster-objects",
            "follow",
            "kubernetes-version",
            "from",
            "to",
            "feature-gates",
            "chunk-size",
            "kube-api-qps",
            "kube-api-burst",
            "request-timeout",
        ],
    ),
    (
        "Admission plugins",
        &[
            "chain",
            "plugins",
            "enable-admission-plugins",
            "disable-admission-plugins",
            "default-not-ready-toleration-seconds",
            "default-unreachable-toleration-seconds",
        ],
    ),
    (
        "Answers",
        &[
            "output",
            "output-dir",
            "all",
            "quiet",
            "summary",
            "verbose",
            "explain",
            "explain-cost",
            "hash-only",
            "report",
            "metrics-file",
            "results",
            "apply",
            "fail-on",
            "max-new-refusals",
            "exceptions",
            "baseline",
            "write-baseline",
        ],
    ),
    ("Long runs", &["shard", "checkpoint", "checkpoint-interval"]),
    (
        "Listening",
        &[
            "listen",
            "health-listen",
            "no-status-page",
            "status-page-hosts",
            "shutdown-delay-duration",
            "drain-grace",
            "identity",
            "logging-format",
            "log-level",
        ],
    ),
    (
        "Certificates",
        &[
            "tls-cert-file",
            "tls-private-key-file",
            "client-ca-file",
            "protect-metrics",
            "count-anonymous-reviews",
            "plain-http",
        ],
    ),
    (
        "Limits",
        &[
            "max-body",
            "max-memory",
            "max-load-memory",
            "max-requests-inflight",
            "max-connections",
        ],
    ),
    (
        "Calls of webhooks among the manifests",
        &[
            "call-breaker",
            "call-cool-down",
            "calls-at-once",
            "call-budget",
            "follow-plain-http-redirects",
        ],
    ),
    (
        "Webhook configuration",
        &[
            "print-webhook-configuration",
            "webhook-name",
            "webhook-service",
            "webhook-url",
            "webhook-ca",
            "webhook-ca-from",
            "webhook-timeout",
            "exempt-namespace",
            "exempt-namespace-label",
        ],
    ),
    (
        "Audit log and record",
        &[
            "audit-log-path",
            "audit-level",
            "audit-secrets",
            "record",
            "record-sample",
            "record-max-size",
        ],
    ),
];

/// Flags that mean something else in a command, and the heading there.
const OF_COMMANDS: &[(&str, &str, &str)] = &[("impact", "old", "Policies")];

/// A command whose flags stand under headings, as do those of the commands below it.
pub(super) fn with_headings(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| {
        let heading = argument.get_long().and_then(|flag| heading_of(&name, flag));
        match heading {
            Some(heading) => argument.help_heading(heading),
            None => argument,
        }
    });
    command.mut_subcommands(with_headings)
}

fn heading_of(command: &str, flag: &str) -> Option<&'static str> {
    let mut others = OF_COMMANDS.iter();
    let other = others.find(|(of, name, _)| (*of, *name) == (command, flag));
    let usual = || HEADINGS.iter().find(|(_, flags)| flags.contains(&flag));
    other
        .map(|(_, _, heading)| *heading)
        .or_else(|| usual().map(|(heading, _)| *heading))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::ProgramArguments;

    /// The flags of all commands, with the commands that have them.
    fn flags(command: &Command, all: &mut BTreeMap<String, Vec<String>>) {
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        for flag in shown.filter_map(clap::Arg::get_long) {
            let commands = all.entry(flag.to_owned()).or_default();
            commands.push(command.get_name().to_owned());
        }
        command.get_subcommands().for_each(|below| flags(below, all));
    }

    #[test]
    fn what_several_commands_have_stands_under_a_heading() {
        let mut all = BTreeMap::new();
        flags(&ProgramArguments::command(), &mut all);
        for (flag, commands) in &all {
            let is_alone = commands.len() == 1;
            assert!(
                is_alone || heading_of("", flag).is_some(),
                "--{flag} of {commands:?}"
            );
        }
        let named = HEADINGS.iter().flat_map(|(_, flags)| flags.iter());
        for flag in named {
            // A client of clusters is a feature.
            let is_of_client = [
                "follow",
                "cluster-objects",
                "chunk-size",
                "kube-api-qps",
                "kube-api-burst",
                "request-timeout",
                "cluster",
                "kubeconfig",
                "context",
                "connect",
                "apply",
                "webhook-ca-from",
            ]
            .contains(flag);
            assert!(all.contains_key(*flag) || is_of_client, "no command has --{flag}");
        }
        assert_eq!(heading_of("impact", "old"), Some("Policies"));
        assert_eq!(heading_of("review", "old"), Some("Requests"));
        assert_eq!(heading_of("review", "no-project-file"), Some("Project file"));
        assert_eq!(heading_of("serve", "webhook-url"), Some("Webhook configuration"));
    }

    #[test]
    fn no_flag_stands_under_another_ones_heading() {
        let mut command = with_headings(ProgramArguments::command());
        command.build();
        for section in command.get_subcommands() {
            let mut arguments = section
                .get_arguments()
                .filter(|argument| !argument.is_global_set());
            assert!(
                arguments.all(|argument| {
                    let heading = argument
                        .get_long()
                        .and_then(|flag| heading_of(section.get_name(), flag));
                    argument.get_help_heading() == heading
                }),
                "{}",
                section.get_name()
            );
        }
    }
}

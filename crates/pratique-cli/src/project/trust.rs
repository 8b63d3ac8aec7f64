//! How far each field of the file is trusted: one table, which the documentation shows.
//!
//! The file may come with a change that nobody has reviewed. No field has a class by default: an argument that is not in the
//! table fails a test, and a file that sets it is refused.

/// Whether a file is trusted as the command line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileTrust {
    /// It may come with a change that nobody has reviewed.
    Untrusted,
    /// The user trusts it.
    Trusted,
}

/// What a field of the file can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustClass {
    /// It says what is read below the directory of the file, or how answers look.
    Harmless,
    /// It can turn a refusal into an approval. It is taken, and told where it may.
    Decides(WeakeningValues),
    /// It connects to other machines, runs programs, or writes: refused unless the file is trusted.
    ReachesOut,
    /// It is harmless, but for values that name a file, as in `sarif=out.sarif`, which is written.
    ReachesOutIfNamed,
}

/// Which values of a field may turn a refusal into an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeakeningValues {
    /// Any but the default.
    AnyChange,
    /// A list that lacks something of the default.
    FewerThanDefault,
    /// A number above the default.
    MoreThanDefault,
    /// One of some values.
    Values(&'static [&'static str]),
}

/// Fields of the same class, for the same reason.
pub(crate) struct TrustRow {
    pub(crate) commands: &'static [&'static str],
    pub(crate) fields: &'static [&'static str],
    pub(crate) class: TrustClass,
    /// What the fields do, for the documentation.
    #[allow(dead_code, reason = "the documentation is made by a test")]
    pub(crate) about: &'static str,
}

/// The class of a field in the section of a command; `None` if the table has none.
pub(crate) fn class_of(command: &str, field: &str) -> Option<TrustClass> {
    TRUST
        .iter()
        .find(|row| row.is_of(command, field))
        .map(|row| row.class)
}

impl TrustRow {
    fn is_of(&self, command: &str, field: &str) -> bool {
        self.commands.contains(&command) && self.fields.contains(&field)
    }
}

/// The class of each field of each command.
pub(crate) const TRUST: &[TrustRow] = &[
    harmless(
        &["check"],
        &["paths"],
        "policies to check; files that an AdmissionConfiguration names have to be below the directory, too",
    ),
    harmless(
        &[
            "review", "replay", "scan", "serve", "snapshot", "impact", "upgrade",
        ],
        &["policies"],
        "policies that are evaluated",
    ),
    harmless(
        &["review", "replay", "scan", "serve", "upgrade"],
        &["manifests", "level"],
        "policies that are evaluated",
    ),
    harmless(&["impact"], &["old", "new"], "policies that are compared"),
    harmless(&["test"], &["paths"], "suites that run"),
    harmless(
        &["review", "scan", "impact", "upgrade"],
        &["inputs"],
        "objects and requests that are evaluated",
    ),
    harmless(&["replay"], &["logs"], "requests that are evaluated"),
    harmless(
        &["review", "replay", "scan", "impact", "upgrade"],
        &["objects"],
        "state of the cluster",
    ),
    harmless(&["review"], &["namespaceObject"], "state of the cluster"),
    harmless(&["serve"], &["clusterObjects"], "state of the cluster"),
    harmless(
        &["check"],
        &["root"],
        "the directory that stands for the root of a machine",
    ),
    TrustRow {
        commands: &["check", "review", "test", "replay", "impact", "upgrade", "scan"],
        fields: &["output"],
        class: TrustClass::ReachesOutIfNamed,
        about: "how the answer is printed, and to which files it is written",
    },
    harmless(
        &["review", "scan", "impact", "upgrade"],
        &["stdinFilename"],
        "where findings about standard input are told to be",
    ),
    harmless(&["check"], &["explainCost"], "how the answer is printed"),
    harmless(
        &["review"],
        &["explain", "quiet", "summary", "all"],
        "how the answer is printed",
    ),
    harmless(&["impact"], &["explain"], "how the answer is printed"),
    harmless(&["replay"], &["summary", "all"], "how the answer is printed"),
    harmless(
        &["check", "review", "replay", "impact", "upgrade", "scan", "test"],
        &["verbose"],
        "how the answer is printed",
    ),
    harmless(&["test"], &["coverage"], "how the answer is printed"),
    harmless(&["check", "test"], &["deny"], "warnings that fail the command"),
    harmless(
        &["test"],
        &["coverageThreshold"],
        "coverage below which the command fails",
    ),
    harmless(
        &["review", "scan", "impact", "upgrade"],
        &["podTemplate"],
        "what is evaluated besides the inputs",
    ),
    harmless(
        &["review", "replay", "impact", "upgrade", "scan"],
        &["maxInput"],
        "bounds of what is read: what exceeds them is an error",
    ),
    harmless(
        &["replay", "impact", "scan"],
        &["checkpointInterval"],
        "how often a checkpoint is written, if there is one",
    ),
    harmless(
        &["impact", "upgrade", "scan"],
        &["chunkSize", "kubeApiQps", "kubeApiBurst", "requestTimeout"],
        "how fast a cluster is read, if one is named",
    ),
    harmless(
        &["serve"],
        &["auditLevel", "recordMaxSize", "recordSample"],
        "how much is recorded, if it is",
    ),
    harmless(
        &["serve"],
        &[
            "logLevel",
            "loggingFormat",
            "identity",
            "noStatusPage",
            "protectMetrics",
        ],
        "what the server tells of itself",
    ),
    harmless(
        &["serve"],
        &["drainGrace", "shutdownDelayDuration"],
        "how the server ends",
    ),
    decides(
        &["check", "test"],
        &["allow", "warn"],
        WeakeningValues::AnyChange,
        "warnings that are not reported, or fail the command no more",
    ),
    decides(
        &["review", "replay", "impact", "upgrade", "scan"],
        &["failOn"],
        WeakeningValues::FewerThanDefault,
        "what the command fails for",
    ),
    decides(
        &["impact"],
        &["maxNewRefusals"],
        WeakeningValues::MoreThanDefault,
        "what the command fails for",
    ),
    decides(
        &["check"],
        &["hashOnly"],
        WeakeningValues::AnyChange,
        "whether warnings are looked for",
    ),
    decides(
        &["check", "review", "replay", "upgrade", "scan", "serve"],
        &["plugin"],
        WeakeningValues::AnyChange,
        "what manifests are taken for",
    ),
    decides(
        &[
            "check", "review", "replay", "impact", "upgrade", "scan", "serve", "snapshot",
        ],
        &["origin"],
        WeakeningValues::AnyChange,
        "what manifests are taken for",
    ),
    decides(
        &[
            "check", "review", "replay", "impact", "upgrade", "scan", "test", "serve", "snapshot", "lsp",
        ],
        &["featureGates"],
        WeakeningValues::AnyChange,
        "which features the API server has",
    ),
    decides(
        &[
            "check", "review", "replay", "impact", "scan", "test", "serve", "snapshot", "lsp",
        ],
        &["kubernetesVersion"],
        WeakeningValues::AnyChange,
        "which release the API server is of",
    ),
    decides(
        &["upgrade"],
        &["from", "to"],
        WeakeningValues::AnyChange,
        "which releases are compared",
    ),
    decides(
        &["check", "review", "scan", "snapshot"],
        &["enableAdmissionPlugins", "disableAdmissionPlugins"],
        WeakeningValues::AnyChange,
        "which plugins the API server runs",
    ),
    decides(
        &["serve"],
        &["plugins"],
        WeakeningValues::AnyChange,
        "which plugins the API server runs",
    ),
    decides(
        &["review", "scan"],
        &["chain", "defaults"],
        WeakeningValues::Values(&["off", "false"]),
        "how much of what an API server does is done",
    ),
    decides(
        &["review", "replay", "scan", "impact", "upgrade"],
        &["validation"],
        WeakeningValues::Values(&["off", "false"]),
        "whether the API server's own validation refuses objects",
    ),
    decides(
        &["review", "scan", "impact", "upgrade"],
        &["expand"],
        WeakeningValues::Values(&["off", "false"]),
        "whether the Pods of workloads are evaluated",
    ),
    decides(
        &["review", "scan"],
        &["fieldValidation"],
        WeakeningValues::Values(&["Warn", "Ignore"]),
        "whether unknown fields are refused",
    ),
    decides(
        &["review"],
        &[
            "defaultNotReadyTolerationSeconds",
            "defaultUnreachableTolerationSeconds",
        ],
        WeakeningValues::AnyChange,
        "what objects get from plugins",
    ),
    decides(
        &["review"],
        &["inputPolicies"],
        WeakeningValues::AnyChange,
        "whether policies among the inputs are evaluated, which can change objects before others see them",
    ),
    decides(
        &["review", "replay", "impact", "upgrade", "scan", "test"],
        &["bind"],
        WeakeningValues::AnyChange,
        "whether policies without a binding are evaluated",
    ),
    decides(
        &["review", "impact", "upgrade", "scan"],
        &["as", "asGroup", "asUid", "asUserExtra"],
        WeakeningValues::AnyChange,
        "who sends the requests",
    ),
    decides(
        &["review", "impact", "upgrade", "scan"],
        &["namespace"],
        WeakeningValues::AnyChange,
        "which requests are made of objects",
    ),
    decides(
        &["review"],
        &[
            "operation",
            "old",
            "since",
            "name",
            "resource",
            "subresource",
            "dryRun",
        ],
        WeakeningValues::AnyChange,
        "which requests are made of objects",
    ),
    decides(
        &["scan"],
        &["asUpdate"],
        WeakeningValues::AnyChange,
        "which requests are made of objects",
    ),
    decides(
        &["replay", "impact", "upgrade"],
        &["remember"],
        WeakeningValues::AnyChange,
        "which requests are made of events",
    ),
    decides(
        &["review", "replay", "impact", "upgrade", "scan"],
        &["objectsComplete", "authorizer"],
        WeakeningValues::AnyChange,
        "what is known of the cluster",
    ),
    decides(
        &["review", "scan", "replay", "impact"],
        &["exceptions", "baseline"],
        WeakeningValues::AnyChange,
        "which findings are accepted",
    ),
    decides(
        &["review", "replay", "impact", "upgrade", "scan"],
        &["none"],
        WeakeningValues::AnyChange,
        "what is known of the cluster",
    ),
    decides(
        &["impact"],
        &["oldRev", "newRev"],
        WeakeningValues::AnyChange,
        "which policies are compared",
    ),
    decides(
        &[
            "check", "review", "replay", "impact", "upgrade", "scan", "test", "serve", "snapshot",
        ],
        &["exclude"],
        WeakeningValues::AnyChange,
        "which files are passed over",
    ),
    decides(
        &["scan"],
        &["shard"],
        WeakeningValues::AnyChange,
        "which part of the inputs is evaluated",
    ),
    decides(
        &["test"],
        &["filter"],
        WeakeningValues::AnyChange,
        "which tests run",
    ),
    decides(
        &["test"],
        &["watch"],
        WeakeningValues::AnyChange,
        "whether the command ends with an answer",
    ),
    decides(
        &["serve"],
        &["countAnonymousReviews"],
        WeakeningValues::AnyChange,
        "whose requests plugins count",
    ),
    decides(
        &["serve"],
        &["printWebhookConfiguration"],
        WeakeningValues::AnyChange,
        "whether anything is served",
    ),
    decides(
        &["serve"],
        &["exemptNamespace", "exemptNamespaceLabel"],
        WeakeningValues::AnyChange,
        "which requests an API server sends",
    ),
    decides(
        &["serve"],
        &["callBreaker", "callBudget", "callCoolDown", "callsAtOnce"],
        WeakeningValues::AnyChange,
        "when a webhook's `failurePolicy` applies",
    ),
    decides(
        &["serve"],
        &[
            "maxBody",
            "maxConnections",
            "maxLoadMemory",
            "maxMemory",
            "maxRequestsInflight",
        ],
        WeakeningValues::AnyChange,
        "which requests are refused unread: an API server may then admit them",
    ),
    decides(
        &["snapshot"],
        &["as", "asGroup"],
        WeakeningValues::AnyChange,
        "what a snapshot knows of users",
    ),
    reaches_out(
        &[
            "check", "review", "replay", "impact", "upgrade", "scan", "test", "serve", "snapshot",
        ],
        &["cluster", "kubeconfig", "context"],
        "connects to a cluster, with the credentials of a kubeconfig",
    ),
    reaches_out(&["serve"], &["follow"], "connects to a cluster"),
    reaches_out(
        &["review", "replay", "impact", "upgrade", "scan", "test"],
        &["snapshot"],
        "takes the place of a cluster: its state, and its policies",
    ),
    reaches_out(
        &["review", "replay", "upgrade", "scan", "serve"],
        &["admissionControlConfigFile"],
        "names files anywhere, among them kubeconfigs",
    ),
    reaches_out(&["check"], &["connect"], "sends reviews to webhooks"),
    reaches_out(&["review"], &["webhooks"], "sends reviews to webhooks"),
    reaches_out(&["scan"], &["apply"], "writes to a cluster"),
    reaches_out(
        &["replay", "impact", "scan"],
        &["report", "checkpoint"],
        "writes a file, or to a store",
    ),
    reaches_out(&["upgrade"], &["report"], "writes a file, or to a store"),
    reaches_out(&["replay", "scan"], &["results"], "writes a file, or to a store"),
    reaches_out(&["review"], &["outputDir"], "writes files"),
    reaches_out(
        &["review"],
        &["render", "helmValues"],
        "runs Helm or Kustomize, which read and fetch what sources name",
    ),
    reaches_out(
        &["review", "scan", "replay", "impact"],
        &["writeBaseline"],
        "writes a file, or to a store",
    ),
    reaches_out(&["scan"], &["metricsFile"], "writes a file, or to a store"),
    reaches_out(&["test"], &["init", "update"], "writes suites"),
    reaches_out(
        &["test"],
        &["allowPath"],
        "lets suites name files outside of the repository",
    ),
    reaches_out(
        &["snapshot"],
        &["directory", "force", "nodes", "pods", "secrets", "pluginObjects"],
        "writes what a cluster has",
    ),
    reaches_out(
        &["serve"],
        &["auditLogPath", "auditSecrets", "record"],
        "writes what requests have to a file",
    ),
    reaches_out(
        &["serve"],
        &["listen", "healthListen", "plainHttp", "statusPageHosts"],
        "opens a port, or opens it to others",
    ),
    reaches_out(
        &["serve"],
        &["tlsCertFile", "tlsPrivateKeyFile", "clientCaFile"],
        "says by whose keys clients and the server know each other",
    ),
    reaches_out(
        &["serve"],
        &["followPlainHttpRedirects"],
        "sends reviews unencrypted",
    ),
    reaches_out(
        &["serve"],
        &[
            "webhookCa",
            "webhookCaFrom",
            "webhookName",
            "webhookService",
            "webhookTimeout",
            "webhookUrl",
        ],
        "says where an API server sends its requests",
    ),
];

const fn harmless(
    commands: &'static [&'static str],
    fields: &'static [&'static str],
    about: &'static str,
) -> TrustRow {
    TrustRow {
        commands,
        fields,
        class: TrustClass::Harmless,
        about,
    }
}

const fn decides(
    commands: &'static [&'static str],
    fields: &'static [&'static str],
    weakening: WeakeningValues,
    about: &'static str,
) -> TrustRow {
    TrustRow {
        commands,
        fields,
        class: TrustClass::Decides(weakening),
        about,
    }
}

const fn reaches_out(
    commands: &'static [&'static str],
    fields: &'static [&'static str],
    about: &'static str,
) -> TrustRow {
    TrustRow {
        commands,
        fields,
        class: TrustClass::ReachesOut,
        about,
    }
}

#[cfg(test)]
#[cfg(feature = "kube")]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use clap::CommandFactory as _;

    use super::super::shape::{COMMANDS, COMMON, arguments, field_name};
    use super::*;
    use crate::arguments::ProgramArguments;

    /// Each field of each section, by the arguments of the commands.
    fn all_fields() -> BTreeSet<(String, String)> {
        let command = ProgramArguments::command();
        let mut fields = BTreeSet::new();
        for name in COMMANDS {
            let section = command.find_subcommand(name).unwrap();
            fields.extend(arguments(section).map(|argument| (name.to_owned(), field_name(argument))));
        }
        fields
    }

    #[test]
    fn each_field_has_one_class() {
        let mut classified: Vec<(String, String)> = Vec::new();
        for row in TRUST {
            for command in row.commands {
                classified.extend(
                    row.fields
                        .iter()
                        .map(|field| ((*command).to_owned(), (*field).to_owned())),
                );
            }
        }
        let count = classified.len();
        let classified: BTreeSet<_> = classified.into_iter().collect();
        assert_eq!(classified.len(), count, "a field has two classes");
        let fields = all_fields();
        let missing: Vec<_> = fields.difference(&classified).collect();
        assert!(missing.is_empty(), "fields without a class of trust: {missing:?}");
        let unknown: Vec<_> = classified.difference(&fields).collect();
        assert!(unknown.is_empty(), "fields that there are not: {unknown:?}");
    }

    #[test]
    fn common_fields_have_one_class_in_all_commands() {
        let command = ProgramArguments::command();
        for common in COMMON {
            let classes: Vec<_> = common
                .arguments
                .iter()
                .map(|(name, id)| {
                    let section = command.find_subcommand(name).unwrap();
                    let argument = section
                        .get_arguments()
                        .find(|argument| argument.get_id() == id)
                        .unwrap();
                    class_of(name, &field_name(argument)).unwrap()
                })
                .collect();
            assert!(
                classes.windows(2).all(|pair| pair[0] == pair[1]),
                "{}",
                common.name
            );
        }
    }

    /// The table of the documentation.
    fn documented() -> String {
        let codes = |names: &[&str]| {
            let codes: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            codes.join(", ")
        };
        let mut text = "| class | fields | of | what they say |\n|---|---|---|---|\n".to_owned();
        for row in TRUST {
            let class = match row.class {
                TrustClass::Harmless => "harmless".to_owned(),
                TrustClass::ReachesOut => "reaches out".to_owned(),
                TrustClass::ReachesOutIfNamed => "harmless; reaches out if it names a file".to_owned(),
                TrustClass::Decides(WeakeningValues::AnyChange) => "decides: told if set".to_owned(),
                TrustClass::Decides(WeakeningValues::FewerThanDefault) => {
                    "decides: told if it lacks something of the default".to_owned()
                }
                TrustClass::Decides(WeakeningValues::MoreThanDefault) => {
                    "decides: told if more than the default".to_owned()
                }
                TrustClass::Decides(WeakeningValues::Values(values)) => {
                    format!("decides: told if {}", values.join(" or "))
                }
            };
            text += &format!(
                "| {class} | {} | {} | {} |\n",
                codes(row.fields),
                codes(row.commands),
                row.about
            );
        }
        text
    }

    #[test]
    fn the_documentation_shows_the_table() {
        const START: &str = "<!-- classes of trust -->\n";
        const END: &str = "<!-- end of the classes of trust -->\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(START).unwrap();
        let (table, after) = rest.split_once(END).unwrap();
        let expected = documented();
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, format!("{before}{START}{expected}{END}{after}")).unwrap();
            return;
        }
        assert!(
            table == expected,
            "the table of docs/configuration.md is stale: BLESS=1 writes it"
        );
    }
}

//! The JSON output of a check.

use pratique_lint::ExpressionCost;
use pratique_manifest::{Location, ManifestPlugin, ObjectName, StartedPlugin};
use pratique_review::sorted::Group;
use serde::Serialize;

use super::checked::Checked;
use super::connect::Connection;
use super::levels::Levels;
use super::loaded::{Loaded, LoadedObject};
use crate::input::sources::JsonSource;
use crate::output::finding::Severity;
use crate::output::notice::Notice;
use crate::output::problems::JsonProblem;

/// The whole output.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    results: Vec<PathResult<'a>>,
    /// Warnings about files.
    #[serde(skip_serializing_if = "<[Notice]>::is_empty")]
    notices: &'a [Notice],
}

/// The output for one path.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PathResult<'a> {
    path: &'a str,
    /// The paths, if several were checked together.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<&'a [String]>,
    valid: bool,
    /// The error that the server reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<JsonProblem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<JsonProblem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<PluginResult<'a>>,
    /// Plugins that are not for policies or webhooks, and have a configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    configured: Vec<Configured<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expressions: Vec<Expression<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<Webhook<'a>>,
    /// Files that are no objects of the API.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_evaluated: Vec<JsonSource<'a>>,
}

/// A plugin whose configuration is valid, and the file that has it.
#[derive(Serialize)]
struct Configured<'a> {
    plugin: &'a str,
    file: &'a str,
}

/// A webhook that was probed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Webhook<'a> {
    configuration: &'a str,
    name: &'a str,
    url: &'a str,
    answers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<JsonCertificate<'a>>,
}

/// The fields of its certificate.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonCertificate<'a> {
    subject: &'a str,
    names: &'a [String],
    addresses: &'a [std::net::IpAddr],
    expires: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PluginResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'static str>,
    /// For objects of the API, which no plugin loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    static_manifests_dir: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
    objects: &'a [LoadedObject],
}

/// The type, the inputs and the estimated cost of an expression.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Expression<'a> {
    object: &'a ObjectName,
    field: &'a str,
    location: &'a Location,
    text: &'a str,
    result: String,
    min_cost: u64,
    max_cost: u64,
    cost_limit: u64,
    /// The size of the objects for which the cost is estimated, in bytes.
    object_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_kind: Option<String>,
    variables: Vec<&'a str>,
    reads: Vec<&'a str>,
    calls: Vec<&'a str>,
}

impl<'a> Report<'a> {
    pub(super) fn new(checked: &'a [Checked], notices: &'a [Notice], levels: &Levels<'_>) -> Self {
        Report {
            notices,
            results: checked
                .iter()
                .map(|checked| PathResult::new(checked, levels))
                .collect(),
        }
    }
}

impl<'a> PathResult<'a> {
    fn new(checked: &'a Checked, levels: &Levels<'_>) -> Self {
        let refusal = checked.loaded.as_ref().err();
        let findings = checked.findings(levels);
        let (problems, warnings): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| finding.severity == Severity::Error);
        let plugins = checked.loaded.as_deref().unwrap_or_default();
        PathResult {
            path: &checked.path,
            paths: Some(checked.paths.as_slice()).filter(|paths| paths.len() > 1),
            valid: checked.loaded.is_ok(),
            error: refusal.map(|refusal| refusal.errors.to_string()),
            exit_code: refusal.map(|refusal| refusal.exit_code),
            problems: problems.into_iter().map(JsonProblem::from).collect(),
            warnings: warnings.into_iter().map(JsonProblem::from).collect(),
            plugins: plugins.iter().map(PluginResult::from).collect(),
            configured: checked.started.iter().map(Configured::from).collect(),
            expressions: checked.costs.iter().map(Expression::from).collect(),
            webhooks: checked.connections.iter().map(Webhook::from).collect(),
            not_evaluated: checked.sources.iter().map(JsonSource::from).collect(),
        }
    }
}

impl<'a> From<&'a StartedPlugin> for Configured<'a> {
    fn from(started: &'a StartedPlugin) -> Self {
        Configured {
            plugin: &started.name,
            file: &started.path,
        }
    }
}

impl<'a> From<&'a Connection> for Webhook<'a> {
    fn from(connection: &'a Connection) -> Self {
        let probed = &connection.probed;
        let certificate = probed.certificate.as_ref().map(|certificate| JsonCertificate {
            subject: &certificate.subject,
            names: &certificate.names,
            addresses: &certificate.addresses,
            expires: certificate.expires(),
        });
        Webhook {
            configuration: connection.configuration(),
            name: &probed.webhook,
            url: &probed.url,
            answers: connection.is_ok(),
            error: probed.answered.as_ref().err().map(String::as_str),
            milliseconds: probed.answered.as_ref().ok().map(std::time::Duration::as_millis),
            certificate,
        }
    }
}

impl<'a> From<&'a Loaded> for PluginResult<'a> {
    fn from(loaded: &'a Loaded) -> Self {
        PluginResult {
            plugin: loaded.group.plugin().map(ManifestPlugin::name),
            origin: (loaded.group == Group::Api).then_some("api"),
            static_manifests_dir: loaded.directory.as_deref(),
            hash: (loaded.group != Group::Api).then_some(loaded.manifests.hash.as_str()),
            objects: &loaded.objects,
        }
    }
}

impl<'a> From<&'a ExpressionCost> for Expression<'a> {
    fn from(cost: &'a ExpressionCost) -> Self {
        Expression {
            object: &cost.object,
            field: &cost.field,
            location: &cost.location,
            text: &cost.text,
            result: cost.usage.result.to_string(),
            min_cost: cost.usage.cost.min,
            max_cost: cost.usage.cost.max,
            cost_limit: ExpressionCost::LIMIT,
            object_size: ExpressionCost::LARGE,
            for_kind: cost.kind.as_ref().map(ToString::to_string),
            variables: cost.usage.variables.iter().map(String::as_str).collect(),
            reads: cost.usage.paths.iter().map(String::as_str).collect(),
            calls: cost.usage.functions.iter().map(String::as_str).collect(),
        }
    }
}

//! The JSON output of a check.

use pratique_lint::ExpressionCost;
use pratique_manifest::{Location, ManifestPlugin, ObjectName, StartedPlugin};
use pratique_review::sorted_objects::ObjectGroup;
use pratique_schema::FeatureGates;
use serde::Serialize;

use super::checked_path::CheckedPath;
use super::connect::ProbedWebhook;
use super::levels::WarningLevels;
use super::loaded_plugin::{LoadedObject, LoadedPlugin};
use crate::input::sources::JsonSource;
use crate::output::finding::FindingSeverity;
use crate::output::notice::InputNotice;
use crate::output::problems::JsonProblem;

/// The whole output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckReport<'a> {
    /// The release of the server.
    kubernetes_version: String,
    results: Vec<PathResult<'a>>,
    /// Warnings about files.
    #[serde(skip_serializing_if = "<[InputNotice]>::is_empty")]
    notices: &'a [InputNotice],
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
    configured: Vec<ConfiguredPlugin<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expressions: Vec<ExpressionReport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<WebhookProbe<'a>>,
    /// Files that are no objects of the API.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_evaluated: Vec<JsonSource<'a>>,
}

/// A plugin whose configuration is valid, and the file that has it.
#[derive(Serialize)]
struct ConfiguredPlugin<'a> {
    plugin: &'a str,
    file: &'a str,
}

/// A webhook that was probed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebhookProbe<'a> {
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
struct ExpressionReport<'a> {
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

impl<'a> CheckReport<'a> {
    pub(super) fn new(
        checked: &'a [CheckedPath],
        gates: FeatureGates,
        notices: &'a [InputNotice],
        levels: &WarningLevels<'_>,
    ) -> Self {
        CheckReport {
            kubernetes_version: gates.release().to_string(),
            notices,
            results: checked
                .iter()
                .map(|checked| PathResult::new(checked, levels))
                .collect(),
        }
    }
}

impl<'a> PathResult<'a> {
    fn new(checked: &'a CheckedPath, levels: &WarningLevels<'_>) -> Self {
        let refusal = checked.loaded.as_ref().err();
        let findings = checked.findings(levels);
        let (problems, warnings): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| finding.severity == FindingSeverity::Error);
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
            configured: checked.started.iter().map(ConfiguredPlugin::from).collect(),
            expressions: checked.costs.iter().map(ExpressionReport::from).collect(),
            webhooks: checked.connections.iter().map(WebhookProbe::from).collect(),
            not_evaluated: checked.sources.iter().map(JsonSource::from).collect(),
        }
    }
}

impl<'a> From<&'a StartedPlugin> for ConfiguredPlugin<'a> {
    fn from(started: &'a StartedPlugin) -> Self {
        ConfiguredPlugin {
            plugin: &started.name,
            file: &started.path,
        }
    }
}

impl<'a> From<&'a ProbedWebhook> for WebhookProbe<'a> {
    fn from(connection: &'a ProbedWebhook) -> Self {
        let probed = &connection.probed;
        let certificate = probed.certificate.as_ref().map(|certificate| JsonCertificate {
            subject: &certificate.subject,
            names: &certificate.names,
            addresses: &certificate.addresses,
            expires: certificate.expires(),
        });
        WebhookProbe {
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

impl<'a> From<&'a LoadedPlugin> for PluginResult<'a> {
    fn from(loaded: &'a LoadedPlugin) -> Self {
        PluginResult {
            plugin: loaded.group.plugin().map(ManifestPlugin::name),
            origin: (loaded.group == ObjectGroup::Api).then_some("api"),
            static_manifests_dir: loaded.directory.as_deref(),
            hash: (loaded.group != ObjectGroup::Api).then_some(loaded.manifests.hash.as_str()),
            objects: &loaded.objects,
        }
    }
}

impl<'a> From<&'a ExpressionCost> for ExpressionReport<'a> {
    fn from(cost: &'a ExpressionCost) -> Self {
        ExpressionReport {
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

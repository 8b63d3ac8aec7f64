//! One plugin of an AdmissionConfiguration: its configuration, what it names, and its manifests.

use pratique_gotext::strconv::quote;
use pratique_schema::Release;
use pratique_types::KubeConfig;
use pratique_types::configuration::{StaticOrder, WebhookAdmissionConfiguration};

use super::kubeconfig::load_below;
use super::open::{OpenedConfiguration, whole_file};
use super::root::FileRoot;
use super::typed_configuration::{FieldStrictness, decode_value};
use super::{ConfigurationOptions, PluginConfiguration, StartupFailure, source};
use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::decode::failures;
use crate::decode::registry;
use crate::load::loader::Loader;
use crate::load::set::ManifestSet;
use crate::parse::{ParsedContent, parse};
use crate::plugin::ManifestPlugin;
use crate::problem::{Failure, Problem, Rule};
use crate::read::directory;
use crate::tree::{NodeId, PathStep};

/// The configuration of a plugin.
#[derive(Default)]
struct ConfiguredSettings {
    static_manifests_dir: String,
    /// As it is written.
    written_order: String,
    static_order: StaticOrder,
    kube_config_file: String,
    kube_config: Option<KubeConfig>,
}

/// The value that configures a plugin.
struct ConfigurationValue<'a> {
    parsed: &'a ParsedContent,
    root: NodeId,
}

/// Loads the files that a plugin's configuration names; none if there are none. Absolute paths begin at the root.
pub(super) fn load(
    plugin: ManifestPlugin,
    opened: &OpenedConfiguration,
    options: &ConfigurationOptions<'_>,
    root: FileRoot<'_>,
) -> Result<Option<PluginConfiguration>, Vec<StartupFailure>> {
    let release = options.feature_gates.release();
    // Upstream: plugin/policy/{mutating,validating}/plugin.go, NewPlugin, which read nothing before 1.36.
    if plugin.is_policy() && !release.at_least(1, 36) {
        return Ok(None);
    }
    let separate_file;
    let source = match source::find(plugin.name(), opened, root).map_err(|failure| vec![failure])? {
        None => return Ok(None),
        Some(source::ConfigurationSource::Embedded(parsed, root)) => ConfigurationValue { parsed, root },
        Some(source::ConfigurationSource::File(path, text)) => {
            separate_file = parse(whole_file(&path, text), &Budget::new(DEFAULT_LOAD_BYTES), release)
                .map_err(|failure| vec![refused(plugin, *failure).into()])?;
            ConfigurationValue {
                parsed: &separate_file,
                root: separate_file.root,
            }
        }
    };
    let settings =
        settings(plugin, &source, options, root).map_err(|failure| vec![refused(plugin, failure).into()])?;
    start(plugin, settings, options)
}

fn refused(plugin: ManifestPlugin, failure: Failure) -> Failure {
    failure.prefixed(&format!(
        "couldn't init admission plugin {}: ",
        quote(plugin.name())
    ))
}

fn settings(
    plugin: ManifestPlugin,
    source: &ConfigurationValue<'_>,
    options: &ConfigurationOptions<'_>,
    root: FileRoot<'_>,
) -> Result<ConfiguredSettings, Failure> {
    let release = options.feature_gates.release();
    let mut settings = decoded(plugin, source, release)?;
    let kube_config = &settings.kube_config_file;
    // Upstream: since 1.36, a configuration may have manifests alone.
    let may_be_empty = release.at_least(1, 36);
    if !(kube_config.starts_with('/') || kube_config.is_empty() && may_be_empty) {
        return Err(invalid(
            source,
            "kubeConfigFile",
            kube_config,
            "must be an absolute file path",
        ));
    }
    settings.kube_config_file = root.find(kube_config);
    settings.static_manifests_dir = check_directory(source, &settings.static_manifests_dir, options, root)?;
    settings.static_order = check_order(plugin, source, &settings, options)?;
    settings.kube_config = load_below(root, &settings.kube_config_file, release)
        .map_err(|error| at_field(source, "kubeConfigFile", error.to_string()))?;
    Ok(settings)
}

const GROUP: &str = "apiserver.config.k8s.io";

/// The kinds of configurations, the types of their fields, and the plugins that they are for.
const KINDS: [(&str, &str, &[ManifestPlugin]); 3] = [
    (
        "ValidatingAdmissionPolicyConfiguration",
        "policyconfig/v1.ValidatingAdmissionPolicyConfiguration",
        &[ManifestPlugin::ValidatingAdmissionPolicy],
    ),
    (
        "MutatingAdmissionPolicyConfiguration",
        "policyconfig/v1.MutatingAdmissionPolicyConfiguration",
        &[ManifestPlugin::MutatingAdmissionPolicy],
    ),
    (
        "WebhookAdmissionConfiguration",
        "webhookadmission/v1.WebhookAdmission",
        &[
            ManifestPlugin::ValidatingAdmissionWebhook,
            ManifestPlugin::MutatingAdmissionWebhook,
        ],
    ),
];

/// Whether a release knows configurations of a version.
// Upstream: plugin/webhook/config/apis/webhookadmission, whose v1alpha1 is gone since 1.36
fn is_version(version: &str, release: &Release) -> bool {
    version == "v1" || (version == "v1alpha1" && !release.at_least(1, 36))
}

/// The fields of a configuration. The plugins for policies know the kinds of each other, and so do those for webhooks.
fn decoded(
    plugin: ManifestPlugin,
    source: &ConfigurationValue<'_>,
    release: &'static Release,
) -> Result<ConfiguredSettings, Failure> {
    let ConfigurationValue { parsed, root } = source;
    let document_kind = failures::kind_of(parsed, *root, release)?;
    let kind = KINDS.iter().find(|(kind, _, owners)| {
        let is_registered = owners.iter().any(|owner| owner.is_policy() == plugin.is_policy());
        is_registered
            && document_kind.group == GROUP
            && is_version(&document_kind.version, release)
            && document_kind.kind == *kind
    });
    let Some((_, type_name, owners)) = kind else {
        let text = registry::not_registered(&document_kind, release);
        return Err(failures::unsupported(parsed, *root, text, release));
    };
    // Policies have one of these fields.
    // Upstream: plugin/webhook/config/kubeconfig.go, whose codec is strict since 1.36.
    let strictness = if release.at_least(1, 36) {
        FieldStrictness::Strict
    } else {
        FieldStrictness::Lenient
    };
    let value = decode_value(parsed, *root, (release, type_name), strictness)?;
    // The types are the schema's, so nothing is lost.
    let mut decoded: WebhookAdmissionConfiguration = serde_json::from_value(value).unwrap_or_default();
    // There was no such field before 1.36, and those that are not known were passed over.
    if !release.at_least(1, 36) {
        decoded.static_manifests_dir.clear();
    }
    if !owners.contains(&plugin) {
        let text = format!("unexpected type: *policyconfig.{}", document_kind.kind);
        return Err(failures::unsupported(parsed, *root, text, release));
    }
    Ok(ConfiguredSettings {
        static_manifests_dir: decoded.static_manifests_dir,
        written_order: decoded.static_order,
        static_order: StaticOrder::default(),
        kube_config_file: decoded.kube_config_file,
        kube_config: None,
    })
}

// Upstream: apiserver/pkg/admission/plugin/manifest/validation.go, ValidateStaticManifestsDir
fn check_directory(
    source: &ConfigurationValue<'_>,
    path: &str,
    options: &ConfigurationOptions<'_>,
    root: FileRoot<'_>,
) -> Result<String, Failure> {
    const FIELD: &str = "staticManifestsDir";
    if path.is_empty() {
        return Ok(String::new());
    }
    if !options.feature_gates.reads_manifests() {
        let text = "staticManifestsDir: Forbidden: staticManifestsDir requires the \
            ManifestBasedAdmissionControlConfig feature gate to be enabled";
        return Err(at_field(source, FIELD, text.to_owned()));
    }
    if !path.starts_with('/') {
        return Err(invalid(source, FIELD, path, "must be an absolute file path"));
    }
    let full_path = root.find(path);
    let permitted = root.permit_directory(&full_path);
    match permitted.and_then(|()| directory::is_directory(&full_path)) {
        Ok(true) => Ok(full_path),
        Ok(false) => Err(invalid(source, FIELD, &full_path, "must be a directory")),
        Err(reason) => Err(invalid(
            source,
            FIELD,
            &full_path,
            &format!("unable to read: {reason}"),
        )),
    }
}

// Upstream: apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go, validateStaticOrder, and NewValidatingAdmissionWebhook
fn check_order(
    plugin: ManifestPlugin,
    source: &ConfigurationValue<'_>,
    settings: &ConfiguredSettings,
    options: &ConfigurationOptions<'_>,
) -> Result<StaticOrder, Failure> {
    const FIELD: &str = "staticOrder";
    let written = settings.written_order.as_str();
    if written.is_empty() {
        return Ok(StaticOrder::default());
    }
    if !options.feature_gates.reads_manifests() {
        let text = "staticOrder: Forbidden: staticOrder requires the ManifestBasedAdmissionControlConfig feature gate \
            to be enabled";
        return Err(at_field(source, FIELD, text.to_owned()));
    }
    let Some(order) = StaticOrder::parse(written) else {
        let supported = StaticOrder::ALL.map(|order| quote(order.as_str())).join(", ");
        let text = format!(
            "{FIELD}: Unsupported value: {}: supported values: {supported}",
            quote(written)
        );
        return Err(at_field(source, FIELD, text));
    };
    if settings.static_manifests_dir.is_empty() {
        let detail = "may only be set when staticManifestsDir is set";
        return Err(invalid(source, FIELD, written, detail));
    }
    if plugin == ManifestPlugin::ValidatingAdmissionWebhook && order != StaticOrder::default() {
        let detail = "only \"StaticFirst\" is supported by ValidatingAdmissionWebhook";
        return Err(invalid(source, FIELD, written, detail));
    }
    Ok(order)
}

fn invalid(source: &ConfigurationValue<'_>, field: &'static str, value: &str, detail: &str) -> Failure {
    at_field(
        source,
        field,
        format!("{field}: Invalid value: {}: {detail}", quote(value)),
    )
}

fn at_field(source: &ConfigurationValue<'_>, field: &'static str, text: String) -> Failure {
    let span = source
        .parsed
        .tree()
        .nearest_span(source.root, &[PathStep::Field(field.to_owned())]);
    let location = source.parsed.document.source.location(span);
    let problem = Problem::new(Rule::Configuration, text);
    problem.at(location).with_field(field).into()
}

/// Loads the files that a plugin's settings name.
fn start(
    plugin: ManifestPlugin,
    settings: ConfiguredSettings,
    options: &ConfigurationOptions<'_>,
) -> Result<Option<PluginConfiguration>, Vec<StartupFailure>> {
    let ConfiguredSettings {
        static_manifests_dir,
        static_order,
        kube_config_file,
        kube_config,
        ..
    } = settings;
    let mut manifests = ManifestSet::default();
    if !static_manifests_dir.is_empty() {
        manifests = Loader::for_plugin(plugin, &options.manifests)
            .load_directory(&static_manifests_dir)
            .map_err(|errors| started(plugin, &static_manifests_dir, errors.into_failures()))?;
    }
    let non_empty = |text: String| (!text.is_empty()).then_some(text);
    let static_manifests_dir = non_empty(static_manifests_dir);
    let kube_config_file = non_empty(kube_config_file);
    let configured = static_manifests_dir.is_some() || kube_config_file.is_some();
    Ok(configured.then_some(PluginConfiguration {
        plugin,
        static_manifests_dir,
        static_order,
        kube_config_file,
        kube_config,
        manifests,
    }))
}

fn started(plugin: ManifestPlugin, path: &str, failures: Vec<Failure>) -> Vec<StartupFailure> {
    let kind = if plugin.is_policy() { "policy" } else { "webhook" };
    let prefix = format!(
        "failed to initialize admission plugin {}: failed to load static {kind} manifests from {}: ",
        quote(plugin.name()),
        quote(path)
    );
    let prefixed = failures.into_iter().map(|failure| failure.prefixed(&prefix));
    prefixed.map(StartupFailure::from).collect()
}

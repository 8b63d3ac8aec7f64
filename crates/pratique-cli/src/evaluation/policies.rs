//! Loads the policies for a review.

use pratique::Admission;
use pratique::expressions::Expressions;
use pratique_manifest::{
    ConfigurationLoader, GivenConfiguration, Loader, ManifestFile, ManifestPlugin, ManifestSet,
    PluginConfiguration,
};
use pratique_policy::Origin;
use pratique_review::chain::ChainSettings;
use pratique_review::{add_sets, bind};
use pratique_schema::FeatureGates;
use pratique_state::PluginState;

use crate::arguments::PolicyArguments;
use crate::baseline::{self, BaselineLevel};
use crate::check::plugin_of;
use crate::evaluation::chain;
use crate::exit::CliError;
use crate::input::{FileSelection, openable, permit_directory};
use crate::output::excerpt::FileTexts;
use crate::policies::{self, LoadFailure, OriginSets};
use crate::snapshot::{StateSource, WebhookUse};

/// The policies that are evaluated.
pub(crate) struct ReviewedPolicies {
    pub(crate) admission: Admission,
    pub(crate) sets: OriginSets,
    /// The level of the Pod Security Standards, if the built-in policies are evaluated.
    pub(crate) builtin: Option<BaselineLevel>,
    /// The server's own plugins, if they were started.
    pub(crate) plugins: Option<StartedPlugins>,
}

/// Plugins that were started.
pub(crate) struct StartedPlugins {
    /// The state of the cluster that they see.
    pub(crate) state: PluginState,
    /// Their configurations, by their names.
    pub(crate) configurations: Vec<(String, GivenConfiguration)>,
}

/// Loads the policies that the arguments name, by default those of a cluster, or else the Pod Security Standards; gives the
/// objects as well.
/// `webhooks` is whether webhooks are called, `bind` whether policies without a binding are evaluated as if bound. With
/// `chain` the server's own plugins are started, and the Pod Security Standards are left to them.
///
/// `of_inputs` are documents of the inputs, if the policies among these are evaluated.
pub(crate) fn load(
    (arguments, files): (&PolicyArguments, &FileSelection),
    input_policies: Option<Vec<ManifestFile>>,
    gates: FeatureGates,
    webhooks: bool,
    bind: bool,
    state: &mut StateSource,
    chain: Option<&ChainSettings>,
) -> Result<ReviewedPolicies, LoadFailure> {
    let mut builder = policies::builder(gates);
    let expressions = builder.expressions();
    let mut of_paths = policies::load(&arguments.paths, files, expressions)?;
    let has_inputs = input_policies.is_some();
    let input_policies = input_policies.unwrap_or_default();
    of_paths.extend(policies::load_files(
        input_policies,
        arguments.paths.origin.origin,
        expressions,
    )?);
    let named = [&arguments.admission_control_config_file, &arguments.manifests];
    let is_named =
        named.iter().any(|path| path.is_some()) || !arguments.paths.policies.is_empty() || has_inputs;
    let of_cluster = if is_named {
        None
    } else {
        state.policies(WebhookUse::called(webhooks))?
    };
    let of_cluster = of_cluster.map(|files| policies::load_of_cluster(files, expressions));
    let config_file = arguments.admission_control_config_file.as_deref();
    let started = chain.map(|chain| chain::start(chain, config_file, gates, expressions));
    let (started, configured) = match started.transpose()? {
        Some(started) => (
            Some((started.plugins, started.given)),
            Some(started.configurations),
        ),
        None => (None, None),
    };
    // PodSecurity is among the plugins.
    let is_other = is_named || of_cluster.is_some() || started.is_some();
    let builtin = (!is_other).then_some(arguments.level);
    let plugins = match (config_file, configured) {
        (Some(_), Some(configured)) => configured,
        (Some(path), None) => configuration(path, gates, expressions)?,
        (None, _) => Vec::new(),
    };
    let mut sets = OriginSets::new();
    for plugin in plugins {
        builder = builder.configured(&plugin);
        sets.push((Origin::Static, plugin.manifests));
    }
    let expressions = builder.expressions();
    match (config_file, &arguments.manifests) {
        (None, Some(path)) => {
            sets.push((Origin::Static, directory(path, arguments.plugin, expressions)?));
        }
        (None, None) if builtin.is_some() => {
            sets.push((Origin::Static, embedded(arguments.level, expressions)?));
        }
        _ => {}
    }
    sets.extend(of_paths);
    sets.extend(of_cluster.transpose()?.into_iter().flatten());
    policies::tell_loaded(&sets, files);
    if builtin.is_none() && policies::has_static(&sets) {
        policies::tell_unread_manifests(gates);
    }
    if bind {
        self::bind(&mut sets);
    }
    let builder = add_sets(builder, sets.iter().cloned());
    let builder = if webhooks { builder.https() } else { builder };
    let (builder, plugins) = match started {
        Some((plugins, configurations)) => {
            let state = PluginState::for_plugins(&plugins).with_gates(gates);
            (
                builder.plugins(plugins),
                Some(StartedPlugins {
                    state,
                    configurations,
                }),
            )
        }
        None => (builder, None),
    };
    let admission = builder.build().map_err(policies::unusable)?;
    Ok(ReviewedPolicies {
        admission,
        sets,
        builtin,
        plugins,
    })
}

fn configuration(
    path: &str,
    gates: FeatureGates,
    expressions: &Expressions,
) -> Result<Vec<PluginConfiguration>, LoadFailure> {
    openable(path)?;
    let loaded = ConfigurationLoader::new(&policies::configuration_options(expressions, gates))
        .load(path)
        .map_err(|refused| refused.errors)?;
    Ok(loaded.plugins)
}

/// The manifests of a directory.
///
/// # Errors
/// They are invalid.
pub(crate) fn directory(
    path: &str,
    plugin: Option<ManifestPlugin>,
    expressions: &Expressions,
) -> Result<ManifestSet, LoadFailure> {
    openable(path)?;
    permit_directory(path).map_err(|error| CliError::unread(path, error))?;
    let plugin = plugin.map_or_else(|| plugin_of(path), Ok)?;
    Ok(Loader::for_plugin(plugin, &expressions.options()).load_directory(path)?)
}

/// The built-in policies of a level.
///
/// # Errors
/// None: they are valid.
pub(crate) fn embedded(level: BaselineLevel, expressions: &Expressions) -> Result<ManifestSet, LoadFailure> {
    let files = baseline::files(level);
    let options = expressions.options();
    Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options)
        .load_files(&files)
        .map_err(|errors| {
            let mut texts = FileTexts::default();
            files
                .iter()
                .for_each(|file| texts.insert(&file.path, &file.content));
            LoadFailure::Invalid { errors, texts }
        })
}

//! The subject of a check, and loading it.

use std::fs;
use std::path::Path;

use pratique::expressions::Expressions;
use pratique_lsp::Findings;
use pratique_manifest::{
    ConfigurationLoader, EnabledPlugins, Loader, ManifestFile, ManifestPlugin, ManifestSet, path_text,
};
use pratique_plugin::PluginSettings;
use pratique_review::chain::PathPermit;
use pratique_review::sorted_objects::{ObjectGroup, SortedPolicies};
use pratique_review::{SourceFile, SourceFiles};
use pratique_schema::FeatureGates;

use super::empty::has_nothing;
use super::loaded_plugin::{LoadedPlugin, LoadedPlugins, StartRefusal};
use super::plugin::{plugin_of, plugins_of};
use super::sorted_input;
use super::whole;
use crate::arguments::AdmissionPluginArguments;
use crate::check::check_error::CheckError;
use crate::exit::CliError;
use crate::input::{FileSelection, STDIN, STDIN_NAME, named_inputs, permit_directory};
use crate::policies::{self, OriginName};
use crate::project::permit_referenced;
use crate::{memory, plugins};

/// The subject that a path refers to.
pub(super) enum CheckSubject {
    /// An AdmissionConfiguration file.
    Configuration(String),
    /// A directory of static manifests.
    Directory(String, ManifestPlugin),
    /// Static manifests of one plugin, in files.
    Manifests(Vec<ManifestFile>, ManifestPlugin),
    /// A file that was loaded when it was read.
    Whole(String, ObjectGroup, ManifestSet),
    /// Objects of any origins and plugins among others, and where they are.
    Sorted(String, SortedPolicies),
    /// The objects of a cluster, and its name.
    OfCluster(String, SortedPolicies),
}

impl CheckSubject {
    /// Inspects a path. A file is an AdmissionConfiguration unless its kind, or the plugin, makes it a manifest.
    /// Names distinguish static manifests from objects of the API, unless an origin is given.
    pub(super) fn inspect(
        path: &Path,
        plugin: Option<ManifestPlugin>,
        origin: Option<OriginName>,
        files: &FileSelection,
        expressions: &Expressions,
    ) -> Result<Self, CliError> {
        if path == Path::new(STDIN) {
            let file = sorted_input::read_file()?;
            return match plugin {
                Some(plugin) => Ok(CheckSubject::Manifests(vec![file], plugin)),
                None => {
                    let sorted = SortedPolicies::of_file(file, origin.map(Into::into));
                    sorted_input::require_manifests(STDIN_NAME, &sorted)?;
                    Ok(CheckSubject::Sorted(STDIN_NAME.to_owned(), sorted))
                }
            };
        }
        let display_path = path_text(path);
        let unreadable = |error| CliError::unread(&display_path, error);
        let text = || {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                CliError::Check(CheckError::NoText {
                    path: display_path.clone(),
                })
            })
        };
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            let directory = path;
            let path = text()?;
            if plugin.is_some() && files.excludes_something() {
                let sorted = policies::read(&[&path], Some(OriginName::Static), files)?;
                return Ok(CheckSubject::Sorted(path, sorted));
            }
            let is_sorted = origin != Some(OriginName::Static) || files.excludes_something();
            if plugin.is_none() && is_sorted {
                let sorted = policies::read(&[&path], origin, files)?;
                // What cannot be read may be of any plugin.
                let has_only_failures = sorted.groups().is_empty() && sorted.has_failures();
                // A directory of static manifests is loaded as a server does, which reads all of it.
                if is_for_several(&sorted) || has_only_failures || files.excludes_something() {
                    return Ok(CheckSubject::Sorted(path, sorted));
                }
                permit_directory(directory).map_err(unreadable)?;
                sorted_input::require_manifests(&path, &sorted)?;
            } else {
                permit_directory(directory).map_err(unreadable)?;
            }
            let plugin = plugin.map_or_else(|| plugin_of(&path), Ok)?;
            return Ok(CheckSubject::Directory(path, plugin));
        }
        let source = SourceFiles::default().recognize(path);
        if let Some(source) = source.filter(|source| !source.kind.is_checked()) {
            let mut sorted = SortedPolicies::new(None);
            sorted.add_source(source);
            sorted_input::require_manifests(&display_path, &sorted)?;
        }
        let mut content = named_inputs::read(path, memory::manifests()).map_err(unreadable)?;
        if plugin.is_none() && origin != Some(OriginName::Static) {
            let file = ManifestFile {
                path: display_path.clone(),
                content,
            };
            if let Some((group, set)) = whole::load(&file, origin, expressions) {
                return Ok(CheckSubject::Whole(display_path, group, set));
            }
            let mut sorted = SortedPolicies::of_file(file, origin.map(Into::into));
            if is_for_several(&sorted) {
                return Ok(CheckSubject::Sorted(display_path, sorted));
            }
            let has_policies = !sorted.groups().is_empty();
            let has_others = sorted.has_failures() || !sorted.others().is_empty();
            content = sorted.files.pop().map(|file| file.content).unwrap_or_default();
            if !has_policies && has_others && !may_be_configuration(&content) {
                sorted_input::require_manifests(&display_path, &sorted)?;
                sorted.files.push(ManifestFile {
                    path: display_path.clone(),
                    content,
                });
                return Ok(CheckSubject::Sorted(display_path, sorted));
            }
        }
        let plugin = plugin.or_else(|| match plugins_of(&content).as_slice() {
            [plugin] => Some(*plugin),
            _ => None,
        });
        Ok(match plugin {
            Some(plugin) => CheckSubject::Manifests(
                vec![ManifestFile {
                    path: display_path,
                    content,
                }],
                plugin,
            ),
            None if has_nothing(&display_path, content) => {
                return Err(CliError::NoManifests {
                    path: display_path,
                    count: 0,
                });
            }
            None => CheckSubject::Configuration(text()?),
        })
    }

    /// Loads it as a server does.
    pub(super) fn load(
        &mut self,
        expressions: &Expressions,
        gates: FeatureGates,
        admission_plugins: &AdmissionPluginArguments,
        root: &str,
    ) -> Result<LoadedPlugins, StartRefusal> {
        let options = expressions.options();
        let refused = |errors| StartRefusal {
            errors,
            exit_code: 1,
            stops_server: true,
        };
        match self {
            CheckSubject::Whole(_, group, set) => Ok(LoadedPlugins::of_group(*group, std::mem::take(set))),
            CheckSubject::Configuration(path) => {
                configuration(path, expressions, gates, admission_plugins, root)
            }
            CheckSubject::Directory(path, plugin) => {
                let set = Loader::for_plugin(*plugin, &options)
                    .load_directory(path)
                    .map_err(refused)?;
                Ok(LoadedPlugins::of_group(ObjectGroup::Static(*plugin), set))
            }
            CheckSubject::Manifests(files, plugin) => {
                let set = Loader::for_plugin(*plugin, &options)
                    .load_files(files)
                    .map_err(refused)?;
                Ok(LoadedPlugins::of_group(ObjectGroup::Static(*plugin), set))
            }
            CheckSubject::Sorted(_, sorted) | CheckSubject::OfCluster(_, sorted) => {
                sorted_input::load(sorted, expressions)
            }
        }
    }

    /// Reports what is checked as what, where names and kinds decide it.
    pub(super) fn report(&self, files: &FileSelection) {
        if let CheckSubject::Sorted(display_path, sorted) | CheckSubject::OfCluster(display_path, sorted) =
            self
        {
            sorted_input::report(display_path, sorted, files);
        }
        if let CheckSubject::Whole(display_path, ObjectGroup::Api, _) = self {
            sorted_input::report_api(display_path);
        }
    }

    /// Whether it has static manifests by itself, rather than by an AdmissionConfiguration.
    pub(super) fn has_manifests(&self) -> bool {
        match self {
            CheckSubject::Configuration(_) => false,
            CheckSubject::Directory(..) | CheckSubject::Manifests(..) => true,
            CheckSubject::Whole(_, group, _) => *group != ObjectGroup::Api,
            CheckSubject::Sorted(_, sorted) | CheckSubject::OfCluster(_, sorted) => {
                sorted.groups().iter().any(|group| *group != ObjectGroup::Api)
            }
        }
    }

    /// Files that are no objects of the API.
    pub(super) fn sources(&self) -> &[SourceFile] {
        match self {
            CheckSubject::Sorted(_, sorted) | CheckSubject::OfCluster(_, sorted) => sorted.sources(),
            _ => &[],
        }
    }

    /// Whether it is what a cluster has.
    pub(super) fn is_of_cluster(&self) -> bool {
        matches!(self, CheckSubject::OfCluster(..))
    }

    /// The texts of an input, if it cannot be read again.
    pub(super) fn texts(self, is_transient: bool) -> Vec<ManifestFile> {
        match self {
            _ if !is_transient => Vec::new(),
            CheckSubject::Sorted(_, sorted) | CheckSubject::OfCluster(_, sorted) => sorted.files,
            CheckSubject::Manifests(files, _) => files,
            CheckSubject::Whole(..) | CheckSubject::Configuration(_) | CheckSubject::Directory(..) => {
                Vec::new()
            }
        }
    }
}

/// Whether a text without policies may be an AdmissionConfiguration, complete or not.
fn may_be_configuration(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let has_plugins = text.lines().any(|line| line.starts_with("plugins:"));
    has_plugins
        || [
            "apiserver.config.k8s.io",
            "apiserver.k8s.io/",
            "AdmissionConfiguration",
        ]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether objects are not just static manifests of one plugin, which a server loads as a directory.
pub(super) fn is_for_several(sorted: &SortedPolicies) -> bool {
    let groups = sorted.groups();
    groups.len() > 1 || groups.contains(&ObjectGroup::Api)
}

/// Gives the plugins that a server has on, which are started as it starts them.
fn with_plugins<T>(
    gates: FeatureGates,
    admission_plugins: &AdmissionPluginArguments,
    root: &str,
    permit: &PathPermit<'_>,
    load: impl FnOnce(&EnabledPlugins<'_>) -> T,
) -> T {
    let switches = admission_plugins.switches().of_release(gates.release().version());
    load(&EnabledPlugins {
        is_on: &|plugin, is_configured| switches.is_on(plugin, is_configured),
        start: &|name, given| match pratique_plugins::factory(name) {
            Some(factory) => {
                let settings = PluginSettings::new(gates).with_given(given);
                plugins::make(factory, settings, root, permit).map(drop)
            }
            None => Ok(()),
        },
    })
}

/// The findings about the text of an AdmissionConfiguration, and about the files that it names.
pub(crate) fn configuration_findings(
    file: ManifestFile,
    expressions: &Expressions,
    gates: FeatureGates,
) -> Findings {
    let options = policies::configuration_options(expressions, gates);
    let admission_plugins = AdmissionPluginArguments::default();
    let loaded = with_plugins(gates, &admission_plugins, "", &|_| Ok(()), |enabled| {
        ConfigurationLoader::new(&options)
            .starting(*enabled)
            .load_file(file)
    });
    match loaded {
        Ok(loaded) => {
            let warnings = pratique_lint::lint_configuration(&loaded.ignored, loaded.unread.as_ref());
            Findings {
                warnings,
                ..Findings::default()
            }
        }
        Err(refused) => Findings {
            problems: refused.errors.problems().cloned().collect(),
            ..Findings::default()
        },
    }
}

fn configuration(
    path: &str,
    expressions: &Expressions,
    gates: FeatureGates,
    admission_plugins: &AdmissionPluginArguments,
    root: &str,
) -> Result<LoadedPlugins, StartRefusal> {
    let options = policies::configuration_options(expressions, gates);
    let permit = |named: &Path| permit_referenced(Path::new(path), named);
    let loaded = with_plugins(gates, admission_plugins, root, &permit, |enabled| {
        ConfigurationLoader::new(&options)
            .below(root)
            .within(&permit)
            .starting(*enabled)
            .load(path)
    });
    let loaded = loaded.map_err(|refused| StartRefusal {
        errors: refused.errors,
        exit_code: refused.exit_code,
        stops_server: true,
    })?;
    let plugin = |plugin: pratique_manifest::PluginConfiguration| {
        let kube_config = plugin.kube_config;
        let loaded = LoadedPlugin::new(
            ObjectGroup::Static(plugin.plugin),
            plugin.static_manifests_dir,
            plugin.manifests,
        );
        LoadedPlugin {
            kube_config,
            ..loaded
        }
    };
    Ok(LoadedPlugins {
        plugins: loaded.plugins.into_iter().map(plugin).collect(),
        started: loaded.started,
        ignored: loaded.ignored,
        unread: loaded.unread,
        definitions: Vec::new(),
        mixed: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pratique::expressions::Cache;

    use super::*;

    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: NAME}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [''], apiVersions: [v1], \
        operations: [CREATE], resources: [pods]}\n  validations: [{expression: 'true'}]\n";
    const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
        metadata: {name: NAME}\nspec: {policyName: NAME, validationActions: [Deny]}\n";

    /// Whether a file is parsed once, and how many objects it has.
    #[track_caller]
    fn check(name: &str, more: &str, expected: (bool, Option<usize>)) {
        let text = format!("{POLICY}---\n{BINDING}").replace("NAME", name) + more;
        let path = std::env::temp_dir().join(format!("pratique-whole-{}-{name}.yaml", std::process::id()));
        fs::write(&path, &text).unwrap();
        let expressions = Expressions::new(Arc::new(Cache::new()));
        let mut subject =
            CheckSubject::inspect(&path, None, None, &FileSelection::default(), &expressions).unwrap();
        fs::remove_file(&path).unwrap();
        let is_whole = matches!(subject, CheckSubject::Whole(..));
        let admission_plugins = AdmissionPluginArguments::default();
        let loaded = subject.load(&expressions, FeatureGates::default(), &admission_plugins, "");
        let count = loaded.ok().map(|loaded| {
            let objects = loaded.plugins.iter().map(|plugin| plugin.objects.len());
            objects.sum()
        });
        assert_eq!((is_whole, count), expected, "{text}");
    }

    #[test]
    fn files_are_parsed_once() {
        check("p.static.k8s.io", "", (true, Some(2)));
        check("p.example.com", "", (true, Some(2)));
        // What has others, or does not load, is sorted first.
        let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
        check("q.example.com", pod, (false, Some(2)));
        check("r.example.com", "---\na: [\n", (false, None));
        check("s.static.k8s.io", "---\na: [\n", (false, None));
    }
}

//! Loads the policies of a suite: static manifests, and objects of the API.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique::manifest::{
    ConfigurationOptions, Kind, LoadErrors, LoadOptions, Loader, ManifestFile, ManifestPlugin, ManifestSet,
    Problem, ProblemList, Rule, read_documents,
};
use pratique::plugins::{PluginChain, StateKind};
use pratique::{Admission, AdmissionBuilder};
use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_json::Value;
use pratique_manifest::{ConfigurationLoader, Location, ObjectName, PluginConfiguration, path_text};
use pratique_policy::Origin;

use crate::files;
use crate::roots::{OpenError, SuiteRoots};
use crate::scripted_webhooks::ScriptedCaller;
use crate::servers::RefusedPolicies;
use crate::suite::{Case, FileReference, Suite};
use crate::whole_chain::WholeChain;
use pratique_json::text_at;
use pratique_manifest::convert::items;
use pratique_review::chain::{self, ChainSettings, StartFailure, StartedPlugins};
use pratique_review::{PolicyWithoutBinding, add_sets, bind, reads_managed_fields, unbound};
use pratique_schema::FeatureGates;
use pratique_state::ClusterBase;
use pratique_state::PluginState;

/// The policies of a suite.
#[derive(Debug)]
pub struct Policies {
    pub(crate) admission: Admission,
    /// The manifests by origin, including generated bindings.
    pub sets: Vec<(Origin, ManifestSet)>,
    /// The policies without a binding, which are not evaluated.
    pub unbound: Vec<PolicyWithoutBinding>,
    /// All policies as if bound, if some are not.
    pub(crate) as_if_bound: Option<Admission>,
    /// Whether a policy may read `managedFields`.
    pub(crate) reads_managed_fields: bool,
    /// The server's chain around the policies; `None` if requests do not go through it.
    pub(crate) whole_chain: Option<WholeChain>,
    /// The state that admission plugins look up, without objects of the suite; `None` if there are no plugins.
    pub(crate) plugin_state: Option<PluginState>,
    /// The cluster over which they are evaluated, if there is one.
    pub(crate) base: Option<ClusterBase>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The release and feature gates of the server that loads them.
    pub(crate) gates: FeatureGates,
    /// The same policies as servers of other releases load them, of which there are tests.
    of_releases: Vec<Policies>,
}

impl Policies {
    /// The policies, compiled.
    pub fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The release and the feature gates of the server that loads them.
    pub fn gates(&self) -> FeatureGates {
        self.gates
    }

    /// The releases and feature gates of the servers that load them.
    pub fn servers(&self) -> impl Iterator<Item = FeatureGates> {
        std::iter::once(self.gates).chain(self.of_releases.iter().map(|others| others.gates))
    }

    /// The policies as the server loads them that gets the request of a case.
    pub(crate) fn of_case(&self, suite: &Suite, case: &Case) -> &Policies {
        let release = suite.release_of(case);
        let mut others = self.of_releases.iter();
        others
            .find(|policies| policies.gates.release() == release)
            .unwrap_or(self)
    }

    /// The same policies as servers of other releases load them.
    pub(crate) fn of_releases(&mut self) -> &mut [Policies] {
        &mut self.of_releases
    }

    /// The kinds that admission plugins look up; `None` if there are no plugins.
    pub fn plugin_kinds(&self) -> Option<&BTreeSet<StateKind>> {
        Some(self.plugin_state.as_ref()?.kinds())
    }
}

/// The suffix of the names of static manifests.
const SUFFIX: &str = ".static.k8s.io";
const GROUP: &str = "admissionregistration.k8s.io/";

impl Suite {
    /// The problem of a suite that nothing evaluates: tests of what is allowed would pass.
    pub fn evaluates_nothing(&self) -> Option<Problem> {
        let evaluates = self.names_policies() || self.has_webhooks() || self.is_foreign;
        let message = "the suite names no policies: nothing would be tested".to_owned();
        let at = self.source.locate(&[]);
        (!evaluates && !self.cases.is_empty()).then(|| problem(Rule::InvalidField, message, Some(&at)))
    }

    /// Loads the policies that the suite names, as each server does that gets requests of its tests.
    ///
    /// # Errors
    /// All problems of the policies.
    pub fn policies(&self) -> Result<Policies, ProblemList> {
        let releases = self.used_releases();
        let mut loaded: Option<Policies> = None;
        let mut refused = RefusedPolicies::new(releases.len());
        for used in releases {
            match self.gates_of(&used).and_then(|gates| self.policies_of(gates)) {
                Err(problems) => refused.add(used, problems),
                Ok(policies) => match &mut loaded {
                    Some(first) => first.of_releases.push(policies),
                    None => loaded = Some(policies),
                },
            }
        }
        match loaded {
            Some(policies) if refused.is_empty() => Ok(policies),
            _ => Err(refused.into_problems().into()),
        }
    }

    fn policies_of(&self, gates: FeatureGates) -> Result<Policies, Vec<Problem>> {
        let mut policy_files = PolicyFiles {
            roots: self.roots.clone(),
            is_for_tests: !self.cases.is_empty(),
            gates,
            ..PolicyFiles::default()
        };
        for reference in &self.policies {
            policy_files.add(reference);
        }
        for file in &self.generated {
            policy_files.of_api.push(file.clone());
        }
        let builder = Admission::builder().feature_gates(gates);
        let mut sets = Vec::new();
        let options = LoadOptions::new(builder.expressions());
        for (plugin, files) in std::mem::take(&mut policy_files.of_plugins) {
            match Loader::for_plugin(plugin, &options).load_files(&files) {
                Ok(set) => sets.push((Origin::Static, set)),
                Err(errors) => policy_files.add_errors(&errors),
            }
        }
        match Loader::for_api(&options).load_files(&policy_files.of_api) {
            Ok(set) => sets.push((Origin::Api, set)),
            Err(errors) => policy_files.add_errors(&errors),
        }
        if let Some(only) = &self.only {
            sets.iter_mut().for_each(|(_, set)| retain(set, only));
        }
        let (plugins, configured) = match (&self.chain, &self.configuration) {
            (None, None) => (None, Vec::new()),
            (None, Some(reference)) => (None, policy_files.configuration(reference, &builder)),
            (Some(settings), reference) => {
                let started = policy_files.start(settings, reference.as_ref(), &builder);
                started.map_or_else(Default::default, |started| {
                    (Some(started.plugins), started.configurations)
                })
            }
        };
        sets.extend(
            configured
                .iter()
                .map(|plugin| (Origin::Static, plugin.manifests.clone())),
        );
        if self.has_webhooks() {
            policy_files.problems.extend(self.unknown_webhooks(&sets))
        } else {
            policy_files
                .problems
                .extend(sets.iter().flat_map(|(_, set)| webhooks(set)))
        }
        if !policy_files.problems.is_empty() {
            return Err(policy_files.problems);
        }
        let plugin_state = plugins.as_ref();
        let plugin_state = plugin_state.map(|plugins| PluginState::for_plugins(plugins).with_gates(gates));
        let caller = Arc::new(ScriptedCaller::default());
        if self.bind {
            bind(&mut sets);
        }
        let unbound = unbound(&sets);
        let as_if_bound = if unbound.is_empty() {
            None
        } else {
            let mut sets = sets.clone();
            bind(&mut sets);
            let mut again = PolicyFiles {
                roots: self.roots.clone(),
                gates,
                ..PolicyFiles::default()
            };
            let builder = Admission::builder().feature_gates(gates);
            let plugins = self.chain.as_ref().and_then(|settings| {
                let started = again.start(settings, self.configuration.as_ref(), &builder);
                Some(started?.plugins)
            });
            Some(self.build(self.with_chain(builder, plugins, &configured, &caller), &sets)?)
        };
        Ok(Policies {
            admission: self.build(self.with_chain(builder, plugins, &configured, &caller), &sets)?,
            whole_chain: self.has_webhooks().then(|| WholeChain::new(caller)),
            plugin_state,
            base: None,
            reads_managed_fields: reads_managed_fields(&sets),
            sets,
            unbound,
            as_if_bound,
            files: policy_files.files,
            gates,
            of_releases: Vec::new(),
        })
    }

    /// Adds the plugins of the chain, and what answers webhooks.
    fn with_chain(
        &self,
        builder: AdmissionBuilder,
        plugins: Option<PluginChain>,
        #[cfg_attr(not(feature = "webhooks"), expect(unused_variables))] configured: &[PluginConfiguration],
        #[cfg_attr(not(feature = "webhooks"), expect(unused_variables))] caller: &Arc<ScriptedCaller>,
    ) -> AdmissionBuilder {
        let builder = match plugins {
            Some(plugins) => builder.plugins(plugins).registry_checks(true),
            None => builder,
        };
        #[cfg(feature = "webhooks")]
        if self.has_webhooks() {
            let builder = configured.iter().fold(builder, AdmissionBuilder::configured);
            return builder.caller(Arc::clone(caller));
        }
        builder
    }

    /// Problems for answers of webhooks that do not exist.
    fn unknown_webhooks(&self, sets: &[(Origin, ManifestSet)]) -> Vec<Problem> {
        let names: BTreeSet<&str> = sets.iter().flat_map(|(_, set)| webhook_names(set)).collect();
        let of_cases = self.cases.iter().flat_map(|case| &case.input.webhooks);
        let scripts = self.webhooks.iter().flatten().chain(of_cases);
        let unknown = scripts.filter(|script| !names.contains(script.name.as_str()));
        let mut problems: Vec<Problem> = unknown
            .map(|script| {
                let meant = nearest(&script.name, names.iter().copied()).map(did_you_mean);
                let meant = meant.map(|meant| format!(": {meant}")).unwrap_or_default();
                let message = format!("no webhook is named {:?}{meant}", script.name);
                problem(Rule::InvalidField, message, Some(&script.location))
            })
            .collect();
        // Rows have those of their test.
        problems.dedup_by(|a, b| a.location == b.location);
        problems
    }

    fn build(
        &self,
        builder: AdmissionBuilder,
        sets: &[(Origin, ManifestSet)],
    ) -> Result<Admission, Vec<Problem>> {
        let built = add_sets(builder, sets.iter().cloned()).build();
        built.map_err(|error| vec![self.build_problem(&error.to_string())])
    }

    fn build_problem(&self, why: &str) -> Problem {
        let named = self.policies.first().or(self.configuration.as_ref());
        problem(
            Rule::UnsupportedKind,
            why.to_owned(),
            named.map(|reference| &reference.location),
        )
    }
}

/// Removes all policies but one, and the bindings of others.
fn retain(set: &mut ManifestSet, only: &str) {
    let is = |name: Option<&str>| name == Some(only);
    set.validating_policies
        .retain(|loaded| is(loaded.object.metadata.name.as_deref()));
    set.mutating_policies
        .retain(|loaded| is(loaded.object.metadata.name.as_deref()));
    set.validating_bindings
        .retain(|loaded| loaded.object.spec.policy_name == only);
    set.mutating_bindings.retain(|loaded| {
        let spec = loaded.object.spec.as_ref();
        is(spec.and_then(|spec| spec.policy_name.as_deref()))
    });
}

/// The names of the webhooks of a set.
fn webhook_names(set: &ManifestSet) -> impl Iterator<Item = &str> {
    let mutating = set.mutating_webhooks.iter();
    let mutating = mutating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
    let validating = set.validating_webhooks.iter();
    let validating = validating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
    let mutating = mutating.map(|webhook| webhook.name.as_str());
    mutating.chain(validating.map(|webhook| webhook.name.as_str()))
}

/// Problems for webhooks of which the suite does not say what they answer: ignoring what may deny would let wrong tests pass.
fn webhooks(set: &ManifestSet) -> Vec<Problem> {
    let kinds = [
        Kind::MutatingWebhookConfiguration,
        Kind::ValidatingWebhookConfiguration,
    ];
    let all = kinds
        .into_iter()
        .flat_map(|kind| set.objects().filter(move |object| object.kind == kind));
    let problem = all.map(|object| {
        let (kind, name) = (object.kind, object.name.to_owned());
        let message =
            format!("{kind} {name:?} is not evaluated: the suite does not say what webhooks answer");
        let location = object.source.locate(&[]);
        Problem {
            object: Some(ObjectName { kind, name }),
            help: Some(
                "say it with `webhooks`, or keep the configuration in a file that the suite does not name"
                    .into(),
            ),
            ..problem(Rule::UnsupportedKind, message, Some(&location))
        }
    });
    problem.collect()
}

/// The files that a suite names, sorted by plugin.
#[derive(Default)]
struct PolicyFiles {
    roots: SuiteRoots,
    /// Whether there are tests, which pass where there is no policy.
    is_for_tests: bool,
    /// The release and feature gates of the server.
    gates: FeatureGates,
    of_plugins: BTreeMap<ManifestPlugin, Vec<ManifestFile>>,
    of_api: Vec<ManifestFile>,
    files: Vec<PathBuf>,
    problems: Vec<Problem>,
}

impl PolicyFiles {
    fn add(&mut self, reference: &FileReference) {
        let path = &reference.path;
        let listed = match self.roots.files(path, files::manifests) {
            Ok(listed) => listed,
            Err(error) => return self.unopened(path, &error, &reference.location),
        };
        let previous_counts = (self.files.len(), self.problems.len());
        for file in listed {
            match self.roots.open(&file) {
                Ok(content) => self.add_file(content, reference, path.is_dir()),
                Err(error) => self.unopened(&file, &error, &reference.location),
            }
        }
        if self.is_for_tests && previous_counts == (self.files.len(), self.problems.len()) {
            self.without_policy(&path_text(path), &reference.location);
        }
    }

    /// Adds a problem for a path that has none.
    fn without_policy(&mut self, path: &str, at: &Location) {
        let message = format!("{path} has no policy");
        self.problems
            .push(problem(Rule::UnsupportedKind, message, Some(at)));
    }

    /// Adds a problem for a file that cannot be opened.
    fn unopened(&mut self, path: &Path, error: &OpenError, at: &Location) {
        let message = format!("{}: {error}", path_text(path));
        self.problems.push(Problem {
            help: error.help().map(Into::into),
            ..problem(Rule::Unreadable, message, Some(at))
        });
    }

    /// Adds a file to those of its plugin, or of the API. Files of a directory without policies are skipped.
    fn add_file(&mut self, file: ManifestFile, reference: &FileReference, listed: bool) {
        if let Err(errors) = read_documents(&file) {
            // Other files of a directory are skipped.
            let is_meant = String::from_utf8_lossy(&file.content).contains(GROUP);
            if is_meant || !listed {
                self.add_errors(&errors);
            }
            return;
        }
        let policies = policies_of(&file);
        if policies.is_empty() && !listed {
            self.without_policy(&file.path, &reference.location);
        }
        if policies.is_empty() {
            return;
        }
        self.files.push(PathBuf::from(&file.path));
        let is_static = policies.iter().any(|(_, name)| name.ends_with(SUFFIX));
        // The loader of the API says what is wrong with a kind that is none.
        let plugin = policies.first().and_then(|(kind, _)| kind.map(Kind::plugin));
        match plugin.filter(|_| is_static) {
            Some(plugin) => self.of_plugins.entry(plugin).or_default().push(file),
            None => self.of_api.push(file),
        }
    }

    /// Starts the plugins of a chain; what keeps a server from starting is a problem.
    fn start(
        &mut self,
        settings: &ChainSettings,
        reference: Option<&FileReference>,
        builder: &AdmissionBuilder,
    ) -> Option<StartedPlugins> {
        let options = ConfigurationOptions {
            manifests: LoadOptions::new(builder.expressions()),
            feature_gates: self.gates,
        };
        let mut path = String::new();
        if let Some(reference) = reference {
            if !self.opens(reference) {
                return None;
            }
            path = reference.path.to_string_lossy().into_owned();
        }
        let roots = self.roots.clone();
        let permit = |path: &Path| roots.permit(path).map_err(io::Error::other);
        let started = chain::start(settings, self.gates, &path, &options, &permit);
        let why = match started {
            Ok(started) => {
                self.add_directories(&started.configurations);
                return Some(started);
            }
            Err(StartFailure::Configuration(refused)) => {
                self.add_errors(&refused.errors);
                return None;
            }
            Err(why) => why.to_string(),
        };
        let at = reference.map(|reference| &reference.location);
        self.problems.push(problem(Rule::InvalidField, why, at));
        None
    }

    /// Whether an AdmissionConfiguration can be opened; adds a problem if not.
    fn opens(&mut self, reference: &FileReference) -> bool {
        let path = &reference.path;
        let permitted = self.roots.permit(path).map_err(OpenError::from);
        if let Err(error) = permitted.and_then(|()| Ok(std::fs::metadata(path)?)) {
            self.unopened(path, &error, &reference.location);
            return false;
        }
        self.files.push(reference.path.clone());
        true
    }

    fn add_directories(&mut self, plugins: &[PluginConfiguration]) {
        let directories = plugins.iter();
        let directories = directories.filter_map(|plugin| plugin.static_manifests_dir.as_ref());
        self.files.extend(directories.map(PathBuf::from));
    }

    fn configuration(
        &mut self,
        reference: &FileReference,
        builder: &AdmissionBuilder,
    ) -> Vec<PluginConfiguration> {
        let options = ConfigurationOptions {
            manifests: LoadOptions::new(builder.expressions()),
            feature_gates: self.gates,
        };
        if !self.opens(reference) {
            return Vec::new();
        }
        let path = reference.path.to_string_lossy();
        let roots = &self.roots;
        let permit = |path: &Path| roots.permit(path).map_err(io::Error::other);
        match ConfigurationLoader::new(&options).within(&permit).load(&path) {
            Ok(loaded) => {
                self.add_directories(&loaded.plugins);
                loaded.plugins
            }
            Err(refused) => {
                self.add_errors(&refused.errors);
                Vec::new()
            }
        }
    }

    fn add_errors(&mut self, errors: &LoadErrors) {
        self.problems.extend(errors.problems().cloned());
    }
}

/// The kinds and names of the policies, bindings and webhook configurations of a file, as far as it can be read; no kind where it is
/// none of the group.
fn policies_of(file: &ManifestFile) -> Vec<(Option<Kind>, String)> {
    let documents = read_documents(file).unwrap_or_default();
    let objects = documents.iter().flat_map(|document| {
        let items = items(&document.source).objects.into_iter();
        items.map(|item| item.value(document.source.tree()))
    });
    let policy = |object: Value<'static>| {
        let kind = Kind::from_name(text_at(&object, &["kind"]));
        let is_ours = text_at(&object, &["apiVersion"]).starts_with(GROUP);
        is_ours.then(|| (kind, text_at(&object, &["metadata", "name"]).to_owned()))
    };
    objects.filter_map(policy).collect()
}

fn problem(rule: Rule, message: String, at: Option<&Location>) -> Problem {
    Problem {
        location: at.cloned(),
        ..Problem::new(rule, message)
    }
}

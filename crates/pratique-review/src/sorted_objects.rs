//! The objects of files that configure admission, sorted by origin and plugin.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

use pratique::expressions::Expressions;
use pratique_json::Value;
use pratique_manifest::{
    Failure, FileContents, Kind, LoadErrors, LoadOptions, Loader, Location, ManifestFile, ManifestPlugin,
    ManifestSet, NamedOrigin, ObjectName, ObjectSource, Position, Problem, Rule, SourceDocument,
    read_contents,
};
use pratique_policy::Origin;
use pratique_request::is_definition_of_any_version;
use pratique_types::ADMISSION_GROUP;

use crate::foreign_policy::{ForeignPolicy, PolicyEngine};
use crate::policies::OriginSets;
use crate::source_files::{SourceFile, SourceFiles, SourceKind};
use pratique_manifest::convert::items;

/// A group of objects that are loaded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectGroup {
    /// The static manifests of a plugin.
    Static(ManifestPlugin),
    /// The objects of the API.
    Api,
}

impl ObjectGroup {
    /// The plugin of static manifests.
    pub fn plugin(self) -> Option<ManifestPlugin> {
        match self {
            ObjectGroup::Static(plugin) => Some(plugin),
            ObjectGroup::Api => None,
        }
    }

    /// The origin of the objects.
    pub fn origin(self) -> Origin {
        match self {
            ObjectGroup::Static(_) => Origin::Static,
            ObjectGroup::Api => Origin::Api,
        }
    }
}

impl fmt::Display for ObjectGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectGroup::Static(plugin) => plugin.fmt(formatter),
            ObjectGroup::Api => formatter.write_str("API"),
        }
    }
}

/// The objects of files that configure admission, sorted by origin and plugin. Names ending in `.static.k8s.io` are those of
/// static manifests, unless all objects are said to have one origin.
#[derive(Debug)]
pub struct SortedPolicies {
    /// What all objects are, whatever their names say.
    origin: Option<Origin>,
    /// The files that were read.
    pub files: Vec<ManifestFile>,
    documents: BTreeMap<ObjectGroup, Vec<SourceDocument>>,
    /// The objects of the API.
    api: Vec<(ObjectName, Location)>,
    /// The number of objects of other kinds, by kind.
    others: BTreeMap<String, usize>,
    /// Those of them that define custom resources, documents and items of lists.
    definitions: Vec<ObjectSource>,
    /// What could not be read.
    failures: Vec<Failure>,
    /// Policies of other engines among the objects of other kinds.
    foreign: Vec<ForeignPolicy>,
    /// Files that were found in directories and are no objects, such as the values of a chart.
    unread: Vec<UnreadFile>,
    /// Files that are no objects by their nature.
    sources: Vec<SourceFile>,
    /// Whether a cluster has the objects, in whichever version it serves.
    is_stored: bool,
}

/// A file of a directory that is no object that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadFile {
    /// The file.
    pub path: String,
    /// Where the first thing is that cannot be read, if that is known.
    pub location: Option<Location>,
    /// What is wrong with it.
    pub why: String,
}

/// Why policies do not load.
#[derive(Debug)]
pub struct RefusedPolicies {
    /// All problems.
    pub errors: LoadErrors,
    /// Whether the first error is one of a server that reads static manifests, rather than of its API.
    pub stops_server: bool,
}

/// The kind of the definitions of custom resources.
pub const DEFINITION: &str = "CustomResourceDefinition";

impl SortedPolicies {
    /// No objects yet, which all have an origin if one is given.
    pub fn new(origin: Option<Origin>) -> Self {
        SortedPolicies {
            origin,
            files: Vec::new(),
            documents: BTreeMap::new(),
            api: Vec::new(),
            others: BTreeMap::new(),
            definitions: Vec::new(),
            foreign: Vec::new(),
            failures: Vec::new(),
            unread: Vec::new(),
            sources: Vec::new(),
            is_stored: false,
        }
    }

    /// The objects of one file.
    pub fn of_file(file: ManifestFile, origin: Option<Origin>) -> Self {
        let mut sorted = SortedPolicies::new(origin);
        sorted.add(file, true);
        sorted
    }

    /// The objects of files of a directory.
    pub fn of_files(files: Vec<ManifestFile>, origin: Option<Origin>) -> Self {
        let mut sorted = SortedPolicies::new(origin);
        let mut sources = SourceFiles::default();
        for file in files {
            let source = sources.recognize_content(Path::new(&file.path), &file.content);
            match source.filter(|source| !is_meant_as_policy(source, &file.content)) {
                Some(source) => sorted.add_source(source),
                None => sorted.add(file, false),
            }
        }
        sorted
    }

    /// The objects of files that a cluster has.
    pub fn of_api(files: Vec<ManifestFile>) -> Self {
        let mut sorted = SortedPolicies::new(Some(Origin::Api));
        sorted.is_stored = true;
        files.into_iter().for_each(|file| sorted.add(file, true));
        sorted
    }

    /// Adds a file, which was `named` or found in a directory. Of the latter, those that are no objects are counted.
    pub fn add(&mut self, file: ManifestFile, named: bool) {
        let FileContents { documents, errors } = read_contents(&file);
        let mut failures = errors.into_failures();
        for document in documents {
            for group in self.sort(&document, &mut failures) {
                self.documents.entry(group).or_default().push(document.clone());
            }
        }
        if failures.is_empty() || named || mentions_policies(&file.content) {
            self.failures.append(&mut failures)
        } else {
            self.unread.extend(unread_file(&file.path, &failures));
        }
        self.files.push(file);
    }

    /// Adds a file that is no object by its nature: it is told as what it is.
    pub fn add_source(&mut self, source: SourceFile) {
        self.sources.push(source);
    }

    /// Adds a file of a directory that cannot be read: it may have any objects.
    pub fn add_unreadable(&mut self, path: &str, why: &str) {
        let location = Location {
            file: path.into(),
            document: 0,
            start: Position::default(),
            end: Position::default(),
        };
        self.failures.push(Failure {
            text: format!("{path}: {why}"),
            problems: vec![Problem::new(Rule::Unreadable, why).at(location)],
        });
    }

    /// Counts the kinds of a document's objects; gives the groups that some of them belong to.
    fn sort(&mut self, document: &SourceDocument, failures: &mut Vec<Failure>) -> BTreeSet<ObjectGroup> {
        let mut groups = BTreeSet::new();
        for item in items(&document.source).objects {
            let tree = document.source.tree();
            let object = item.value(tree);
            // A comment, as templates leave them.
            if object.is_null() {
                continue;
            }
            let location = || document.source.document().location(tree.get(item.node).span);
            let text = |path: &[&str]| {
                object
                    .at(path)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            let Some(name) = text(&["kind"]) else {
                failures.push(missing_kind(location()));
                continue;
            };
            let Some(kind) = Kind::from_name(name) else {
                let version = text(&["apiVersion"]).unwrap_or_default();
                if version
                    .split_once('/')
                    .is_some_and(|(group, _)| group == ADMISSION_GROUP)
                {
                    // The loader says what the server answers.
                    groups.insert(ObjectGroup::Api);
                    continue;
                }
                if let Some(engine) = PolicyEngine::of_version(version) {
                    self.foreign.push(ForeignPolicy {
                        engine,
                        kind: name.to_owned(),
                        location: location(),
                    });
                }
                *self.others.entry(name.to_owned()).or_default() += 1;
                if is_definition_of_any_version(&object) {
                    self.definitions.push(document.source.at_node(item.node));
                }
                continue;
            };
            let name = text(&["metadata", "name"]).unwrap_or_default();
            let named = || NamedOrigin::from_name(kind, name, text(&["spec", "policyName"]));
            let group = match (self.origin, named()) {
                (Some(Origin::Static), _) | (None, NamedOrigin::Static) => ObjectGroup::Static(kind.plugin()),
                (Some(Origin::Api), _) | (None, NamedOrigin::Api) => ObjectGroup::Api,
            };
            if group == ObjectGroup::Api {
                let name = name.to_owned();
                self.api.push((ObjectName { kind, name }, location()));
            }
            groups.insert(group);
        }
        groups
    }

    /// The groups that there are objects of.
    pub fn groups(&self) -> Vec<ObjectGroup> {
        self.documents.keys().copied().collect()
    }

    /// The number of objects of other kinds, by kind.
    pub fn others(&self) -> &BTreeMap<String, usize> {
        &self.others
    }

    /// The definitions of custom resources among them.
    pub fn definitions(&self) -> &[ObjectSource] {
        &self.definitions
    }

    /// The policies of other engines among them.
    pub fn foreign(&self) -> &[ForeignPolicy] {
        &self.foreign
    }

    /// Files of directories that are no objects.
    pub fn unread(&self) -> &[UnreadFile] {
        &self.unread
    }

    /// Files that are no objects by their nature.
    pub fn sources(&self) -> &[SourceFile] {
        &self.sources
    }

    /// Whether something could not be read.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// The objects of the API that are among static manifests without being said to be.
    pub fn mixed(&self) -> &[(ObjectName, Location)] {
        let has_static = self.documents.keys().any(|group| *group != ObjectGroup::Api);
        if has_static { &self.api } else { &[] }
    }

    /// Loads the objects of each group, as a server does. Those that a cluster has are there with expressions that do not compile,
    /// too, and these are [listed](ManifestSet::uncompiled).
    ///
    /// # Errors
    /// All problems, in the order of the files.
    pub fn load(
        &self,
        expressions: &Expressions,
    ) -> Result<Vec<(ObjectGroup, ManifestSet)>, RefusedPolicies> {
        self.load_with(&expressions.options())
    }

    /// The same, by the origins of the groups.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_sets(&self, expressions: &Expressions) -> Result<OriginSets, RefusedPolicies> {
        let loaded = self.load(expressions)?.into_iter();
        Ok(loaded.map(|(group, set)| (group.origin(), set)).collect())
    }

    /// Loads the objects of each group with options, which say what compiles their expressions.
    ///
    /// # Errors
    /// All problems, in the order of the files.
    pub fn load_with(
        &self,
        options: &LoadOptions<'_>,
    ) -> Result<Vec<(ObjectGroup, ManifestSet)>, RefusedPolicies> {
        let of_static = self.failures.iter().map(|failure| (failure.clone(), true));
        let mut failures: Vec<(Failure, bool)> = of_static.collect();
        let mut sets = Vec::new();
        for (group, documents) in &self.documents {
            let loaded = match (group, self.origin) {
                (ObjectGroup::Static(plugin), None) => Loader::for_plugin(*plugin, options)
                    .by_name()
                    .load_documents(documents),
                (ObjectGroup::Static(plugin), Some(_)) => {
                    Loader::for_plugin(*plugin, options).load_documents(documents)
                }
                (ObjectGroup::Api, _) if self.is_stored => Loader::for_api(options)
                    .with_older_versions()
                    .with_stored_expressions()
                    .load_documents(documents),
                (ObjectGroup::Api, Some(_)) => Loader::for_api(options).load_documents(documents),
                (ObjectGroup::Api, None) => Loader::for_api(options).by_name().load_documents(documents),
            };
            match loaded {
                Ok(set) => sets.push((*group, set)),
                Err(errors) => {
                    let errors = errors.into_failures().into_iter();
                    failures.extend(errors.map(|failure| (failure, *group != ObjectGroup::Api)));
                }
            }
        }
        if failures.is_empty() {
            return Ok(sets);
        }
        let numbers = self.file_numbers();
        failures.sort_by_cached_key(|(failure, _)| place(failure, &numbers));
        let stops_server = failures.first().is_some_and(|(_, is_static)| *is_static);
        Err(RefusedPolicies {
            errors: LoadErrors::new(failures.into_iter().map(|(failure, _)| failure).collect()),
            stops_server: stops_server && self.documents.keys().any(|group| *group != ObjectGroup::Api),
        })
    }

    /// The places of the files in their order, by their paths.
    fn file_numbers(&self) -> HashMap<&str, usize> {
        // Of a path that was read twice, the first counts.
        let numbered = self.files.iter().enumerate().rev();
        numbered
            .map(|(number, file)| (file.path.as_str(), number))
            .collect()
    }
}

/// The document that a failure is of, in the order of the files. A server decodes a document before it validates it, and
/// so are the failures of one.
fn place(failure: &Failure, numbers: &HashMap<&str, usize>) -> (usize, Option<usize>) {
    let problem = failure.problems.first();
    let location = problem.and_then(|problem| problem.location.as_ref());
    let number = location.and_then(|location| numbers.get(&*location.file).copied());
    (
        number.unwrap_or(usize::MAX),
        location.map(|location| location.document),
    )
}

/// Whether a template is read all the same: outside of a chart, one of a policy is a policy that is not written correctly.
pub fn is_meant_as_policy(source: &SourceFile, content: &[u8]) -> bool {
    source.kind == SourceKind::Template && source.root.is_none() && mentions_policies(content)
}

/// Whether an `apiVersion` somewhere is that of policies. Roles and the conditions of templates name the group as well.
fn mentions_policies(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let mut named = text.lines().filter_map(|line| line.split_once(ADMISSION_GROUP));
    named.any(|(before_group, _)| before_group.contains("apiVersion"))
}

/// A file with what is wrong with it first.
fn unread_file(path: &str, failures: &[Failure]) -> Option<UnreadFile> {
    let failure = failures.first()?;
    let problem = failure.problems.first();
    Some(UnreadFile {
        path: path.to_owned(),
        location: problem.and_then(|problem| problem.location.clone()),
        why: failure.text.clone(),
    })
}

fn missing_kind(location: Location) -> Failure {
    let mut problem = Problem::new(Rule::MissingKind, "Object 'Kind' is missing").at(location);
    problem.help = Some("an object has an apiVersion and a kind".into());
    problem.into()
}

//! The commands `check` and `review`, run on the manifests of a repository as they are.
//!
//! Policies of a file, with their bindings next to it, are reviewed with the objects that are nearest: those below the
//! file's directory, or below the first directory above it that has some.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pratique::api_objects::ApiObjects;
use pratique::{ObjectModel, Objects};
use pratique_harness::ToolError;
use pratique_json::Value;
use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestSet, UncheckedExpressions};
use pratique_manifest::{convert::objects, is_manifest};
use pratique_policy::Origin;
use pratique_request::{RequestTemplate, Resolution, ResourceResolver, is_definition, kind_of};
use pratique_review::bind;
use pratique_suite::read_file;
use pratique_types::{AdmissionRequest, Operation};

use crate::manifests::{CheckoutContent, RepositoryCheckout, entries};
use crate::reference::{OurDecision, QuestionSet};

/// The results of the commands.
#[derive(Debug, Default)]
pub struct CommandResults {
    /// Files that `check` was run on.
    pub checked: usize,
    /// Those without an error.
    pub clean: usize,
    /// Those with an error, which is reported.
    pub invalid: Vec<String>,
    /// Files whose policies were reviewed with objects.
    pub reviewed: usize,
    /// The decisions: allowed, denied, undecided.
    pub decisions: [usize; 3],
    /// Inputs that were not reviewed, and why.
    pub not_reviewed: Vec<String>,
    /// The same questions for the reference.
    pub questions: Vec<QuestionSet>,
}

/// The most objects that the policies of a file are reviewed with.
const MOST: usize = 200;

/// Runs a program's commands.
#[derive(Debug)]
pub struct ProgramCommands<'r> {
    program: &'r Path,
    repository: &'r RepositoryCheckout,
    nearest: BTreeMap<PathBuf, Vec<Value<'static>>>,
}

impl<'r> ProgramCommands<'r> {
    /// Runs the commands on the manifests of a repository.
    ///
    /// # Errors
    /// The program does not start, or files cannot be read.
    pub fn run(
        program: &'r Path,
        repository: &'r RepositoryCheckout,
        selection: &CheckoutContent,
    ) -> Result<CommandResults, ToolError> {
        let mut commands = ProgramCommands {
            program,
            repository,
            nearest: BTreeMap::new(),
        };
        let mut ran = CommandResults::default();
        let files: BTreeSet<PathBuf> = selection
            .manifests
            .iter()
            .filter(|manifest| !manifest.is_template())
            .map(|manifest| repository.path.join(manifest.path()))
            .collect();
        for file in &files {
            if commands.check_file(file, &mut ran)? {
                commands.review(file, &files, &mut ran)?;
            }
        }
        Ok(ran)
    }

    fn place(&self, file: &Path) -> String {
        let within = file.strip_prefix(&self.repository.path).unwrap_or(file);
        format!("{}/{}", self.repository.name, within.display())
    }

    fn program(&self, arguments: &[&str], paths: &[&Path]) -> Result<Output, ToolError> {
        let mut command = Command::new(self.program);
        command.args(arguments).args(paths).arg("--no-project-file");
        command.output().map_err(ToolError::program("pratique"))
    }

    /// Whether `check` finds no error in a file.
    fn check_file(&self, file: &Path, ran: &mut CommandResults) -> Result<bool, ToolError> {
        let output = self.program(&["check"], &[file])?;
        let is_clean = output.status.success();
        ran.checked += 1;
        ran.clean += usize::from(is_clean);
        if !is_clean {
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            let first = text.lines().find(|line| line.contains("error"));
            let first = first.or(text.lines().next()).unwrap_or_default();
            ran.invalid.push(format!("{}: {first}", self.place(file)));
        }
        Ok(is_clean)
    }

    /// Reviews the nearest objects with the policies of a file.
    fn review(
        &mut self,
        file: &Path,
        files: &BTreeSet<PathBuf>,
        ran: &mut CommandResults,
    ) -> Result<(), ToolError> {
        let place = self.place(file);
        let mut left = |why: &str| ran.not_reviewed.push(format!("{place}: {why}"));
        let Some(set) = loaded(&[file]) else {
            left("it is read in no version of the API");
            return Ok(());
        };
        if set.validating_policies.is_empty() && set.mutating_policies.is_empty() {
            return Ok(());
        }
        let bindings = files.iter().filter(|other| {
            let is_beside = other.parent() == file.parent() && *other != file;
            is_beside && loaded(&[other]).is_some_and(|other| binds_only(&other, &set))
        });
        let mut policies = vec![file];
        policies.extend(bindings.map(PathBuf::as_path));
        let Some(set) = loaded(&policies) else {
            left("its bindings do not load with it");
            return Ok(());
        };
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.contains("authorizer.") {
            left("it asks the authorizer, of which a repository says nothing");
            return Ok(());
        }
        let mut sets = [(Origin::Api, set)];
        bind(&mut sets);
        let all = self.nearest(file)?;
        if all.is_empty() {
            left("there is no object in the repository");
            return Ok(());
        }
        let scratch = std::env::temp_dir().join(format!("pratique-field-review-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
        let lines = |objects: &[Value<'static>]| {
            objects
                .iter()
                .map(|object| format!("{object}\n"))
                .collect::<String>()
        };
        let (state, inputs) = (scratch.join("state.json"), scratch.join("objects.ndjson"));
        let cluster = with_namespaces(&all);
        fs::write(&state, lines(&cluster)).map_err(|error| error.to_string())?;
        fs::write(&inputs, lines(&all)).map_err(|error| error.to_string())?;
        let mut arguments: Vec<&Path> = vec![&inputs];
        policies
            .iter()
            .for_each(|policy| arguments.extend([Path::new("--policies"), policy]));
        arguments.extend([Path::new("--objects"), &state]);
        let output = self.program(
            &["review", "--output", "ndjson", "--bind", "--objects-complete"],
            &arguments,
        )?;
        ran.reviewed += 1;
        let objects = cluster
            .iter()
            .map(|object| serde_json::to_value(object).unwrap_or_default());
        let mut question_set = QuestionSet::new(sets.iter().map(|(_, set)| set), objects);
        let model = model(&all);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let record: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let text = |pointer: &str| record.pointer(pointer).and_then(serde_json::Value::as_str);
            let Some(decision) = text("/decision") else {
                let why = text("/error/message").or(text("/note/message"));
                ran.not_reviewed.push(format!("{place}: {}", why.unwrap_or(line)));
                continue;
            };
            let line = record.pointer("/line").and_then(serde_json::Value::as_u64);
            let index = line
                .and_then(|line| usize::try_from(line).ok())
                .unwrap_or_default();
            let object = index.checked_sub(1).and_then(|index| all.get(index));
            let at = ["allowed", "denied", "undecided"]
                .iter()
                .position(|known| *known == decision);
            if let Some(count) = at.and_then(|at| ran.decisions.get_mut(at)) {
                *count += 1;
            }
            let decided = OurDecision {
                place: format!(
                    "{place} / {} {}",
                    text("/kind").unwrap_or_default(),
                    text("/name").unwrap_or_default()
                ),
                allowed: decision == "allowed",
                message: text("/message").map(str::to_owned),
            };
            if decision == "undecided" {
                ran.not_reviewed.push(format!("{}: undecided", decided.place));
            } else if let Some(request) =
                object.and_then(|object| question(object, &model, &sets[0].1, &resolver(&all)))
            {
                question_set.add(&request, decided);
            } else {
                ran.not_reviewed.push(format!(
                    "{}: the server refuses it before admission",
                    decided.place
                ));
            }
        }
        ran.questions.push(question_set);
        fs::remove_dir_all(&scratch).map_err(|error| ToolError::from(error.to_string()))
    }

    /// The objects that are nearest to a file.
    fn nearest(&mut self, file: &Path) -> Result<Vec<Value<'static>>, ToolError> {
        for directory in file.ancestors().skip(1) {
            if !self.nearest.contains_key(directory) {
                let mut objects = below(directory)?;
                objects.truncate(MOST);
                self.nearest.insert(directory.to_owned(), objects);
            }
            match self.nearest.get(directory) {
                Some(objects) if !objects.is_empty() => return Ok(objects.clone()),
                _ if directory == self.repository.path => break,
                _ => {}
            }
        }
        Ok(Vec::new())
    }
}

/// The policies of some files, as objects of the API.
fn loaded(files: &[&Path]) -> Option<ManifestSet> {
    let files = files.iter().map(|file| read_file(file).ok());
    let files: Vec<ManifestFile> = files.collect::<Option<_>>()?;
    Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
        .load_files(&files)
        .ok()
}

/// Whether there are only bindings, of policies that a set has.
fn binds_only(bindings: &ManifestSet, policies: &ManifestSet) -> bool {
    let validating = policies.validating_policies.iter();
    let names: BTreeSet<&str> = validating
        .filter_map(|policy| policy.object.metadata.name.as_deref())
        .chain(
            policies
                .mutating_policies
                .iter()
                .filter_map(|policy| policy.object.metadata.name.as_deref()),
        )
        .collect();
    let has_policies = !bindings.validating_policies.is_empty() || !bindings.mutating_policies.is_empty();
    let validating = bindings
        .validating_bindings
        .iter()
        .map(|binding| Some(binding.object.spec.policy_name.as_str()));
    let mutating = bindings
        .mutating_bindings
        .iter()
        .map(|binding| binding.object.spec.as_ref()?.policy_name.as_deref());
    let mut named = validating.chain(mutating).peekable();
    !has_policies && named.peek().is_some() && named.all(|name| name.is_some_and(|name| names.contains(name)))
}

/// The objects below a directory that a server could be sent: of known kinds, and no configuration of admission.
fn below(directory: &Path) -> Result<Vec<Value<'static>>, ToolError> {
    let mut all = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != ".git") {
                open.extend(entries(&path)?);
            }
        } else if is_manifest(&path) {
            all.extend(
                read_file(&path)
                    .ok()
                    .and_then(|file| objects(&file).ok())
                    .unwrap_or_default(),
            );
        }
    }
    let resolver = resolver(&all);
    let mut seen = BTreeSet::new();
    all.retain(|object| {
        let is_sent = kind_of(object).is_ok_and(|kind| {
            kind.group != "admissionregistration.k8s.io"
                && matches!(template().resolve(&kind, &resolver), Ok(Resolution::Known(_)))
        });
        let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
        is_sent && name.is_some() && seen.insert(object.to_string())
    });
    Ok(all)
}

/// The resources that a cluster with these definitions serves.
fn resolver(objects: &[Value<'static>]) -> ResourceResolver {
    let (mut resolver, mut kinds) = (ResourceResolver::default(), ApiObjects::default());
    for definition in objects.iter().filter(|object| is_definition(object)) {
        // The command reports an unusable one.
        resolver.serve(kinds.define(definition).unwrap_or_default());
    }
    resolver
}

fn template() -> RequestTemplate {
    RequestTemplate {
        operation: Operation::Create,
        namespace: "default".to_owned(),
        user: pratique_request::user("kubernetes-admin", &[]),
        ..RequestTemplate::default()
    }
}

/// Objects as a cluster has them: in a namespace, each of which exists, and one of a name.
fn with_namespaces(objects: &[Value<'static>]) -> Vec<Value<'static>> {
    let resolver = resolver(objects);
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for object in objects {
        let Ok((request, _)) = template().request(object.clone(), |_, _| None, &resolver, 1) else {
            continue;
        };
        if request.kind.kind != "Namespace" && !request.namespace.is_empty() {
            names.insert(request.namespace.clone());
        }
        if seen.insert((request.resource.to_string(), request.namespace, request.name)) {
            all.push(request.object);
        }
    }
    for name in names {
        let is = |object: &Value<'_>| {
            object.get("kind").and_then(Value::as_str) == Some("Namespace")
                && object.at(&["metadata", "name"]).and_then(Value::as_str) == Some(&name)
        };
        if !all.iter().any(is) {
            all.push(namespace(&name));
        }
    }
    all
}

fn namespace(name: &str) -> Value<'static> {
    let named = |members: &[(&'static str, Value<'static>)]| {
        Value::Object(
            members
                .iter()
                .map(|(key, value)| ((*key).into(), value.clone()))
                .collect(),
        )
    };
    let labels = named(&[("kubernetes.io/metadata.name", Value::from(name.to_owned()))]);
    let metadata = named(&[("labels", labels), ("name", Value::from(name.to_owned()))]);
    named(&[
        ("apiVersion", Value::from("v1")),
        ("kind", Value::from("Namespace")),
        ("metadata", metadata),
    ])
}

/// The kinds as a server with these definitions has them.
fn model(objects: &[Value<'static>]) -> ApiObjects {
    let mut model = ApiObjects::default();
    for object in objects {
        if object.get("kind").and_then(Value::as_str) == Some("CustomResourceDefinition") {
            // The command reports an unusable one.
            let _ = model.define(object);
        }
    }
    model
}

/// The request that creates an object, as policies see it: validating ones see it prepared.
fn question(
    object: &Value<'static>,
    model: &ApiObjects,
    set: &ManifestSet,
    resolver: &ResourceResolver,
) -> Option<AdmissionRequest<'static>> {
    let (mut request, _) = template()
        .request(object.clone(), |_, _| None, resolver, 1)
        .ok()?;
    let received = model.receive(&mut request).ok()?;
    if set.mutating_policies.is_empty() {
        let mut object = Cow::Borrowed(&request.object);
        received
            .prepare(&request, (&mut object, request.form), &Objects::new())
            .ok()?;
        request.object = object.into_owned();
    }
    Some(request)
}

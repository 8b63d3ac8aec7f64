//! From a document to a suite.

mod expected;
mod fields;
mod rows;

use std::path::{Path, PathBuf};

use pratique_manifest::{
    Location, ManifestFile, NodeId, ObjectSource, Problem, Rule, Value as Node, read_documents,
};

use crate::authorizer::Rule as AuthorizerRule;
use crate::format::{API_VERSION, KIND, SUITE};
use crate::shape::{Shape, faults};
use crate::suite::{Ask, Case, Reference, Suite, Surroundings, Written};
use crate::{ask, files};
use fields::Fields;

/// Whether a file may have a suite: cheaper than to read it.
pub fn may_be_suite(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    text.contains(KIND) && text.contains("pratique/")
}

/// The suites of a file; documents of other kinds are passed over.
///
/// # Errors
/// Everything that is wrong with it, with its place.
pub fn read_suites(file: &ManifestFile) -> Result<Vec<Suite>, Vec<Problem>> {
    let documents = read_documents(file).map_err(|errors| errors.problems().cloned().collect::<Vec<_>>())?;
    let mut suites = Vec::new();
    let mut problems = Vec::new();
    for document in documents {
        if !is_suite(&document.source) {
            continue;
        }
        problems.extend(document.duplicates);
        match read_suite(document.source, Path::new(&file.path)) {
            Ok(suite) => suites.push(suite),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(suites)
    } else {
        problems.sort_by_key(|problem| problem.location.as_ref().map(|location| location.start));
        problems.dedup_by(|a, b| a.location == b.location && a.rule == b.rule);
        Err(problems)
    }
}

/// Whether a document says that it is a suite, of whichever version.
fn is_suite(source: &ObjectSource) -> bool {
    let text = |key: &str| match source.tree().entry(source.root(), key) {
        Some(entry) => match &source.tree().get(entry.value).value {
            Node::String(text, _) => text.to_string(),
            _ => String::new(),
        },
        None => String::new(),
    };
    let group = API_VERSION.split('/').next().unwrap_or_default();
    text("kind") == KIND && text("apiVersion").split('/').next() == Some(group)
}

fn read_suite(source: ObjectSource, path: &Path) -> Result<Suite, Vec<Problem>> {
    let problems = faults(&source, source.root(), Shape::Struct(&SUITE));
    if !problems.is_empty() {
        return Err(problems);
    }
    let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut reader = Reader {
        source: &source,
        directory: &directory,
        problems: Vec::new(),
        files: Vec::new(),
    };
    let root = reader.fields(source.root());
    let policies = root.list("policies").into_iter();
    let policies = policies.map(|id| reader.reference(id)).collect();
    let configuration = root.node("configuration").map(|id| reader.reference(id));
    let surroundings = reader.surroundings(&root);
    let tests = root.list("tests");
    let cases = tests.into_iter().flat_map(|test| reader.test(test)).collect();
    let name = root
        .node("metadata")
        .and_then(|id| reader.fields(id).text("name"));
    let (problems, files) = (reader.problems, reader.files);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Suite {
        name: name.unwrap_or_else(|| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        }),
        file: path.to_string_lossy().into_owned(),
        cases,
        policies,
        configuration,
        surroundings,
        files,
        directory,
        source,
    })
}

/// Reads a document that has the shape of a suite.
struct Reader<'a> {
    source: &'a ObjectSource,
    directory: &'a Path,
    problems: Vec<Problem>,
    files: Vec<PathBuf>,
}

impl<'a> Reader<'a> {
    fn fields(&self, id: NodeId) -> Fields<'a> {
        Fields {
            tree: self.source.tree(),
            id,
        }
    }

    fn location(&self, id: NodeId) -> Location {
        let span = self.source.tree().nearest_span(id, &[]);
        self.source.document().location(span)
    }

    fn fault(&mut self, rule: Rule, message: String, at: NodeId) {
        let location = self.location(at);
        self.fault_at(rule, message, location);
    }

    fn fault_at(&mut self, rule: Rule, message: String, location: Location) {
        self.problems.push(Problem {
            rule,
            message,
            field: None,
            object: None,
            location: Some(location),
            help: None,
        });
    }

    fn reference(&self, id: NodeId) -> Reference {
        let path = self.fields(id).own_text().unwrap_or_default();
        Reference {
            path: self.directory.join(path),
            location: self.location(id),
        }
    }

    /// A test, with its rows.
    fn test(&mut self, id: NodeId) -> Vec<Case> {
        let fields = self.fields(id);
        let name = fields.text("name").unwrap_or_default();
        let asked = self.ask(&fields);
        let expect = fields.node("expect");
        let rows = fields.list("each");
        let base = Case {
            name,
            location: self.name_location(id),
            expected: expect.and_then(|expect| self.expected(expect)),
            ask: asked,
            written: Written { node: id, expect },
        };
        let given = ["object", "oldObject", "request"];
        if given.iter().all(|name| fields.node(name).is_none()) {
            self.fault(
                Rule::InvalidField,
                "a test needs an `object` or a `request`".to_owned(),
                id,
            );
        }
        if fields.node("each").is_none() {
            return vec![base];
        }
        rows.into_iter().filter_map(|row| self.row(&base, row)).collect()
    }

    /// The place of a test's or a row's name.
    fn name_location(&self, id: NodeId) -> Location {
        let name = self.fields(id).node("name").unwrap_or(id);
        self.location(name)
    }

    fn ask(&mut self, fields: &Fields<'a>) -> Ask {
        Ask {
            object: self.object(fields, "object"),
            old_object: self.object(fields, "oldObject"),
            request: self.object(fields, "request"),
            operation: fields.operation(),
            resource: fields.text("resource"),
            subresource: fields.text("subresource"),
            namespace: fields.text("namespace"),
            user: fields.node("user").map(|id| self.user(id)),
            dry_run: fields.bool("dryRun").unwrap_or_default(),
            options: fields.value("options"),
            surroundings: self.surroundings(fields),
        }
    }

    fn user(&self, id: NodeId) -> pratique_types::UserInfo {
        let fields = self.fields(id);
        if let Some(name) = fields.own_text() {
            return ask::user(&name, &[]);
        }
        pratique_types::UserInfo {
            uid: fields.text("uid").unwrap_or_default(),
            extra: fields.map("extra", |texts| texts.items()),
            ..ask::user(&fields.text("name").unwrap_or_default(), &fields.texts("groups"))
        }
    }

    fn surroundings(&mut self, fields: &Fields<'a>) -> Surroundings {
        let Some(id) = fields.node("cluster") else {
            return Surroundings::default();
        };
        let fields = self.fields(id);
        let namespaces = fields.map("namespaces", |labels| labels.value_of());
        let namespaces = namespaces
            .into_iter()
            .map(|(name, labels)| namespace(&name, labels));
        let mut objects: Vec<_> = namespaces.collect();
        for id in fields.list("objects") {
            match self.fields(id).own_text() {
                Some(path) => objects.extend(self.file(&path, id).unwrap_or_default()),
                None => objects.push(self.fields(id).value_of()),
            }
        }
        let rules = fields.list("authorizer").into_iter();
        Surroundings {
            objects,
            rules: rules.map(|id| rule(&self.fields(id))).collect(),
        }
    }

    /// An object that is written here, or in a file of its own.
    fn object(&mut self, fields: &Fields<'a>, name: &str) -> Option<pratique_json::Value<'static>> {
        let id = fields.node(name)?;
        let Some(reference) = self.fields(id).own_text() else {
            return Some(self.fields(id).value_of());
        };
        let (path, wanted) = match reference.rsplit_once('#') {
            Some((path, name)) => (path, Some(name)),
            None => (reference.as_str(), None),
        };
        let mut objects = self.file(path, id)?;
        if let Some(wanted) = wanted {
            objects.retain(|object| {
                object
                    .at(&["metadata", "name"])
                    .and_then(pratique_json::Value::as_str)
                    == Some(wanted)
            });
        }
        let count = objects.len();
        match (objects.pop(), count) {
            (Some(object), 1) => Some(object),
            (_, 0) => {
                self.fault(Rule::InvalidField, format!("{reference} has no such object"), id);
                None
            }
            _ => {
                let message = format!("{path} has {count} objects: name one of them as {path}#NAME");
                self.fault(Rule::InvalidField, message, id);
                None
            }
        }
    }

    /// The objects of a file.
    fn file(&mut self, path: &str, at: NodeId) -> Option<Vec<pratique_json::Value<'static>>> {
        let full = self.directory.join(path);
        self.files.push(full.clone());
        match files::read(&full).map(|file| files::objects(&file)) {
            Ok(Ok(objects)) => Some(objects),
            Ok(Err(problems)) => {
                self.problems.extend(problems);
                None
            }
            Err(error) => {
                let message = format!("{}: {}", full.display(), files::plain(&error));
                self.fault(Rule::Unreadable, message, at);
                None
            }
        }
    }
}

/// A namespace with labels.
fn namespace(name: &str, labels: pratique_json::Value<'static>) -> pratique_json::Value<'static> {
    let mut namespace = ask::cluster::namespace(name);
    if let pratique_json::Value::Object(object) = &mut namespace
        && let Some(pratique_json::Value::Object(metadata)) = object.get_mut("metadata")
        && !labels.is_null()
    {
        metadata.insert("labels", labels);
    }
    namespace
}

fn rule(fields: &Fields<'_>) -> AuthorizerRule {
    AuthorizerRule {
        users: fields.texts("users"),
        groups: fields.texts("groups"),
        verbs: fields.texts("verbs"),
        api_groups: fields.texts("apiGroups"),
        resources: fields.texts("resources"),
        resource_names: fields.texts("resourceNames"),
        namespaces: fields.texts("namespaces"),
        non_resource_urls: fields.texts("nonResourceURLs"),
        decision: pratique::Decision {
            allowed: fields.bool("allow").unwrap_or(true),
            reason: fields.text("reason").unwrap_or_default(),
            error: fields.text("error"),
        },
    }
}

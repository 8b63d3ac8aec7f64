//! Decodes suites.

pub(crate) mod budget;
mod chain;
mod cluster;
mod expectation_decoder;
mod objects;
mod rows;

use std::path::{Path, PathBuf};

use pratique_manifest::{Location, NodeId, ObjectSource, Problem, Rule, path_text};

use crate::roots::{OpenError, SuiteRoots};
use crate::suite::{Case, CaseNodes, FileReference, Suite, TestInput};
use crate::{schema::FORMAT, schema::KIND};
use budget::ReadBudget;
pub(crate) use pratique_manifest::MappingFields as Fields;
use pratique_schema::Release;
use pratique_types::Operation;

/// The operation of a mapping with a field `operation`.
pub(crate) fn operation(fields: &Fields<'_>) -> Option<Operation> {
    Operation::from_name(&fields.read_text("operation")?)
}

/// Reads a document with the kind of suites.
pub(crate) fn read_suite(
    source: ObjectSource,
    path: &Path,
    roots: &SuiteRoots,
) -> Result<Suite, Vec<Problem>> {
    let problems = FORMAT.problems(&source, KIND);
    if !problems.is_empty() {
        return Err(problems);
    }
    let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut reader = SuiteDecoder {
        source: &source,
        directory: &directory,
        roots,
        problems: Vec::new(),
        files: Vec::new(),
        budget: ReadBudget::new(),
        needs_chain: Vec::new(),
    };
    let root = reader.fields(source.root());
    let policies = root.list("policies").into_iter();
    let policies = policies.map(|id| reader.reference(id)).collect();
    let configuration = root.node("configuration").map(|id| reader.reference(id));
    let bind = root.bool("bind").unwrap_or_default();
    let defaults = root.bool("defaults").unwrap_or(true);
    let validation = root.bool("validation").unwrap_or(true);
    let release = reader.release(&root);
    let chain = reader.chain(&root);
    let webhooks = reader.webhooks(&root);
    let cluster = reader.cluster(&root);
    let tests = root.list("tests");
    let cases: Vec<Case> = tests.into_iter().flat_map(|test| reader.test(test)).collect();
    let name = root
        .node("metadata")
        .and_then(|id| reader.fields(id).read_text("name"));
    let runs_webhooks = webhooks.is_some() || cases.iter().any(|case| !case.input.webhooks.is_empty());
    reader.check_chain(&root, chain.is_some(), runs_webhooks);
    let (problems, files) = (reader.problems, reader.files);
    if !problems.is_empty() {
        return Err(problems);
    }
    let name = name.unwrap_or_else(|| {
        path.file_stem()
            .map(|stem| path_text(Path::new(stem)))
            .unwrap_or_default()
    });
    Ok(Suite {
        cases,
        bind,
        release,
        defaults,
        validation,
        chain,
        webhooks: if runs_webhooks {
            Some(webhooks.unwrap_or_default())
        } else {
            None
        },
        policies,
        configuration,
        cluster,
        files,
        ..Suite::new(name, path, source, roots)
    })
}

/// Decodes a document that has the shape of a suite.
struct SuiteDecoder<'a> {
    source: &'a ObjectSource,
    directory: &'a Path,
    roots: &'a SuiteRoots,
    problems: Vec<Problem>,
    files: Vec<PathBuf>,
    budget: ReadBudget,
    /// Fields that mean something only where requests go through the server's chain.
    needs_chain: Vec<(NodeId, &'static str)>,
}

impl<'a> SuiteDecoder<'a> {
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

    /// Adds a problem for a file that cannot be opened.
    fn unopened(&mut self, path: &Path, error: &OpenError, at: NodeId) {
        let message = format!("{}: {error}", path_text(path));
        self.problems.push(Problem {
            help: error.help().map(Into::into),
            ..Problem::new(Rule::Unreadable, message).at(self.location(at))
        });
    }

    fn fault_at(&mut self, rule: Rule, message: String, location: Location) {
        self.problems.push(Problem::new(rule, message).at(location));
    }

    fn reference(&self, id: NodeId) -> FileReference {
        let path = self.fields(id).as_text().unwrap_or_default();
        FileReference {
            // `.` is no part of a path that is shown.
            path: self.directory.join(path).components().collect(),
            location: self.location(id),
        }
    }

    /// A test, with its rows.
    fn test(&mut self, id: NodeId) -> Vec<Case> {
        let fields = self.fields(id);
        let name = fields.read_text("name").unwrap_or_default();
        let input = self.input(&fields);
        let expect = fields.node("expect");
        let rows = fields.list("each");
        self.check_objects(&fields, id);
        let base = Case {
            name,
            location: self.name_location(id),
            expected: expect.and_then(|expect| self.expected(expect)),
            input,
            nodes: CaseNodes {
                node: id,
                expect,
                shared: false,
            },
        };
        let bases = match fields.node("objects") {
            Some(_) => self.of_objects(&base, &fields, id),
            None => vec![base],
        };
        let mut cases = Vec::new();
        for base in bases {
            if !self.affords(&base.input, id) {
                return cases;
            }
            match fields.node("each") {
                None => cases.push(base),
                Some(_) => cases.extend(rows.iter().filter_map(|row| self.row(&base, *row))),
            }
        }
        cases
    }

    /// Checks that a test has `object`, `oldObject` or `request`, or else `objects`.
    fn check_objects(&mut self, fields: &Fields<'a>, id: NodeId) {
        let names = ["object", "oldObject", "request"];
        let single = names.iter().find(|name| fields.node(name).is_some());
        let message = match (single, fields.node("objects")) {
            (None, None) => "a test needs an `object`, `objects` or a `request`".to_owned(),
            (Some(name), Some(_)) => format!("a test has either `objects` or `{name}`"),
            (Some(_), None) if fields.node("expectObjects").is_some() => {
                "`expectObjects` is about `objects`, and there are none".to_owned()
            }
            _ => return,
        };
        self.fault(Rule::InvalidField, message, id);
    }

    /// A case for each of several objects.
    fn of_objects(&mut self, base: &Case, fields: &Fields<'a>, id: NodeId) -> Vec<Case> {
        let objects = self.objects(fields);
        if objects.is_empty() && self.problems.is_empty() {
            self.fault(
                Rule::InvalidField,
                "there is no object in `objects`".to_owned(),
                id,
            );
        }
        let has_rows = fields.node("each").is_some();
        let of_object = |test: objects::TestObject| {
            let (expect, expected) = match test.expected {
                Some((node, expected)) => (Some(node), expected),
                None => (base.nodes.expect, base.expected.clone()),
            };
            Case {
                name: format!("{} / {}", base.name, test.label),
                location: base.location.clone(),
                expected,
                nodes: CaseNodes {
                    node: base.nodes.node,
                    expect,
                    shared: has_rows || expect == base.nodes.expect,
                },
                input: TestInput {
                    object: Some(test.object),
                    ..base.input.clone()
                },
            }
        };
        objects.into_iter().map(of_object).collect()
    }

    /// Whether the budget suffices for one more test with this input; adds a problem the first time it does not.
    fn affords(&mut self, input: &TestInput, at: NodeId) -> bool {
        let had = !self.budget.is_spent();
        let has = self.budget.take(input);
        if had && !has {
            self.fault(Rule::InvalidField, budget::SPENT.to_owned(), at);
        }
        has
    }

    /// The location of the name of a test or row.
    fn name_location(&self, id: NodeId) -> Location {
        let name = self.fields(id).node("name").unwrap_or(id);
        self.location(name)
    }

    fn input(&mut self, fields: &Fields<'a>) -> TestInput {
        TestInput {
            object: self.object(fields, "object"),
            old_object: self.object(fields, "oldObject"),
            request: self.object(fields, "request"),
            operation: operation(fields),
            resource: fields.read_text("resource"),
            subresource: fields.read_text("subresource"),
            namespace: fields.read_text("namespace"),
            user: fields.node("user").map(|id| self.user(id)),
            release: self.release(fields),
            dry_run: fields.bool("dryRun").unwrap_or_default(),
            options: fields.value("options"),
            webhooks: self.webhooks(fields).unwrap_or_default(),
            cluster: self.cluster(fields),
        }
    }

    /// The release in the field `kubernetesVersion`, if there is one.
    fn release(&mut self, fields: &Fields<'a>) -> Option<&'static Release> {
        let id = fields.node("kubernetesVersion")?;
        let text = self.fields(id).as_text().unwrap_or_default();
        match Release::by_version(&text) {
            Ok(release) => Some(release),
            Err(error) => {
                self.fault(Rule::InvalidField, error.to_string(), id);
                None
            }
        }
    }

    fn user(&self, id: NodeId) -> pratique_types::UserInfo {
        let fields = self.fields(id);
        if let Some(name) = fields.as_text() {
            return pratique_request::user(&name, &[]);
        }
        pratique_types::UserInfo {
            uid: fields.read_text("uid").unwrap_or_default(),
            extra: fields.map("extra", |texts| texts.items()),
            ..pratique_request::user(
                &fields.read_text("name").unwrap_or_default(),
                &fields.texts("groups"),
            )
        }
    }
}

//! Formats of tests besides ours: other crates read them, and make suites of what they read.

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;

use pratique_json::Value;
use pratique_manifest::{Location, MappingFields, NodeId, ObjectSource, Problem, Rule};
use pratique_types::{Operation, UserInfo};

use crate::read::budget::{self, ReadBudget};
use crate::roots::{OpenError, SuiteRoots};
use crate::suite::{Case, CaseNodes, ClusterState, ExpectedResult, FileReference, Suite, TestInput};

/// The format of another program's tests.
///
/// What such tests say that suites cannot, [is not evaluated](Suite::not_evaluated), and said to be.
pub trait SuiteFormat: Debug + Sync {
    /// A text that every file with such tests has: a file without it is not read.
    fn marker(&self) -> &'static str;

    /// Whether a document of an API version and a kind has such tests.
    fn has_kind(&self, api_version: &str, kind: &str) -> bool;

    /// The suites that a document is.
    ///
    /// # Errors
    /// All problems, with locations.
    fn read(&self, document: &SuiteDocument<'_>) -> Result<Vec<Suite>, Vec<Problem>>;
}

/// A document of tests in another format, with the files that it can name: [those of suites](crate::Roots).
#[derive(Debug)]
pub struct SuiteDocument<'a> {
    source: &'a ObjectSource,
    path: &'a Path,
    roots: &'a SuiteRoots,
    budget: RefCell<ReadBudget>,
}

/// What a test in another format sends to the server.
#[derive(Clone, Debug, Default)]
pub struct CaseInput {
    /// The object.
    pub object: Option<Value<'static>>,
    /// The object that is stored.
    pub old_object: Option<Value<'static>>,
    /// The operation; `None` for the one that the objects suggest.
    pub operation: Option<Operation>,
    /// The user; `None` for that of suites.
    pub user: Option<UserInfo>,
    /// Objects of the cluster, besides those of the suite.
    pub cluster_objects: Vec<Value<'static>>,
}

impl From<CaseInput> for TestInput {
    fn from(input: CaseInput) -> Self {
        TestInput {
            object: input.object,
            old_object: input.old_object,
            operation: input.operation,
            user: input.user,
            cluster: ClusterState {
                objects: input.cluster_objects,
                ..ClusterState::default()
            },
            ..TestInput::default()
        }
    }
}

impl<'a> SuiteDocument<'a> {
    pub(crate) fn new(source: &'a ObjectSource, path: &'a Path, roots: &'a SuiteRoots) -> Self {
        SuiteDocument {
            source,
            path,
            roots,
            budget: RefCell::new(ReadBudget::new()),
        }
    }

    /// The path of its file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The document.
    pub fn root(&self) -> MappingFields<'a> {
        self.fields(self.source.root())
    }

    /// The fields of a node.
    pub fn fields(&self, id: NodeId) -> MappingFields<'a> {
        MappingFields {
            tree: self.source.tree(),
            id,
        }
    }

    /// The name in its metadata.
    pub fn name(&self) -> Option<String> {
        self.fields(self.root().node("metadata")?).read_text("name")
    }

    /// The location of a node.
    pub fn location(&self, id: NodeId) -> Location {
        let span = self.source.tree().nearest_span(id, &[]);
        self.source.document().location(span)
    }

    /// A problem with a node.
    pub fn problem(&self, message: String, at: NodeId) -> Problem {
        Problem::new(Rule::InvalidField, message).at(self.location(at))
    }

    /// The objects of the file that a node names, or of all files below the directory.
    ///
    /// # Errors
    /// A file cannot be read, or there are more objects than fit into the memory that tests may take.
    pub fn objects_at(&self, at: NodeId) -> Result<Vec<Value<'static>>, Vec<Problem>> {
        self.objects(&self.fields(at).as_text().unwrap_or_default(), at)
    }

    /// The only object of the file that a node names.
    ///
    /// # Errors
    /// There are several or none, or as for [`objects_at`](Self::objects_at).
    pub fn object_at(&self, at: NodeId) -> Result<Value<'static>, Vec<Problem>> {
        let mut objects = self.objects_at(at)?;
        match (objects.pop(), objects.is_empty()) {
            (Some(object), true) => Ok(object),
            _ => {
                let file = self.fields(at).as_text().unwrap_or_default();
                Err(vec![self.problem(format!("{file} is not one object"), at)])
            }
        }
    }

    /// The objects of a file that the tests name at a node, or of all files below a directory.
    ///
    /// # Errors
    /// As for [`objects_at`](Self::objects_at).
    pub fn objects(&self, file: &str, at: NodeId) -> Result<Vec<Value<'static>>, Vec<Problem>> {
        let full = self.directory().join(file);
        let failed = |message: String| vec![self.problem(message, at)];
        let unopened = |error: OpenError| failed(format!("{file}: {error}"));
        let paths = self.roots.files(&full, crate::files::below).map_err(unopened)?;
        let mut objects = Vec::new();
        for path in paths {
            let content = self.roots.open(&path).map_err(unopened)?;
            let of_file = pratique_manifest::convert::objects(&content)?;
            if !self.budget.borrow_mut().take_objects(&of_file) {
                return Err(failed(budget::SPENT.to_owned()));
            }
            objects.extend(of_file);
        }
        Ok(objects)
    }

    /// A file of policies that the tests name at a node.
    pub fn policy_file(&self, file: &str, at: NodeId) -> FileReference {
        FileReference {
            path: self.directory().join(file),
            location: self.location(at),
        }
    }

    /// A suite without policies and cases, whose objects are evaluated as they are written.
    pub fn suite(&self, name: String) -> Suite {
        Suite {
            bind: true,
            // The other programs evaluate objects as they are written.
            defaults: false,
            is_foreign: true,
            ..Suite::new(name, self.path, self.source.clone(), self.roots)
        }
    }

    /// A case at a node.
    ///
    /// # Errors
    /// It does not fit into the memory that the tests of a suite may take.
    pub fn case(
        &self,
        at: NodeId,
        name: String,
        expected: ExpectedResult,
        input: CaseInput,
    ) -> Result<Case, Vec<Problem>> {
        let input = TestInput::from(input);
        if !self.budget.borrow_mut().take(&input) {
            return Err(vec![self.problem(budget::SPENT.to_owned(), at)]);
        }
        Ok(Case {
            name,
            location: self.location(at),
            expected: Some(expected),
            input,
            nodes: CaseNodes {
                node: at,
                expect: None,
                shared: true,
            },
        })
    }

    fn directory(&self) -> &'a Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

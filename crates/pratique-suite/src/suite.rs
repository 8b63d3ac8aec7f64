//! A suite as it is run: every row a case of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{Location, NodeId, ObjectSource};
use pratique_types::{Operation, UserInfo};

use crate::authorizer::Rule;
use crate::decision::Decision;
use crate::roots::SuiteRoots;

/// A suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name; that of its file if it has none.
    pub name: String,
    /// The file, as it was given or found.
    pub file: String,
    /// The directory from which on it names files.
    pub directory: PathBuf,
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// Whether policies that no binding names are evaluated as if one without constraints did, which denies.
    pub bind: bool,
    pub(crate) source: ObjectSource,
    pub(crate) policies: Vec<Reference>,
    pub(crate) configuration: Option<Reference>,
    pub(crate) surroundings: Surroundings,
    /// The files that it names, besides policies.
    pub(crate) files: Vec<PathBuf>,
    /// Below which directories it may name files.
    pub(crate) roots: SuiteRoots,
}

impl Suite {
    /// The files that the suite names, besides its policies.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }
}

/// A file that a suite names.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) path: PathBuf,
    pub(crate) location: Location,
}

/// A test, or a row of one.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the test, and that of the row after ` / `.
    pub name: String,
    /// Where it is written.
    pub location: Location,
    /// What is expected; `None` where nobody has said yet.
    pub expected: Option<Expected>,
    pub(crate) ask: Ask,
    pub(crate) written: Written,
}

impl Case {
    /// The case without the objects that it asks and expects: what is told of it, when it was tested.
    pub fn outline(&self) -> Case {
        let expected = self.expected.as_ref().map(|expected| Expected {
            object: None,
            object_contains: None,
            ..expected.clone()
        });
        Case {
            name: self.name.clone(),
            location: self.location.clone(),
            expected,
            ask: Ask::default(),
            written: self.written,
        }
    }
}

/// Where a case is written, for changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The mapping of the test or the row.
    pub(crate) node: NodeId,
    /// The value of `expect` that counts, perhaps that of the test of a row.
    pub(crate) expect: Option<NodeId>,
}

/// What to ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) object: Option<Value<'static>>,
    pub(crate) old_object: Option<Value<'static>>,
    pub(crate) request: Option<Value<'static>>,
    pub(crate) operation: Option<Operation>,
    pub(crate) resource: Option<String>,
    pub(crate) subresource: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) user: Option<UserInfo>,
    pub(crate) dry_run: bool,
    pub(crate) options: Option<Value<'static>>,
    pub(crate) surroundings: Surroundings,
}

/// What is around a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) objects: Vec<Value<'static>>,
    /// What users may do; `None` where that is not said.
    pub(crate) rules: Option<Vec<Rule>>,
}

/// What is expected of a case. What is `None` may be anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// What is decided.
    pub decision: Decision,
    /// The HTTP code of a denial.
    pub code: Option<i32>,
    /// The reason of a denial.
    pub reason: Option<String>,
    /// The whole message of a denial.
    pub message: Option<String>,
    /// A part of the message.
    pub message_contains: Option<String>,
    /// The policy whose denial the user is told.
    pub policy: Option<String>,
    /// All warnings.
    pub warnings: Option<Vec<String>>,
    /// Some of the audit annotations.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object as policies leave it.
    pub object: Option<Value<'static>>,
    /// A part of it.
    pub object_contains: Option<Value<'static>>,
    /// Whether it is left as it is.
    pub unchanged: Option<bool>,
}

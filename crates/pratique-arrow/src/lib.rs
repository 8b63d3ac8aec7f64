//! Admission decisions in columns: record batches in, record batches out.
//!
//! A [`BatchEvaluator`] is a step of a pipeline: it takes a batch with a column `object` of JSON, and gives one with as many
//! rows, in the same order, that says what policies decide. It keeps nothing between batches, and threads may share it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::cast::AsArray as _;
//! use arrow_array::{ArrayRef, RecordBatch, StringArray};
//! use pratique::{Admission, ManifestFile, ManifestPlugin};
//! use pratique_arrow::BatchEvaluator;
//!
//! let policy = r#"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: few-replicas.static.k8s.io}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   validations: [{expression: "object.spec.replicas <= 5", message: no more than 5 replicas}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: few-replicas.static.k8s.io}
//! spec: {policyName: few-replicas.static.k8s.io, validationActions: [Deny]}
//! "#;
//! let file = ManifestFile { path: "policy.yaml".into(), content: policy.into() };
//! let admission = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy).build()?;
//!
//! let deployment = |replicas: u32| {
//!     format!(r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}},"spec":{{"replicas":{replicas},
//!         "selector":{{"matchLabels":{{"a":"b"}}}},
//!         "template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}}}}"#)
//! };
//! let objects = StringArray::from_iter_values([deployment(3), deployment(7)]);
//! let batch = RecordBatch::try_from_iter([("object", Arc::new(objects) as ArrayRef)])?;
//!
//! let results = BatchEvaluator::new(Arc::new(admission)).evaluate(&batch)?;
//! let decisions = results.column_by_name("decision").ok_or("no decisions")?;
//! assert_eq!(decisions.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("allowed"), Some("denied")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A cluster of a release, with namespaces, params and custom resources, is a
//! [`ClusterObjects`](pratique_state::ClusterObjects). [`ResultRows`] makes the same batches of
//! [`Evaluation`](pratique_report::Evaluation)s. [`result_schema`] and [`replay_schema`] say what is in them: columns are added to
//! these, and none is renamed or removed. Files of columns are read and written by the crates of Arrow and Parquet.

mod cells;
mod evaluate;
mod input;
mod rows;
mod text;

pub use evaluate::BatchEvaluator;
pub use input::InputError;
pub use rows::{RecordedOutcome, ResultRow, ResultRows, replay_schema, result_schema};
pub use text::TextColumn;

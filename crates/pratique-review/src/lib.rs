//! What a cluster does to an object, and why: the one engine behind every tool.
//!
//! A [`ReviewInput`] is a request with what a server says when it decodes the object; it is made of a [`GivenObject`], or was sent. A [`Reviewer`] prepares it as a server does
//! before admission, evaluates as much of the server's chain as is asked, and gives a [`Review`]: the outcome, the decisions of
//! policies, defaults, steps, exchanges with webhooks, the explanation.
//!
//! ```
//! use std::sync::Arc;
//!
//! use pratique::api_objects::ApiObjects;
//! use pratique::authorization::NoAuthorizer;
//! use pratique::{Admission, Objects};
//! use pratique_manifest::{LoadOptions, Loader, ManifestFile};
//! use pratique_policy::Origin;
//! use pratique_request::{RequestTemplate, ResourceResolver};
//! use pratique_review::{Decision, GivenObject, ReviewInput, Reviewer, add_policies, bind, read_decision};
//!
//! let policy = b"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: few}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
//!   validations: [{expression: object.spec.replicas <= 5}]
//! ";
//! let file = ManifestFile { path: "few.yaml".into(), content: policy.to_vec() };
//! let builder = Admission::builder();
//! let set = Loader::for_api(&LoadOptions::new(builder.expressions())).load_files(&[file]).unwrap();
//! let mut sets = [(Origin::Api, set)];
//! bind(&mut sets);
//! let [(origin, set)] = sets;
//! let admission = add_policies(builder, origin, set).build().unwrap();
//!
//! let object = br#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":9,
//!     "selector":{"matchLabels":{"a":"b"}},
//!     "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;
//! let object = pratique_json::parse(object).unwrap();
//! let template = RequestTemplate { namespace: "shop".into(), ..RequestTemplate::default() };
//! let resolver = ResourceResolver::default();
//! let given = GivenObject::decode(resolver.release(), object);
//! let (mut input, _) = ReviewInput::from_object(given, &template, &resolver, |_, _| None, 1).unwrap();
//!
//! let mut cluster = Objects::new();
//! cluster.assume_namespaces();
//! let reviewer = Reviewer::policies(&admission, Arc::new(NoAuthorizer));
//! let review = reviewer.review(&cluster, Some(&ApiObjects::default()), &mut input).unwrap();
//! assert_eq!(read_decision(&review.outcome), Decision::Denied);
//! assert!(review.causes.is_empty(), "a policy denies it, and not the server's own validation");
//! ```
//!
//! [`sorted_objects`] divides the objects of files into static manifests and objects of the API, as a server would have them; policies
//! without a binding are [`PolicyWithoutBinding`], and [`SourceFiles`] recognises what is no object of the API by its nature. [`chain`] runs a
//! request through a server's whole chain, step by step.
//!
//! [`ReviewTexts`] are policies, a cluster and an object that somebody gives as texts, as a page or another language does; what comes of
//! them is a [`ReviewedTexts`], with the [`ReviewReport`] of the decision as data.
//!
//! Without the feature `webhooks`, which needs a runtime, policies are evaluated, and nothing else of a server's chain.

pub mod chain;
mod decisions;
mod dropped_field;
#[cfg(feature = "webhooks")]
mod exchange;
mod field_change;
mod field_path;
mod findings;
mod foreign_policy;
mod given_object;
mod input;
mod invalid_cause;
mod loaded_policies;
mod matches;
mod object_diff;
mod plain_finding;
mod pod_expansion;
mod pod_policies;
mod policies;
mod preparation;
mod resource_rules;
mod review_decision;
mod review_detail;
mod review_report;
mod review_texts;
mod reviewer;
pub mod sorted_objects;
mod source_files;
mod stored_services;
mod text_request;
mod text_review;
mod unbound;
mod validator;
#[cfg(feature = "webhooks")]
mod whole_chain;

pub use decisions::{DecisionRecorder, PolicyDecision};
pub use dropped_field::DroppedField;
#[cfg(feature = "webhooks")]
pub use exchange::WebhookExchange;
pub use field_change::changed_fields;
pub use field_path::FieldPath;
pub use foreign_policy::{ForeignPolicy, PolicyEngine};
pub use given_object::{GivenObject, GivenObjectError};
pub use input::{ParentWorkload, ReceiveFailure, ReviewInput, decode_warnings};
pub use invalid_cause::InvalidCause;
pub use object_diff::{DiffLine, diff_objects, without_defaults};
pub use plain_finding::PlainFinding;
pub use pod_expansion::{ExpandMode, PodExpansion, WorkloadPods};
pub use pod_policies::PodPolicies;
pub use policies::{OriginSets, add_policies, add_sets, count_policies, reads_managed_fields};
pub use pratique_objects::FieldValidation;
pub use pratique_report::{Action, Decision};
pub use preparation::{Preparation, PreparedObject};
pub use resource_rules::resource_rules;
pub use review_decision::read_decision;
pub use review_detail::{ReviewDetail, StepRecord};
pub use review_report::{MutationReport, PodReport, RequestSummary, ReviewReport};
pub use review_texts::{NamedUser, ReviewTexts, ReviewedTexts};
pub use reviewer::{PolicyRecord, Review, Reviewer};
pub use source_files::{
    CHART, KUSTOMIZATIONS, SourceFile, SourceFiles, SourceKind, may_have_object, named_parts,
};
pub use unbound::{OrphanBinding, PolicyWithoutBinding, bind, orphans, unbound};
pub use validator::{is_gate_of_validation, is_validated};
#[cfg(feature = "webhooks")]
pub use whole_chain::{ChainRequest, WholeChain};

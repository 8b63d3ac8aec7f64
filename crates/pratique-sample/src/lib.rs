//! Generates objects of built-in kinds for a policy, and evaluates the policy over them.
//!
//! A warning about a policy is most useful with an object that demonstrates it. [`PolicyReads`] finds the fields that a
//! policy's expressions read, and the values that they compare them with; [`generate`](generate()) generates objects
//! with such fields that an API server would accept; a [`PolicyEvaluator`] evaluates the policy over them, with the engine
//! that serves requests; and [`most_expensive`] searches for an object that reaches the cost limit.
//!
//! [`complete_samples`] gives objects as policies see them, with all fields that expressions name, or all but one, and an
//! [`ObservedPolicy`] what each node of an expression does with them. A [`ReadFootprint`] tells which of them a policy cannot tell
//! apart, and a [`SampleMemory`] keeps them for the next edit of a policy, as a
//! [`BoundedMemory`] keeps other things.
//!
//! A [`MutationTrial`] runs the mutations of a policy over such objects, and a [`SampleServer`] tells what the built-in plugins
//! and the validation of a server make of the result.
//!
//! [`CustomKinds`] has objects of custom resources, made for the schemas of their definitions.
//!
//! Results are deterministic: the same policy gives the same objects.
//!
//! ```
//! use pratique_sample::Policy;
//!
//! let policy = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [
//!             {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["CREATE"]},
//!         ]},
//!         "validations": [{"expression": "object.spec.replicas <= 5"}],
//!     },
//! }))?;
//! let policy = Policy::Validating(&policy);
//! assert_eq!(policy.expressions().len(), 1);
//! let served = policy.served(pratique_schema::Release::latest());
//! assert_eq!(served[0].0.kind.kind, "Deployment");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounded_memory;
mod complete;
mod cost;
mod custom;
mod evaluate;
mod footprint;
mod generate;
mod grow;
mod observe;
mod param;
mod policy;
mod random;
mod reads;
mod request;
mod runner;
mod scalar;
mod trial;

pub use bounded_memory::BoundedMemory;
pub use complete::{
    ConvertedText, NamedFields, RequiredConstants, Sample, SampleExtent, SampleInput, SampleMemory,
    SampleObjects, SampleSpec, SelectedMetadata, TextConversion, complete_samples,
};
pub use cost::{CostExample, CostGoal, LARGEST, WorkBudget, most_expensive};
pub use custom::{CustomDefinition, CustomKind, CustomKinds, CustomSample};
pub use evaluate::{EvaluatedExpression, PartValue, PolicyEvaluator};
pub use footprint::ReadFootprint;
pub use generate::{ObjectSpec, generate};
pub use observe::{
    ExpressionFailure, ExpressionOutcome, NodeCoverage, NodeOutcomes, ObservedPolicy, ObservedRun,
    PolicyObservation,
};
pub use param::{ParamName, generate_param};
pub use policy::{Policy, PolicyExpression};
pub use pratique_policy::ExpressionId;
pub use reads::{ComparedText, PolicyReads, ReadStep, ReadTree};
pub use request::SAMPLE_USER;
pub use trial::{
    MutationTrial, SampleServer, ServerFinding, TrialOutcome, describe_difference, find_filled_lists,
    lost_items,
};

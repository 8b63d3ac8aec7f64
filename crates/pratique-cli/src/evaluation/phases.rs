//! How objects are handled besides admission, by the arguments.

use pratique::api_objects::ApiObjects;
use pratique_manifest::ManifestSet;
use pratique_policy::Origin;
use pratique_review::{FieldValidation, Preparation, reads_managed_fields};
use pratique_schema::FeatureGates;

use crate::arguments::{self, ObjectArguments, ReviewArguments, ReviewFormat};

/// The handling of objects besides admission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectPhases {
    /// What is done with objects before admission.
    pub(crate) preparation: Preparation,
    completes: bool,
    webhooks: bool,
}

impl ObjectPhases {
    pub(crate) fn new(arguments: &ObjectArguments, review: &ReviewArguments) -> Self {
        let mut phases = ObjectPhases::for_objects(arguments);
        phases.preparation.records_defaults =
            review.explain || review.answers.outputs.has(ReviewFormat::Diff);
        phases.webhooks = review.webhooks;
        phases
    }

    /// For objects of which nothing is shown but decisions, without webhooks.
    pub(crate) fn for_objects(arguments: &ObjectArguments) -> Self {
        ObjectPhases {
            preparation: Preparation {
                validation: arguments.field_validation.into(),
                validates: arguments.validation.validation,
                ..Preparation::default()
            },
            completes: arguments.defaults,
            webhooks: false,
        }
    }

    /// The built-in kinds of a server with feature gates; `None` where objects stay as they are.
    pub(crate) fn objects(&self, sets: &[(Origin, ManifestSet)], gates: FeatureGates) -> Option<ApiObjects> {
        // Webhooks are sent whole objects.
        self.completes.then(|| {
            let manages = self.webhooks || reads_managed_fields(sets);
            ApiObjects::default()
                .with_gates(gates)
                .with_managed_fields(manages)
        })
    }
}

impl From<arguments::FieldValidation> for FieldValidation {
    fn from(validation: arguments::FieldValidation) -> Self {
        match validation {
            arguments::FieldValidation::Strict => FieldValidation::Strict,
            arguments::FieldValidation::Warn => FieldValidation::Warn,
            arguments::FieldValidation::Ignore => FieldValidation::Ignore,
        }
    }
}

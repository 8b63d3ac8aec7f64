//! Objects as an API server sees them, in the cases of a suite.

use std::borrow::Cow;

use pratique::api_objects::ApiObjects;
use pratique_json::Value;

use crate::actual::ActualResult;
use crate::case_error::CaseError;
use crate::load::Policies;
use crate::suite::{Case, ExpectedResult, Suite};
use pratique_request::{ResourceResolver, kind_of};
use pratique_review::Preparation;
use pratique_state::{ClusterObjects, ObjectOrigin};

/// Metadata that an update has from the stored object.
const IDENTITY: [&str; 4] = ["creationTimestamp", "generation", "resourceVersion", "uid"];

/// The kinds that the cluster of a case serves.
pub(crate) struct CaseKinds {
    pub(crate) resolver: ResourceResolver,
    api_objects: ApiObjects,
    /// Whether objects are completed.
    completes: bool,
}

impl CaseKinds {
    /// The kinds whose objects are completed; `None` where objects stay as they are.
    pub(crate) fn completed(&self) -> Option<&ApiObjects> {
        self.completes.then_some(&self.api_objects)
    }
}

impl Suite {
    /// What is done with objects before admission. Where they are not completed, tests of other programs have some without names.
    pub(crate) fn preparation(&self) -> Preparation {
        Preparation {
            takes_nameless: !self.defaults,
            validates: self.validation,
            ..Preparation::default()
        }
    }

    /// The kinds that the cluster of a case serves: the built-in ones, and those of definitions and snapshots.
    ///
    /// # Errors
    /// A definition cannot be used.
    pub(crate) fn kinds(&self, case: &Case, policies: &Policies) -> Result<CaseKinds, CaseError> {
        let cluster = ClusterObjects {
            resolver: policies.resolver(),
            kinds: policies.api_objects(),
            ..ClusterObjects::default()
        };
        let mut cluster = cluster.with_gates(policies.gates);
        for object in self.objects(case) {
            cluster.define(object, ObjectOrigin::Given)?;
        }
        for snapshot in self.snapshots(case) {
            snapshot.resolve(&mut cluster.resolver);
        }
        Ok(CaseKinds {
            resolver: cluster.resolver,
            api_objects: cluster.kinds,
            completes: self.defaults,
        })
    }

    /// The kinds whose objects are completed; `None` where objects stay as they are.
    ///
    /// # Errors
    /// A definition cannot be used.
    pub(crate) fn api_objects(
        &self,
        case: &Case,
        policies: &Policies,
    ) -> Result<Option<ApiObjects>, CaseError> {
        if !self.defaults {
            return Ok(None);
        }
        self.kinds(case, policies).map(|kinds| Some(kinds.api_objects))
    }

    /// An expectation with what a server sets in its whole object.
    pub(crate) fn completed<'e>(
        &self,
        (case, policies): (&Case, &Policies),
        expected: &'e ExpectedResult,
        actual: &ActualResult,
    ) -> Cow<'e, ExpectedResult> {
        let (Some(object), Ok(Some(objects))) = (&expected.object, self.api_objects(case, policies)) else {
            return Cow::Borrowed(expected);
        };
        let Ok(kind) = kind_of(object) else {
            return Cow::Borrowed(expected);
        };
        let mut object = object.clone();
        // One that cannot be converted is compared as it is.
        let _ = objects.complete(&kind, &mut object);
        let names = IDENTITY.into_iter().chain(["managedFields"]);
        let actual_member = |name| Some((name, actual.object.at(&["metadata", name])?));
        if let Value::Object(members) = &mut object
            && let Some(Value::Object(metadata)) = members.get_mut("metadata")
        {
            for (name, value) in names.filter_map(actual_member) {
                if !metadata.contains_key(name) {
                    metadata.insert(name, value.clone());
                }
            }
        }
        Cow::Owned(ExpectedResult {
            object: Some(object),
            ..expected.clone()
        })
    }
}

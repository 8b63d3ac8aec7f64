//! Checking a request against quotas.

use std::borrow::Cow;
use std::collections::BTreeSet;

use pratique_core::Attributes;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_plugin::Rejection;
use pratique_types::{Operation, status};

use crate::fields::text_at;
use crate::quota_measures::{MeasureInputs, MeasuredResource};
use crate::quotas::{NamedAmounts, QuotaStatus, StoredQuota};
use crate::{QuotaError, ResourceList, ScopeSelector};

/// A request whose usage is checked.
pub(crate) struct QuotaCheck<'c, 'a> {
    pub(crate) attributes: &'c Attributes<'a>,
    pub(crate) measured: &'a MeasuredResource,
    pub(crate) measuring: MeasureInputs<'a>,
}

/// A quota that covers the request.
struct CoveringQuota<'q> {
    quota: &'q StoredQuota,
    status: &'q QuotaStatus,
}

/// The usage of a quota after the request.
pub(crate) struct NewUsage<'q> {
    pub(crate) quota: &'q StoredQuota,
    pub(crate) used: ResourceList<'q>,
}

/// The quotas that cover a request, and the resources that they limit.
#[derive(Default)]
struct QuotaCoverage<'q> {
    quotas: Vec<CoveringQuota<'q>>,
    /// The resources that some of them limit.
    names: BTreeSet<&'q str>,
    /// The scopes of all quotas that the object is in.
    scopes: Vec<&'q ScopeSelector>,
}

impl<'a> QuotaCheck<'_, 'a> {
    /// Checks a request against the quotas that can matter, in order.
    ///
    /// # Errors
    /// The request does not fit, or an object or quota is invalid.
    // Upstream: pkg/admission/plugin/resourcequota/controller.go, CheckRequest
    pub(crate) fn run<'q>(
        &self,
        quotas: impl Iterator<Item = &'q StoredQuota>,
    ) -> Result<Vec<NewUsage<'q>>, Rejection>
    where
        'a: 'q,
    {
        let object = self.attributes.object;
        // The reference lets requests pass if the configured scopes are invalid.
        let Ok(limited_scopes) = self.limited_scopes() else {
            return Ok(Vec::new());
        };
        let usage = self.measured.usage(object, &self.measuring)?;
        let limited = self.limited_names(&usage);
        let coverage = self.coverage(quotas)?;
        let mut negative: Vec<&str> = usage
            .iter()
            .filter_map(|(name, amount)| (amount.signum() < 0).then_some(name))
            .collect();
        if !negative.is_empty() {
            negative.sort_unstable();
            let names = negative.join(",");
            return Err(self.forbidden(&format!("quota usage is negative for resource(s): {names}")));
        }
        let deltas = self.deltas(&usage, &coverage.quotas)?;
        if deltas.are_empty() {
            return Ok(Vec::new());
        }
        let uncovered: Vec<&str> = limited
            .iter()
            .map(String::as_str)
            .filter(|name| !coverage.names.contains(name))
            .collect();
        if !uncovered.is_empty() {
            let names = uncovered.join(",");
            return Err(self.forbidden(&format!("insufficient quota to consume: {names}")));
        }
        let is_covered =
            |scope: &&ScopeSelector| coverage.scopes.iter().any(|covered| covered.scope == scope.scope);
        let uncovered: Vec<String> = limited_scopes
            .into_iter()
            .filter(|scope| !is_covered(scope))
            .map(ToString::to_string)
            .collect();
        if !uncovered.is_empty() {
            let scopes = uncovered.join(" ");
            return Err(Rejection::error(format!(
                "insufficient quota to match these scopes: [{scopes}]"
            )));
        }
        self.booked(coverage.quotas, &deltas)
    }

    /// The scopes of the configuration that the object is in.
    fn limited_scopes(&self) -> Result<Vec<&'a ScopeSelector>, QuotaError> {
        let mut scopes = Vec::new();
        if self.measured.has_scopes() {
            for limited in self.measuring.limited {
                for selector in &limited.match_scopes {
                    if self.is_in_scope(self.attributes.object, selector)? {
                        scopes.push(selector);
                    }
                }
            }
        }
        Ok(scopes)
    }

    /// The resources that only quotas make available, of those that the object uses.
    // Upstream: pkg/admission/plugin/resourcequota/controller.go, limitedByDefault
    fn limited_names(&self, usage: &ResourceList<'_>) -> BTreeSet<String> {
        let resource = &self.attributes.request.resource;
        let settings = self.measuring.limited.iter();
        let limited = settings
            .filter(|limited| limited.api_group == resource.group && limited.resource == resource.resource);
        let mut names = BTreeSet::new();
        for limited in limited {
            let contains = |name: &str| {
                limited
                    .match_contains
                    .iter()
                    .any(|part| name.contains(part.as_str()))
            };
            let used = usage.iter().filter(|(_, amount)| amount.signum() > 0);
            names.extend(
                used.filter(|(name, _)| contains(name))
                    .map(|(name, _)| name.to_owned()),
            );
        }
        names
    }

    /// The quotas that cover the object.
    fn coverage<'q>(
        &self,
        quotas: impl Iterator<Item = &'q StoredQuota>,
    ) -> Result<QuotaCoverage<'q>, Rejection> {
        let object = self.attributes.object;
        let mut coverage = QuotaCoverage::default();
        // The reference takes quotas in any order. Here refusals come before selectors that cannot be read.
        let mut failure = None;
        for quota in quotas {
            if self.measured.has_scopes()
                && let Err(error) = self.add_scopes(object, quota, &mut coverage)
            {
                failure.get_or_insert(error);
                continue;
            }
            let status = match &quota.status {
                Ok(status) => status,
                Err(error) => return Err(error.clone().into()),
            };
            let limited = self.limited_by(status);
            if limited.is_empty() || !self.are_in_scopes(object, quota)? {
                continue;
            }
            let name = &quota.name;
            if let Some(missing) = self
                .measured
                .missing(object, &limited, self.measuring.rules.has_pod_level)
            {
                return Err(self.forbidden(&format!("failed quota: {name}: {missing}")));
            }
            let is_used = |limited: &&str| status.used.iter().any(|(used, _)| used == limited);
            if !limited.iter().all(is_used) {
                let mut limited = limited;
                limited.sort_unstable();
                let names = limited.join(",");
                return Err(self.forbidden(&format!("status unknown for quota: {name}, resources: {names}")));
            }
            coverage.names.extend(limited);
            coverage.quotas.push(CoveringQuota { quota, status });
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(coverage),
        }
    }

    /// Adds the scopes of a quota that the object is in.
    fn add_scopes<'q>(
        &self,
        object: &Value<'_>,
        quota: &'q StoredQuota,
        coverage: &mut QuotaCoverage<'q>,
    ) -> Result<(), Rejection> {
        for selector in &quota.selectors {
            let is_in_scope = self.is_in_scope(object, selector).map_err(|error| {
                let name = &quota.name;
                Rejection::error(format!(
                    "error matching scopes of quota {name}, err: error on matching scope {selector}: {error}"
                ))
            })?;
            if is_in_scope {
                coverage.scopes.push(selector);
            }
        }
        Ok(())
    }

    /// The measured names that a quota limits.
    fn limited_by<'q>(&self, status: &'q QuotaStatus) -> Vec<&'q str> {
        let mut limited = Vec::new();
        for (name, _) in &status.hard {
            let times = self
                .measured
                .matches(name, self.measuring.rules, self.measuring.classes);
            limited.extend(std::iter::repeat_n(name.as_str(), times));
        }
        limited
    }

    /// Whether an object is in all scopes of a quota.
    fn are_in_scopes(&self, object: &Value<'_>, quota: &StoredQuota) -> Result<bool, QuotaError> {
        if !self.measured.has_scopes() {
            return Ok(quota.selectors.is_empty());
        }
        let mut matches = true;
        for selector in &quota.selectors {
            matches &= self.is_in_scope(object, selector)?;
        }
        Ok(matches)
    }

    fn is_in_scope(&self, object: &Value<'_>, selector: &ScopeSelector) -> Result<bool, QuotaError> {
        self.measured.is_in_scope(object, selector, &self.measuring)
    }

    /// The usage that the request adds to each covering quota, or in total if there is none.
    fn deltas(
        &self,
        usage: &ResourceList<'a>,
        covering: &[CoveringQuota<'_>],
    ) -> Result<UsageDeltas<'a>, Rejection> {
        let request = self.attributes.request;
        let full = usage.without_zeros();
        let all_full = |added| UsageDeltas {
            full: added,
            updated: ResourceList::default(),
            is_update_of: vec![false; covering.len()],
            has_quotas: !covering.is_empty(),
        };
        if request.operation != Operation::Update {
            return Ok(all_full(full));
        }
        let old_object = &request.old_object;
        if old_object.is_null() {
            return Err(
                self.forbidden("unable to get previous usage since prior version of object was not found")
            );
        }
        // Without a version, the object is created by the update.
        if text_at(old_object, &["metadata", "resourceVersion"]).is_empty() {
            return Ok(all_full(full));
        }
        let used_before = self.measured.usage(old_object, &self.measuring)?;
        let updated = usage.excess_over(&used_before)?;
        let mut is_update_of = Vec::with_capacity(covering.len());
        for covering in covering {
            let did_match = !self.limited_by(covering.status).is_empty()
                && self.are_in_scopes(old_object, covering.quota)?;
            is_update_of.push(did_match);
        }
        Ok(UsageDeltas {
            // Without covering quotas, only the added usage counts.
            full: if covering.is_empty() {
                updated.clone()
            } else {
                full
            },
            updated,
            is_update_of,
            has_quotas: !covering.is_empty(),
        })
    }

    /// The new usage of each quota, if the request fits.
    fn booked<'q>(
        &self,
        covering: Vec<CoveringQuota<'q>>,
        deltas: &UsageDeltas<'a>,
    ) -> Result<Vec<NewUsage<'q>>, Rejection> {
        let mut booked = Vec::new();
        for (at, CoveringQuota { quota, status }) in covering.into_iter().enumerate() {
            let hard = |name: &str| status.hard.iter().find(|(other, _)| other == name);
            let used = |name: &str| status.used.iter().find(|(other, _)| other == name);
            let requested = deltas
                .usage_at(at)
                .iter()
                .filter(|(name, _)| hard(name).is_some());
            let requested: ResourceList<'_> = requested
                .map(|(name, amount)| (Cow::Borrowed(name), amount.clone()))
                .collect();
            if requested.is_empty() {
                continue;
            }
            let mut new: ResourceList<'q> = status
                .used
                .iter()
                .map(|(name, amount)| (Cow::Borrowed(name.as_str()), amount.clone()))
                .collect();
            let mut exceeded = Vec::new();
            for (name, amount) in requested.iter() {
                if let Some((name, limit)) = hard(name) {
                    new.add(Cow::Borrowed(name), amount)?;
                    if new.get(name).is_some_and(|new| new > limit) {
                        exceeded.push(name.as_str());
                    }
                }
            }
            // Resources that were allocated are counted, whether they fit or not.
            if self.attributes.request.sub_resource != "status" && !exceeded.is_empty() {
                let masked = |amounts: &mut dyn Iterator<Item = (&str, &Quantity)>| {
                    let amounts = amounts.filter(|(name, _)| exceeded.contains(name));
                    let masked: ResourceList<'_> = amounts
                        .map(|(name, amount)| (Cow::Owned(name.to_owned()), amount.clone()))
                        .collect();
                    masked.to_string()
                };
                let requested = masked(&mut requested.iter());
                let of = |amounts: &NamedAmounts| {
                    masked(&mut amounts.iter().map(|(name, amount)| (name.as_str(), amount)))
                };
                return Err(self.forbidden(&format!(
                    "exceeded quota: {}, requested: {requested}, used: {}, limited: {}",
                    quota.name,
                    of(&status.used),
                    of(&status.hard)
                )));
            }
            let is_changed = new.iter().any(|(name, amount)| match used(name) {
                Some((_, old_amount)) => old_amount != amount,
                None => true,
            });
            if is_changed {
                booked.push(NewUsage { quota, used: new });
            }
        }
        Ok(booked)
    }

    // Upstream: apiserver/pkg/admission/errors.go, NewForbidden
    fn forbidden(&self, error: &str) -> Rejection {
        let request = self.attributes.request;
        let prefix = || match text_at(self.attributes.object, &["metadata", "generateName"]) {
            "" => "Unknown",
            prefix => prefix,
        };
        let name = match self.attributes.object_name() {
            "" => prefix(),
            name => name,
        };
        status::forbidden(&request.resource, name, error).into()
    }
}

/// The usage that a request adds to quotas.
struct UsageDeltas<'a> {
    /// The total usage of the object.
    full: ResourceList<'a>,
    /// Its usage beyond that of the stored object.
    updated: ResourceList<'a>,
    /// Which of the covering quotas covered it before.
    is_update_of: Vec<bool>,
    has_quotas: bool,
}

impl<'a> UsageDeltas<'a> {
    /// The usage that is added to the covering quota at a place.
    fn usage_at(&self, at: usize) -> &ResourceList<'a> {
        match self.is_update_of.get(at) {
            Some(true) => &self.updated,
            _ => &self.full,
        }
    }

    /// Whether nothing is added anywhere.
    fn are_empty(&self) -> bool {
        if self.has_quotas {
            (0..self.is_update_of.len()).all(|at| self.usage_at(at).is_empty())
        } else {
            self.full.is_empty()
        }
    }
}

//! The quotas of a namespace, read once and found by what they limit.

use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;

use crate::fields::text_at;
use crate::measured::Measured;
use crate::names;
use crate::resource_list::{members, quantity};
use crate::scope::selectors_of;
use crate::{QuotaError, ScopeSelector};

/// Amounts by name, as the status of a quota has them.
pub(crate) type Amounts = Vec<(String, Quantity)>;

/// A quota.
pub(crate) struct Quota {
    pub(crate) object: Arc<Value<'static>>,
    pub(crate) name: String,
    pub(crate) selectors: Vec<ScopeSelector>,
    pub(crate) status: Result<QuotaStatus, QuotaError>,
}

/// What a quota allows, and what is used: only its status counts.
pub(crate) struct QuotaStatus {
    pub(crate) hard: Amounts,
    pub(crate) used: Amounts,
}

/// The quotas of a namespace.
pub(crate) struct NamespaceQuotas {
    source: Vec<Arc<Value<'static>>>,
    pub(crate) all: Vec<Arc<Quota>>,
    pods: Vec<usize>,
    services: Vec<usize>,
    volume_claims: Vec<usize>,
    resource_claims: Vec<usize>,
    counts: HashMap<String, Vec<usize>, RandomState>,
}

impl Quota {
    fn new(object: &Arc<Value<'static>>) -> Self {
        let amounts = |field| {
            let amounts = members(object.at(&["status", field]));
            let amounts = amounts.map(|(name, amount)| Ok((name.to_owned(), quantity(amount)?)));
            amounts.collect::<Result<Amounts, QuotaError>>()
        };
        let status = || {
            Ok(QuotaStatus {
                hard: amounts("hard")?,
                used: amounts("used")?,
            })
        };
        Quota {
            object: Arc::clone(object),
            name: text_at(object, &["metadata", "name"]).to_owned(),
            selectors: selectors_of(object),
            status: status(),
        }
    }

    /// The names that it limits.
    fn names(&self) -> impl Iterator<Item = &str> {
        members(self.object.at(&["status", "hard"])).map(|(name, _)| name)
    }
}

impl NamespaceQuotas {
    /// The quotas of a list. What did not change since is taken from before.
    pub(crate) fn new(list: &[Arc<Value<'static>>], before: Option<&NamespaceQuotas>) -> Self {
        let reused = |at: usize, object: &Arc<Value<'static>>| {
            let quota = before?.all.get(at)?;
            Arc::ptr_eq(&quota.object, object).then(|| Arc::clone(quota))
        };
        let quotas = list.iter().enumerate();
        let quotas =
            quotas.map(|(at, object)| reused(at, object).unwrap_or_else(|| Arc::new(Quota::new(object))));
        let mut index = NamespaceQuotas {
            source: list.to_vec(),
            all: quotas.collect(),
            pods: Vec::new(),
            services: Vec::new(),
            volume_claims: Vec::new(),
            resource_claims: Vec::new(),
            counts: HashMap::default(),
        };
        for (at, quota) in index.all.iter().enumerate() {
            let has = |is_of: fn(&str) -> bool| quota.names().any(is_of);
            let fails = |measured: &Measured| {
                quota
                    .selectors
                    .iter()
                    .any(|selector| measured.is_invalid_scope(selector))
            };
            if has(|name| names::of_pods(name) > 0) || fails(&Measured::Pods) {
                index.pods.push(at);
            }
            if has(names::is_of_services) {
                index.services.push(at);
            }
            if has(names::is_of_volume_claims) || fails(&Measured::VolumeClaims) {
                index.volume_claims.push(at);
            }
            if has(names::may_be_of_resource_claims) {
                index.resource_claims.push(at);
            }
            for name in quota.names().filter(|name| names::is_count(name)) {
                index.counts.entry_ref(name).or_default().push(at);
            }
        }
        index
    }

    /// Whether these are the quotas of a list.
    pub(crate) fn are_of(&self, list: &[Arc<Value<'static>>]) -> bool {
        let mut pairs = self.source.iter().zip(list);
        self.source.len() == list.len() && pairs.all(|(before, now)| Arc::ptr_eq(before, now))
    }

    /// The quotas that can matter to what is measured, in order.
    pub(crate) fn of(&self, measured: &Measured) -> impl Iterator<Item = &Arc<Quota>> {
        let mut both = Vec::new();
        let found = match measured {
            Measured::Pods => self.pods.as_slice(),
            Measured::Services => self.services.as_slice(),
            Measured::VolumeClaims => self.volume_claims.as_slice(),
            Measured::ResourceClaims => self.resource_claims.as_slice(),
            Measured::Count { name, alias } => {
                let named = |name: &str| self.counts.get(name).map_or(&[] as &[_], Vec::as_slice);
                match (named(name), named(alias)) {
                    (found, []) | ([], found) => found,
                    (found, others) => {
                        both.extend(found.iter().chain(others).copied());
                        both.sort_unstable();
                        both.dedup();
                        &[]
                    }
                }
            }
        };
        let found = found.iter().copied().chain(both);
        found.filter_map(|at| self.all.get(at))
    }
}

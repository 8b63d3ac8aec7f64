//! The quotas of a namespace, read once and found by what they limit.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_plugin::DerivedValues;
use pratique_schema::Release;

use crate::fields::text_at;
use crate::names;
use crate::quota_measures::MeasuredResource;
use crate::resource_list::{members, quantity};
use crate::scope::selectors_of;
use crate::{QuotaError, ScopeSelector};

/// Amounts by name, as the status of a quota has them.
pub(crate) type NamedAmounts = Vec<(String, Quantity)>;

/// A quota.
pub(crate) struct StoredQuota {
    pub(crate) object: Arc<Value<'static>>,
    pub(crate) name: String,
    pub(crate) selectors: Vec<ScopeSelector>,
    pub(crate) status: Result<QuotaStatus, QuotaError>,
}

/// The limits and usage of a quota: only its status counts.
pub(crate) struct QuotaStatus {
    pub(crate) hard: NamedAmounts,
    pub(crate) used: NamedAmounts,
}

/// The places of the quotas of a namespace by the resources that they limit.
#[derive(Default)]
pub(crate) struct QuotaIndex {
    pods: Vec<usize>,
    services: Vec<usize>,
    volume_claims: Vec<usize>,
    resource_claims: Vec<usize>,
    counts: HashMap<String, Vec<usize>, RandomState>,
}

impl StoredQuota {
    fn new(object: &Arc<Value<'static>>) -> Self {
        let amounts = |field| {
            let amounts = members(object.at(&["status", field]));
            let amounts = amounts.map(|(name, amount)| Ok((name.to_owned(), quantity(amount)?)));
            amounts.collect::<Result<NamedAmounts, QuotaError>>()
        };
        let status = || {
            Ok(QuotaStatus {
                hard: amounts("hard")?,
                used: amounts("used")?,
            })
        };
        StoredQuota {
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

impl DerivedValues for QuotaIndex {
    type Item = StoredQuota;

    fn read(object: &Arc<Value<'static>>) -> StoredQuota {
        StoredQuota::new(object)
    }

    fn index(items: &[Arc<StoredQuota>]) -> Self {
        let mut index = QuotaIndex::default();
        for (at, quota) in items.iter().enumerate() {
            let has = |is_of: fn(&str) -> bool| quota.names().any(is_of);
            // What any release takes for one: others measure nothing of it.
            let is_of_pods = |name: &str| names::of_pods(name, Release::latest()) > 0;
            let fails = |measured: &MeasuredResource| {
                quota
                    .selectors
                    .iter()
                    .any(|selector| measured.is_invalid_scope(selector))
            };
            if quota.names().any(is_of_pods) || fails(&MeasuredResource::Pods) {
                index.pods.push(at);
            }
            if has(names::is_of_services) {
                index.services.push(at);
            }
            if has(names::is_of_volume_claims) || fails(&MeasuredResource::VolumeClaims) {
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
}

impl QuotaIndex {
    /// Whether a quota counts the objects of some resource of a group: `count/widgets.example.com`.
    pub(crate) fn counts_any_of(&self, group: &str) -> bool {
        let mut names = self.counts.keys();
        names.any(|name| name.split_once('.').is_some_and(|(_, of)| of == group))
    }

    /// The places of the quotas that may limit the measured resources, in order.
    pub(crate) fn places(&self, measured: &MeasuredResource) -> Cow<'_, [usize]> {
        let (name, alias) = match measured {
            MeasuredResource::Pods => return Cow::Borrowed(&self.pods),
            MeasuredResource::Services => return Cow::Borrowed(&self.services),
            MeasuredResource::VolumeClaims => return Cow::Borrowed(&self.volume_claims),
            MeasuredResource::ResourceClaims => return Cow::Borrowed(&self.resource_claims),
            MeasuredResource::Count { name, alias } => (name, alias),
        };
        let named = |name: &str| self.counts.get(name).map_or(&[] as &[_], Vec::as_slice);
        match (named(name), named(alias)) {
            (places, []) | ([], places) => Cow::Borrowed(places),
            (places, others) => {
                let mut both = [places, others].concat();
                both.sort_unstable();
                both.dedup();
                Cow::Owned(both)
            }
        }
    }
}

//! The contents of limit ranges, read once.

use pratique_json::{Object, Value};

use super::index::Concern;
use super::requested_amount::Amount;
use crate::object::{elements, members, text};
use crate::pods::resources::{amounts, quantity};

/// The limits of a limit range on pods, and on claims.
#[derive(Debug)]
pub(super) struct Limits {
    /// The default requests and limits of containers.
    pub(super) defaults: Defaults,
    /// The resources that have bounds.
    pub(super) resources: Vec<String>,
    /// Its items, in order.
    pub(super) items: Vec<Item>,
}

/// Resources of containers that do not name them.
#[derive(Debug)]
pub(super) struct Defaults {
    pub(super) requests: Vec<(String, String)>,
    pub(super) limits: Vec<(String, String)>,
}

/// Bounds of one type.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) bounded: Bounded,
    pub(super) least: Bounds,
    pub(super) most: Bounds,
    /// How many times a request a limit may be.
    pub(super) ratios: Bounds,
}

/// Amounts of resources, each with the place of the resource among those of the limit range.
pub(super) type Bounds = Vec<(usize, Amount)>;

/// The type of object that bounds are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounded {
    Container,
    Pod,
    Claim,
}

impl Defaults {
    /// The fields of the resources of containers, each with its defaults.
    pub(super) fn fields(&self) -> [(&'static str, &[(String, String)]); 2] {
        [("requests", &self.requests), ("limits", &self.limits)]
    }
}

impl Bounded {
    /// The type as limit ranges name it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Bounded::Container => "Container",
            Bounded::Pod => "Pod",
            Bounded::Claim => "PersistentVolumeClaim",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [Bounded::Container, Bounded::Pod, Bounded::Claim];
        all.into_iter().find(|bounded| bounded.as_str() == text)
    }
}

impl Limits {
    /// Reads a limit range.
    pub(super) fn new(range: &Value<'static>) -> Self {
        let items = elements(range, &["spec", "limits"]).iter();
        let mut resources = Vec::new();
        let items = items.filter_map(|item| Item::new(item, &mut resources));
        Limits {
            items: items.collect(),
            defaults: Defaults {
                requests: defaults(range, "defaultRequest"),
                limits: defaults(range, "default"),
            },
            resources,
        }
    }

    /// Whether it limits pods or claims.
    pub(super) fn concerns(&self, concern: Concern) -> bool {
        let is_of = |item: &Item| match item.bounded {
            Bounded::Container | Bounded::Pod => concern == Concern::Pods,
            Bounded::Claim => concern == Concern::Claims,
        };
        self.items.iter().any(is_of)
    }
}

impl Item {
    fn new(item: &Value<'static>, resources: &mut Vec<String>) -> Option<Self> {
        let bounded = Bounded::parse(text(item, &["type"]))?;
        let mut place = |name: &str| {
            let known = resources.iter().position(|resource| resource == name);
            known.unwrap_or_else(|| {
                resources.push(name.to_owned());
                resources.len() - 1
            })
        };
        let mut bounds = |field: &str| -> Bounds {
            let amounts = amounts(item, &[field]);
            amounts
                .map(|(name, amount)| (place(name), Amount::new(amount)))
                .collect()
        };
        Some(Item {
            bounded,
            least: bounds("min"),
            most: bounds("max"),
            ratios: bounds("maxLimitRequestRatio"),
        })
    }

    /// Whether it has a bound of the resource at a place.
    pub(super) fn bounds(&self, place: usize) -> bool {
        let mut all = self.least.iter().chain(&self.most).chain(&self.ratios);
        all.any(|(bounded, _)| *bounded == place)
    }
}

/// The defaults in a field of all items for containers, by name; of several for a resource the last.
// Upstream: plugin/pkg/admission/limitranger/admission.go, defaultContainerResourceRequirements
fn defaults(range: &Value<'_>, field: &str) -> Vec<(String, String)> {
    let mut defaults: Vec<(String, String)> = Vec::new();
    let items = elements(range, &["spec", "limits"]).iter();
    for item in items.filter(|item| text(item, &["type"]) == "Container") {
        for (name, value) in members(item, &[field]).into_iter().flat_map(Object::iter) {
            let Some(quantity) = quantity(value) else { continue };
            match defaults.iter_mut().find(|(other, _)| other == name) {
                Some(entry) => entry.1 = quantity.to_string(),
                None => defaults.push((name.to_owned(), quantity.to_string())),
            }
        }
    }
    defaults.sort_unstable();
    defaults
}

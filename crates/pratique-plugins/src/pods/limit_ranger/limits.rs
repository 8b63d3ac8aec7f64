//! The contents of limit ranges, read once.

use pratique_json::{Object, Value};

use super::index::LimitConcern;
use super::requested_amount::RoundedAmount;
use crate::object::{elements, members, text};
use crate::pods::resources::{amounts, quantity};

/// The limits of a limit range on pods, and on claims.
#[derive(Debug)]
pub(super) struct RangeLimits {
    /// The default requests and limits of containers.
    pub(super) defaults: ContainerDefaults,
    /// The resources that have bounds.
    pub(super) resources: Vec<String>,
    /// Its items, in order.
    pub(super) items: Vec<TypeBounds>,
}

/// Resources of containers that do not name them.
#[derive(Debug)]
pub(super) struct ContainerDefaults {
    pub(super) requests: Vec<(String, String)>,
    pub(super) limits: Vec<(String, String)>,
}

/// Bounds of one type.
#[derive(Debug)]
pub(super) struct TypeBounds {
    pub(super) bounded: BoundedType,
    pub(super) least: AmountBounds,
    pub(super) most: AmountBounds,
    /// How many times a request a limit may be.
    pub(super) ratios: AmountBounds,
}

/// Amounts of resources, each with the place of the resource among those of the limit range.
pub(super) type AmountBounds = Vec<(usize, RoundedAmount)>;

/// The type of object that bounds are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundedType {
    Container,
    Pod,
    Claim,
}

impl ContainerDefaults {
    /// The fields of the resources of containers, each with its defaults.
    pub(super) fn fields(&self) -> [(&'static str, &[(String, String)]); 2] {
        [("requests", &self.requests), ("limits", &self.limits)]
    }
}

impl BoundedType {
    /// The type as limit ranges name it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            BoundedType::Container => "Container",
            BoundedType::Pod => "Pod",
            BoundedType::Claim => "PersistentVolumeClaim",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [BoundedType::Container, BoundedType::Pod, BoundedType::Claim];
        all.into_iter().find(|bounded| bounded.as_str() == text)
    }
}

impl RangeLimits {
    /// Reads a limit range.
    pub(super) fn new(range: &Value<'static>) -> Self {
        let items = elements(range, &["spec", "limits"]).iter();
        let mut resources = Vec::new();
        let items = items.filter_map(|item| TypeBounds::new(item, &mut resources));
        RangeLimits {
            items: items.collect(),
            defaults: ContainerDefaults {
                requests: defaults(range, "defaultRequest"),
                limits: defaults(range, "default"),
            },
            resources,
        }
    }

    /// Whether it limits pods or claims.
    pub(super) fn concerns(&self, concern: LimitConcern) -> bool {
        let is_of = |item: &TypeBounds| match item.bounded {
            BoundedType::Container | BoundedType::Pod => concern == LimitConcern::Pods,
            BoundedType::Claim => concern == LimitConcern::Claims,
        };
        self.items.iter().any(is_of)
    }
}

impl TypeBounds {
    fn new(item: &Value<'static>, resources: &mut Vec<String>) -> Option<Self> {
        let bounded = BoundedType::parse(text(item, &["type"]))?;
        let mut place = |name: &str| {
            let known = resources.iter().position(|resource| resource == name);
            known.unwrap_or_else(|| {
                resources.push(name.to_owned());
                resources.len() - 1
            })
        };
        let mut bounds = |field: &str| -> AmountBounds {
            let amounts = amounts(item, &[field]);
            amounts
                .map(|(name, amount)| (place(name), RoundedAmount::new(amount)))
                .collect()
        };
        Some(TypeBounds {
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

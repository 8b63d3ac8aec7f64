//! The requests and limits of pods for the resources that a limit range bounds, each amount read once.

use std::collections::HashMap;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};
use smallvec::SmallVec;

use crate::object::{members, text};
use crate::pods::containers;
use crate::pods::resources::{ContainerRole, ResourceSum, of_pod_itself, quantity};

/// An amount, with the values that rules compare: rounded up to whole ones, and to thousandths.
#[derive(Debug)]
pub(super) struct RoundedAmount {
    pub(super) quantity: Quantity,
    pub(super) value: i64,
    pub(super) milli_value: i64,
}

/// Equality is that of the numbers.
impl PartialEq for RoundedAmount {
    fn eq(&self, other: &Self) -> bool {
        self.quantity == other.quantity
    }
}

/// The request and limit of a resource.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RequestedAmount {
    pub(super) request: Option<RoundedAmount>,
    pub(super) limit: Option<RoundedAmount>,
}

/// The requests and limits of a pod and its containers, main containers first.
pub(super) struct PodAmounts<'r, 'p> {
    resources: &'r [String],
    /// The pod-level resources, if they count.
    of_itself: Option<&'p Value<'p>>,
    roles: SmallVec<[ContainerRole; 8]>,
    names: SmallVec<[&'p str; 4]>,
    /// For each container as many amounts as there are resources.
    amounts: SmallVec<[RequestedAmount; 4]>,
}

/// Whether a container is a main one, and its name.
type ContainerKey<'p> = (bool, &'p str);

/// The requests and limits of a pod as it is stored.
pub(super) struct StoredAmounts<'r, 'p> {
    pub(super) amounts: PodAmounts<'r, 'p>,
    /// The place of each container; of those with the same name the first.
    places: HashMap<ContainerKey<'p>, usize>,
}

impl<'r, 'p> StoredAmounts<'r, 'p> {
    pub(super) fn new(pod: &'p Value<'p>, resources: &'r [String], pod_level: bool) -> Self {
        let amounts = PodAmounts::new(pod, resources, pod_level);
        let mut places = HashMap::new();
        for place in 0..amounts.names.len() {
            if let Some(key) = amounts.key(place) {
                places.entry(key).or_insert(place);
            }
        }
        StoredAmounts { amounts, places }
    }

    /// The amounts of the container with the name of one of another pod, and of the same list; none without such.
    pub(super) fn of_container(&self, pod: &PodAmounts<'_, '_>, container: usize) -> &[RequestedAmount] {
        let place = pod.key(container).and_then(|key| self.places.get(&key));
        place
            .and_then(|place| self.amounts.each().nth(*place))
            .unwrap_or_default()
    }
}

impl RoundedAmount {
    pub(super) fn new(quantity: Quantity) -> Self {
        RoundedAmount {
            value: quantity.value(),
            milli_value: quantity.milli_value(),
            quantity,
        }
    }

    /// The amount of a resource in a list.
    pub(super) fn listed(list: Option<&Object<'_>>, resource: &str) -> Option<Self> {
        quantity(list?.get(resource)?).map(RoundedAmount::new)
    }
}

impl<'r, 'p> PodAmounts<'r, 'p> {
    pub(super) fn new(pod: &'p Value<'p>, resources: &'r [String], pod_level: bool) -> Self {
        let mut read = PodAmounts {
            resources,
            of_itself: pod.at(&["spec", "resources"]).filter(|_| pod_level),
            roles: SmallVec::new(),
            names: SmallVec::new(),
            amounts: SmallVec::new(),
        };
        for container in containers(pod, "containers") {
            read.push(ContainerRole::Main, container);
        }
        for container in containers(pod, "initContainers") {
            read.push(ContainerRole::of_init(container), container);
        }
        read
    }

    fn push(&mut self, role: ContainerRole, container: &'p Value<'p>) {
        self.roles.push(role);
        self.names.push(text(container, &["name"]));
        let listed = members(container, &["resources"]);
        let list = |field| listed.and_then(|listed| listed.get(field)?.as_object());
        let (requests, limits) = (list("requests"), list("limits"));
        self.amounts
            .extend(self.resources.iter().map(|resource| RequestedAmount {
                request: RoundedAmount::listed(requests, resource),
                limit: RoundedAmount::listed(limits, resource),
            }));
    }

    /// The amounts of each container, by the places of the resources.
    pub(super) fn each(&self) -> impl Iterator<Item = &[RequestedAmount]> {
        self.amounts.chunks(self.resources.len().max(1))
    }

    /// The list and the name of a container.
    fn key(&self, container: usize) -> Option<ContainerKey<'p>> {
        let is_main = *self.roles.get(container)? == ContainerRole::Main;
        Some((is_main, self.names.get(container)?))
    }

    /// The total amounts of a pod of the resource at a place.
    pub(super) fn of_pod(&self, place: usize) -> RequestedAmount {
        let total = |field, amount: fn(&RequestedAmount) -> &Option<RoundedAmount>| {
            let resource = self.resources.get(place)?;
            let of_itself = self.of_itself;
            let total = of_itself.and_then(|pod| of_pod_itself(pod, field, resource));
            let total = total.or_else(|| {
                let mut sum = ResourceSum::default();
                for (role, amounts) in self.roles.iter().zip(self.each()) {
                    let amount = amounts
                        .get(place)
                        .and_then(|requested| amount(requested).as_ref());
                    sum.add(*role, amount.map(|amount| &amount.quantity));
                }
                sum.total()
            });
            total.map(RoundedAmount::new)
        };
        RequestedAmount {
            request: total("requests", |requested| &requested.request),
            limit: total("limits", |requested| &requested.limit),
        }
    }
}

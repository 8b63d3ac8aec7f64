//! Amounts of resources by name.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};
use smallvec::SmallVec;

use crate::QuotaError;

/// Amounts of resources by name: few, in no order.
#[derive(Clone, Debug, Default)]
pub struct ResourceList<'a>(SmallVec<[(Cow<'a, str>, Quantity); 8]>);

impl<'a> ResourceList<'a> {
    /// Reads the amounts of an object, such as `requests` of a container.
    ///
    /// # Errors
    /// An amount is not a quantity.
    pub fn read(amounts: Option<&'a Value<'a>>) -> Result<Self, QuotaError> {
        let mut list = ResourceList::default();
        for (name, amount) in members(amounts) {
            list.0.push((Cow::Borrowed(name), quantity(amount)?));
        }
        Ok(list)
    }

    /// The amount of a resource.
    pub fn get(&self, name: &str) -> Option<&Quantity> {
        self.0
            .iter()
            .find_map(|(other, amount)| (other == name).then_some(amount))
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, amount: Quantity) {
        let name = name.into();
        match self.get_mut(&name) {
            Some(place) => *place = amount,
            None => self.0.push((name, amount)),
        }
    }

    /// Takes a resource out.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(other, _)| other != name);
    }

    /// Adds to the amount of a resource.
    ///
    /// # Errors
    /// The sum has too many digits.
    pub fn add(&mut self, name: Cow<'a, str>, amount: &Quantity) -> Result<(), QuotaError> {
        match self.get_mut(&name) {
            Some(place) => *place = place.add(amount)?,
            None => self.0.push((name, amount.clone())),
        }
        Ok(())
    }

    /// Adds all amounts of another list.
    ///
    /// # Errors
    /// A sum has too many digits.
    pub fn add_all(&mut self, other: &ResourceList<'a>) -> Result<(), QuotaError> {
        other
            .0
            .iter()
            .try_for_each(|(name, amount)| self.add(name.clone(), amount))
    }

    /// Raises each amount to that of another list.
    pub fn raise_to(&mut self, other: &ResourceList<'a>) {
        for (name, amount) in &other.0 {
            match self.get_mut(name) {
                Some(place) if *amount > *place => *place = amount.clone(),
                Some(_) => {}
                None => self.0.push((name.clone(), amount.clone())),
            }
        }
    }

    /// The excess of this list over another one, and zero where there is none.
    ///
    /// # Errors
    /// A difference has too many digits.
    // Upstream: apiserver/pkg/quota/v1/resources.go, SubtractWithNonNegativeResult
    pub fn excess_over(&self, other: &ResourceList<'_>) -> Result<Self, QuotaError> {
        let mut excess = ResourceList::default();
        for (name, amount) in &self.0 {
            let left = match other.get(name) {
                Some(other_amount) => amount.sub(other_amount)?,
                None => amount.clone(),
            };
            if left.signum() > 0 {
                excess.0.push((name.clone(), left));
            }
        }
        Ok(excess)
    }

    /// The same without amounts of zero.
    #[must_use]
    pub fn without_zeros(&self) -> Self {
        let amounts = self.0.iter().filter(|(_, amount)| !amount.is_zero());
        ResourceList(amounts.cloned().collect())
    }

    /// The names and the amounts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_ref(), amount))
    }

    /// Whether there are no amounts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Quantity> {
        self.0
            .iter_mut()
            .find_map(|(other, amount)| (other == name).then_some(amount))
    }
}

/// As messages show it: `cpu=1,memory=1Gi`, by name.
// Upstream: pkg/admission/plugin/resourcequota/controller.go, prettyPrint
impl Display for ResourceList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<_> = self.iter().collect();
        sorted.sort_by_key(|(name, _)| *name);
        for (index, (name, amount)) in sorted.into_iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{name}={amount}")?;
        }
        Ok(())
    }
}

impl<'a> FromIterator<(Cow<'a, str>, Quantity)> for ResourceList<'a> {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, Quantity)>>(amounts: I) -> Self {
        ResourceList(amounts.into_iter().collect())
    }
}

impl<'a> IntoIterator for ResourceList<'a> {
    type Item = (Cow<'a, str>, Quantity);
    type IntoIter = smallvec::IntoIter<[(Cow<'a, str>, Quantity); 8]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A quantity as JSON has it.
///
/// # Errors
/// It is no quantity.
pub fn quantity(value: &Value<'_>) -> Result<Quantity, QuotaError> {
    let parsed = match value {
        Value::String(text) => Quantity::parse(text),
        Value::Null => Quantity::parse("0"),
        other => Quantity::parse(&other.to_string()),
    };
    Ok(parsed?)
}

/// The members of an object; none if it is missing.
pub(crate) fn members<'a>(value: Option<&'a Value<'a>>) -> impl Iterator<Item = (&'a str, &'a Value<'a>)> {
    let object: Option<&'a Object<'a>> = value.and_then(Value::as_object);
    object.into_iter().flat_map(Object::iter)
}

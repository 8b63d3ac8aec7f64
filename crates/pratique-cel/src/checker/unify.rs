//! Assignability of types, and the inference of free types from it.
//!
//! Upstream: github.com/google/cel-go, checker/types.go, internalIsAssignable

use std::sync::Arc;

use super::relate::{all_pairs, is_dynamic, is_free, less_specific, same};
use crate::types::Type;

/// The types that the free types of one expression are bound to.
#[derive(Debug, Default)]
pub(super) struct TypeBindings {
    bound: Vec<Option<Type>>,
    /// The bindings to restore if an attempt fails: each free type with its previous binding.
    trail: Vec<(u32, Option<Type>)>,
    steps: u32,
}

/// After so many steps types are no longer compared: an expression's types may be exponentially larger than its text.
const STEPS: u32 = 5_000_000;

impl TypeBindings {
    /// Makes free types that follow each other; the number of the first.
    pub(super) fn reserve(&mut self, count: usize) -> u32 {
        let first = self.bound.len();
        self.bound.resize(first + count, None);
        first as u32
    }

    /// Makes a free type.
    pub(super) fn fresh(&mut self) -> Type {
        Type::Free(self.reserve(1))
    }

    /// Whether no free type was made.
    pub(super) fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }

    /// Whether the types grew too large to continue.
    pub(super) fn exhausted(&self) -> bool {
        self.steps >= STEPS
    }

    /// Where an attempt starts.
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes the bindings made since `mark`.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((number, known)) = self.trail.pop()
                && let Some(place) = self.bound.get_mut(number as usize)
            {
                *place = known;
            }
        }
    }

    /// Whether a value of type `from` is assignable to `to`; if not, no free type is bound.
    pub(super) fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        let mark = self.mark();
        let fits = self.fits(from, to);
        if !fits {
            self.undo(mark);
        }
        fits
    }

    /// As [`TypeBindings::assignable`], but a failed attempt is not undone.
    pub(super) fn fits(&mut self, from: &Type, to: &Type) -> bool {
        self.steps += 1;
        if self.exhausted() {
            return false;
        }
        if let Type::Free(number) = to {
            match self.learn(from, *number) {
                LearnedType::Fits => return true,
                LearnedType::Contradicts => return false,
                LearnedType::Circular => {}
            }
        }
        if let Type::Free(number) = from {
            return matches!(self.learn(to, *number), LearnedType::Fits);
        }
        self.fixed_fits(from, to)
    }

    /// As [`TypeBindings::fits`], of types that are not free themselves.
    fn fixed_fits(&mut self, from: &Type, to: &Type) -> bool {
        if is_dynamic(from) || is_dynamic(to) {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::List(from), Type::List(to)) => Arc::ptr_eq(from, to) || self.fits(from, to),
            (Type::Map(from_key, from), Type::Map(to_key, to)) => {
                self.fits(from_key, to_key) && self.fits(from, to)
            }
            (Type::Opaque(from, from_params), Type::Opaque(to, to_params)) => {
                from == to && all_pairs(from_params, to_params, |from, to| self.fits(from, to))
            }
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(_) | Type::Map(..) | Type::Opaque(..) | Type::Type(_), _) => false,
            (from, to) => same(from, to),
        }
    }

    /// Whether the free type `number` may be `of`; if so, remembers it.
    fn learn(&mut self, of: &Type, number: u32) -> LearnedType {
        if matches!(of, Type::Free(other) if *other == number) {
            return LearnedType::Fits;
        }
        let Some(known) = self.known(number).cloned() else {
            if !self.free_of(number, of) {
                return LearnedType::Circular;
            }
            self.bind(number, of.clone());
            return LearnedType::Fits;
        };
        if same(of, &known) {
            return LearnedType::Fits;
        }
        if !self.fits(of, &known) {
            return LearnedType::Contradicts;
        }
        let general = if less_specific(of, &known) { of } else { &known };
        if self.free_of(number, general) {
            self.bind(number, general.clone());
        }
        LearnedType::Fits
    }

    /// The type that a free type is bound to.
    fn known(&self, number: u32) -> Option<&Type> {
        self.bound.get(number as usize)?.as_ref()
    }

    fn bind(&mut self, number: u32, of: Type) {
        if let Some(place) = self.bound.get_mut(number as usize) {
            self.trail.push((number, place.replace(of)));
        }
    }

    /// Whether the free type `number` does not occur within a type.
    fn free_of(&mut self, number: u32, within: &Type) -> bool {
        self.steps += 1;
        if self.exhausted() {
            return true;
        }
        match within {
            Type::Free(other) if *other == number => false,
            Type::Free(other) => match self.known(*other).cloned() {
                Some(known) => self.free_of(number, &known),
                None => true,
            },
            Type::List(inner) | Type::Type(Some(inner)) => self.free_of(number, inner),
            Type::Map(key, value) => self.free_of(number, key) && self.free_of(number, value),
            Type::Opaque(_, params) => params.iter().all(|param| self.free_of(number, param)),
            _ => true,
        }
    }

    /// A type with its bound free types replaced.
    pub(super) fn resolve(&mut self, of: &Type) -> Type {
        self.replace(of, false).unwrap_or_else(|| of.clone())
    }

    /// As [`TypeBindings::resolve`], with dyn for unbound free types.
    pub(super) fn settle(&mut self, of: &Type) -> Type {
        self.replace(of, true).unwrap_or_else(|| of.clone())
    }

    /// A type with its free types replaced; `None` if that is the type itself.
    fn replace(&mut self, of: &Type, settle: bool) -> Option<Type> {
        if !may_have_parts(of) {
            return None;
        }
        self.steps += 1;
        if self.exhausted() {
            return Some(Type::Dyn);
        }
        match of {
            Type::Free(number) => match self.known(*number).cloned() {
                Some(known) => Some(self.replace(&known, settle).unwrap_or(known)),
                None => settle.then_some(Type::Dyn),
            },
            Type::Param(_) => settle.then_some(Type::Dyn),
            Type::List(element) => self.replace(element, settle).map(Type::list),
            Type::Type(Some(inner)) => self.replace(inner, settle).map(Type::type_of),
            Type::Map(key, value) => {
                let (new_key, new_value) = (self.replace(key, settle), self.replace(value, settle));
                if new_key.is_none() && new_value.is_none() {
                    return None;
                }
                Some(Type::Map(
                    new_key.map_or_else(|| key.clone(), Arc::new),
                    new_value.map_or_else(|| value.clone(), Arc::new),
                ))
            }
            Type::Opaque(name, params) => {
                let new: Vec<_> = params.iter().map(|param| self.replace(param, settle)).collect();
                if new.iter().all(Option::is_none) {
                    return None;
                }
                let params = new
                    .into_iter()
                    .zip(params.iter())
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()));
                Some(Type::Opaque(name.clone(), params.collect()))
            }
            _ => None,
        }
    }
}

/// The result of binding a free type.
enum LearnedType {
    /// It may be that type.
    Fits,
    /// It is known to be another type.
    Contradicts,
    /// It would contain itself.
    Circular,
}

/// Whether a free type may occur within a type.
fn may_have_parts(of: &Type) -> bool {
    matches!(
        of,
        Type::Free(_)
            | Type::Param(_)
            | Type::List(_)
            | Type::Map(..)
            | Type::Opaque(..)
            | Type::Type(Some(_))
    )
}

/// Whether null is assignable to a type.
fn is_nullable(of: &Type) -> bool {
    match of {
        Type::Null | Type::Wrapper(_) | Type::Opaque(..) | Type::Timestamp | Type::Duration => true,
        Type::Struct(name) => !name.is_empty(),
        of => is_dynamic(of) || is_free(of),
    }
}

/// The type of an overload with free types in the place of its type parameters, which are numbered from `first`.
pub(super) fn instantiate(of: &Type, params: &[Arc<str>], first: u32) -> Type {
    match of {
        Type::Param(name) => match params.iter().position(|param| param == name) {
            Some(index) => Type::Free(first + index as u32),
            None => of.clone(),
        },
        Type::List(element) => Type::list(instantiate(element, params, first)),
        Type::Map(key, value) => {
            Type::map(instantiate(key, params, first), instantiate(value, params, first))
        }
        Type::Type(Some(inner)) => Type::type_of(instantiate(inner, params, first)),
        Type::Opaque(name, arguments) => {
            let arguments = arguments.iter().map(|of| instantiate(of, params, first));
            Type::Opaque(name.clone(), arguments.collect())
        }
        other => other.clone(),
    }
}

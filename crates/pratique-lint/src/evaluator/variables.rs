//! The variables of a policy during an evaluation.

use std::cell::{OnceCell, RefCell};

use pratique_cel::value::{Evaluation, Struct};
use pratique_cel::{Context, Fault, Value};
use pratique_expression::VARIABLES_TYPE;

use crate::subject::Site;

/// The values of variables, and which expressions read them.
#[derive(Debug)]
pub(super) struct Variables<'s> {
    names: Vec<Option<&'s str>>,
    values: Vec<OnceCell<Evaluation<'s>>>,
    /// The variables that each variable read.
    read_by: Vec<OnceCell<Vec<usize>>>,
    /// The variables that were read since this was last taken.
    pub(super) reads: RefCell<Vec<usize>>,
}

impl<'s> Variables<'s> {
    pub(super) fn new(sites: &'s [Site<'s>]) -> Self {
        Variables {
            names: sites.iter().map(Site::variable).collect(),
            values: sites.iter().map(|_| OnceCell::new()).collect(),
            read_by: sites.iter().map(|_| OnceCell::new()).collect(),
            reads: RefCell::default(),
        }
    }

    pub(super) fn set(&self, index: usize, value: Evaluation<'s>, read: Vec<usize>) {
        if let (Some(place), Some(reads)) = (self.values.get(index), self.read_by.get(index)) {
            // Each variable is evaluated once.
            let _ = (place.set(value), reads.set(read));
        }
    }

    /// The variables that were read, directly or through other variables.
    pub(super) fn all_read(&self) -> Vec<usize> {
        let mut pending = self.reads.take();
        let mut read = Vec::new();
        while let Some(index) = pending.pop() {
            if !read.contains(&index) {
                read.push(index);
                pending.extend(
                    self.read_by
                        .get(index)
                        .and_then(OnceCell::get)
                        .into_iter()
                        .flatten(),
                );
            }
        }
        read
    }

    fn find(&self, name: &str) -> Option<(usize, &Evaluation<'s>)> {
        let index = self
            .names
            .iter()
            .zip(&self.values)
            .rposition(|(known, value)| *known == Some(name) && value.get().is_some())?;
        Some((index, self.values.get(index)?.get()?))
    }

    /// The variable whose failure gives an error.
    pub(super) fn failed_with(&self, text: &str) -> Option<(usize, &'s str)> {
        let rest = text.strip_prefix("composited variable \"")?;
        let (name, _) = rest.split_once("\" fails to evaluate: ")?;
        let (index, _) = self.find(name)?;
        Some((index, (*self.names.get(index)?)?))
    }
}

impl Struct for Variables<'_> {
    fn type_name(&self) -> &str {
        VARIABLES_TYPE
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        let Some((index, evaluation)) = self.find(field) else {
            return Ok(None);
        };
        self.reads.borrow_mut().push(index);
        match evaluation {
            Ok(value) => Ok(Some(*value)),
            Err(fault) => Err(Fault::error(format!(
                "composited variable \"{field}\" fails to evaluate: {fault}"
            ))),
        }
    }

    fn has(&self, context: &Context<'_>, field: &str) -> Result<bool, Fault> {
        let _ = context;
        Ok(self.find(field).is_some())
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        Ok(Vec::new())
    }
}

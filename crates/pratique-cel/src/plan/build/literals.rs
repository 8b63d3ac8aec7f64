//! Planning literals of lists, maps and structs. Those of constants become constants.

use std::sync::Arc;

use super::ExpressionPlanner;
use crate::ast::{ExprId, MapEntry, StructField};
use crate::constant::Constant;
use crate::error::PlanError;
use crate::ops;
use crate::plan::node::{ListElement, NodeId, PlanNode, PlannedEntry, StructLiteral};

impl ExpressionPlanner<'_> {
    pub(super) fn plan_list(
        &mut self,
        id: ExprId,
        elements: &[ExprId],
        optional: &[u32],
    ) -> Result<NodeId, PlanError> {
        let mut planned = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            planned.push(ListElement {
                value: self.plan(*element)?,
                optional: optional.iter().any(|optional| *optional as usize == index),
            });
        }
        let node = match self.constant_list(&planned) {
            Some(constants) => PlanNode::Constant(Constant::List(constants)),
            None => PlanNode::List(planned.into()),
        };
        Ok(self.add(id, node))
    }

    fn constant_list(&self, elements: &[ListElement]) -> Option<Box<[Constant]>> {
        let constant = |element: &ListElement| self.constant(element.value).filter(|_| !element.optional);
        elements
            .iter()
            .map(|element| constant(element).cloned())
            .collect()
    }

    pub(super) fn plan_map(&mut self, id: ExprId, entries: &[MapEntry]) -> Result<NodeId, PlanError> {
        let mut planned = Vec::with_capacity(entries.len());
        for entry in entries {
            planned.push(PlannedEntry {
                key: self.plan(entry.key)?,
                value: self.plan(entry.value)?,
                optional: entry.optional,
            });
        }
        let node = match self.constant_map(&planned) {
            Some(constants) => PlanNode::Constant(Constant::Map(constants)),
            None => PlanNode::Map(planned.into()),
        };
        Ok(self.add(id, node))
    }

    /// The entries, if all are constants; the last one of those with equal keys. Keys that are bytes are errors at run time.
    fn constant_map(&self, entries: &[PlannedEntry]) -> Option<Box<[(Constant, Constant)]>> {
        let mut constants: Vec<(Constant, Constant)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let (key, value) = (self.constant(entry.key)?, self.constant(entry.value)?);
            if entry.optional || matches!(key, Constant::Bytes(_)) {
                return None;
            }
            let known = constants
                .iter_mut()
                .find(|(other, _)| ops::is_same_key(&other.value(), &key.value()));
            match known {
                Some(known) => known.1 = value.clone(),
                None => constants.push((key.clone(), value.clone())),
            }
        }
        Some(constants.into())
    }

    pub(super) fn plan_struct(
        &mut self,
        id: ExprId,
        type_name: &Arc<str>,
        fields: &[StructField],
    ) -> Result<NodeId, PlanError> {
        let type_name: Arc<str> = type_name.trim_start_matches('.').into();
        let Some(provider) = self.environment.provider(&type_name) else {
            return Err(PlanError::UnknownType(type_name));
        };
        let mut planned = Vec::with_capacity(fields.len());
        for field in fields {
            let value = self.plan(field.value)?;
            let optional = field.optional;
            planned.push((field.name.clone(), ListElement { value, optional }));
        }
        let literal = StructLiteral {
            provider: provider.clone(),
            type_name,
            fields: planned.into(),
        };
        Ok(self.add(id, PlanNode::Struct(Box::new(literal))))
    }
}

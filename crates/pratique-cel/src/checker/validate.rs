//! Faults of literals that types do not show: bad durations, times, patterns and format strings, mixed types.
//!
//! Upstream: github.com/google/cel-go, cel/validator.go

use pratique_gotext::regexp::Regex;

use super::check_result::Reference;
use super::messages::mismatch;
use super::relate::same;
use crate::ast::{Ast, Expr, ExprId, Literal, undotted};
use crate::error::Issue;
use crate::text::format::{ArgumentError, FormatClause, FormatError, interpolate};
use crate::time::{Duration, Timestamp};
use crate::types::Type;

/// Checks the literals among `candidates`: list and map literals outside of `format`, and calls by certain names.
pub(super) fn validate(
    ast: &Ast,
    types: &[Option<Type>],
    references: &[Option<Reference>],
    candidates: &[ExprId],
) -> Vec<Issue> {
    let mut validator = ArgumentValidator {
        ast,
        types,
        references,
        issues: Vec::new(),
    };
    let passes = [
        ArgumentValidator::check_list,
        ArgumentValidator::check_map,
        ArgumentValidator::check_duration,
        ArgumentValidator::check_timestamp,
        ArgumentValidator::check_pattern,
        ArgumentValidator::check_format,
    ];
    for pass in passes {
        for candidate in candidates {
            pass(&mut validator, *candidate);
        }
    }
    validator.issues
}

struct ArgumentValidator<'c> {
    ast: &'c Ast,
    types: &'c [Option<Type>],
    references: &'c [Option<Reference>],
    issues: Vec<Issue>,
}

impl ArgumentValidator<'_> {
    fn check_duration(&mut self, id: ExprId) {
        let (argument, valid) = match self.literal_argument(id, "duration") {
            Some((argument, Literal::String(text))) => (argument, Duration::parse(text).is_ok()),
            // A number has an overload before Kubernetes 1.37 only, and it always fails.
            Some((argument, Literal::Null | Literal::Int(_))) => (argument, false),
            _ => return,
        };
        if !valid {
            self.report(argument, "invalid duration argument".to_owned());
        }
    }

    fn check_timestamp(&mut self, id: ExprId) {
        let (argument, valid) = match self.literal_argument(id, "timestamp") {
            Some((argument, Literal::String(text))) => (argument, Timestamp::parse(text).is_ok()),
            Some((argument, Literal::Int(seconds))) => (argument, Timestamp::from_seconds(*seconds).is_ok()),
            Some((argument, Literal::Null)) => (argument, false),
            _ => return,
        };
        if !valid {
            self.report(argument, "invalid timestamp argument".to_owned());
        }
    }

    /// The first argument of a call of `matches`, also of the global one, whose pattern is the second.
    fn check_pattern(&mut self, id: ExprId) {
        if let Some((argument, Literal::String(pattern))) = self.literal_argument(id, "matches")
            && !Regex::is_pattern(pattern)
        {
            self.report(argument, "invalid matches argument".to_owned());
        }
    }

    /// The first argument of a call of `function` where it is a constant.
    fn literal_argument(&self, id: ExprId, function: &str) -> Option<(ExprId, &Literal)> {
        let (name, _, args) = self.call(id)?;
        let argument = args.first().filter(|_| name == function)?;
        match self.ast.expr(*argument) {
            Expr::Literal(literal) => Some((*argument, literal)),
            _ => None,
        }
    }

    fn check_list(&mut self, id: ExprId) {
        let Expr::List { elements, optional } = self.ast.expr(id) else {
            return;
        };
        let mut first: Option<Type> = None;
        for (index, element) in elements.iter().enumerate() {
            let is_optional = optional.iter().any(|at| *at as usize == index);
            let Some(of) = self.member_type(*element, is_optional) else {
                return;
            };
            match &first {
                None => first = Some(of).filter(|of| !of.is_unnamed()),
                Some(first) if same(first, &of) => {}
                Some(first) => return self.report(*element, mismatch(first, &of)),
            }
        }
    }

    fn check_map(&mut self, id: ExprId) {
        let Expr::Map(entries) = self.ast.expr(id) else {
            return;
        };
        let mut first: Option<(Type, Type)> = None;
        for entry in entries {
            let key = self.type_of(entry.key).clone();
            let Some(value) = self.member_type(entry.value, entry.optional) else {
                return;
            };
            let Some((first_key, first_value)) = &first else {
                first = Some((key, value));
                continue;
            };
            if !same(first_key, &key) {
                self.report(entry.key, mismatch(first_key, &key));
            }
            if !same(first_value, &value) {
                self.report(entry.value, mismatch(first_value, &value));
            }
        }
    }

    /// The type of an element or value. Marked with `?` it must be known to be an optional: where it is dyn,
    /// the type of the literal is not known, which is a fault.
    fn member_type(&mut self, id: ExprId, optional: bool) -> Option<Type> {
        let of = self.type_of(id);
        if !optional {
            return Some(of.clone());
        }
        let value = of.optional_value().cloned();
        if value.is_none() {
            let message = mismatch(&Type::optional(of.clone()), of);
            self.report(id, message);
        }
        value
    }

    fn check_format(&mut self, id: ExprId) {
        let Some(("format", Some(target), [arguments])) = self.call(id) else {
            return;
        };
        let Expr::Literal(Literal::String(text)) = self.ast.expr(target) else {
            return;
        };
        let Expr::List { elements, .. } = self.ast.expr(*arguments) else {
            return;
        };
        if !self.calls_overload(id, "string_format") {
            return;
        }
        match self.interpolate(text, elements, elements.len()) {
            Ok(used) if used < elements.len() => {
                let argument_count = elements.len();
                let problem = format!(
                    "too many arguments supplied to string.format (expected {used}, got {argument_count})"
                );
                self.report(id, problem);
            }
            Ok(_) => {}
            Err(error) => {
                let at = match &error {
                    FormatError::Argument(refusal) => refusal.at,
                    _ => id,
                };
                self.report(at, error.to_string());
            }
        }
    }

    /// Checks each clause of a format string; gives the number of clauses.
    fn interpolate(
        &self,
        text: &str,
        elements: &[ExprId],
        count: usize,
    ) -> Result<usize, FormatError<ArgumentRefusal>> {
        let checked = interpolate(text, count, &mut String::new(), |clause, index, _| match elements
            .get(index)
        {
            Some(element) => self.check_clause(clause, *element),
            None => Ok(()),
        });
        match checked {
            // An end of the text comes before a lack of arguments.
            Err(FormatError::MissingArgument(index)) if count == elements.len() => {
                match self.interpolate(text, elements, index + 1) {
                    Err(FormatError::UnexpectedEnd) => Err(FormatError::UnexpectedEnd),
                    _ => Err(FormatError::MissingArgument(index)),
                }
            }
            other => other,
        }
    }

    /// Whether an argument fits its clause.
    fn check_clause(&self, clause: FormatClause, id: ExprId) -> Result<(), ArgumentRefusal> {
        let of = self.type_of(id).unwrapped();
        let fits = match clause {
            FormatClause::String => return self.check_string(id),
            FormatClause::Decimal | FormatClause::Octal => matches!(of, Type::Int | Type::Uint),
            FormatClause::Fixed(_) | FormatClause::Scientific(_) => matches!(of, Type::Double | Type::String),
            FormatClause::Binary => matches!(of, Type::Int | Type::Uint | Type::Bool),
            FormatClause::Hex { .. } => matches!(of, Type::Int | Type::Uint | Type::String | Type::Bytes),
        };
        if fits || *of == Type::Dyn {
            Ok(())
        } else {
            Err(self.refusal(clause, id))
        }
    }

    /// Whether an argument fits `%s`, and all within it where it is a literal.
    fn check_string(&self, id: ExprId) -> Result<(), ArgumentRefusal> {
        let printable = !matches!(
            self.type_of(id),
            Type::Opaque(..) | Type::Struct(_) | Type::Any | Type::Error
        );
        if !printable {
            return Err(self.refusal(FormatClause::String, id));
        }
        match self.ast.expr(id) {
            Expr::List { elements, .. } => elements.iter().try_for_each(|of| self.check_string(*of)),
            Expr::Map(entries) => entries.iter().try_for_each(|entry| {
                self.check_string(entry.key)?;
                self.check_string(entry.value)
            }),
            _ => Ok(()),
        }
    }

    fn refusal(&self, clause: FormatClause, at: ExprId) -> ArgumentRefusal {
        let error = ArgumentError::mismatch(clause, self.type_of(at).runtime_name());
        ArgumentRefusal { at, error }
    }

    /// Whether a call may be one of an overload.
    fn calls_overload(&self, id: ExprId, overload: &str) -> bool {
        match self.references.get(id.0 as usize) {
            Some(Some(Reference::Overloads(function, indices))) => indices
                .iter()
                .filter_map(|index| function.overloads.get(*index))
                .any(|candidate| *candidate.id == *overload),
            _ => true,
        }
    }

    /// The name, target and arguments of a call.
    fn call(&self, id: ExprId) -> Option<(&str, Option<ExprId>, &[ExprId])> {
        match self.ast.expr(id) {
            Expr::Call {
                function,
                target,
                args,
            } => Some((undotted(function), *target, args)),
            _ => None,
        }
    }

    fn type_of(&self, id: ExprId) -> &Type {
        let of = self.types.get(id.0 as usize);
        of.and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    fn report(&mut self, at: ExprId, message: String) {
        let position = self.ast.source.position(self.ast.node(at).offset);
        self.issues.push(Issue::new(position, message));
    }
}

/// An argument that does not fit its clause.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
struct ArgumentRefusal {
    at: ExprId,
    error: ArgumentError,
}

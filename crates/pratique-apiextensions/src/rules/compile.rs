//! Compiles the rules of a schema.

use pratique_cel::estimate::estimate;
use pratique_cel::{Environment, Program, Type as CelType};

use super::environments::{ExpressionScope, SelfEnvironments};
use super::field_path;
use super::types::{DeclaredType, MAX_REQUEST};
use super::{CompiledRule, MessageExpression, RefusedRule, RuleBody, RuleNode};
use crate::schema::{SchemaNode, SchemaRule};

const UNCONVERTIBLE: &str = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                             convert structural schema to CEL declarations";
const UNDECLARED: &str = "failed to convert to declType for CEL validation rules";

pub(super) struct RuleCompiler<'k> {
    scope: &'k ExpressionScope,
}

/// What a server knows of the type of a schema while it checks the rules of a definition.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go, CELSchemaContext.TypeInfo
enum TypeInfo<'d> {
    /// No schema from here up has rules.
    Unneeded,
    Declared(&'d DeclaredType),
    /// The type around it has no such part.
    Undeclared,
    /// It, or one around it, has no type.
    Unconvertible,
}

impl<'d> TypeInfo<'d> {
    fn from_declared(declared: Option<&'d DeclaredType>) -> Self {
        declared.map_or(TypeInfo::Unconvertible, TypeInfo::Declared)
    }

    /// What is known of a part. `None` where its own schema has to say it.
    fn part(&self, part: SchemaPart<'_>) -> Option<TypeInfo<'d>> {
        match (self, part) {
            (TypeInfo::Unneeded, _) => None,
            (TypeInfo::Declared(of), SchemaPart::Property(name)) => of.property(name).map(TypeInfo::Declared),
            (TypeInfo::Declared(of), SchemaPart::Element) => {
                Some(of.element().map_or(TypeInfo::Undeclared, TypeInfo::Declared))
            }
            (TypeInfo::Undeclared, _) => Some(TypeInfo::Undeclared),
            (TypeInfo::Unconvertible, _) => Some(TypeInfo::Unconvertible),
        }
    }
}

/// A part of a schema.
#[derive(Clone, Copy)]
enum SchemaPart<'p> {
    Property(&'p str),
    /// The items, or the members that `properties` does not name.
    Element,
}

impl<'k> RuleCompiler<'k> {
    pub(super) fn new(scope: &'k ExpressionScope) -> Self {
        RuleCompiler { scope }
    }

    /// The type of a schema.
    fn declared(&self, schema: &SchemaNode, is_resource: bool) -> Option<DeclaredType> {
        DeclaredType::from_schema(schema, is_resource, self.scope.release)
    }

    /// Compiles the rules of a resource.
    pub(super) fn root(&self, schema: &SchemaNode) -> Option<RuleNode> {
        self.node(schema, true, None)
    }

    /// Compiles the rules of a schema and those below it; `None` if there are none.
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, validator
    fn node(&self, schema: &SchemaNode, is_resource: bool, given: Option<TypeInfo<'_>>) -> Option<RuleNode> {
        let is_needed = given.is_none() && !schema.rules.is_empty();
        let declared = is_needed.then(|| self.declared(schema, is_resource)).flatten();
        let info = match given {
            Some(info) => info,
            None if is_needed => TypeInfo::from_declared(declared.as_ref()),
            None => TypeInfo::Unneeded,
        };
        let mut node = RuleNode {
            is_resource,
            has_type: true,
            ..RuleNode::default()
        };
        for (name, property) in &schema.properties {
            let Some(mut inner) = self.part(property, &info, SchemaPart::Property(name)) else {
                continue;
            };
            inner.has_type = self.declared(property, property.is_embedded).is_some();
            node.properties.insert(name.clone(), inner);
        }
        let element = |of: Option<&SchemaNode>| self.part(of?, &info, SchemaPart::Element).map(Box::new);
        node.additional = element(schema.additional_schema());
        node.items = element(schema.items.as_deref());
        if !schema.rules.is_empty() {
            self.rules(schema, &info, &mut node);
        }
        let is_empty = schema.rules.is_empty()
            && node.properties.is_empty()
            && node.items.is_none()
            && node.additional.is_none();
        (!is_empty).then_some(node)
    }

    fn part(&self, schema: &SchemaNode, around: &TypeInfo<'_>, part: SchemaPart<'_>) -> Option<RuleNode> {
        if matches!(around, TypeInfo::Unneeded) {
            return self.node(schema, schema.is_embedded, None);
        }
        match around.part(part) {
            Some(info) => self.node(schema, schema.is_embedded, Some(info)),
            None => {
                let declared = self.declared(schema, schema.is_embedded);
                self.node(
                    schema,
                    schema.is_embedded,
                    Some(TypeInfo::from_declared(declared.as_ref())),
                )
            }
        }
    }

    /// Compiles the rules of one schema.
    fn rules(&self, schema: &SchemaNode, info: &TypeInfo<'_>, node: &mut RuleNode) {
        let own;
        let declared = match info {
            TypeInfo::Declared(declared) => Some(*declared),
            TypeInfo::Undeclared | TypeInfo::Unconvertible | TypeInfo::Unneeded => {
                node.type_error = Some(match info {
                    TypeInfo::Unconvertible => UNCONVERTIBLE,
                    _ => UNDECLARED,
                });
                // Definitions may be stored nevertheless, and their rules are evaluated.
                own = self.declared(schema, node.is_resource);
                own.as_ref()
            }
        };
        let Some(declared) = declared else {
            node.rules = vec![CompiledRule::refused(RefusedRule::All(UNDECLARED.into()))];
            return;
        };
        // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, maxCardinality
        let max_cardinality = MAX_REQUEST / declared.min_size.saturating_add(1);
        node.max_cardinality = u64::try_from(max_cardinality).unwrap_or_default();
        let environments = SelfEnvironments::new(declared, self.scope.release);
        // One without a text is an error already.
        let rules = schema.rules.iter().filter(|rule| !rule.rule.trim().is_empty());
        let compile = |rule| self.rule(rule, schema, declared, &environments);
        node.rules = rules.map(compile).collect();
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, compileRule
    fn rule(
        &self,
        rule: &SchemaRule,
        schema: &SchemaNode,
        declared: &DeclaredType,
        environments: &SelfEnvironments,
    ) -> CompiledRule {
        let is_optional = rule.optional_old_self == Some(true);
        let environment = environments.environment(self.scope.known.has_rule(&rule.rule), is_optional);
        let (program, max_cost) = match expression(&environment, &rule.rule, declared, &CelType::Bool) {
            Ok(compiled) => compiled,
            Err(refusal) => {
                let detail = match refusal {
                    ExpressionRefusal::Type => "cel expression must evaluate to a bool".to_owned(),
                    ExpressionRefusal::Compile(message) => message,
                };
                return CompiledRule::refused(RefusedRule::Rule(detail.into()));
            }
        };
        let Some((self_slot, old_self_slot)) = environment.slot("self").zip(environment.slot("oldSelf"))
        else {
            return CompiledRule::refused(RefusedRule::Rule("the environment has no self".into()));
        };
        let uses_old_self = program.reads(old_self_slot);
        let message = rule.message.trim();
        let resolved = field_path::resolve(&rule.field_path, schema, true);
        CompiledRule {
            body: Ok(RuleBody {
                program,
                message: self.message(rule, declared, environments),
                message_text: rule.message_expression.clone(),
                self_slot,
                old_self_slot,
                layout: environment,
            }),
            max_cost,
            uses_old_self,
            // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, since 1.35
            shows_value: self.scope.release.at_least(1, 35),
            is_old_self_optional: is_optional,
            field_path: resolved.map(|path| path.text).unwrap_or_default(),
            shown: if rule.message.is_empty() {
                rule.rule.trim().into()
            } else {
                message.into()
            },
            default_message: if rule.message.is_empty() {
                format!("failed rule: {}", rule.rule.trim()).into()
            } else {
                message.into()
            },
            reason: rule.reason.clone(),
        }
    }

    fn message(
        &self,
        rule: &SchemaRule,
        declared: &DeclaredType,
        environments: &SelfEnvironments,
    ) -> MessageExpression {
        let text = &rule.message_expression;
        if text.is_empty() {
            return MessageExpression::Absent;
        }
        let is_optional = rule.optional_old_self == Some(true);
        let environment = environments.environment(self.scope.known.has_message(text), is_optional);
        match expression(&environment, text, declared, &CelType::String) {
            Ok((program, max_cost)) => MessageExpression::Compiled {
                program: Box::new(program),
                max_cost,
            },
            Err(ExpressionRefusal::Type) => {
                MessageExpression::Refused("messageExpression must evaluate to a string".into())
            }
            Err(ExpressionRefusal::Compile(message)) => {
                MessageExpression::Refused(format!("messageExpression {message}").into())
            }
        }
    }
}

/// Why an expression is refused.
enum ExpressionRefusal {
    /// It gives another type.
    Type,
    Compile(String),
}

/// Compiles an expression that gives a type, with its greatest cost.
fn expression(
    environment: &Environment,
    text: &str,
    declared: &DeclaredType,
    of: &CelType,
) -> Result<(Program, u64), ExpressionRefusal> {
    let failed = |error| ExpressionRefusal::Compile(format!("compilation failed: {error}"));
    let checked = environment
        .parse(text)
        .and_then(|ast| environment.check_types(ast))
        .map_err(failed)?;
    if checked.result_type() != of {
        return Err(ExpressionRefusal::Type);
    }
    let program = environment
        .plan(&checked)
        .map_err(|error| ExpressionRefusal::Compile(error.to_string()))?;
    Ok((program, estimate(&checked, declared).max))
}

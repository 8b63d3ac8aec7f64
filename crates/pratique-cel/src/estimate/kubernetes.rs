//! The cost of calls of Kubernetes' libraries, and of others for which Kubernetes has rules of its own.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/cost.go, CostEstimator.EstimateCallCost

use super::Sizes;
use super::operand::{
    EstimatedCall, EstimatedOperand, PER_CHARACTER, PER_PATTERN_CHARACTER, below, matching,
};
use crate::ast::{Ast, Expr, Literal};
use crate::cost::{CallCost, Range};
use crate::types::Type;

/// The estimate for a call by the name of its function.
pub(super) fn estimate(ast: &Ast, sizes: &dyn Sizes, call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    constant(call)
        .or_else(|| strings(ast, sizes, call))
        .or_else(|| lists(sizes, call))
        .or_else(|| networks(call))
        .or_else(|| equality(call))
}

/// Functions whose cost does not depend on their operands.
fn constant(call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    let cost = match call.function {
        "check" => 350_000,
        "serviceAccount" | "path" | "group" | "resource" | "subresource" | "namespace" | "name"
        | "allowed" | "reason" | "error" | "errored" => 1,
        "masked"
        | "prefixLength"
        | "family"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast" => 1,
        "sign" | "asInteger" | "isInteger" | "asApproximateFloat" | "isGreaterThan" | "isLessThan"
        | "compareTo" | "add" | "sub" | "major" | "minor" | "patch" => 1,
        "getScheme" | "getHostname" | "getHost" | "getPort" | "getEscapedPath" | "getQuery" => 1,
        "format.named" => 1,
        "ip" if call.overload == "cidr_ip" => 1,
        _ => return None,
    };
    Some(CallCost::new(Range::exactly(cost)))
}

/// Functions that read a string.
fn strings(ast: &Ast, sizes: &dyn Sizes, call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    Some(match (call.function, call.target, call.args) {
        ("fieldSelector" | "labelSelector", _, [selector]) => CallCost::new(selector_cost(selector.size())),
        ("url" | "jsonpatch.escapeKey", _, [text]) => CallCost::new(text.traversal()).giving(text.size()),
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(text), _) => {
            CallCost::new(text.traversal()).giving(text.size())
        }
        ("replace", Some(text), [from, to, ..]) => replaced(text.size(), from.size(), to.size()),
        ("split", Some(text), args) => {
            let limit = args.get(1).and_then(|limit| match ast.expr(limit.id) {
                Expr::Literal(Literal::Int(limit)) => Some(*limit as u64),
                _ => None,
            });
            let most = limit.unwrap_or(text.size().max);
            CallCost::new(text.size().scaled(2.0 * PER_CHARACTER)).giving(Range::new(0, most))
        }
        ("join", Some(list), args) => joined(sizes, list, args),
        ("find" | "findAll", Some(text), [pattern, ..]) => {
            CallCost::new(matching(text, pattern)).giving(Range::new(0, text.size().max))
        }
        ("cidr" | "isIP" | "isCIDR" | "ip", _, [text, ..]) => CallCost::new(text.traversal()),
        ("ip.isCanonical", _, [text, ..]) => CallCost::new(text.size().scaled(2.0 * PER_CHARACTER)),
        ("quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => CallCost::new(text.traversal()),
        ("validate", _, [text, ..]) => {
            let pattern = LONGEST_FORMAT_PATTERN * PER_PATTERN_CHARACTER;
            CallCost::new(text.traversal().scaled(pattern))
        }
        _ => return None,
    })
}

/// The length of the longest pattern of a named format.
const LONGEST_FORMAT_PATTERN: f64 = 128.0;
/// The length of the longest name of a format.
const LONGEST_FORMAT_NAME: u64 = 64;

/// Parsing a selector, with a list and a struct for each requirement; the shortest takes two characters.
fn selector_cost(length: Range) -> Range {
    let requirements = length.scaled(0.5).scaled(50.0);
    Range::exactly(10)
        .plus(length.scaled(PER_CHARACTER))
        .plus(requirements)
}

/// Replacing within a string: the result has the longest and the shortest replacements that may occur.
fn replaced(text: Range, from: Range, to: Range) -> CallCost {
    let (most, most_kept) = if from.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if to.max <= from.min {
        (0, text.max)
    } else {
        (divided_up(text.max, from.min), 0)
    };
    let (least, least_kept) = if from.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if from.max <= to.min {
        (0, text.min)
    } else {
        (divided_up(text.min, from.max), 0)
    };
    let size = Range::new(least, most)
        .times(to)
        .plus(Range::new(least_kept, most_kept));
    CallCost::new(text.scaled(2.0 * PER_CHARACTER)).giving(size)
}

fn divided_up(number: u64, divisor: u64) -> u64 {
    (number as f64 / divisor as f64).ceil() as u64
}

fn joined(sizes: &dyn Sizes, list: &EstimatedOperand<'_>, args: &[EstimatedOperand<'_>]) -> CallCost {
    let mut size = match element(sizes, list) {
        Some((_, element)) => list.size().times(element),
        None => Range::exactly(0),
    };
    if let Some(separator) = args.first() {
        let list = list.size();
        let separators = Range::new(list.min.saturating_sub(1), list.max.saturating_sub(1));
        size = size.plus(separator.size().times(separators));
    }
    CallCost::new(size.scaled(PER_CHARACTER)).giving(size)
}

/// Functions that visit each element of a list once; some of them also exist for strings.
fn lists(sizes: &dyn Sizes, call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    let list = call.target?;
    if !matches!(
        call.function,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes"
    ) {
        return None;
    }
    let each = match element(sizes, list) {
        Some((Type::String | Type::Bytes, size)) => Range::exactly(1).plus(size.scaled(PER_CHARACTER)),
        Some(_) => Range::exactly(1),
        None if call.function == "includes" => Range::exactly(1),
        None => return Some(CallCost::new(list.traversal())),
    };
    Some(CallCost::new(list.size().times(each)))
}

/// The type and size of the elements of a list.
fn element<'o>(sizes: &dyn Sizes, list: &'o EstimatedOperand<'_>) -> Option<(&'o Type, Range)> {
    let of: &Type = match list.of {
        Type::List(element) => element,
        Type::Map(key, _) => key,
        Type::Type(Some(inner)) => inner,
        Type::Opaque(_, params) => params.first()?,
        _ => return None,
    };
    let of = of.unwrapped();
    let path = if list.path.is_empty() {
        Vec::new()
    } else {
        below(list.path.clone(), "@items")
    };
    let size = sizes.size(&path, of);
    Some((of, size.unwrap_or(Range::UNKNOWN)))
}

/// Comparing addresses byte by byte: 4 of them or 16.
fn networks(call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    let [other, ..] = call.args else {
        return None;
    };
    let bytes = Range::new(4, 16);
    let compared = bytes.plus(bytes).scaled(PER_CHARACTER);
    let cost = match call.function {
        "containsIP" => compared,
        "containsCIDR" => compared.plus(bytes.scaled(PER_CHARACTER)).plus(Range::exactly(1)),
        _ => return None,
    };
    let parsed = match call.overload {
        "cidr_contains_ip_string" | "cidr_contains_cidr_string" => other.traversal(),
        _ => Range::exactly(0),
    };
    Some(CallCost::new(cost.plus(parsed)))
}

/// Comparing values of Kubernetes' own types.
fn equality(call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    let ("_==_", [left, right]) = (call.function, call.args) else {
        return None;
    };
    if left.of.runtime_name() != right.of.runtime_name() {
        return None;
    }
    let (Type::Struct(name) | Type::Opaque(name, _)) = left.of else {
        return None;
    };
    let cost = match &**name {
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => Range::exactly(1),
        "kubernetes.NamedFormat" => Range::new(1, LONGEST_FORMAT_NAME).scaled(PER_CHARACTER),
        "kubernetes.URL" => {
            let most = right.known.map_or(1, |size| size.max);
            Range::new(1, most).scaled(PER_CHARACTER)
        }
        name if name.starts_with("kubernetes.authorization.") => Range::exactly(1),
        _ => return None,
    };
    Some(CallCost::new(cost))
}

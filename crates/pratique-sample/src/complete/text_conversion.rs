//! Functions that make something of a text, and the labels and annotations that they are given: anyone may write any text there.

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};

/// A function that fails for some texts.
#[derive(Debug)]
pub struct TextConversion {
    /// Its name.
    pub function: &'static str,
    /// A text that it takes.
    pub(super) valid_text: &'static str,
    /// What tests whether a text is one that it takes: a function, or a call on the text.
    pub test: &'static str,
}

const fn conversion(function: &'static str, valid_text: &'static str, test: &'static str) -> TextConversion {
    TextConversion {
        function,
        valid_text,
        test,
    }
}

const CONVERSIONS: [TextConversion; 11] = [
    conversion("int", "1", "matches('^[0-9]+$')"),
    conversion("uint", "1", "matches('^[0-9]+$')"),
    conversion("double", "1", "matches('^[0-9]+([.][0-9]+)?$')"),
    conversion("bool", "true", "matches('^(true|false)$')"),
    conversion("duration", "1h", "matches('^([0-9]+(h|m|s))+$')"),
    conversion(
        "timestamp",
        "2025-01-01T00:00:00Z",
        "matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T.*Z$')",
    ),
    conversion("quantity", "1", "isQuantity"),
    conversion("semver", "1.0.0", "isSemver"),
    conversion("ip", "10.0.0.1", "isIP"),
    conversion("cidr", "10.0.0.0/8", "isCIDR"),
    conversion("url", "https://example.com", "isURL"),
];

/// A label or annotation that a call converts.
#[derive(Clone, Copy, Debug)]
pub struct ConvertedText<'a> {
    /// The node of the text.
    pub text: ExprId,
    /// The key of the label or annotation.
    pub key: &'a str,
    /// What it is given to.
    pub conversion: &'static TextConversion,
}

impl<'a> ConvertedText<'a> {
    /// The label or annotation that a node converts, if it does.
    pub fn find(ast: &'a Ast, call: ExprId) -> Option<Self> {
        let Expr::Call {
            function,
            target: None,
            args,
        } = ast.expr(call)
        else {
            return None;
        };
        let conversion = CONVERSIONS.iter().find(|known| known.function == &**function)?;
        let [text] = args.as_slice() else { return None };
        let key = find_key(ast, *text)?;
        Some(ConvertedText {
            text: *text,
            key,
            conversion,
        })
    }
}

/// The key of the label or annotation whose text a node reads.
fn find_key(ast: &Ast, id: ExprId) -> Option<&str> {
    let (holder, key) = match ast.expr(id) {
        Expr::Select { operand, field, .. } => (*operand, &**field),
        Expr::Call {
            function,
            target: Some(target),
            ..
        } if matches!(&**function, "orValue" | "value" | "trim") => return find_key(ast, *target),
        Expr::Call {
            function,
            target: None,
            args,
        } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => match args.as_slice() {
            [operand, key] => (*operand, constant_text(ast, *key)?),
            _ => return None,
        },
        _ => return None,
    };
    let map = match ast.expr(holder) {
        Expr::Select { field, .. } => &**field,
        Expr::Call { args, .. } => constant_text(ast, *args.get(1)?)?,
        _ => return None,
    };
    matches!(map, "labels" | "annotations").then_some(key)
}

fn constant_text(ast: &Ast, id: ExprId) -> Option<&str> {
    match ast.expr(id) {
        Expr::Literal(Literal::String(text)) => Some(text),
        _ => None,
    }
}

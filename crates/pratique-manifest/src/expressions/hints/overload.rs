//! Help for operands that a function does not take.

/// A call as the error of the type checker shows it.
struct RefusedCall<'c> {
    function: &'c str,
    /// The type of what stands before the point.
    receiver: Option<&'c str>,
    arguments: Vec<&'c str>,
}

const QUANTITY: &str = "kubernetes.Quantity";
const SEMVER: &str = "kubernetes.Semver";
const URL: &str = "kubernetes.URL";

/// Types whose values are made of texts, with an example.
const MADE_OF_TEXTS: &[(&str, &str)] = &[
    (QUANTITY, "quantity('1Gi')"),
    (SEMVER, "semver('1.2.3')"),
    (URL, "url('https://example.com')"),
    ("net.IP", "ip('10.0.0.1')"),
    ("net.CIDR", "cidr('10.0.0.0/8')"),
    ("timestamp", "timestamp('2025-01-01T00:00:00Z')"),
    ("duration", "duration('1h')"),
];

/// Functions that take one text.
const OF_TEXT: &[&str] = &[
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
    "url",
    "isURL",
    "ip",
    "isIP",
    "cidr",
    "isCIDR",
    "timestamp",
    "duration",
];

/// Functions that are called on texts, and take texts.
const ON_TEXTS: &[&str] = &[
    "contains",
    "endsWith",
    "find",
    "findAll",
    "indexOf",
    "lowerAscii",
    "matches",
    "replace",
    "split",
    "startsWith",
    "trim",
    "upperAscii",
];

/// Functions that are called on values which are made of texts, by the function that makes them.
const ON_MADE: &[(&str, &[&str])] = &[
    (
        "quantity",
        &[
            "add",
            "asApproximateFloat",
            "asInteger",
            "compareTo",
            "isGreaterThan",
            "isInteger",
            "isLessThan",
            "sign",
            "sub",
        ],
    ),
    ("semver", &["major", "minor", "patch"]),
    (
        "timestamp",
        &[
            "getDate",
            "getDayOfMonth",
            "getDayOfWeek",
            "getDayOfYear",
            "getFullYear",
            "getHours",
            "getMinutes",
            "getMonth",
            "getSeconds",
        ],
    ),
    (
        "url",
        &[
            "getEscapedPath",
            "getHost",
            "getHostname",
            "getPort",
            "getQuery",
            "getScheme",
        ],
    ),
    ("cidr", &["containsCIDR", "containsIP", "masked", "prefixLength"]),
];

const SAME_TYPE: &str =
    "both sides need the same type: convert one, with int(…), string(…), double(…) or dyn(…)";

/// The help for a call; `refused` follows the first quote of the error: `_+_' applied to '(int, string)'`.
pub(super) fn help_for_call(refused: &str) -> Option<String> {
    let call = RefusedCall::parse(refused)?;
    if call.has(is_optional) {
        let help = match call.function {
            "orValue" | "or" => "the value in the place of an optional one needs its type",
            _ => "what a ? reads is optional: give it a value with orValue(…), or ask hasValue() first",
        };
        return Some(help.to_owned());
    }
    match call.function {
        "_<_" | "_<=_" | "_>_" | "_>=_" => Some(for_order(&call)),
        "_==_" | "_!=_" => Some(for_equality(&call)),
        "_in_" | "@in" => Some(for_membership(&call).to_owned()),
        "_+_" | "_-_" | "_*_" | "_/_" | "_%_" => for_arithmetic(&call).map(str::to_owned),
        "_[_]" | "_[?_]" => for_index(&call).map(str::to_owned),
        "_?_:_" => Some(for_conditional(&call).to_owned()),
        "_&&_" | "_||_" | "!_" => Some("the operands must be bool: compare them, as in … == true".to_owned()),
        "string" | "int" | "uint" | "double" | "bool" => for_conversion(&call).map(str::to_owned),
        "join" => for_join(&call).map(str::to_owned),
        "size" => Some("lists, maps, texts and bytes have a size".to_owned()),
        "orValue" | "or" | "hasValue" | "value" | "optMap" | "optFlatMap" => {
            Some("only what a ? reads is optional, as in object.?field".to_owned())
        }
        function if OF_TEXT.contains(&function) => Some(format!(
            "it is made of a text: {function}('…'), or {function}(string(…))"
        )),
        function if ON_TEXTS.contains(&function) => Some(for_text_function(&call)),
        _ => for_method(&call),
    }
}

/// Whether `string(…)` takes a value of a type.
pub(super) fn is_text_made_of(of: &str) -> bool {
    !matches!(of, QUANTITY | SEMVER | URL) && !is_list(of) && !is_fields(of) && !is_optional(of)
}

fn for_order(call: &RefusedCall<'_>) -> String {
    match call.arguments.as_slice() {
        [QUANTITY, QUANTITY] | [SEMVER, SEMVER] => {
            "they are compared with a.isLessThan(b), a.isGreaterThan(b) or a.compareTo(b) <= 0, not with < and >".to_owned()
        }
        [QUANTITY, _] | [_, QUANTITY] => {
            "make the other side a quantity, too, and compare with a.isLessThan(b), a.isGreaterThan(b) or \
             a.compareTo(quantity('1Gi')) <= 0"
                .to_owned()
        }
        [left, right] if left == right => "only numbers, texts, bools, bytes and times have an order".to_owned(),
        _ => for_different_types(call),
    }
}

fn for_equality(call: &RefusedCall<'_>) -> String {
    match call.arguments.as_slice() {
        ["string", "bool"] | ["bool", "string"] => {
            "a text and a bool are never equal: compare the text with 'true' or 'false'".to_owned()
        }
        _ => for_different_types(call),
    }
}

/// Help for two operands that need one type.
fn for_different_types(call: &RefusedCall<'_>) -> String {
    match call.arguments.iter().find_map(|operand| example_of(operand)) {
        Some(example) => format!("make the other side one as well: {example}"),
        None => SAME_TYPE.to_owned(),
    }
}

fn for_membership(call: &RefusedCall<'_>) -> &'static str {
    match call.arguments.as_slice() {
        [_, "string"] => "ask for a part of a text with text.contains('…')",
        _ => SAME_TYPE,
    }
}

fn for_arithmetic(call: &RefusedCall<'_>) -> Option<&'static str> {
    let is_number = |operand: &str| matches!(operand, "int" | "uint" | "double");
    if call.has(|operand| operand == QUANTITY) {
        return Some("quantities are added with a.add(b), and subtracted with a.sub(b)");
    }
    match (call.function, call.arguments.as_slice()) {
        ("_+_", operands) if operands.contains(&"string") => {
            Some("only texts are added to a text: string(…)")
        }
        ("_-_", ["string", "string"]) => Some("a part of a text is left out with text.replace('…', '')"),
        ("_+_", [left, right]) if is_list(left) != is_list(right) => {
            Some("only lists are added to a list: put the value into […]")
        }
        ("_%_", ["double", "double"]) => Some("only whole numbers have a remainder: int(…)"),
        (_, operands) if operands.iter().copied().all(is_number) => {
            Some("both numbers need the same type: convert one, with int(…) or double(…)")
        }
        _ => None,
    }
}

fn for_index(call: &RefusedCall<'_>) -> Option<&'static str> {
    match call.arguments.as_slice() {
        [list, "string"] if is_list(list) => Some(
            "an element of a list is read by its number; look one up by its name with list.filter(x, x.name == '…')",
        ),
        ["string", _] => {
            Some("a sign of a text is read with text.charAt(0), a part with text.substring(0, 3)")
        }
        _ => None,
    }
}

fn for_conditional(call: &RefusedCall<'_>) -> &'static str {
    if call.has(|operand| matches!(operand, "null" | "null_type")) {
        return "null is of another type than the text beside it: make it dyn(null), or, where a text is due, ''";
    }
    "what stands before and behind the colon needs the same type: convert one, or put it into dyn(…)"
}

fn for_conversion(call: &RefusedCall<'_>) -> Option<&'static str> {
    let [operand] = call.arguments.as_slice() else {
        return None;
    };
    match (call.function, *operand) {
        ("string", QUANTITY | SEMVER | URL) => {
            Some("no text is made of it again: use the text that it is made of, or read a number of it")
        }
        ("string", "list(string)") => Some("join the texts: list.join(', ')"),
        ("string", list) if is_list(list) => {
            Some("make a text of each element: list.map(x, string(x)).join(', ')")
        }
        ("string", of) if is_fields(of) => {
            Some("make a text of a part of it, as in string(object.spec.replicas)")
        }
        ("bool", _) => Some("compare it, as in … != 0"),
        (_, QUANTITY) => {
            Some("a quantity is a number with asInteger(), where isInteger(), or asApproximateFloat()")
        }
        (_, "bool") => Some("a bool is made a number by a condition: … ? 1 : 0"),
        (_, of) if is_list(of) || is_fields(of) => Some("the number of its elements is size(…)"),
        _ => None,
    }
}

fn for_join(call: &RefusedCall<'_>) -> Option<&'static str> {
    match call.receiver? {
        "list(string)" | "list(dyn)" => Some("it takes a text: list.join(', ')"),
        list if is_list(list) => Some("only texts are joined: list.map(x, string(x)).join(', ')"),
        _ => Some("it is called on a list of texts: ['a', 'b'].join(', ')"),
    }
}

/// Help for a function of texts, which is called on something else or takes something else.
fn for_text_function(call: &RefusedCall<'_>) -> String {
    let function = call.function;
    let is_test = matches!(function, "contains" | "endsWith" | "matches" | "startsWith");
    match call.receiver {
        None => format!("it is called on a text: text.{function}(…)"),
        Some(list) if is_list(list) && function == "contains" => {
            "ask for an element of a list with in: value in list".to_owned()
        }
        Some(list) if is_list(list) && is_test => {
            format!("ask each text of a list: list.exists(x, x.{function}(…))")
        }
        Some(list) if is_list(list) => {
            format!("do it with each text of a list: list.map(x, x.{function}(…))")
        }
        Some("string" | "dyn") => format!("it takes a text: text.{function}(string(…))"),
        Some(_) => format!("it is called on a text: string(…).{function}(…)"),
    }
}

/// Help for a function that is called on values which are made of texts.
fn for_method(call: &RefusedCall<'_>) -> Option<String> {
    let (maker, _) = ON_MADE
        .iter()
        .find(|(_, functions)| functions.contains(&call.function))?;
    match call.receiver {
        None => Some(format!(
            "it is called on its value: {maker}(…).{}(…)",
            call.function
        )),
        Some("string" | "dyn") if call.arguments.is_empty() => Some(format!(
            "make one of the text first: {maker}(…).{}()",
            call.function
        )),
        Some("string") => Some(format!(
            "make one of each text first: {maker}(…).{}({maker}(…))",
            call.function
        )),
        Some(receiver) => {
            let example = example_of(receiver)?;
            Some(format!("make the other one as well: {example}"))
        }
    }
}

/// How a value of a type is made of a text.
fn example_of(of: &str) -> Option<&'static str> {
    let known = MADE_OF_TEXTS.iter().find(|(name, _)| *name == of);
    known.map(|(_, example)| *example)
}

fn is_optional(of: &str) -> bool {
    of.starts_with("optional_type(")
}

fn is_list(of: &str) -> bool {
    of.starts_with("list(")
}

/// Whether a type is a map, or the type of an object: `core/v1.Container`.
fn is_fields(of: &str) -> bool {
    of.starts_with("map(") || of.contains('/')
}

impl<'c> RefusedCall<'c> {
    fn parse(refused: &'c str) -> Option<Self> {
        let (function, operands) = refused.split_once("' applied to '")?;
        let operands = operands.strip_suffix('\'')?.strip_suffix(')')?;
        let (receiver, arguments) = match operands.strip_prefix('(') {
            Some(arguments) => (None, arguments),
            None => {
                let (receiver, arguments) = split_outside(operands, ".(")?;
                (Some(receiver), arguments)
            }
        };
        let mut call = RefusedCall {
            function,
            receiver,
            arguments: Vec::new(),
        };
        let mut rest = arguments;
        while let Some((argument, behind)) = split_outside(rest, ", ") {
            call.arguments.push(argument);
            rest = behind;
        }
        call.arguments.extend(Some(rest).filter(|last| !last.is_empty()));
        Some(call)
    }

    /// Whether one of the operands is of a type.
    fn has(&self, is_type: impl Fn(&str) -> bool) -> bool {
        self.receiver
            .iter()
            .chain(&self.arguments)
            .any(|operand| is_type(operand))
    }
}

/// A text before and behind the first separator that is not within parentheses.
fn split_outside<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        let (head, rest) = text.split_at_checked(at)?;
        if depth == 0
            && let Some(behind) = rest.strip_prefix(separator)
        {
            return Some((head, behind));
        }
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        for (refused, function, receiver, arguments) in [
            (
                "_+_' applied to '(int, string)'",
                "_+_",
                None,
                vec!["int", "string"],
            ),
            (
                "contains' applied to 'list(map(string, dyn)).(map(int, int), dyn)'",
                "contains",
                Some("list(map(string, dyn))"),
                vec!["map(int, int)", "dyn"],
            ),
            (
                "sign' applied to 'optional_type(core/v1.Pod).()'",
                "sign",
                Some("optional_type(core/v1.Pod)"),
                vec![],
            ),
        ] {
            let call = RefusedCall::parse(refused).unwrap();
            assert_eq!(
                (call.function, call.receiver, call.arguments),
                (function, receiver, arguments),
                "{refused}"
            );
        }
        assert!(RefusedCall::parse("_+_").is_none());
        assert!(RefusedCall::parse("_+_' applied to '").is_none());
    }

    #[test]
    fn operands_have_help() {
        for (refused, expected) in [
            (
                "_<_' applied to '(kubernetes.Quantity, kubernetes.Quantity)",
                "a.isLessThan(b)",
            ),
            (
                "_>=_' applied to '(kubernetes.Semver, kubernetes.Semver)",
                "a.isLessThan(b)",
            ),
            (
                "_<_' applied to '(kubernetes.Quantity, int)",
                "make the other side a quantity, too",
            ),
            (
                "_<_' applied to '(string, timestamp)",
                "one as well: timestamp('2025",
            ),
            ("_<_' applied to '(map(dyn, dyn), map(dyn, dyn))", "have an order"),
            ("_<_' applied to '(int, string)", "both sides need the same type"),
            (
                "_==_' applied to '(kubernetes.Quantity, string)",
                "one as well: quantity('1Gi')",
            ),
            ("_==_' applied to '(string, bool)", "never equal"),
            ("_!=_' applied to '(optional_type(dyn), bool)", "orValue(…)"),
            ("@in' applied to '(string, string)", "text.contains"),
            (
                "_+_' applied to '(kubernetes.Quantity, kubernetes.Quantity)",
                "a.add(b)",
            ),
            ("_+_' applied to '(list(string), int)", "put the value into […]"),
            ("_+_' applied to '(int, double)", "int(…) or double(…)"),
            ("_-_' applied to '(string, string)", "replace"),
            ("_[_]' applied to '(list(dyn), string)", "by its number"),
            ("_[_]' applied to '(string, int)", "charAt"),
            (
                "string' applied to '(kubernetes.Quantity)",
                "the text that it is made of",
            ),
            ("string' applied to '(list(string))", "list.join(', ')"),
            ("string' applied to '(list(core/v1.Container))", "of each element"),
            ("string' applied to '(core/v1.Container)", "a part of it"),
            ("int' applied to '(kubernetes.Quantity)", "asInteger()"),
            ("int' applied to '(list(dyn))", "size(…)"),
            ("bool' applied to '(int)", "!= 0"),
            ("quantity' applied to '(int)", "quantity(string(…))"),
            (
                "isLessThan' applied to 'kubernetes.Quantity.(string)",
                "quantity('1Gi')",
            ),
            (
                "isLessThan' applied to 'string.(string)",
                "quantity(…).isLessThan(quantity(…))",
            ),
            ("asInteger' applied to 'string.()", "quantity(…).asInteger()"),
            ("getFullYear' applied to 'string.()", "timestamp(…).getFullYear()"),
            ("getHost' applied to 'string.()", "url(…).getHost()"),
            (
                "startsWith' applied to 'list(string).(string)",
                "list.exists(x, x.startsWith(…))",
            ),
            (
                "lowerAscii' applied to 'list(string).()",
                "list.map(x, x.lowerAscii(…))",
            ),
            ("startsWith' applied to 'string.(int)", "takes a text"),
            ("startsWith' applied to 'int.(string)", "string(…).startsWith(…)"),
            ("contains' applied to '(string, string)", "text.contains(…)"),
            ("join' applied to 'list(int).(string)", "list.map(x, string(x))"),
            ("join' applied to 'string.()", "on a list of texts"),
            ("size' applied to '(int)", "have a size"),
            (
                "orValue' applied to 'optional_type(bool).(string)",
                "needs its type",
            ),
            (
                "orValue' applied to 'list(core/v1.Container).(list(dyn))",
                "object.?field",
            ),
        ] {
            let help = help_for_call(&format!("{refused}'")).unwrap_or_default();
            assert!(help.contains(expected), "{refused}: {help:?}");
        }
        assert_eq!(help_for_call("sets.contains' applied to '(int, int)'"), None);
    }
}

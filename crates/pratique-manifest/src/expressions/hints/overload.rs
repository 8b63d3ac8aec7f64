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

/// Functions that are called on texts, each with an example of what it takes.
const ON_TEXTS: &[(&str, &str)] = &[
    ("contains", "'…'"),
    ("endsWith", "'…'"),
    ("find", "'…'"),
    ("findAll", "'…'"),
    ("indexOf", "'…'"),
    ("lowerAscii", ""),
    ("matches", "'…'"),
    ("replace", "'…', '…'"),
    ("split", "'…'"),
    ("startsWith", "'…'"),
    ("trim", ""),
    ("upperAscii", ""),
];

/// Functions that are called on values which are made of texts, by the function that makes them, each with an example of what it
/// takes.
const ON_MADE: &[(&str, &[(&str, &str)])] = &[
    (
        "quantity",
        &[
            ("add", "quantity('1Gi')"),
            ("asApproximateFloat", ""),
            ("asInteger", ""),
            ("compareTo", "quantity('1Gi')"),
            ("isGreaterThan", "quantity('1Gi')"),
            ("isInteger", ""),
            ("isLessThan", "quantity('1Gi')"),
            ("sub", "quantity('1Gi')"),
        ],
    ),
    ("semver", &[("major", ""), ("minor", ""), ("patch", "")]),
    (
        "timestamp",
        &[
            ("getDate", ""),
            ("getDayOfMonth", ""),
            ("getDayOfWeek", ""),
            ("getDayOfYear", ""),
            ("getFullYear", ""),
            ("getHours", ""),
            ("getMinutes", ""),
            ("getMonth", ""),
            ("getSeconds", ""),
        ],
    ),
    (
        "url",
        &[
            ("getEscapedPath", ""),
            ("getHost", ""),
            ("getHostname", ""),
            ("getPort", ""),
            ("getQuery", ""),
            ("getScheme", ""),
        ],
    ),
    (
        "cidr",
        &[
            ("containsCIDR", "'10.0.0.0/8'"),
            ("containsIP", "'10.0.0.1'"),
            ("masked", ""),
            ("prefixLength", ""),
        ],
    ),
];

/// The functions that compare versions as well as quantities.
const COMPARING: &[&str] = &["compareTo", "isGreaterThan", "isLessThan"];

/// The functions that convert into a type, which has their name, and the types that each takes.
const CONVERTING: &[(&str, &[&str])] = &[
    ("int", &["uint", "double", "string", "timestamp"]),
    ("uint", &["int", "double", "string"]),
    ("double", &["int", "uint", "string"]),
    (
        "string",
        &[
            "int",
            "uint",
            "double",
            "bool",
            "bytes",
            "timestamp",
            "duration",
            "net.IP",
            "net.CIDR",
            "dyn",
        ],
    ),
];

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
        "_in_" | "@in" => Some(for_membership(&call)),
        "_+_" | "_-_" | "_*_" | "_/_" | "_%_" => for_arithmetic(&call),
        "_[_]" | "_[?_]" => for_index(&call).map(str::to_owned),
        "_?_:_" => Some(for_conditional(&call)),
        "_&&_" | "_||_" | "!_" => Some(for_bool(&call)),
        "string" | "int" | "uint" | "double" | "bool" => for_conversion(&call),
        "join" => for_join(&call).map(str::to_owned),
        "sign" => Some("it takes a quantity: sign(quantity('…'))".to_owned()),
        "size" => Some("lists, maps, texts and bytes have a size".to_owned()),
        "orValue" | "or" | "hasValue" | "value" | "optMap" | "optFlatMap" => {
            Some("only what a ? reads is optional, as in object.?field".to_owned())
        }
        function if OF_TEXT.contains(&function) => Some(for_maker(&call)),
        _ => for_text_function(&call).or_else(|| for_method(&call)),
    }
}

/// Whether `string(…)` takes a value of a type.
pub(super) fn is_text_made_of(of: &str) -> bool {
    of == "string" || is_converted("string", of)
}

/// How a value of a type that is no bool is asked for one.
pub(super) fn comparison_of(of: &str) -> Option<&'static str> {
    Some(match of {
        "string" => "… == 'value'",
        "int" => "… != 0",
        "uint" => "… != 0u",
        "double" => "… != 0.0",
        "dyn" => "… == true",
        "null" | "null_type" => "… == null",
        QUANTITY => "sign(…) == 1",
        _ if is_list(of) || of == "bytes" || of.starts_with("map(") => "size(…) > 0",
        _ => return None,
    })
}

/// Whether the function that has the name of a type converts a value of another into it.
fn is_converted(to: &str, from: &str) -> bool {
    let mut converting = CONVERTING.iter();
    converting.any(|(name, types)| *name == to && types.contains(&from))
}

fn for_order(call: &RefusedCall<'_>) -> String {
    const WITH_AN_ORDER: &str = "only numbers, texts, bools, bytes and times have an order";
    match call.arguments.as_slice() {
        [QUANTITY, QUANTITY] | [SEMVER, SEMVER] => {
            "they are compared with a.isLessThan(b), a.isGreaterThan(b) or a.compareTo(b) <= 0, not with < and >".to_owned()
        }
        [QUANTITY, other] | [other, QUANTITY] if is_text_made_of(other) => {
            "make the other side a quantity, too, and compare with isLessThan(quantity('1Gi')), isGreaterThan(quantity('1Gi')) or \
             compareTo(quantity('1Gi')) <= 0"
                .to_owned()
        }
        [QUANTITY, _] | [_, QUANTITY] => {
            "quantities are compared with each other, as in isLessThan(quantity('1Gi'))".to_owned()
        }
        [SEMVER, _] | [_, SEMVER] => {
            "make the other side a version, too, and compare with isLessThan(semver('1.2.3')) or \
             compareTo(semver('1.2.3')) <= 0"
                .to_owned()
        }
        [left, right] if left == right || call.has(|operand| !has_order(operand)) => WITH_AN_ORDER.to_owned(),
        _ => for_different_types(call),
    }
}

/// Whether values of a type are compared with `<`.
fn has_order(of: &str) -> bool {
    matches!(
        of,
        "int" | "uint" | "double" | "string" | "bool" | "bytes" | "timestamp" | "duration" | "dyn"
    )
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
    if let Some(example) = call.arguments.iter().find_map(|operand| example_of(operand)) {
        return format!("make the other side one as well: {example}");
    }
    match call.arguments.as_slice() {
        [left, right] => for_pair(left, right),
        _ => for_pair("", ""),
    }
}

/// Help for two values that need one type: the conversions that there are.
fn for_pair(left: &str, right: &str) -> String {
    let converting = CONVERTING.iter().map(|(name, _)| *name);
    let converting = converting.filter(|name| {
        let is_made = |to: &str, from: &str| *name == to && is_converted(to, from);
        is_made(left, right) || is_made(right, left)
    });
    let names: Vec<String> = converting.map(|name| format!("{name}(…)")).collect();
    match names.as_slice() {
        [] => "both sides need the same type: compare a part of one, or put one into dyn(…)".to_owned(),
        names => format!(
            "both sides need the same type: convert one, with {} or dyn(…)",
            names.join(", ")
        ),
    }
}

fn for_membership(call: &RefusedCall<'_>) -> String {
    match call.arguments.as_slice() {
        [_, "string"] => "ask for a part of a text with text.contains('…')".to_owned(),
        [value, list] if is_list(list) => for_pair(value, element_of(list)),
        [value, map] if map.starts_with("map(") => for_pair(value, key_of(map)),
        _ => "only lists, and maps for their keys, are asked with in".to_owned(),
    }
}

fn for_arithmetic(call: &RefusedCall<'_>) -> Option<String> {
    let is_number = |operand: &str| matches!(operand, "int" | "uint" | "double");
    let help = match (call.function, call.arguments.as_slice()) {
        ("_+_" | "_-_", [QUANTITY, QUANTITY | "int"]) => {
            "quantities are added with a.add(b), and subtracted with a.sub(b)"
        }
        ("_+_", ["string", QUANTITY] | [QUANTITY, "string"]) => {
            "no text is made of a quantity again: use the text that it is made of"
        }
        (_, operands) if operands.contains(&QUANTITY) => {
            "a quantity is a number with asInteger(), where isInteger(), or asApproximateFloat()"
        }
        ("_+_", ["string", other] | [other, "string"]) => return for_text_of(other),
        ("_-_", ["string", "string"]) => "a part of a text is left out with text.replace('…', '')",
        ("_+_", [left, right]) if is_list(left) != is_list(right) => {
            let (list, value) = if is_list(left) {
                (*left, *right)
            } else {
                (*right, *left)
            };
            return Some(for_addition(element_of(list), value));
        }
        ("_%_", ["double", "double"]) => "only whole numbers have a remainder: int(…)",
        ("_%_", [left, right]) if is_number(left) && is_number(right) => {
            "only whole numbers of one type have a remainder: convert one, with int(…)"
        }
        (_, [left, right]) if is_number(left) && is_number(right) => return Some(for_pair(left, right)),
        _ => return None,
    };
    Some(help.to_owned())
}

/// Help for a value that is added to a list of elements of a type.
fn for_addition(element: &str, value: &str) -> String {
    let convert = match element {
        _ if element == value || [element, value].contains(&"dyn") => "[…]".to_owned(),
        _ if is_converted(element, value) => format!("[{element}(…)]"),
        _ => "[dyn(…)]".to_owned(),
    };
    format!("only lists are added to a list: put the value into {convert}")
}

/// How a text is made of a value that is added to one, or converted into one.
fn for_text_of(of: &str) -> Option<String> {
    let help = match of {
        QUANTITY | SEMVER | URL => {
            "no text is made of it again: use the text that it is made of, or read a number of it"
        }
        "list(string)" => "join the texts: list.join(', ')",
        _ if is_list(of) && is_text_made_of(element_of(of)) => {
            "make a text of each element: list.map(x, string(x)).join(', ')"
        }
        _ if is_list(of) => "make a text of a part of each element, and join these texts",
        _ if is_fields(of) => "make a text of a part of it, as in string(object.spec.replicas)",
        _ if is_text_made_of(of) => "only texts are added to a text: string(…)",
        _ => return None,
    };
    Some(help.to_owned())
}

fn for_index(call: &RefusedCall<'_>) -> Option<&'static str> {
    match call.arguments.as_slice() {
        [list, "string"] if is_list(list) && (is_fields(element_of(list)) || element_of(list) == "dyn") => {
            Some(
                "an element of a list is read by its number; look one up by its name with list.filter(x, x.name == '…')",
            )
        }
        [list, "string"] if is_list(list) => Some(
            "an element of a list is read by its number, as in list[0]; value in list asks whether there is one",
        ),
        ["string", _] => {
            Some("a sign of a text is read with text.charAt(0), a part with text.substring(0, 3)")
        }
        _ => None,
    }
}

fn for_conditional(call: &RefusedCall<'_>) -> String {
    if let Some(asked) = call.arguments.first().filter(|asked| !is_bool(asked)) {
        return match comparison_of(asked) {
            Some(comparison) => format!("what stands before the ? must be bool: {comparison}"),
            None => "what stands before the ? must be bool".to_owned(),
        };
    }
    let help = if call.has(|operand| matches!(operand, "null" | "null_type")) {
        "null is of another type than the text beside it: make it dyn(null), or, where a text is due, ''"
    } else {
        "what stands before and behind the colon needs the same type: convert one, or put it into dyn(…)"
    };
    help.to_owned()
}

fn for_bool(call: &RefusedCall<'_>) -> String {
    let mut others = call.arguments.iter().filter(|operand| !is_bool(operand));
    match others.next().and_then(|operand| comparison_of(operand)) {
        Some(comparison) => format!("the operands must be bool: compare them, as in {comparison}"),
        None => "the operands must be bool".to_owned(),
    }
}

fn is_bool(of: &str) -> bool {
    matches!(of, "bool" | "dyn")
}

fn for_conversion(call: &RefusedCall<'_>) -> Option<String> {
    let [operand] = call.arguments.as_slice() else {
        return None;
    };
    let help = match (call.function, *operand) {
        ("string", of) => return for_text_of(of),
        ("bool", of) => return comparison_of(of).map(|comparison| format!("compare it, as in {comparison}")),
        (_, QUANTITY) => {
            "a quantity is a number with asInteger(), where isInteger(), or asApproximateFloat()"
        }
        (_, "bool") => "a bool is made a number by a condition: … ? 1 : 0",
        (_, of) if is_list(of) || of.starts_with("map(") => "the number of its elements is size(…)",
        _ => return None,
    };
    Some(help.to_owned())
}

fn for_join(call: &RefusedCall<'_>) -> Option<&'static str> {
    match call.receiver? {
        "list(string)" | "list(dyn)" => Some("it takes a text: list.join(', ')"),
        list if is_list(list) && is_text_made_of(element_of(list)) => {
            Some("only texts are joined: list.map(x, string(x)).join(', ')")
        }
        list if is_list(list) => Some("only texts are joined: make a text of a part of each element"),
        _ => Some("it is called on a list of texts: ['a', 'b'].join(', ')"),
    }
}

/// Help for a function that makes a value of a text.
fn for_maker(call: &RefusedCall<'_>) -> String {
    let function = call.function;
    match (call.receiver, call.arguments.as_slice()) {
        (None, ["string"]) | (Some(_), _) => format!("it is made of a text: {function}('…')"),
        (None, [of]) if is_text_made_of(of) => {
            format!("it is made of a text: {function}('…'), or {function}(string(…))")
        }
        (None, ["list(string)"]) => format!("it is made of one text: list.map(x, {function}(x))"),
        _ => format!("it is made of one text: {function}('…')"),
    }
}

/// Help for a function of texts, which is called on something else or takes something else.
fn for_text_function(call: &RefusedCall<'_>) -> Option<String> {
    let (function, example) = ON_TEXTS.iter().find(|(name, _)| *name == call.function)?;
    let example = format!("{function}({example})");
    let is_test = matches!(*function, "contains" | "endsWith" | "matches" | "startsWith");
    let help = match call.receiver {
        None => format!("it is called on a text: text.{example}"),
        Some(list) if is_list(list) && *function == "contains" => {
            "ask for an element of a list with in: value in list".to_owned()
        }
        Some(list) if is_list(list) => {
            let element = match element_of(list) {
                "string" | "dyn" => "x",
                of if is_text_made_of(of) => "string(x)",
                of if is_fields(of) => "x.name",
                _ => return None,
            };
            if is_test {
                format!("ask each text of a list: list.exists(x, {element}.{example})")
            } else {
                format!("do it with each text of a list: list.map(x, {element}.{example})")
            }
        }
        Some("string" | "dyn") => for_text_argument(call, &example),
        Some(of) if is_text_made_of(of) => format!("it is called on a text: string(…).{example}"),
        Some(QUANTITY | SEMVER | URL) => {
            format!("it is called on a text: use the one that it is made of, as in text.{example}")
        }
        Some(_) => format!("it is called on a text, as in object.metadata.name.{example}"),
    };
    Some(help)
}

/// Help for what a function of texts takes.
fn for_text_argument(call: &RefusedCall<'_>, example: &str) -> String {
    match (call.function, call.arguments.as_slice()) {
        _ if example.ends_with("()") => format!("it takes nothing: text.{example}"),
        ("replace", _) => format!("it takes two texts: text.{example}"),
        (function, [of]) if *of != "string" && is_text_made_of(of) => {
            format!("it takes a text: text.{function}(string(…))")
        }
        _ => format!("it takes a text: text.{example}"),
    }
}

/// Help for a function that is called on values which are made of texts.
fn for_method(call: &RefusedCall<'_>) -> Option<String> {
    let (maker, function, argument) = ON_MADE.iter().find_map(|(maker, functions)| {
        let (name, argument) = functions.iter().find(|(name, _)| *name == call.function)?;
        Some((*maker, *name, *argument))
    })?;
    let made = call.receiver.filter(|receiver| is_made_by(maker, receiver));
    let is_version = call.receiver == Some(SEMVER) && COMPARING.contains(&function);
    Some(match call.receiver {
        None => format!("it is called on its value: {maker}('…').{function}({argument})"),
        Some(_) if is_version => format!("make the other one as well: {function}(semver('1.2.3'))"),
        Some(_) if made.is_some() && argument.is_empty() => format!("it takes nothing: {function}()"),
        Some(_) if made.is_some() => format!("make the other one as well: {function}({argument})"),
        Some("string" | "dyn") => format!("make one of the text first: {maker}(…).{function}({argument})"),
        Some(of) if is_text_made_of(of) => {
            format!("make one of it first: {maker}(string(…)).{function}({argument})")
        }
        Some(_) => return None,
    })
}

/// Whether a function makes the values of a type.
fn is_made_by(maker: &str, of: &str) -> bool {
    let example = example_of(of).unwrap_or_default();
    example.split('(').next() == Some(maker)
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

/// The type of the elements of a list.
fn element_of(list: &str) -> &str {
    let element = list.strip_prefix("list(").and_then(|list| list.strip_suffix(')'));
    element.unwrap_or_default()
}

/// The type of the keys of a map.
fn key_of(map: &str) -> &str {
    let types = map
        .strip_prefix("map(")
        .and_then(|types| split_outside(types, ", "));
    types.map(|(key, _)| key).unwrap_or_default()
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
mod tests;

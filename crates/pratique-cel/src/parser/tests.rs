//! Tables of expressions: what they parse to, and what is said of those that do not parse.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;
use crate::Environment;
use crate::ast::{Expr, ExprId};
use crate::print::print;
use crate::source::Position;

fn environment() -> &'static Environment {
    static MADE: OnceLock<Environment> = OnceLock::new();
    MADE.get_or_init(Environment::kubernetes)
}

fn grammar(environment: &Environment) -> MacroGrammar<'_> {
    MacroGrammar {
        macros: environment.macros(),
        refuses_quoted_names: false,
    }
}

/// The faults of a text as `line:column message`; the column counts from 1 as shown.
fn faults(text: &str) -> Vec<String> {
    match parse(Arc::new(Source::new(text)), grammar(environment())) {
        Ok(_) => Vec::new(),
        Err(issues) => {
            let show = |issue: &Issue| {
                let Position { line, column } = issue.position;
                format!("{line}:{} {}", column + 1, issue.message)
            };
            issues.iter().map(show).collect()
        }
    }
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(faults(text), expected, "{text}");
}

const OPERAND: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

#[test]
fn what_is_well_formed_has_no_faults() {
    for text in [
        "a.b[c] + -d * 2 == 3 ? !e : f(g)",
        "a && b || c in [1, 2,] && {'a': 1, ?b: c,} == {,} || [,] == []",
        "pkg.Type{field: 1, ?`quoted.name`: x} == .pkg.Type{,}",
        "a.?b[?c].`d-e`",
        "[1].all(x, x > 0) && {}.exists(k, v, k == v)",
        "// a comment\nr'\\' + '''a\nb'''",
    ] {
        check(text, &[]);
    }
}

#[test]
fn one_token_too_many_or_too_few_is_told_apart() {
    check(
        "",
        &[&format!(
            "1:0 Syntax error: mismatched input '<EOF>' expecting {OPERAND}"
        )],
    );
    check("a b", &["1:3 Syntax error: extraneous input 'b' expecting <EOF>"]);
    check(
        "a b c",
        &["1:3 Syntax error: mismatched input 'b' expecting <EOF>"],
    );
    check("a)", &["1:2 Syntax error: extraneous input ')' expecting <EOF>"]);
    check(
        "1 + + 2",
        &[&format!(
            "1:5 Syntax error: extraneous input '+' expecting {OPERAND}"
        )],
    );
    check("f(a", &["1:4 Syntax error: missing ')' at '<EOF>'"]);
    check("a.", &["1:3 Syntax error: no viable alternative at input '.'"]);
    check(
        "a.true",
        &["1:3 Syntax error: mismatched input 'true' expecting IDENTIFIER"],
    );
    check(
        "1.\t+ 2",
        &[r"1:4 Syntax error: no viable alternative at input '.\t+'"],
    );
}

#[test]
fn reading_goes_on_after_a_fault() {
    check(
        "[1, 'a, if, x.all(y.z, true)",
        &[
            "1:5 Syntax error: token recognition error at: ''a, if, x.all(y.z, true)'",
            "1:29 Syntax error: missing ']' at '<EOF>'",
        ],
    );
    check(
        "f(, if) + has(x) + 99999999999999999999",
        &[
            &format!(
                "1:3 Syntax error: extraneous input ',' expecting {}",
                OPERAND.replace("'(', ", "'(', ')', ")
            ),
            "1:5 reserved identifier: if",
            "1:15 invalid argument to has() macro",
            "1:20 invalid int literal",
        ],
    );
}

#[test]
fn macros_say_what_their_arguments_must_be() {
    check("[].all(a.b, true)", &["1:9 argument must be a simple name"]);
    check("[].map(a.b, true)", &["1:9 argument is not an identifier"]);
    check(
        "[].map(__result__, true)",
        &["1:8 iteration variable overwrites accumulator variable"],
    );
    check("{}.all(k, k, true)", &["1:11 duplicate variable name: k"]);
    check(
        "x.optMap(1, true)",
        &["1:10 optMap() variable name must be a simple identifier"],
    );
    check(
        "{}.sortBy(x, x)",
        &["1:1 sortBy can only be applied to a list, identifier, comprehension, call or select expression"],
    );
    check("x.all(y)", &[]);
    check(".has(x)", &[]);
}

#[test]
fn nesting_and_chains_have_limits() {
    let nested = |times: usize| "(".repeat(times) + "1" + &")".repeat(times);
    let chained = |part: &str, times: usize| "x".to_owned() + &part.repeat(times);
    let nesting = ["-1:0 expression recursion limit exceeded: 250"];
    let chaining = ["-1:0 max recursion depth exceeded"];
    check(&nested(249), &[]);
    check(&nested(250), &nesting);
    check(&nested(10_000), &nesting);
    check(&"[".repeat(10_000), &nesting);
    for part in [".f", ".f()", "[0]", " + 1", " < 1"] {
        check(&chained(part, 250), &[]);
        check(&chained(part, 251), &chaining);
        check(&chained(part, 10_000), &chaining);
    }
    check(&chained(" && x", 10_000), &[]);
    check(&("!".repeat(10_001) + "x"), &[]);
    check(
        &"a".repeat(100_001),
        &["-1:0 expression code point size exceeds limit: size: 100001, limit 100000"],
    );
    check(
        &chained(".optMap(y, y)", 30),
        &["-1:0 expression is too large after the expansion of its macros"],
    );
    assert_eq!(faults(&"@".repeat(200)).len(), 101);
}

/// The offsets of the nodes of an expression, by what the nodes are.
fn offsets(text: &str) -> Vec<(String, u32)> {
    let ast = environment().parse(text).expect("well-formed");
    let ids = (0..ast.len()).map(|id| ExprId(id as u32));
    ids.map(|id| {
        let name = match ast.expr(id) {
            Expr::Call { function, .. } => function.to_string(),
            Expr::Select { field, .. } => format!(".{field}"),
            Expr::Ident(name) => name.to_string(),
            Expr::Literal(_) => "literal".to_owned(),
            Expr::List { .. } => "list".to_owned(),
            Expr::Map(_) => "map".to_owned(),
            Expr::Struct { type_name, .. } => type_name.to_string(),
            Expr::Comprehension(_) => "comprehension".to_owned(),
        };
        (name, ast.node(id).offset)
    })
    .collect()
}

#[test]
fn nodes_point_at_operators_dots_and_parentheses() {
    let check = |text: &str, expected: &[(&str, u32)]| {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, at)| (name.to_string(), *at))
            .collect();
        assert_eq!(offsets(text), expected, "{text}");
    };
    check(
        "'é'.f(-b).c + -1",
        &[
            ("literal", 0),
            ("b", 7),
            ("-_", 6),
            ("f", 5),
            (".c", 9),
            ("literal", 14),
            ("_+_", 12),
        ],
    );
    check(
        "{a: .b.?c}[T.U{d: [1]}] ? x : y",
        &[
            ("a", 1),
            (".b", 5),
            ("literal", 8),
            ("_?._", 6),
            ("map", 0),
            ("literal", 19),
            ("list", 18),
            ("T.U", 14),
            ("_[_]", 10),
            ("x", 26),
            ("y", 30),
            ("_?_:_", 24),
        ],
    );
    let of_macro = offsets("a.all(b, c)");
    let offsets: Vec<u32> = of_macro.iter().map(|(_, at)| *at).collect();
    assert_eq!(offsets, [0, 6, 9, 5, 5, 5, 5, 5, 5, 5]);
}

/// Whether both parsers build the same tree; the fast one may stop.
fn agree(text: &str) -> Result<(), TestCaseError> {
    let environment = environment();
    let source = Source::new(text);
    let mut fast_builder = AstBuilder::new(grammar(environment), 0);
    let mut diagnostic_builder = AstBuilder::new(grammar(environment), 0);
    let fast_root = fast::read(text, &mut fast_builder);
    let diagnostic_root = diagnostic::read(&source, &mut diagnostic_builder);
    match (fast_root, diagnostic_root) {
        (Ok(fast), Ok(diagnostic)) => {
            let source = Arc::new(source);
            let tree = |root, builder: AstBuilder<'_>| Ast {
                source: source.clone(),
                root,
                nodes: builder.nodes,
                macro_calls: builder.macro_calls,
            };
            let (fast, diagnostic) = (tree(fast, fast_builder), tree(diagnostic, diagnostic_builder));
            prop_assert!(fast.is_same(&diagnostic));
            let offsets = |ast: &Ast| {
                let mut offsets: Vec<u32> = ast.nodes.iter().map(|node| node.offset).collect();
                offsets.sort_unstable();
                offsets
            };
            prop_assert_eq!(offsets(&fast), offsets(&diagnostic));
            let printed = print(&fast);
            let again = environment.parse(&printed);
            prop_assert!(
                again.is_ok_and(|again| again.is_same(&fast)),
                "printed as {}",
                printed
            );
        }
        (Ok(_), Err(issues)) => prop_assert!(false, "only the diagnostic parser reports errors: {issues:?}"),
        (Err(_), Ok(_)) => prop_assert!(false, "the fast parser stopped at a well-formed text"),
        (Err(_), Err(issues)) => prop_assert!(!issues.is_empty()),
    }
    Ok(())
}

/// Texts of well-formed expressions.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-d]",
        "-?[0-9]{1,3}",
        "[0-9]{1,3}u",
        "-?[0-9]{0,2}\\.[0-9]{1,2}",
        "'[a-zé\u{4e16} ]{0,3}'",
        Just("b\"\\xff\"".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("r'''\\'''".to_owned()),
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", " in ", "&&", "||",
        ]);
        let macros = prop::sample::select(vec![
            "all", "exists", "map", "filter", "optMap", "sortBy", "other",
        ]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : {c}")),
            (inner.clone(), "[a-c]{1,2}").prop_map(|(a, name)| format!("({a}).{name}")),
            (inner.clone(), "[a-c]{1,2}").prop_map(|(a, name)| format!("({a}).?`{name}-x`")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("f({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, ?{b},]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{{a}: {b}, ?'k': {a}}}")),
            inner.clone().prop_map(|a| format!("x.Y{{f: {a}, ?`g h`: {a}}}")),
            inner.clone().prop_map(|a| format!("has(({a}).f)")),
            (inner.clone(), macros, inner).prop_map(|(a, name, b)| format!("g({a}).{name}(e, {b})")),
        ]
    })
}

/// Tokens in any order.
fn soup() -> impl Strategy<Value = String> {
    let tokens = vec![
        "a", "b", "if", "in", "true", "null", "1", "1u", ".5", "'s'", "b's'", "\"", "'", "`q`", "(", ")",
        "[", "]", "{", "}", ".", ",", "?", ":", "!", "-", "+", "*", "==", "<", "&&", "||", "&", "@", "é",
        "//", "\n", " ", "has(", ".all(a,", "T{", "0x", "\\",
    ];
    prop::collection::vec(prop::sample::select(tokens), 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn well_formed_expressions_read_alike_and_print_what_they_are(text in expression()) {
        agree(&text)?;
        prop_assert_eq!(faults(&text), Vec::<String>::new());
    }

    #[test]
    fn any_tokens_read_alike(text in soup()) {
        agree(&text)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Err(error) = environment().parse(&text) {
            prop_assert!(error.to_string().starts_with("ERROR: <input>:"));
        }
    }
}

//! Files of formats that a JSON Schema describes, such as test suites, decoded as strictly as manifests.

use std::ops::ControlFlow::{self, Continue};

use pratique_gotext::suggest::nearest;
use pratique_schema::Schema;
use pratique_typed::decode::{
    Fault, FaultSink, PlaceStep, StrictFault, StrictKind, TreeNode, ValuePlace, decode,
};
use serde_json::Value as Json;

use crate::help::Help;
use crate::parse::source::ObjectSource;
use crate::position::Span;
use crate::problem::{Problem, Rule};
use crate::tree::TreeValue;

/// A format: a JSON Schema whose `definitions` are its structs.
///
/// Of JSON Schema it knows what such formats need: `type`, `enum`, `items`, `properties` with `required`,
/// `additionalProperties`, `$ref`, `anyOf` a scalar and something else, and `allOf` around a `$ref` with a description.
#[derive(Debug)]
pub struct FileSchema {
    definitions: &'static Json,
    types: Schema,
}

impl FileSchema {
    /// Takes a JSON Schema.
    pub fn new(document: &'static Json) -> Self {
        let definitions = &document["definitions"];
        let structs = definitions.as_object().into_iter().flatten();
        let table = structs.map(|(name, definition)| {
            let properties = definition["properties"].as_object().into_iter().flatten();
            let fields = properties.map(|(name, of)| format!("\n {name} ? {}", shape(of)));
            format!("\ntype {name}{}", fields.collect::<String>())
        });
        FileSchema {
            definitions,
            // It is made once, and lives as long as the process.
            types: Schema::read(table.collect::<String>().leak()),
        }
    }

    /// The structs of the format.
    pub fn types(&self) -> &Schema {
        &self.types
    }

    /// Decodes a document as a struct of the format; gives all problems.
    pub fn problems(&'static self, source: &ObjectSource, name: &'static str) -> Vec<Problem> {
        let Some(of) = self.types.named(name) else {
            let message = format!("the format has no struct {name}");
            return vec![Problem::new(Rule::InvalidField, message)];
        };
        let mut collector = DocumentProblems {
            schema: self,
            root: part(self.definitions, name),
            source,
            problems: Vec::new(),
            missing: Vec::new(),
        };
        decode(
            &self.types,
            of,
            TreeNode::new(source.tree(), source.root()),
            &mut collector,
        );
        collector.problems.append(&mut collector.missing);
        collector.problems
    }

    /// The definition that a schema refers to, or else the schema itself.
    fn resolved(&self, of: &'static Json) -> &'static Json {
        let of = of.get("allOf").map_or(of, |all| &all[0]);
        referred(of).map_or(of, |name| part(self.definitions, name))
    }

    /// The schemas of a value: of the scalar that may replace it, if there is one, and of other values.
    fn alternatives(&self, of: &'static Json) -> (&'static Json, &'static Json) {
        match of["anyOf"].as_array().map(Vec::as_slice) {
            Some([scalar, other]) => (scalar, self.resolved(other)),
            _ => (self.resolved(of), self.resolved(of)),
        }
    }
}

/// A member of a schema; null if it has none of the name.
fn part<'s>(of: &'s Json, name: &str) -> &'s Json {
    of.get(name).unwrap_or(&Json::Null)
}

/// The name of the struct that a schema refers to.
fn referred(of: &Json) -> Option<&str> {
    of["$ref"].as_str()?.strip_prefix("#/definitions/")
}

/// The shape of a value, as a table of a [`Schema`] writes it.
fn shape(of: &Json) -> String {
    let inner = of.get("allOf").map(|all| &all[0]).or_else(|| of["anyOf"].get(1));
    if let Some(inner) = inner {
        return shape(inner);
    }
    match (referred(of), of["type"].as_str()) {
        (Some(name), _) => name.to_owned(),
        (_, Some("array")) => format!("[{}", shape(&of["items"])),
        (_, Some("object")) => format!("{{{}", shape(&of["additionalProperties"])),
        (_, Some("boolean")) => "bool".to_owned(),
        (_, Some("integer")) => "int32".to_owned(),
        _ if of["type"].is_null() => "json".to_owned(),
        _ => "string".to_owned(),
    }
}

/// Collects the problems of a document.
struct DocumentProblems<'a> {
    schema: &'static FileSchema,
    root: &'static Json,
    source: &'a ObjectSource,
    problems: Vec<Problem>,
    /// Fields that are missing, which are reported last.
    missing: Vec<Problem>,
}

impl DocumentProblems<'_> {
    /// The schema of the value at a place.
    fn schema_at(&self, place: &ValuePlace<'_>) -> &'static Json {
        let is_field = |step: &PlaceStep<'_>| matches!(step, PlaceStep::Field { .. });
        let from = place.steps.iter().rposition(is_field).unwrap_or_default();
        place.steps.iter().skip(from).fold(self.root, |within, step| {
            let within = self.schema.alternatives(within).1;
            match step {
                PlaceStep::Field { of, name, .. } => {
                    part(&part(self.schema.definitions, of.name)["properties"], name)
                }
                PlaceStep::Index(_) => &within["items"],
                PlaceStep::Key(_) => &within["additionalProperties"],
            }
        })
    }

    fn problem(&self, rule: Rule, message: String, steps: &[PlaceStep<'_>], span: Span) -> Problem {
        Problem {
            field: Some(path(steps)).filter(|field| !field.is_empty()),
            ..Problem::new(rule, message).at(self.source.document().location(span))
        }
    }

    /// Adds a problem for a value of the wrong type.
    fn mismatch(&mut self, of: &'static Json, place: &ValuePlace<'_>, span: Span) {
        let message = format!("expected {}", type_name(self.schema.alternatives(of).1));
        let problem = self.problem(Rule::WrongType, message, &place.steps, span);
        self.problems.push(problem);
    }

    /// Adds problems for the fields that a struct has to have.
    fn check_required(&mut self, of: &'static Json, place: &ValuePlace<'_>, node: TreeNode<'_>) {
        let required = of["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Json::as_str) {
            if node.entries().iter().any(|entry| *entry.key == *name) {
                continue;
            }
            let span = node.entries().first().map(|first| first.key_span);
            let span = span.unwrap_or_else(|| self.source.tree().nearest_span(node.id(), &[]));
            let message = format!("field `{name}` is missing");
            let about = part(&of["properties"], name)["description"]
                .as_str()
                .unwrap_or_default();
            self.missing.push(Problem {
                help: Some(about.into()),
                ..self.problem(Rule::InvalidField, message, &place.steps, span)
            });
        }
    }
}

impl<'t> FaultSink<'t, TreeNode<'t>> for DocumentProblems<'_> {
    const VISITS: bool = true;

    /// Checks the constraints that are not in tables: null, which no field may be, other scalars, `enum`, and
    /// `required`.
    fn visit(&mut self, place: &ValuePlace<'t>, value: TreeNode<'t>) -> bool {
        let of = self.schema_at(place);
        let (scalar, other) = self.schema.alternatives(of);
        let node = value.node();
        let is = |name: &str| match &scalar["type"] {
            Json::Array(names) => names.iter().any(|one| one == name),
            one => one == name,
        };
        match &node.value {
            _ if other["type"].is_null() => return false,
            TreeValue::Null => self.mismatch(of, place, node.span),
            TreeValue::String(text, _) if is("string") => {
                let names: Vec<&str> = names(scalar).collect();
                if !names.is_empty() && !names.contains(&&**text) {
                    let message = format!("expected {}, not `{text}`", alternatives(&names));
                    let problem = self.problem(Rule::InvalidField, message, &place.steps, node.span);
                    self.problems.push(problem);
                }
            }
            TreeValue::Bool(_) if is("boolean") => {}
            TreeValue::Number(_) if is("number") => {}
            TreeValue::Map(_) => {
                self.check_required(other, place, value);
                return true;
            }
            _ => return true,
        }
        false
    }

    fn fault(&mut self, fault: &Fault<'_, 't, TreeNode<'t>>) -> ControlFlow<()> {
        self.mismatch(self.schema_at(fault.place), fault.place, fault.value.node().span);
        Continue(())
    }

    fn strict_fault(&mut self, fault: &StrictFault<'_, 't, TreeNode<'t>>) {
        let Some((PlaceStep::Field { of, .. }, within)) = fault.place.steps.split_last() else {
            return;
        };
        // What is written twice is a problem of the document, which is without it here.
        if matches!(fault.kind, StrictKind::Duplicate) {
            return;
        }
        let (name, span) = (fault.member.key(), fault.member.key_span());
        let meant = nearest(name, of.fields.iter().map(|field| field.name));
        let help = meant.map(|meant| {
            let help = Help::new(format!("did you mean `{meant}`?"));
            help.replacing(self.source.document(), span, meant)
        });
        let message = format!("unknown field `{name}`");
        let problem = self.problem(Rule::UnknownField, message, within, span);
        self.problems.push(Problem { help, ..problem });
    }
}

/// `tests[0].expect.policies["a"]`
fn path(steps: &[PlaceStep<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        path += &match step {
            PlaceStep::Field { name, .. } if path.is_empty() => (*name).to_owned(),
            PlaceStep::Field { name, .. } => format!(".{name}"),
            PlaceStep::Index(index) => format!("[{index}]"),
            PlaceStep::Key(key) => format!("[{key:?}]"),
        };
    }
    path
}

/// The type that a value must have, in words.
fn type_name(of: &Json) -> String {
    match of["type"].as_str() {
        Some("string") if of["enum"].is_array() => alternatives(&names(of).collect::<Vec<_>>()),
        Some("string") => "a string".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("array") => "a list".to_owned(),
        Some(_) => "a mapping".to_owned(),
        None => "a string or a number".to_owned(),
    }
}

/// The texts that a value may be; none if it may be any.
fn names(of: &Json) -> impl Iterator<Item = &str> {
    let names = of["enum"].as_array().into_iter().flatten();
    names.filter_map(Json::as_str)
}

fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, leading_names)) => format!("{} or {last}", leading_names.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::json;

    use super::*;
    use crate::{ManifestFile, read_documents};

    static DOCUMENT: LazyLock<Json> = LazyLock::new(|| {
        let text = json!({ "type": "string" });
        let level = json!({ "type": "string", "enum": ["low", "high"], "description": "How much." });
        json!({ "definitions": {
            "File": {
                "type": "object",
                "required": ["level"],
                "properties": {
                    "level": level,
                    "names": { "type": "array", "items": text },
                    "part": { "allOf": [{ "$ref": "#/definitions/Part" }] },
                    "parts": { "type": "object", "additionalProperties": { "$ref": "#/definitions/Part" } },
                    "any": {},
                    "scalar": { "type": ["string", "number", "boolean"] },
                },
            },
            "Part": {
                "type": "object",
                "properties": {
                    "count": { "type": "integer" },
                    "when": { "anyOf": [{ "type": "boolean" }, { "type": "array", "items": text }] },
                },
            },
        } })
    });
    static FORMAT: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(&DOCUMENT));

    #[track_caller]
    fn check(yaml: &str, expected: &[&str]) {
        let file = ManifestFile {
            path: "f.yaml".to_owned(),
            content: yaml.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).unwrap();
        let problems = FORMAT.problems(&documents[0].source, "File");
        let found: Vec<String> = problems
            .iter()
            .map(|problem| format!("{} {}", problem.field.as_deref().unwrap_or("-"), problem.message))
            .collect();
        assert_eq!(found, expected, "{yaml}");
    }

    #[test]
    fn what_fits_has_no_problems() {
        check(
            "{level: low, names: [a], part: {count: 1, when: true}, parts: {a: {when: [b]}}, any: [null], scalar: 1}",
            &[],
        );
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        check(
            "{level: middle, names: [1, null], parts: {a.b: {count: 1.5, when: x}}, scalar: []}",
            &[
                "level expected `low` or `high`, not `middle`",
                "names[0] expected a string",
                "names[1] expected a string",
                "parts[\"a.b\"].count expected a whole number",
                "parts[\"a.b\"].when expected a list",
                "scalar expected a string or a number",
            ],
        );
        check("[]", &["- expected a mapping"]);
        check("{level: low, part: null}", &["part expected a mapping"]);
    }

    #[test]
    fn fields_are_known_and_required() {
        check(
            r#"{"part": {"cuont": 1}}"#,
            &["part unknown field `cuont`", "- field `level` is missing"],
        );
    }
}

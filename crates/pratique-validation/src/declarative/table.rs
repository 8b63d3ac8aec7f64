//! The table of the rules, `data/1.37/declarative.txt`, which `cargo xtask codegen validation` makes; other releases have changes of it.
//!
//! - `kind GROUP/VERSION/KIND TYPE PATH…`: the type of a kind's objects, and the paths at which its rules apply: `/`, `/status`.
//! - `type TYPE RULE…`: a type with the rules of the whole value; then, each in a line, its fields:
//! - ` NAME GO-TYPE RULE…`: the field's name in JSON, `+` where its members are those of the type itself, and its type in Go as
//!   far as it matters: `*` pointer, `[]` list, `{}` map, `string` plain text, `any` a type of its own.
//! - `order TYPE NAME…`: the members of a type in the order of its JSON, each perhaps with `=` and the type of its value;
//!   with `{}` it is that of a map's values.
//!
//! A rule is `name(ARGUMENT,…;RULE,…)`, followed by `!` where after its errors only other rules with `!` follow, by `?` where
//! its errors are not told, and by `~` where they replace those of rules by hand. `@TYPE` are the rules of a type.

use std::collections::HashMap;
use std::sync::OnceLock;

use pratique_json::same_name;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use super::custom_rules::CustomRule;
use super::matching::ElementMatch;
use crate::release_tables::{ReleaseTable, changes_of};

/// All rules. Those of a type are read on first use: of hundreds of types, a program that ends soon validates few.
pub(super) struct RuleTable {
    /// By kind, in each of its groups and versions.
    kinds: HashMap<&'static str, Vec<KindEntry>>,
    types: HashMap<&'static str, TypeEntry>,
    orders: HashMap<&'static str, Vec<MemberOrder>>,
}

/// A type in the table.
struct TypeEntry {
    /// The rules of the whole value.
    rules: &'static str,
    /// The lines of its fields.
    fields: &'static str,
    read: OnceLock<TypeRules>,
}

/// A member of a type whose values messages show, and the type of its own value, if that has members.
pub(super) struct MemberOrder {
    pub(super) name: &'static str,
    pub(super) type_name: Option<&'static str>,
}

struct KindEntry {
    /// `GROUP/VERSION`
    version: &'static str,
    type_name: &'static str,
    paths: Vec<&'static str>,
}

/// The rules of a type.
pub(super) struct TypeRules {
    pub(super) rules: Vec<DeclarativeRule>,
    pub(super) fields: Vec<FieldRules>,
}

/// The rules of a field.
pub(super) struct FieldRules {
    /// Absent where the field's members are those of the type itself.
    pub(super) name: Option<&'static str>,
    pub(super) is_pointer: bool,
    pub(super) rules: Vec<DeclarativeRule>,
}

/// A rule, and what follows of its errors.
pub(super) struct DeclarativeRule {
    pub(super) check: DeclarativeCheck,
    /// After an error no rule follows that does not end the validation, too.
    pub(super) ends: bool,
    pub(super) is_silent: bool,
    pub(super) is_beta: bool,
}

/// When a value is missing.
#[derive(Clone, Copy)]
pub(super) enum ValueShape {
    /// Where it is the zero value of its type.
    Value,
    /// Where it is absent.
    Pointer,
    /// Where it has no elements.
    Collection,
}

/// A member of a union: its name, and how it is found to be set.
pub(super) struct UnionMember {
    pub(super) name: &'static str,
    pub(super) test: MemberTest,
}

pub(super) enum MemberTest {
    NotNull,
    NotEmpty,
    /// The list has an element in which a member has a value.
    HasElement {
        member: &'static str,
        value: &'static str,
    },
}

/// What an update may not do.
#[derive(Clone, Copy)]
pub(super) enum ForbiddenChange {
    Set,
    Unset,
    Modify,
    AddItem,
    RemoveItem,
}

pub(super) enum DeclarativeCheck {
    Required(ValueShape),
    Forbidden(ValueShape),
    Immutable,
    MaxItems(i64),
    MaxProperties(i64),
    MaxLength(i64),
    MaxBytes(i64),
    Minimum(i64),
    Maximum(i64),
    /// A quantity is not below a whole number.
    MinimumQuantity(i64),
    Monotonic,
    /// A format, and whether the text is of Go's type `string`.
    Format(&'static str, bool),
    Enum(Vec<&'static str>),
    Custom(CustomRule),
    /// Each element, beside the old one; but for those that did not change.
    Each(ElementMatch, Box<DeclarativeRule>),
    EachValue(Box<DeclarativeRule>),
    EachKey(Box<DeclarativeRule>),
    /// No two elements are the same; messages show them in the order of a type's members.
    Unique(ElementMatch, Option<&'static str>),
    If {
        option: &'static str,
        is_on: bool,
        rule: Box<DeclarativeRule>,
    },
    Subfield(&'static str, Box<DeclarativeRule>),
    Discriminated {
        field: &'static str,
        by: &'static str,
        cases: Vec<(&'static str, Vec<DeclarativeRule>)>,
        otherwise: Vec<DeclarativeRule>,
    },
    /// Where the first member is set, the second one is, too, or is not.
    Dependent {
        trigger: UnionMember,
        dependent: UnionMember,
        is_required: bool,
    },
    /// One of the members is set, or at most one.
    Union {
        members: Vec<UnionMember>,
        is_required: bool,
    },
    /// Each member is set where a field has its value, and only there.
    DiscriminatedUnion {
        by: &'static str,
        members: Vec<(UnionMember, &'static str)>,
    },
    Update(ValueShape, ElementMatch, Vec<ForbiddenChange>),
    Cohort(Vec<DeclarativeRule>),
    Type(&'static str),
}

impl RuleTable {
    pub(super) fn of_release(release: &Release) -> &'static RuleTable {
        static TABLES: ReleaseTable<RuleTable> = ReleaseTable::new(
            include_str!("../../data/1.37/declarative.txt"),
            changes_of!("declarative"),
            parse,
        );
        TABLES.of_release(release)
    }

    /// The rules for objects of a kind that are written at a subresource.
    pub(super) fn kind(&self, kind: &GroupVersionKind, subresource: &str) -> Option<&TypeRules> {
        let mut versions = self.kinds.get(kind.kind.as_str())?.iter();
        let entry = versions.find(|entry| kind.is_of_version(entry.version))?;
        let mut paths = entry.paths.iter();
        paths.find(|path| {
            path.strip_prefix('/')
                .is_some_and(|path| same_name(path, subresource))
        })?;
        self.of_type(entry.type_name)
    }

    /// The members of a type in the order of its JSON.
    pub(super) fn order(&self, name: &str) -> &[MemberOrder] {
        self.orders.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn of_type(&self, name: &str) -> Option<&TypeRules> {
        let entry = self.types.get(name)?;
        Some(entry.read.get_or_init(|| {
            let lines = entry.fields.lines().filter_map(|line| line.strip_prefix(' '));
            TypeRules {
                rules: RuleParser::new(entry.rules, "any").rules(),
                fields: lines.filter_map(parse_field).collect(),
            }
        }))
    }
}

fn parse(text: &'static str) -> RuleTable {
    let mut table = RuleTable {
        kinds: HashMap::new(),
        types: HashMap::new(),
        orders: HashMap::new(),
    };
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        if let Some(line) = line.strip_prefix("type ") {
            let (name, rules) = line.split_once(' ').unwrap_or((line, ""));
            let (fields, others) = split_fields(rest);
            rest = others;
            let read = OnceLock::new();
            table.types.insert(name, TypeEntry { rules, fields, read });
        } else if let Some(line) = line.strip_prefix("order ") {
            let (name, members) = line.split_once(' ').unwrap_or((line, ""));
            let members = members.split(' ').map(|member| {
                let (name, type_name) = member.split_once('=').unwrap_or((member, ""));
                let type_name = Some(type_name).filter(|name| !name.is_empty());
                MemberOrder { name, type_name }
            });
            table.orders.insert(name, members.collect());
        } else if let Some(line) = line.strip_prefix("kind ") {
            let mut words = line.split(' ');
            let (Some(name), Some(type_name)) = (words.next(), words.next()) else {
                continue;
            };
            let (version, kind) = name.rsplit_once('/').unwrap_or(("", name));
            let paths = words.collect();
            let versions = table.kinds.entry(kind).or_default();
            versions.push(KindEntry {
                version,
                type_name,
                paths,
            });
        }
    }
    table
}

/// The lines of a type's fields, which begin with a blank, and what comes after them.
fn split_fields(text: &'static str) -> (&'static str, &'static str) {
    let mut end = 0;
    for line in text
        .split_inclusive('\n')
        .take_while(|line| line.starts_with(' '))
    {
        end += line.len();
    }
    text.split_at_checked(end).unwrap_or(("", text))
}

fn parse_field(line: &'static str) -> Option<FieldRules> {
    let (name, rest) = line.split_once(' ')?;
    let (go_type, rules) = rest.split_once(' ')?;
    Some(FieldRules {
        name: Some(name).filter(|name| *name != "+"),
        is_pointer: go_type.starts_with('*'),
        rules: RuleParser::new(rules, go_type).rules(),
    })
}

/// Reads rules; the table is part of the program, so that what it does not understand does not occur, which a test shows.
struct RuleParser {
    rest: &'static str,
    go_type: &'static str,
}

impl RuleParser {
    fn new(rest: &'static str, go_type: &'static str) -> Self {
        RuleParser { rest, go_type }
    }

    fn rules(mut self) -> Vec<DeclarativeRule> {
        let mut rules = Vec::new();
        while !self.rest.is_empty() {
            rules.extend(self.rule(self.go_type));
            self.take(' ');
        }
        rules
    }

    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The text up to one of some letters, which is not taken.
    fn until(&mut self, ends: &[char]) -> &'static str {
        let length = self.rest.find(ends).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    /// A rule, with those in it. Recursion follows the nesting of the table's rules.
    fn rule(&mut self, go_type: &'static str) -> Option<DeclarativeRule> {
        let name = self.until(&[' ', '(', ')', ',', ';', '!', '?', '~']);
        let (mut arguments, mut inner) = (Vec::new(), Vec::new());
        if self.take('(') {
            while !self.rest.starts_with([';', ')']) && !self.rest.is_empty() {
                arguments.push(self.until(&[',', ';', ')']));
                self.take(',');
            }
            if self.take(';') {
                let of = element_type(name, go_type);
                while !self.rest.starts_with(')') && !self.rest.is_empty() {
                    inner.push((self.rest, self.rule(of)));
                    self.take(',');
                }
            }
            self.take(')');
        }
        let (ends, is_silent, is_beta) = (self.take('!'), self.take('?'), self.take('~'));
        let check = if name == "discriminated" || name == "case" || name == "else" {
            branches(name, &arguments, inner)
        } else {
            let inner = inner.into_iter().filter_map(|(_, rule)| rule).collect();
            parse_check(name, &arguments, inner, go_type)
        };
        Some(DeclarativeRule {
            check: check?,
            ends,
            is_silent,
            is_beta,
        })
    }
}

/// The type of what a rule's rules validate.
fn element_type(rule: &str, go_type: &'static str) -> &'static str {
    let element = go_type.strip_prefix("[]").or_else(|| go_type.strip_prefix("{}"));
    match rule {
        "each" | "eachValue" => element.unwrap_or("any"),
        "eachKey" | "subfield" => "string",
        _ => go_type,
    }
}

/// A branch is a cohort until the rule around it takes it.
fn branches(
    name: &str,
    arguments: &[&'static str],
    inner: Vec<(&'static str, Option<DeclarativeRule>)>,
) -> Option<DeclarativeCheck> {
    if name != "discriminated" {
        return Some(DeclarativeCheck::Cohort(
            inner.into_iter().filter_map(|(_, rule)| rule).collect(),
        ));
    }
    let &[field, by] = arguments else {
        return None;
    };
    let (mut cases, mut otherwise) = (Vec::new(), Vec::new());
    for (text, rule) in inner {
        let Some(DeclarativeCheck::Cohort(rules)) = rule.map(|rule| rule.check) else {
            continue;
        };
        match text.strip_prefix("case(") {
            Some(value) => {
                let end = value.find([';', ')']).unwrap_or(value.len());
                cases.push((value.get(..end).unwrap_or_default(), rules));
            }
            None => otherwise = rules,
        }
    }
    Some(DeclarativeCheck::Discriminated {
        field,
        by,
        cases,
        otherwise,
    })
}

fn parse_check(
    name: &'static str,
    arguments: &[&'static str],
    inner: Vec<DeclarativeRule>,
    go_type: &'static str,
) -> Option<DeclarativeCheck> {
    if let Some(type_name) = name.strip_prefix('@') {
        return Some(DeclarativeCheck::Type(type_name));
    }
    // A value that is optional and missing ends the validation just as a required one does, but silently.
    for (prefix, is_forbidden) in [("required", false), ("optional", false), ("forbidden", true)] {
        if let Some(shape) = name.strip_prefix(prefix) {
            let shape = match shape {
                "Value" => ValueShape::Value,
                "Pointer" => ValueShape::Pointer,
                _ => ValueShape::Collection,
            };
            return Some(if is_forbidden {
                DeclarativeCheck::Forbidden(shape)
            } else {
                DeclarativeCheck::Required(shape)
            });
        }
    }
    let first = arguments.first().copied();
    let number = || first.and_then(|text| text.parse().ok());
    let only = |inner: Vec<DeclarativeRule>| inner.into_iter().next().map(Box::new);
    Some(match name {
        "immutable" => DeclarativeCheck::Immutable,
        "monotonic" => DeclarativeCheck::Monotonic,
        "maxItems" => DeclarativeCheck::MaxItems(number()?),
        "maxProperties" => DeclarativeCheck::MaxProperties(number()?),
        "maxLength" => DeclarativeCheck::MaxLength(number()?),
        "maxBytes" => DeclarativeCheck::MaxBytes(number()?),
        "minimum" => DeclarativeCheck::Minimum(number()?),
        "maximum" => DeclarativeCheck::Maximum(number()?),
        "minimumQuantity" => DeclarativeCheck::MinimumQuantity(number()?),
        "custom" => DeclarativeCheck::Custom(CustomRule::parse(first?)?),
        "format" => DeclarativeCheck::Format(first?, go_type.trim_start_matches('*') == "string"),
        "enum" => {
            let mut values = arguments.to_vec();
            values.sort_unstable();
            DeclarativeCheck::Enum(values)
        }
        "each" => DeclarativeCheck::Each(ElementMatch::parse(first?), only(inner)?),
        "eachValue" => DeclarativeCheck::EachValue(only(inner)?),
        "eachKey" => DeclarativeCheck::EachKey(only(inner)?),
        "unique" => DeclarativeCheck::Unique(ElementMatch::parse(first?), arguments.get(1).copied()),
        "if" => DeclarativeCheck::If {
            option: first?,
            is_on: arguments.get(1) == Some(&"true"),
            rule: only(inner)?,
        },
        "subfield" => DeclarativeCheck::Subfield(first?, only(inner)?),
        "cohort" => DeclarativeCheck::Cohort(inner),
        "dependentRequired" | "dependentForbidden" => DeclarativeCheck::Dependent {
            trigger: parse_member(first?),
            dependent: parse_member(arguments.get(1)?),
            is_required: name == "dependentRequired",
        },
        "union" | "zeroOrOne" => DeclarativeCheck::Union {
            members: arguments.iter().map(|text| parse_member(text)).collect(),
            is_required: name == "union",
        },
        "discriminatedUnion" => DeclarativeCheck::DiscriminatedUnion {
            by: first?,
            members: arguments
                .iter()
                .skip(1)
                .filter_map(|text| parse_branch(text))
                .collect(),
        },
        "update" => parse_update(arguments, go_type),
        _ => return None,
    })
}

fn parse_member(text: &'static str) -> UnionMember {
    if let Some(name) = text.strip_suffix('*') {
        let test = MemberTest::NotNull;
        return UnionMember { name, test };
    }
    let element = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    match element.and_then(|(name, element)| Some((name, element.split_once('=')?))) {
        Some((name, (member, value))) => UnionMember {
            name,
            test: MemberTest::HasElement { member, value },
        },
        None => UnionMember {
            name: text,
            test: MemberTest::NotEmpty,
        },
    }
}

/// `MEMBER=VALUE`
fn parse_branch(text: &'static str) -> Option<(UnionMember, &'static str)> {
    let (member, value) = text.split_once('=')?;
    Some((parse_member(member), value))
}

fn parse_update(arguments: &[&'static str], go_type: &str) -> DeclarativeCheck {
    let (mut by, mut constraints) = (ElementMatch::Never, Vec::new());
    for argument in arguments {
        constraints.push(match *argument {
            "noSet" => ForbiddenChange::Set,
            "noUnset" => ForbiddenChange::Unset,
            "noModify" => ForbiddenChange::Modify,
            "noAddItem" => ForbiddenChange::AddItem,
            "noRemoveItem" => ForbiddenChange::RemoveItem,
            fields => {
                by = ElementMatch::parse(fields);
                continue;
            }
        });
    }
    let shape = match go_type.as_bytes().first() {
        Some(b'*') => ValueShape::Pointer,
        Some(b'[' | b'{') => ValueShape::Collection,
        _ => ValueShape::Value,
    };
    DeclarativeCheck::Update(shape, by, constraints)
}

#[cfg(test)]
mod tests {
    use pratique_types::field::Path;

    use super::super::formats::format_errors;
    use super::*;
    use crate::gates::FeatureSet;

    /// Rules that have no meaning here: those of a kind that no server serves by default.
    const WITHOUT_MEANING: &[&str] = &["custom(EvictionRequestSpec_"];

    #[test]
    fn every_rule_of_the_table_is_understood() {
        let mut count = 0;
        let added = changes_of!("declarative").map(|(_, changes)| changes.lines());
        let added = added
            .into_iter()
            .flatten()
            .filter_map(|line| line.strip_prefix('+'));
        let whole = include_str!("../../data/1.37/declarative.txt").lines();
        for line in whole.chain(added) {
            let rules = if let Some(field) = line.strip_prefix(' ') {
                field.splitn(3, ' ').nth(2).unwrap_or_default()
            } else if let Some(of_type) = line.strip_prefix("type ") {
                of_type.split_once(' ').map_or("", |(_, rules)| rules)
            } else {
                continue;
            };
            let mut parser = RuleParser::new(rules, "any");
            while !parser.rest.is_empty() {
                let text = parser.rest;
                let is_known = parser.rule("any").is_some();
                let is_expected = !WITHOUT_MEANING.iter().any(|name| text.starts_with(name));
                assert_eq!(is_known, is_expected, "{text}");
                parser.take(' ');
                count += 1;
            }
        }
        assert!(count > 300, "{count}");
    }

    /// The first arguments of the rules of a name in the table of a release, wherever they are.
    fn first_arguments(release: &Release, start: &str) -> Vec<&'static str> {
        let types = RuleTable::of_release(release).types.values();
        let texts = types.flat_map(|entry| [entry.rules, entry.fields]);
        let rests = texts.flat_map(|text| text.split(start).skip(1));
        rests
            .filter_map(|rest| rest.split([',', ';', ')']).next())
            .collect()
    }

    #[test]
    fn every_gate_of_the_tables_is_known() {
        let mut count = 0;
        for release in Release::list() {
            for gate in first_arguments(release, "if(") {
                assert!(release.gates().get(gate).is_some(), "{release} {gate}");
                assert!(FeatureSet::NAMES.contains(&gate), "{gate}");
                count += 1;
            }
        }
        assert!(count > 50, "{count}");
    }

    #[test]
    fn every_format_of_the_tables_is_known() {
        // In no format is this a text; of one that is not known, nothing would be said.
        const MALFORMED: &str = "%/ ";
        for release in Release::list() {
            for format in first_arguments(release, "format(") {
                let errors = format_errors(format, &Path::ROOT, MALFORMED, true, release);
                assert!(!errors.is_empty(), "{release} {format}");
            }
        }
    }

    #[test]
    fn no_line_is_lost() {
        let text = include_str!("../../data/1.37/declarative.txt");
        let table = RuleTable::of_release(Release::by_version("1.37").unwrap());
        let types = table.types.keys().filter_map(|name| table.of_type(name));
        let fields: usize = types.map(|of_type| of_type.fields.len()).sum();
        let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(fields, count(" "));
        assert_eq!(table.types.len(), count("type "));
        assert_eq!(table.orders.len(), count("order "));
        assert_eq!(table.kinds.values().map(Vec::len).sum::<usize>(), count("kind "));
    }

    #[test]
    fn every_type_of_the_table_is_in_it() {
        for release in Release::list() {
            let table = RuleTable::of_release(release);
            let of_kinds = table.kinds.values().flatten();
            for entry in of_kinds {
                assert!(table.of_type(entry.type_name).is_some(), "{}", entry.type_name);
            }
        }
        for word in
            include_str!("../../data/1.37/declarative.txt").split([' ', ';', ',', ')', '!', '~', '\n'])
        {
            if let Some(name) = word.strip_prefix('@') {
                assert!(
                    RuleTable::of_release(Release::latest()).of_type(name).is_some(),
                    "{name}"
                );
            }
        }
    }
}

//! Values of which only some members are known.

use pratique_cel::value::Struct;
use pratique_cel::{Context, Fault, UnknownValue, Value};
use pratique_json as json;

/// A value at a path of an expression, with the members that are known of it. All else that an expression reads of it is
/// [unknown](UnknownValue).
#[derive(Debug)]
pub struct PartlyKnown {
    type_name: &'static str,
    path: &'static str,
    members: Vec<(&'static str, KnownMember)>,
}

#[derive(Debug)]
pub(crate) enum KnownMember {
    Text(Box<str>),
    Part(PartlyKnown),
    Json(json::Value<'static>),
    /// It is known that there is none.
    Absent,
}

impl PartlyKnown {
    pub(crate) const fn new(
        type_name: &'static str,
        path: &'static str,
        members: Vec<(&'static str, KnownMember)>,
    ) -> Self {
        PartlyKnown {
            type_name,
            path,
            members,
        }
    }

    fn member(&self, field: &str) -> Result<&KnownMember, Fault> {
        let member = self.members.iter().find(|(name, _)| *name == field);
        member
            .map(|(_, member)| member)
            .ok_or_else(|| unknown(below(self.path, field)))
    }
}

impl Struct for PartlyKnown {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        Ok(match self.member(field)? {
            KnownMember::Text(text) => Some(Value::String(text)),
            KnownMember::Part(part) => Some(Value::Struct(part)),
            KnownMember::Json(value) => Some(Value::from_typed_json(value)),
            KnownMember::Absent => None,
        })
    }

    fn has(&self, _: &Context<'_>, field: &str) -> Result<bool, Fault> {
        self.member(field)
            .map(|member| !matches!(member, KnownMember::Absent))
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        Err(unknown(self.path.to_owned()))
    }

    fn unknown(&self) -> Option<UnknownValue> {
        Some(UnknownValue::Attribute(self.path.into()))
    }

    fn unfit_index(&self, _: &Value<'_>) -> Fault {
        unknown(self.path.to_owned())
    }
}

fn unknown(path: String) -> Fault {
    Fault::unknown(UnknownValue::Attribute(path.into()))
}

/// `path.field`, or `path['field']` where that is no name.
fn below(path: &str, field: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if field.bytes().all(is_name) {
        format!("{path}.{field}")
    } else {
        format!("{path}['{field}']")
    }
}

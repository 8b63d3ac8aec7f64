//! How Go lays out the structs of the built-in types: their fields in order, as Go's formats show them.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A field of a struct in Go.
#[derive(Debug, PartialEq, Eq)]
pub enum LayoutField {
    /// A field with a name.
    Named {
        /// Its name in JSON.
        json: &'static str,
        /// Its name in Go.
        go: Cow<'static, str>,
        /// Its number in protocol buffers: its place where a pointer to the struct is shown.
        number: u32,
    },
    /// An embedded struct.
    Embedded {
        /// Its type: `core/v1.VolumeSource`.
        of: &'static str,
        /// Its number in protocol buffers.
        number: u32,
        /// Its fields.
        fields: Vec<LayoutField>,
    },
}

impl LayoutField {
    /// Its number in protocol buffers.
    pub fn number(&self) -> u32 {
        match self {
            LayoutField::Named { number, .. } | LayoutField::Embedded { number, .. } => *number,
        }
    }
}

/// The names of fields in JSON, in Go's order.
pub fn names_in_order(fields: &'static [LayoutField]) -> Vec<&'static str> {
    let names = fields.iter().flat_map(|field| match field {
        LayoutField::Named { json, .. } => vec![*json],
        LayoutField::Embedded { fields, .. } => names_in_order(fields),
    });
    names.collect()
}

/// How Go lays out the structs of a release.
#[derive(Debug, Default)]
pub struct Layouts(HashMap<&'static str, Vec<LayoutField>, RandomState>);

impl Layouts {
    /// Reads a table as `cargo xtask codegen` writes it.
    pub fn read(table: &'static str) -> Self {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let read = |line: &'static str| {
            let mut words = line.split(' ');
            Some((words.next()?, read_fields(&mut words)))
        };
        Layouts(lines.filter_map(read).collect())
    }

    /// The fields of a type, such as `core/v1.Volume`, in Go's order; none of an unknown type.
    pub fn for_type(&self, name: &str) -> &[LayoutField] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Reads fields up to the closing parenthesis, or the end.
fn read_fields(words: &mut dyn Iterator<Item = &'static str>) -> Vec<LayoutField> {
    let mut fields = Vec::new();
    while let Some(word) = words.next() {
        let Some((name, number)) = word.split_once(':') else {
            match word {
                ")" => break,
                _ => continue,
            }
        };
        let number = number.parse().unwrap_or_default();
        fields.push(match name.strip_prefix('^') {
            Some(of) => {
                // The opening parenthesis.
                words.next();
                LayoutField::Embedded {
                    of,
                    number,
                    fields: read_fields(words),
                }
            }
            None => match name.split_once('=') {
                Some((json, go)) => LayoutField::Named {
                    json,
                    go: Cow::Borrowed(go),
                    number,
                },
                None => LayoutField::Named {
                    json: name,
                    go: capitalized(name).into(),
                    number,
                },
            },
        });
    }
    fields
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    fn layout(name: &str) -> &'static [LayoutField] {
        Release::latest().layouts().for_type(name)
    }

    #[test]
    fn fields_are_in_order() {
        let names = |fields: &[LayoutField]| -> Vec<String> {
            let name = |field: &LayoutField| match field {
                LayoutField::Named { go, .. } => go.to_string(),
                LayoutField::Embedded { of, .. } => (*of).to_owned(),
            };
            fields.iter().map(name).collect()
        };
        assert_eq!(names(layout("core/v1.Volume")), ["Name", "core/v1.VolumeSource"]);
        assert_eq!(
            names(layout("core/v1.Toleration")),
            ["Key", "Operator", "Value", "Effect", "TolerationSeconds"]
        );
        assert!(names(layout("core/v1.Container")).contains(&"TTY".to_owned()));
        assert!(layout("core/v1.Nothing").is_empty());
    }

    /// Every field of a type has its place.
    #[test]
    fn no_field_is_missing() {
        fn count(fields: &[LayoutField]) -> usize {
            let count = |field: &LayoutField| match field {
                LayoutField::Named { .. } => 1,
                LayoutField::Embedded { fields, .. } => count(fields),
            };
            fields.iter().map(count).sum()
        }
        for of in Release::latest().schema().types() {
            let fields = layout(of.name);
            assert!(
                fields.is_empty() || count(fields) == of.fields.len(),
                "{}",
                of.name
            );
        }
    }
}

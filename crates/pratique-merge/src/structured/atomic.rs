//! What a patch sets that can only be replaced as a whole.
//!
//! To set such a value would remove what it held before, which an author who means to add to it does not expect.

use pratique_schema::merge::{ListMerging, MergeSchema, MergeTypeId};

use super::node::{Node, View};

/// The places of atomic lists, maps and structs in a value. Only declared fields and elements of lists are looked
/// at: members of maps can be set as a whole.
pub(super) fn find<'a, N: Node<'a>>(schema: &MergeSchema, of: MergeTypeId, value: &N) -> Vec<String> {
    let mut finder = Finder {
        schema,
        path: String::new(),
        found: Vec::new(),
    };
    finder.visit(of, value);
    finder.found
}

struct Finder<'s> {
    schema: &'s MergeSchema,
    path: String,
    found: Vec<String>,
}

impl Finder<'_> {
    fn visit<'a, N: Node<'a>>(&mut self, of: MergeTypeId, value: &N) {
        let of = self.schema.get(of);
        match (value.view(), &of.map, &of.list) {
            (View::Map(members), Some(map), _) => {
                self.add_if(map.atomic);
                for (key, member) in members {
                    if let Some(id) = map.field(key) {
                        self.descend(format_args!(".{key}"), id, member);
                    }
                }
            }
            (View::List(elements), _, Some(list)) => {
                self.add_if(list.merging == ListMerging::Atomic);
                for (at, element) in elements.iter().enumerate() {
                    self.descend(format_args!("[{at}]"), list.element, element);
                }
            }
            (View::ForeignList, _, Some(list)) => self.add_if(list.merging == ListMerging::Atomic),
            _ => {}
        }
    }

    fn descend<'a, N: Node<'a>>(&mut self, step: std::fmt::Arguments<'_>, of: MergeTypeId, value: &N) {
        let length = self.path.len();
        self.path.push_str(&step.to_string());
        self.visit(of, value);
        self.path.truncate(length);
    }

    fn add_if(&mut self, atomic: bool) {
        if atomic {
            self.found.push(self.path.clone());
        }
    }
}

//! Names in little memory: neighbours mostly share prefixes and suffixes, so that each keeps its middle only.

use std::fmt;

use pratique_cel::Arena;

/// Names in their order. A name is assembled when it is needed, which is seldom.
// Row `keep-bindings` of `benches/`: there are as many names as bindings, and little else of each.
#[derive(Debug, Default)]
pub(crate) struct OrderedNames {
    /// The middles of all, one after the other.
    middles: Box<str>,
    shapes: Box<[SharedAffixes]>,
    /// Where the first of each block begins.
    blocks: Box<[u32]>,
}

/// The lengths of the prefix and suffix that a name shares with the first of its block, and of its middle, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct SharedAffixes {
    prefix: u8,
    suffix: u8,
    middle: u16,
}

/// One of the names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AssembledName<'n> {
    of: &'n OrderedNames,
    at: usize,
}

/// How many names share prefixes and suffixes with the same one, which is kept whole.
const BLOCK: usize = 32;

impl OrderedNames {
    /// No API server has a name of more than 253 bytes; of one past 64 KiB the rest is left out.
    pub(crate) fn new<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let mut middles = String::new();
        let mut shapes = Vec::with_capacity(names.len());
        let mut blocks = Vec::with_capacity(names.len().div_ceil(BLOCK));
        let mut first = "";
        for (at, name) in names.enumerate() {
            if at % BLOCK == 0 {
                first = "";
                // Past 4 GiB a binding is there without its name.
                blocks.push(u32::try_from(middles.len()).unwrap_or(u32::MAX));
            }
            let name = name
                .get(..name.floor_char_boundary(u16::MAX.into()))
                .unwrap_or_default();
            let (shape, rest) = SharedAffixes::split_name(name, first);
            middles.push_str(rest);
            shapes.push(shape);
            if at % BLOCK == 0 {
                first = name;
            }
        }
        OrderedNames {
            // A copy, which takes just the room that it needs.
            middles: middles.as_str().into(),
            shapes: shapes.into(),
            blocks: blocks.into(),
        }
    }

    /// The name at a place, which is empty where there is none.
    pub(crate) fn name(&self, at: usize) -> AssembledName<'_> {
        AssembledName { of: self, at }
    }
}

impl SharedAffixes {
    /// The shape of a name, relative to the first of its block, and the middle of the name.
    fn split_name<'a>(name: &'a str, first: &str) -> (Self, &'a str) {
        let (prefix, rest) = split(name, common(first.chars(), name.chars()));
        let (_, end) = split(first, prefix.len());
        let suffix = common(end.chars().rev(), rest.chars().rev());
        let (middle, suffix) = split(rest, rest.len() - suffix);
        let shape = SharedAffixes {
            prefix: prefix.len() as u8,
            suffix: suffix.len() as u8,
            middle: middle.len() as u16,
        };
        (shape, middle)
    }
}

impl<'n> AssembledName<'n> {
    /// The whole name, assembled in an arena unless it is stored in one piece, as that of an only binding is.
    pub(crate) fn assemble(self, arena: &'n Arena) -> &'n str {
        match self.parts().unwrap_or_default() {
            ["", middle, ""] => middle,
            parts => arena.str(&parts.concat()),
        }
    }

    /// The beginning, the middle and the end.
    fn parts(self) -> Option<[&'n str; 3]> {
        let AssembledName { of, at } = self;
        let shape = of.shapes.get(at)?;
        let block = at / BLOCK;
        let start = *of.blocks.get(block)? as usize;
        let earlier_shapes = of.shapes.get(block * BLOCK..at)?;
        let begin = start
            + earlier_shapes
                .iter()
                .map(|shape| usize::from(shape.middle))
                .sum::<usize>();
        let middle = of.middles.get(begin..begin + usize::from(shape.middle))?;
        let first = earlier_shapes
            .first()
            .map_or(0, |first| usize::from(first.middle));
        let first = of.middles.get(start..start + first)?;
        let (prefix, _) = split(first, shape.prefix.into());
        let (_, suffix) = split(first, first.len() - usize::from(shape.suffix));
        Some([prefix, middle, suffix])
    }
}

impl fmt::Display for AssembledName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts().unwrap_or_default();
        parts.iter().try_for_each(|part| formatter.write_str(part))
    }
}

/// How many bytes two texts have in common, by whole characters, up to what a [`SharedAffixes`] can hold.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    let equal = a.zip(b).take_while(|(a, b)| a == b);
    let lengths = equal.scan(0, |length, (a, _)| {
        *length += a.len_utf8();
        Some(*length)
    });
    lengths
        .take_while(|length| *length <= u8::MAX.into())
        .last()
        .unwrap_or(0)
}

/// A text up to a place between two characters, and from there.
fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back(names: &[String]) -> Vec<String> {
        let kept = OrderedNames::new(names.iter().map(String::as_str));
        assert_eq!(kept.shapes.len(), names.len());
        let arena = Arena::new();
        let all = (0..names.len()).map(|at| kept.name(at));
        let all = all.inspect(|name| assert_eq!(name.assemble(&arena), name.to_string()));
        all.map(|name| name.to_string()).collect()
    }

    proptest! {
        #[test]
        fn names_come_back(names in prop::collection::vec("(a|ab|é|è|\u{e9}\u{301}|x\\.|-){0,9}(\\.k8s\\.io)?", 0..100)) {
            prop_assert_eq!(back(&names), names);
        }
    }

    #[test]
    fn long_names_come_back() {
        let lengths = [
            0, 1, 126, 127, 128, 253, 254, 255, 256, 257, 510, 511, 600, 65_535,
        ];
        let named = |unit: &str| lengths.map(|length| unit.repeat(length / unit.len()));
        let names = ["a", "é", "aé"].map(named).concat();
        for turn in 0..names.len() {
            let mut names = names.clone();
            names.rotate_left(turn);
            assert_eq!(back(&names), names);
        }
        let names = [format!("{}é", "a".repeat(65_534)), "b".to_owned()];
        assert_eq!(back(&names), ["a".repeat(65_534), "b".to_owned()]);
    }

    #[test]
    fn names_that_are_numbered_take_little_room() {
        let names: Vec<String> = (0..300)
            .map(|at| format!("binding-{at:04}.static.k8s.io"))
            .collect();
        let kept = OrderedNames::new(names.iter().map(String::as_str));
        assert_eq!(back(&names), names);
        assert!(kept.middles.len() < 3 * names.len(), "{}", kept.middles.len());
    }

    #[test]
    fn nothing_is_where_no_name_is() {
        let kept = OrderedNames::new(["a"].into_iter());
        assert_eq!(
            (
                kept.name(1).to_string(),
                OrderedNames::default().name(0).to_string()
            ),
            Default::default()
        );
    }
}

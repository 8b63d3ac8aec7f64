//! Counts with their nouns.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::Display;

/// A count with its noun: `1 object`, `2 objects`.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, more: &str) -> String {
    format!("{count} {}", noun(count, one, more))
}

/// The noun that belongs to a count.
pub(crate) fn noun<'a, N: PartialEq + From<u8>>(count: N, one: &'a str, more: &'a str) -> &'a str {
    if count == N::from(1) { one } else { more }
}

/// The first names of a list, and how many more there are.
pub(crate) fn first_names<N: Borrow<str>>(names: &[N], most: usize) -> String {
    let (first, rest) = names.split_at(names.len().min(most));
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", first.join(", "))
}

/// Texts in the order of their first, each once with how often it is there: several validations of a policy deny one object.
pub(crate) fn count_alike(texts: impl IntoIterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for text in texts {
        let place = *places.entry(text).or_insert_with_key(|text| {
            counts.push((text.clone(), 0));
            counts.len() - 1
        });
        if let Some((_, count)) = counts.get_mut(place) {
            *count += 1;
        }
    }
    counts
}

/// Among how many objects something was not found.
pub(crate) fn among(count: usize) -> String {
    match count {
        0 => " in it".to_owned(),
        count => format!(" among its {}", counted(count, "object", "objects")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_thing_is_singular() {
        let counts = [0_usize, 1, 2].map(|count| counted(count, "policy", "policies"));
        assert_eq!(counts, ["0 policies", "1 policy", "2 policies"]);
    }

    #[test]
    fn what_is_alike_counts_wherever_it_stands() {
        let texts = ["b", "a", "b", "c", "b"].map(str::to_owned);
        let counts = [("b", 3), ("a", 1), ("c", 1)];
        assert_eq!(
            count_alike(texts),
            counts.map(|(text, count)| (text.to_owned(), count))
        );
    }
}

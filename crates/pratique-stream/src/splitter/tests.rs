//! How streams are divided, whatever is read at once.

use super::*;

/// Reads a text in parts of a length.
struct Parts<'t>(&'t [u8], usize);

impl Read for Parts<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(into.len());
        let (part, rest) = self.0.split_at(length);
        into[..length].copy_from_slice(part);
        self.0 = rest;
        Ok(length)
    }
}

fn pieces(text: &str, length: usize, limits: Limits, words: &[&str]) -> Vec<Piece> {
    let splitter = Splitter::new(Parts(text.as_bytes(), length), limits).apart(words);
    splitter.map(Result::unwrap).collect()
}

const SMALL: Limits = Limits {
    document: 1000,
    list: 20,
};

/// Each value or document with its line, when as little as possible is read at once.
#[track_caller]
fn check(text: &str, expected: &[(&str, usize)]) {
    let found = pieces(text, 1, Limits::default(), &[]);
    let found: Vec<_> = found
        .iter()
        .map(|piece| (std::str::from_utf8(&piece.text).unwrap().trim(), piece.start.line))
        .collect();
    assert_eq!(found, expected, "{text:?}");
    // Whatever is read at once, no byte is lost, and there are as many documents.
    let numbers = |length| {
        let pieces = pieces(text, length, Limits::default(), &[]);
        let text: Vec<u8> = pieces.iter().flat_map(|piece| piece.text.clone()).collect();
        let values: usize = pieces.iter().map(|piece| piece.values.len()).sum();
        (String::from_utf8(text).unwrap().replace("---\n", ""), values)
    };
    for length in 2..12 {
        assert_eq!(numbers(length).0, numbers(1).0, "{text:?} in parts of {length}");
    }
}

#[test]
fn documents_are_given_whole() {
    check("", &[]);
    check(" \n\n", &[]);
    check("a: 1", &[("a: 1", 1)]);
    check("---\na: 1\n---\nb: 2\n", &[("---\na: 1\n---", 1), ("b: 2", 4)]);
    check("a: 1\n---\n---\nb: 2\n", &[("a: 1\n---", 1), ("---\nb: 2", 3)]);
    check(
        "{\"a\": 1}\n{\"b\":\n  2}{\"é\": 3} {\"c\": 4}\n---\n\n {\"d\": 5}\n",
        &[
            ("{\"a\": 1}", 1),
            ("{\"b\":\n  2}", 2),
            ("{\"é\": 3}", 3),
            ("{\"c\": 4}", 3),
            ("{\"d\": 5}", 5),
        ],
    );
    check("{\"a\": 1}\nb: 2\n", &[("{\"a\": 1}", 1), ("b: 2", 2)]);
    check("{} x\n{}\n", &[("{} x\n{}", 1)]);
    check("{\"a\": [\n---\nb: 1\n", &[("{\"a\": [\n---", 1), ("b: 1", 3)]);
}

#[test]
fn values_are_found() {
    let found = pieces("{\"a\": {\"b:\": 1}}\n {} \n", 100, SMALL, &[]);
    let value = |range| JsonSpan { range };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].values, [value(0..16), value(18..20)]);
    let found = pieces("{}\na: 1\n---\n{}\n", 100, SMALL, &[]);
    let values: Vec<usize> = found.iter().map(|piece| piece.values.len()).collect();
    assert_eq!(values, [0], "YAML is among them");
}

#[test]
fn some_documents_stand_alone() {
    let text = "{}\n{}\n{\"a\": \"Here\"}\n{}\n---\na: Here\n---\nb: 1\n";
    for length in 1..50 {
        let found = pieces(text, length, Limits::default(), &["Here"]);
        let alone: Vec<_> = found
            .iter()
            .filter(|piece| piece.text.windows(4).any(|word| word == b"Here"))
            .map(|piece| (String::from_utf8(piece.text.clone()).unwrap(), piece.number))
            .collect();
        let expected = [
            ("{\"a\": \"Here\"}\n".to_owned(), 2),
            ("a: Here\n---\n".to_owned(), 4),
        ];
        assert_eq!(alone, expected, "{length}");
    }
}

/// The texts of pieces by form, for all lengths of what is read at once.
#[track_caller]
fn check_list(text: &str, items: &str, end: Option<&str>) {
    for length in 1..70 {
        let mut found = pieces(text, length, SMALL, &[]);
        let joined = |pieces: &[Piece]| {
            let text: Vec<u8> = pieces.iter().flat_map(|piece| piece.text.clone()).collect();
            String::from_utf8(text).unwrap()
        };
        let number = found.last().map_or(0, |piece| piece.number);
        let ends: Vec<Piece> = found
            .extract_if(.., |piece| matches!(piece.form, PieceForm::ListEnd(_)))
            .collect();
        let is_split = !ends.is_empty();
        if is_split || end.is_none() {
            assert_eq!(joined(&found), items, "in parts of {length}");
            assert_eq!(joined(&ends), end.unwrap_or_default(), "in parts of {length}");
            assert!(end.is_none() || number > 0);
        }
        assert_eq!(is_split, end.is_some(), "in parts of {length}");
    }
}

#[test]
fn long_lists_are_given_by_item() {
    check_list(
        "{\"kind\": \"PodList\", \"items\": [{\"a\": [1]}, {\"b\": 2},\n null, {\"c\": \"],\"}], \"more\": [{}]}\n",
        "{\"a\": [1]}  {\"b\": 2} \n null  {\"c\": \"],\"}",
        Some("{\"kind\": \"PodList\", \"items\": [], \"more\": [{}]}"),
    );
    check_list(
        "kind: List\nmetadata: {}\nitems:\n- a: 1\n\n  b: |\n    - c\n# d\n- e\n-\n  f: 1\nmore: 2\n",
        "- a: 1\n\n  b: |\n    - c\n# d\n- e\n-\n  f: 1\n",
        Some("kind: List\nmetadata: {}\nitems:\nmore: 2\n"),
    );
    // As for kubectl, what has items is a list, whatever its kind is.
    check_list(
        "kind: ConfigMap\nmetadata: {}\nitems:\n- a: 1\n- b: 2\n",
        "- a: 1\n- b: 2\n",
        Some("kind: ConfigMap\nmetadata: {}\nitems:\n"),
    );
    check_list(
        "kind: ConfigMap\nmetadata: {}\ndata:\n  items: |\n    - a: 1\n",
        "kind: ConfigMap\nmetadata: {}\ndata:\n  items: |\n    - a: 1\n",
        None,
    );
    // The end reports what is cut off.
    check_list(
        "{\"kind\": \"PodList\", \"items\": [{\"a\": [1]}, {\"b\"",
        "{\"a\": [1]}  {\"b\"",
        Some("{\"kind\": \"PodList\", \"items\": ["),
    );
}

#[test]
fn documents_go_on_after_lists() {
    for text in [
        "{\"kind\": \"PodList\", \"items\": [{\"a\": 1}]}\n---\nb: 1\n",
        "kind: PodList\n# padding padding\nitems:\n- a: 1\n---\nb: 1\n",
    ] {
        let found = pieces(text, 7, SMALL, &[]);
        let last = found.last().unwrap();
        assert_eq!(
            (last.text.as_slice(), last.form.clone()),
            (&b"b: 1\n"[..], PieceForm::Documents)
        );
        assert_eq!(
            found
                .iter()
                .filter(|piece| matches!(piece.form, PieceForm::ListEnd(_)))
                .count(),
            1
        );
    }
}

#[test]
fn what_is_too_large_ends_the_stream() {
    let text = "a: 1\n---\n".to_owned() + &"b: 1\n".repeat(30_000);
    let mut splitter = Splitter::new(text.as_bytes(), SMALL);
    assert_eq!(splitter.next().unwrap().unwrap().text, b"a: 1\n---\n");
    let Err(StreamError::TooLarge(place)) = splitter.next().unwrap() else {
        panic!("it is too large")
    };
    assert_eq!(place.line, 3);
    assert!(splitter.next().is_none());
}

#[test]
fn a_broken_line_is_given_up_alone() {
    let text = "{\"a\": [\n".to_owned() + &"{\"b\": 1}\n".repeat(100_000);
    let found = pieces(&text, BLOCK, SMALL, &[]);
    assert_eq!(found[0].text, b"{\"a\": [\n");
    let values: usize = found.iter().map(|piece| piece.values.len()).sum();
    assert_eq!(values, 100_000);
}

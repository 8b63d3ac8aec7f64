//! The objects of a piece of a stream.

use std::borrow::Cow;
use std::sync::Arc;

use pratique_json::Value;
use pratique_manifest::convert::{Items, convert, items_of};
use pratique_manifest::{Location, ManifestFile, Position};
use pratique_schema::Release;
use pratique_stream::{ListHeader, Piece, PieceForm, StreamPlace};

use super::place::{PlaceShift, saturated};
use super::{InputError, InputObject, ParsedObjects, objects, objects_of, quick};

/// Reads the objects of a piece of an input, as a server of a release does. What is JSON is parsed once and borrowed.
pub(crate) fn read<'p>(path: &Arc<str>, piece: &'p Piece, release: &'static Release) -> ParsedObjects<'p> {
    let list = match &piece.form {
        PieceForm::Documents => None,
        PieceForm::Items(list) => Some(&**list),
        PieceForm::ListEnd(list) => return list_end(path, piece, list, release),
    };
    let mut read = ParsedObjects::default();
    if piece.values.is_empty() {
        read.append(sequence(path, piece, list, release));
        return read;
    }
    for (text, shift, end) in value_texts(piece) {
        match quick::object(text, list, release) {
            Some(object) => read.objects.push(InputObject {
                object,
                location: Location {
                    file: Arc::clone(path),
                    document: shift.documents,
                    start: position(shift.place),
                    end: position(end),
                },
                received: Ok(Vec::new()),
                item: 0,
                origin: None,
            }),
            None => read.append(with_diagnostics(path, (text, shift), list, release)),
        }
    }
    read
}

/// The texts of a piece that are read on their own, with where each begins.
pub(super) fn texts(piece: &Piece) -> Vec<(Cow<'_, [u8]>, PlaceShift)> {
    if piece.values.is_empty() {
        let is_list = !matches!(piece.form, PieceForm::Documents);
        return vec![sequence_text(piece, is_list)];
    }
    let texts = value_texts(piece);
    texts
        .map(|(text, shift, _)| (Cow::Borrowed(text), shift))
        .collect()
}

/// The texts of the values of a piece, with where each begins and ends.
fn value_texts(piece: &Piece) -> impl Iterator<Item = (&[u8], PlaceShift, StreamPlace)> {
    let (mut place, mut at) = (piece.start, 0);
    piece.values.iter().enumerate().map(move |(index, value)| {
        let preceding_text = piece.text.get(at..value.range.start).unwrap_or_default();
        let text = piece.text.get(value.range.clone()).unwrap_or_default();
        let start = place.after(preceding_text);
        place = start.after(text);
        at = value.range.end;
        let shift = PlaceShift {
            place: start,
            documents: piece.number + index,
        };
        (text, shift, place)
    })
}

/// Reads documents, or a sequence of items.
fn sequence(
    path: &Arc<str>,
    piece: &Piece,
    list: Option<&ListHeader>,
    release: &'static Release,
) -> ParsedObjects<'static> {
    let (text, shift) = sequence_text(piece, list.is_some());
    with_diagnostics(path, (&text, shift), list, release)
}

/// The text of documents, or of a sequence of items.
fn sequence_text(piece: &Piece, is_list: bool) -> (Cow<'_, [u8]>, PlaceShift) {
    /// A line that is no blank: the blanks that a document begins with are not read, and those of a sequence count.
    const LINE: &[u8] = b"#\n";
    let mut shift = PlaceShift {
        place: piece.start,
        documents: piece.number,
    };
    if !is_list || !piece.text.starts_with(b" ") || piece.start.line < 2 {
        return (Cow::Borrowed(&piece.text), shift);
    }
    shift.place.line -= 1;
    shift.place.offset = shift.place.offset.saturating_sub(LINE.len());
    (Cow::Owned([LINE, piece.text.as_slice()].concat()), shift)
}

/// Reads a text with the positions of its objects, and with all warnings and errors about it.
fn with_diagnostics(
    path: &Arc<str>,
    (text, shift): (&[u8], PlaceShift),
    list: Option<&ListHeader>,
    release: &'static Release,
) -> ParsedObjects<'static> {
    let file = ManifestFile {
        path: path.to_string(),
        content: text.to_vec(),
    };
    let mut read = match list {
        None => objects(file, release),
        Some(list) => {
            let implied = quick::implied(list);
            objects_of(file, release, |document| {
                items_of(&document.source, implied.clone())
            })
        }
    };
    shift.objects(&mut read);
    read
}

/// Reads the rest of a list whose items were read: an error if it is not the list that they were read of.
fn list_end(
    path: &Arc<str>,
    piece: &Piece,
    list: &ListHeader,
    release: &'static Release,
) -> ParsedObjects<'static> {
    let file = ManifestFile {
        path: path.to_string(),
        content: piece.text.clone(),
    };
    let mut rest = None;
    let mut read = objects_of(file, release, |document| {
        let (tree, root) = (document.source.tree(), document.source.root());
        let location = document.source.document().location(tree.get(root).span);
        rest = Some((convert(tree, root), location));
        Items::default()
    });
    let shift = PlaceShift {
        place: piece.start,
        documents: piece.number,
    };
    shift.objects(&mut read);
    read.empty_lists = 0;
    let Some((rest, mut location)) = rest else {
        return read;
    };
    shift.location(&mut location);
    let kind = rest.get("kind").and_then(Value::as_str).unwrap_or_default();
    match unlike_list(&rest, kind, list) {
        Some(why) => read.faults.push(InputError::Faulty {
            place: crate::output::problems::place(&location),
            why,
        }),
        None if !kind.ends_with("List") => read.add_unusual_list(kind, location),
        None => {}
    }
    read
}

/// Why an object without its items is not the list that these were read of. Where keys are repeated, the last ones count, and
/// the first ones were read.
fn unlike_list(rest: &Value<'_>, kind: &str, list: &ListHeader) -> Option<String> {
    const READ: &str = "its items were read as those of a list";
    let has_items = match rest.get("items") {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    };
    match &list.kind {
        _ if kind.is_empty() => Some(format!("{READ}, and it has no kind")),
        Some(first) if first != kind => Some(format!("{READ} of kind {first}, and its kind is {kind}")),
        _ if has_items => Some(format!("{READ}, and it has other items as well")),
        _ => None,
    }
}

impl<'t> ParsedObjects<'t> {
    fn append(&mut self, more: ParsedObjects<'t>) {
        self.objects.extend(more.objects);
        self.reading_warnings.extend(more.reading_warnings);
        self.empty_lists += more.empty_lists;
        self.faults.extend(more.faults);
    }
}

fn position(place: StreamPlace) -> Position {
    Position {
        line: saturated(place.line),
        column: saturated(place.column).saturating_add(1),
        offset: place.offset,
    }
}

//! The fields for which the server's own validation refuses an object.

use pratique_manifest::convert::items;
use pratique_manifest::{ManifestFile, read_contents};
use pratique_review::{DroppedField, FieldPath, InvalidCause};

use crate::findings::Finding;

/// A cause as a finding, which is nowhere yet.
pub(crate) fn make_finding(cause: &InvalidCause) -> Finding {
    let origin = cause.origin.as_ref().map(|origin| format!(" ({origin})"));
    let message = format!("{}: {}{}", cause.field, cause.message, origin.unwrap_or_default());
    Finding {
        field: Some(cause.field.clone()),
        help: cause.help.clone(),
        ..Finding::plain("invalid-field", message)
    }
}

/// A field that the server drops as a finding, which is nowhere yet.
pub(crate) fn make_drop_finding(dropped: &DroppedField) -> Finding {
    Finding {
        severity: "warning",
        field: Some(dropped.field.clone()),
        help: dropped.help.clone(),
        ..Finding::plain(DroppedField::RULE, &dropped.message)
    }
}

/// Finds the fields of findings in the text of the object.
pub(crate) fn locate(findings: &mut [Finding], text: &str) {
    let file = ManifestFile {
        path: "object".to_owned(),
        content: text.as_bytes().to_vec(),
    };
    let documents = if findings.is_empty() {
        Vec::new()
    } else {
        read_contents(&file).documents
    };
    let objects = documents.iter().flat_map(|document| {
        let objects = items(&document.source).objects;
        objects.into_iter().map(|item| (&document.source, item.node))
    });
    let Some((source, object)) = objects.into_iter().next() else {
        return;
    };
    for finding in findings {
        let path = FieldPath::parse(finding.field.as_deref().unwrap_or_default());
        let span = path.nearest_span(source.tree(), object);
        finding.location = Some(source.document().location(span));
    }
}

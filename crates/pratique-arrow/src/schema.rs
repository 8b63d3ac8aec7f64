//! The columns of results.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// What a policy found with a binding.
static FINDING: LazyLock<Fields> = LazyLock::new(|| {
    Fields::from(vec![
        Field::new("policy", DataType::Utf8, true),
        Field::new("binding", DataType::Utf8, true),
        Field::new("action", DataType::Utf8, false),
        Field::new("is_error", DataType::Boolean, false),
        Field::new("message", DataType::Utf8, false),
    ])
});

/// The columns of results: one row for each object that was evaluated, or could not be.
///
/// | column | type | |
/// |---|---|---|
/// | `place` | text | where the object was found, such as `objects.ndjson:3:1` |
/// | `time` | timestamp in microseconds, UTC | when the request was made |
/// | `operation` | text | `CREATE`, `UPDATE`, `DELETE`, `CONNECT` |
/// | `api_version`, `kind`, `namespace`, `name`, `uid` | text | the object |
/// | `user` | text | who sends the request |
/// | `owner` | text | what controls the object, such as `Deployment/web` |
/// | `decision` | text, never null | `allowed`, `denied`, `undecided`, or `failed`: it could not be read or evaluated |
/// | `message` | text | what the user is told of a denial; why it failed |
/// | `findings` | list, never null | what policies found |
///
/// A finding has `policy` and `binding`, which may be null; `action`: `deny`, `warn`, `audit`, `ignore` (an error that is
/// ignored), or `undecided` (something was not given: the message says what); `is_error`, whether an error led to it and not a
/// validation; and `message`. What is not known is null.
pub fn result_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| Arc::new(Schema::new(results())));
    Arc::clone(&SCHEMA)
}

/// The columns of [results](result_schema), followed by what happened when the requests were made:
///
/// | column | type | |
/// |---|---|---|
/// | `id` | text | the `auditID`, or the uid of a recorded request |
/// | `comparison` | text | `same`, `refusedNow`, `allowedNow`, `notCompared`, `undecided` |
/// | `then_decision` | text | what was decided then |
/// | `then_by` | text | what refused the request then |
/// | `then_message` | text | the message of then |
/// | `unknown` | text | why the log does not have enough of the request |
/// | `approximations` | list of text, never null | what the request differs in from the one of then |
pub fn replay_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let mut fields = results();
        let texts = [
            "id",
            "comparison",
            "then_decision",
            "then_by",
            "then_message",
            "unknown",
        ];
        fields.extend(texts.map(text_field));
        fields.push(Field::new("approximations", DataType::List(text_item()), false));
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

fn results() -> Vec<Field> {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let mut fields = vec![text_field("place"), Field::new("time", time, true)];
    let texts = [
        "operation",
        "api_version",
        "kind",
        "namespace",
        "name",
        "uid",
        "user",
        "owner",
    ];
    fields.extend(texts.map(text_field));
    fields.push(Field::new("decision", DataType::Utf8, false));
    fields.push(text_field("message"));
    fields.push(Field::new("findings", DataType::List(finding_item()), false));
    fields
}

fn text_field(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The fields of a finding.
pub(super) fn finding() -> Fields {
    FINDING.clone()
}

/// The items of a list of findings.
pub(super) fn finding_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(finding()), false))
}

/// The items of a list of texts.
pub(super) fn text_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Utf8, false))
}

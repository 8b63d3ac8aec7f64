//! Numbers: ranges, limits and multiples, with the conversions between integers and floats that a server makes.

use pratique_gotext::strconv::general_form;
use pratique_json::Value;
use pratique_types::field::{Error, Path};

use super::outcome::ValueOutcome;
use crate::schema::{SchemaNode, SchemaType};

/// A number of a document.
#[derive(Clone, Copy, Debug)]
enum DocumentNumber {
    Int(i64),
    Float(f64),
}

impl DocumentNumber {
    fn float(self) -> f64 {
        match self {
            DocumentNumber::Int(number) => number as f64,
            DocumentNumber::Float(number) => number,
        }
    }

    fn value(self) -> Value<'static> {
        match self {
            DocumentNumber::Int(number) => Value::Int(number),
            DocumentNumber::Float(number) => Value::Float(number),
        }
    }

    fn to_text(self) -> String {
        match self {
            DocumentNumber::Int(number) => number.to_string(),
            DocumentNumber::Float(number) => general_form(number),
        }
    }
}

// Upstream: kube-openapi/pkg/validation/validate/validator.go, numberValidator.Validate
pub(super) fn validate(value: &Value<'_>, schema: &SchemaNode, path: &Path<'_>) -> Option<ValueOutcome> {
    let number = match value {
        Value::Int(number) => DocumentNumber::Int(*number),
        Value::Float(number) => DocumentNumber::Float(*number),
        _ => return None,
    };
    let check = BoundCheck { number, schema, path };
    let mut outcome = ValueOutcome {
        problems: Vec::new(),
        matches: 1,
    };
    if let Some(message) = check.out_of_range(number, "Checked") {
        outcome.add_message(message);
    }
    let values = &schema.values;
    if let Some(factor) = values.multiple_of {
        outcome.merge(check.multiple_of(factor));
    }
    // Upstream merges multiples, minimum and maximum in this order.
    if let Some(limit) = values.minimum {
        outcome.merge(check.limit(limit, values.exclusive_minimum, BoundSide::Minimum));
    }
    if let Some(limit) = values.maximum {
        outcome.merge(check.limit(limit, values.exclusive_maximum, BoundSide::Maximum));
    }
    Some(outcome)
}

#[derive(Clone, Copy)]
enum BoundSide {
    Minimum,
    Maximum,
}

struct BoundCheck<'c> {
    number: DocumentNumber,
    schema: &'c SchemaNode,
    path: &'c Path<'c>,
}

impl BoundCheck<'_> {
    /// Why a number is none of the schema's type and format.
    // Upstream: kube-openapi/pkg/validation/validate/values.go, IsValueValidAgainstRange
    fn out_of_range(&self, number: DocumentNumber, what: &str) -> Option<String> {
        if self.schema.values.ignores_ranges {
            return None;
        }
        let [of] = self.schema.types() else {
            return None;
        };
        let format = &*self.schema.values.checked_format;
        let fits = match (of, format) {
            (SchemaType::Integer, "int32") => {
                as_integer(number).is_some_and(|number| i32::try_from(number).is_ok())
            }
            (SchemaType::Integer, _) => as_integer(number).is_some(),
            // Numbers that round to the largest one of 32 bits are within it.
            (SchemaType::Number, "float") => number.float().abs() < 3.402_823_567_797_336_6e38,
            _ => true,
        };
        if fits {
            return None;
        }
        let form = match format {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        let (of, path) = (of.name(), self.path.to_dotted());
        Some(format!("{what} value must be of type {of} {form} in {path}"))
    }

    fn multiple_of(&self, factor: f64) -> ValueOutcome {
        let mut outcome = ValueOutcome::default();
        let refused = self.out_of_range(DocumentNumber::Float(factor), "MultipleOf");
        let factor_outcome = match (&refused, self.number) {
            (None, DocumentNumber::Int(number)) => self.multiple_of_integer(number, go_integer(factor)),
            _ => self.multiple_of_float(self.number.float(), factor),
        };
        if let Some(message) = refused {
            outcome.add_message(message);
        }
        if let Some(factor_outcome) = factor_outcome {
            outcome.merge(factor_outcome);
        }
        outcome
    }

    fn multiple_of_integer(&self, number: i64, factor: i64) -> Option<ValueOutcome> {
        if factor <= 0 {
            return Some(self.factor_not_positive(DocumentNumber::Int(factor)));
        }
        (number % factor != 0)
            .then(|| self.no_multiple(DocumentNumber::Int(number), DocumentNumber::Int(factor)))
    }

    // Upstream: kube-openapi/pkg/validation/validate/values.go, MultipleOf
    fn multiple_of_float(&self, number: f64, factor: f64) -> Option<ValueOutcome> {
        if factor <= 0.0 {
            return Some(self.factor_not_positive(DocumentNumber::Float(factor)));
        }
        let multiple = if factor < 1.0 {
            1.0 / factor * number
        } else {
            number / factor
        };
        (!is_integer(multiple))
            .then(|| self.no_multiple(DocumentNumber::Float(number), DocumentNumber::Float(factor)))
    }

    fn factor_not_positive(&self, factor: DocumentNumber) -> ValueOutcome {
        let message = format!(
            "factor MultipleOf declared for {} must be positive: {}",
            self.path.to_dotted(),
            factor.to_text()
        );
        self.invalid(factor, message)
    }

    fn no_multiple(&self, number: DocumentNumber, factor: DocumentNumber) -> ValueOutcome {
        let message = format!(
            "{} in body should be a multiple of {}",
            self.path.to_dotted(),
            factor.to_text()
        );
        self.invalid(number, message)
    }

    fn limit(&self, limit: f64, exclusive: bool, side: BoundSide) -> ValueOutcome {
        let mut outcome = ValueOutcome::default();
        let what = match side {
            BoundSide::Minimum => "Minimum boundary",
            BoundSide::Maximum => "Maximum boundary",
        };
        let refused = self.out_of_range(DocumentNumber::Float(limit), what);
        let (number, limit) = match (&refused, self.number) {
            // The limit loses its fraction.
            (None, DocumentNumber::Int(number)) => (
                DocumentNumber::Int(number),
                DocumentNumber::Int(go_integer(limit)),
            ),
            _ => (
                DocumentNumber::Float(self.number.float()),
                DocumentNumber::Float(limit),
            ),
        };
        if let Some(message) = refused {
            outcome.add_message(message);
        }
        let order = match (number, limit) {
            (DocumentNumber::Int(number), DocumentNumber::Int(limit)) => Some(number.cmp(&limit)),
            _ => number.float().partial_cmp(&limit.float()),
        };
        let beyond = match side {
            BoundSide::Minimum => order.is_some_and(|order| order.is_lt() || (exclusive && order.is_eq())),
            BoundSide::Maximum => order.is_some_and(|order| order.is_gt() || (exclusive && order.is_eq())),
        };
        if beyond {
            let relation = match (side, exclusive) {
                (BoundSide::Minimum, false) => "greater than or equal to",
                (BoundSide::Minimum, true) => "greater than",
                (BoundSide::Maximum, false) => "less than or equal to",
                (BoundSide::Maximum, true) => "less than",
            };
            let path = self.path.to_dotted();
            let message = format!("{path} in body should be {relation} {}", limit.to_text());
            outcome.merge(self.invalid(number, message));
        }
        outcome
    }

    fn invalid(&self, value: DocumentNumber, message: String) -> ValueOutcome {
        let error = Error::invalid(super::value::field(self.path), &value.value(), &message);
        ValueOutcome::new(message, error)
    }
}

/// The integer that a number is.
fn as_integer(number: DocumentNumber) -> Option<i64> {
    match number {
        DocumentNumber::Int(number) => Some(number),
        DocumentNumber::Float(number) => {
            let within = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
            (within && number.fract() == 0.0).then_some(number as i64)
        }
    }
}

/// Go's conversion of a float to an integer on amd64: without its fraction, and the least integer where it is none.
fn go_integer(number: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// Whether a float is an integer, or as good as one.
// Upstream: github.com/go-openapi/swag/convert.go, IsFloat64AJSONInteger
pub(super) fn is_integer(number: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    const EPSILON: f64 = 1e-9;
    if !number.is_finite() || number.abs() > LARGEST {
        return false;
    }
    if number.fract() == 0.0 {
        return true;
    }
    // Go's conversion of a negative number to an unsigned one is far from it.
    let whole = number.trunc();
    if number < 0.0 || whole == 0.0 {
        return false;
    }
    let difference = number - whole;
    difference / (number + whole) < EPSILON
}

//! Decoding integers, bytes and times.

use pratique_json::base64;
use serde_json::Value as Json;

use super::Decoder;
use crate::header::type_name;
use crate::position::Span;
use crate::schema::Type;
use crate::time;
use crate::tree::{NodeId, Value};

impl Decoder<'_> {
    pub(super) fn integer(&mut self, text: &str, kind: &Type, span: Span) -> Option<Json> {
        let value = match kind {
            Type::Int32 => text.parse::<i32>().ok().map(i64::from),
            _ => text.parse::<i64>().ok(),
        };
        if value.is_none() {
            let message = self.type_error(&format!("number {text}"), &kind.name(self.version));
            self.type_fault(message, span);
        }
        value.map(Into::into)
    }

    /// Base64, written back as it would be encoded.
    pub(super) fn bytes(&mut self, text: &str, span: Span) -> Option<Json> {
        match base64::decode(text) {
            Ok(bytes) => Some(base64::encode(&bytes).into()),
            Err(offset) => {
                self.type_fault(format!("illegal base64 data at input byte {offset}"), span);
                None
            }
        }
    }

    /// Bytes may also be given as a list of numbers.
    pub(super) fn byte_list(&mut self, items: &[NodeId]) -> Option<Json> {
        let mut bytes = Vec::with_capacity(items.len());
        for id in items {
            let node = self.tree.get(*id);
            let found = match &node.value {
                Value::Null => Ok(0),
                Value::Number(text) => text.parse::<u8>().map_err(|_| format!("number {text}")),
                other => Err(type_name(other).to_owned()),
            };
            match found {
                Ok(byte) => bytes.push(byte),
                Err(found) => {
                    let message = self.type_error(&found, "uint8");
                    self.type_fault(message, node.span);
                }
            }
        }
        Some(base64::encode(&bytes).into())
    }

    pub(super) fn time(&mut self, text: &str, span: Span) -> Option<Json> {
        match time::canonical(text) {
            Ok(time) => time.map(Json::from),
            Err(error) => {
                self.fatal(error.to_string(), span);
                None
            }
        }
    }
}

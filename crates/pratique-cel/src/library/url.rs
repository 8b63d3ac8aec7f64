//! URLs: `url('https://example.com:80/').getPort()`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/urls.go

use pratique_gotext::url::{ParseError, Url};

use super::arguments::opaque;
use super::methods::{method, of_text};
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function};
use crate::types::Type;
use crate::value::{List, Map, Opaque, Value};

const TYPE: &str = "kubernetes.URL";

/// Functions that read URLs and take them apart: `url('https://a.b/c').getHost()`.
pub fn library() -> Library {
    let ty = || Type::named(TYPE);
    let accessor = |name: &str, id: &str, read: fn(&Url) -> String| {
        Function::new(name).with(method(id, ty(), Type::String, read))
    };
    let query = Type::map(Type::String, Type::list(Type::String));
    Library::from_functions(vec![
        of_text("url", "string_to_url", ty(), read)
            .with_text(|text| read(text).ok().map(ConstantValue::opaque))
            .costing_always(cost::reads_first),
        of_text("isURL", "is_url_string", Type::Bool, |text| {
            Url::parse_request_uri(text).is_ok()
        }),
        accessor("getScheme", "url_get_scheme", |url| url.scheme().to_owned()),
        accessor("getHost", "url_get_host", Url::host),
        accessor("getHostname", "url_get_hostname", Url::hostname),
        accessor("getPort", "url_get_port", Url::port),
        accessor("getEscapedPath", "url_get_escaped_path", Url::escaped_path),
        Function::new("getQuery").member("url_get_query", &[ty()], query, |context, arguments| {
            let arena = context.arena;
            let string = |text: String| Value::String(arena.str(&text));
            let entries = opaque::<Url>(arguments, 0)?
                .query()
                .into_iter()
                .map(|(key, values)| {
                    let values: Vec<_> = values.into_iter().map(string).collect();
                    (string(key), Value::List(List::Texts(arena.slice(&values))))
                });
            let entries: Vec<_> = entries.collect();
            Ok(Value::Map(Map::Entries(arena.slice(&entries))))
        }),
    ])
}

impl Opaque for Url {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let other: &Self = other.downcast().ok_or_else(Fault::no_such_overload)?;
        Ok(self.to_string() == other.to_string())
    }

    fn to_text(&self) -> String {
        self.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.owned_bytes()
    }
}

/// Wants an absolute URL, then reads it again because a request's URI knows no fragment.
fn read(text: &str) -> Result<Url, Fault> {
    let malformed =
        |error: ParseError| Fault::error(format!("URL parse error during conversion from string: {error}"));
    Url::parse_request_uri(text).map_err(malformed)?;
    Url::parse(text).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn urls() {
        let caller = Caller::new(library());
        caller.check(
            "string_to_url",
            &[Value::String("https://h/a#b")],
            "https://h/a#b",
            2,
        );
        let relative =
            "URL parse error during conversion from string: parse \"a/b\": invalid URI for request";
        caller.check("string_to_url", &[Value::String("a/b")], relative, 1);
        caller.check("is_url_string", &[Value::String("a/b")], "false", 1);
        let url = caller.make("string_to_url", "https://[::1]:80/a b?x=1&y=2&x=3");
        caller.check("url_get_scheme", &[url], "'https'", 1);
        caller.check("url_get_host", &[url], "'[::1]:80'", 1);
        caller.check("url_get_hostname", &[url], "'::1'", 1);
        caller.check("url_get_port", &[url], "'80'", 1);
        caller.check("url_get_escaped_path", &[url], "'/a%20b'", 1);
        caller.check("url_get_query", &[url], "{'x': ['1', '3'], 'y': ['2']}", 1);
    }
}

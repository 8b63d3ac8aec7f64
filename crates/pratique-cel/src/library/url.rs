//! URLs: `url('https://example.com:80/').getPort()`.

use std::any::Any;

use pratique_gotext::url::{ParseError, Url};

use super::arguments::{opaque, string};
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, ConstantValue, Function};
use crate::types::Type;
use crate::value::{Evaluation, List, Map, Opaque, Value};

const TYPE: &str = "kubernetes.URL";

/// Functions that read URLs and take them apart: `url('https://a.b/c').getHost()`.
pub fn library() -> Library {
    let accessor = |name: &str, id: &str, call: CallFn| {
        Function::new(name).member(id, &[Type::named(TYPE)], Type::String, call)
    };
    let query = Type::map(Type::String, Type::list(Type::String));
    Library::of(vec![
        Function::new("url")
            .global("string_to_url", &[Type::String], Type::named(TYPE), parse)
            .with_text(of_text)
            .costing_always(cost::reads_first),
        Function::new("isURL").global("is_url_string", &[Type::String], Type::Bool, is_url),
        accessor("getScheme", "url_get_scheme", scheme),
        accessor("getHost", "url_get_host", host),
        accessor("getHostname", "url_get_hostname", hostname),
        accessor("getPort", "url_get_port", port),
        accessor("getEscapedPath", "url_get_escaped_path", escaped_path),
        Function::new("getQuery").member("url_get_query", &[Type::named(TYPE)], query, get_query),
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

    fn text(&self) -> String {
        self.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.owned_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn url_at<'a>(arguments: &[Value<'a>]) -> Result<&'a Url, Fault> {
    opaque(arguments, 0)
}

/// Wants an absolute URL, then reads it again because a request's URI knows no fragment.
fn parse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(context.arena.opaque(read(string(arguments, 0)?)?))
}

fn read(text: &str) -> Result<Url, Fault> {
    let malformed =
        |error: ParseError| Fault::error(format!("URL parse error during conversion from string: {error}"));
    Url::parse_request_uri(text).map_err(malformed)?;
    Url::parse(text).map_err(malformed)
}

fn of_text(text: &str) -> Option<ConstantValue> {
    read(text).ok().map(ConstantValue::opaque)
}

fn is_url<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(Url::parse_request_uri(string(arguments, 0)?).is_ok()))
}

fn scheme<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(url_at(arguments)?.scheme()))
}

fn host<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(context.arena.str(&url_at(arguments)?.host())))
}

fn hostname<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(context.arena.str(&url_at(arguments)?.hostname())))
}

fn port<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(context.arena.str(&url_at(arguments)?.port())))
}

fn escaped_path<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(
        context.arena.str(&url_at(arguments)?.escaped_path()),
    ))
}

fn get_query<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let arena = context.arena;
    let string = |text: &String| Value::String(arena.str(text));
    let entries: Vec<_> = url_at(arguments)?
        .query()
        .iter()
        .map(|(key, values)| {
            let values: Vec<_> = values.iter().map(string).collect();
            (string(key), Value::List(List::Values(arena.slice(&values))))
        })
        .collect();
    Ok(Value::Map(Map::Entries(arena.slice(&entries))))
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

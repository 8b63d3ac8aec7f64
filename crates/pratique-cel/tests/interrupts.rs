//! That whatever takes long can be stopped, and that whatever takes memory is bounded.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it fails"
)]

use std::fmt::Write;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pratique_cel::{
    Arena, Context, Environment, FaultKind, Interrupt, MemoryBudget, MemoryLimit, Stop, Type, Value, json,
};

/// How long an evaluation may compute after its deadline in a test. Each takes at least ten times as long if it is let.
const SOON: Duration = Duration::from_secs(3);

/// What an expression may cost in an API server.
const LIMIT: u64 = 1_000_000;

static ENVIRONMENT: LazyLock<Environment> =
    LazyLock::new(|| Environment::kubernetes().with_variable("object", Type::Dyn));

/// An object that is as large as an API server takes, with much of everything.
static OBJECT: LazyLock<json::Value<'static>> = LazyLock::new(|| {
    let names = |count: usize| {
        let names: Vec<String> = (0..count)
            .map(|number| format!("\"example.com/{number}\""))
            .collect();
        names.join(",")
    };
    let mut members = String::new();
    for number in 0..20_000 {
        write!(members, "\"k{number}\":{{\"a\":[{number}]}},").unwrap();
    }
    let letters = "ab".repeat(200_000);
    let text = format!(
        r#"{{"many":[{many}],"same":[{many}],"some":[{some}],"other":[{some},"x"],"map":{{{members}"z":1}},
            "text":"{letters}é","digits":"{digits}","url":"https://h/{letters}","spaces":"{spaces}","letters":"{letters}",
            "hundred":[{hundred}],"duration":"{duration}s","version":"1.0.0-{identifiers}a","zone":"2020-01-01T00:00:00Z",
            "query":"https://h/?{query}","pattern":"(\\pL{{999}}N|\\pL{{998}}M)*N","word":"a"}}"#,
        many = names(70_000),
        some = names(5_000),
        hundred = names(100),
        digits = "0".repeat(400_000),
        spaces = " ".repeat(400_000),
        duration = "0".repeat(400_000),
        identifiers = "a.".repeat(100_000),
        query = "a=b&".repeat(100_000),
    );
    json::parse(text.as_bytes()).unwrap().into_owned()
});

/// The time for which this thread computed, where the system tells; others may have had the processor meanwhile.
fn computed() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// How an evaluation ends that may cost so much, and how long after its deadline.
fn evaluate(text: &str, limit: u64, interrupt: &Interrupt) -> (Result<String, FaultKind>, Duration) {
    let program = ENVIRONMENT
        .compile(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let arena = Arena::new();
    let context = Context::new(&arena, limit).with_interrupt(interrupt);
    let mut activation = ENVIRONMENT.activation();
    activation.set(ENVIRONMENT.slot("object").unwrap(), Value::from_json(&OBJECT));
    let began = computed();
    let result = program.evaluate(&context, &activation);
    let took = computed().saturating_sub(began);
    (
        result
            .map(|value| value.type_name().to_owned())
            .map_err(|fault| fault.kind().clone()),
        took,
    )
}

/// The deadline is over before it begins: what is evaluated ends where it next looks at the clock, however fast this
/// machine is.
fn check(text: &str, limit: u64) {
    let (ended, took) = evaluate(text, limit, &Interrupt::at(Instant::now()));
    assert_eq!(
        ended,
        Err(FaultKind::Stopped(Stop::Interrupted)),
        "{text}: {took:?}"
    );
    assert!(took < SOON, "{text}: {took:?}");
}

/// Nobody looks at the clock before there is something to do: else all that follows would show nothing.
#[test]
fn what_is_done_at_once_is_not_stopped() {
    let (ended, _) = evaluate("object.word == 'a'", LIMIT, &Interrupt::at(Instant::now()));
    assert_eq!(ended, Ok("bool".to_owned()));
}

/// Each costs so little that the limit lets it go on for minutes.
#[test]
fn cheap_expressions_over_large_objects() {
    for text in [
        "object.many.all(f, f in object.same)",
        "object.many.all(f, object == object)",
        "object.many.all(f, !(object != object))",
        "object.many.all(f, object.map == object.map || f == 'x')",
        "object.many.all(f, !(object.map in object.many))",
        "object.many.all(f, object.text.size() > 0)",
        "object.many.all(f, size(object.text) > 0)",
        "object.many.all(f, object.text.charAt(200000) == 'a')",
        "object.many.all(f, isURL(object.url))",
        "object.many.all(f, int(object.digits) == 0)",
        "object.many.all(f, uint(object.digits) == 0u)",
        "object.many.all(f, double(object.digits) == 0.0)",
        "object.many.all(f, duration(object.duration) == duration('0s'))",
        "object.many.all(f, object.many.filter(g, false).size() == 0)",
        "object.many.all(f, object.hundred + [object.text + f] != [])",
        "object.many.all(f, {}[object] == 1 || true)",
        "object.many.map(f, object.many.exists(g, g == f))",
    ] {
        check(text, LIMIT);
    }
}

/// Whatever the cost of a call is, its work counts.
#[test]
fn functions_of_large_values_in_loops() {
    for call in [
        "object.text.indexOf('é') > 0",
        "object.text.lastIndexOf('x') < 0",
        "object.text.substring(1, 2) == 'b'",
        "object.text.replace('ab', 'x', 3) != ''",
        "object.text.split('a').size() > 1",
        "object.many.join(',') != ''",
        "object.spaces.trim() == ''",
        "object.text.lowerAscii() != ''",
        "object.text.upperAscii() != ''",
        "strings.quote(object.text) != ''",
        "'%s'.format([object.map]) != ''",
        "object.text.contains('xyz') == false",
        "string(bytes(object.text)) != ''",
        "bool(object.text) || true",
        "timestamp(object.text) == timestamp(object.zone) || true",
        "isQuantity(object.text) == false",
        "isSemver(object.version)",
        "isIP(object.text) == false",
        "format.dns1123Label().validate(object.letters).hasValue()",
        "object.text.matches('^(ab)*é$')",
        "object.text.find('b?é') != ''",
        "object.many.indexOf('x') < 0",
        "object.many.lastIndexOf('x') < 0",
        "object.many.includes('x') == false",
        "object.many.isSorted() == false",
        "object.many.max() != ''",
        "object.many.slice(0, 70000).size() > 0",
        "object.many.reverse().size() > 0",
        "[object.many].flatten().size() > 0",
        "object.some.sort().size() > 0",
        "sets.intersects(object.some, ['x']) == false",
        "type(object) == map && dyn(object) == object",
        "object.hundred.all(h, object == object)",
        "object.map[object.text] == 1 || true",
        "'%s'.format([object.text.split('')]) != ''",
        "optional.of(object.text).orValue('') != ''",
    ] {
        check(&format!("object.many.all(f, {call})"), u64::MAX);
    }
}

/// Values of abstract types count by what they hold, not as one.
#[test]
fn functions_of_large_abstract_values_in_loops() {
    for (value, call) in [
        (
            "quantity('1' + object.digits.substring(0, 90000))",
            "v.add(v).compareTo(v) == 1",
        ),
        ("semver(object.version)", "v.compareTo(v) == 0"),
        ("url(object.query)", "v.getQuery().size() >= 0"),
    ] {
        check(&format!("[{value}].all(v, object.many.all(f, {call}))"), u64::MAX);
    }
}

/// The deadline comes while a single call is at work, which would go on for many times as long.
#[test]
fn deadlines_within_calls() {
    let texts = "object.many.map(f, object.text)";
    let more = format!("[{texts}].map(t, t + t + t + t + t + t + t + t)[0]");
    // Ten times ten times … a text: a few lists that look like billions of values.
    let shared = (0..10).fold("'text'".to_owned(), |inner, at| {
        format!(
            "[{inner}].map(x{at}, [{}])[0]",
            vec![format!("x{at}"); 10].join(", ")
        )
    });
    for text in [
        format!("{texts}.sort().size() > 0"),
        format!("{more}.max() != ''"),
        format!("{more}.isSorted()"),
        format!("{shared}.includes('x')"),
        format!("'%s'.format([{shared}]) != ''"),
        format!("{shared} == {shared}"),
    ] {
        let within = Duration::from_millis(500);
        let (ended, took) = evaluate(&text, u64::MAX, &Interrupt::at(Instant::now() + within));
        assert_eq!(
            ended,
            Err(FaultKind::Stopped(Stop::Interrupted)),
            "{text}: {took:?}"
        );
        assert!(took < within + SOON, "{text}: {took:?}");
    }
}

/// Single calls that take long.
#[test]
fn functions_that_take_long_by_themselves() {
    let many = |of: &str| format!("object.some.map(f, {of})");
    for text in [
        format!(
            "sets.contains({list}, {list})",
            list = many("[object.map, dyn(f)]")
        ),
        format!(
            "sets.equivalent({list}, {list})",
            list = many("[object.map, dyn(f)]")
        ),
        format!(
            "sets.intersects({}, {})",
            many("[object.map, dyn(f)]"),
            many("[object.map, dyn(f + f)]")
        ),
        format!("{}.distinct().size() > 0", many("[object.map, dyn(f)]")),
        format!(
            "{}.indexOf([object.map, dyn('x')]) < 0",
            many("[object.map, dyn(f)]")
        ),
        format!(
            "[dyn('x'), object.map] in {}",
            many("[dyn(f), object.map] + [object.map]")
        ),
        format!("{list} == {list}", list = many("object")),
        "object.many.transformMap(i, f, f) == object.same.transformMap(i, f, f)".to_owned(),
        "object.many.transformMapEntry(i, f, {f: i}).size() > 0".to_owned(),
        "[object.many.transformMap(i, f, f)].all(m, object.many.all(f, !(f in m)))".to_owned(),
        "object.text.matches(object.pattern)".to_owned(),
        "object.text.find(object.pattern) == ''".to_owned(),
        "object.text.findAll('(a.*é)|b').size() > 0 && object.text.findAll('a.*x|b').size() > 0".to_owned(),
        r"object.many.all(f, !f.matches('(\\pL{999}N|[^a]{1000})' + object.word))".to_owned(),
        "object.many.all(f, !object.letters.matches('(a|b|ab){500}x' + f))".to_owned(),
    ] {
        check(&text, u64::MAX);
    }
}

#[test]
fn another_thread_interrupts() {
    let interrupt = Interrupt::new();
    let other = interrupt.clone();
    let setting = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        other.set();
    });
    let (ended, took) = evaluate("object.many.all(f, f in object.same)", LIMIT, &interrupt);
    setting.join().unwrap();
    assert_eq!(ended, Err(FaultKind::Stopped(Stop::Interrupted)));
    assert!(took < SOON, "{took:?}");
}

/// What all evaluations may take, and the most that they took.
#[derive(Debug)]
struct Budget {
    left: AtomicUsize,
    lowest: AtomicUsize,
}

impl Budget {
    fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Budget {
            left: AtomicUsize::new(bytes),
            lowest: AtomicUsize::new(bytes),
        })
    }
}

impl MemoryBudget for Budget {
    fn take(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if let Ok(before) = taken {
            self.lowest.fetch_min(before - bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Each would take a hundred megabytes or gigabytes at little cost. Numbers of more digits only take longer.
const LARGE: [&str; 7] = [
    "object.many.map(f, object.text + f).size() > 0",
    "object.many.map(f, object.many.filter(g, true)).size() > 0 || true",
    "object.some.map(f, object.text.replace('', object.letters.substring(0, 100) + f)).size() > 0",
    "object.some.map(f, object.text.split('')).size() > 0",
    "object.some.map(f, quantity('1' + object.digits.substring(0, 50000))).size() > 0",
    "object.some.map(f, url(object.url)).size() > 0",
    "object.some.map(f, semver(object.version)).size() > 0",
];

#[test]
fn memory_is_bounded() {
    for text in LARGE {
        let program = ENVIRONMENT
            .compile(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let arena = Arena::within(&MemoryLimit::new(16 << 20));
        let context = Context::new(&arena, u64::MAX);
        let mut activation = ENVIRONMENT.activation();
        activation.set(ENVIRONMENT.slot("object").unwrap(), Value::from_json(&OBJECT));
        let ended = program.evaluate(&context, &activation);
        let ended = ended.map(|_| ()).map_err(|fault| fault.kind().clone());
        assert_eq!(ended, Err(FaultKind::Stopped(Stop::MemoryLimit)), "{text}");
        assert!(arena.allocated_bytes() < 64 << 20, "{text}: {arena:?}");
    }
}

#[test]
fn arenas_share_a_budget() {
    const WHOLE: usize = 24 << 20;
    let budget = Budget::new(WHOLE);
    let program = ENVIRONMENT.compile(LARGE.first().unwrap()).unwrap();
    let limit = MemoryLimit::new(16 << 20).with_budget(budget.clone());
    let run = |arena: &Arena| {
        let context = Context::new(arena, u64::MAX);
        let mut activation = ENVIRONMENT.activation();
        activation.set(ENVIRONMENT.slot("object").unwrap(), Value::from_json(&OBJECT));
        let ended = program.evaluate(&context, &activation);
        ended.map(|_| ()).map_err(|fault| fault.kind().clone())
    };
    let first = Arena::within(&limit);
    assert_eq!(run(&first), Err(FaultKind::Stopped(Stop::MemoryLimit)));
    let second = Arena::within(&limit);
    assert_eq!(run(&second), Err(FaultKind::Stopped(Stop::MemoryBudget)));
    drop(first);
    assert_eq!(
        run(&Arena::within(&limit)),
        Err(FaultKind::Stopped(Stop::MemoryLimit))
    );
    drop(second);
    assert_eq!(budget.left.load(Ordering::Relaxed), WHOLE);
    assert!(budget.lowest.load(Ordering::Relaxed) < WHOLE / 2);
}

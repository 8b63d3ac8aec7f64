//! Clients that are slow, large, many, or gone; and a handler that panics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique_audit::{Level, Log, LogOptions, Target};

use super::client::{Client, review};
use super::handler::DEADLINE;
use super::running::Running;

const HEAD: &str = "POST /validate HTTP/1.1\r\nHost: test\r\n";

#[test]
fn a_panic_ends_with_its_request() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let answer = client.review("/validate", "panic");
    assert_eq!(
        (answer.code, &answer.json()["reason"]),
        (500, &"InternalError".into())
    );
    assert_eq!(client.review("/validate", "web").code, 200);
}

#[test]
fn the_client_says_how_long_it_waits() {
    let server = Running::with(|settings| settings.limits.default_timeout = Duration::from_millis(50));
    let mut client = Client::to(server.address);
    assert_eq!(client.review("/validate?timeout=100ms", "hold").code, 504);
    assert_eq!(client.review("/validate", "hold").code, 504);
    assert_eq!(client.review("/validate?timeout=30s", "slow-200").code, 200);
}

#[test]
fn large_bodies_are_refused() {
    let server = Running::with(|settings| settings.limits.body = 10_000);
    let mut client = Client::to(server.address);
    let large = review(&"x".repeat(2_000_000)).to_string();
    let answer = client.ask("POST", "/validate", "", large.as_bytes());
    assert_eq!(
        (answer.code, &answer.json()["reason"]),
        (413, &"RequestEntityTooLarge".into())
    );
    let mut client = Client::to(server.address);
    client
        .send(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes())
        .unwrap();
    for _ in 0..20 {
        client
            .send(format!("400\r\n{}\r\n", " ".repeat(1024)).as_bytes())
            .unwrap();
    }
    client.send(b"0\r\n\r\n").unwrap();
    assert_eq!(client.read().unwrap().code, 413);
    assert_eq!(Client::to(server.address).review("/validate", "web").code, 200);
    let metrics = Client::to(server.address).get("/metrics").body;
    let refused = "pratique_reviews_refused_total{code=\"413\",reason=\"RequestEntityTooLarge\"} 2\n";
    assert!(metrics.contains(refused), "{metrics}");
}

/// The largest review that an API server sends: an object of 3 MiB and an old one of 1.5 MiB, of characters that Go's
/// encoder writes in six bytes.
#[test]
fn what_an_api_server_lets_through_is_read() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let escaped = |mebibytes: f64| {
        let count = (mebibytes * f64::from(1 << 20)) as usize;
        format!("{{\"data\":{{\"a\":\"{}\"}}}}", "\\u003c".repeat(count))
    };
    let review = review("web").to_string();
    let review = review.replace("{\"metadata\":{\"name\":\"web\"}}", &escaped(3.0));
    let review = review.replace("\"oldObject\":null", &format!("\"oldObject\":{}", escaped(1.5)));
    let review = review.replace("\"CREATE\"", "\"UPDATE\"");
    assert!(review.len() > 27 << 20, "{}", review.len());
    assert_eq!(client.ask("POST", "/validate", "", review.as_bytes()).code, 200);
    let metrics = client.get("/metrics").body;
    let none = "pratique_reviews_refused_total{code=\"413\",reason=\"RequestEntityTooLarge\"} 0\n";
    assert!(metrics.contains(none), "{metrics}");
}

#[test]
fn all_requests_together_are_bounded() {
    let server = Running::with(|settings| {
        settings.limits.memory = 4 << 20;
        settings.limits.max_timeout = 10 * DEADLINE;
        settings.limits.queue_timeout = Duration::from_millis(100);
    });
    let body = long("hold", 300_000);
    let mut hoarder = Client::to(server.address);
    let head = HEAD.replace("/validate", "/validate?timeout=600s");
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    hoarder.send(format!("{head}{body}").as_bytes()).unwrap();
    server.handler.wait_until_held(1);
    let body = long("web", 300_000);
    let mut client = Client::to(server.address);
    assert_eq!(client.ask("POST", "/validate", "", body.as_bytes()).code, 429);
    assert_eq!(
        client.review("/validate", "web").code,
        200,
        "there is room for small ones"
    );
    server.handler.release();
    assert_eq!(hoarder.read().unwrap().code, 200);
    let again = || client.ask("POST", "/validate", "", body.as_bytes()).code;
    assert_eq!(once_there_is_room(again), 200);
    let larger = long("web", 2_400_000);
    let code = client.ask("POST", "/validate", "", larger.as_bytes()).code;
    assert_eq!(code, 413, "it would take more than all");
}

/// Who has sent most of a large body and waits makes room for others; small requests have room in any case.
#[test]
fn unfinished_bodies_make_room() {
    // What takes longer than a busy machine holds a test up is not what ends the bodies.
    let long = Duration::from_secs(600);
    let server = Running::with(|settings| {
        let limits = &mut settings.limits;
        limits.memory = 8 << 20;
        (limits.body_timeout, limits.default_timeout, limits.max_timeout) = (long, long, long);
    });
    // What is refused or evicted on its way may lose its answer with the rest that is sent.
    let hoard = || {
        let mut client = Client::to(server.address);
        let head = format!("{HEAD}Content-Length: 3000000\r\n\r\n");
        let _ = client.send(format!("{head}{}", " ".repeat(2_200_000)).as_bytes());
        client
    };
    let mut hoarders = [hoard(), hoard()];
    assert_eq!(Client::to(server.address).review("/validate", "web").code, 200);
    let body = review(&"x".repeat(200_000)).to_string();
    let ask = || {
        let answer = Client::to(server.address).ask("POST", "/validate", "", body.as_bytes());
        assert!(matches!(answer.code, 200 | 429), "{}", answer.code);
        answer.code
    };
    let start = Instant::now();
    let mut evicted = None;
    // While the bodies are on their way there may be room for the review, or none for them: these begin again.
    while evicted.is_none() {
        assert!(start.elapsed() < DEADLINE, "the bodies make no room");
        ask();
        for hoarder in hoarders.iter_mut().filter(|hoarder| hoarder.has_answer()) {
            let answer = hoarder.read();
            *hoarder = hoard();
            assert!(
                answer
                    .as_ref()
                    .is_none_or(|answer| matches!(answer.code, 408 | 429)),
                "{answer:?}"
            );
            evicted = evicted.or(answer.filter(|answer| answer.code == 408));
        }
    }
    while ask() != 200 {
        assert!(start.elapsed() < DEADLINE, "there is no room");
    }
    assert!(
        evicted.unwrap().json()["message"]
            .as_str()
            .unwrap()
            .contains("slowly")
    );
}

/// The code of the first answer that is not "come again": answers are sent before what they took is released.
fn once_there_is_room(mut ask: impl FnMut() -> u16) -> u16 {
    let start = Instant::now();
    loop {
        let code = ask();
        if code != 429 || start.elapsed() > DEADLINE {
            return code;
        }
    }
}

/// A review of an object with a text of so many bytes.
fn long(name: &str, bytes: usize) -> String {
    let object = format!(
        "{{\"metadata\":{{\"name\":\"{name}\"}},\"data\":\"{}\"}}",
        "x".repeat(bytes)
    );
    let named = format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}");
    review(name).to_string().replace(&named, &object)
}

/// Two that do not fit into the memory together are evaluated one after the other.
#[test]
fn the_largest_wait_for_each_other() {
    let server = Running::with(|settings| {
        let limits = &mut settings.limits;
        limits.memory = 64 << 20;
        (limits.queue_timeout, limits.default_timeout, limits.max_timeout) = (DEADLINE, DEADLINE, DEADLINE);
    });
    let body = Arc::new(long("slow-300", 5_000_000));
    let asked: Vec<_> = (0..3)
        .map(|_| {
            let (address, body) = (server.address, body.clone());
            std::thread::spawn(move || {
                Client::to(address)
                    .ask("POST", "/validate", "", body.as_bytes())
                    .code
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(Client::to(server.address).review("/validate", "web").code, 200);
    assert_eq!(
        asked
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect::<Vec<_>>(),
        [200; 3]
    );
}

/// What the queue of an audit log may have is not there for requests.
#[test]
fn audit_events_are_part_of_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = LogOptions::new(Target::File(directory.path().join("audit.log")), Level::Request);
    options.bytes = 4 << 20;
    let log = Log::start(options).unwrap();
    let server = Running::with(|settings| {
        settings.limits.memory = 16 << 20;
        settings.audit = Some(log.clone());
    });
    let ask = |bytes| {
        let body = long("web", bytes);
        Client::to(server.address).ask("POST", "/validate", "", body.as_bytes())
    };
    let answer = ask(2_000_000);
    assert_eq!(answer.code, 413);
    let message = answer.json()["message"].to_string();
    assert!(message.contains("limit is 9 MiB"), "{message}");
    assert_eq!(ask(1_000_000).code, 200);
}

#[test]
fn what_would_take_too_much_memory_is_refused() {
    let server = Running::with(|settings| settings.limits.memory = 64 << 20);
    let ask = |object: &str| {
        let body = review("web").to_string().replace(
            "{\"metadata\":{\"name\":\"web\"}}",
            &format!("{{\"data\":{object}}}"),
        );
        Client::to(server.address).ask("POST", "/validate", "", body.as_bytes())
    };
    let answer = ask(&format!("[{}[]]", "[],".repeat(300_000)));
    assert_eq!(answer.code, 413);
    let message = answer.json()["message"].to_string();
    assert!(message.contains("memory, limit is 48 MiB"), "{message}");
    assert_eq!(
        ask(&format!("\"{}\"", "[],".repeat(300_000))).code,
        200,
        "a text is no list"
    );
    assert_eq!(ask(&format!("[{}[]]", "[],".repeat(10_000))).code, 200);
}

#[test]
fn answers_are_bounded() {
    let server = Running::with(|settings| settings.limits.response = 2000);
    let mut client = Client::to(server.address);
    assert_eq!(client.review("/validate", "answer-1000").code, 200);
    let answer = client.review("/validate", "answer-2000");
    assert_eq!(
        (answer.code, &answer.json()["reason"]),
        (500, &"InternalError".into())
    );
}

/// It goes back in the answer.
#[test]
fn a_long_uid_is_refused() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let mut ask = |length: usize| {
        let mut review = review("web");
        review["request"]["uid"] = "u".repeat(length).into();
        let answer = client.ask("POST", "/validate", "", review.to_string().as_bytes());
        (answer.code, answer.body)
    };
    assert_eq!(ask(128).0, 200);
    let (code, body) = ask(129);
    assert!(code == 400 && body.contains("uid"), "{body}");
}

#[test]
fn slow_bodies_are_given_up() {
    let server = Running::with(|settings| settings.limits.body_timeout = Duration::from_millis(200));
    let mut client = Client::to(server.address);
    client
        .send(format!("{HEAD}Content-Length: 100\r\n\r\n{{").as_bytes())
        .unwrap();
    assert_eq!(client.read().unwrap().code, 408);
}

#[test]
fn slow_heads_are_given_up() {
    let server = Running::with(|settings| settings.limits.head_timeout = Duration::from_millis(200));
    let mut client = Client::to(server.address);
    client.send(b"POST /validate HTTP/1.1\r\nHo").unwrap();
    let start = Instant::now();
    assert!(client.read().is_none_or(|answer| answer.code == 408));
    assert!(start.elapsed() < DEADLINE, "the server does not end it");
}

#[test]
fn many_idle_connections_make_room() {
    let server = Running::with(|settings| settings.limits.connections = 8);
    let mut friend = Client::to(server.address);
    assert_eq!(friend.review("/validate", "web").code, 200);
    // Some say nothing, some say little, some are gone without a word.
    let idle: Vec<_> = (0..100)
        .map(|number| {
            let mut client = Client::to(server.address);
            if number % 2 == 0 {
                client.send(HEAD.as_bytes()).unwrap();
            }
            client
        })
        .collect();
    assert_eq!(
        friend.review("/validate", "web").code,
        200,
        "who was there before stays"
    );
    for _ in 0..20 {
        assert_eq!(Client::to(server.address).review("/validate", "web").code, 200);
    }
    drop(idle);
}

#[test]
fn requests_wait_for_their_turn() {
    let server = Running::with(|settings| {
        let limits = &mut settings.limits;
        limits.requests = 1;
        (limits.max_timeout, limits.queue_timeout) = (10 * DEADLINE, DEADLINE);
    });
    let address = server.address;
    let path = "/validate?timeout=600s";
    let ask = |name| std::thread::spawn(move || Client::to(address).review(path, name).code);
    let slow = ask("hold");
    server.handler.wait_until_held(1);
    let waiting = ask("web");
    std::thread::sleep(Duration::from_millis(100));
    assert!(!waiting.is_finished(), "it is not its turn");
    server.handler.release();
    assert_eq!((slow.join().unwrap(), waiting.join().unwrap()), (200, 200));
}

#[test]
fn too_many_requests_are_told_to_come_again() {
    let server = Running::with(|settings| {
        settings.limits.requests = 2;
        settings.limits.max_timeout = 10 * DEADLINE;
        settings.limits.queue_timeout = Duration::from_millis(100);
    });
    let slow = || {
        let address = server.address;
        std::thread::spawn(move || Client::to(address).review("/validate?timeout=600s", "hold").code)
    };
    let waiting = [slow(), slow()];
    let mut client = Client::to(server.address);
    server.handler.wait_until_held(2);
    let answer = client.review("/validate", "web");
    assert_eq!((answer.code, answer.has("retry-after: 1")), (429, true));
    server.handler.release();
    assert_eq!(waiting.map(|review| review.join().unwrap()), [200, 200]);
    assert_eq!(once_there_is_room(|| client.review("/validate", "web").code), 200);
}

#[test]
fn what_is_no_http_ends_the_connection_only() {
    let server = Running::start();
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
    ] {
        let mut client = Client::to(server.address);
        client.send(bytes).unwrap();
        assert!(
            client
                .read()
                .is_none_or(|answer| (400..600).contains(&answer.code))
        );
    }
    let mut client = Client::to(server.address);
    client
        .send(format!("{HEAD}X-Long: {}\r\n\r\n", "x".repeat(100_000)).as_bytes())
        .ok();
    assert!(
        client
            .read()
            .is_none_or(|answer| (400..500).contains(&answer.code))
    );
    assert_eq!(Client::to(server.address).review("/validate", "web").code, 200);
}

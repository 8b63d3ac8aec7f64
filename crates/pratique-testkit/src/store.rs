//! A store with the part of S3 that our clients use, which refuses requests that are not signed with its key.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const REGION: &str = "eu-test-1";

/// A store; it ends with the process. A copy is the same.
#[derive(Clone, Debug)]
pub struct FakeStore {
    address: String,
    state: Arc<Mutex<StoreState>>,
}

#[derive(Debug, Default)]
struct StoreState {
    /// By `bucket/key`.
    objects: BTreeMap<String, Vec<u8>>,
    /// The parts of uploads that are not complete, by their ids.
    uploads: BTreeMap<String, BTreeMap<u16, Vec<u8>>>,
    created: usize,
    asked: Vec<String>,
    /// The statuses of the next answers.
    failures: Vec<u16>,
    /// Whether objects may only be written.
    is_unreadable: bool,
}

struct StoreRequest {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    host: String,
    body: Vec<u8>,
}

type StoreAnswer = (u16, Vec<(&'static str, String)>, Vec<u8>);

impl FakeStore {
    /// Starts an empty store.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let store = FakeStore {
            address,
            state: Arc::default(),
        };
        let answering = store.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let store = answering.clone();
                thread::spawn(move || store.serve(&stream));
            }
        });
        store
    }

    /// The environment of a client that may write to it.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ENDPOINT_URL", format!("http://{}", self.address)),
        ]
    }

    /// An object, by `bucket/key`.
    pub fn object(&self, name: &str) -> Option<Vec<u8>> {
        self.lock().objects.get(name).cloned()
    }

    /// Stores an object.
    pub fn put(&self, name: &str, content: impl Into<Vec<u8>>) {
        self.lock().objects.insert(name.to_owned(), content.into());
    }

    /// The number of uploads that are neither completed nor aborted.
    pub fn open_uploads(&self) -> usize {
        self.lock().uploads.len()
    }

    /// Answers the next requests with statuses of errors, in order.
    pub fn fail(&self, statuses: &[u16]) {
        self.lock().failures = statuses.to_vec();
    }

    /// Lets the client write objects and not read them.
    pub fn deny_reading(&self) {
        self.lock().is_unreadable = true;
    }

    /// The requests so far, with what they are for: `PUT bucket/key?partNumber`.
    pub fn asked(&self) -> Vec<String> {
        self.lock().asked.clone()
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = StoreRequest::read(&mut reader) {
            let (status, headers, body) = self.answer(&request);
            let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                let _ = write!(head, "{name}: {value}\r\n");
            }
            head += "\r\n";
            let mut out = stream;
            if out.write_all(&[head.as_bytes(), &body].concat()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &StoreRequest) -> StoreAnswer {
        let name = decoded(request.path.trim_start_matches('/'));
        let mut state = self.lock();
        let purpose = ["uploads", "partNumber", "uploadId"]
            .into_iter()
            .find(|purpose| request.parameter(purpose).is_some());
        let purpose = purpose.map(|purpose| format!("?{purpose}")).unwrap_or_default();
        state.asked.push(format!("{} {name}{purpose}", request.method));
        if !state.failures.is_empty() {
            let status = state.failures.remove(0);
            return error(status, "Scripted", "told to");
        }
        if request.signature() != request.parameter("X-Amz-Signature") {
            let message = "The request signature we calculated does not match the signature you provided.";
            return error(403, "SignatureDoesNotMatch", message);
        }
        let upload = request.parameter("uploadId").unwrap_or_default();
        match (request.method.as_str(), request.parameter("partNumber")) {
            ("GET", _) if state.is_unreadable => error(403, "AccessDenied", "Access Denied"),
            ("GET", _) => match state.objects.get(&name) {
                Some(content) => (200, Vec::new(), content.clone()),
                None => error(404, "NoSuchKey", "The specified key does not exist."),
            },
            ("PUT", None) => {
                let tag = tag(&request.body);
                state.objects.insert(name, request.body.clone());
                (200, vec![("ETag", tag)], Vec::new())
            }
            ("PUT", Some(number)) => {
                let parts = state.uploads.get_mut(&upload);
                let (Some(parts), Ok(number)) = (parts, number.parse()) else {
                    return error(404, "NoSuchUpload", "The specified upload does not exist.");
                };
                parts.insert(number, request.body.clone());
                (200, vec![("ETag", tag(&request.body))], Vec::new())
            }
            ("POST", _) if upload.is_empty() => {
                state.created += 1;
                let id = format!("upload-{}", state.created);
                state.uploads.insert(id.clone(), BTreeMap::new());
                let body = format!(
                    "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>b</Bucket>\
                     <Key>k</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                );
                (200, Vec::new(), body.into_bytes())
            }
            ("POST", _) => {
                let Some(parts) = state.uploads.remove(&upload) else {
                    return error(404, "NoSuchUpload", "The specified upload does not exist.");
                };
                let named = String::from_utf8_lossy(&request.body).into_owned();
                let is_named = |part: &Vec<u8>| {
                    named.contains(&tag(part).replace('"', "&quot;")) || named.contains(&tag(part))
                };
                let content: Vec<u8> = parts.values().flatten().copied().collect();
                if !parts.values().all(is_named)
                    || parts.values().rev().skip(1).any(|part| part.len() < 5 << 20)
                {
                    let (_, headers, body) = error(400, "InvalidPart", "A part is missing, or too small.");
                    // As AWS does where it finds out late.
                    return (200, headers, body);
                }
                let body = format!(
                    "<CompleteMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Location>l</Location>\
                     <Bucket>b</Bucket><Key>k</Key><ETag>{}</ETag></CompleteMultipartUploadResult>",
                    tag(&content)
                );
                state.objects.insert(name, content);
                (200, Vec::new(), body.into_bytes())
            }
            ("DELETE", _) => {
                state.uploads.remove(&upload);
                (204, Vec::new(), Vec::new())
            }
            _ => error(405, "MethodNotAllowed", "no such method"),
        }
    }
}

impl StoreRequest {
    fn read(reader: &mut BufReader<&TcpStream>) -> Option<Self> {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
        let (mut length, mut host) = (0, String::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else {
                break;
            };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "host" => value.trim().clone_into(&mut host),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut parts = first.split(' ');
        let (method, target) = (parts.next()?.to_owned(), parts.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Some(StoreRequest {
            method,
            path: path.to_owned(),
            query: pairs
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
            host,
            body,
        })
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let parameter = self.query.iter().find(|(key, _)| key == name)?;
        Some(parameter.1.clone())
    }

    /// The signature that its query should have.
    // Upstream: docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
    fn signature(&self) -> Option<String> {
        let mut query: Vec<String> = self
            .query
            .iter()
            .filter(|(name, _)| name != "X-Amz-Signature")
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        query.sort();
        let time = self.parameter("X-Amz-Date")?;
        let (day, _) = time.split_once('T')?;
        let scope = format!("{day}/{REGION}/s3/aws4_request");
        if self.parameter("X-Amz-Credential")? != format!("{KEY}/{scope}") {
            return None;
        }
        let canonical = format!(
            "{}\n{}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD",
            self.method,
            self.path,
            query.join("&"),
            self.host
        );
        let digest = hex(&Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let first = signed(format!("AWS4{SECRET}").as_bytes(), day);
        let key = [REGION, "s3", "aws4_request"]
            .iter()
            .fold(first, |key, part| signed(&key, part));
        Some(hex(&signed(&key, &to_sign)))
    }
}

fn signed(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The tag of an object, or of a part.
fn tag(content: &[u8]) -> String {
    let digest = hex(&Sha256::digest(content));
    format!("\"{}\"", digest.chars().take(32).collect::<String>())
}

fn error(status: u16, code: &str, message: &str) -> StoreAnswer {
    let body =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>");
    (status, Vec::new(), body.into_bytes())
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(byte).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits: Vec<u8> = rest.by_ref().take(2).collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

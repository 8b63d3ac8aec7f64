//! A store: signs requests, sends them, and repeats those that may pass.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::ETAG;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Method, Response};
use rusty_s3::actions::{CompleteMultipartUploadResponse, CreateMultipartUpload};
use rusty_s3::{Bucket, S3Action};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;
use url::Url;

use crate::{ObjectWriter, StoreError, StoreLocation, StoreSettings};

/// How long a signature holds: each attempt has its own.
const SIGNED_FOR: Duration = Duration::from_secs(15 * 60);
/// How long it may take to connect, and how long a store may say nothing.
const CONNECTING: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(60);
/// Pauses between attempts, in milliseconds.
const PAUSES: [u64; 4] = [200, 400, 1600, 3200];
/// The maximum length of an answer that is not an object.
const ANSWER_BYTES: usize = 1 << 20;
/// The largest file of certificates, in bytes.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// A store. A copy is the same. Calls block the calling thread, which must not be one of a runtime.
#[derive(Clone)]
pub struct ObjectStore(Arc<StoreInner>);

struct StoreInner {
    settings: StoreSettings,
    http: Client,
    runtime: Runtime,
}

/// What a store answers.
struct StoreAnswer {
    etag: Option<String>,
    body: Vec<u8>,
}

/// An attempt that failed, and whether the same may succeed a little later.
struct FailedAttempt {
    error: StoreError,
    passes: bool,
}

impl ObjectStore {
    /// A store by its settings. Nothing is asked yet.
    ///
    /// # Errors
    /// The certificates that are to be trusted cannot be read, or the system gives no resources.
    pub fn new(settings: StoreSettings) -> Result<Self, StoreError> {
        let start = |error: &dyn std::error::Error| StoreError::Start(chain(error));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| start(&error))?;
        // The client uses the provider that is installed.
        pratique_crypto::install().map_err(|error| start(&error))?;
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(CONNECTING)
            .read_timeout(SILENCE);
        if let Some(certificates) = trusted(&settings)? {
            builder = builder.tls_certs_only(certificates);
        }
        let http = builder.build().map_err(|error| start(&error))?;
        Ok(ObjectStore(Arc::new(StoreInner {
            settings,
            http,
            runtime,
        })))
    }

    /// The content of an object, if it has no more than so many bytes.
    ///
    /// # Errors
    /// It is larger, or the store does not give it.
    pub fn read(&self, at: &StoreLocation, most: usize) -> Result<Vec<u8>, StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let sign = || bucket.get_object(credentials, at.key()).sign(SIGNED_FOR);
        let answer = self.send(Method::GET, sign, Bytes::new(), most)?;
        Ok(answer.body)
    }

    /// Checks that the store answers, has the bucket, and accepts the credentials. Nothing is changed: whether the object may
    /// be written is only known once it is.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn verify(&self, at: &StoreLocation) -> Result<(), StoreError> {
        match self.read(at, 0) {
            Ok(_) | Err(StoreError::TooLarge { .. }) => Ok(()),
            // Who may write need not be able to read, and what is there may be archived.
            Err(StoreError::Refused { code, .. })
                if matches!(
                    code.as_str(),
                    "NoSuchKey" | "AccessDenied" | "InvalidObjectState" | "MethodNotAllowed"
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Writes an object as a whole.
    ///
    /// # Errors
    /// The store does not take it.
    pub fn write(&self, at: &StoreLocation, content: impl Into<Bytes>) -> Result<(), StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let sign = || bucket.put_object(credentials, at.key()).sign(SIGNED_FOR);
        self.send(Method::PUT, sign, content.into(), ANSWER_BYTES)
            .map(drop)
    }

    /// Writes an object part by part.
    pub fn writer(&self, at: StoreLocation) -> ObjectWriter {
        ObjectWriter::new(self.clone(), at)
    }

    /// Begins an upload in parts, and gives its id.
    pub(crate) fn create_upload(&self, at: &StoreLocation) -> Result<String, StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let sign = || {
            bucket
                .create_multipart_upload(credentials, at.key())
                .sign(SIGNED_FOR)
        };
        let answer = self.send(Method::POST, sign, Bytes::new(), ANSWER_BYTES)?;
        let parsed = CreateMultipartUpload::parse_response(&answer.to_text());
        match parsed {
            Ok(created) => Ok(created.upload_id().to_owned()),
            Err(error) => Err(StoreError::Answer(error.to_string())),
        }
    }

    /// Uploads a part, and gives its tag.
    pub(crate) fn upload_part(
        &self,
        at: &StoreLocation,
        upload: &str,
        number: u16,
        content: Bytes,
    ) -> Result<String, StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let sign = || {
            bucket
                .upload_part(credentials, at.key(), number, upload)
                .sign(SIGNED_FOR)
        };
        let answer = self.send(Method::PUT, sign, content, ANSWER_BYTES)?;
        answer
            .etag
            .ok_or_else(|| StoreError::Answer("a part has no ETag".to_owned()))
    }

    /// Makes an object of the parts of an upload.
    pub(crate) fn complete_upload(
        &self,
        at: &StoreLocation,
        upload: &str,
        tags: &[String],
    ) -> Result<(), StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let tags = tags.iter().map(String::as_str);
        let action = bucket.complete_multipart_upload(credentials, at.key(), upload, tags);
        let body = action.clone().body();
        let sign = || action.sign(SIGNED_FOR);
        let answer = self.send(Method::POST, sign, body.into(), ANSWER_BYTES)?;
        // A store may answer 200 before it is done, and report an error in the body.
        match CompleteMultipartUploadResponse::parse(&answer.to_text()) {
            Ok(_) => Ok(()),
            Err(_) if answer.to_text().contains("<Error>") => Err(StoreError::refused(200, &answer.body)),
            Err(error) => Err(StoreError::Answer(error.to_string())),
        }
    }

    /// Gives an upload up.
    pub(crate) fn abort_upload(&self, at: &StoreLocation, upload: &str) -> Result<(), StoreError> {
        let bucket = self.bucket(at)?;
        let credentials = Some(&self.0.settings.credentials);
        let sign = || {
            bucket
                .abort_multipart_upload(credentials, at.key(), upload)
                .sign(SIGNED_FOR)
        };
        self.send(Method::DELETE, sign, Bytes::new(), ANSWER_BYTES)
            .map(drop)
    }

    fn bucket(&self, at: &StoreLocation) -> Result<Bucket, StoreError> {
        let settings = &self.0.settings;
        let style = settings.style(at.bucket());
        let (endpoint, name) = (settings.endpoint.clone(), at.bucket().to_owned());
        Bucket::new(endpoint, style, name, settings.region.clone()).map_err(|error| StoreError::Bucket {
            bucket: at.bucket().to_owned(),
            why: error.to_string(),
        })
    }

    /// Sends a request, again where that may help.
    fn send(
        &self,
        method: Method,
        sign: impl Fn() -> Url,
        body: Bytes,
        most: usize,
    ) -> Result<StoreAnswer, StoreError> {
        self.0.runtime.block_on(async {
            let mut pauses = PAUSES.into_iter();
            loop {
                let failed = match self.send_once(&method, sign(), body.clone(), most).await {
                    Ok(answer) => return Ok(answer),
                    Err(failed) => failed,
                };
                match pauses.next().filter(|_| failed.passes) {
                    Some(pause) => sleep(Duration::from_millis(pause)).await,
                    None => return Err(failed.error),
                }
            }
        })
    }

    async fn send_once(
        &self,
        method: &Method,
        url: Url,
        body: Bytes,
        most: usize,
    ) -> Result<StoreAnswer, FailedAttempt> {
        let request = self.0.http.request(method.clone(), url).body(body);
        let response = request.send().await.map_err(|error| unreached(&error))?;
        let status = response.status();
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (etag, region) = (header(ETAG.as_str()), header("x-amz-bucket-region"));
        if status.is_success() {
            let body = content(response, most).await?;
            return Ok(StoreAnswer { etag, body });
        }
        let is_elsewhere = matches!(status.as_u16(), 301 | 307 | 400);
        if let Some(region) = region.filter(|region| is_elsewhere && *region != self.0.settings.region) {
            let error = StoreError::Region { region };
            return Err(FailedAttempt { error, passes: false });
        }
        let body = content(response, ANSWER_BYTES).await.unwrap_or_default();
        Err(FailedAttempt {
            error: StoreError::refused(status.as_u16(), &body),
            passes: status.is_server_error() || matches!(status.as_u16(), 408 | 429),
        })
    }
}

impl StoreAnswer {
    fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The body of an answer.
async fn content(response: Response, most: usize) -> Result<Vec<u8>, FailedAttempt> {
    let mut response = response;
    let mut content = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| unreached(&error))? {
        if content.len() + part.len() > most {
            let error = StoreError::TooLarge {
                mebibytes: most >> 20,
            };
            return Err(FailedAttempt { error, passes: false });
        }
        content.extend_from_slice(&part);
    }
    Ok(content)
}

/// A request without an answer. The URL is left out: it has the signature.
fn unreached(error: &reqwest::Error) -> FailedAttempt {
    let mut text = match std::error::Error::source(error) {
        Some(cause) => chain(cause),
        None => "no answer".to_owned(),
    };
    if error.is_timeout() {
        text = "it does not answer in time".to_owned();
    }
    FailedAttempt {
        error: StoreError::Unreached(text),
        // What cannot be built is not sent by another attempt either.
        passes: !error.is_builder(),
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

/// The certificates that are trusted instead of those of the system.
fn trusted(settings: &StoreSettings) -> Result<Option<Vec<Certificate>>, StoreError> {
    let Some(path) = &settings.ca_bundle else {
        // Without TLS, a system without certificates will do.
        return Ok((settings.endpoint.scheme() == "http").then(Vec::new));
    };
    let faulty = |why: String| StoreError::Certificates {
        path: path.display().to_string(),
        why,
    };
    let pem = read_certificates(path).map_err(|error| faulty(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| faulty(chain(&error)))?;
    Ok(Some(certificates))
}

/// Reads a file of certificates: a pipe would be waited for, and a device can be read without end.
fn read_certificates(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !metadata.is_file() && !metadata.is_dir() {
        return refused("not a regular file");
    }
    if metadata.len() > MAX_CERTIFICATES {
        return refused("larger than 16 MiB");
    }
    fs::read(path)
}

impl std::fmt::Debug for ObjectStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ObjectStore")
            .field(&self.0.settings)
            .finish()
    }
}

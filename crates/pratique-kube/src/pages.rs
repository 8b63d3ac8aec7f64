//! Collections of any size, page by page.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use pratique::json::{self, Value};
use pratique::types::GroupVersionKind;
use serde::{Deserialize, Serialize};

use super::rate::RateLimit;
use super::read::{ClusterReader, ReadError};
use super::requests::{PATIENCE, RequestFailure, encoded, with_kind};

/// How a collection is read.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// How many objects a page has at most, as `--chunk-size` of kubectl.
    pub chunk_size: u32,
    /// The most bytes of a page; after a larger one, fewer objects are requested.
    pub bytes: usize,
    /// How many requests there may be. Lists with the same limit share it.
    pub rate: Option<RateLimit>,
    /// How long the answer to a request may take.
    pub timeout: Duration,
    /// How long a server is waited for that cannot be reached, fails, or does not answer in time.
    pub patience: Duration,
}

impl Default for PageOptions {
    fn default() -> Self {
        PageOptions {
            chunk_size: 500,
            bytes: 16 << 20,
            rate: None,
            timeout: PATIENCE,
            patience: Duration::from_secs(60),
        }
    }
}

/// A position in a collection: the beginning by default. It can be written down, to go on from it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListPosition {
    /// The `continue` token of the server; empty for the beginning.
    #[serde(rename = "continue")]
    token: String,
    /// The version that the collection had when it began to be read.
    since: String,
    /// The key of the last object before it.
    after: String,
    /// Whether objects were listed out of the order of their keys.
    unordered: bool,
    /// Whether the collection is read at a later version than that of its beginning.
    renewed: bool,
}

/// The objects of a kind, page by page. Each page has the objects of the moment at which the first one was read, as long as the
/// server keeps these: some minutes. Then the collection is continued as it is (`410 Gone`), and what has changed in between is
/// marked. In both cases each object that is there all the time is read once: by the order of keys in which API servers list.
///
/// A returned page is not kept. Calls block the calling thread, which must not be one of a runtime.
pub struct ListPages {
    reader: ClusterReader,
    path: String,
    kind: GroupVersionKind,
    options: PageOptions,
    position: ListPosition,
    /// How many objects are requested at a time.
    chunk_size: u32,
    is_done: bool,
}

/// A page: some objects, next to one another.
pub struct ListPage {
    text: Vec<u8>,
    kind: GroupVersionKind,
    position: ListPosition,
    /// How many of its first objects were in a page before.
    listed: usize,
    /// How many other objects it has.
    count: usize,
    remaining: Option<u64>,
}

/// An object of a page.
#[derive(Clone, Debug)]
pub struct ListedObject<'p> {
    /// The object, with its version and kind.
    pub object: Value<'p>,
    /// Whether it has changed, or was created, since the collection began to be read.
    pub is_changed: bool,
}

/// How often in a row a list may expire.
const RENEWALS: u32 = 5;

/// Before the first attempt after a failure; then twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl ListPages {
    pub(super) fn new(
        reader: ClusterReader,
        path: String,
        kind: GroupVersionKind,
        position: ListPosition,
        options: PageOptions,
    ) -> Self {
        ListPages {
            reader,
            path,
            kind,
            chunk_size: options.chunk_size.max(1),
            options,
            position,
            is_done: false,
        }
    }

    /// Where the next page begins.
    pub fn position(&self) -> &ListPosition {
        &self.position
    }

    /// Reads the next page; `None` after the last one.
    ///
    /// # Errors
    /// It cannot be read. The next call tries it again.
    pub fn next_page(&mut self) -> Result<Option<ListPage>, ReadError> {
        let mut renewals = 0;
        let mut pauses = RetryDelays::new(self.options.patience);
        while !self.is_done {
            let text = match self.ask() {
                Ok(text) => text,
                Err(failure) => {
                    self.after_failure(failure, &mut renewals, &mut pauses)?;
                    continue;
                }
            };
            if let Some(page) = self.page(text)? {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn ask(&self) -> Result<Vec<u8>, RequestFailure> {
        if let Some(rate) = &self.options.rate {
            rate.wait();
        }
        let mut path = format!("{}?limit={}", self.path, self.chunk_size);
        if !self.position.token.is_empty() {
            path += &format!("&continue={}", encoded(&self.position.token));
        }
        let (bytes, timeout) = (self.options.bytes, self.options.timeout);
        self.reader
            .run(|requests| async move { requests.get_once(&path, bytes, timeout).await })
    }

    /// Prepares to request the page again after a failure.
    fn after_failure(
        &mut self,
        failure: RequestFailure,
        renewals: &mut u32,
        pauses: &mut RetryDelays,
    ) -> Result<(), ReadError> {
        let RequestFailure {
            error,
            passes,
            continues,
        } = failure;
        match error {
            ReadError::TooLarge { .. } if self.chunk_size > 1 => {
                self.chunk_size /= 2;
                Ok(())
            }
            ReadError::Refused { code: 410, .. }
                if *renewals < RENEWALS && !self.position.token.is_empty() =>
            {
                *renewals += 1;
                self.renew(continues)
            }
            error if passes && pauses.pause() => {
                drop(error);
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Continues at the current version of the collection: with the server's new token, or else from the beginning,
    /// where objects that were listed already are recognised by their keys.
    // Upstream: apiserver/pkg/storage/etcd3/errors.go, handleCompactedErrorForPaging
    fn renew(&mut self, continues: String) -> Result<(), ReadError> {
        if continues.is_empty() && self.position.unordered {
            return Err(ReadError::Expired);
        }
        self.position.token = continues;
        self.position.renewed = true;
        Ok(())
    }

    /// The page that an answer is; `None` if all of its objects were listed before.
    fn page(&mut self, text: Vec<u8>) -> Result<Option<ListPage>, ReadError> {
        let answer = PageAnswer::parse(&text)?;
        if !answer.token.is_empty() && answer.token == self.position.token {
            let why = "the server gives the same page again";
            return Err(ReadError::Failed(why.to_owned()));
        }
        if self.position.since.is_empty() {
            self.position.since = answer.version;
        }
        let begins = self.position.clone();
        let listed = if begins.renewed && !begins.unordered {
            answer.keys.iter().take_while(|key| **key <= begins.after).count()
        } else {
            0
        };
        let count = answer.keys.len().saturating_sub(listed);
        for key in answer.keys.into_iter().skip(listed) {
            self.position.unordered |= !self.position.after.is_empty() && key <= self.position.after;
            self.position.after = key;
        }
        self.position.token = answer.token;
        self.is_done = self.position.token.is_empty();
        if text.len() <= self.options.bytes / 2 {
            let doubled = self.chunk_size.saturating_mul(2);
            self.chunk_size = doubled.min(self.options.chunk_size.max(1));
        }
        let page = ListPage {
            text,
            kind: self.kind.clone(),
            position: begins,
            listed,
            count,
            remaining: answer.remaining,
        };
        Ok((count > 0).then_some(page))
    }
}

/// The metadata of a page.
struct PageAnswer {
    keys: Vec<String>,
    version: String,
    token: String,
    remaining: Option<u64>,
}

impl PageAnswer {
    fn parse(text: &[u8]) -> Result<Self, ReadError> {
        let list = json::parse(text).map_err(|error| ReadError::Failed(error.to_string()))?;
        let metadata = |name| list.at(&["metadata", name]);
        let text_at = |name| metadata(name).and_then(Value::as_str).unwrap_or_default();
        let items = list.get("items").and_then(Value::as_array).unwrap_or_default();
        let remaining = metadata("remainingItemCount").and_then(Value::as_int);
        Ok(PageAnswer {
            keys: items.iter().map(key).collect(),
            version: text_at("resourceVersion").to_owned(),
            token: text_at("continue").to_owned(),
            remaining: remaining.and_then(|remaining| u64::try_from(remaining).ok()),
        })
    }
}

impl ListPage {
    /// Where it begins: a list from there has this page, and those after it.
    pub fn position(&self) -> &ListPosition {
        &self.position
    }

    /// How many objects it has; never none.
    #[allow(clippy::len_without_is_empty, reason = "no page is empty")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many objects come after it, if the server reports that.
    pub fn left(&self) -> Option<u64> {
        self.remaining
    }

    /// Its objects.
    ///
    /// # Errors
    /// It is not a list. It was one when it was read.
    pub fn objects(&self) -> Result<impl Iterator<Item = ListedObject<'_>>, ReadError> {
        let list = json::parse(&self.text).map_err(|error| ReadError::Failed(error.to_string()))?;
        let items = match list {
            Value::Object(mut list) => list.remove("items"),
            _ => None,
        };
        let items: Vec<Value<'_>> = match items {
            Some(Value::Array(items)) => items.into_iter().collect(),
            _ => Vec::new(),
        };
        let objects = items.into_iter().skip(self.listed);
        Ok(objects.map(|object| ListedObject {
            is_changed: self.is_changed(&object),
            object: with_kind(object, &self.kind),
        }))
    }

    /// Whether an object is of a later version than the collection when it began to be read.
    // Upstream: apimachinery/pkg/util/resourceversion/resourceversion.go, CompareResourceVersion
    fn is_changed(&self, object: &Value<'_>) -> bool {
        let version = object
            .at(&["metadata", "resourceVersion"])
            .and_then(Value::as_str);
        let numbers = (
            version.and_then(|version| version.parse::<u64>().ok()),
            self.position.since.parse::<u64>().ok(),
        );
        match numbers {
            (Some(version), Some(since)) => version > since,
            // Versions of other servers have no order.
            _ => self.position.renewed,
        }
    }
}

/// The key by which API servers order objects: their place in etcd.
fn key(object: &Value<'_>) -> String {
    let text = |name| object.at(&["metadata", name]).and_then(Value::as_str);
    match (
        text("namespace").unwrap_or_default(),
        text("name").unwrap_or_default(),
    ) {
        ("", name) => name.to_owned(),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// Pauses between attempts, for some time in all.
struct RetryDelays {
    until: Instant,
    next: Duration,
}

impl RetryDelays {
    fn new(patience: Duration) -> Self {
        RetryDelays {
            until: Instant::now() + patience,
            next: FIRST_PAUSE,
        }
    }

    /// Waits; false once it has waited for long enough.
    fn pause(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(self.next.min(left));
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        true
    }
}

impl fmt::Debug for ListPages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ListPages { path, position, .. } = self;
        let mut output = formatter.debug_struct("ListPages");
        output.field("path", path).field("position", position);
        output.finish_non_exhaustive()
    }
}

impl fmt::Debug for ListPage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = formatter.debug_struct("ListPage");
        output.field("kind", &self.kind).field("position", &self.position);
        output.finish_non_exhaustive()
    }
}

//! Writes an object part by part.

use std::io::{self, Write};

use bytes::Bytes;

use crate::{ObjectStore, StoreError, StoreLocation};

/// How many bytes the first parts have: all but the last must have 5 MiB.
const PART: usize = 8 << 20;
/// After so many parts, they become larger: an upload has no more than 10,000.
const PARTS_OF_A_SIZE: usize = 1000;
const MAX_PARTS: u16 = 10_000;

/// An object that is written part by part. It is there once it is [finished](Self::finish); what is dropped before that is
/// given up.
pub struct ObjectWriter {
    store: ObjectStore,
    at: StoreLocation,
    buffer: Vec<u8>,
    upload: Option<String>,
    tags: Vec<String>,
}

impl ObjectWriter {
    pub(crate) fn new(store: ObjectStore, at: StoreLocation) -> Self {
        ObjectWriter {
            store,
            at,
            buffer: Vec::new(),
            upload: None,
            tags: Vec::new(),
        }
    }

    /// Writes what is left, and makes the object.
    ///
    /// # Errors
    /// The store does not take it.
    pub fn finish(mut self) -> Result<(), StoreError> {
        // What is small is written at once.
        if self.upload.is_none() {
            return self.store.write(&self.at, std::mem::take(&mut self.buffer));
        }
        if !self.buffer.is_empty() {
            self.part()?;
        }
        let upload = self.upload.clone().unwrap_or_default();
        self.store.complete_upload(&self.at, &upload, &self.tags)?;
        self.upload = None;
        Ok(())
    }

    /// Uploads what is held as a part.
    fn part(&mut self) -> Result<(), StoreError> {
        let upload = match &self.upload {
            Some(upload) => upload.clone(),
            None => self.upload.insert(self.store.create_upload(&self.at)?).clone(),
        };
        let number = u16::try_from(self.tags.len() + 1).unwrap_or(u16::MAX);
        if number > MAX_PARTS {
            return Err(StoreError::Answer(format!(
                "an object has no more than {MAX_PARTS} parts"
            )));
        }
        let content = Bytes::from(std::mem::take(&mut self.buffer));
        let tag = self.store.upload_part(&self.at, &upload, number, content)?;
        self.tags.push(tag);
        Ok(())
    }

    /// How many bytes the next part has.
    fn part_size(&self) -> usize {
        PART.saturating_mul(1 + self.tags.len() / PARTS_OF_A_SIZE)
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.part_size().saturating_sub(self.buffer.len());
        let count = bytes.len().min(room);
        self.buffer
            .extend_from_slice(bytes.get(..count).unwrap_or_default());
        if self.buffer.len() >= self.part_size() {
            self.part()?;
        }
        Ok(count)
    }

    /// Nothing: a part that is too small would not be taken.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            // The error that led here is the one that counts.
            let _ = self.store.abort_upload(&self.at, &upload);
        }
    }
}

impl std::fmt::Debug for ObjectWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ObjectWriter")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

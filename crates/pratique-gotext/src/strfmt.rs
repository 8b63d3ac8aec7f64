//! Formats of strings as schemas name them: `k8s.io/kube-openapi`'s `validation/strfmt`.
//!
//! ```
//! use pratique_gotext::strfmt::{is_date, is_uuid};
//!
//! assert!(is_uuid("123e4567-e89b-12d3-a456-426614174000"));
//! assert!(is_date("2024-02-29") && !is_date("2023-02-29"));
//! ```

mod base64;
mod date;
mod uuid;

pub use base64::is_base64;
pub use date::{is_date, is_datetime};
pub use uuid::is_uuid;

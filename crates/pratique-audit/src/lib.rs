//! Audit events of admission, written as JSON lines beside the request path.

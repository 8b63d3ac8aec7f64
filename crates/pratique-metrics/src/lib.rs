//! The metric families of admission control, by the names that an API server gives them.

//! Schema types of Kubernetes admission: requests, reviews, statuses and configuration

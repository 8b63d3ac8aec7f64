//! JSON documents as borrowed, immutable values, read the way a Kubernetes API server reads them

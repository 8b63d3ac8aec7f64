//! Strict loading of static admission manifests: positions, decoding, defaulting, validation

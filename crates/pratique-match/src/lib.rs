//! Which admission policies and webhooks a request meets: rules, scopes and selectors

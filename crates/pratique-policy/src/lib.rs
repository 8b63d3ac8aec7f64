//! ValidatingAdmissionPolicy, compiled and evaluated

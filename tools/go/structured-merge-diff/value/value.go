// Package value has what the runtime of Kubernetes 1.38 asks of version 7, as version 6 has it.
package value

import "sigs.k8s.io/structured-merge-diff/v6/value"

// TypeReflectEntryOf says how values of a type are converted.
var TypeReflectEntryOf = value.TypeReflectEntryOf

// OmitZeroFunc says whether a value of a type is left out.
var OmitZeroFunc = value.OmitZeroFunc

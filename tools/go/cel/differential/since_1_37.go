//go:build !kubernetes_before_1_37

package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
)

func setObjects(versioned *admission.VersionedAttributes, object, old runtime.Object) {
	if object != nil {
		versioned.VersionedObject.Set(object)
	}
	if old != nil {
		versioned.VersionedOldObject.Set(old)
	}
}

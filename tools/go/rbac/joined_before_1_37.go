//go:build kubernetes_before_1_37

package main

import (
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"
)

func joined(first, second authorizer.Authorizer) authorizer.Authorizer {
	return union.New(first, second)
}

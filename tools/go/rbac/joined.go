//go:build !kubernetes_before_1_37

package main

import (
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"
)

// joined asks one authorizer after the other. Since 1.37 they have names.
func joined(first, second authorizer.Authorizer) authorizer.Authorizer {
	all, err := union.New(
		union.NamedAuthorizer{AuthorizerName: "first", Authorizer: first},
		union.NamedAuthorizer{AuthorizerName: "second", Authorizer: second},
	)
	if err != nil {
		panic(err)
	}
	return all
}

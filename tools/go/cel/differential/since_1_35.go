//go:build !kubernetes_before_1_35

package main

import "k8s.io/apiserver/pkg/cel/environment"

func baseEnvironment() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
}

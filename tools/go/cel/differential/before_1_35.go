//go:build kubernetes_before_1_35

package main

import "k8s.io/apiserver/pkg/cel/environment"

// baseEnvironment has the costs that policies have since 1.32, where StrictCostEnforcementForVAP cannot be turned off.
func baseEnvironment() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion(), true)
}

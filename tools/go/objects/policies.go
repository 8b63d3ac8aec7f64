//go:build !kubernetes_before_1_36

package main

import policyconfigv1 "k8s.io/apiserver/pkg/admission/plugin/policy/config/apis/policyconfig/v1"

// Since 1.36 the plugins of policies are configured.
func init() {
	others = append(others, policyconfigv1.ValidatingAdmissionPolicyConfiguration{}, policyconfigv1.MutatingAdmissionPolicyConfiguration{})
}

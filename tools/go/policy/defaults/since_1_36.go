//go:build !kubernetes_before_1_36

package defaults

import registration "k8s.io/api/admissionregistration/v1"

func setMutatingMatch(match *registration.MatchResources) { setMatch(match) }

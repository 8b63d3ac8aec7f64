package main

// byHand has objects by version and kind that random generation does not find.
var byHand = map[string][]string{
	"autoscaling/v1 HorizontalPodAutoscaler": {
		`{"metadata":{"name":"empty"},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1}}`,
		`{"metadata":{"name":"metrics","annotations":{"a":"b","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"S\",\"name\":\"s\"},\"metricName\":\"m\",\"targetValue\":\"1000m\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}},{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"S\",\"name\":\"s\",\"apiVersion\":\"v1\"},\"metricName\":\"m\",\"targetValue\":\"0\",\"averageValue\":\"3\"}},{\"type\":\"Pods\",\"pods\":{\"metricName\":\"p\",\"targetAverageValue\":\"5\"}},{\"type\":\"External\",\"external\":{\"metricName\":\"e\",\"targetAverageValue\":\"1k\"}},{\"type\":\"External\",\"external\":{\"metricName\":\"e\",\"targetValue\":\"1k\",\"metricSelector\":{}}},{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"container\":\"c\",\"targetAverageUtilization\":5}}]"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1,"targetCPUUtilizationPercentage":50}}`,
		`{"metadata":{"name":"cases","annotations":{"autoscaling.alpha.kubernetes.io/metrics":" [ {\"TYPE\":\"Resource\",\"Resource\":{\"NAME\":\"memory\",\"unknown\":[1]}}, null ] "}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1}}`,
		`{"metadata":{"name":"null","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"null","autoscaling.alpha.kubernetes.io/current-metrics":"null","autoscaling.alpha.kubernetes.io/conditions":"null","autoscaling.alpha.kubernetes.io/behavior":"null"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1},"status":{"currentReplicas":1,"desiredReplicas":2,"currentCPUUtilizationPercentage":7}}`,
		`{"metadata":{"name":"broken","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":1}]","autoscaling.alpha.kubernetes.io/current-metrics":"[","autoscaling.alpha.kubernetes.io/conditions":"{}","autoscaling.alpha.kubernetes.io/behavior":"\"\""}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1},"status":{"currentReplicas":1,"desiredReplicas":2,"currentCPUUtilizationPercentage":7}}`,
		`{"metadata":{"name":"quantity","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"p\",\"targetAverageValue\":\"x\"}}]","autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":{\"Tolerance\":\"100m\",\"Policies\":null},\"scaledown\":{\"stabilizationWindowSeconds\":3,\"selectPolicy\":\"Min\",\"policies\":[{\"type\":\"Pods\",\"value\":1,\"periodseconds\":2}]}}"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1,"targetCPUUtilizationPercentage":0}}`,
		`{"metadata":{"name":"status","annotations":{"autoscaling.alpha.kubernetes.io/current-metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":9,\"currentAverageValue\":\"10m\"}},{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"S\",\"name\":\"s\"},\"metricName\":\"m\",\"currentValue\":\"1\"}},{\"type\":\"Pods\",\"pods\":{\"metricName\":\"p\",\"currentAverageValue\":\"5\"}},{\"type\":\"External\",\"external\":{\"metricName\":\"e\",\"currentValue\":\"0\",\"currentAverageValue\":\"1k\"}},{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"container\":\"c\",\"currentAverageValue\":\"1\"}}]","autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":\"2024-01-02T03:04:05Z\",\"reason\":\"r\",\"message\":\"<m>\"},{\"type\":\"T\",\"status\":\"False\",\"lastTransitionTime\":null}]"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1},"status":{"currentReplicas":1,"desiredReplicas":2,"currentCPUUtilizationPercentage":7}}`,
	},
	"autoscaling/v2 HorizontalPodAutoscaler": {
		`{"metadata":{"name":"two","annotations":{"a":"b","autoscaling.alpha.kubernetes.io/metrics":"[]","autoscaling.alpha.kubernetes.io/scale-up-tolerance":"1"}},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1,"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":1}}},{"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue","averageValue":"2"}}},{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}},{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},{"type":"External","external":{"metric":{"name":"<m>","selector":{"matchLabels":{"b":"c","a":"é"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]},{"key":"l","operator":"Exists"}]}},"target":{"type":"Value","value":"1500m"}}},{"type":"Pods","pods":{"metric":{"name":"p"},"target":{"type":"AverageValue"}}},{"type":"Object","object":{"describedObject":{"kind":"S","name":"s"},"target":{"type":"AverageValue","averageValue":"1"},"metric":{"name":"o"}}}],"behavior":{}},"status":{"desiredReplicas":2,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":5,"averageValue":"1"}}},{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":6}}},{"type":""}],"conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":"2024-01-02T03:04:05Z","reason":"r","message":"m\n\"\\\u2028"},{"type":"T","status":"False"}]}}`,
		`{"metadata":{"name":"tolerance"},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":1,"behavior":{"scaleUp":{"tolerance":"50m"},"scaleDown":{"policies":[]}}},"status":{"desiredReplicas":2,"currentMetrics":[]}}`,
	},
	"apps/v1 Deployment": {
		`{"metadata":{"name":"d","annotations":{"deprecated.deployment.rollback.to":"7"}}}`,
		`{"metadata":{"name":"d","annotations":{"a":"b","deprecated.deployment.rollback.to":""}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.deployment.rollback.to":"x"}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.deployment.rollback.to":"9223372036854775808"}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.deployment.rollback.to":"+007"}}}`,
	},
	"apps/v1beta1 Deployment": {
		`{"metadata":{"name":"d"},"spec":{"rollbackTo":{}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.deployment.rollback.to":"x"}},"spec":{"rollbackTo":{"revision":3}}}`,
	},
	"apps/v1 DaemonSet": {
		`{"metadata":{"name":"d","annotations":{"deprecated.daemonset.template.generation":"7"}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.daemonset.template.generation":""}}}`,
		`{"metadata":{"name":"d","annotations":{"deprecated.daemonset.template.generation":"-"}}}`,
	},
	"apps/v1beta1 Scale": {
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":{"b":"c","a":""}}}`,
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":{"b":"c"},"targetSelector":"a in (b)"}}`,
	},
	"autoscaling/v1 Scale": {
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":"a=b,c==d"}}`,
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":"a=b,c in (d)"}}`,
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":"a=,b"}}`,
		`{"metadata":{"name":"s"},"status":{"replicas":1,"selector":"a=b=c"}}`,
	},
	"policy/v1 PodDisruptionBudget": {
		`{"metadata":{"name":"none"},"spec":{}}`,
		`{"metadata":{"name":"all"},"spec":{"selector":{}}}`,
		`{"metadata":{"name":"exists"},"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]}}}`,
		`{"metadata":{"name":"mixed"},"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"},{"key":"k","operator":"Exists"}]}}}`,
		`{"metadata":{"name":"misses"},"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"DoesNotExist"}]}}}`,
	},
	"policy/v1beta1 PodDisruptionBudget": {
		`{"metadata":{"name":"none"},"spec":{}}`,
		`{"metadata":{"name":"empty"},"spec":{"selector":{}}}`,
		`{"metadata":{"name":"exists"},"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]}}}`,
		`{"metadata":{"name":"misses"},"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"DoesNotExist"}]}}}`,
	},
	"resource.k8s.io/v1 ResourceClaim": {
		`{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"a","exactly":{}},{"name":"b","exactly":{"deviceClassName":"x","selectors":[{"cel":{"expression":"true"}}],"allocationMode":"ExactCount","count":2,"adminAccess":false,"tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":0}],"capacity":{"requests":{"m":"1Gi"}}}},{"name":"c","firstAvailable":[{"name":"s","deviceClassName":"y"}]},{"name":"d"}]}}}`,
	},
	"resource.k8s.io/v1beta1 ResourceClaim": {
		`{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"a"},{"name":"b","deviceClassName":"x","selectors":[{"cel":{"expression":"true"}}],"allocationMode":"ExactCount","count":2,"adminAccess":false,"tolerations":[{"key":"k","operator":"Exists"}],"capacity":{}},{"name":"c","firstAvailable":[{"name":"s","deviceClassName":"y"}],"count":1},{"name":"d","capacity":{}},{"name":"e","adminAccess":false}]}}}`,
	},
	"resource.k8s.io/v1 ResourceSlice": {
		`{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p","generation":1,"resourceSliceCount":1},"nodeName":"","allNodes":false,"devices":[{"name":"a"},{"name":"b","attributes":{"x":{"string":""},"y":{"bool":false}},"capacity":{"m":{"value":"1Gi"}},"nodeName":"n","allNodes":false,"taints":[{"key":"k","effect":"NoSchedule"}]}]}}`,
	},
	"resource.k8s.io/v1beta1 ResourceSlice": {
		`{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"a"},{"name":"b","basic":{}},{"name":"c","basic":{"attributes":{"x":{"int":0},"z":{"version":"1.0.0"}},"capacity":{"m":{"value":"1Gi"}},"bindsToNode":true,"bindingConditions":["b"],"allowMultipleAllocations":false}}]}}`,
	},
	"networking.k8s.io/v1 Ingress": {
		`{"metadata":{"name":"i"},"spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"n","number":80}}},"rules":[{"host":"h","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}},{"backend":{"resource":{"kind":"K","name":"r"}}},{"backend":{"service":{"name":"","port":{}}}}]}},{"host":"none"}]}}`,
	},
	"networking.k8s.io/v1beta1 Ingress": {
		`{"metadata":{"name":"i"},"spec":{"backend":{"serviceName":"s","servicePort":"n"},"rules":[{"host":"h","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"serviceName":"s","servicePort":80}},{"backend":{"resource":{"kind":"K","name":"r"},"servicePort":0}},{"backend":{"servicePort":""}},{"backend":{"servicePort":8}}]}},{"host":"none"}]}}`,
	},
	"discovery.k8s.io/v1beta1 EndpointSlice": {
		`{"metadata":{"name":"e"},"addressType":"IPv4","endpoints":[{"addresses":["1.2.3.4"],"nodeName":"n","topology":{"kubernetes.io/hostname":"n","topology.kubernetes.io/zone":"z"}},{"addresses":[],"nodeName":"n","topology":{"kubernetes.io/hostname":"m","a":"b"}},{"addresses":null,"topology":{}},{"topology":{"kubernetes.io/hostname":""}}]}`,
	},
	"discovery.k8s.io/v1 EndpointSlice": {
		`{"metadata":{"name":"e"},"addressType":"IPv4","endpoints":[{"addresses":["1.2.3.4"],"nodeName":"n","zone":"z"},{"nodeName":"","deprecatedTopology":{"kubernetes.io/hostname":"m","a":"b","topology.kubernetes.io/zone":"y"},"zone":"z"},{"nodeName":"n","deprecatedTopology":{"kubernetes.io/hostname":""}},{"deprecatedTopology":{}}]}`,
	},
	"flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration": {
		`{"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}}`,
		`{"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{}}}`,
		`{"metadata":{"name":"p","annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":"x"}},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}}`,
		`{"metadata":{"name":"p"},"spec":{"type":"Exempt","exempt":{"nominalConcurrencyShares":0}}}`,
	},
	"flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration": {
		`{"metadata":{"name":"p","annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""}},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}}`,
	},
	"rbac.authorization.k8s.io/v1alpha1 RoleBinding": {
		`{"metadata":{"name":"r"},"subjects":[{"kind":"User","apiVersion":"x/v1","name":"*"},{"kind":"User","name":"u"},{"kind":"Group","name":"*"},{"kind":"ServiceAccount","apiVersion":"v1","name":"s","namespace":"n"},{"kind":"Other","apiVersion":"a/b","name":"o"},{"kind":"Other","apiVersion":"a/b/c","name":"o"},{"kind":"Other","apiVersion":"v1","name":"o"},{"kind":"Other","apiVersion":"/","name":"o"}],"roleRef":{"apiGroup":"g","kind":"Role","name":"r"}}`,
	},
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": {
		`{"metadata":{"name":"r"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"*"},{"kind":"User","name":"u"},{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"},{"kind":"ServiceAccount","apiGroup":"x","name":"s"},{"kind":"Other","apiGroup":"a","name":"o"}],"roleRef":{"apiGroup":"g","kind":"Role","name":"r"}}`,
	},
	"apiextensions.k8s.io/v1 CustomResourceDefinition": {
		`{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"cs","kind":"C"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer","minimum":1,"default":null,"enum":[1,null]}}}},"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"n","type":"string","jsonPath":".a"}],"selectableFields":[{"jsonPath":".a"}]}],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://x","caBundle":"YQ=="},"conversionReviewVersions":["v1"]}}}}`,
		`{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"cs","kind":"C"},"scope":"Cluster","preserveUnknownFields":true,"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},"additionalPrinterColumns":[{"name":"n","type":"string","jsonPath":".a"}]},{"name":"v2","served":true,"storage":false,"deprecated":true,"deprecationWarning":"","schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"additionalPrinterColumns":[{"name":"n","type":"string","jsonPath":".a"}]}],"conversion":{"strategy":"None"}}}`,
		`{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"cs","kind":"C"},"scope":"Cluster","versions":[],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}},"conversionReviewVersions":null}}}}`,
		`{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"cs","kind":"C"},"scope":"Cluster","versions":[],"conversion":{"strategy":"Webhook","webhook":{}}}}`,
	},
	"apiextensions.k8s.io/v1beta1 CustomResourceDefinition": {
		`{"metadata":{"name":"c"},"spec":{"group":"g","version":"v1","names":{"plural":"cs","kind":"C"},"scope":"Namespaced","validation":{"openAPIV3Schema":{"type":"object"}},"subresources":{"scale":{"specReplicasPath":".a","statusReplicasPath":".b"}},"additionalPrinterColumns":[{"name":"n","type":"string","JSONPath":".a","priority":1}]}}`,
		`{"metadata":{"name":"c"},"spec":{"group":"g","version":"v1","names":{"plural":"cs","kind":"C"},"scope":"Namespaced","preserveUnknownFields":false,"versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true,"storage":false,"additionalPrinterColumns":[{"name":"n","type":"string","JSONPath":".a"}]}],"validation":{"openAPIV3Schema":{"type":"object"}},"conversion":{"strategy":"Webhook","webhookClientConfig":{"service":{"namespace":"n","name":"s"}},"conversionReviewVersions":["v1beta1"]}}}`,
		`{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"cs","kind":"C"},"scope":"","conversion":{"strategy":"Webhook","conversionReviewVersions":[]}}}`,
	},
	"admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration": {
		`{"metadata":{"name":"v"},"webhooks":[{"name":"w","clientConfig":{"service":{"namespace":"n","name":"s"}},"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}]}`,
	},
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": {
		`{"metadata":{"name":"v"},"webhooks":[{"name":"w","clientConfig":{"service":{"namespace":"n","name":"s"}}}]}`,
	},
	"apiregistration.k8s.io/v1 APIService": {
		`{"metadata":{"name":"a"},"spec":{"service":{"namespace":"n","name":"s"}}}`,
	},
	"apiregistration.k8s.io/v1beta1 APIService": {
		`{"metadata":{"name":"a"},"spec":{"service":{"namespace":"n","name":"s"}}}`,
	},
	"apps/v1 StatefulSet": {
		`{"metadata":{"name":"s"},"spec":{"serviceName":"","volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"resources":{}},"status":{}},{"kind":"X","apiVersion":"y","metadata":{"name":"w"},"spec":{"resources":{}},"status":{}}]},"status":{"replicas":0}}`,
	},
	"apps/v1beta1 StatefulSet": {
		`{"metadata":{"name":"s"},"status":{"replicas":0}}`,
	},
}

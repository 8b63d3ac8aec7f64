package main

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcequotav1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1"
	resourcequotav1alpha1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1alpha1"
	resourcequotav1beta1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1beta1"
	webhookadmissionv1 "k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	apiserverv1alpha1 "k8s.io/apiserver/pkg/apis/apiserver/v1alpha1"
	kubeconfigv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	eventratelimitv1alpha1 "k8s.io/kubernetes/plugin/pkg/admission/eventratelimit/apis/eventratelimit/v1alpha1"
	tolerationsv1alpha1 "k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction/apis/podtolerationrestriction/v1alpha1"
	podsecurityv1 "k8s.io/pod-security-admission/admission/api/v1"
	podsecurityv1alpha1 "k8s.io/pod-security-admission/admission/api/v1alpha1"
	podsecurityv1beta1 "k8s.io/pod-security-admission/admission/api/v1beta1"
)

// others are types of no kind in the schemes: configuration, values of annotations, and types that every group has.
var others = []any{
	apiserverv1.AdmissionConfiguration{}, apiserverv1alpha1.AdmissionConfiguration{},
	webhookadmissionv1.WebhookAdmission{}, kubeconfigv1.Config{},
	podsecurityv1.PodSecurityConfiguration{}, podsecurityv1beta1.PodSecurityConfiguration{},
	podsecurityv1alpha1.PodSecurityConfiguration{}, resourcequotav1.Configuration{},
	resourcequotav1beta1.Configuration{}, resourcequotav1alpha1.Configuration{},
	eventratelimitv1alpha1.Configuration{}, tolerationsv1alpha1.Configuration{},
	autoscalingv1.HorizontalPodAutoscalerCondition{}, autoscalingv1.MetricSpec{}, autoscalingv1.MetricStatus{},
	metav1.List{}, metav1.TypeMeta{},
}

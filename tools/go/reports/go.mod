// The definitions of PolicyReports and of the reports of OpenReports, which Kyverno publishes: no package is built.
module github.com/pratique/pratique/tools/go/reports

go 1.26.0

require github.com/kyverno/kyverno v1.19.1

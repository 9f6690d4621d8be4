package answer

import "time"

// The part of SARIF 2.1.0 (OASIS, sarif-schema-2.1.0.json) that an answer needs.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool            `json:"tool"`
	Automation  sarifAutomation      `json:"automationDetails"`
	Invocations []sarifInvocation    `json:"invocations"`
	Bases       map[string]sarifBase `json:"originalUriBaseIds,omitempty"`
	Column      string               `json:"columnKind"`
	Results     []sarifResult        `json:"results"`
	Properties  map[string]any       `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	URI   string      `json:"informationUri"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string         `json:"id"`
	Short   sarifMessage   `json:"shortDescription"`
	Full    *sarifMessage  `json:"fullDescription,omitempty"`
	Help    *sarifMessage  `json:"help,omitempty"`
	HelpURI string         `json:"helpUri,omitempty"`
	Default sarifDefault   `json:"defaultConfiguration"`
	Props   map[string]any `json:"properties,omitempty"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string         `json:"level"`
	Message sarifMessage   `json:"message"`
	Props   map[string]any `json:"properties,omitempty"`
}

type sarifBase struct {
	Description sarifMessage `json:"description"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Kind         string             `json:"kind"`
	Level        string             `json:"level"`
	Message      sarifMessage       `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	CodeFlows    []sarifCodeFlow    `json:"codeFlows,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions"` // empty: known to be not suppressed
	Properties   map[string]any     `json:"properties,omitempty"`
}

// sarifSuppression is what accepts a result (SARIF 2.1.0, 3.35).
type sarifSuppression struct {
	Kind          string         `json:"kind"`
	Status        string         `json:"status"`
	Justification string         `json:"justification"`
	Props         map[string]any `json:"properties"`
}

type sarifLocation struct {
	ID       *int           `json:"id,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	Message  *sarifMessage  `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLogical struct {
	Name string `json:"name,omitempty"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifCodeFlow struct {
	Message sarifMessage      `json:"message"`
	Threads []sarifThreadFlow `json:"threadFlows"`
}

type sarifThreadFlow struct {
	Steps []sarifStep `json:"locations"`
}

type sarifStep struct {
	Location   sarifLocation `json:"location"`
	Nesting    int           `json:"nestingLevel"`
	Importance string        `json:"importance"`
	When       *time.Time    `json:"executionTimeUtc,omitempty"`
}

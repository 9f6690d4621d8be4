package onhost

import "github.com/rollcall-project/rollcall/internal/source/yamlin"

// maxPod bounds a manifest as JSON.
const maxPod = 8 << 20

// Parse reads the pod of a manifest, or an error if the manifest is not a pod.
func (m *Manifest) Parse(raw []byte) {
	var pod struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Spec struct {
			Containers []struct {
				Name string `json:"name"`
			} `json:"containers"`
		} `json:"spec"`
	}
	if err := yamlin.Unmarshal(raw, &pod, maxPod); err != nil || pod.Metadata.Name == "" {
		m.Problem = "it is not a pod"
		return
	}
	m.Namespace, m.Pod = pod.Metadata.Namespace, pod.Metadata.Name
	for _, c := range pod.Spec.Containers {
		m.Containers = append(m.Containers, c.Name)
	}
}

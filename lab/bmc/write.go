package bmc

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// write does what changes something: a reset, the boot override, virtual media.
func (b *BMC) write(w http.ResponseWriter, r *http.Request, path string) {
	var body map[string]any
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON", "The request body submitted was malformed JSON and could not be parsed by the receiving service.")
		return
	}
	slot, action := b.slotOf(path)
	switch {
	case r.Method == http.MethodPost && path == b.SystemPath()+"/Actions/ComputerSystem.Reset":
		b.reset(w, text(body, "ResetType"))
	case r.Method == http.MethodPatch && path == b.SystemPath():
		b.patchSystem(w, body)
	case r.Method == http.MethodPatch && path == root+"/Managers/"+b.shape().manager:
		b.patchClock(w, body)
	case r.Method == http.MethodPost && slot != "" && action == "VirtualMedia.InsertMedia" && b.shape().insert != byPatch:
		b.insert(w, slot, text(body, "Image"))
	case r.Method == http.MethodPost && slot != "" && action == "VirtualMedia.EjectMedia" && b.shape().insert != byPatch:
		b.eject(w, slot)
	case r.Method == http.MethodPatch && slot != "" && action == "" && b.shape().insert == byPatch:
		if text(body, "Image") != "" {
			b.insert(w, slot, text(body, "Image"))
			return
		}
		b.eject(w, slot)
	default:
		b.mu.Lock()
		_, known := b.tree()[path]
		b.mu.Unlock()
		if !known {
			notFound(w, path)
			return
		}
		fail(w, http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
	}
}

// resetTypes are what a reset may ask for, and what becomes of the power.
var resetTypes = map[string]bool{
	"On": true, "ForceOn": true, "ForceOff": false, "GracefulShutdown": false,
	"ForceRestart": true, "GracefulRestart": true,
}

func (b *BMC) reset(w http.ResponseWriter, kind string) {
	on, ok := resetTypes[kind]
	if !ok {
		fail(w, http.StatusBadRequest, "ActionParameterValueNotInList", "The value for the parameter ResetType in the action ComputerSystem.Reset is "+
			"not in the list of acceptable values.")
		return
	}
	b.mu.Lock()
	if b.trouble.PowerStuck {
		b.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	b.on = on
	boot := Boot{Target: "None"}
	if on && b.override.enabled != "Disabled" {
		boot.Target = b.override.target
		if boot.Target == "UefiHttp" {
			boot.Image = b.override.uri
		}
		if b.override.enabled == "Once" {
			b.override.enabled, b.override.target = "Disabled", "None"
		}
	}
	for _, s := range b.shape().slots {
		if boot.Image == "" && boot.Target != "UefiHttp" && slices.Contains(s.types, "CD") {
			boot.Image = b.media[s.id]
		}
	}
	changed := b.cfg.PowerChanged
	b.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	if changed != nil {
		changed(on, boot)
	}
}

func (b *BMC) patchSystem(w http.ResponseWriter, body map[string]any) {
	boot, ok := body["Boot"].(map[string]any)
	if !ok || len(body) != 1 {
		fail(w, http.StatusBadRequest, "PropertyNotWritable", "Only the property Boot is writable on this resource.")
		return
	}
	next := override{enabled: text(boot, "BootSourceOverrideEnabled"), target: text(boot, "BootSourceOverrideTarget"),
		mode: text(boot, "BootSourceOverrideMode")}
	b.mu.Lock()
	defer b.mu.Unlock()
	next.uri = b.override.uri
	if uri, sent := boot["HttpBootUri"]; sent {
		if !b.cfg.HTTPBoot {
			fail(w, http.StatusBadRequest, "PropertyUnknown", "The property HttpBootUri is not in the list of valid properties for the resource.")
			return
		}
		next.uri, _ = uri.(string)
	}
	// What is not sent stays, but for Supermicro, which wants to be told
	// (openstack/sushy:sushy/resources/system/system.py set_system_boot_options).
	if next.enabled == "" && b.cfg.Vendor == Supermicro && next.uri == b.override.uri {
		fail(w, http.StatusBadRequest, "PropertyMissing", "The property BootSourceOverrideEnabled is a required property and must be included in the request.")
		return
	}
	next.enabled = or(next.enabled, b.override.enabled)
	next.target = or(next.target, b.override.target)
	next.mode = or(next.mode, b.override.mode)
	if !slices.Contains([]string{"Disabled", "Once", "Continuous"}, next.enabled) || !slices.Contains(b.shape().targets(), next.target) ||
		!slices.Contains([]string{"UEFI", "Legacy"}, next.mode) {
		fail(w, http.StatusBadRequest, "PropertyValueNotInList", "The value provided for a property of Boot is not in the list of acceptable values.")
		return
	}
	b.override = next
	w.WriteHeader(http.StatusNoContent)
}

// clockForm is how a controller writes a time: with its offset, in whole seconds.
const clockForm = "2006-01-02T15:04:05Z07:00"

// now is the time of the controller's clock. The caller holds the lock.
func (b *BMC) now() time.Time { return time.Now().Add(b.clockOff).In(b.shape().zone) }

// patchClock sets the controller's clock. An iLO takes its time from time servers or from the
// host, and from no one else (HPEDevCom/redfishdocs: ilos/supplementDocuments/managingTime.md).
func (b *BMC) patchClock(w http.ResponseWriter, body map[string]any) {
	at, err := time.Parse(time.RFC3339, text(body, "DateTime"))
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err != nil || len(body) != 1:
		fail(w, http.StatusBadRequest, "PropertyValueFormatError", "The value provided for the property DateTime is of a different format than the "+
			"property can accept.")
	case b.cfg.Vendor == HPE:
		fail(w, http.StatusBadRequest, "PropertyNotWritable", "The property DateTime is a read-only property and cannot be assigned a value.")
	case b.cfg.NTP:
		fail(w, http.StatusBadRequest, "PropertyNotWritable", "The property DateTime cannot be assigned a value while NTP is enabled.")
	default:
		if !b.trouble.ClockStuck {
			b.clockOff = time.Until(at)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// targets are what a system can boot from.
func (s shape) targets() []string {
	all := []string{"None", "Pxe", "Cd", "Usb", "Hdd"}
	if s.noHTTP {
		return all
	}
	return append(all, "UefiHttp")
}

// slotOf reads the virtual drive, and the action, out of a path under which the
// vendor has virtual media.
func (b *BMC) slotOf(path string) (slot, action string) {
	for _, under := range b.mediaPaths() {
		rest, ok := strings.CutPrefix(path, under+"/")
		if !ok {
			continue
		}
		slot, action, _ = strings.Cut(rest, "/Actions/")
		if slices.ContainsFunc(b.shape().slots, func(s slotShape) bool { return s.id == slot }) {
			return slot, action
		}
	}
	return "", ""
}

func (b *BMC) insert(w http.ResponseWriter, slot, image string) {
	u, err := url.Parse(image)
	if err != nil || u.Host == "" {
		fail(w, http.StatusBadRequest, "ActionParameterValueFormatError", "The value for the parameter Image in the action VirtualMedia.InsertMedia "+
			"is not a URL.")
		return
	}
	if b.cfg.Vendor == Supermicro && strings.ContainsAny(image, "?=") {
		fail(w, http.StatusBadRequest, "ActionParameterValueFormatError", "The value for the parameter Image in the action VirtualMedia.InsertMedia "+
			"is of a different format than the parameter can accept.")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.media[slot] != "" {
		fail(w, http.StatusConflict, "ResourceInUse", "The change to the requested resource failed because the resource is in use or in transition.")
		return
	}
	b.media[slot] = image
	w.WriteHeader(http.StatusNoContent)
}

func (b *BMC) eject(w http.ResponseWriter, slot string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.media, slot)
	w.WriteHeader(http.StatusNoContent)
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

package ironic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Machine is what the agent finds on the machine that it was booted on.
type Machine struct {
	Hostname, Serial, Vendor, Product string
	MACs                              []string
	Address                           string // of the first card, by DHCP
}

// Agent is what openstack/ironic-python-agent does on a machine that was booted
// from its image: ask by MAC which node this is, deliver the inventory, or say
// that it is there. It returns when somebody wanted to hear it, or with ctx.
func (m Machine) Agent(ctx context.Context, ironicURL string) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		done, err := m.call(ctx, ironicURL)
		if done || ctx.Err() != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m Machine) call(ctx context.Context, ironicURL string) (done bool, err error) {
	var found struct{ Node struct{ UUID string } }
	status, err := post(ctx, http.MethodGet, ironicURL+"/v1/lookup?addresses="+url.QueryEscape(strings.Join(m.MACs, ",")), nil, &found)
	if err != nil || status != http.StatusOK {
		return false, err
	}
	status, err = post(ctx, http.MethodPost, ironicURL+"/v1/continue_inspection?node_uuid="+found.Node.UUID,
		map[string]any{"inventory": m.inventory(), "plugin_data": map[string]any{}}, nil)
	if err != nil || status == http.StatusAccepted {
		return err == nil, err
	}
	status, err = post(ctx, http.MethodPost, ironicURL+"/v1/heartbeat/"+found.Node.UUID, map[string]any{"callback_url": "https://" + m.Address + ":9999"}, nil)
	return err == nil && status == http.StatusAccepted, err
}

func post(ctx context.Context, method, target string, body, into any) (int, error) {
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			return 0, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, target, &data)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("call ironic: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && into != nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(raw, into)
	}
	return resp.StatusCode, err
}

// inventory has the form of openstack/ironic-python-agent:ironic_python_agent/hardware.py
// list_hardware_info. The figures are those of a small server.
func (m Machine) inventory() map[string]any {
	cards := []any{}
	for n, mac := range m.MACs {
		card := map[string]any{"name": fmt.Sprintf("eno%d", n+1), "mac_address": strings.ToLower(mac), "has_carrier": true, "speed_mbps": 25000,
			"vendor": "0x14e4", "product": "0x16d7"}
		if n == 0 {
			card["ipv4_address"] = m.Address
		}
		cards = append(cards, card)
	}
	return map[string]any{
		"hostname": m.Hostname, "interfaces": cards, "bmc_address": "0.0.0.0",
		"boot": map[string]any{"current_boot_mode": "uefi", "pxe_interface": ""},
		"cpu": map[string]any{"architecture": "x86_64", "count": 16, "frequency": "2400.0000", "model_name": "x86-64 processor",
			"flags": []string{"avx", "sse"}},
		"memory": map[string]any{"physical_mb": 65536, "total": 67_000_000_000},
		"disks": []any{map[string]any{"name": "/dev/sda", "model": "SSD", "size": 480_103_981_056, "rotational": false, "serial": m.Serial +
			"-0", "hctl": "0:0:0:0"}},
		"system_vendor": map[string]any{"manufacturer": m.Vendor, "product_name": m.Product, "serial_number": m.Serial,
			"firmware": map[string]any{"vendor": m.Vendor, "version": "1.0", "build_date": "01/01/2025"}},
	}
}

package bmc

import (
	"strconv"
	"sync/atomic"
)

// addDevices adds processors, disks and network cards where the vendors have them (DMTF DSP0268:
// Processor, Drive, NetworkAdapter, Port). The figures are invented.
func (b *BMC) addDevices(t map[string]fields, system string, add adder, collect collector, at func(string) fields) {
	t[system]["Processors"], t[system]["Storage"] = at(system+"/Processors"), at(system+"/Storage")
	collect("Processor", system+"/Processors", "Processors", "1", "2")
	for _, id := range []string{"1", "2"} {
		add("Processor.v1_11_0.Processor", system+"/Processors/"+id, "Processor", fields{
			"ProcessorType": "CPU", "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Model": "x86-64 processor",
			"TotalCores": 8, "TotalThreads": 16, "Status": healthy,
		})
	}
	collect("Storage", system+"/Storage", "Storage", "1")
	drive := system + "/Storage/1/Drives/0"
	add("Storage.v1_10_0.Storage", system+"/Storage/1", "Storage", fields{"Drives": []fields{at(drive)}, "Status": healthy})
	add("Drive.v1_11_0.Drive", drive, "Drive", fields{
		"Manufacturer": "Lab", "Model": "SSD480", "SerialNumber": "D" + b.cfg.Serial, "MediaType": "SSD", "CapacityBytes": 480_103_981_056,
		"FailurePredicted": false, "Status": healthy,
	})
	adapters := root + "/Chassis/1/NetworkAdapters"
	t[root+"/Chassis/1"]["NetworkAdapters"] = at(adapters)
	collect("NetworkAdapter", adapters, "Network Adapters", "1")
	add("NetworkAdapter.v1_8_0.NetworkAdapter", adapters+"/1", "Network Adapter", fields{"Ports": at(adapters + "/1/Ports"), "Status": healthy})
	var ports []string
	for i, mac := range b.cfg.MACs {
		id := strconv.Itoa(i + 1)
		ports = append(ports, id)
		add("Port.v1_6_0.Port", adapters+"/1/Ports/"+id, "Port", fields{
			"LinkStatus": "LinkUp", "CurrentSpeedGbps": 25, "Ethernet": fields{"AssociatedMACAddresses": []string{mac}}, "Status": healthy,
		})
	}
	collect("Port", adapters+"/1/Ports", "Ports", ports...)
}

// Gauge counts requests that several controllers are answering.
type Gauge struct{ now, most atomic.Int64 }

// Most is how many there were at once at most.
func (g *Gauge) Most() int64 { return g.most.Load() }

func (g *Gauge) enter() {
	n := g.now.Add(1)
	for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
	}
}

func (g *Gauge) leave() { g.now.Add(-1) }

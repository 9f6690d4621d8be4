package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/googleapis/gax-go/v2"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/option"
)

// clients are the parts of the API that the provider calls.
type clients struct {
	instances    *compute.InstancesClient
	zones        *compute.ZonesClient
	operations   *compute.ZoneOperationsClient
	regions      *compute.RegionsClient
	machineTypes *compute.MachineTypesClient
	images       *compute.ImagesClient
	subnetworks  *compute.SubnetworksClient
	routers      *compute.RoutersClient
	firewalls    *compute.FirewallsClient
}

// newClients are those that ask an endpoint, "" for Google's, by a client.
func newClients(ctx context.Context, client *http.Client, endpoint string) (*clients, error) {
	opts := []option.ClientOption{option.WithHTTPClient(client)}
	if endpoint != "" {
		opts = append(opts, option.WithEndpoint(endpoint))
	}
	c := &clients{}
	var wrong []error
	for _, open := range []func() error{
		func() (err error) { c.instances, err = compute.NewInstancesRESTClient(ctx, opts...); return err },
		func() (err error) { c.zones, err = compute.NewZonesRESTClient(ctx, opts...); return err },
		func() (err error) { c.operations, err = compute.NewZoneOperationsRESTClient(ctx, opts...); return err },
		func() (err error) { c.regions, err = compute.NewRegionsRESTClient(ctx, opts...); return err },
		func() (err error) { c.machineTypes, err = compute.NewMachineTypesRESTClient(ctx, opts...); return err },
		func() (err error) { c.images, err = compute.NewImagesRESTClient(ctx, opts...); return err },
		func() (err error) { c.subnetworks, err = compute.NewSubnetworksRESTClient(ctx, opts...); return err },
		func() (err error) { c.routers, err = compute.NewRoutersRESTClient(ctx, opts...); return err },
		func() (err error) { c.firewalls, err = compute.NewFirewallsRESTClient(ctx, opts...); return err },
	} {
		wrong = append(wrong, open())
	}
	return c, errors.Join(wrong...)
}

func (c *clients) close() {
	for _, x := range []io.Closer{c.instances, c.zones, c.operations, c.regions, c.machineTypes, c.images, c.subnetworks, c.routers, c.firewalls} {
		_ = x.Close() // idle connections of a program that ends
	}
}

// status is the HTTP status of an error of the API; 0 where it has none, as when the
// connection broke.
func status(err error) int {
	var e *apierror.APIError
	if errors.As(err, &e) && e.HTTPCode() > 0 {
		return e.HTTPCode()
	}
	return 0
}

func notFound(err error) bool { return status(err) == http.StatusNotFound }

// lost reports whether it is not known whether the request was carried out.
func lost(ctx context.Context, err error) bool {
	code := status(err)
	return err != nil && ctx.Err() == nil && (code == 0 || code >= 500)
}

// retryPause is the time before a request is sent again.
var retryPause = gax.Backoff{Initial: time.Second, Max: 10 * time.Second}

const tries = 4

// act sends a request that changes something, again where its answer was lost, and waits for
// its operation. Each time it has the same request id, so that it is done once
// (https://cloud.google.com/compute/docs/reference/rest/v1/instances/insert: requestId).
func act(ctx context.Context, send func() (*compute.Operation, error)) error {
	pause := retryPause
	var op *compute.Operation
	err := again(ctx, &pause, func() (err error) { op, err = send(); return err })
	if err != nil {
		return err
	}
	for {
		err := again(ctx, &pause, func() error {
			err := op.Poll(ctx)
			if op.Done() {
				return nil // what is wrong with it is in it
			}
			return err
		})
		if err != nil {
			return err
		}
		if op.Done() {
			return failure(op.Proto())
		}
		if err := gax.Sleep(ctx, pause.Pause()); err != nil {
			return err
		}
	}
}

func again(ctx context.Context, pause *gax.Backoff, do func() error) error {
	for i := 1; ; i++ {
		err := do()
		if !lost(ctx, err) || i == tries {
			return err
		}
		if err := gax.Sleep(ctx, pause.Pause()); err != nil {
			return err
		}
	}
}

// opError is why an operation failed. It happened: the answer was not lost.
type opError struct{ codes, messages []string }

// Error implements error.
func (e *opError) Error() string { return strings.Join(e.messages, "; ") }

func failure(op *computepb.Operation) error {
	if len(op.GetError().GetErrors()) == 0 && op.GetHttpErrorStatusCode() < 400 {
		return nil
	}
	e := &opError{}
	for _, x := range op.GetError().GetErrors() {
		e.codes = append(e.codes, x.GetCode())
		e.messages = append(e.messages, x.GetCode()+": "+x.GetMessage())
	}
	if len(e.messages) == 0 {
		e.messages = []string{op.GetHttpErrorMessage()}
	}
	return e
}

// noRoom reports whether a zone has none of the machines at this time
// (https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-vm-creation).
func noRoom(err error) bool {
	var e *opError
	if !errors.As(err, &e) {
		return false
	}
	for _, c := range e.codes {
		if strings.HasPrefix(c, "ZONE_RESOURCE_POOL_EXHAUSTED") {
			return true
		}
	}
	return false
}

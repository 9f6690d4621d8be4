package podexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	gorilla "github.com/gorilla/websocket"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/websocket"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// The protocol of web sockets that can close the command's input, and its channels: the
// first byte of each message (kubernetes/apimachinery:pkg/util/remotecommand/constants.go,
// kubernetes/client-go:tools/remotecommand/websocket.go).
const (
	socketProtocol = "v5.channel.k8s.io"

	channelIn, channelOut, channelErr, channelResult = 0, 1, 2, 3
	channelClose                                     = 255
)

// A connection of which nothing comes back for so long is lost.
const (
	pingEvery   = 5 * time.Second
	pongWithin  = 12*pingEvery + time.Second
	maxMessage  = 1 << 20
	writeWithin = time.Minute
)

func overWebSocket(ctx context.Context, cfg *rest.Config, target *url.URL, s Streams) error {
	rt, holder, err := websocket.RoundTripperFor(cfg)
	if err != nil {
		return fmt.Errorf("make web socket: %w", err)
	}
	req, err := request(ctx, http.MethodGet, target)
	if err != nil {
		return err
	}
	conn, err := websocket.Negotiate(rt, holder, req, socketProtocol)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	defer func() { _ = conn.Close() }() // what it could say has been read
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	conn.SetReadLimit(maxMessage)
	conn.SetPongHandler(func(string) error { return conn.SetReadDeadline(time.Now().Add(pongWithin)) })
	if err := conn.SetReadDeadline(time.Now().Add(pongWithin)); err != nil {
		return err
	}
	go crash.Func(func() { ping(conn, ended) })()
	if s.In != nil {
		go crash.Func(func() { send(conn, s.In) })()
	}
	return receive(conn, s)
}

// ping asks the other side for a sign of life until ended.
func ping(conn *gorilla.Conn, ended <-chan struct{}) {
	t := time.NewTicker(pingEvery)
	defer t.Stop()
	for {
		select {
		case <-ended:
			return
		case <-t.C:
			if conn.WriteControl(gorilla.PingMessage, nil, time.Now().Add(pongWithin)) != nil {
				return // the reader notices
			}
		}
	}
}

// send gives the command its input. A connection that breaks is the reader's to report.
func send(conn *gorilla.Conn, in io.Reader) {
	message := make([]byte, 32<<10)
	message[0] = channelIn
	for {
		n, err := in.Read(message[1:])
		if n > 0 {
			if conn.SetWriteDeadline(time.Now().Add(writeWithin)) != nil || conn.WriteMessage(gorilla.BinaryMessage, message[:n+1]) != nil {
				return
			}
		}
		if err != nil {
			_ = conn.WriteMessage(gorilla.BinaryMessage, []byte{channelClose, channelIn})
			return
		}
	}
}

// receive hands on what the command prints, until the server closes the connection.
func receive(conn *gorilla.Conn, s Streams) error {
	to := map[byte]io.Writer{channelOut: s.Out, channelErr: s.Err}
	var end []byte
	for {
		kind, message, err := conn.ReadMessage()
		var closed *gorilla.CloseError
		switch {
		case errors.As(err, &closed) && closed.Code == gorilla.CloseNormalClosure:
			return result(end)
		case err != nil:
			return fmt.Errorf("read the command's output: %w", err)
		case kind != gorilla.BinaryMessage || len(message) == 0:
			return fmt.Errorf("read the command's output: a message of type %d with %d bytes", kind, len(message))
		}
		channel, text := message[0], message[1:]
		if channel == channelResult {
			if end = append(end, text...); len(end) > maxResult {
				return errors.New("read the command's result: it is too large")
			}
			continue
		}
		if w := to[channel]; w != nil {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
}

package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ---- shorter words for what tests do

func must(err error) {
	if err != nil {
		panic(failure{err.Error(), caller()})
	}
}

func have[T any](value T, err error) T {
	if err != nil {
		panic(failure{err.Error(), caller()})
	}
	return value
}

func equal(got, expected any) {
	if !reflect.DeepEqual(got, expected) {
		panic(failure{fmt.Sprintf("got %#v, expected %#v", got, expected), caller()})
	}
}

func contains(text, part string) {
	if !strings.Contains(text, part) {
		panic(failure{fmt.Sprintf("%q does not contain %q", text, part), caller()})
	}
}

// next is what the channel gives within 10 s.
func next[T any](from <-chan T) T {
	select {
	case value, open := <-from:
		if !open {
			panic(failure{"the Go channel was closed", caller()})
		}
		return value
	case <-time.After(10 * time.Second):
		panic(failure{"nothing came for 10 s", caller()})
	}
}

// closed is how the connection or channel that this was registered with has ended.
func closed(notice <-chan *amqp.Error, code int) string {
	err := next(notice)
	equal(err.Code, code)
	return err.Reason
}

// client is a connection with a first channel; both end with the test.
type client struct {
	*amqp.Channel
	connection *amqp.Connection
}

func dial(config amqp.Config) client { return dialTo(uri, config) }

func dialTo(where string, config amqp.Config) client {
	config.Properties = amqp.Table{"connection_name": "interop"}
	connection := have(amqp.DialConfig(where, config))
	cleanup(func() { _ = connection.Close() })
	return client{have(connection.Channel()), connection}
}

func open() client { return dial(amqp.Config{}) }

func (c client) channel() *amqp.Channel { return have(c.connection.Channel()) }

func (c client) declare(arguments amqp.Table) string {
	return have(c.QueueDeclare("", false, false, true, false, arguments)).Name
}

func publish(c *amqp.Channel, queue string, bodies ...string) {
	for _, body := range bodies {
		must(c.PublishWithContext(context.Background(), "", queue, false, false, amqp.Publishing{Body: []byte(body)}))
	}
}

// confirmed publishes with confirms on, and waits until the broker has settled the message.
func confirmed(c *amqp.Channel, exchange, key string, mandatory bool, message amqp.Publishing) bool {
	confirmation := have(c.PublishWithDeferredConfirmWithContext(context.Background(), exchange, key, mandatory, false, message))
	select {
	case <-confirmation.Done():
		return confirmation.Acked()
	case <-time.After(10 * time.Second):
		panic(failure{"no confirm for 10 s", caller()})
	}
}

func get(c *amqp.Channel, queue string, autoAck bool) amqp.Delivery {
	message, ok, err := c.Get(queue, autoAck)
	must(err)
	if !ok {
		panic(failure{"nothing in " + queue, caller()})
	}
	return message
}

// bodies is everything that is ready in the queue.
func bodies(c *amqp.Channel, queue string) []string {
	found := []string{}
	for {
		message, ok, err := c.Get(queue, true)
		must(err)
		if !ok {
			return found
		}
		found = append(found, string(message.Body))
	}
}

func ready(c *amqp.Channel, queue string) int {
	return have(c.QueueDeclarePassive(queue, false, false, false, false, nil)).Messages
}

// refused expects the act to close a channel of its own with this code; the text is returned.
func (c client) refused(code int, act func(*amqp.Channel) error) string {
	channel := c.channel()
	notice := channel.NotifyClose(make(chan *amqp.Error, 1))
	_ = act(channel)
	return closed(notice, code)
}

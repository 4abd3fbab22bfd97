// Baton as Go programs that use amqp091-go meet it.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ---- publish, consume, settle

func init() {
	test("a confirmed publish is consumed with its body unchanged", func() {
		c := open()
		queue := c.declare(nil)
		must(c.Confirm(false))
		equal(confirmed(c.Channel, "", queue, false, amqp.Publishing{Body: []byte{0, 255, 65}}), true)
		deliveries := have(c.Consume(queue, "mine", false, false, false, false, nil))
		got := next(deliveries)
		equal(got.Body, []byte{0, 255, 65})
		equal([]any{got.ConsumerTag, got.Exchange, got.RoutingKey, got.Redelivered}, []any{"mine", "", queue, false})
		must(got.Ack(false))
		equal(ready(c.Channel, queue), 0)
	})

	test("1000 publishes are each confirmed once, and consumed in order", func() {
		c := open()
		queue := c.declare(nil)
		must(c.Confirm(false))
		confirms := c.NotifyPublish(make(chan amqp.Confirmation, 1000))
		for number := 0; number < 1000; number++ {
			publish(c.Channel, queue, fmt.Sprint(number))
		}
		for tag := uint64(1); tag <= 1000; tag++ {
			equal(next(confirms), amqp.Confirmation{DeliveryTag: tag, Ack: true})
		}
		must(c.Qos(100, 0, false))
		deliveries := have(c.Consume(queue, "", false, false, false, false, nil))
		for number := 0; number < 1000; number++ {
			got := next(deliveries)
			equal(string(got.Body), fmt.Sprint(number))
			if number%50 == 49 {
				must(got.Ack(true))
			}
		}
	})

	test("prefetch 3 leaves the fourth message in the queue until one is acked", func() {
		c := open()
		queue := c.declare(nil)
		publish(c.Channel, queue, "1", "2", "3", "4", "5")
		must(c.Qos(3, 0, false))
		deliveries := have(c.Consume(queue, "", false, false, false, false, nil))
		first := next(deliveries)
		next(deliveries)
		next(deliveries)
		equal(ready(c.Channel, queue), 2)
		must(first.Ack(false))
		equal(string(next(deliveries).Body), "4")
		equal(ready(c.Channel, queue), 1)
	})

	test("nacks requeue or drop as they say, and requeued messages keep their order", func() {
		c := open()
		queue := c.declare(nil)
		publish(c.Channel, queue, "1", "2", "3", "4", "5")
		taken := []amqp.Delivery{}
		for range [4]int{} {
			taken = append(taken, get(c.Channel, queue, false))
		}
		must(taken[3].Nack(false, true))
		must(taken[1].Nack(false, false))
		must(taken[2].Reject(true))
		must(taken[0].Reject(false))
		back := get(c.Channel, queue, true)
		equal([]any{string(back.Body), back.Redelivered}, []any{"3", true})
		equal(bodies(c.Channel, queue), []string{"4", "5"})
	})

	test("a closed channel gives back what it had not acked", func() {
		c := open()
		queue := c.declare(nil)
		publish(c.Channel, queue, "1", "2")
		other := c.channel()
		get(c.Channel, queue, true)
		get(c.Channel, queue, false)
		must(c.Close())
		back := get(other, queue, true)
		equal([]any{string(back.Body), back.Redelivered}, []any{"2", true})
	})

	test("basic.get gives the message and how many are left, then nothing", func() {
		c := open()
		queue := c.declare(nil)
		publish(c.Channel, queue, "1", "2")
		equal(get(c.Channel, queue, true).MessageCount, uint32(1))
		get(c.Channel, queue, true)
		_, ok, err := c.Get(queue, true)
		must(err)
		equal(ok, false)
	})

	test("after cancel the deliveries end, and what is unacked stays ackable", func() {
		c := open()
		queue := c.declare(nil)
		publish(c.Channel, queue, "1")
		deliveries := have(c.Consume(queue, "mine", false, false, false, false, nil))
		got := next(deliveries)
		must(c.Cancel("mine", false))
		_, open := <-deliveries
		equal(open, false)
		must(got.Ack(false))
		publish(c.Channel, queue, "2")
		equal(bodies(c.Channel, queue), []string{"2"})
	})

	test("20 channels of a connection, each on a goroutine, work side by side", func() {
		c := open()
		ends := make(chan error, 20)
		for index := 0; index < 20; index++ {
			go func() { ends <- sideBySide(c.connection) }()
		}
		for index := 0; index < 20; index++ {
			must(next(ends))
		}
	})
}

func sideBySide(connection *amqp.Connection) error {
	channel, err := connection.Channel()
	if err != nil {
		return err
	}
	queue, err := channel.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		return err
	}
	deliveries, err := channel.Consume(queue.Name, "", true, false, false, false, nil)
	if err != nil {
		return err
	}
	for number := 0; number < 50; number++ {
		message := amqp.Publishing{Body: []byte(fmt.Sprint(number))}
		if err := channel.PublishWithContext(context.Background(), "", queue.Name, false, false, message); err != nil {
			return err
		}
	}
	for number := 0; number < 50; number++ {
		if got := <-deliveries; string(got.Body) != fmt.Sprint(number) {
			return fmt.Errorf("got %q, expected %d", got.Body, number)
		}
	}
	return nil
}

// ---- bodies, properties, headers

func init() {
	for _, size := range []int{0, 131072 - 8, 131072 - 7, 1 << 20, 20 << 20} {
		size := size
		test(fmt.Sprintf("a body of %d bytes comes back unchanged", size), func() {
			body := make([]byte, size)
			have(rand.Read(body))
			c := open()
			queue := c.declare(nil)
			must(c.Confirm(false))
			equal(confirmed(c.Channel, "", queue, false, amqp.Publishing{Body: body}), true)
			if !bytes.Equal(get(c.Channel, queue, true).Body, body) {
				panic(failure{"another body", caller()})
			}
		})
	}

	test("every message property comes back unchanged", func() {
		sent := amqp.Publishing{
			Headers: amqp.Table{"a": int32(1)}, ContentType: "text/plain", ContentEncoding: "utf-8",
			DeliveryMode: amqp.Persistent, Priority: 7, CorrelationId: "c-1", ReplyTo: "replies",
			Expiration: "60000", MessageId: "m-1", Timestamp: time.Unix(1_700_000_000, 0), Type: "greeting",
			UserId: "guest", AppId: "interop", Body: []byte{},
		}
		c := open()
		queue := c.declare(nil)
		must(c.PublishWithContext(context.Background(), "", queue, false, false, sent))
		got := get(c.Channel, queue, true)
		equal(amqp.Publishing{
			Headers: got.Headers, ContentType: got.ContentType, ContentEncoding: got.ContentEncoding,
			DeliveryMode: got.DeliveryMode, Priority: got.Priority, CorrelationId: got.CorrelationId,
			ReplyTo: got.ReplyTo, Expiration: got.Expiration, MessageId: got.MessageId, Timestamp: got.Timestamp,
			Type: got.Type, UserId: got.UserId, AppId: got.AppId, Body: got.Body,
		}, sent)
	})

	test("headers of every type that amqp091-go writes come back unchanged", func() {
		headers := amqp.Table{
			"bool": true, "int8": int8(-8), "byte": byte(200), "int16": int16(-1600), "uint16": uint16(60000),
			"int32": int32(-320000), "uint32": uint32(4_000_000_000), "int64": int64(-1 << 60),
			"float32": float32(0.5), "float64": 0.1, "decimal": amqp.Decimal{Scale: 2, Value: 314},
			"string": "Stafette →", "bytes": []byte{0, 1, 255}, "time": time.Unix(1_700_000_000, 0), "nil": nil,
			"array": []any{int32(1), "two", nil, true, amqp.Table{"deep": int32(1)}},
			"table": amqp.Table{"nested": amqp.Table{"deeper": "here"}, "empty": amqp.Table{}},
		}
		c := open()
		queue := c.declare(nil)
		must(c.PublishWithContext(context.Background(), "", queue, false, false, amqp.Publishing{Headers: headers}))
		equal(get(c.Channel, queue, true).Headers, headers)
	})
}

// ---- routing

func init() {
	test("exchanges of each type route as bound", func() {
		c := open()
		for _, it := range []struct {
			kind, key string
			arguments amqp.Table
			got       []string
		}{
			{"direct", "orange", nil, []string{"orange"}},
			{"fanout", "", nil, []string{"orange", "quick.orange.fox", "lazy"}},
			{"topic", "*.orange.#", nil, []string{"quick.orange.fox"}},
			{"headers", "", amqp.Table{"x-match": "any", "length": int32(4), "none": true}, []string{"lazy"}},
		} {
			exchange, queue := unique(it.kind), c.declare(nil)
			must(c.ExchangeDeclare(exchange, it.kind, false, true, false, false, nil))
			must(c.QueueBind(queue, it.key, exchange, false, it.arguments))
			for _, key := range []string{"orange", "quick.orange.fox", "lazy"} {
				must(c.PublishWithContext(context.Background(), exchange, key, false, false,
					amqp.Publishing{Body: []byte(key), Headers: amqp.Table{"length": int64(len(key))}}))
			}
			equal(bodies(c.Channel, queue), it.got)
			must(c.QueueUnbind(queue, it.key, exchange, it.arguments))
		}
	})

	test("a message passes from exchange to exchange, once for each queue", func() {
		c := open()
		source, target, queue := unique("source"), unique("target"), c.declare(nil)
		must(c.ExchangeDeclare(source, "topic", false, true, false, false, nil))
		must(c.ExchangeDeclare(target, "fanout", false, true, true, false, nil))
		must(c.ExchangeBind(target, "in.#", source, false, nil))
		must(c.QueueBind(queue, "", target, false, nil))
		must(c.QueueBind(queue, "in.*", source, false, nil))
		must(c.PublishWithContext(context.Background(), source, "in.here", false, false, amqp.Publishing{Body: []byte("through")}))
		equal(bodies(c.Channel, queue), []string{"through"})
		contains(c.refused(403, func(ch *amqp.Channel) error {
			return ch.PublishWithContext(context.Background(), target, "", false, false, amqp.Publishing{})
		}), "cannot publish to internal exchange")
		must(c.ExchangeUnbind(target, "in.#", source, false, nil))
	})

	test("a mandatory message without a route is returned before it is confirmed", func() {
		c := open()
		must(c.Confirm(false))
		returns := c.NotifyReturn(make(chan amqp.Return, 1))
		key := unique("nowhere")
		equal(confirmed(c.Channel, "", key, true, amqp.Publishing{Body: []byte("back"), AppId: "interop"}), true)
		select {
		case got := <-returns: // already there: amqp091-go hands on what comes in its order
			equal([]any{got.ReplyCode, got.ReplyText, got.RoutingKey, string(got.Body), got.AppId},
				[]any{uint16(312), "NO_ROUTE", key, "back", "interop"})
		default:
			panic(failure{"confirmed before it was returned", caller()})
		}
	})
}

// ---- refusals

func init() {
	test("channel errors carry the right codes and leave the connection and its channels alone", func() {
		c := open()
		missing, own := unique("missing"), unique("own")
		have(c.QueueDeclare(own, false, false, true, false, amqp.Table{"x-message-ttl": int32(1000)}))
		equal(c.refused(404, func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive(missing, false, false, false, false, nil)
			return err
		}), fmt.Sprintf("NOT_FOUND - no queue '%s' in vhost '/'", missing))
		equal(c.refused(404, func(ch *amqp.Channel) error {
			return ch.PublishWithContext(context.Background(), missing, "", false, false, amqp.Publishing{})
		}), fmt.Sprintf("NOT_FOUND - no exchange '%s' in vhost '/'", missing))
		equal(c.refused(406, func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare(own, false, false, true, false, amqp.Table{"x-message-ttl": int64(999)})
			return err
		}), fmt.Sprintf("PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue '%s' in vhost '/': "+
			"received '999' but current is '1000'", own))
		equal(c.refused(406, func(ch *amqp.Channel) error { return ch.Ack(7, false) }),
			"PRECONDITION_FAILED - unknown delivery tag 7")
		c.refused(406, func(ch *amqp.Channel) error { return ch.TxCommit() })
		contains(c.refused(403, func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("amq.mine", false, false, false, false, nil)
			return err
		}), "contains reserved prefix")
		c.refused(403, func(ch *amqp.Channel) error { return ch.ExchangeDelete("amq.topic", false, false) })
		contains(open().refused(405, func(ch *amqp.Channel) error {
			_, err := ch.Consume(own, "", true, false, false, false, nil)
			return err
		}), "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue")
		publish(c.Channel, own, "still here")
		equal(bodies(c.Channel, own), []string{"still here"})
	})

	test("a publish that loses its confirm to a channel error is not acked", func() {
		c := open()
		must(c.Confirm(false))
		equal(confirmed(c.Channel, unique("missing"), "", false, amqp.Publishing{}), false)
	})

	test("a user may do what its permissions allow, and is refused the rest with 403", func() {
		c, limited := open(), dialTo(uriOf("LIMITED"), amqp.Config{})
		others, own := unique("others"), "own."+unique("queue")
		have(c.QueueDeclare(others, false, false, false, false, nil))
		refused := func(right, what string, act func(*amqp.Channel) error) {
			equal(limited.refused(403, act), fmt.Sprintf(
				"ACCESS_REFUSED - %s access to %s in vhost '/' refused for user 'limited'", right, what))
		}

		have(limited.QueueDeclare(own, false, false, false, false, nil))
		must(limited.QueueBind(own, "key", "amq.direct", false, nil))
		must(c.PublishWithContext(context.Background(), "amq.direct", "key", false, false, amqp.Publishing{Body: []byte("m")}))
		deliveries := have(limited.Consume(own, "", true, false, false, false, nil))
		equal(string(next(deliveries).Body), "m")
		must(limited.PublishWithContext(context.Background(), "amq.fanout", "", false, false, amqp.Publishing{}))

		refused("configure", "queue '"+others+"'", func(ch *amqp.Channel) error {
			_, err := ch.QueueDelete(others, false, false, false)
			return err
		})
		refused("configure", "exchange 'new'", func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare("new", "fanout", false, false, false, false, nil)
		})
		refused("write", "queue '"+others+"'", func(ch *amqp.Channel) error {
			return ch.QueueBind(others, "key", "amq.direct", false, nil)
		})
		refused("write", "exchange 'amq.default'", func(ch *amqp.Channel) error {
			return ch.PublishWithContext(context.Background(), "", own, false, false, amqp.Publishing{})
		})
		refused("read", "exchange 'amq.topic'", func(ch *amqp.Channel) error {
			return ch.QueueBind(own, "key", "amq.topic", false, nil)
		})
		refused("read", "queue '"+others+"'", func(ch *amqp.Channel) error {
			_, err := ch.Consume(others, "", true, false, false, false, nil)
			return err
		})
		have(limited.QueueDelete(own, false, false, false))
		have(c.QueueDelete(others, false, false, false))
	})

	test("a wrong password is refused with 403", func() {
		_, err := amqp.Dial(strings.Replace(uri, "guest:guest", "guest:wrong", 1))
		var refusal *amqp.Error
		equal(errors.As(err, &refusal), true)
		equal(refusal.Code, 403)
		contains(refusal.Reason, "username or password not allowed") // amqp091-go's words for a 403
	})

	test("an unknown virtual host is refused", func() {
		_, err := amqp.DialConfig(uri, amqp.Config{Vhost: "nope"})
		var refusal *amqp.Error
		equal(errors.As(err, &refusal), true)
	})

	test("AMQPLAIN logs in", func() {
		parsed := have(amqp.ParseURI(uri))
		connection := have(amqp.DialConfig(uri, amqp.Config{SASL: []amqp.Authentication{parsed.AMQPlainAuth()}}))
		must(connection.Close())
	})

	test("two channels of a connection may use one consumer tag", func() {
		c := open()
		queue := c.declare(nil)
		have(c.Consume(queue, "same", true, false, false, false, nil))
		have(c.channel().Consume(queue, "same", true, false, false, false, nil))
		equal(have(c.QueueDeclarePassive(queue, false, false, false, false, nil)).Consumers, 2)
	})

	test("methods with nowait take effect without a reply", func() {
		c := open()
		queue := unique("nowait")
		have(c.QueueDeclare(queue, false, false, true, true, nil))
		must(c.QueueBind(queue, "key", "amq.direct", true, nil))
		deliveries := have(c.Consume(queue, "mine", true, false, false, true, nil))
		must(c.PublishWithContext(context.Background(), "amq.direct", "key", false, false, amqp.Publishing{}))
		next(deliveries)
		must(c.Cancel("mine", true))
		_, err := c.QueueDelete(queue, false, false, true)
		must(err)
		equal(have(c.QueueDeclare(queue, false, false, true, false, nil)).Consumers, 0)
	})

	test("immediate publishes close the connection with 540", func() {
		c := open()
		notice := c.connection.NotifyClose(make(chan *amqp.Error, 1))
		_ = c.PublishWithContext(context.Background(), "", "x", false, true, amqp.Publishing{})
		contains(closed(notice, 540), "NOT_IMPLEMENTED")
	})

	test("a new secret is taken", func() {
		c := open()
		password, _ := have(url.Parse(uri)).User.Password()
		must(c.connection.UpdateSecret(password, "rotation"))
		c.declare(nil)
	})
}

// ---- the server speaks first

func init() {
	test("a consumer hears of its queue's deletion by basic.cancel", func() {
		c := open()
		queue := unique("deleted")
		have(c.QueueDeclare(queue, false, false, false, false, nil))
		cancelled := c.NotifyCancel(make(chan string, 1))
		deliveries := have(c.Consume(queue, "mine", false, false, false, false, nil))
		have(c.channel().QueueDelete(queue, false, false, false))
		equal(next(cancelled), "mine")
		_, open := <-deliveries
		equal(open, false)
		c.declare(nil)
	})

	test("a program can ask to hear of connection.blocked", func() {
		c := open()
		c.connection.NotifyBlocked(make(chan amqp.Blocking, 1))
		capabilities := c.connection.Properties["capabilities"].(amqp.Table)
		for _, name := range []string{"publisher_confirms", "exchange_exchange_bindings", "basic.nack",
			"consumer_cancel_notify", "connection.blocked", "consumer_priorities",
			"authentication_failure_close", "per_consumer_qos", "direct_reply_to"} {
			equal([]any{name, capabilities[name]}, []any{name, true})
		}
	})

	test("a program whose publishes find no memory hears that it is blocked, and when it may go on", func() {
		publisher, other := dialTo(uriOf("SMALL"), amqp.Config{}), dialTo(uriOf("SMALL"), amqp.Config{})
		told := publisher.connection.NotifyBlocked(make(chan amqp.Blocking, 10))
		queue := unique("blocked")
		have(publisher.QueueDeclare(queue, false, false, false, false, nil))
		enough, stopped := make(chan bool), make(chan error)
		go func() { // a publish that the broker does not read waits, in this client
			for {
				select {
				case <-enough:
					stopped <- nil
					return
				default:
				}
				err := publisher.PublishWithContext(context.Background(), "", queue, false, false,
					amqp.Publishing{Body: make([]byte, 100_000)})
				if err != nil {
					stopped <- err
					return
				}
			}
		}()
		equal(next(told), amqp.Blocking{Active: true, Reason: "low on memory"})
		close(enough)
		have(other.QueueDelete(queue, false, false, false))
		equal(next(told).Active, false)
		must(next(stopped))
		queue = publisher.declare(nil)
		publish(publisher.Channel, queue, "goes on")
		equal(bodies(publisher.Channel, queue), []string{"goes on"})
	})

	test("an idle connection lives on heartbeats", func() {
		c := dial(amqp.Config{Heartbeat: time.Second})
		time.Sleep(4 * time.Second)
		c.declare(nil)
	})

	test("frame-max and channel-max are negotiated down to what the client asks", func() {
		c := dial(amqp.Config{FrameSize: 8192, ChannelMax: 3})
		equal([]any{c.connection.Config.FrameSize, c.connection.Config.ChannelMax}, []any{8192, uint16(3)})
		c.channel()
		c.channel()
		_, err := c.connection.Channel()
		equal(err, amqp.ErrChannelMax)
		queue := c.declare(nil)
		publish(c.Channel, queue, strings.Repeat("x", 100_000))
		equal(len(get(c.Channel, queue, true).Body), 100_000)
	})
}

// ---- lifetimes, limits, transactions, RPC, restarts

func init() {
	test("an expired message is not delivered", func() {
		c := open()
		brief, plain := c.declare(amqp.Table{"x-message-ttl": int32(20)}), c.declare(nil)
		publish(c.Channel, brief, "queue's")
		must(c.PublishWithContext(context.Background(), "", plain, false, false, amqp.Publishing{Expiration: "20"}))
		publish(c.Channel, plain, "stays")
		for ready(c.Channel, brief) > 0 || ready(c.Channel, plain) > 1 {
		}
		equal(bodies(c.Channel, brief), []string{})
		equal(bodies(c.Channel, plain), []string{"stays"})
	})

	test("a full queue drops its oldest message, or refuses the newest with a nack", func() {
		c := open()
		must(c.Confirm(false))
		drop := c.declare(amqp.Table{"x-max-length": int32(2)})
		refuse := c.declare(amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
		for _, body := range []string{"1", "2", "3"} {
			equal(confirmed(c.Channel, "", drop, false, amqp.Publishing{Body: []byte(body)}), true)
		}
		equal(bodies(c.Channel, drop), []string{"2", "3"})
		equal(confirmed(c.Channel, "", refuse, false, amqp.Publishing{Body: []byte("1")}), true)
		equal(confirmed(c.Channel, "", refuse, false, amqp.Publishing{Body: []byte("2")}), false)
		equal(bodies(c.Channel, refuse), []string{"1"})
	})

	test("a transaction shows its publishes at commit and forgets them at rollback", func() {
		c := open()
		other := c.channel()
		queue := c.declare(nil)
		must(c.Tx())
		publish(c.Channel, queue, "lost")
		must(c.TxRollback())
		publish(c.Channel, queue, "kept")
		equal(ready(other, queue), 0)
		must(c.TxCommit())
		equal(bodies(other, queue), []string{"kept"})
	})

	test("a call by direct reply-to gets its answer", func() {
		calling, serving := open(), open()
		queue := serving.declare(nil)
		// Exclusive to its connection, yet anybody may publish to it.
		asked := have(serving.Consume(queue, "", true, false, false, false, nil))
		answers := have(calling.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil))
		must(calling.PublishWithContext(context.Background(), "", queue, false, false,
			amqp.Publishing{ReplyTo: "amq.rabbitmq.reply-to", CorrelationId: "1", Body: []byte("6*7")}))
		question := next(asked)
		equal(string(question.Body), "6*7")
		must(serving.PublishWithContext(context.Background(), "", question.ReplyTo, false, false,
			amqp.Publishing{CorrelationId: question.CorrelationId, Body: []byte("42")}))
		answer := next(answers)
		equal([]any{string(answer.Body), answer.CorrelationId}, []any{"42", "1"})
	})

	test("a restart ends the connection with 320, and the program can connect again", func() {
		c := open()
		notice := c.connection.NotifyClose(make(chan *amqp.Error, 1))
		restartBroker()
		contains(closed(notice, 320), "CONNECTION_FORCED")
		again := open()
		queue := again.declare(nil)
		publish(again.Channel, queue, "after")
		equal(bodies(again.Channel, queue), []string{"after"})
	})

	test("amqp091-go's recovery sets its topology and consumer up again after a restart", func() {
		c := dial(amqp.Config{Recovery: &amqp.Recovery{}})
		queue := c.declare(nil)
		exchange := unique("recovered")
		must(c.ExchangeDeclare(exchange, "fanout", false, true, false, false, nil))
		must(c.QueueBind(queue, "", exchange, false, nil))
		deliveries := have(c.Consume(queue, "", true, false, false, false, nil))
		restartBroker()
		other := open()
		for {
			// The exchange is there again once recovery is under way, its binding a little later.
			err := other.PublishWithContext(context.Background(), exchange, "", false, false, amqp.Publishing{Body: []byte("after")})
			if _, inspect := other.QueueDeclare("", false, false, true, false, nil); err != nil || inspect != nil {
				other.Channel = other.channel()
			}
			select {
			case got := <-deliveries:
				equal(string(got.Body), "after")
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

func main() { run() }

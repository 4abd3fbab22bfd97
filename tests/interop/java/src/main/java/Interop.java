import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.Recoverable;
import com.rabbitmq.client.RecoveryListener;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.RpcClient;
import com.rabbitmq.client.RpcClientParams;
import com.rabbitmq.client.RpcServer;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.impl.DefaultExceptionHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Baton as programs that use the RabbitMQ Java client meet it. */
public class Interop extends Tap {
  // ---- shorter words for what tests do

  private static final BasicProperties plain = new BasicProperties();

  private static ConnectionFactory helpFactory() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(environment("BATON_URI", "amqp://guest:guest@127.0.0.1:5672/%2f"));
    factory.setAutomaticRecoveryEnabled(false);
    factory.setChannelRpcTimeout(20_000);
    factory.setExceptionHandler(new DefaultExceptionHandler() {
      @Override
      protected void log(String message, Throwable error) {}
    });
    return factory;
  }

  private static Connection helpConnect() throws Exception {
    return closing(helpFactory().newConnection("interop"));
  }

  private static Connection helpConnectTo(String uri) throws Exception {
    ConnectionFactory factory = helpFactory();
    factory.setUri(uri);
    return closing(factory.newConnection("interop"));
  }

  private static Channel helpOpen() throws Exception {
    return helpConnect().createChannel();
  }

  private static String declare(Channel channel, Map<String, Object> arguments) throws IOException {
    return channel.queueDeclare("", false, true, false, arguments).getQueue();
  }

  private static String declare(Channel channel) throws IOException {
    return declare(channel, null);
  }

  private static void publish(Channel channel, String queue, String... bodies) throws IOException {
    for (String body : bodies) channel.basicPublish("", queue, plain, body.getBytes());
  }

  /** Publishes with confirms on; whether it was acked. */
  private static boolean confirmed(Channel channel, String queue, String body) throws Exception {
    publish(channel, queue, body);
    return channel.waitForConfirms(10_000);
  }

  private static GetResponse get(Channel channel, String queue, boolean autoAck) throws IOException {
    GetResponse got = channel.basicGet(queue, autoAck);
    if (got == null) throw new AssertionError("nothing in " + queue);
    return got;
  }

  /** Everything that is ready in the queue. */
  private static List<String> bodies(Channel channel, String queue) throws IOException {
    List<String> found = new ArrayList<>();
    for (GetResponse got; (got = channel.basicGet(queue, true)) != null; ) found.add(new String(got.getBody()));
    return found;
  }

  private static BlockingQueue<Delivery> consume(Channel channel, String queue, boolean autoAck) throws IOException {
    BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
    channel.basicConsume(queue, autoAck, (tag, delivery) -> deliveries.add(delivery), tag -> {});
    return deliveries;
  }

  interface OnChannel {
    void act(Channel channel) throws Exception;
  }

  /** The act closes a channel of its own with this code; the text is returned. */
  private static String refused(Connection connection, int code, OnChannel act) throws Exception {
    Channel channel = connection.createChannel();
    CompletableFuture<ShutdownSignalException> end = new CompletableFuture<>();
    channel.addShutdownListener(end::complete);
    try {
      act.act(channel);
    } catch (IOException | AlreadyClosedException expected) {
      // The listener is told the reason.
    }
    ShutdownSignalException signal = end.get(10, TimeUnit.SECONDS);
    equal(signal.isHardError(), false);
    AMQP.Channel.Close close = (AMQP.Channel.Close) signal.getReason();
    equal(close.getReplyCode(), code);
    return close.getReplyText();
  }

  private static AMQP.Connection.Close closed(CompletableFuture<ShutdownSignalException> end) throws Exception {
    return (AMQP.Connection.Close) end.get(30, TimeUnit.SECONDS).getReason();
  }

  private static CompletableFuture<ShutdownSignalException> endOf(Connection connection) {
    CompletableFuture<ShutdownSignalException> end = new CompletableFuture<>();
    connection.addShutdownListener(end::complete);
    return end;
  }

  /** Header values with the client's LongString as String, for comparison. */
  private static Object plainly(Object value) {
    if (value instanceof LongString) return value.toString();
    if (value instanceof List<?> list) return list.stream().map(Interop::plainly).collect(ArrayList::new, List::add, List::addAll);
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> result = new LinkedHashMap<>();
      map.forEach((key, of) -> result.put(key, plainly(of)));
      return result;
    }
    return value;
  }

  // ---- publish, consume, settle

  static void settling() {
    test("a confirmed publish is consumed with its body unchanged", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      channel.confirmSelect();
      equal(channel.getNextPublishSeqNo(), 1L);
      channel.basicPublish("", queue, plain, new byte[] {0, (byte) 255, 65});
      channel.waitForConfirmsOrDie(10_000);
      Delivery got = next(consume(channel, queue, false));
      equal(got.getBody(), new byte[] {0, (byte) 255, 65});
      equal(got.getEnvelope().isRedeliver(), false);
      equal(got.getEnvelope().getRoutingKey(), queue);
      channel.basicAck(got.getEnvelope().getDeliveryTag(), false);
      equal(channel.messageCount(queue), 0L);
    });

    test("1000 publishes are each confirmed, and consumed in order", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      channel.confirmSelect();
      ConcurrentSkipListSet<Long> open = new ConcurrentSkipListSet<>();
      AtomicInteger nacks = new AtomicInteger();
      CompletableFuture<Void> all = new CompletableFuture<>();
      for (long tag = 1; tag <= 1000; ++tag) open.add(tag);
      channel.addConfirmListener((tag, multiple) -> {
        if (multiple) open.headSet(tag, true).clear();
        else open.remove(tag);
        if (open.isEmpty()) all.complete(null);
      }, (tag, multiple) -> nacks.incrementAndGet());
      for (int number = 0; number < 1000; ++number) publish(channel, queue, "" + number);
      all.get(20, TimeUnit.SECONDS);
      equal(nacks.get(), 0);
      channel.basicQos(100);
      BlockingQueue<Delivery> deliveries = consume(channel, queue, false);
      for (int number = 0; number < 1000; ++number) {
        Delivery got = next(deliveries);
        equal(new String(got.getBody()), "" + number);
        if (number % 50 == 49) channel.basicAck(got.getEnvelope().getDeliveryTag(), true);
      }
    });

    test("prefetch 3 leaves the fourth message in the queue until one is acked", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "1", "2", "3", "4", "5");
      channel.basicQos(3);
      BlockingQueue<Delivery> deliveries = consume(channel, queue, false);
      Delivery first = next(deliveries);
      next(deliveries);
      next(deliveries);
      equal(channel.messageCount(queue), 2L);
      channel.basicAck(first.getEnvelope().getDeliveryTag(), false);
      equal(new String(next(deliveries).getBody()), "4");
      equal(channel.messageCount(queue), 1L);
    });

    test("nacks requeue or drop as they say, and requeued messages keep their order", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "1", "2", "3", "4", "5");
      long[] tags = new long[4];
      for (int i = 0; i < 4; ++i) tags[i] = get(channel, queue, false).getEnvelope().getDeliveryTag();
      channel.basicNack(tags[3], false, true);
      channel.basicNack(tags[1], false, false);
      channel.basicReject(tags[2], true);
      channel.basicReject(tags[0], false);
      GetResponse back = get(channel, queue, true);
      equal(back.getEnvelope().isRedeliver(), true);
      equal(new String(back.getBody()), "3");
      equal(bodies(channel, queue), List.of("4", "5"));
    });

    test("recover returns what an ack with multiple left", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "1", "2", "3");
      get(channel, queue, false);
      long second = get(channel, queue, false).getEnvelope().getDeliveryTag();
      get(channel, queue, false);
      channel.basicAck(second, true);
      channel.basicRecover(true);
      equal(bodies(channel, queue), List.of("3"));
    });

    test("basic.get gives the message and how many are left, then nothing", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "1", "2");
      equal(get(channel, queue, true).getMessageCount(), 1);
      get(channel, queue, true);
      equal(channel.basicGet(queue, true), null);
    });

    test("purge and delete count what they remove", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "1", "2");
      equal(channel.queuePurge(queue).getMessageCount(), 2);
      publish(channel, queue, "3");
      equal(channel.queueDelete(queue).getMessageCount(), 1);
    });

    test("10 channels of a connection, each on a thread, work side by side", () -> {
      Connection connection = helpConnect();
      List<CompletableFuture<Void>> ends = new ArrayList<>();
      for (int index = 0; index < 10; ++index) {
        ends.add(CompletableFuture.runAsync(() -> {
          try {
            Channel channel = connection.createChannel();
            String queue = declare(channel);
            BlockingQueue<Delivery> deliveries = consume(channel, queue, true);
            for (int number = 0; number < 100; ++number) publish(channel, queue, "" + number);
            for (int number = 0; number < 100; ++number) equal(new String(next(deliveries).getBody()), "" + number);
          } catch (Exception error) {
            throw new IllegalStateException(error);
          }
        }));
      }
      for (CompletableFuture<Void> end : ends) end.get(20, TimeUnit.SECONDS);
    });
  }

  // ---- bodies, properties, headers

  static void contents() {
    for (int size : new int[] {0, 131072 - 8, 131072 - 7, 1 << 20, 20 << 20}) {
      test("a body of " + size + " bytes comes back unchanged", () -> {
        byte[] body = new byte[size];
        new Random(size).nextBytes(body);
        Channel channel = helpOpen();
        String queue = declare(channel);
        channel.confirmSelect();
        channel.basicPublish("", queue, plain, body);
        channel.waitForConfirmsOrDie(20_000);
        if (!Arrays.equals(get(channel, queue, true).getBody(), body)) throw new AssertionError("another body");
      });
    }

    test("every message property comes back unchanged", () -> {
      BasicProperties sent = new BasicProperties.Builder().contentType("text/plain").contentEncoding("utf-8")
          .headers(Map.of("a", 1)).deliveryMode(2).priority(7).correlationId("c-1").replyTo("replies")
          .expiration("60000").messageId("m-1").timestamp(new Date(1_700_000_000_000L)).type("greeting")
          .userId("guest").appId("interop").clusterId("somewhere").build();
      Channel channel = helpOpen();
      String queue = declare(channel);
      channel.basicPublish("", queue, sent, new byte[0]);
      equal(get(channel, queue, true).getProps(), sent);
    });

    test("headers of every type that the Java client writes come back unchanged", () -> {
      Map<String, Object> headers = new LinkedHashMap<>();
      headers.put("string", "Stafette →");
      headers.put("int", -320_000);
      headers.put("long", -(1L << 60));
      headers.put("short", (short) -1600);
      headers.put("byte", (byte) -8);
      headers.put("boolean", true);
      headers.put("float", 0.5f);
      headers.put("double", 0.1);
      headers.put("decimal", new BigDecimal("3.14"));
      headers.put("date", new Date(1_700_000_000_000L));
      headers.put("null", null);
      headers.put("list", Arrays.asList(1, "two", null, true, Map.of("deep", 1)));
      headers.put("table", Map.of("nested", Map.of("deeper", "here"), "empty", Map.of()));
      headers.put("bytes", new byte[] {0, 1, (byte) 255});
      Channel channel = helpOpen();
      String queue = declare(channel);
      channel.basicPublish("", queue, new BasicProperties.Builder().headers(headers).build(), new byte[0]);
      Map<String, Object> got = new LinkedHashMap<>(get(channel, queue, true).getProps().getHeaders());
      equal(got.keySet(), headers.keySet());
      equal(got.remove("bytes"), headers.remove("bytes"));
      equal(plainly(got), headers);
    });
  }

  // ---- routing

  static void routing() {
    test("exchanges of each type route as bound", () -> {
      Channel channel = helpOpen();
      Map<BuiltinExchangeType, String> keys = Map.of(BuiltinExchangeType.DIRECT, "orange", BuiltinExchangeType.FANOUT, "",
          BuiltinExchangeType.TOPIC, "*.orange.#", BuiltinExchangeType.HEADERS, "");
      Map<BuiltinExchangeType, List<String>> expected = Map.of(BuiltinExchangeType.DIRECT, List.of("orange"),
          BuiltinExchangeType.FANOUT, List.of("orange", "quick.orange.fox", "lazy"),
          BuiltinExchangeType.TOPIC, List.of("quick.orange.fox"), BuiltinExchangeType.HEADERS, List.of("lazy"));
      for (BuiltinExchangeType type : keys.keySet()) {
        String exchange = unique(type.getType());
        String queue = declare(channel);
        Map<String, Object> arguments = type == BuiltinExchangeType.HEADERS
            ? Map.of("x-match", "any", "length", 4L, "none", true) : null;
        channel.exchangeDeclare(exchange, type, false, true, null);
        channel.queueBind(queue, exchange, keys.get(type), arguments);
        for (String key : List.of("orange", "quick.orange.fox", "lazy")) {
          channel.basicPublish(exchange, key,
              new BasicProperties.Builder().headers(Map.of("length", key.length())).build(), key.getBytes());
        }
        equal(bodies(channel, queue), expected.get(type));
        channel.queueUnbind(queue, exchange, keys.get(type), arguments);
      }
    });

    test("a message passes from exchange to exchange, once for each queue", () -> {
      Channel channel = helpOpen();
      String source = unique("source");
      String target = unique("target");
      String queue = declare(channel);
      channel.exchangeDeclare(source, "topic", false, true, null);
      channel.exchangeDeclare(target, "fanout", false, true, null);
      channel.exchangeBind(target, source, "in.#");
      channel.queueBind(queue, target, "");
      channel.queueBind(queue, source, "in.*");
      channel.basicPublish(source, "in.here", plain, "through".getBytes());
      equal(bodies(channel, queue), List.of("through"));
      channel.exchangeUnbind(target, source, "in.#");
    });

    test("a mandatory message without a route is returned before it is confirmed", () -> {
      Channel channel = helpOpen();
      List<Object> order = Collections.synchronizedList(new ArrayList<>());
      channel.confirmSelect();
      channel.addReturnListener((Return returned) ->
          order.add(returned.getReplyCode() + " " + returned.getReplyText() + " " + new String(returned.getBody())));
      channel.addConfirmListener((tag, multiple) -> order.add("ack " + tag), (tag, multiple) -> order.add("nack"));
      channel.basicPublish("", unique("nowhere"), true, plain, "back".getBytes());
      channel.waitForConfirms(10_000);
      equal(order, List.of("312 NO_ROUTE back", "ack 1"));
    });

    test("what an exchange cannot route goes to its alternate exchange, and is not returned", () -> {
      Channel channel = helpOpen();
      String exchange = unique("main");
      String queue = declare(channel);
      channel.exchangeDeclare(exchange, "direct", false, false, Map.of("alternate-exchange", "amq.fanout"));
      channel.queueBind(queue, "amq.fanout", "");
      List<Object> returns = Collections.synchronizedList(new ArrayList<>());
      channel.addReturnListener((Return returned) -> returns.add(returned));
      channel.basicPublish(exchange, "nowhere", true, plain, "saved".getBytes());
      equal(bodies(channel, queue), List.of("saved"));
      equal(returns, List.of());
      channel.exchangeDelete(exchange);
    });
  }

  // ---- refusals

  static void refusals() {
    test("channel errors carry the right codes and leave the connection and its channels alone", () -> {
      Channel channel = helpOpen();
      Connection connection = channel.getConnection();
      String missing = unique("missing");
      String own = unique("own");
      channel.queueDeclare(own, false, true, false, Map.of("x-message-ttl", 1000));
      equal(refused(connection, 404, c -> c.queueDeclarePassive(missing)),
          "NOT_FOUND - no queue '" + missing + "' in vhost '/'");
      equal(refused(connection, 404, c -> c.basicPublish(missing, "", plain, new byte[0])),
          "NOT_FOUND - no exchange '" + missing + "' in vhost '/'");
      equal(refused(connection, 406, c -> c.queueDeclare(own, false, true, false, Map.of("x-message-ttl", 999L))),
          "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue '" + own
              + "' in vhost '/': received '999' but current is '1000'");
      contains(refused(connection, 406, c -> c.queueDeclare(own, false, true, false, null)),
          "received none but current is the value '1000' of type 'signedint'");
      contains(refused(connection, 406, c -> c.exchangeDeclare("amq.topic", "direct", true)),
          "inequivalent arg 'type' for exchange 'amq.topic' in vhost '/': received 'direct' but current is 'topic'");
      equal(refused(connection, 406, c -> c.basicAck(5, false)), "PRECONDITION_FAILED - unknown delivery tag 5");
      equal(refused(connection, 406, c -> c.txCommit()), "PRECONDITION_FAILED - channel is not transactional");
      contains(refused(connection, 406, c -> {
        c.confirmSelect();
        c.txSelect();
      }), "cannot switch from confirm to tx mode");
      contains(refused(connection, 403, c -> c.queueDeclare("amq.mine", false, false, false, null)),
          "ACCESS_REFUSED - queue name 'amq.mine' contains reserved prefix 'amq.*'");
      contains(refused(connection, 403, c -> c.queueBind(own, "", "key")),
          "operation not permitted on the default exchange");
      contains(refused(helpConnect(), 405, c -> c.queuePurge(own)),
          "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue");
      publish(channel, own, "still here");
      equal(bodies(channel, own), List.of("still here"));
    });

    test("a channel error names the method that failed", () -> {
      Channel channel = helpOpen();
      try {
        channel.queueDeclarePassive(unique("missing"));
        throw new AssertionError("no error");
      } catch (IOException error) {
        Method reason = (Method) ((ShutdownSignalException) error.getCause()).getReason();
        equal(((AMQP.Channel.Close) reason).getClassId(), 50);
        equal(((AMQP.Channel.Close) reason).getMethodId(), 10);
      }
    });

    test("a user may do what its permissions allow, and is refused the rest with 403", () -> {
      Channel channel = helpOpen();
      Connection limited = helpConnectTo(uriOf("LIMITED"));
      Channel allowed = limited.createChannel();
      String others = unique("others"), own = "own." + unique("queue");
      channel.queueDeclare(others, false, false, false, null);
      String refusal = "ACCESS_REFUSED - %s access to %s in vhost '/' refused for user 'limited'";

      allowed.queueDeclare(own, false, false, false, null);
      allowed.queueBind(own, "amq.direct", "key");
      channel.basicPublish("amq.direct", "key", plain, "m".getBytes());
      equal(new String(next(consume(allowed, own, true)).getBody()), "m");
      allowed.basicPublish("amq.fanout", "", plain, new byte[0]);

      equal(refused(limited, 403, c -> c.queueDelete(others)),
          String.format(refusal, "configure", "queue '" + others + "'"));
      equal(refused(limited, 403, c -> c.exchangeDeclare("new", "fanout")),
          String.format(refusal, "configure", "exchange 'new'"));
      equal(refused(limited, 403, c -> c.queueBind(others, "amq.direct", "key")),
          String.format(refusal, "write", "queue '" + others + "'"));
      equal(refused(limited, 403, c -> c.basicPublish("", own, plain, new byte[0])),
          String.format(refusal, "write", "exchange 'amq.default'"));
      equal(refused(limited, 403, c -> c.queueBind(own, "amq.topic", "key")),
          String.format(refusal, "read", "exchange 'amq.topic'"));
      equal(refused(limited, 403, c -> c.queuePurge(others)),
          String.format(refusal, "read", "queue '" + others + "'"));
      allowed.queueDelete(own);
      channel.queueDelete(others);
    });

    test("a wrong password is refused with 403", () -> {
      ConnectionFactory factory = helpFactory();
      factory.setPassword("wrong");
      try {
        factory.newConnection();
        throw new AssertionError("no error");
      } catch (AuthenticationFailureException error) {
        contains(error.getMessage(), "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN");
      }
    });

    test("an unknown virtual host is refused with 530", () -> {
      ConnectionFactory factory = helpFactory();
      factory.setVirtualHost("nope");
      try {
        factory.newConnection();
        throw new AssertionError("no error");
      } catch (IOException error) {
        AMQP.Connection.Close close =
            (AMQP.Connection.Close) ((ShutdownSignalException) error.getCause()).getReason();
        equal(close.getReplyCode(), 530);
        equal(close.getReplyText(), "NOT_ALLOWED - vhost nope not found");
      }
    });

    test("a reused consumer tag closes the connection with 530", () -> {
      Channel channel = helpOpen();
      CompletableFuture<ShutdownSignalException> end = endOf(channel.getConnection());
      String queue = declare(channel);
      channel.basicConsume(queue, true, "same", (tag, delivery) -> {}, tag -> {});
      // The client refuses that by itself, so the method is sent past its books.
      channel.asyncRpc(new AMQP.Basic.Consume.Builder().queue(queue).consumerTag("same").build());
      AMQP.Connection.Close close = closed(end);
      equal(close.getReplyCode(), 530);
      equal(close.getReplyText(), "NOT_ALLOWED - attempt to reuse consumer tag 'same'");
    });

    test("immediate publishes close the connection with 540", () -> {
      Channel channel = helpOpen();
      CompletableFuture<ShutdownSignalException> end = endOf(channel.getConnection());
      channel.basicPublish("", "x", false, true, plain, new byte[0]);
      equal(closed(end).getReplyCode(), 540);
    });
  }

  // ---- the server speaks first

  static void notices() {
    test("a consumer hears of its queue's deletion by basic.cancel", () -> {
      Channel channel = helpOpen();
      String queue = unique("deleted");
      channel.queueDeclare(queue, false, false, false, null);
      CompletableFuture<String> cancelled = new CompletableFuture<>();
      String tag = channel.basicConsume(queue, true, (consumer, delivery) -> {}, cancelled::complete);
      channel.getConnection().createChannel().queueDelete(queue);
      equal(cancelled.get(10, TimeUnit.SECONDS), tag);
      declare(channel);
    });

    test("a program can ask to hear of connection.blocked", () -> {
      Connection connection = helpConnect();
      connection.addBlockedListener(reason -> {}, () -> {});
      Map<?, ?> capabilities = (Map<?, ?>) connection.getServerProperties().get("capabilities");
      for (String name : List.of("publisher_confirms", "exchange_exchange_bindings", "basic.nack",
          "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
          "authentication_failure_close", "per_consumer_qos", "direct_reply_to")) {
        equal(name + " " + capabilities.get(name), name + " true");
      }
    });

    test("a program whose publishes find no memory hears that it is blocked, and when it may go on", () -> {
      Connection publisher = helpConnectTo(uriOf("SMALL"));
      Channel channel = publisher.createChannel(), other = helpConnectTo(uriOf("SMALL")).createChannel();
      BlockingQueue<String> told = new LinkedBlockingQueue<>();
      publisher.addBlockedListener(told::add, () -> told.add("unblocked"));
      String queue = unique("blocked");
      channel.queueDeclare(queue, false, false, false, null);
      // A publish that the broker does not read waits in this client: on a thread of its own.
      AtomicBoolean enough = new AtomicBoolean();
      CompletableFuture<Void> publishing = CompletableFuture.runAsync(() -> {
        try {
          while (!enough.get()) channel.basicPublish("", queue, plain, new byte[100_000]);
        } catch (IOException error) {
          throw new UncheckedIOException(error);
        }
      });
      equal(next(told), "low on memory");
      enough.set(true);
      other.queueDelete(queue);
      equal(next(told), "unblocked");
      publishing.get(10, TimeUnit.SECONDS);
      String after = declare(channel);
      publish(channel, after, "goes on");
      equal(bodies(channel, after), List.of("goes on"));
    });

    test("an idle connection lives on heartbeats", () -> {
      ConnectionFactory factory = helpFactory();
      factory.setRequestedHeartbeat(1);
      Channel channel = closing(factory.newConnection()).createChannel();
      equal(channel.getConnection().getHeartbeat(), 1);
      Thread.sleep(4000);
      declare(channel);
    });

    test("frame-max and channel-max are negotiated down to what the client asks", () -> {
      ConnectionFactory factory = helpFactory();
      factory.setRequestedFrameMax(8192);
      factory.setRequestedChannelMax(2);
      Connection connection = closing(factory.newConnection());
      equal(List.of(connection.getFrameMax(), connection.getChannelMax()), List.of(8192, 2));
      Channel channel = connection.createChannel();
      connection.createChannel();
      equal(connection.createChannel(), null);
      String queue = declare(channel);
      publish(channel, queue, "x".repeat(100_000));
      equal(get(channel, queue, true).getBody().length, 100_000);
    });
  }

  // ---- lifetimes, limits, transactions, RPC

  static void extensions() {
    test("an expired message is not delivered", () -> {
      Channel channel = helpOpen();
      String brief = declare(channel, Map.of("x-message-ttl", 20));
      String lasting = declare(channel);
      publish(channel, brief, "queue's");
      channel.basicPublish("", lasting, new BasicProperties.Builder().expiration("20").build(), "its own".getBytes());
      publish(channel, lasting, "stays");
      while (channel.messageCount(brief) > 0 || channel.messageCount(lasting) > 1) Thread.onSpinWait();
      equal(bodies(channel, brief), List.of());
      equal(bodies(channel, lasting), List.of("stays"));
    });

    test("a full queue drops its oldest message, or refuses the newest with a nack", () -> {
      Channel channel = helpOpen();
      channel.confirmSelect();
      String drop = declare(channel, Map.of("x-max-length", 2));
      String refuse = declare(channel, Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
      for (String body : List.of("1", "2", "3")) equal(confirmed(channel, drop, body), true);
      equal(bodies(channel, drop), List.of("2", "3"));
      equal(confirmed(channel, refuse, "1"), true);
      equal(confirmed(channel, refuse, "2"), false);
      equal(bodies(channel, refuse), List.of("1"));
    });

    test("the consumer with the higher priority is served first", () -> {
      Channel channel = helpOpen();
      String queue = declare(channel);
      BlockingQueue<String> served = new LinkedBlockingQueue<>();
      for (int priority : new int[] {0, 5}) {
        channel.basicConsume(queue, true, "priority " + priority, false, false, Map.of("x-priority", priority),
            (tag, delivery) -> served.add(tag), tag -> {});
      }
      publish(channel, queue, "1", "2", "3");
      for (int i = 0; i < 3; ++i) equal(next(served), "priority 5");
    });

    test("a transaction shows its publishes at commit and forgets them at rollback", () -> {
      Channel channel = helpOpen();
      Channel other = channel.getConnection().createChannel();
      String queue = declare(channel);
      channel.txSelect();
      publish(channel, queue, "lost");
      channel.txRollback();
      publish(channel, queue, "kept");
      equal(other.messageCount(queue), 0L);
      channel.txCommit();
      equal(bodies(other, queue), List.of("kept"));
    });

    test("the client's RpcClient and RpcServer talk by direct reply-to", () -> {
      Channel serving = helpOpen();
      String queue = declare(serving);
      RpcServer server = new RpcServer(serving, queue) {
        @Override
        public byte[] handleCall(byte[] question, BasicProperties properties) {
          return ("answer to " + new String(question)).getBytes();
        }
      };
      Thread thread = new Thread(() -> {
        try {
          server.mainloop();
        } catch (Exception over) {
          // The test has ended.
        }
      });
      thread.setDaemon(true);
      thread.start();
      RpcClient client = new RpcClient(new RpcClientParams().channel(helpOpen()).exchange("").routingKey(queue)
          .timeout(10_000));
      for (int call = 0; call < 10; ++call) equal(client.stringCall("" + call), "answer to " + call);
      client.close();
      server.terminateMainloop();
    });
  }

  // ---- restarts

  static void restarts() {
    test("a restart ends the connection with 320, and the program can connect again", () -> {
      Connection connection = helpConnect();
      CompletableFuture<ShutdownSignalException> end = endOf(connection);
      restartBroker();
      AMQP.Connection.Close close = closed(end);
      equal(close.getReplyCode(), 320);
      contains(close.getReplyText(), "CONNECTION_FORCED");
      Channel channel = helpOpen();
      String queue = declare(channel);
      publish(channel, queue, "after");
      equal(bodies(channel, queue), List.of("after"));
    });

    test("automatic recovery brings queues, bindings and consumers back after a restart", () -> {
      ConnectionFactory factory = helpFactory();
      factory.setAutomaticRecoveryEnabled(true);
      factory.setNetworkRecoveryInterval(100);
      Connection connection = closing(factory.newConnection());
      CompletableFuture<Void> recovered = new CompletableFuture<>();
      ((Recoverable) connection).addRecoveryListener(new RecoveryListener() {
        @Override
        public void handleRecovery(Recoverable recoverable) {
          recovered.complete(null);
        }

        @Override
        public void handleRecoveryStarted(Recoverable recoverable) {}
      });
      Channel channel = connection.createChannel();
      String queue = declare(channel);
      String exchange = unique("recovered");
      channel.exchangeDeclare(exchange, "fanout", false, true, null);
      channel.queueBind(queue, exchange, "");
      BlockingQueue<Delivery> deliveries = consume(channel, queue, false);
      restartBroker();
      recovered.get(30, TimeUnit.SECONDS);
      channel.basicPublish(exchange, "", plain, "after".getBytes());
      Delivery got = next(deliveries);
      equal(new String(got.getBody()), "after");
      channel.basicAck(got.getEnvelope().getDeliveryTag(), false);
      equal(channel.isOpen(), true);
    });
  }

  public static void main(String[] arguments) throws Exception {
    settling();
    contents();
    routing();
    refusals();
    notices();
    extensions();
    restarts();
    runAll(arguments);
  }
}

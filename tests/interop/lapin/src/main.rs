//! Baton as Rust programs that use lapin meet it, on Tokio.

mod tap;

use futures_lite::StreamExt;
use lapin::{
    options::*,
    types::{AMQPValue, DecimalValue, FieldArray, FieldTable, ShortString},
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, Consumer, Error, ErrorKind, Event,
    ExchangeKind,
};
use std::{env, process::ExitCode, sync::atomic::{AtomicU32, Ordering}, time::Duration};
use tap::{check, contains, equal, restart_broker, soon, Outcome, Result, Tests};

// ---- shorter words for what tests do

fn uri() -> String {
    env::var("BATON_URI").unwrap_or("amqp://guest:guest@127.0.0.1:5672/%2f".into())
}

fn unique(name: &str) -> ShortString {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("interop.lapin.{name}.{}.{number}", std::process::id()).into()
}

async fn connect() -> Result<Connection> {
    Ok(Connection::connect(&uri(), ConnectionProperties::default()).await?)
}

async fn open() -> Result<(Connection, Channel)> {
    let connection = connect().await?;
    let channel = connection.create_channel().await?;
    Ok((connection, channel))
}

/// The same with confirms on.
async fn open_confirming() -> Result<(Connection, Channel)> {
    let (connection, channel) = open().await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    Ok((connection, channel))
}

fn exclusive() -> QueueDeclareOptions {
    QueueDeclareOptions { exclusive: true, ..Default::default() }
}

fn table(entries: &[(&str, AMQPValue)]) -> FieldTable {
    let mut result = FieldTable::default();
    for (key, value) in entries {
        result.insert((*key).into(), value.clone());
    }
    result
}

fn text(of: &str) -> AMQPValue {
    AMQPValue::LongString(of.into())
}

async fn declare(channel: &Channel, arguments: &[(&str, AMQPValue)]) -> Result<ShortString> {
    Ok(channel.queue_declare("".into(), exclusive(), table(arguments)).await?.name().clone())
}

async fn publish(channel: &Channel, queue: &ShortString, bodies: &[&str]) -> Result {
    for body in bodies {
        publish_to(channel, "", queue, body.as_bytes(), BasicProperties::default()).await?;
    }
    Ok(())
}

/// What the broker says to it, if confirms are on.
async fn publish_to(
    channel: &Channel, exchange: &str, key: &ShortString, body: &[u8], properties: BasicProperties,
) -> Result<Confirmation> {
    let options = BasicPublishOptions::default();
    Ok(channel.basic_publish(exchange.into(), key.clone(), options, body, properties).await?.await?)
}

async fn consume(channel: &Channel, queue: &ShortString, no_ack: bool) -> Result<Consumer> {
    let options = BasicConsumeOptions { no_ack, ..Default::default() };
    Ok(channel.basic_consume(queue.clone(), "".into(), options, FieldTable::default()).await?)
}

async fn next(consumer: &mut Consumer) -> Result<lapin::message::Delivery> {
    match soon(consumer.next()).await? {
        Some(delivery) => Ok(delivery?),
        None => Err(Outcome::Failed("the consumer has ended".into())),
    }
}

async fn get(channel: &Channel, queue: &ShortString, no_ack: bool) -> Result<lapin::message::BasicGetMessage> {
    match channel.basic_get(queue.clone(), BasicGetOptions { no_ack }).await? {
        Some(message) => Ok(message),
        None => Err(Outcome::Failed(format!("nothing in {queue}"))),
    }
}

/// Everything that is ready in the queue.
async fn bodies(channel: &Channel, queue: &ShortString) -> Result<Vec<String>> {
    let mut found = Vec::new();
    while let Some(message) = channel.basic_get(queue.clone(), BasicGetOptions { no_ack: true }).await? {
        found.push(String::from_utf8_lossy(&message.delivery.data).into_owned());
    }
    Ok(found)
}

async fn ready(channel: &Channel, queue: &ShortString) -> Result<u32> {
    let options = QueueDeclareOptions { passive: true, ..Default::default() };
    Ok(channel.queue_declare(queue.clone(), options, FieldTable::default()).await?.message_count())
}

/// The code and text of the AMQP error, or a failure.
fn refusal<T>(result: std::result::Result<T, Error>) -> Result<(u16, String)> {
    match result {
        Ok(_) => Err(Outcome::Failed("no error".into())),
        Err(error) => match error.kind() {
            ErrorKind::ProtocolError(error) => Ok((error.get_id(), error.get_message().to_string())),
            _ => Err(Outcome::Failed(format!("another error: {error}"))),
        },
    }
}

// ---- publish, consume, settle

async fn confirmed_and_consumed() -> Result {
    let (_connection, channel) = open_confirming().await?;
    let queue = declare(&channel, &[]).await?;
    let confirmation = publish_to(&channel, "", &queue, b"\x00\xffA", BasicProperties::default()).await?;
    equal(confirmation.is_ack(), true)?;
    let mut consumer = consume(&channel, &queue, false).await?;
    let delivery = next(&mut consumer).await?;
    equal(&delivery.data[..], b"\x00\xffA")?;
    equal((delivery.exchange.as_str(), &delivery.routing_key, delivery.redelivered), ("", &queue, false))?;
    delivery.ack(BasicAckOptions::default()).await?;
    equal(ready(&channel, &queue).await?, 0u32)
}

async fn thousand() -> Result {
    let (_connection, channel) = open_confirming().await?;
    let queue = declare(&channel, &[]).await?;
    let mut confirms = Vec::new();
    for number in 0..1000 {
        let body = number.to_string();
        let options = BasicPublishOptions::default();
        let properties = BasicProperties::default().with_delivery_mode(2);
        confirms.push(channel.basic_publish("".into(), queue.clone(), options, body.as_bytes(), properties).await?);
    }
    for confirm in confirms {
        equal(soon(confirm).await??.is_ack(), true)?;
    }
    channel.basic_qos(100, BasicQosOptions::default()).await?;
    let mut consumer = consume(&channel, &queue, false).await?;
    for number in 0..1000 {
        let delivery = next(&mut consumer).await?;
        equal(String::from_utf8_lossy(&delivery.data), number.to_string())?;
        if number % 50 == 49 {
            delivery.ack(BasicAckOptions { multiple: true }).await?;
        }
    }
    Ok(())
}

async fn prefetch() -> Result {
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish(&channel, &queue, &["1", "2", "3", "4", "5"]).await?;
    channel.basic_qos(3, BasicQosOptions::default()).await?;
    let mut consumer = consume(&channel, &queue, false).await?;
    let first = next(&mut consumer).await?;
    next(&mut consumer).await?;
    next(&mut consumer).await?;
    equal(ready(&channel, &queue).await?, 2u32)?;
    first.ack(BasicAckOptions::default()).await?;
    equal(&next(&mut consumer).await?.data[..], b"4")?;
    equal(ready(&channel, &queue).await?, 1u32)
}

async fn nacks() -> Result {
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish(&channel, &queue, &["1", "2", "3", "4", "5"]).await?;
    let mut taken = Vec::new();
    for _ in 0..4 {
        taken.push(get(&channel, &queue, false).await?);
    }
    taken[3].nack(BasicNackOptions { requeue: true, ..Default::default() }).await?;
    taken[1].nack(BasicNackOptions::default()).await?;
    taken[2].reject(BasicRejectOptions { requeue: true }).await?;
    taken[0].reject(BasicRejectOptions { requeue: false }).await?;
    let back = get(&channel, &queue, true).await?;
    equal((&back.delivery.data[..], back.delivery.redelivered), (&b"3"[..], true))?;
    equal(bodies(&channel, &queue).await?, ["4", "5"])
}

async fn get_counts() -> Result {
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish(&channel, &queue, &["1", "2"]).await?;
    equal(get(&channel, &queue, true).await?.message_count, 1u32)?;
    equal(channel.queue_purge(queue.clone(), QueuePurgeOptions::default()).await?, 1u32)?;
    check(channel.basic_get(queue, BasicGetOptions::default()).await?.is_none(), || "not empty".into())
}

async fn side_by_side() -> Result {
    let connection = connect().await?;
    let mut consumers = Vec::new();
    for _ in 0..10 {
        let channel = connection.create_channel().await?;
        let queue = declare(&channel, &[]).await?;
        consumers.push((consume(&channel, &queue, true).await?, channel, queue));
    }
    for number in 0..50 {
        for (_, channel, queue) in &consumers {
            publish(channel, queue, &[&number.to_string()]).await?;
        }
    }
    for (consumer, _, _) in &mut consumers {
        for number in 0..50 {
            equal(String::from_utf8_lossy(&next(consumer).await?.data), number.to_string())?;
        }
    }
    Ok(())
}

async fn cancel() -> Result {
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish(&channel, &queue, &["1"]).await?;
    let mut consumer = consume(&channel, &queue, false).await?;
    let delivery = next(&mut consumer).await?;
    channel.basic_cancel(consumer.tag(), BasicCancelOptions::default()).await?;
    check(soon(consumer.next()).await?.is_none(), || "it goes on".into())?;
    delivery.ack(BasicAckOptions::default()).await?;
    publish(&channel, &queue, &["2"]).await?;
    equal(bodies(&channel, &queue).await?, ["2"])
}

// ---- bodies, properties, headers

async fn bodies_of_many_sizes() -> Result {
    let (_connection, channel) = open_confirming().await?;
    let queue = declare(&channel, &[]).await?;
    for size in [0, 1, 131072 - 8, 131072 - 7, 1 << 20, 20 << 20] {
        let body: Vec<u8> = (0..size as u32).map(|at| (at.wrapping_mul(2654435761) >> 24) as u8).collect();
        let confirmation = publish_to(&channel, "", &queue, &body, BasicProperties::default()).await?;
        equal(confirmation.is_ack(), true)?;
        let got = get(&channel, &queue, true).await?;
        check(got.delivery.data == body, || format!("another body than the {size} bytes sent"))?;
    }
    Ok(())
}

async fn properties() -> Result {
    let sent = BasicProperties::default()
        .with_content_type("text/plain".into())
        .with_content_encoding("utf-8".into())
        .with_headers(table(&[("a", AMQPValue::LongInt(1))]))
        .with_delivery_mode(2)
        .with_priority(7)
        .with_correlation_id("c-1".into())
        .with_reply_to("replies".into())
        .with_expiration("60000".into())
        .with_message_id("m-1".into())
        .with_timestamp(1_700_000_000)
        .with_type("greeting".into())
        .with_user_id("guest".into())
        .with_app_id("interop".into())
        .with_cluster_id("somewhere".into());
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish_to(&channel, "", &queue, b"", sent.clone()).await?;
    equal(get(&channel, &queue, true).await?.delivery.properties.clone(), sent)
}

async fn headers() -> Result {
    let list = vec![AMQPValue::LongInt(1), text("two"), AMQPValue::Void, AMQPValue::Boolean(true)];
    let inner = table(&[("nested", AMQPValue::FieldTable(table(&[("deeper", text("here"))])))]);
    let sent = table(&[
        ("t", AMQPValue::Boolean(true)),
        ("b", AMQPValue::ShortShortInt(-8)),
        ("B", AMQPValue::ShortShortUInt(200)),
        ("s", AMQPValue::ShortInt(-1600)),
        ("u", AMQPValue::ShortUInt(60_000)),
        ("I", AMQPValue::LongInt(-320_000)),
        ("i", AMQPValue::LongUInt(4_000_000_000)),
        ("l", AMQPValue::LongLongInt(-(1 << 60))),
        ("f", AMQPValue::Float(0.5)),
        ("d", AMQPValue::Double(0.1)),
        ("D", AMQPValue::DecimalValue(DecimalValue { scale: 2, value: 314 })),
        ("S", text("Stafette →")),
        ("A", AMQPValue::FieldArray(FieldArray::from(list))),
        ("T", AMQPValue::Timestamp(1_700_000_000)),
        ("F", AMQPValue::FieldTable(inner)),
        ("x", AMQPValue::ByteArray(vec![0, 1, 255].into())),
        ("V", AMQPValue::Void),
    ]);
    let (_connection, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish_to(&channel, "", &queue, b"", BasicProperties::default().with_headers(sent.clone())).await?;
    equal(get(&channel, &queue, true).await?.delivery.properties.headers().clone(), Some(sent))
}

// ---- routing

async fn exchanges() -> Result {
    let (_connection, channel) = open().await?;
    let any = [("x-match", text("any")), ("length", AMQPValue::LongLongInt(4)), ("none", AMQPValue::Boolean(true))];
    let cases: [(ExchangeKind, &str, &[(&str, AMQPValue)], &[&str]); 4] = [
        (ExchangeKind::Direct, "orange", &[], &["orange"]),
        (ExchangeKind::Fanout, "", &[], &["orange", "quick.orange.fox", "lazy"]),
        (ExchangeKind::Topic, "*.orange.#", &[], &["quick.orange.fox"]),
        (ExchangeKind::Headers, "", &any, &["lazy"]),
    ];
    for (kind, key, arguments, expected) in cases {
        let (exchange, queue) = (unique("exchange"), declare(&channel, &[]).await?);
        let options = ExchangeDeclareOptions { auto_delete: true, ..Default::default() };
        channel.exchange_declare(exchange.clone(), kind, options, FieldTable::default()).await?;
        let bind = QueueBindOptions::default();
        channel.queue_bind(queue.clone(), exchange.clone(), key.into(), bind, table(arguments)).await?;
        for word in ["orange", "quick.orange.fox", "lazy"] {
            let headers = table(&[("length", AMQPValue::ShortInt(word.len() as i16))]);
            let properties = BasicProperties::default().with_headers(headers);
            publish_to(&channel, exchange.as_str(), &word.into(), word.as_bytes(), properties).await?;
        }
        equal(bodies(&channel, &queue).await?, expected)?;
        channel.queue_unbind(queue, exchange, key.into(), table(arguments)).await?;
    }
    Ok(())
}

async fn exchange_to_exchange() -> Result {
    let (_connection, channel) = open().await?;
    let (source, target, queue) = (unique("source"), unique("target"), declare(&channel, &[]).await?);
    let options = ExchangeDeclareOptions { auto_delete: true, ..Default::default() };
    channel.exchange_declare(source.clone(), ExchangeKind::Topic, options, FieldTable::default()).await?;
    channel.exchange_declare(target.clone(), ExchangeKind::Fanout, options, FieldTable::default()).await?;
    let bind = ExchangeBindOptions::default();
    channel.exchange_bind(target.clone(), source.clone(), "in.#".into(), bind, FieldTable::default()).await?;
    let bind = QueueBindOptions::default();
    channel.queue_bind(queue.clone(), target.clone(), "".into(), bind, FieldTable::default()).await?;
    channel.queue_bind(queue.clone(), source.clone(), "#".into(), bind, FieldTable::default()).await?;
    publish_to(&channel, source.as_str(), &"in.here".into(), b"through", BasicProperties::default()).await?;
    equal(bodies(&channel, &queue).await?, ["through"])?;
    let unbind = ExchangeUnbindOptions::default();
    channel.exchange_unbind(target, source, "in.#".into(), unbind, FieldTable::default()).await?;
    Ok(())
}

async fn mandatory() -> Result {
    let (_connection, channel) = open_confirming().await?;
    let options = BasicPublishOptions { mandatory: true, ..Default::default() };
    let properties = BasicProperties::default();
    let confirm = channel.basic_publish("".into(), unique("nowhere"), options, b"back", properties).await?;
    // lapin hands out the returned message with the ack that follows it.
    let Confirmation::Ack(Some(returned)) = soon(confirm).await?? else {
        return Err(Outcome::Failed("not returned before its ack".into()));
    };
    equal((returned.reply_code, returned.reply_text.as_str()), (312u16, "NO_ROUTE"))?;
    equal(&returned.delivery.data[..], b"back")
}

// ---- refusals

async fn channel_errors() -> Result {
    let (connection, channel) = open().await?;
    let other_connection = connect().await?;
    let (missing, own) = (unique("missing"), unique("own"));
    let ttl = |value| table(&[("x-message-ttl", AMQPValue::LongInt(value))]);
    channel.queue_declare(own.clone(), exclusive(), ttl(1000)).await?;
    let passive = QueueDeclareOptions { passive: true, ..Default::default() };

    let c = connection.create_channel().await?;
    let (code, why) = refusal(c.queue_declare(missing.clone(), passive, FieldTable::default()).await)?;
    equal((code, why), (404, format!("NOT_FOUND - no queue '{missing}' in vhost '/'")))?;

    let c = connection.create_channel().await?;
    c.confirm_select(ConfirmSelectOptions::default()).await?;
    let options = BasicPublishOptions::default();
    let confirm = c.basic_publish(missing.clone(), "".into(), options, b"", BasicProperties::default()).await?;
    let (code, why) = refusal(soon(confirm).await?)?;
    equal((code, why), (404, format!("NOT_FOUND - no exchange '{missing}' in vhost '/'")))?;

    let c = connection.create_channel().await?;
    let (code, why) = refusal(c.queue_declare(own.clone(), exclusive(), ttl(999)).await)?;
    equal(code, 406u16)?;
    contains(&why, "inequivalent arg 'x-message-ttl'")?;
    contains(&why, "received '999' but current is '1000'")?;

    // An ack is not answered: the error comes with what is asked next, unless it is here before that.
    let mut tries = 0;
    let (code, why) = loop {
        let c = connection.create_channel().await?;
        c.basic_ack(7, BasicAckOptions::default()).await?;
        let next = c.queue_declare("".into(), exclusive(), FieldTable::default()).await;
        tries += 1;
        match &next {
            Err(e) if tries < 50 && matches!(e.kind(), ErrorKind::InvalidChannelState(..)) => continue,
            _ => break refusal(next)?,
        }
    };
    equal((code, why.as_str()), (406, "PRECONDITION_FAILED - unknown delivery tag 7"))?;

    let c = connection.create_channel().await?;
    let options = QueueDeclareOptions::default();
    let (code, why) = refusal(c.queue_declare("amq.mine".into(), options, FieldTable::default()).await)?;
    equal(code, 403u16)?;
    contains(&why, "contains reserved prefix")?;

    let c = other_connection.create_channel().await?;
    let (code, why) = refusal(c.queue_purge(own.clone(), QueuePurgeOptions::default()).await)?;
    equal(code, 405u16)?;
    contains(&why, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue")?;

    publish(&channel, &own, &["still here"]).await?;
    equal(bodies(&channel, &own).await?, ["still here"])
}

async fn wrong_password() -> Result {
    let wrong = uri().replace("guest:guest", "guest:wrong");
    let (code, why) = refusal(Connection::connect(&wrong, ConnectionProperties::default()).await)?;
    equal(code, 403u16)?;
    contains(&why, "ACCESS_REFUSED - Login was refused")
}

async fn unknown_vhost() -> Result {
    let wrong = uri().replace("%2f", "nope");
    let (code, why) = refusal(Connection::connect(&wrong, ConnectionProperties::default()).await)?;
    equal((code, why.as_str()), (530, "NOT_ALLOWED - vhost nope not found"))
}

async fn new_secret() -> Result {
    let (connection, channel) = open().await?;
    connection.update_secret("guest".into(), "rotation".into()).await?;
    declare(&channel, &[]).await.map(drop)
}

// ---- the server speaks first

async fn consumer_cancelled() -> Result {
    let (connection, channel) = open().await?;
    let queue = unique("deleted");
    channel.queue_declare(queue.clone(), QueueDeclareOptions::default(), FieldTable::default()).await?;
    let mut consumer = consume(&channel, &queue, false).await?;
    let other = connection.create_channel().await?;
    other.queue_delete(queue, QueueDeleteOptions::default()).await?;
    // lapin ends the stream of a consumer that was cancelled.
    match soon(consumer.next()).await? {
        None | Some(Err(_)) => declare(&channel, &[]).await.map(drop),
        Some(Ok(_)) => Err(Outcome::Failed("a delivery".into())),
    }
}

async fn blocked_can_be_heard() -> Result {
    let connection = connect().await?;
    let _listener = connection.events_listener();
    equal(connection.status().blocked(), false)
}

async fn heartbeats() -> Result {
    let uri = format!("{}?heartbeat=1", uri());
    let connection = Connection::connect(&uri, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    equal(connection.configuration().heartbeat(), 1u16)?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    declare(&channel, &[]).await.map(drop)
}

// ---- lifetimes, limits, transactions, RPC

async fn expiry() -> Result {
    let (_connection, channel) = open().await?;
    let brief = declare(&channel, &[("x-message-ttl", AMQPValue::LongInt(20))]).await?;
    let plain = declare(&channel, &[]).await?;
    publish(&channel, &brief, &["queue's"]).await?;
    publish_to(&channel, "", &plain, b"own", BasicProperties::default().with_expiration("20".into())).await?;
    publish(&channel, &plain, &["stays"]).await?;
    while ready(&channel, &brief).await? > 0 || ready(&channel, &plain).await? > 1 {
        tokio::task::yield_now().await;
    }
    equal(bodies(&channel, &brief).await?, [""; 0])?;
    equal(bodies(&channel, &plain).await?, ["stays"])
}

async fn full_queue() -> Result {
    let (_connection, channel) = open_confirming().await?;
    let drop = declare(&channel, &[("x-max-length", AMQPValue::LongInt(2))]).await?;
    let limits = [("x-max-length", AMQPValue::LongInt(1)), ("x-overflow", text("reject-publish"))];
    let refuse = declare(&channel, &limits).await?;
    publish(&channel, &drop, &["1", "2", "3"]).await?;
    equal(bodies(&channel, &drop).await?, ["2", "3"])?;
    equal(publish_to(&channel, "", &refuse, b"1", BasicProperties::default()).await?.is_ack(), true)?;
    equal(publish_to(&channel, "", &refuse, b"2", BasicProperties::default()).await?.is_nack(), true)?;
    equal(bodies(&channel, &refuse).await?, ["1"])
}

async fn transaction() -> Result {
    let (connection, channel) = open().await?;
    let other = connection.create_channel().await?;
    let queue = declare(&channel, &[]).await?;
    channel.tx_select().await?;
    publish(&channel, &queue, &["lost"]).await?;
    channel.tx_rollback().await?;
    publish(&channel, &queue, &["kept"]).await?;
    equal(ready(&other, &queue).await?, 0u32)?;
    channel.tx_commit().await?;
    equal(bodies(&other, &queue).await?, ["kept"])
}

async fn direct_reply_to() -> Result {
    let (_client, calling) = open().await?;
    let (_server, serving) = open().await?;
    let queue = declare(&serving, &[]).await?;
    let mut asked = consume(&serving, &queue, true).await?;
    let mut answers = consume(&calling, &"amq.rabbitmq.reply-to".into(), true).await?;
    let call = BasicProperties::default()
        .with_reply_to("amq.rabbitmq.reply-to".into())
        .with_correlation_id("1".into());
    publish_to(&calling, "", &queue, b"6*7", call).await?;
    let question = next(&mut asked).await?;
    equal(&question.data[..], b"6*7")?;
    let Some(reply_to) = question.properties.reply_to().clone() else {
        return Err(Outcome::Failed("no reply-to".into()));
    };
    let properties = BasicProperties::default().with_correlation_id("1".into());
    publish_to(&serving, "", &reply_to, b"42", properties).await?;
    let answer = next(&mut answers).await?;
    equal((&answer.data[..], answer.properties.correlation_id().clone()), (&b"42"[..], Some("1".into())))
}

// ---- restarts

async fn restart() -> Result {
    let (connection, channel) = open().await?;
    let mut events = connection.events_listener();
    restart_broker().await?;
    let (code, why) = loop {
        match soon(events.next()).await? {
            Some(Event::Error(error)) => break refusal::<()>(Err(error))?,
            Some(_) => continue,
            None => return Err(Outcome::Failed("no error event".into())),
        }
    };
    equal(code, 320u16)?;
    contains(&why, "CONNECTION_FORCED")?;
    equal(channel.status().connected(), false)?;
    let (_again, channel) = open().await?;
    let queue = declare(&channel, &[]).await?;
    publish(&channel, &queue, &["after"]).await?;
    equal(bodies(&channel, &queue).await?, ["after"])
}

async fn recovery() -> Result {
    let properties = ConnectionProperties::default().enable_auto_recover();
    let connection = Connection::connect(&uri(), properties).await?;
    let channel = connection.create_channel().await?;
    let queue = unique("recovered");
    channel.queue_declare(queue.clone(), QueueDeclareOptions::durable(), FieldTable::default()).await?;
    let mut consumer = consume(&channel, &queue, true).await?;
    restart_broker().await?;
    let (_other, publishing) = open().await?;
    publishing.queue_declare(queue.clone(), QueueDeclareOptions::durable(), FieldTable::default()).await?;
    publish(&publishing, &queue, &["after"]).await?;
    loop {
        match soon(consumer.next()).await? {
            Some(Ok(delivery)) => {
                equal(&delivery.data[..], b"after")?;
                break;
            }
            Some(Err(_)) => continue, // the loss itself may be told
            None => return Err(Outcome::Failed("the consumer has ended".into())),
        }
    }
    publishing.queue_delete(queue, QueueDeleteOptions::default()).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut tests = Tests::default();
    tests.add("a confirmed publish is consumed with its body unchanged", confirmed_and_consumed);
    tests.add("1000 publishes are each confirmed, and consumed in order", thousand);
    tests.add("prefetch 3 leaves the fourth message in the queue until one is acked", prefetch);
    tests.add("nacks requeue or drop as they say, and requeued messages keep their order", nacks);
    tests.add("basic.get and purge count what is left", get_counts);
    tests.add("10 channels of a connection work side by side", side_by_side);
    tests.add("after cancel the stream ends, and what is unacked stays ackable", cancel);
    tests.add("bodies from nothing to 20 MiB come back unchanged", bodies_of_many_sizes);
    tests.add("every message property comes back unchanged", properties);
    tests.add("headers of every field type come back unchanged", headers);
    tests.add("exchanges of each type route as bound", exchanges);
    tests.add("a message passes from exchange to exchange, once for each queue", exchange_to_exchange);
    tests.add("a mandatory message without a route is returned before it is confirmed", mandatory);
    tests.add("channel errors carry the right codes and leave the connection alone", channel_errors);
    tests.add("a wrong password is refused with 403", wrong_password);
    tests.add("an unknown virtual host is refused with 530", unknown_vhost);
    tests.add("a new secret is taken", new_secret);
    tests.add("a consumer hears of its queue's deletion", consumer_cancelled);
    tests.add("a program can ask to hear of connection.blocked", blocked_can_be_heard);
    tests.add("an idle connection lives on heartbeats", heartbeats);
    tests.add("an expired message is not delivered", expiry);
    tests.add("a full queue drops its oldest message, or refuses the newest with a nack", full_queue);
    tests.add("a transaction shows its publishes at commit and forgets them at rollback", transaction);
    tests.add("a call by direct reply-to gets its answer", direct_reply_to);
    tests.add("a restart ends the connection with 320, and the program can connect again", restart);
    tests.add("lapin's recovery sets its queue and consumer up again after a restart", recovery);
    if tests.run().await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

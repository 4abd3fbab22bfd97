#define _GNU_SOURCE /* memmem */

/* Baton as C programs that use librabbitmq meet it. Each test is a function; a failed expectation
 * ends it by a jump to the runner, which prints why. */

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- what a test can say */

static jmp_buf test_end;
static char why[1024];
static int line_of_failure;

static void fail(int line, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void fail(int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  line_of_failure = line;
  longjmp(test_end, 1);
}
static void skip(const char *reason) {
  snprintf(why, sizeof why, "%s", reason);
  longjmp(test_end, 2);
}
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, "not so: %s", #condition))
#define CHECK_NUMBER(got, expected)                                                      \
  do {                                                                                   \
    long long got_ = (long long)(got), expected_ = (long long)(expected);                \
    if (got_ != expected_)                                                               \
      fail(__LINE__, "%s is %lld, expected %lld", #got, got_, expected_);                \
  } while (0)
#define CHECK_TEXT(got, expected)                                                        \
  do {                                                                                   \
    amqp_bytes_t text_ = (got);                                                          \
    const char *expected_ = (expected);                                                  \
    if (text_.len != strlen(expected_) || memcmp(text_.bytes, expected_, text_.len) != 0) \
      fail(__LINE__, "%s is '%.*s', expected '%s'", #got, (int)text_.len,                \
           (char *)text_.bytes, expected_);                                              \
  } while (0)

/* ---- connections */

static char host[256], user[64], password[64];
static int port;

static void take_uri(void) {
  const char *uri = getenv("BATON_URI");
  struct amqp_connection_info info;
  static char copy[512];
  snprintf(copy, sizeof copy, "%s", uri ? uri : "amqp://guest:guest@127.0.0.1:5672/%2f");
  amqp_default_connection_info(&info);
  if (amqp_parse_url(copy, &info) != AMQP_STATUS_OK) {
    fprintf(stderr, "BATON_URI is no URI\n");
    exit(2);
  }
  snprintf(host, sizeof host, "%s", info.host);
  snprintf(user, sizeof user, "%s", info.user);
  snprintf(password, sizeof password, "%s", info.password);
  port = info.port;
}

/* Connections that a test leaves behind are destroyed by the runner. */
static amqp_connection_state_t opened[16];
static int opened_count;

static amqp_connection_state_t connect_socket(void) {
  amqp_connection_state_t connection = amqp_new_connection();
  amqp_socket_t *socket = amqp_tcp_socket_new(connection);
  opened[opened_count++] = connection;
  if (amqp_socket_open(socket, host, port) != AMQP_STATUS_OK) fail(__LINE__, "cannot connect");
  return connection;
}

static amqp_rpc_reply_t log_in(amqp_connection_state_t connection, const char *vhost, const char *secret,
                               int heartbeat) {
  amqp_table_entry_t capability[2] = {
      {amqp_cstring_bytes("consumer_cancel_notify"), {AMQP_FIELD_KIND_BOOLEAN, {.boolean = 1}}},
      {amqp_cstring_bytes("connection.blocked"), {AMQP_FIELD_KIND_BOOLEAN, {.boolean = 1}}},
  };
  amqp_table_entry_t properties[1] = {
      {amqp_cstring_bytes("capabilities"), {AMQP_FIELD_KIND_TABLE, {.table = {2, capability}}}}};
  amqp_table_t table = {1, properties};
  return amqp_login_with_properties(connection, vhost, 0, 131072, heartbeat, &table,
                                    AMQP_SASL_METHOD_PLAIN, user, secret);
}

static amqp_connection_state_t open_connection(int heartbeat) {
  amqp_connection_state_t connection = connect_socket();
  amqp_rpc_reply_t reply = log_in(connection, "/", password, heartbeat);
  CHECK_NUMBER(reply.reply_type, AMQP_RESPONSE_NORMAL);
  CHECK(amqp_channel_open(connection, 1));
  return connection;
}

/* ---- shorter words for what tests do */

static const amqp_bytes_t nothing = {0, NULL};
static amqp_bytes_t text(const char *of) { return amqp_cstring_bytes(of); }

static amqp_bytes_t declare_with(amqp_connection_state_t c, amqp_table_t arguments) {
  static char names[32][64];
  static int next;
  amqp_queue_declare_ok_t *ok = amqp_queue_declare(c, 1, nothing, 0, 0, 1, 0, arguments);
  CHECK(ok);
  char *name = names[next++ % 32];
  snprintf(name, 64, "%.*s", (int)ok->queue.len, (char *)ok->queue.bytes);
  return text(name);
}
static amqp_bytes_t declare(amqp_connection_state_t c) { return declare_with(c, amqp_empty_table); }

static void publish_to(amqp_connection_state_t c, const char *exchange, amqp_bytes_t key,
                       const char *body) {
  CHECK_NUMBER(amqp_basic_publish(c, 1, text(exchange), key, 0, 0, NULL, text(body)), AMQP_STATUS_OK);
}
static void publish(amqp_connection_state_t c, amqp_bytes_t queue, const char *body) {
  publish_to(c, "", queue, body);
}

/* Messages ready in a queue, by a passive declare. */
static unsigned ready(amqp_connection_state_t c, amqp_bytes_t queue) {
  amqp_queue_declare_ok_t *ok = amqp_queue_declare(c, 1, queue, 1, 0, 0, 0, amqp_empty_table);
  CHECK(ok);
  return ok->message_count;
}

/* basic.get: false when the queue is empty, else the message, its tag and whether it was redelivered. */
static bool get(amqp_connection_state_t c, amqp_bytes_t queue, bool no_ack, amqp_message_t *message,
                uint64_t *tag, bool *redelivered) {
  amqp_rpc_reply_t reply = amqp_basic_get(c, 1, queue, no_ack);
  CHECK_NUMBER(reply.reply_type, AMQP_RESPONSE_NORMAL);
  if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return false;
  CHECK_NUMBER(reply.reply.id, AMQP_BASIC_GET_OK_METHOD);
  amqp_basic_get_ok_t *ok = reply.reply.decoded;
  if (tag) *tag = ok->delivery_tag;
  if (redelivered) *redelivered = ok->redelivered;
  CHECK_NUMBER(amqp_read_message(c, 1, message, 0).reply_type, AMQP_RESPONSE_NORMAL);
  return true;
}

static void expect_next(amqp_connection_state_t c, amqp_bytes_t queue, const char *body) {
  amqp_message_t message;
  CHECK(get(c, queue, true, &message, NULL, NULL));
  CHECK_TEXT(message.body, body);
  amqp_destroy_message(&message);
}
static void expect_empty(amqp_connection_state_t c, amqp_bytes_t queue) {
  amqp_message_t message;
  CHECK(!get(c, queue, true, &message, NULL, NULL));
}
static uint64_t take(amqp_connection_state_t c, amqp_bytes_t queue) {
  amqp_message_t message;
  uint64_t tag;
  CHECK(get(c, queue, false, &message, &tag, NULL));
  amqp_destroy_message(&message);
  return tag;
}

/* The next delivery, within 10 s. */
static amqp_envelope_t delivery(amqp_connection_state_t c) {
  amqp_envelope_t envelope;
  struct timeval limit = {10, 0};
  amqp_rpc_reply_t reply = amqp_consume_message(c, &envelope, &limit, 0);
  CHECK_NUMBER(reply.reply_type, AMQP_RESPONSE_NORMAL);
  return envelope;
}

/* The next frame must be this method, within 10 s; gives what it says. */
static void *method(amqp_connection_state_t c, amqp_method_number_t expected) {
  amqp_frame_t frame;
  struct timeval limit = {10, 0};
  CHECK_NUMBER(amqp_simple_wait_frame_noblock(c, &frame, &limit), AMQP_STATUS_OK);
  CHECK_NUMBER(frame.frame_type, AMQP_FRAME_METHOD);
  if (frame.payload.method.id != expected)
    fail(__LINE__, "method %s, expected %s", amqp_method_name(frame.payload.method.id),
         amqp_method_name(expected));
  return frame.payload.method.decoded;
}

/* The last call closed channel 1 with this code; opens it again. */
static void channel_error(amqp_connection_state_t c, int code, const char *part) {
  amqp_rpc_reply_t reply = amqp_get_rpc_reply(c);
  CHECK_NUMBER(reply.reply_type, AMQP_RESPONSE_SERVER_EXCEPTION);
  CHECK_NUMBER(reply.reply.id, AMQP_CHANNEL_CLOSE_METHOD);
  amqp_channel_close_t *closed = reply.reply.decoded;
  CHECK_NUMBER(closed->reply_code, code);
  if (!memmem(closed->reply_text.bytes, closed->reply_text.len, part, strlen(part)))
    fail(__LINE__, "'%.*s' does not contain '%s'", (int)closed->reply_text.len,
         (char *)closed->reply_text.bytes, part);
  amqp_channel_close_ok_t ok = {0};
  CHECK_NUMBER(amqp_send_method(c, 1, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok), AMQP_STATUS_OK);
  CHECK(amqp_channel_open(c, 1));
}

static amqp_table_t one_integer(const char *name, int32_t value) {
  static amqp_table_entry_t entry;
  entry = (amqp_table_entry_t){text(name), {AMQP_FIELD_KIND_I32, {.i32 = value}}};
  return (amqp_table_t){1, &entry};
}

/* ---- publish, consume, settle */

static void a_confirmed_publish_is_consumed_with_its_body_unchanged(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  CHECK(amqp_confirm_select(c, 1));
  publish(c, queue, "hello");
  amqp_basic_ack_t *ack = method(c, AMQP_BASIC_ACK_METHOD);
  CHECK_NUMBER(ack->delivery_tag, 1);
  CHECK(amqp_basic_consume(c, 1, queue, text("mine"), 0, 0, 0, amqp_empty_table));
  amqp_envelope_t got = delivery(c);
  CHECK_TEXT(got.message.body, "hello");
  CHECK_TEXT(got.consumer_tag, "mine");
  CHECK_NUMBER(got.redelivered, 0);
  CHECK_NUMBER(amqp_basic_ack(c, 1, got.delivery_tag, 0), AMQP_STATUS_OK);
  amqp_destroy_envelope(&got);
  CHECK_NUMBER(ready(c, queue), 0);
}

static void all_of_1000_publishes_are_confirmed_and_consumed_in_order(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  CHECK(amqp_confirm_select(c, 1));
  char body[16];
  for (int number = 0; number < 1000; ++number) {
    snprintf(body, sizeof body, "%d", number);
    publish(c, queue, body);
  }
  bool confirmed[1001] = {false};
  for (int open = 1000; open > 0;) {
    amqp_basic_ack_t *ack = method(c, AMQP_BASIC_ACK_METHOD);
    CHECK(ack->delivery_tag >= 1 && ack->delivery_tag <= 1000);
    uint64_t first = ack->multiple ? 1 : ack->delivery_tag;
    CHECK(!confirmed[ack->delivery_tag]);
    for (uint64_t tag = first; tag <= ack->delivery_tag; ++tag) {
      open -= !confirmed[tag];
      confirmed[tag] = true;
    }
    amqp_maybe_release_buffers(c);
  }
  CHECK(amqp_basic_qos(c, 1, 0, 100, 0));
  CHECK(amqp_basic_consume(c, 1, queue, nothing, 0, 0, 0, amqp_empty_table));
  for (int number = 0; number < 1000; ++number) {
    amqp_envelope_t got = delivery(c);
    snprintf(body, sizeof body, "%d", number);
    CHECK_TEXT(got.message.body, body);
    if (number % 50 == 49) amqp_basic_ack(c, 1, got.delivery_tag, 1);
    amqp_destroy_envelope(&got);
    amqp_maybe_release_buffers(c);
  }
}

static void prefetch_3_leaves_the_fourth_message_in_the_queue_until_one_is_acked(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  for (int i = 0; i < 5; ++i) publish(c, queue, "m");
  CHECK(amqp_basic_qos(c, 1, 0, 3, 0));
  CHECK(amqp_basic_consume(c, 1, queue, nothing, 0, 0, 0, amqp_empty_table));
  uint64_t first = 0;
  for (int i = 0; i < 3; ++i) {
    amqp_envelope_t got = delivery(c);
    if (i == 0) first = got.delivery_tag;
    amqp_destroy_envelope(&got);
  }
  CHECK_NUMBER(ready(c, queue), 2);
  amqp_basic_ack(c, 1, first, 0);
  amqp_envelope_t fourth = delivery(c);
  CHECK_NUMBER(fourth.delivery_tag, 4);
  amqp_destroy_envelope(&fourth);
  CHECK_NUMBER(ready(c, queue), 1);
}

static void nacks_requeue_or_drop_as_they_say(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  const char *bodies[] = {"1", "2", "3", "4"};
  uint64_t tags[4];
  for (int i = 0; i < 4; ++i) publish(c, queue, bodies[i]);
  for (int i = 0; i < 4; ++i) tags[i] = take(c, queue);
  amqp_basic_nack(c, 1, tags[3], 0, 1);
  amqp_basic_nack(c, 1, tags[1], 0, 0);
  amqp_basic_reject(c, 1, tags[2], 1);
  amqp_basic_reject(c, 1, tags[0], 0);
  amqp_message_t message;
  bool redelivered;
  CHECK(get(c, queue, true, &message, NULL, &redelivered));
  CHECK_TEXT(message.body, "3");
  CHECK(redelivered);
  amqp_destroy_message(&message);
  expect_next(c, queue, "4");
  expect_empty(c, queue);
}

static void recover_returns_what_an_ack_with_multiple_left(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  publish(c, queue, "1");
  publish(c, queue, "2");
  publish(c, queue, "3");
  take(c, queue);
  uint64_t second = take(c, queue);
  take(c, queue);
  amqp_basic_ack(c, 1, second, 1);
  CHECK(amqp_basic_recover(c, 1, 1));
  expect_next(c, queue, "3");
  expect_empty(c, queue);
}

static void purge_and_delete_count_what_they_remove(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  publish(c, queue, "1");
  publish(c, queue, "2");
  amqp_queue_purge_ok_t *purged = amqp_queue_purge(c, 1, queue);
  CHECK(purged);
  CHECK_NUMBER(purged->message_count, 2);
  publish(c, queue, "3");
  amqp_queue_delete_ok_t *deleted = amqp_queue_delete(c, 1, queue, 0, 0);
  CHECK(deleted);
  CHECK_NUMBER(deleted->message_count, 1);
}

static void two_channels_of_a_connection_work_side_by_side(void) {
  amqp_connection_state_t c = open_connection(0);
  CHECK(amqp_channel_open(c, 2));
  amqp_bytes_t queue = declare(c);
  CHECK(amqp_basic_consume(c, 2, queue, text("two"), 0, 1, 0, amqp_empty_table));
  for (int i = 0; i < 10; ++i) publish(c, queue, "m");
  for (int i = 0; i < 10; ++i) {
    amqp_envelope_t got = delivery(c);
    CHECK_NUMBER(got.channel, 2);
    amqp_destroy_envelope(&got);
  }
  CHECK_NUMBER(amqp_channel_close(c, 2, AMQP_REPLY_SUCCESS).reply_type, AMQP_RESPONSE_NORMAL);
  CHECK_NUMBER(ready(c, queue), 0);
}

/* ---- bodies, properties, headers */

static void comes_back(size_t size) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  CHECK(amqp_confirm_select(c, 1));
  amqp_bytes_t body = amqp_bytes_malloc(size ? size : 1);
  body.len = size;
  for (size_t i = 0; i < size; ++i) ((unsigned char *)body.bytes)[i] = (unsigned char)(i * 2654435761u >> 24);
  CHECK_NUMBER(amqp_basic_publish(c, 1, nothing, queue, 0, 0, NULL, body), AMQP_STATUS_OK);
  method(c, AMQP_BASIC_ACK_METHOD);
  amqp_message_t message;
  CHECK(get(c, queue, true, &message, NULL, NULL));
  CHECK_NUMBER(message.body.len, size);
  CHECK(size == 0 || memcmp(message.body.bytes, body.bytes, size) == 0);
  amqp_destroy_message(&message);
  amqp_bytes_free(body);
}
static void an_empty_body_comes_back_empty(void) { comes_back(0); }
static void a_body_of_1_mib_comes_back_unchanged(void) { comes_back(1 << 20); }
static void a_body_of_20_mib_comes_back_unchanged(void) { comes_back(20 << 20); }
static void a_body_of_exactly_one_frame_comes_back_unchanged(void) { comes_back(131072 - 8); }

static void every_message_property_comes_back_unchanged(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  amqp_basic_properties_t sent = {
      ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_CONTENT_ENCODING_FLAG |
                AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_PRIORITY_FLAG |
                AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_REPLY_TO_FLAG |
                AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG |
                AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_USER_ID_FLAG | AMQP_BASIC_APP_ID_FLAG |
                AMQP_BASIC_CLUSTER_ID_FLAG,
      .content_type = text("text/plain"), .content_encoding = text("utf-8"), .delivery_mode = 2,
      .priority = 7, .correlation_id = text("c-1"), .reply_to = text("replies"),
      .expiration = text("60000"), .message_id = text("m-1"), .timestamp = 1700000000,
      .type = text("greeting"), .user_id = text(user), .app_id = text("interop"),
      .cluster_id = text("somewhere")};
  CHECK_NUMBER(amqp_basic_publish(c, 1, nothing, queue, 0, 0, &sent, nothing), AMQP_STATUS_OK);
  amqp_message_t message;
  CHECK(get(c, queue, true, &message, NULL, NULL));
  amqp_basic_properties_t *got = &message.properties;
  CHECK_NUMBER(got->_flags, sent._flags);
  CHECK_TEXT(got->content_type, "text/plain");
  CHECK_TEXT(got->content_encoding, "utf-8");
  CHECK_NUMBER(got->delivery_mode, 2);
  CHECK_NUMBER(got->priority, 7);
  CHECK_TEXT(got->correlation_id, "c-1");
  CHECK_TEXT(got->reply_to, "replies");
  CHECK_TEXT(got->expiration, "60000");
  CHECK_TEXT(got->message_id, "m-1");
  CHECK_NUMBER(got->timestamp, 1700000000);
  CHECK_TEXT(got->type, "greeting");
  CHECK_TEXT(got->user_id, user);
  CHECK_TEXT(got->app_id, "interop");
  CHECK_TEXT(got->cluster_id, "somewhere");
  amqp_destroy_message(&message);
}

static bool same_value(const amqp_field_value_t *a, const amqp_field_value_t *b);
static bool same_table(const amqp_table_t *a, const amqp_table_t *b) {
  if (a->num_entries != b->num_entries) return false;
  for (int i = 0; i < a->num_entries; ++i) {
    const amqp_bytes_t *x = &a->entries[i].key, *y = &b->entries[i].key;
    if (x->len != y->len || memcmp(x->bytes, y->bytes, x->len) != 0) return false;
    if (!same_value(&a->entries[i].value, &b->entries[i].value)) return false;
  }
  return true;
}
static bool same_value(const amqp_field_value_t *a, const amqp_field_value_t *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case AMQP_FIELD_KIND_BOOLEAN: return a->value.boolean == b->value.boolean;
    case AMQP_FIELD_KIND_I8: return a->value.i8 == b->value.i8;
    case AMQP_FIELD_KIND_U8: return a->value.u8 == b->value.u8;
    case AMQP_FIELD_KIND_I16: return a->value.i16 == b->value.i16;
    case AMQP_FIELD_KIND_U16: return a->value.u16 == b->value.u16;
    case AMQP_FIELD_KIND_I32: return a->value.i32 == b->value.i32;
    case AMQP_FIELD_KIND_U32: return a->value.u32 == b->value.u32;
    case AMQP_FIELD_KIND_I64: return a->value.i64 == b->value.i64;
    case AMQP_FIELD_KIND_TIMESTAMP: return a->value.u64 == b->value.u64;
    case AMQP_FIELD_KIND_F32: return a->value.f32 == b->value.f32;
    case AMQP_FIELD_KIND_F64: return a->value.f64 == b->value.f64;
    case AMQP_FIELD_KIND_DECIMAL:
      return a->value.decimal.decimals == b->value.decimal.decimals &&
             a->value.decimal.value == b->value.decimal.value;
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      return a->value.bytes.len == b->value.bytes.len &&
             memcmp(a->value.bytes.bytes, b->value.bytes.bytes, a->value.bytes.len) == 0;
    case AMQP_FIELD_KIND_ARRAY:
      if (a->value.array.num_entries != b->value.array.num_entries) return false;
      for (int i = 0; i < a->value.array.num_entries; ++i)
        if (!same_value(&a->value.array.entries[i], &b->value.array.entries[i])) return false;
      return true;
    case AMQP_FIELD_KIND_TABLE: return same_table(&a->value.table, &b->value.table);
    case AMQP_FIELD_KIND_VOID: return true;
    default: return false;
  }
}

static void headers_of_every_field_type_come_back_unchanged_and_in_order(void) {
#define VALUE(type, field, of) {AMQP_FIELD_KIND_##type, {.field = of}}
  amqp_field_value_t list[] = {VALUE(I32, i32, 1), VALUE(UTF8, bytes, text("two")),
                               VALUE(VOID, u8, 0), VALUE(BOOLEAN, boolean, 1)};
  amqp_table_entry_t inner[] = {
      {text("zebra"), VALUE(UTF8, bytes, text("first"))},
      {text("ant"), {AMQP_FIELD_KIND_ARRAY, {.array = {0, NULL}}}},
      {text("empty"), {AMQP_FIELD_KIND_TABLE, {.table = {0, NULL}}}}};
  amqp_table_entry_t entries[] = {
      {text("t"), VALUE(BOOLEAN, boolean, 1)},      {text("b"), VALUE(I8, i8, -8)},
      {text("B"), VALUE(U8, u8, 200)},              {text("s"), VALUE(I16, i16, -1600)},
      {text("u"), VALUE(U16, u16, 60000)},          {text("I"), VALUE(I32, i32, -320000)},
      {text("i"), VALUE(U32, u32, 4000000000u)},    {text("l"), VALUE(I64, i64, -(1LL << 60))},
      {text("f"), VALUE(F32, f32, 0.5f)},           {text("d"), VALUE(F64, f64, 0.1)},
      {text("D"), {AMQP_FIELD_KIND_DECIMAL, {.decimal = {2, 314}}}},
      {text("S"), VALUE(UTF8, bytes, text("text"))},
      {text("x"), {AMQP_FIELD_KIND_BYTES, {.bytes = {3, "\0\1\377"}}}},
      {text("A"), {AMQP_FIELD_KIND_ARRAY, {.array = {4, list}}}},
      {text("T"), VALUE(TIMESTAMP, u64, 1700000000)},
      {text("F"), {AMQP_FIELD_KIND_TABLE, {.table = {3, inner}}}},
      {text("V"), VALUE(VOID, u8, 0)}};
#undef VALUE
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  amqp_basic_properties_t sent = {._flags = AMQP_BASIC_HEADERS_FLAG,
                                  .headers = {sizeof entries / sizeof *entries, entries}};
  CHECK_NUMBER(amqp_basic_publish(c, 1, nothing, queue, 0, 0, &sent, nothing), AMQP_STATUS_OK);
  amqp_message_t message;
  CHECK(get(c, queue, true, &message, NULL, NULL));
  CHECK_NUMBER(message.properties.headers.num_entries, sent.headers.num_entries);
  for (int i = 0; i < sent.headers.num_entries; ++i)
    if (!same_value(&entries[i].value, &message.properties.headers.entries[i].value))
      fail(__LINE__, "another value of type %c", entries[i].value.kind);
  CHECK(same_table(&sent.headers, &message.properties.headers));
  amqp_destroy_message(&message);
}

/* ---- routing */

static void exchanges_of_each_type_route_as_bound(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t direct = declare(c), fanout = declare(c), topic = declare(c);
  CHECK(amqp_queue_bind(c, 1, direct, text("amq.direct"), text("red"), amqp_empty_table));
  CHECK(amqp_queue_bind(c, 1, fanout, text("amq.fanout"), nothing, amqp_empty_table));
  CHECK(amqp_queue_bind(c, 1, topic, text("amq.topic"), text("*.red.#"), amqp_empty_table));
  publish_to(c, "amq.direct", text("red"), "1");
  publish_to(c, "amq.direct", text("blue"), "2");
  publish_to(c, "amq.fanout", text("any"), "3");
  publish_to(c, "amq.topic", text("a.red.b.c"), "4");
  publish_to(c, "amq.topic", text("red.a"), "5");
  expect_next(c, direct, "1");
  expect_empty(c, direct);
  expect_next(c, fanout, "3");
  expect_next(c, topic, "4");
  expect_empty(c, topic);
  CHECK(amqp_queue_unbind(c, 1, topic, text("amq.topic"), text("*.red.#"), amqp_empty_table));
}

static void a_headers_exchange_matches_integers_of_any_width(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  amqp_table_entry_t bound[] = {{text("x-match"), {AMQP_FIELD_KIND_UTF8, {.bytes = text("all")}}},
                                {text("size"), {AMQP_FIELD_KIND_I64, {.i64 = 5}}}};
  CHECK(amqp_queue_bind(c, 1, queue, text("amq.headers"), nothing, (amqp_table_t){2, bound}));
  amqp_table_entry_t header = {text("size"), {AMQP_FIELD_KIND_I8, {.i8 = 5}}};
  amqp_basic_properties_t properties = {._flags = AMQP_BASIC_HEADERS_FLAG, .headers = {1, &header}};
  amqp_basic_publish(c, 1, text("amq.headers"), nothing, 0, 0, &properties, text("equal"));
  header.value.value.i8 = 6;
  amqp_basic_publish(c, 1, text("amq.headers"), nothing, 0, 0, &properties, text("other"));
  expect_next(c, queue, "equal");
  expect_empty(c, queue);
}

static void a_message_passes_from_exchange_to_exchange(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  amqp_bytes_t source = text("interop.c.source"), target = text("interop.c.target");
  CHECK(amqp_exchange_declare(c, 1, source, text("topic"), 0, 0, 1, 0, amqp_empty_table));
  CHECK(amqp_exchange_declare(c, 1, target, text("fanout"), 0, 0, 1, 0, amqp_empty_table));
  CHECK(amqp_exchange_bind(c, 1, target, source, text("in.#"), amqp_empty_table));
  CHECK(amqp_queue_bind(c, 1, queue, target, nothing, amqp_empty_table));
  publish_to(c, "interop.c.source", text("in.here"), "through");
  expect_next(c, queue, "through");
  CHECK(amqp_exchange_unbind(c, 1, target, source, text("in.#"), amqp_empty_table));
  CHECK(!amqp_exchange_declare(c, 1, source, text("topic"), 1, 0, 0, 0, amqp_empty_table));
  channel_error(c, 404, "no exchange 'interop.c.source'"); /* it went with its last binding */
}

static void a_mandatory_message_without_a_route_is_returned_then_confirmed(void) {
  amqp_connection_state_t c = open_connection(0);
  CHECK(amqp_confirm_select(c, 1));
  CHECK_NUMBER(amqp_basic_publish(c, 1, nothing, text("interop.c.nowhere"), 1, 0, NULL, text("back")),
               AMQP_STATUS_OK);
  amqp_basic_return_t *returned = method(c, AMQP_BASIC_RETURN_METHOD);
  CHECK_NUMBER(returned->reply_code, 312);
  CHECK_TEXT(returned->reply_text, "NO_ROUTE");
  amqp_message_t message;
  CHECK_NUMBER(amqp_read_message(c, 1, &message, 0).reply_type, AMQP_RESPONSE_NORMAL);
  CHECK_TEXT(message.body, "back");
  amqp_destroy_message(&message);
  amqp_basic_ack_t *ack = method(c, AMQP_BASIC_ACK_METHOD);
  CHECK_NUMBER(ack->delivery_tag, 1);
}

/* ---- refusals */

static void channel_errors_carry_the_right_codes_and_leave_the_connection_alone(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t mine = text("interop.c.mine"), missing = text("interop.c.missing");
  CHECK(amqp_queue_declare(c, 1, mine, 0, 0, 1, 0, one_integer("x-message-ttl", 1000)));
  CHECK(!amqp_queue_declare(c, 1, missing, 1, 0, 0, 0, amqp_empty_table));
  channel_error(c, 404, "NOT_FOUND - no queue 'interop.c.missing' in vhost '/'");
  publish_to(c, "interop.c.missing", nothing, "m");
  CHECK(!amqp_queue_declare(c, 1, nothing, 0, 0, 1, 0, amqp_empty_table));
  channel_error(c, 404, "NOT_FOUND - no exchange 'interop.c.missing' in vhost '/'");
  CHECK(!amqp_queue_declare(c, 1, mine, 0, 0, 1, 0, one_integer("x-message-ttl", 999)));
  channel_error(c, 406, "inequivalent arg 'x-message-ttl' for queue 'interop.c.mine' in vhost '/': "
                        "received '999' but current is '1000'");
  amqp_basic_ack(c, 1, 42, 0);
  CHECK(!amqp_queue_declare(c, 1, nothing, 0, 0, 1, 0, amqp_empty_table));
  channel_error(c, 406, "PRECONDITION_FAILED - unknown delivery tag 42");
  CHECK(!amqp_queue_declare(c, 1, text("amq.mine"), 0, 0, 0, 0, amqp_empty_table));
  channel_error(c, 403, "ACCESS_REFUSED - queue name 'amq.mine' contains reserved prefix");
  CHECK(!amqp_exchange_delete(c, 1, text("amq.direct"), 0));
  channel_error(c, 403, "ACCESS_REFUSED");
  amqp_connection_state_t other = open_connection(0);
  CHECK(!amqp_queue_purge(other, 1, mine));
  channel_error(other, 405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue");
  publish(c, mine, "still here");
  expect_next(c, mine, "still here");
}

static int refusal(const char *vhost, const char *secret) {
  amqp_connection_state_t c = connect_socket();
  amqp_rpc_reply_t reply = log_in(c, vhost, secret, 0);
  CHECK_NUMBER(reply.reply_type, AMQP_RESPONSE_SERVER_EXCEPTION);
  CHECK_NUMBER(reply.reply.id, AMQP_CONNECTION_CLOSE_METHOD);
  return ((amqp_connection_close_t *)reply.reply.decoded)->reply_code;
}
static void a_wrong_password_is_refused_with_403(void) { CHECK_NUMBER(refusal("/", "wrong"), 403); }
static void an_unknown_virtual_host_is_refused_with_530(void) {
  CHECK_NUMBER(refusal("nope", password), 530);
}

/* ---- the server speaks first */

static void a_consumer_hears_of_its_queues_deletion_by_basic_cancel(void) {
  amqp_connection_state_t c = open_connection(0), other = open_connection(0);
  amqp_bytes_t queue = text("interop.c.deleted");
  CHECK(amqp_queue_declare(c, 1, queue, 0, 0, 0, 0, amqp_empty_table));
  CHECK(amqp_basic_consume(c, 1, queue, text("mine"), 0, 0, 0, amqp_empty_table));
  CHECK(amqp_queue_delete(other, 1, queue, 0, 0));
  amqp_basic_cancel_t *cancel = method(c, AMQP_BASIC_CANCEL_METHOD);
  CHECK_TEXT(cancel->consumer_tag, "mine");
  declare(c);
}

static amqp_field_value_t *find(amqp_table_t *table, const char *key) {
  for (int i = 0; i < table->num_entries; ++i) {
    const amqp_bytes_t *here = &table->entries[i].key;
    if (here->len == strlen(key) && memcmp(here->bytes, key, here->len) == 0)
      return &table->entries[i].value;
  }
  return NULL;
}

static void the_server_names_its_capabilities(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_table_t *properties = amqp_get_server_properties(c);
  const char *wanted[] = {"publisher_confirms", "exchange_exchange_bindings", "basic.nack",
                          "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
                          "authentication_failure_close", "per_consumer_qos", "direct_reply_to"};
  amqp_field_value_t *capabilities = find(properties, "capabilities");
  CHECK(capabilities && capabilities->kind == AMQP_FIELD_KIND_TABLE);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    amqp_field_value_t *it = find(&capabilities->value.table, wanted[i]);
    if (!it || it->kind != AMQP_FIELD_KIND_BOOLEAN || !it->value.boolean)
      fail(__LINE__, "no capability %s", wanted[i]);
  }
}

static void an_idle_connection_lives_on_heartbeats(void) {
  amqp_connection_state_t c = open_connection(1);
  CHECK_NUMBER(amqp_get_heartbeat(c), 1);
  time_t end = time(NULL) + 4;
  while (time(NULL) < end) { /* librabbitmq sends and checks heartbeats while it waits for a frame */
    amqp_frame_t frame;
    struct timeval limit = {0, 200000};
    CHECK_NUMBER(amqp_simple_wait_frame_noblock(c, &frame, &limit), AMQP_STATUS_TIMEOUT);
  }
  declare(c);
}

static void a_client_that_stops_its_heartbeats_is_disconnected(void) {
  amqp_connection_state_t c = open_connection(1);
  struct pollfd socket = {.fd = amqp_get_sockfd(c), .events = POLLIN};
  char bytes[4096]; /* read past librabbitmq, so that it sends nothing */
  ssize_t got;
  do {
    CHECK_NUMBER(poll(&socket, 1, 10000), 1);
    got = recv(socket.fd, bytes, sizeof bytes, 0);
  } while (got > 0 || (got < 0 && errno == EAGAIN));
  CHECK(got == 0 || errno == ECONNRESET);
}

/* ---- lifetimes, limits, transactions, RPC */

static void an_expired_message_is_not_delivered(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t brief = declare_with(c, one_integer("x-message-ttl", 20)), plain = declare(c);
  publish(c, brief, "queue's");
  amqp_basic_properties_t properties = {._flags = AMQP_BASIC_EXPIRATION_FLAG, .expiration = text("20")};
  amqp_basic_publish(c, 1, nothing, plain, 0, 0, &properties, text("its own"));
  publish(c, plain, "stays");
  while (ready(c, brief) > 0 || ready(c, plain) > 1) amqp_maybe_release_buffers(c);
  expect_empty(c, brief);
  expect_next(c, plain, "stays");
}

static void a_full_queue_drops_its_oldest_message_or_refuses_the_newest(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t drop = declare_with(c, one_integer("x-max-length", 2));
  amqp_table_entry_t limits[] = {
      {text("x-max-length"), {AMQP_FIELD_KIND_I32, {.i32 = 1}}},
      {text("x-overflow"), {AMQP_FIELD_KIND_UTF8, {.bytes = text("reject-publish")}}}};
  amqp_bytes_t refuse = declare_with(c, (amqp_table_t){2, limits});
  publish(c, drop, "1");
  publish(c, drop, "2");
  publish(c, drop, "3");
  expect_next(c, drop, "2");
  expect_next(c, drop, "3");
  CHECK(amqp_confirm_select(c, 1));
  publish(c, refuse, "1");
  method(c, AMQP_BASIC_ACK_METHOD);
  publish(c, refuse, "2");
  amqp_basic_nack_t *nack = method(c, AMQP_BASIC_NACK_METHOD);
  CHECK_NUMBER(nack->delivery_tag, 2);
  expect_next(c, refuse, "1");
  expect_empty(c, refuse);
}

static void a_transaction_shows_its_publishes_at_commit_and_forgets_them_at_rollback(void) {
  amqp_connection_state_t c = open_connection(0);
  amqp_bytes_t queue = declare(c);
  CHECK(amqp_tx_select(c, 1));
  publish(c, queue, "lost");
  CHECK(amqp_tx_rollback(c, 1));
  publish(c, queue, "kept");
  CHECK_NUMBER(ready(c, queue), 0);
  CHECK(amqp_tx_commit(c, 1));
  expect_next(c, queue, "kept");
  expect_empty(c, queue);
}

static void a_call_by_direct_reply_to_gets_its_answer(void) {
  amqp_connection_state_t client = open_connection(0), server = open_connection(0);
  amqp_bytes_t queue = text("interop.c.rpc");
  CHECK(amqp_queue_declare(server, 1, queue, 0, 0, 1, 0, amqp_empty_table));
  CHECK(amqp_basic_consume(server, 1, queue, nothing, 0, 1, 0, amqp_empty_table));
  CHECK(amqp_basic_consume(client, 1, text("amq.rabbitmq.reply-to"), nothing, 0, 1, 0, amqp_empty_table));
  amqp_basic_properties_t call = {._flags = AMQP_BASIC_REPLY_TO_FLAG,
                                  .reply_to = text("amq.rabbitmq.reply-to")};
  amqp_basic_publish(client, 1, nothing, queue, 0, 0, &call, text("6*7"));
  amqp_envelope_t asked = delivery(server);
  CHECK_TEXT(asked.message.body, "6*7");
  amqp_basic_publish(server, 1, nothing, asked.message.properties.reply_to, 0, 0, NULL, text("42"));
  amqp_destroy_envelope(&asked);
  amqp_envelope_t answer = delivery(client);
  CHECK_TEXT(answer.message.body, "42");
  amqp_destroy_envelope(&answer);
}

/* ---- restarts */

/* Starts the restart; its answer is read from what this gives. */
static int ask_for_restart(void) {
  const char *control = getenv("BATON_CONTROL");
  if (!control) skip("nobody here can restart the broker");
  char name[64] = "";
  int number = 0;
  CHECK_NUMBER(sscanf(control, "%63[^:]:%d", name, &number), 2);
  char service[16];
  snprintf(service, sizeof service, "%d", number);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  CHECK_NUMBER(getaddrinfo(name, service, &hints, &found), 0);
  int runner = socket(found->ai_family, found->ai_socktype, 0);
  CHECK_NUMBER(connect(runner, found->ai_addr, found->ai_addrlen), 0);
  freeaddrinfo(found);
  CHECK_NUMBER(send(runner, "restart\n", 8, 0), 8);
  return runner;
}

static void a_restart_ends_the_connection_with_320_and_the_program_can_connect_again(void) {
  amqp_connection_state_t c = open_connection(0);
  int runner = ask_for_restart();
  amqp_frame_t frame;
  struct timeval limit = {60, 0};
  CHECK_NUMBER(amqp_simple_wait_frame_noblock(c, &frame, &limit), AMQP_STATUS_OK);
  CHECK_NUMBER(frame.payload.method.id, AMQP_CONNECTION_CLOSE_METHOD);
  CHECK_NUMBER(((amqp_connection_close_t *)frame.payload.method.decoded)->reply_code, 320);
  amqp_connection_close_ok_t ok = {0};
  amqp_send_method(c, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
  char answer[8] = "";
  ssize_t length = recv(runner, answer, sizeof answer - 1, 0);
  close(runner);
  CHECK(length == 3 && strcmp(answer, "ok\n") == 0);
  amqp_connection_state_t again = open_connection(0);
  amqp_bytes_t queue = declare(again);
  publish(again, queue, "after");
  expect_next(again, queue, "after");
}

/* ---- the runner */

struct test {
  const char *name;
  void (*run)(void);
  unsigned limit_s;
};
#define TEST(function, limit_s) {#function, function, limit_s}
static const struct test tests[] = {
    TEST(a_confirmed_publish_is_consumed_with_its_body_unchanged, 30),
    TEST(all_of_1000_publishes_are_confirmed_and_consumed_in_order, 30),
    TEST(prefetch_3_leaves_the_fourth_message_in_the_queue_until_one_is_acked, 30),
    TEST(nacks_requeue_or_drop_as_they_say, 30),
    TEST(recover_returns_what_an_ack_with_multiple_left, 30),
    TEST(purge_and_delete_count_what_they_remove, 30),
    TEST(two_channels_of_a_connection_work_side_by_side, 30),
    TEST(an_empty_body_comes_back_empty, 30),
    TEST(a_body_of_1_mib_comes_back_unchanged, 30),
    TEST(a_body_of_20_mib_comes_back_unchanged, 30),
    TEST(a_body_of_exactly_one_frame_comes_back_unchanged, 30),
    TEST(every_message_property_comes_back_unchanged, 30),
    TEST(headers_of_every_field_type_come_back_unchanged_and_in_order, 30),
    TEST(exchanges_of_each_type_route_as_bound, 30),
    TEST(a_headers_exchange_matches_integers_of_any_width, 30),
    TEST(a_message_passes_from_exchange_to_exchange, 30),
    TEST(a_mandatory_message_without_a_route_is_returned_then_confirmed, 30),
    TEST(channel_errors_carry_the_right_codes_and_leave_the_connection_alone, 30),
    TEST(a_wrong_password_is_refused_with_403, 30),
    TEST(an_unknown_virtual_host_is_refused_with_530, 30),
    TEST(a_consumer_hears_of_its_queues_deletion_by_basic_cancel, 30),
    TEST(the_server_names_its_capabilities, 30),
    TEST(an_idle_connection_lives_on_heartbeats, 30),
    TEST(a_client_that_stops_its_heartbeats_is_disconnected, 30),
    TEST(an_expired_message_is_not_delivered, 30),
    TEST(a_full_queue_drops_its_oldest_message_or_refuses_the_newest, 30),
    TEST(a_transaction_shows_its_publishes_at_commit_and_forgets_them_at_rollback, 30),
    TEST(a_call_by_direct_reply_to_gets_its_answer, 30),
    TEST(a_restart_ends_the_connection_with_320_and_the_program_can_connect_again, 120),
};

static const char *sentence(const char *name) {
  static char words[256];
  snprintf(words, sizeof words, "%s", name);
  for (char *at = words; *at; ++at)
    if (*at == '_') *at = ' ';
  return words;
}

static void overdue(int signal) {
  (void)signal;
  fail(0, "it took too long");
}

int main(int argc, char **argv) {
  static int failed, run; /* static: a longjmp leaves them alone */
  take_uri();
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {.sa_handler = overdue, .sa_flags = SA_NODEFER};
  sigaction(SIGALRM, &action, NULL);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
    const char *name = sentence(tests[i].name);
    if (argc > 1 && !strstr(name, argv[1])) continue;
    ++run;
    opened_count = 0;
    alarm(tests[i].limit_s);
    switch (setjmp(test_end)) {
      case 0:
        tests[i].run();
        printf("ok %s\n", name);
        break;
      case 2:
        printf("skip %s: %s\n", name, why);
        break;
      default:
        ++failed;
        printf("not ok %s: %s (line %d)\n", name, why, line_of_failure);
    }
    alarm(0);
    for (int c = 0; c < opened_count; ++c) amqp_destroy_connection(opened[c]);
  }
  printf("1..%d\n", run);
  return failed ? 1 : 0;
}

"""What `make bench` measures: each case is a load, as the arguments of `baton perf`."""

from dataclasses import dataclass

CPU = ("broker_cpu_us_per_message", "CPU a message, us")
PEAK = ("broker_peak_bytes", "peak memory, MB")


@dataclass(frozen=True)
class Case:
    name: str  # for --only
    table: str  # cases of one table stand together and have the same figures
    text: str
    arguments: str
    figures: tuple  # (key of the summary, heading); the first is what the case is about
    timed: bool = True  # takes --duration and --warmup
    relay: bool = False  # the relay can stand in for the broker
    latency: bool = False  # more turns
    config: str = ""  # of Baton, beside what all its nodes have
    brokers: tuple = ("Baton", "RabbitMQ", "relay")
    beside: str = ""  # a case of the same table; the first figure is told as a multiple of that one's


def throughput(name, text, arguments, **more):
    figures = (("delivered_per_second", "delivered/s"), CPU, PEAK)
    return Case(name, "Throughput", text, "throughput " + arguments, figures, **more)


def latency(rate, polled=False):
    figures = (("latency_p50_us", "p50, us"), ("latency_p99_us", "p99, us"),
               ("latency_p999_us", "p99.9, us"), CPU)
    return Case(f"latency-{rate}" + ("-polled" if polled else ""), "Latency",
                f"16 bytes, {rate:,} messages/s" + (", generator polls" if polled else ""),
                f"latency --rate {rate} --size 16" + (" --spin" if polled else ""), figures,
                relay=True, latency=True)


def idle(what, text):
    figures = (("broker_bytes_each", "bytes each"), ("made_per_second", "made/s"),
               ("broker_resident_bytes", "resident, MB"))
    return Case(f"idle-{what}", "Idle", text, f"idle {what} --count 10000", figures, timed=False)


def churn(what, text):
    figures = (("cycles_per_second", "cycles/s"), ("cycle_p99_us", "p99, us"),
               ("broker_cpu_us_per_message", "CPU a cycle, us"))
    return Case(f"churn-{what}", "Churn", text, f"churn {what} --connections 10", figures)


MANUAL = "--ack 100 --prefetch 1000"
KEPT = "--durable --persistent"


def durable(name, text, arguments):
    figures = (("confirmed_per_second", "confirmed/s"), CPU,
               ("broker_disk_bytes_per_byte", "written a byte"), ("confirm_p50_us", "confirm p50, us"),
               PEAK)
    return Case(name, "Durable", "1 KiB, nobody consumes, " + text,
                f"throughput --size 1024 --consumers 0 {KEPT} {arguments}", figures)


def cost(size, kept):
    """The same load with and without the journal, which syncs nothing here."""
    figures = (CPU, ("delivered_per_second", "delivered/s"))
    return Case(f"cost-{size}-{'durable' if kept else 'transient'}", "Cost of the journal",
                f'{size:,} bytes, 1 : 1, window of 1,000 confirms, `sync = "never"`',
                f"throughput --size {size} --confirm 1000 {MANUAL}" + (f" {KEPT}" if kept else ""),
                figures, config='[journal]\nsync = "never"\n', brokers=("Baton",),
                beside=f"cost-{size}-transient" if kept else "")


def many_queues(queues):
    figures = (("delivered_per_second", "delivered/s"), CPU)
    return Case(f"durable-queues-{queues}", "Durable queues",
                f"1 KiB, {queues} queue{'s' if queues > 1 else ''}, 100 producers on 8 connections, 100 "
                "consumers on 8, windows of 100 confirms",
                f"throughput --size 1024 --queues {queues} --producers 100 --producer-connections 8 "
                f"--consumers 100 --consumer-connections 8 --confirm 100 --ack 10 --prefetch 100 {KEPT}",
                figures, beside="durable-queues-1" if queues > 1 else "")


def stream(readers):
    figures = (("delivered_per_second", "delivered/s"), ("published_per_second", "published/s"), CPU, PEAK)
    return Case(f"stream-{readers}", "Streams",
                f"100 bytes, 1 writer, {readers} reader{'s' if readers > 1 else ''} at the tail",
                f"throughput --size 100 --queue-type stream {KEPT} --confirm 1000 --consumers {readers} "
                f"--consumer-connections {min(readers, 8)} {MANUAL}", figures)

CASES = [
    throughput("1-1", "16 bytes, 1 producer : 1 consumer", "--size 16", relay=True),
    throughput("1-1-acks", "16 bytes, 1 : 1, acknowledged", f"--size 16 {MANUAL}"),
    throughput("1-8", "16 bytes, 1 : 8 on one queue", "--size 16 --consumers 8"),
    throughput("8-1", "16 bytes, 8 : 1 on one queue", "--size 16 --producers 8"),
    throughput("8-8", "16 bytes, 8 : 8 on one queue", "--size 16 --producers 8 --consumers 8"),
    throughput("funnel", "300 bytes, 2 : 1 on one queue",
               f"--size 300 --producers 2 {MANUAL}"),
    throughput("quad", "300 bytes, 2 : 2 on one queue",
               f"--size 300 --producers 2 --consumers 2 {MANUAL}"),
    throughput("confirms", "1 KiB, 1 : 1 with confirms, window 100",
               f"--size 1024 --confirm 100 {MANUAL}"),
    throughput("fanout-1", "16 bytes, fan-out to 1 queue", "--size 16 --fanout 1"),
    throughput("fanout-10", "16 bytes, fan-out to 10 queues",
               "--size 16 --fanout 10 --consumers 10 --consumer-connections 10"),
    throughput("fanout-100", "16 bytes, fan-out to 100 queues",
               "--size 16 --fanout 100 --consumers 100 --consumer-connections 10"),
    throughput("1000-queues", "16 bytes, 1,000 queues, a consumer's connection on each, 10 producers",
               "--size 16 --queues 1000 --producers 10 --consumers 1000"),
    durable("durable-1-100", "1 producer, window of 100 confirms", "--confirm 100"),
    durable("durable-1-1000", "1 producer, window of 1,000", "--confirm 1000"),
    durable("durable-8-100", "8 producers, windows of 100", "--producers 8 --confirm 100"),
    many_queues(1),
    many_queues(100),
    *(cost(size, kept) for size in (100, 1024) for kept in (False, True)),
    *(stream(readers) for readers in (1, 8, 64)),
    latency(1_000),
    latency(10_000),
    latency(10_000, polled=True),
    latency(20_000),
    idle("connections", "10,000 connections that do nothing"),
    idle("queues", "10,000 empty transient queues"),
    churn("connections", "a connection opened and closed, 10 at a time"),
    churn("queues", "a transient queue declared and deleted, 10 at a time"),
    Case("topology", "Changing topology",
         "16 bytes, 1 : 1 through a topic exchange with 100,000 bindings; one is added or removed 1,000 "
         "times/s, in turns of 2 s; window of 1,000 confirms",
         "topology --size 16 --bindings 100000 --changes 1000 --turn 2 --confirm 1000 --warmup 2 " + MANUAL,
         (("delivered_ratio", "rate with / without changes"), ("delivered_per_second_off", "without, /s"),
          ("delivered_per_second_on", "with, /s"), ("changes_per_second", "changes/s")), timed=False),
]


def settings_of(summary):
    """Acks, prefetch, durability and connections of a run, as each line of the table says them."""
    if "acks" not in summary:
        return f"{summary['connections']} connections" if "connections" in summary else ""
    acks = "automatic acks" if summary["acks"] == "automatic" else f"acks {summary['acks']}"
    prefetch = f"prefetch {summary['prefetch']}" if summary["prefetch"] else "no prefetch limit"
    kept = "durable" if summary["durable"] else "transient"
    connections = summary["connections"]
    return f"{acks}, {prefetch}, {kept}, {connections:,} connections"

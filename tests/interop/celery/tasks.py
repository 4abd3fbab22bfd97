"""The application that the worker of these tests runs."""

import os

from celery import Celery
from kombu import Exchange, Queue

app = Celery("interop", broker=os.environ["BATON_URI"], backend="rpc://")
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_queues=[Queue("interop.celery", Exchange("interop.celery"), routing_key="interop.celery"),
                 Queue("interop.celery.brief", Exchange("interop.celery"), routing_key="interop.celery.brief",
                       message_ttl=60, expires=600, max_length=1000)],
    task_default_queue="interop.celery",
    task_default_exchange="interop.celery",
    task_default_routing_key="interop.celery",
    worker_prefetch_multiplier=4,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    result_expires=60,
)


@app.task
def add(x, y):
    return x + y


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def fail():
    raise ValueError("on purpose")


@app.task(bind=True, max_retries=3)
def succeed_at_third(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task
def echo(value):
    return value


@app.task(bind=True)
def headers(self):
    return dict(self.request.headers or {})

"""Talks to an agent with the official Python client, over the binding it is told, and prints what it saw as JSON."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError


def message(text, **fields):
    return pb.SendMessageRequest(
        message=pb.Message(
            message_id=str(uuid.uuid4()),
            role=pb.ROLE_USER,
            parts=[pb.Part(text=text)],
            **fields,
        )
    )


def brief(event):
    kind = event.WhichOneof('payload')
    if kind == 'artifact_update':
        return f'artifact:{event.artifact_update.artifact.artifact_id}'
    return f'{kind}:{state(getattr(event, kind))}'


def outline(events):
    """What a stream showed, one word an event; pieces of a text in a row are one, however it was cut."""
    words = [brief(event) for event in events]
    return [word for at, word in enumerate(words) if at == 0 or word != words[at - 1]]


def state(holder):
    return pb.TaskState.Name(holder.status.state).removeprefix('TASK_STATE_')


def said(task):
    return ''.join(part.text for part in task.status.message.parts)


async def fails_with(call, kind):
    try:
        await call
    except kind:
        return kind.__name__
    return 'nothing'


async def main(url, binding):
    http = httpx.AsyncClient(headers={'x-participant-id': 'alice'}, timeout=20)
    card = await A2ACardResolver(http, url).get_agent_card()

    def client(streaming):
        config = ClientConfig(
            httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming
        )
        return ClientFactory(config).create(card)

    plain, streaming = client(False), client(True)
    seen = {'card': card.name, 'bindings': [each.protocol_binding for each in card.supported_interfaces]}

    [sent] = [event async for event in plain.send_message(message('Hi'))]
    task = sent.task
    seen['send'] = [brief(sent), said(task), len(task.history)]

    following = streaming.subscribe(pb.SubscribeToTaskRequest(id=task.id))
    seen['subscribe'] = [brief(await anext(following))]

    events = [event async for event in streaming.send_message(message('More', task_id=task.id))]
    seen['stream'] = outline(events)

    got = await plain.get_task(pb.GetTaskRequest(id=task.id, history_length=1))
    seen['get'] = [got.id == task.id, state(got), said(got), len(got.history)]

    request = pb.ListTasksRequest(
        context_id=task.context_id,
        status=pb.TASK_STATE_INPUT_REQUIRED,
        page_size=5,
        history_length=2,
        include_artifacts=True,
    )
    request.status_timestamp_after.FromJsonString('2020-01-01T00:00:00Z')
    listed = await plain.list_tasks(request)
    seen['list'] = [
        listed.total_size,
        listed.page_size,
        listed.next_page_token,
        [[each.id == task.id, len(each.history), len(each.artifacts)] for each in listed.tasks],
    ]

    canceled = await plain.cancel_task(pb.CancelTaskRequest(id=task.id))
    seen['cancel'] = state(canceled)
    seen['subscribe'] += outline([event async for event in following])

    unknown = plain.get_task(pb.GetTaskRequest(id='none'))
    seen['unknown'] = await fails_with(unknown, TaskNotFoundError)
    single = message('Do')
    single.message.metadata.update({'conversation': 'single'})
    [done] = [event async for event in plain.send_message(single)]
    again = plain.cancel_task(pb.CancelTaskRequest(id=done.task.id))
    seen['cancel again'] = await fails_with(again, TaskNotCancelableError)
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))

import { expect, test } from 'vitest';
import type { Participant, ParticipantKind, ParticipantRole } from '../loop/index.ts';
import { approversOf } from './index.ts';

const ROLES = ['admin', 'reporter'] as const;

function member(id: string, role: ParticipantRole, kind: ParticipantKind = 'human'): Participant {
  return { id, kind, role, displayName: id };
}

test('PC-12: admins approve where there are some, and reporters where there are none', () => {
  const reporter = member('rita', 'reporter');
  const others = [member('desk', 'assignee', 'agent'), member('wim', 'watcher')];
  const admins = [member('ada', 'admin'), member('al', 'admin')];
  expect(approversOf({ participants: [reporter, ...admins, ...others] }, ROLES)).toEqual(['ada', 'al']);
  expect(approversOf({ participants: [reporter, ...others] }, ROLES)).toEqual(['rita']);
});

test('the order of the roles is what counts, not that of the members', () => {
  const participants = [member('ada', 'admin'), member('rita', 'reporter')];
  expect(approversOf({ participants }, ['reporter', 'admin'])).toEqual(['rita']);
});

test('PC-12: no agent approves, whatever its role', () => {
  const participants = [member('bot', 'admin', 'agent'), member('desk', 'assignee', 'agent')];
  expect(approversOf({ participants }, ['admin', 'reporter', 'assignee'])).toEqual([]);
  expect(approversOf({ participants: [...participants, member('rita', 'reporter')] }, ROLES)).toEqual([
    'rita',
  ]);
});

test('nobody approves when no role has a person', () => {
  expect(approversOf({ participants: [member('wim', 'watcher')] }, ROLES)).toEqual([]);
  expect(approversOf({ participants: [] }, ROLES)).toEqual([]);
});

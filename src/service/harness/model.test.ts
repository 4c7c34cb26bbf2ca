import { expect, test } from 'vitest';
import { createLlm } from './model.ts';
import { parseSettings, type SettingsInput } from './settings/index.ts';

const describeModel = (input: SettingsInput, env: Record<string, string> = {}) =>
  createLlm(parseSettings(input, env)).description;

test('a key alone is enough for OpenAI and its Responses API', () => {
  expect(describeModel({}, { OPENAI_API_KEY: 'k-123456' })).toBe(
    'model endpoint https://api.openai.com api=responses model=gpt-6.1-sol',
  );
});

test('a base URL is spoken to in Chat Completions, unless openai.api says otherwise', () => {
  const openai = { base_url: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
  const endpoint = 'model endpoint http://127.0.0.1:11434';
  expect(describeModel({ openai })).toBe(`${endpoint} api=chat_completions model=qwen3`);
  expect(describeModel({ openai: { ...openai, api: 'responses' } })).toBe(
    `${endpoint} api=responses model=qwen3`,
  );
});

test('without a model the error says what to set', () => {
  expect(() => describeModel({})).toThrow(/OPENAI_API_KEY/);
});

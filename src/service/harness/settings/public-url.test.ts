import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../core/base/index.ts';
import { normalizePrefix, publicUrl } from './index.ts';

describe('publicUrl', () => {
  it.each([
    ['https://a.example', undefined, 'https://a.example'],
    ['https://a.example/', '/', 'https://a.example'],
    ['https://a.example:8443/', 'agents/a/', 'https://a.example:8443/agents/a'],
    ['https://a.example', '/agents/a', 'https://a.example/agents/a'],
    ['https://a.example/agents/a', undefined, 'https://a.example/agents/a'],
    ['https://a.example/agents/a/', '/agents/a', 'https://a.example/agents/a'],
    ['http://[::1]:8080', '/x', 'http://[::1]:8080/x'],
  ])('%s with prefix %s is %s', (baseUrl, prefix, expected) => {
    expect(publicUrl(baseUrl, prefix)).toBe(expected);
  });

  it('refuses two different paths, naming both', () => {
    expect(() => publicUrl('https://a.example/agents/a', '/agents/b')).toThrow(
      /"\/agents\/a".*"\/agents\/b"/,
    );
  });

  it.each(['/a?b', '/a#b', '/a/../b', '/%2e%2e/b', 'a b', '\\a'])('refuses the prefix %s', (prefix) => {
    expect(() => publicUrl('https://a.example', prefix)).toThrow(ConfigError);
  });

  it.each(['ftp://a', 'a.example', 'https://bob:pa55@a', 'https://a/?q=1'])(
    'refuses the base URL %s without repeating it',
    (baseUrl) => {
      expect(() => publicUrl(baseUrl)).toThrow(ConfigError);
      expect(() => publicUrl(baseUrl)).not.toThrow(baseUrl);
    },
  );

  const segment = fc.stringMatching(/^[a-z0-9äß~_-]{1,8}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
  const slashes = fc.constantFrom('', '/', '//');
  const origin = fc.constantFrom('https://a.example', 'http://127.0.0.1:8080', 'http://[::1]:1');

  it('ends in no slash, starts with the origin, and does not care how the prefix is written', () => {
    fc.assert(
      fc.property(origin, slashes, path, slashes, (base, before, plain, after) => {
        const url = publicUrl(base, `${before}${plain}${after}`);
        expect(url).toBe(publicUrl(base, plain));
        expect(url).toBe(`${base}${normalizePrefix(plain)}`);
        expect(url).not.toMatch(/\/$/);
        expect(new URL(url).href).toBe(url);
      }),
    );
  });

  it('is the same whether the path stands in the base URL, in the prefix, or in both', () => {
    fc.assert(
      fc.property(origin, path, (base, plain) => {
        const expected = publicUrl(base, plain);
        expect(publicUrl(`${base}/${plain}`)).toBe(expected);
        expect(publicUrl(`${base}/${plain}/`, plain)).toBe(expected);
        expect(publicUrl(expected)).toBe(expected);
      }),
    );
  });

  it('never accepts two paths that differ', () => {
    fc.assert(
      fc.property(origin, path, path, (base, one, other) => {
        fc.pre(one !== other);
        expect(() => publicUrl(`${base}/${one}`, other)).toThrow(ConfigError);
      }),
    );
  });
});

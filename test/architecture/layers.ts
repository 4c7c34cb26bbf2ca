/**
 * Who may import whom. This table is the source of the import rules (`import-rules.ts`), which `npm run check` enforces
 * over `src`, `test` and `bench`; `import-table.test.ts` shows that they catch what they should.
 *
 * 1. A room is a folder of `src`. It is entered through its face, `index.ts`; within a room imports are free.
 * 2. A room imports the rooms listed for it and no others, types included.
 * 3. The table has no cycle, and neither have the files.
 * 4. An npm package is imported in its homes only; a package that is not listed is imported nowhere.
 * 5. Pure rooms see no Node: they run in the browser and in Temporal's workflow sandbox.
 */

/** One folder of `src` and what it may import. `core/*` means every room under `core`. */
export interface Room {
  readonly imports: readonly string[];
  /** No Node, no clock, no network. */
  readonly pure?: true;
}

/** Every room of `src`, lowest first: a room imports rooms above it in this table, never below. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'core/base': { pure: true, imports: [] },
  'core/models': { pure: true, imports: ['core/base'] },
  'core/loop': { pure: true, imports: ['core/base', 'core/models'] },
  'core/security': { pure: true, imports: ['core/base', 'core/loop'] },
  'core/tools': { pure: true, imports: ['core/base', 'core/models', 'core/loop'] },
  'core/hooks': { pure: true, imports: ['core/base', 'core/models', 'core/loop', 'core/tools'] },
  'core/approvals': { pure: true, imports: ['core/base', 'core/loop', 'core/tools', 'core/hooks'] },
  'core/commands': { pure: true, imports: ['core/base', 'core/loop'] },
  'core/prompts': { pure: true, imports: ['core/base', 'core/models', 'core/loop', 'core/tools'] },
  'core/persistence': { pure: true, imports: ['core/base', 'core/models', 'core/loop'] },
  'core/extensions': { pure: true, imports: ['core/base', 'core/loop', 'core/persistence'] },
  'core/channels': {
    pure: true,
    imports: ['core/base', 'core/loop', 'core/persistence', 'core/extensions'],
  },

  // Implementations of core's ports. They never see each other.
  'adapters/models/openai': { imports: ['core/*'] },
  'adapters/store/sqlite': { imports: ['core/*'] },
  'adapters/tools/mcp': { imports: ['core/*'] },

  builtin: { imports: ['core/*'] },
  testing: { imports: ['core/*'] },

  // Workflow code knows activities by the contract, and nobody imports workflow code: the bundler reads it.
  'service/durable/contract': { pure: true, imports: ['core/base', 'core/loop'] },
  'service/durable/workflows': {
    pure: true,
    imports: ['core/base', 'core/loop', 'service/durable/contract'],
  },
  'service/durable/activities': { imports: ['core/*', 'service/durable/contract'] },
  'service/durable/client': { imports: ['core/*', 'service/durable/contract'] },
  'service/durable/worker': { imports: ['core/base', 'service/durable/contract'] },
  'service/durable/embedded': { imports: ['core/base'] },

  'service/admission': { imports: ['core/*'] },
  'service/a2a': { imports: ['core/*'] },
  'service/channels': { imports: ['core/*'] },
  'service/mount': { imports: ['core/base'] },
  'service/o11y': { imports: ['core/base', 'core/security'] },

  // The composition root: the one place where the parts of the service meet.
  'service/harness': {
    imports: [
      'core/*',
      'adapters/models/*',
      'adapters/store/*',
      'adapters/tools/*',
      'builtin',
      'service/durable/contract',
      'service/durable/activities',
      'service/durable/client',
      'service/durable/worker',
      'service/durable/embedded',
      'service/admission',
      'service/a2a',
      'service/channels',
      'service/mount',
      'service/o11y',
    ],
  },

  // Surfaces reach a harness over A2A only.
  'interaction/client': { imports: ['core/*'] },
  'interaction/terminal': { imports: ['core/*', 'interaction/client'] },

  demo: { imports: ['core/*', 'testing'] },
  cli: {
    imports: [
      'core/*',
      'interaction/*',
      // What `tasks` and `doctor` look at when nothing runs.
      'adapters/store/sqlite',
      'adapters/tools/mcp',
      'demo',
      'testing',
      'service/harness',
      'service/o11y',
      'service/durable/embedded',
    ],
  },
  exports: { imports: ['core/*', 'service/harness', 'service/mount', 'testing'] },
};

/** Imports that are against the table and stand for a while, each with its reason. */
export const TOLERATED: readonly { readonly from: string; readonly to: string; readonly reason: string }[] =
  [];

/** Where a test beside the source may go beyond its room: doubles, and any part of core. */
export const ALSO_FOR_TESTS: readonly string[] = ['core/*', 'testing'];

/** Files of `test` that look inside a room, past its face; all others use faces. */
export const INSIDERS: readonly { readonly from: string; readonly room: string; readonly reason: string }[] =
  [
    {
      from: 'test/activities/',
      room: 'service/durable/activities',
      reason:
        'activities as plain functions over a real store: through a worker each case would cost a workflow',
    },
    {
      from: 'test/support/activities.ts',
      room: 'service/durable/activities',
      reason: 'what the tests of activities share',
    },
    {
      from: 'test/durable/crash-points.test.ts',
      room: 'service/admission',
      reason: 'crashes come before an answer names the task, so its id is derived as the server does',
    },
    {
      from: 'test/docs/configuration.test.ts',
      room: 'service/harness',
      reason: 'the page is compared with every key that the settings know',
    },
  ];

/** The homes of each npm package. Patterns as in `ROOMS`; a longer path is a folder of a room. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@a2a-js/sdk': ['service/a2a', 'interaction/*', 'cli'],
  '@modelcontextprotocol/client': ['adapters/tools/mcp', 'demo'],
  '@modelcontextprotocol/server': ['adapters/tools/mcp', 'demo'],
  '@temporalio/activity': ['service/durable/activities'],
  '@temporalio/client': ['service/durable/client', 'service/durable/embedded', 'service/harness', 'cli'],
  '@temporalio/common': ['service/durable/*'],
  '@temporalio/proto': ['service/durable/embedded'],
  '@temporalio/worker': ['service/durable/worker', 'service/harness'],
  '@temporalio/workflow': ['service/durable/workflows'],
  ajv: ['core/tools'],
  // The store, and the lock of the embedded Temporal's file.
  'better-sqlite3': ['adapters/store/sqlite', 'service/durable/embedded'],
  commander: ['cli'],
  kysely: ['adapters/store/sqlite'],
  openai: ['adapters/models/openai'],
  picocolors: ['cli', 'service/o11y'],
  pino: ['service/o11y'],
  // Read by the settings, written by `tiny-harness config`.
  'smol-toml': ['service/harness/settings', 'cli'],
  zod: [
    'core/tools',
    'core/persistence',
    'core/extensions',
    'adapters/models/openai',
    'adapters/tools/mcp',
    'builtin',
    'service/a2a',
    'service/durable/activities',
    'service/harness',
    'demo',
    'cli',
  ],
};

/** Packages of tests only. */
export const TEST_PACKAGES: readonly string[] = ['vitest', 'fast-check'];

/** The rooms a pattern stands for. */
export function roomsOf(pattern: string): string[] {
  if (!pattern.endsWith('/*')) return [pattern];
  return Object.keys(ROOMS).filter((room) => room.startsWith(pattern.slice(0, -1)));
}

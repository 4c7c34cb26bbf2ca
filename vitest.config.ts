import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/temporal.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores: real servers and processes run beside the tests.
    maxWorkers: 2,
  },
});

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HarnessError } from '../../../core/base/index.ts';

/**
 * The workflow code as the build made it. From source and from the built package the file is the same one, at
 * `dist/workflow-bundle.js` of the package.
 *
 * @throws HarnessError `internal` when the package was not built.
 */
export function workflowBundlePath(): string {
  const path = fileURLToPath(new URL('../../../../dist/workflow-bundle.js', import.meta.url));
  if (!existsSync(path)) {
    throw new HarnessError('internal', `the workflow bundle is missing: ${path}; run "npm run build"`);
  }
  return path;
}

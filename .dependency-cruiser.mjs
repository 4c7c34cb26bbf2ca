import { Visitor } from '@swc/core/Visitor.js';
import { importRules } from './test/architecture/import-rules.ts';

// dependency-cruiser reads TypeScript 7 through swc, whose visitor does not know `using` yet.
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  this.visitVariableDeclarators(statement.decls);
  return statement;
};

/** The rules come from the table in `test/architecture/layers.ts`. */
export default {
  forbidden: importRules(),
  options: {
    // Type-only imports are seen as imports.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
  },
};

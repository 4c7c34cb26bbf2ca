import {
  ALSO_FOR_TESTS,
  INSIDERS,
  PACKAGES,
  ROOMS,
  type Room,
  roomsOf,
  TEST_PACKAGES,
  TOLERATED,
} from './layers.ts';

/** One rule of dependency-cruiser: an import that matches both ends is refused. */
export interface ImportRule {
  readonly name: string;
  readonly severity: 'error';
  readonly comment: string;
  readonly from: { readonly path?: string | string[]; readonly pathNot?: string | string[] };
  readonly to: {
    readonly path?: string | string[];
    readonly pathNot?: string | string[];
    readonly circular?: boolean;
    readonly couldNotResolve?: boolean;
    readonly dependencyTypes?: string[];
  };
}

const TESTS = '[.]test[.]ts$|/fixtures/|[.]fixture[.]mjs$';
const FACE = '/index[.]ts$|^src/exports/';
const NPM = '(^|/)node_modules/';

/** The rules that follow from the table, for `.dependency-cruiser.mjs`. */
export function importRules(): ImportRule[] {
  return [
    ...Object.entries(ROOMS).flatMap(([name, room]) => roomRules(name, room)),
    ...Object.entries(PACKAGES).map(([name, homes]) => packageRule(name, homes)),
    ...generalRules(),
  ];
}

function roomRules(name: string, room: Room): ImportRule[] {
  const allowed = room.imports.flatMap(roomsOf);
  const forTests = [...allowed, ...ALSO_FOR_TESTS.flatMap(roomsOf)];
  const tolerated = TOLERATED.filter(({ from }) => from.startsWith(`src/${name}/`));
  const rules: ImportRule[] = [
    rule(
      `${name}: direction`,
      'a room that the table does not list for this one',
      { path: inside(name), pathNot: [TESTS, ...tolerated.map(({ from }) => exactly(from))] },
      { path: '^src/', pathNot: [name, ...allowed].map(inside) },
    ),
    // The files with a tolerated import are held to everything else.
    ...tolerated.map(({ from, to }) =>
      rule(
        `${name}: direction`,
        'a room that the table does not list for this one',
        { path: exactly(from) },
        { path: '^src/', pathNot: [...[name, ...allowed].map(inside), exactly(to)] },
      ),
    ),
    rule(
      `${name}: direction of tests`,
      'a room that the table does not list for this one or its tests',
      { path: `${inside(name)}.*(${TESTS})` },
      { path: '^src/', pathNot: [name, ...forTests].map(inside) },
    ),
    rule(
      `${name}: faces`,
      'another room past its index.ts',
      { path: inside(name) },
      { path: '^src/', pathNot: [inside(name), '/index[.]ts$'] },
    ),
  ];
  if (room.pure)
    rules.push(
      rule(
        `${name}: pure`,
        'Node, in a room that is to run without it',
        { path: inside(name), pathNot: TESTS },
        { dependencyTypes: ['core'] },
      ),
    );
  return rules;
}

function packageRule(name: string, homes: readonly string[]): ImportRule {
  return rule(
    `home of ${name}`,
    `this package outside ${homes.join(', ')}`,
    { path: '^src/', pathNot: homes.flatMap(roomsOf).map(inside) },
    { path: packagePath(name) },
  );
}

function generalRules(): ImportRule[] {
  const packages = Object.keys(PACKAGES).map(packagePath);
  const testPackages = TEST_PACKAGES.map(packagePath);
  return [
    rule('a room for everything', 'anything, from a folder that is not in the table', {
      path: '^src/',
      pathNot: Object.keys(ROOMS).map(inside),
    }),
    rule(
      'a home for every package',
      'a package that is not in the table',
      { path: '^src/' },
      { path: NPM, pathNot: [...packages, ...testPackages] },
    ),
    rule(
      'test packages in tests',
      'a package of tests, in code that ships',
      { path: '^src/', pathNot: TESTS },
      { path: testPackages },
    ),
    rule(
      'tests use faces',
      'a room past its face',
      { path: '^(test|bench)/', pathNot: INSIDERS.map(({ from }) => `^${from}`) },
      { path: '^src/', pathNot: FACE },
    ),
    ...INSIDERS.map(({ from, room }) =>
      rule(
        'tests use faces',
        'a room past its face',
        { path: `^${from}` },
        { path: '^src/', pathNot: [FACE, inside(room)] },
      ),
    ),
    rule('src stands alone', 'something outside src', { path: '^src/' }, { path: '^(test|bench|scripts)/' }),
    rule('no cycles', 'a file that leads back here', { path: '^(src|test|bench)/' }, { circular: true }),
    rule('resolvable', 'something that is not there', { path: '^(src|test)/' }, { couldNotResolve: true }),
  ];
}

function rule(
  name: string,
  refuses: string,
  from: ImportRule['from'],
  to: ImportRule['to'] = {},
): ImportRule {
  return { name, severity: 'error', comment: `Refuses ${refuses}.`, from, to };
}

function inside(room: string): string {
  return `^src/${room}/`;
}

function packagePath(name: string): string {
  return `${NPM}${name}/`;
}

function exactly(path: string): string {
  return `^${path.replaceAll('.', '[.]')}$`;
}

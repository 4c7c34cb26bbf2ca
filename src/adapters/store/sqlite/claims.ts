import { type Kysely, sql } from 'kysely';
import type { StoreTables } from './schema.ts';

interface Claim {
  readonly key: string;
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** Takes a claim that nobody holds, on a message that is not in the inbox. False when there is none to take. */
export async function claim(db: Kysely<StoreTables>, { key, owner, now, until }: Claim): Promise<boolean> {
  await db.deleteFrom('claims').where('until', '<=', now).execute();
  const { numAffectedRows } = await sql`
    insert into claims select ${key}, ${owner}, ${until}
    where not exists (select 1 from inbox where key = ${key})
    on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

export async function release(
  db: Kysely<StoreTables>,
  { key, owner }: Pick<Claim, 'key' | 'owner'>,
): Promise<void> {
  await db.deleteFrom('claims').where('key', '=', key).where('owner', '=', owner).execute();
}

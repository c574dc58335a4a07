import { StoreFault } from "./events/fault.ts"
import { StoreRefusal } from "./refusal.ts"

/** One change of a schema, as plain SQL. Forward only: a released one is never edited, moved or removed. */
export interface Migration {
  name: string
  sql: string
}

/** The migrations of one owner, in order: `core`, or the id of a plugin. */
export interface MigrationList {
  owner: string
  migrations: readonly Migration[]
}

/** A migration that a store has had, and the version of Footfall that ran it. */
export interface AppliedMigration {
  owner: string
  name: string
  version: string
}

/** What a run of migrations is recorded with. */
export interface MigrationStamp {
  version: string
  now: number
}

export type Pending = Migration & { owner: string }

/**
 * The rule for every store: what the lists have and the store has not, in order. Throws `StoreRefusal` when the store has
 * had a migration that the lists do not know, because a newer version wrote it then. An owner that has no list at all is a
 * plugin that was taken out, unless a version later than this one put it in: its tables stay as they are.
 */
export function pendingOf(lists: readonly MigrationList[], applied: readonly AppliedMigration[], ours: string): Pending[] {
  const known = lists.flatMap(({ owner, migrations }) => migrations.map((migration) => ({ owner, ...migration })))
  const isTakenOut = (done: AppliedMigration) => !lists.some(({ owner }) => owner === done.owner) && !isLater(done.version, ours)
  const unknown = applied.filter((done) => !known.some((migration) => isSame(migration, done)) && !isTakenOut(done)).at(-1)
  if (unknown) {
    const { owner, name, version } = unknown
    throw new StoreRefusal("newer", `The store has the migration ${owner}/${name} of a newer version: install Footfall ${version} or later`)
  }
  return known.filter((migration) => !applied.some((done) => isSame(migration, done)))
}

/** What went wrong with a migration, behind its name. Faults of the disk are told as they are. */
export function toMigrationFault(error: unknown, { owner, name }: Pending): unknown {
  if (error instanceof StoreFault || !(error instanceof Error)) return error
  return new StoreRefusal("migration", `The migration ${owner}/${name} cannot be run: ${error.message}`)
}

/** Of what names no version nobody knows. */
const isLater = (version: string, ours: string): boolean => version === "" || ours === "" || Bun.semver.order(version, ours) > 0

const isSame = (a: { owner: string; name: string }, b: { owner: string; name: string }): boolean => a.owner === b.owner && a.name === b.name

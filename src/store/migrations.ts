import { StoreFault } from "./events/fault.ts"

/** The refusal to open a store file: it belongs to another program, was written by a newer version, or a migration failed. */
export class StoreRefusal extends Error {
  constructor(
    readonly reason: "foreign" | "newer" | "migration",
    message: string,
  ) {
    super(message)
    this.name = "StoreRefusal"
  }
}

export const foreignFile = (path: string) => new StoreRefusal("foreign", `${path} belongs to another program`)

/** A change of a schema, as plain SQL. A released migration is never edited, moved or removed. */
export interface Migration {
  name: string
  sql: string
}

/** The migrations of one owner, in order: `core`, or the id of a plugin. */
export interface MigrationList {
  owner: string
  migrations: readonly Migration[]
}

/** A migration that was applied to a store, and the version of Footfall that ran it. */
export interface AppliedMigration {
  owner: string
  name: string
  version: string
}

/** The version and time that are recorded with applied migrations. */
export interface MigrationStamp {
  version: string
  now: number
}

export type Pending = Migration & { owner: string }

/**
 * Returns the migrations in the lists that were not applied yet, in order. Throws `StoreRefusal` when the store has a migration
 * that is not in the lists, which means that a newer version wrote it. An owner without a list is a removed plugin, whose tables
 * stay as they are, unless a version later than this one added it.
 */
export function pendingOf(lists: readonly MigrationList[], applied: readonly AppliedMigration[], ours: string): Pending[] {
  const known = lists.flatMap(({ owner, migrations }) => migrations.map((migration) => ({ owner, ...migration })))
  const isRemoved = (done: AppliedMigration) => !lists.some(({ owner }) => owner === done.owner) && !isLater(done.version, ours)
  const unknown = applied.filter((done) => !known.some((migration) => isSame(migration, done)) && !isRemoved(done)).at(-1)
  if (unknown) {
    const { owner, name, version } = unknown
    throw new StoreRefusal(
      "newer",
      `The store was written by a newer version (migration ${owner}/${name}). Install Footfall ${version} or later`,
    )
  }
  return known.filter((migration) => !applied.some((done) => isSame(migration, done)))
}

/** Converts an error of a migration to a refusal that names it. Faults of the disk are returned unchanged. */
export function toMigrationFault(error: unknown, { owner, name }: Pending): unknown {
  if (error instanceof StoreFault || !(error instanceof Error)) return error
  return new StoreRefusal("migration", `The migration ${owner}/${name} failed: ${error.message}`)
}

/** Returns whether a version is later than this one. An unknown version counts as later. */
const isLater = (version: string, ours: string): boolean => version === "" || ours === "" || Bun.semver.order(version, ours) > 0

const isSame = (a: { owner: string; name: string }, b: { owner: string; name: string }): boolean => a.owner === b.owner && a.name === b.name

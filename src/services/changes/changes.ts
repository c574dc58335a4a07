import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { countChanges, latestVersion, listChanges, type Topic } from "../../store/catalog/changes.ts"

/** Reads what has changed into memory: the given keys of a topic. Called within a transaction, before anything is written in it. */
export type Reload = (statements: Statements, keys: readonly string[]) => Promise<void>

export type Reloads = Readonly<Record<Topic, Reload>>

/**
 * Keeps what this node has in memory as the catalog has it, when several nodes write to it. Every transaction begins by reading what other
 * nodes have changed, so rules that look into memory are as exact as with one node. Between transactions, memory is at most one second
 * behind.
 */
export interface Changes {
  /** The catalog whose transactions begin with the changes of other nodes. */
  catalog: Catalog
  /** Names how each topic is read. Changes before the first call are read then. */
  reloadBy(reloads: Reloads): void
  /** Follows a table of a plugin, whose changes are counted from now on. `reload` gets the ids of changed rows. */
  follow(table: string, reload: Reload): Promise<void>
  /** Reads what has changed since the last transaction. Called every second. */
  poll(): Promise<void>
}

const SLICE = 1_000

/** Follows the changes from now on. Call it before anything is read into memory. */
export async function followChanges(catalog: Catalog): Promise<Changes> {
  let seen = await latestVersion(catalog)
  let reloads: Readonly<Record<string, Reload>> | undefined
  const followed = new Map<string, Reload>()

  async function catchUp(statements: Statements): Promise<void> {
    for (let isAll = reloads === undefined; !isAll; ) {
      const rows = await listChanges(statements, { after: seen, limit: SLICE })
      for (const [topic, changed] of Map.groupBy(rows, (row) => row.topic))
        await (reloads?.[topic] ?? followed.get(topic))?.(
          statements,
          changed.map(({ key }) => key),
        )
      seen = rows.at(-1)?.version ?? seen
      isAll = rows.length < SLICE
    }
  }
  const following: Catalog = {
    ...catalog,
    transaction: (work, committed) =>
      catalog.transaction(async (statements) => {
        await catchUp(statements)
        return work(statements)
      }, committed),
  }
  return {
    catalog: following,
    reloadBy(given) {
      reloads = given
    },
    async follow(table, reload) {
      followed.set(table, reload)
      await countChanges(catalog, table)
    },
    async poll() {
      if ((await latestVersion(catalog)) > seen) await following.transaction(async () => {})
    },
  }
}

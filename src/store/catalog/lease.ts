import { raw, sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The lease of the only node that serves a catalog on a server. When it is not renewed in time, another node can take it. */
export interface Lease {
  /** Id of the data folder of the node, which can retake its own lease immediately after a crash. */
  node: string
  /** Id of this start: of two nodes with copies of one folder, the later one has the lease. */
  holder: string
  /** For people: host and pid. */
  described: string
}

export const LEASE_MS = 30_000

/** The time in epoch milliseconds by the clock of the catalog's server, which all nodes share. */
export const SERVER_NOW = raw("cast(unixepoch('subsec') * 1000 as integer)")

/** Creates the table of leases. It is not a migration, because it must exist before them: two nodes must not migrate at the same time. */
export const createLeases = (catalog: Statements): Promise<void> =>
  catalog.run(sql`
    create table if not exists leases (
      id integer primary key check (id = 1),
      node text not null,
      holder text not null,
      described text not null,
      expires_at integer not null
    ) strict`)

/** Takes the lease. Returns undefined on success, otherwise the lease of the other node. */
export async function takeLease(
  catalog: Statements,
  { node, holder, described }: Lease,
): Promise<(Lease & { expires_at: number }) | undefined> {
  const taken = await catalog.get(sql`
    insert into leases (id, node, holder, described, expires_at)
    values (1, ${node}, ${holder}, ${described}, ${SERVER_NOW} + ${LEASE_MS})
    on conflict (id) do update set
      node = excluded.node, holder = excluded.holder, described = excluded.described, expires_at = excluded.expires_at
    where leases.node = excluded.node or leases.expires_at <= ${SERVER_NOW}
    returning id`)
  return taken ? undefined : currentLease(catalog)
}

/** Renews the lease. Returns false when another node has taken it. An expired lease that no other node took is renewed. */
export async function renewLease(catalog: Statements, holder: string): Promise<boolean> {
  const renewed = await catalog.get(sql`
    update leases set expires_at = ${SERVER_NOW} + ${LEASE_MS} where holder = ${holder} returning id`)
  return renewed !== undefined
}

export const currentLease = (catalog: Statements): Promise<(Lease & { expires_at: number }) | undefined> =>
  catalog.get(sql`select node, holder, described, expires_at from leases where id = 1`)

export const releaseLease = (catalog: Statements, holder: string): Promise<void> =>
  catalog.run(sql`delete from leases where holder = ${holder}`)

import type { Statements } from "./catalog.ts"
import { raw, sql } from "./sql.ts"

/** Of a catalog on a server: the one node that serves it. Who does not renew in time may be followed by another. */
export interface Lease {
  /** The data folder of the node: what it left behind after a crash it may take again at once. */
  node: string
  /** This one start of it: of two nodes with copies of one folder, the later has the lease. */
  holder: string
  /** For people: host and pid. */
  described: string
}

export const LEASE_MS = 30_000

/** The server's clock is the one that all nodes share. */
const NOW = raw("cast(unixepoch('subsec') * 1000 as integer)")

/** No migration: it has to be there before them, because two nodes must not migrate at once. */
export const createLeases = (catalog: Statements): Promise<void> =>
  catalog.run(sql`
    create table if not exists leases (
      id integer primary key check (id = 1),
      node text not null,
      holder text not null,
      described text not null,
      expires_at integer not null
    ) strict`)

/** Takes the lease. Undefined when it is this holder's now, else that of the other one. */
export async function takeLease(
  catalog: Statements,
  { node, holder, described }: Lease,
): Promise<(Lease & { expires_at: number }) | undefined> {
  const taken = await catalog.get(sql`
    insert into leases (id, node, holder, described, expires_at)
    values (1, ${node}, ${holder}, ${described}, ${NOW} + ${LEASE_MS})
    on conflict (id) do update set
      node = excluded.node, holder = excluded.holder, described = excluded.described, expires_at = excluded.expires_at
    where leases.node = excluded.node or leases.expires_at <= ${NOW}
    returning id`)
  return taken ? undefined : presentLease(catalog)
}

/** False when another has followed. A lease that ran out and that nobody took goes on. */
export async function renewLease(catalog: Statements, holder: string): Promise<boolean> {
  const renewed = await catalog.get(sql`
    update leases set expires_at = ${NOW} + ${LEASE_MS} where holder = ${holder} returning id`)
  return renewed !== undefined
}

export const presentLease = (catalog: Statements): Promise<(Lease & { expires_at: number }) | undefined> =>
  catalog.get(sql`select node, holder, described, expires_at from leases where id = 1`)

export const giveLease = (catalog: Statements, holder: string): Promise<void> =>
  catalog.run(sql`delete from leases where holder = ${holder}`)

import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

export interface Lease {
  /** Tells nodes apart; random. */
  holder: string
  /** For people: host and pid. */
  described: string
  expires_at: number
}

/** Takes or renews the lease. Undefined when it is this holder's now, else the lease of the other one. */
export async function takeLease(catalog: Statements, { holder, described, expires_at }: Lease, now: number): Promise<Lease | undefined> {
  const taken = await catalog.get(sql`
    insert into lease (id, holder, described, expires_at) values (1, ${holder}, ${described}, ${expires_at})
    on conflict (id) do update set holder = excluded.holder, described = excluded.described, expires_at = excluded.expires_at
    where lease.holder = excluded.holder or lease.expires_at <= ${now}
    returning id`)
  return taken ? undefined : catalog.get(sql`select holder, described, expires_at from lease where id = 1`)
}

export const giveLease = (catalog: Statements, holder: string): Promise<void> =>
  catalog.run(sql`delete from lease where holder = ${holder}`)

import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Requests of a key on one day (UTC), by route and class of status, such as `2xx`. */
export interface UsageCount {
  day: string
  route: string
  status: string
  requests: number
}

export const addUsage = (catalog: Statements, keyId: number, { day, route, status, requests }: UsageCount): Promise<void> =>
  catalog.run(sql`
    insert into key_usage (key_id, day, route, status, requests) values (${keyId}, ${day}, ${route}, ${status}, ${requests})
    on conflict do update set requests = requests + excluded.requests`)

/** From one day to another, both included; by day, route and status. */
export const listUsage = (catalog: Statements, keyId: number, { from, to }: { from: string; to: string }): Promise<UsageCount[]> =>
  catalog.all(sql`
    select day, route, status, requests from key_usage
    where key_id = ${keyId} and day between ${from} and ${to} order by day, route, status`)

/** Those of days before one, at most `limit`. */
export const deleteUsage = (catalog: Statements, before: string, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from key_usage where (key_id, day, route, status) in (
      select key_id, day, route, status from key_usage where day < ${before} limit ${limit}
    )`)

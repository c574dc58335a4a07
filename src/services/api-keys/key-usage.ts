import type { Clock } from "../domain/clock.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import { ArgumentReader, refuseArgument, refuseArguments } from "../query/arguments.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { addUsage, deleteUsage, listUsage, type UsageCount } from "../store/catalog/key-usage.ts"

/** An answered request that came with a key. */
export interface KeyRequest {
  keyId: number
  /** Method and path, with names for what it names: `GET /api/public/v1/sites/:id`. */
  route: string
  status: number
}

/**
 * Counts of what keys were used for. They are gathered in memory and written together, once a minute at most: a crash loses
 * those of its last minute, which is why they are a help to people and not an account.
 */
export interface KeyUsage {
  count(request: KeyRequest): void
  /** Writes what was gathered; what the store does not take now is written the next time. */
  flush(): Promise<void>
  /** Days (UTC) as they are asked for, the last 30 unless others are, with what was written of them. Throws `invalid_query`. */
  list(keyId: number, asked: Record<string, unknown>): Promise<{ from: string; to: string; data: UsageCount[] }>
  /** Removes what is over 90 days old. */
  forget(): Promise<void>
}

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
/** Counts of one transaction. */
const WRITTEN_AT_ONCE = 500

export function createKeyUsage({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): KeyUsage {
  let gathered = new Map<string, UsageCount & { keyId: number }>()
  const dayBefore = (days: number) => dayOf(clock.now() - days * DAY_MS)

  function add({ keyId, ...count }: UsageCount & { keyId: number }): void {
    const name = `${keyId} ${count.day} ${count.status} ${count.route}`
    const known = gathered.get(name)
    if (known) known.requests += count.requests
    else gathered.set(name, { keyId, ...count })
  }

  return {
    count: ({ keyId, route, status }) =>
      add({ keyId, day: dayOf(clock.now()), route, status: `${Math.floor(status / 100)}xx`, requests: 1 }),
    async flush() {
      const counts = [...gathered.values()]
      gathered = new Map()
      while (counts.length > 0) {
        const part = counts.slice(0, WRITTEN_AT_ONCE)
        try {
          await catalog.transaction(async (statements) => {
            for (const { keyId, ...count } of part) await addUsage(statements, keyId, count)
          })
        } catch (error) {
          counts.forEach(add)
          throw error
        }
        counts.splice(0, part.length)
      }
    },
    async list(keyId, asked) {
      const range = readDays(asked, { from: dayBefore(USUAL_DAYS - 1), to: dayBefore(0) })
      return { ...range, data: await listUsage(catalog, keyId, range) }
    },
    forget: () => deleteUsage(catalog, dayBefore(ORGANIZATION.keyUsageDays), 1_000),
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function readDays(asked: Record<string, unknown>, usual: { from: string; to: string }): { from: string; to: string } {
  const reader = new ArgumentReader(asked, ["from", "to"])
  const [from, to] = [reader.day("from")?.toString(), reader.day("to")?.toString()]
  refuseArguments(reader, "text")
  const range = from === undefined && to === undefined ? usual : { from: from ?? usual.from, to: to ?? usual.to }
  if (range.from <= range.to) return range
  refuseArgument({ pointer: "/from", code: "invalid_range", detail: "from must not be after to." })
}

import type { Clock } from "../../domain/clock.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import { ArgumentReader, refuseArgument, refuseArguments } from "../../query/parse/arguments.ts"
import { addUsage, deleteUsage, listUsage, type UsageCount } from "../../store/catalog/api-keys.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"

/** A completed request with an API key. */
export interface KeyRequest {
  keyId: number
  /** Method and path pattern: `GET /api/public/v1/sites/:id`. */
  route: string
  status: number
}

/**
 * Usage counts of API keys. They are collected in memory and written once a minute, so a crash loses those of the last minute. They are
 * meant for information and not for billing.
 */
export interface KeyUsage {
  count(request: KeyRequest): void
  /** Writes the collected counts. Counts that cannot be written are kept for the next call. */
  flush(): Promise<void>
  /** Returns the written counts of a range of UTC days. Default: the last 30 days. Throws `invalid_query`. */
  list(keyId: number, query: Record<string, unknown>): Promise<{ from: string; to: string; data: UsageCount[] }>
  /** Deletes counts older than 90 days. */
  forget(): Promise<void>
}

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Maximum number of counts per transaction. */
const WRITE_BATCH = 500

export function createKeyUsage({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): KeyUsage {
  let pending = new Map<string, UsageCount & { keyId: number }>()
  const dayBefore = (days: number) => dayOf(clock.now() - days * DAY_MS)

  function add({ keyId, ...count }: UsageCount & { keyId: number }): void {
    const name = `${keyId} ${count.day} ${count.status} ${count.route}`
    const known = pending.get(name)
    if (known) known.requests += count.requests
    else pending.set(name, { keyId, ...count })
  }

  return {
    count: ({ keyId, route, status }) =>
      add({ keyId, day: dayOf(clock.now()), route, status: `${Math.floor(status / 100)}xx`, requests: 1 }),
    async flush() {
      const counts = [...pending.values()]
      pending = new Map()
      while (counts.length > 0) {
        const part = counts.slice(0, WRITE_BATCH)
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
    async list(keyId, query) {
      const range = readDays(query, { from: dayBefore(DEFAULT_DAYS - 1), to: dayBefore(0) })
      return { ...range, data: await listUsage(catalog, keyId, range) }
    },
    forget: () => deleteUsage(catalog, dayBefore(ORGANIZATION.keyUsageDays), 1_000),
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function readDays(query: Record<string, unknown>, defaults: { from: string; to: string }): { from: string; to: string } {
  const reader = new ArgumentReader(query, ["from", "to"])
  const [from, to] = [reader.day("from")?.toString(), reader.day("to")?.toString()]
  refuseArguments(reader, "text")
  const range = from === undefined && to === undefined ? defaults : { from: from ?? defaults.from, to: to ?? defaults.to }
  if (range.from <= range.to) return range
  refuseArgument({ pointer: "/from", code: "invalid_range", detail: "from must not be after to." })
}

import { parseId } from "../../domain/id.ts"
import { caseKey } from "../../domain/text.ts"
import type { ArgumentReader } from "../../query/parse/arguments.ts"
import { type AuditFilters, type AuditRow, auditPart, countAuditRows, listAuditRows } from "../../store/catalog/audit.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"

/** Lists of the audit log, newest first. Filters scan the log in slices of 1,000 rows, so that no statement blocks the catalog for long. */
export interface AuditList {
  /** Returns at most `limit` rows with ids below `before`. */
  list(filters: AuditFilters, before: number | undefined, limit: number): Promise<AuditRow[]>
  count(filters: AuditFilters): Promise<number>
}

export function createAuditList({ catalog }: { catalog: Catalog }): AuditList {
  /** Yields slices of the log, from an id downwards. */
  async function* parts(filters: AuditFilters, from: number) {
    for (let before = from; ; ) {
      const { rows, last } = await auditPart(catalog, filters, before)
      if (rows > 0) yield { before, last }
      if (rows < 1_000) return
      before = last
    }
  }
  return {
    async list(filters, before = Number.MAX_SAFE_INTEGER, limit) {
      const found: AuditRow[] = []
      for await (const part of parts(filters, before)) {
        found.push(...(await listAuditRows(catalog, filters, part, limit - found.length)))
        if (found.length === limit) break
      }
      return found
    },
    async count(filters) {
      let count = 0
      for await (const part of parts(filters, Number.MAX_SAFE_INTEGER)) count += await countAuditRows(catalog, filters, part)
      return count
    },
  }
}

/** Query parameters of an audit log list. The list of the whole instance also has `organization`. */
export const AUDIT_PARAMETERS = ["actor", "action", "target", "site", "from", "to", "ip", "outcome"] as const

const DAY_MS = 86_400_000
const TEXT = { min: 1, max: 254 }

/** Reads the filters of an audit log list. `actor` is an id or email address, `action` may end in `*`, `target` is `type` or `type:id`, days are in UTC. */
export function readAuditFilters(reader: ArgumentReader): AuditFilters {
  const [from, to] = [reader.day("from"), reader.day("to")]
  if (from && to && Temporal.PlainDate.compare(from, to) > 0)
    reader.refuse({ pointer: "/from", code: "invalid_range", detail: "from must not be after to." })
  return {
    siteId: reader.integer("site", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    actor: actorOf(reader.text("actor", TEXT)),
    action: actionOf(reader.text("action", TEXT)),
    target: targetOf(reader.text("target", TEXT)),
    from: from && startOf(from),
    to: to && startOf(to) + DAY_MS,
    ip: reader.text("ip", TEXT),
    outcome: reader.choice("outcome", ["ok", "failed"]),
  }
}

const startOf = (day: Temporal.PlainDate): number => day.toZonedDateTime("UTC").epochMilliseconds

const actorOf = (text: string | undefined) => text && (parseId(text) ?? caseKey(text))

const actionOf = (text: string | undefined) =>
  text === undefined ? undefined : { name: text.replace(/\*$/, ""), isPrefix: text.endsWith("*") }

function targetOf(text: string | undefined): AuditFilters["target"] {
  if (text === undefined) return undefined
  const [type, ...id] = text.split(":")
  return { type: type!, id: id.length === 0 ? undefined : id.join(":") }
}

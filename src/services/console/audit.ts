import type { Actor } from "../../domain/audit.ts"
import { ArgumentReader, refuseArguments } from "../../query/arguments.ts"
import type { AuditFilters, AuditRow } from "../../store/catalog/audit.ts"
import type { Audit } from "../audit.ts"
import { AUDIT_PARAMETERS, type AuditList, readAuditFilters } from "../audit-list.ts"
import { type PrivatePage, privatePage, readPaging } from "../paging.ts"

/** The audit log of the whole instance. */
export interface ConsoleAudit {
  /** Newest first. Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<AuditRow>>
  /** All rows that fit, newest first, in parts; that somebody takes them along is in the log first. Throws `invalid_query`. */
  open(actor: Actor, query: Record<string, unknown>): Promise<AsyncGenerator<AuditRow[]>>
  verify: Audit["verify"]
}

const PARAMETERS = [...AUDIT_PARAMETERS, "organization"] as const
const PART = 500

export function createConsoleAudit({ audit, auditList }: { audit: Audit; auditList: AuditList }): ConsoleAudit {
  async function* parts(filters: AuditFilters, from: number): AsyncGenerator<AuditRow[]> {
    for (let before = from; ; ) {
      const rows = await auditList.list(filters, before, PART)
      if (rows.length > 0) yield rows
      if (rows.length < PART) return
      before = rows.at(-1)!.id
    }
  }
  return {
    verify: audit.verify,
    async list(query) {
      const paging = readPaging("admin/audit", query, PARAMETERS, readFilters)
      return privatePage(
        paging,
        (limit) => auditList.list(paging.filters, paging.after, limit),
        () => auditList.count(paging.filters),
      )
    },
    async open(actor, query) {
      const reader = new ArgumentReader(query, PARAMETERS)
      const filters = readFilters(reader)
      refuseArguments(reader, "text")
      await audit.writeAlone(actor, {
        action: "admin.audit.export",
        target: { type: "instance", id: "audit", label: new URLSearchParams(texts(query)).toString() },
      })
      return parts(filters, Number.MAX_SAFE_INTEGER)
    },
  }
}

function readFilters(reader: ArgumentReader): AuditFilters {
  return { ...readAuditFilters(reader), organizationId: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }) }
}

const texts = (query: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

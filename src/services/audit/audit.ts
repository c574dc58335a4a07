import { type Actor, type AuditEntry, changesBetween } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { parseId } from "../../domain/id.ts"
import type { ApiKey } from "../../domain/key.ts"
import type { Organization } from "../../domain/organization.ts"
import type { Share } from "../../domain/share.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import { caseKey } from "../../domain/text.ts"
import type { User } from "../../domain/user.ts"
import type { ArgumentReader } from "../../query/parse/arguments.ts"
import {
  type AuditFilters,
  type AuditRow,
  auditAnchor,
  auditPart,
  type ChainedRow,
  countAuditRows,
  highestAuditId,
  insertAuditRow,
  lastAuditRow,
  listAuditRows,
  listChainedRows,
} from "../../store/catalog/audit.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import type { Alongside } from "../definitions/site-things.ts"
import { slicesOf } from "../lists/paging.ts"

/**
 * The audit log. It is append-only, and each row contains the hash of the previous one. An entry is written in the transaction of the
 * change that it records: if the entry cannot be written, the change does not happen.
 */
export interface Audit {
  write(statements: Statements, actor: Actor, entry: AuditEntry): Promise<void>
  /** Writes an entry in a transaction of its own, for actions that change nothing in the catalog. */
  writeAlone(actor: Actor, entry: AuditEntry): Promise<void>
  /**
   * Checks the whole chain: that it begins at its anchor, that every row follows from the one before, and that no row is missing at the
   * end. `first_broken_id` is the first row that does not follow, or the first one that is missing at the end.
   */
  verify(): Promise<{ ok: boolean; rows: number; first_broken_id?: number }>
}

const NOTHING = new Uint8Array(32)

export function createAudit({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Audit {
  async function write(statements: Statements, actor: Actor, entry: AuditEntry): Promise<void> {
    const last = await lastAuditRow(statements)
    const prev_hash = last?.hash ?? NOTHING
    // Ids are never reused, so that the removal of the last rows leaves a visible gap.
    const id = Math.max(last?.id ?? 0, await highestAuditId(statements)) + 1
    const row = { ...rowOf(actor, entry), id, at: clock.now(), prev_hash }
    await insertAuditRow(statements, { ...row, hash: hashOf(row) })
  }

  return {
    write,
    writeAlone: (actor, entry) => catalog.transaction((statements) => write(statements, actor, entry)),
    async verify() {
      // The anchor is read first, because rows may be added during the check.
      const anchor = await auditAnchor(catalog)
      let rows = 0
      if (!anchor) return { ok: false, rows, first_broken_id: 1 }
      let next: Pick<ChainedRow, "id" | "prev_hash"> = { id: anchor.first_id, prev_hash: anchor.prev_hash }
      for await (const slice of slicesOf((part) => listChainedRows(catalog, part))) {
        for (const row of slice) {
          rows++
          const follows = row.id === next.id && Bun.deepEquals(row.prev_hash, next.prev_hash)
          if (!follows || !Bun.deepEquals(hashOf(row), row.hash)) return { ok: false, rows, first_broken_id: row.id }
          next = { id: row.id + 1, prev_hash: row.hash }
        }
      }
      const end = anchor.first_id + anchor.rows
      const isWhole = next.id >= end && anchor.highest_id + 1 === end
      return isWhole ? { ok: true, rows } : { ok: false, rows, first_broken_id: Math.min(next.id, anchor.highest_id + 1, end) }
    },
  }
}

/** Returns a callback that writes the audit entry of a change, with the fields that differ, in the transaction of the change. Then runs `also`. */
export const recorded =
  <Thing extends object>(
    audit: Pick<Audit, "write">,
    actor: Actor,
    describe: (thing: Thing) => AuditEntry,
    also?: Alongside<Thing>,
  ): Alongside<Thing> =>
  async (statements, change) => {
    const { before, after } = change
    // At least one of them is set.
    const entry = describe((after ?? before)!)
    await audit.write(statements, actor, { changes: changesBetween(before, after), ...entry })
    await also?.(statements, change)
  }

function rowOf(actor: Actor, entry: AuditEntry): Omit<ChainedRow, "id" | "at" | "prev_hash" | "hash"> {
  const { action, target, organizationId, siteId, outcome = "ok", changes = {} } = entry
  return {
    actor_kind: actor.kind,
    actor_id: actor.id ?? null,
    actor_email: actor.email,
    impersonator_id: actor.impersonator?.id ?? null,
    impersonator_email: actor.impersonator?.email ?? null,
    action,
    target_type: target.type,
    target_id: String(target.id),
    target_label: target.label.slice(0, 200),
    organization_id: organizationId ?? null,
    site_id: siteId ?? null,
    outcome,
    ip_prefix: actor.ipPrefix,
    user_agent: actor.userAgent.slice(0, 512),
    request_id: actor.requestId,
    changes,
  }
}

/** Returns the hash of a row: of the previous hash and all fields in a fixed order. */
function hashOf({ hash: _, prev_hash, ...row }: Omit<ChainedRow, "hash"> & { hash?: Uint8Array }): Uint8Array {
  const fields = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))
  return new Uint8Array(new Bun.CryptoHasher("sha256").update(prev_hash).update(JSON.stringify(fields)).digest())
}

/** Returns the audit entry of an action on an organization. */
export const organizationEntry =
  (verb: string) =>
  ({ id, name }: Pick<Organization, "id" | "name">): AuditEntry => ({
    action: `accounts.organization.${verb}`,
    target: { type: "organization", id, label: name },
    organizationId: id,
  })

export const keyEntry =
  (verb: string) =>
  ({ id, name, prefix, organization_id }: ApiKey): AuditEntry => ({
    action: `accounts.api_key.${verb}`,
    target: { type: "api_key", id, label: `${name} (${prefix})` },
    organizationId: organization_id,
  })

/** Returns the audit entry of an action on a user. */
export const userEntry =
  (action: string) =>
  ({ id, email }: Pick<User, "id" | "email">) => ({ action, target: { type: "user", id, label: email } })

/** Returns the audit entry of an action on a session. */
export const sessionEntry = (action: string, id: number) => ({ action, target: { type: "session", id, label: "" } })

/** Returns the audit entry of an action on a whole site. */
export const siteEntry =
  (action: string) =>
  ({ id, name, organization_id }: Site): AuditEntry => ({
    action,
    target: { type: "site", id, label: name },
    organizationId: organization_id,
    siteId: id,
  })

/** A definition of a site, as the audit log names it: by its name or text. */
export type NamedDefinition = { id: number } & ({ name: string } | { text: string })
type DefinitionVerb = "create" | "update" | "delete"

/** Returns the audit entry of an action on a definition of a site. `noun` is its kind, such as `goal`. */
export const definitionEntry =
  (verb: DefinitionVerb, noun: string, { id: siteId, organization_id }: Site) =>
  (definition: NamedDefinition): AuditEntry => ({
    action: `sites.${noun}.${verb}`,
    target: { type: noun, id: definition.id, label: "name" in definition ? definition.name : definition.text },
    organizationId: organization_id,
    siteId,
  })

/** Returns the audit entry of an action on a shared view without its slug, which readers of the log must not learn. */
export const shareEntry =
  (verb: DefinitionVerb, site: Site) =>
  ({ slug: _, ...share }: Share & { slug?: string }): AuditEntry => ({
    ...definitionEntry(verb, "share", site)(share),
    ...(verb === "create" && { changes: changesBetween(undefined, share) }),
  })

/** Returns the audit entry of an action on a site-specific role. */
export const siteMemberEntry =
  (verb: "put" | "remove", { id: siteId, organization_id }: Site) =>
  ({ user_id, email }: { user_id: number; email: string }): AuditEntry => ({
    action: `accounts.site_member.${verb}`,
    target: { type: "user", id: user_id, label: email },
    organizationId: organization_id,
    siteId,
  })

/** Returns the audit entry of an action on a shield of a site, or of the whole instance if `site` is missing. */
export const shieldEntry =
  (verb: string, site: Site | undefined) =>
  ({ id, kind, value }: Shield): AuditEntry => ({
    action: `sites.shield.${verb}`,
    target: { type: "shield", id, label: `${kind} ${value}` },
    ...(site && { organizationId: site.organization_id, siteId: site.id }),
  })

export const backupEntry = (verb: string, { id, label }: { id: string; label?: string | null | undefined }): AuditEntry => ({
  action: `admin.backup.${verb}`,
  target: { type: "backup", id, label: label ?? id },
})

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

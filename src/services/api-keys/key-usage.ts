import type { Clock } from "../../domain/clock.ts"
import type { ApiKey } from "../../domain/key.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import { instantText } from "../../domain/moment.ts"
import { keyEvent } from "../../domain/product-event.ts"
import { ArgumentReader, refuseArgument, refuseArguments } from "../../query/parse/arguments.ts"
import { addUsage, deleteUsage, listKeysEnding, listUsage, markExpiryNotified, type UsageCount } from "../../store/catalog/api-keys.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listMembers, type Member } from "../../store/catalog/members.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { EmailMessage, MailQueue } from "../mail/mail.ts"

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

/** Days before a key's expiry at which a notice is sent. If both are due, only the nearer one is. */
const NOTICE_DAYS = [3, 14] as const

interface NoticeOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  mail: Pick<MailQueue, "isOn" | "post" | "wake">
  outbox: Pick<Outbox, "write">
}

/**
 * Emails the creator of each key that expires soon, or the organization's owners if the creator has left. A product event is sent as well,
 * even without a mail server. The notice is marked as sent in the same transaction.
 */
export async function announceEndingKeys({ catalog, clock, mail, outbox }: NoticeOptions): Promise<void> {
  const now = clock.now()
  for (const notice of NOTICE_DAYS)
    for (const key of await listKeysEnding(catalog, { now, until: now + notice * DAY_MS, notice })) {
      const emails = mail.isOn() ? await emailsAbout(catalog, key) : []
      await catalog.transaction(async (statements) => {
        await markExpiryNotified(statements, key.id, notice)
        await outbox.write(statements, keyEvent("expiring", key))
        for (const email of emails) await mail.post(statements, email)
      })
    }
  mail.wake()
}

async function emailsAbout(catalog: Catalog, key: ApiKey): Promise<EmailMessage[]> {
  const organization = await organizationById(catalog, key.organization_id)
  if (!organization) return []
  return recipientsOf(key, await listMembers(catalog, key.organization_id)).map(({ email }) => ({
    to: email,
    subject: `API key "${key.name}" expires soon`,
    text: [
      `The API key "${key.name}" (${key.prefix}…${key.last4}) of ${organization.name} expires at ${instantText(key.expires_at!)}.`, // the key expires, because it was listed
      "",
      "Programs that use it will then no longer have access. To avoid this, change its expiry date or create another key in the organization's settings.",
    ].join("\n"),
  }))
}

function recipientsOf({ created_by }: ApiKey, members: readonly Member[]): Member[] {
  const active = members.filter(({ status }) => status === "active")
  const creator = active.find(({ user_id }) => user_id === created_by)
  return creator ? [creator] : active.filter(({ role }) => role === "owner")
}

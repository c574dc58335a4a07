import type { Clock } from "../../domain/clock.ts"
import type { ApiKey } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import { listKeysEnding, markExpiryNotified } from "../../store/catalog/api-keys.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listMembers, type Member } from "../../store/catalog/members.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { keyEvent, type Outbox } from "../jobs/outbox.ts"
import type { EmailMessage, MailQueue } from "../mail/mail.ts"

/** Days before a key's expiry at which a notice is sent. If both are due, only the nearer one is. */
const NOTICE_DAYS = [3, 14] as const
const DAY_MS = 86_400_000

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

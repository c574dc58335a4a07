import type { Clock } from "../domain/clock.ts"
import type { ApiKey } from "../domain/key.ts"
import { instantText } from "../domain/moment.ts"
import { listKeysEnding, markNoticed } from "../store/catalog/api-keys.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { listMembers, type Member } from "../store/catalog/members.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import type { PostedMail } from "./mail.ts"
import type { Letter } from "./mail-port.ts"
import type { Outbox } from "./outbox.ts"
import { keyEvent } from "./product-events.ts"

/** Tells by mail that a key is about to end, this many days before; the nearer notice takes the place of the farther. */
const NOTICE_DAYS = [3, 14] as const
const DAY_MS = 86_400_000

interface NoticeOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  mail: Pick<PostedMail, "isOn" | "post" | "wake">
  outbox: Pick<Outbox, "write">
}

/**
 * Writes to who made a key, or to the owners of the organization when that is no member any more. A notice is noted in the
 * transaction that posts it, and a product event tells others of it whether mails go out or not.
 */
export async function announceEndingKeys({ catalog, clock, mail, outbox }: NoticeOptions): Promise<void> {
  const now = clock.now()
  for (const notice of NOTICE_DAYS)
    for (const key of await listKeysEnding(catalog, { now, until: now + notice * DAY_MS, notice })) {
      const letters = mail.isOn() ? await lettersAbout(catalog, key) : []
      await catalog.transaction(async (statements) => {
        await markNoticed(statements, key.id, notice)
        await outbox.write(statements, keyEvent("expiring", key))
        for (const letter of letters) await mail.post(statements, letter)
      })
    }
  mail.wake()
}

async function lettersAbout(catalog: Catalog, key: ApiKey): Promise<Letter[]> {
  const organization = await organizationById(catalog, key.organization_id)
  if (!organization) return []
  return readersOf(key, await listMembers(catalog, key.organization_id)).map(({ email }) => ({
    to: email,
    subject: `API key "${key.name}" ends soon`,
    text: [
      `The API key "${key.name}" (${key.prefix}…${key.last4}) of ${organization.name} ends at ${instantText(key.expires_at!)}.`, // it ends: so it was found
      "",
      "Programs that use it get no answers from then on. Give it a later end, or make another key, on the page of the organization.",
    ].join("\n"),
  }))
}

function readersOf({ created_by }: ApiKey, members: readonly Member[]): Member[] {
  const active = members.filter(({ status }) => status === "active")
  const maker = active.find(({ user_id }) => user_id === created_by)
  return maker ? [maker] : active.filter(({ role }) => role === "owner")
}

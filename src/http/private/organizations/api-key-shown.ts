import { type Static, Type as t } from "@sinclair/typebox"
import { type ApiKey, KEY_STATES } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import { etagOf } from "../../domain/version.ts"
import type { Keys, ListedKey, NewSecret } from "../../services/keys.ts"
import { type Paging, pageOfAll, readPaging } from "../../services/paging.ts"
import { PersonShown } from "./members.ts"
import { Id, Instant } from "./tagged.ts"

const InstantOrNull = t.Union([Instant, t.Null()])
const WordsOrNull = t.Union([t.String(), t.Null()])

const KEY = {
  id: Id,
  name: t.String(),
  prefix: t.String({ description: "How people tell keys apart" }),
  last4: t.String(),
  scopes: t.Array(t.String()),
  site_access: t.String(),
  site_ids: t.Union([t.Array(Id), t.Null()], { description: "null with site_access all" }),
  ip_allow: t.Array(t.String()),
  rate_limit: t.Union([t.Integer(), t.Null()]),
  personal: t.Boolean(),
  created_by: t.Union([PersonShown, t.Null()], { description: "null: the command line" }),
  created_at: Instant,
  expires_at: InstantOrNull,
  last_used_at: InstantOrNull,
  last_used_ip_prefix: WordsOrNull,
  last_used_agent: WordsOrNull,
  revoked_at: InstantOrNull,
  state: t.String(),
  owner_left: t.Boolean({ description: "Who made it is no member any more: nobody's rights bound it" }),
  version: t.Integer(),
}
export const KeyShown = t.Object(KEY, { title: "ApiKey" })
export type KeyShown = Static<typeof KeyShown>
export const SecretShown = t.Object({ ...KEY, key: t.String({ description: "The whole key; shown this once" }) }, { title: "NewApiKey" })
export type SecretShown = Static<typeof SecretShown>

export const says = (summary: string) => ({ summary, tags: ["api-keys"] })
export const CAN_WRITE_KEYS = { permission: "keys:write", personal: true }

/** By state, or all. Throws `invalid_query`, `invalid_cursor`. */
export const readKeyPaging = (list: string, query: Record<string, unknown>) =>
  readPaging(list, query, ["state"], (reader) => ({ state: reader.choice("state", KEY_STATES) }))

/** One page of keys, with who made them. */
export async function pageOfKeys(keys: Keys, organizationId: number, paging: Paging<unknown>, all: readonly ApiKey[]) {
  const page = await pageOfAll(paging, all)
  return { ...page, data: (await keys.listed(organizationId, page.data)).map(shownKey) }
}

/** A key that was just made, by whoever asks. */
export function newKey({ key, secret }: NewSecret, { id, name, email }: { id: number; name: string; email: string }) {
  const shown = shownKey({ ...key, state: "active", creator: { user_id: id, name, email }, owner_left: false })
  return {
    location: `/api/private/organizations/${key.organization_id}/api-keys/${key.id}`,
    etag: etagOf(key),
    body: { ...shown, key: secret },
  }
}

export const shownKey = (key: ListedKey): KeyShown => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: [...key.scopes],
  site_access: key.site_ids === null ? "all" : "list",
  site_ids: key.site_ids && [...key.site_ids],
  ip_allow: [...key.ip_allow],
  rate_limit: key.rate_limit,
  personal: key.owner_user_id !== null,
  created_by: key.creator && { id: key.creator.user_id, name: key.creator.name, email: key.creator.email },
  created_at: instantText(key.created_at),
  expires_at: textOrNull(key.expires_at),
  last_used_at: textOrNull(key.last_used_at),
  last_used_ip_prefix: key.last_used_ip_prefix,
  last_used_agent: key.last_used_agent,
  revoked_at: textOrNull(key.revoked_at),
  state: key.state,
  owner_left: key.owner_left,
  version: key.version,
})

const textOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))

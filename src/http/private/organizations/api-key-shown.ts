import { type ApiKey, KEY_STATES, type KeyResponse } from "../../../domain/key.ts"
import { instantText } from "../../../domain/moment.ts"
import { etagOf } from "../../../domain/version.ts"
import type { Keys, ListedKey, NewSecret } from "../../../services/api-keys/api-keys.ts"
import { type Paging, pageOfAll, readPaging } from "../../../services/lists/paging.ts"

export const operation = (summary: string) => ({ summary, tags: ["api-keys"] })
export const CAN_WRITE_KEYS = { permission: "keys:write", personal: true }

/** Parses the query of a list of keys, optionally limited to a state. Throws `invalid_query` or `invalid_cursor`. */
export const readKeyPaging = (list: string, query: Record<string, unknown>) =>
  readPaging(list, query, ["state"], (reader) => ({ state: reader.choice("state", KEY_STATES) }))

/** Returns a page of keys with their creators. */
export async function pageOfKeys(keys: Keys, organizationId: number, paging: Paging<unknown>, all: readonly ApiKey[]) {
  const page = await pageOfAll(paging, all)
  return { ...page, data: (await keys.listed(organizationId, page.data)).map(toKeyResponse) }
}

/** Converts a key that the caller has just created, with its secret. */
export function newKey({ key, secret }: NewSecret, { id, name, email }: { id: number; name: string; email: string }) {
  const shown = toKeyResponse({ ...key, state: "active", creator: { user_id: id, name, email }, owner_left: false })
  return {
    location: `/api/private/organizations/${key.organization_id}/api-keys/${key.id}`,
    etag: etagOf(key),
    body: { ...shown, key: secret },
  }
}

export const toKeyResponse = (key: ListedKey): KeyResponse => ({
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

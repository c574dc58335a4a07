import { createHash } from "node:crypto"
import { type OwnStatements, sql } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { integrationError } from "../errors.ts"

/** A request for access, from the press of the button to the provider's answer. */
export interface AccessRequest {
  session_id: number
  user_id: number
  organization_id: number
  site_id: number
  kind: string
  return_to: string
}

interface Checks {
  state: string
  nonce: string
  verifier: string
}

const LIFE_MS = 600_000
/** Requests of one user that can wait for an answer. */
const MAX_OPEN = 20

const hashOf = (state: string): string => createHash("sha256").update(state).digest("hex")

/** Stores a request for access. The state is kept as a hash, the other values encrypted. */
export const storeState = ({ db, secrets, now }: IntegrationsHost, request: AccessRequest, { state, nonce, verifier }: Checks) =>
  db.transaction(async (statements) => {
    await dropStates(
      secrets,
      statements,
      sql`user_id = ${request.user_id} and id not in (
      select id from integrations_oauth_states where user_id = ${request.user_id} order by id desc limit ${MAX_OPEN - 1})`,
    )
    const { session_id, user_id, organization_id, site_id, kind, return_to } = request
    const row = await statements.get<{ id: number }>(sql`
      insert into integrations_oauth_states (state_hash, session_id, user_id, organization_id, site_id, kind, return_to, expires_at)
      values (${hashOf(state)}, ${session_id}, ${user_id}, ${organization_id}, ${site_id}, ${kind}, ${return_to}, ${now() + LIFE_MS})
      returning id`)
    const place = { table: "integrations_oauth_states", row: row!.id, purpose: "pkce" } // an insert that returns has a row
    const secretId = await secrets.put(statements, place, JSON.stringify({ nonce, verifier }))
    await statements.run(sql`update integrations_oauth_states set pkce_secret_id = ${secretId} where id = ${row!.id}`)
  })

/**
 * Takes the request for access that a state belongs to. It can be taken once, by the session that has started it, within ten minutes.
 * Throws `invalid_oauth_state`.
 */
export async function takeState(
  { db, secrets, now }: IntegrationsHost,
  state: string,
  sessionId: number,
): Promise<{ request: AccessRequest; checks: Checks }> {
  type Row = AccessRequest & { id: number; pkce_secret_id: number; expires_at: number }
  const isOpen = sql`state_hash = ${hashOf(state)} and session_id = ${sessionId} and expires_at > ${now()} and used_at is null`
  const found = await db.get<Row>(sql`
    select id, session_id, user_id, organization_id, site_id, kind, pkce_secret_id, return_to, expires_at
    from integrations_oauth_states where ${isOpen}`)
  const sealed = found && (await secrets.open(found.pkce_secret_id))
  const isTaken = await db.transaction(async (statements) => {
    const taken = await statements.get<{ id: number }>(sql`
      update integrations_oauth_states set used_at = ${now()}, pkce_secret_id = null where ${isOpen} returning id`)
    if (taken && found) await secrets.remove(statements, found.pkce_secret_id)
    return taken !== undefined
  })
  if (!isTaken || !found || sealed === undefined)
    throw integrationError(
      "invalid_oauth_state",
      "This request for access was already used, has expired or was started by another session.",
    )
  const { nonce, verifier } = JSON.parse(sealed) as Omit<Checks, "state"> // written above
  return { request: found, checks: { state, nonce, verifier } }
}

/** Deletes requests for access with their secrets. */
export async function dropStates(
  secrets: IntegrationsHost["secrets"],
  statements: OwnStatements,
  condition: ReturnType<typeof sql>,
): Promise<void> {
  const rows = await statements.all<{ id: number; pkce_secret_id: number | null }>(sql`
    delete from integrations_oauth_states where id in (select id from integrations_oauth_states where ${condition} limit 500)
    returning id, pkce_secret_id`)
  for (const { pkce_secret_id } of rows) if (pkce_secret_id !== null) await secrets.remove(statements, pkce_secret_id)
}

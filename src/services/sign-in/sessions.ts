import { createHash } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import type { Client, Session, SignInMethod } from "../domain/session.ts"
import type { User } from "../domain/user.ts"
import { agentOf, cutAgent } from "../ingest/agent.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { sessionDaysOf } from "../store/catalog/memberships.ts"
import {
  deleteEndedSessions,
  insertSession,
  listLiveSessions,
  renewSessionToken,
  revokeSession,
  revokeSessionsOf,
  sessionById,
  sessionByTokenHash,
  updateSessionProof,
  updateSessionSeen,
  updateSessionToken,
  wantSessionRenewal,
} from "../store/catalog/sessions.ts"
import { userById } from "../store/catalog/users.ts"
import type { Random } from "./secrets.ts"

/** Who is signed in, and by which session. (An alias: routes cannot be given an interface.) */
export type Person = {
  user: User
  session: Session
  /** The token under which the session goes on: the browser must be told. */
  renewedToken?: string
}

export interface NewSession {
  method: SignInMethod
  mfa: boolean
  client: Client
  impersonation?: { by: number; mode: "read_only" | "full"; reason: string; minutes: number }
  /** The only organization it may reach. */
  organizationId?: number
  /** The identity provider that opens it. */
  provider?: string
}

/** Sessions of the dashboard: a random token in a cookie, of which only a hash is kept. The row decides; what ended is dead at once. */
export interface Sessions {
  /** The token is told this once. */
  create(statements: Statements, user: Pick<User, "id">, session: NewSession): Promise<{ token: string; session: Session }>
  /** Undefined for an unknown or ended session, and for a user who may not sign in any more. Moves the end of idle sessions. */
  find(token: string): Promise<Person | undefined>
  /** The same by its id, for what goes on for long: taken for no sign of life, and under whatever token it goes on. */
  look(id: number): Promise<Person | undefined>
  /** Live ones of a user, the one seen last first. */
  list(userId: number, statements?: Statements): Promise<Session[]>
  /** False when there is no such live session. */
  revoke(statements: Statements, id: number): Promise<boolean>
  /** Ends all of a user, or all but one. */
  revokeAll(statements: Statements, userId: number, except?: number): Promise<void>
  /** The rights of a user have changed: with the next answer each session gets a new token. */
  renewAll(statements: Statements, userId: number): Promise<void>
  /** Who it is was proved again: the session goes on under a new token. */
  prove(statements: Statements, id: number): Promise<string>
  /** Removes rows of sessions that ended long ago. */
  forgetEnded(): Promise<void>
}

interface SessionsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  /** In days; of the instance. */
  life(): { idle: number; absolute: number }
}

const DAY_MS = 86_400_000
/** How often it is written down that a session was seen. */
const SEEN_EVERY_MS = 5 * 60_000
/** Ended sessions are still shown in the audit of the instance for a while. */
const KEPT_ENDED_MS = 30 * DAY_MS
const TOKEN_BYTES = 32
/** What a page asked at once with the old token is still answered. */
const RENEWAL_GRACE_MS = 10_000

export function createSessions({ catalog, clock, random, life }: SessionsOptions): Sessions {
  const newToken = () => random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })

  /** What the instance allows, or less where an organization of the user wants it. */
  async function lifeOf(statements: Statements, userId: number): Promise<{ idle: number; absolute: number }> {
    const wanted = await sessionDaysOf(statements, userId)
    const { idle, absolute } = life()
    return { idle: Math.min(idle, wanted.idle ?? idle), absolute: Math.min(absolute, wanted.absolute ?? absolute) }
  }

  async function see(session: Session, now: number): Promise<Session> {
    if (now - session.last_seen_at < SEEN_EVERY_MS) return session
    const { idle } = await lifeOf(catalog, session.user_id)
    const idle_expires_at = Math.min(session.expires_at, now + idle * DAY_MS)
    // A full disk must not sign anybody out.
    await updateSessionSeen(catalog, session.id, { at: now, idleExpiresAt: idle_expires_at }).catch(() => {})
    return { ...session, last_seen_at: now, idle_expires_at }
  }

  /** Nobody acts as an instance admin, and only an instance admin acts as somebody: whatever has changed since it began. */
  async function mayStandIn({ impersonator_id }: Session, user: User): Promise<boolean> {
    if (impersonator_id === null) return true
    const by = await userById(catalog, impersonator_id)
    return by?.status === "active" && by.is_instance_admin && !user.is_instance_admin
  }

  async function renew(id: number, now: number): Promise<string | undefined> {
    const token = newToken()
    const isRenewed = await renewSessionToken(catalog, id, { tokenHash: tokenHash(token), previousUntil: now + RENEWAL_GRACE_MS })
    return isRenewed ? token : undefined
  }

  return {
    async create(statements, user, { method, mfa, client, impersonation, organizationId, provider }) {
      const now = clock.now()
      const { idle, absolute } = await lifeOf(statements, user.id)
      const expires_at = now + (impersonation ? impersonation.minutes * 60_000 : absolute * DAY_MS)
      const token = newToken()
      const session = await insertSession(statements, tokenHash(token), {
        user_id: user.id,
        method,
        mfa,
        created_at: now,
        idle_expires_at: Math.min(expires_at, now + idle * DAY_MS),
        expires_at,
        reauth_at: now,
        device: deviceOf(client.userAgent),
        user_agent: client.userAgent.slice(0, 512),
        ip_prefix: client.ipPrefix,
        place: client.place ?? "",
        impersonator_id: impersonation?.by ?? null,
        impersonation_mode: impersonation?.mode ?? null,
        impersonation_reason: impersonation?.reason ?? null,
        organization_id: organizationId ?? null,
        provider: provider ?? null,
      })
      return { token, session }
    },
    async find(token) {
      const now = clock.now()
      const session = await sessionByTokenHash(catalog, tokenHash(token), now)
      if (!session || session.revoked_at !== null) return undefined
      if (!isLive(session, now)) {
        // Written down, so that a clock that is set back does not revive it.
        await revokeSession(catalog, session.id, now).catch(() => {})
        return undefined
      }
      const user = await userById(catalog, session.user_id)
      if (user?.status !== "active" || !(await mayStandIn(session, user))) return undefined
      const renewedToken = session.renewal_wanted ? await renew(session.id, now) : undefined
      return { user, session: await see(session, now), ...(renewedToken !== undefined && { renewedToken }) }
    },
    async look(id) {
      const session = await sessionById(catalog, id)
      if (!session || session.revoked_at !== null || !isLive(session, clock.now())) return undefined
      const user = await userById(catalog, session.user_id)
      return user?.status === "active" && (await mayStandIn(session, user)) ? { user, session } : undefined
    },
    list: (userId, statements = catalog) => listLiveSessions(statements, userId, clock.now()),
    revoke: (statements, id) => revokeSession(statements, id, clock.now()),
    revokeAll: (statements, userId, except) => revokeSessionsOf(statements, userId, clock.now(), except),
    renewAll: wantSessionRenewal,
    async prove(statements, id) {
      const token = newToken()
      await updateSessionToken(statements, id, tokenHash(token))
      await updateSessionProof(statements, id, clock.now())
      return token
    },
    forgetEnded: () => deleteEndedSessions(catalog, clock.now() - KEPT_ENDED_MS, 1_000),
  }
}

/** As people know it: `Firefox on Linux`. */
function deviceOf(userAgent: string): string {
  const { browser, os } = agentOf(cutAgent(userAgent))
  return [browser || "Unknown browser", os && `on ${os}`].filter(Boolean).join(" ")
}

const isLive = ({ expires_at, idle_expires_at, created_at }: Session, now: number): boolean =>
  // A clock that was set back brings nothing back to life that had not begun.
  now < expires_at && now < idle_expires_at && now >= created_at - DAY_MS

/** Tokens are random and long: a plain hash of them cannot be guessed back. */
export const tokenHash = (token: string): Uint8Array => new Uint8Array(createHash("sha256").update(token).digest())

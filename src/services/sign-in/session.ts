import type { Session, SignInMethod } from "../../domain/account.ts"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { countryNameOrCode } from "../../domain/place-names.ts"
import { isEmail, type User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { updateLastLogin } from "../../store/catalog/users.ts"
import { type Audit, sessionEntry } from "../audit/audit.ts"
import type { Origin } from "./limits.ts"
import type { Person, Sessions } from "./sessions.ts"

/** A client that is not signed in yet. */
export interface Guest {
  /** The author of audit entries: no user yet, but with the client's network and user agent. */
  actor: Actor
  origin: Origin
  /** Approximate location, derived from the IP address, which is not stored. Country code and city, "" if unknown. */
  place?: { country: string; city: string }
  /** The browser's current session. It ends when the browser signs in again. */
  former: Session | undefined
}

/** A new session with its user. The token is available only once. */
export interface SignedIn {
  user: User
  session: Session
  token: string
}

export interface Entry {
  method: SignInMethod
  mfa: boolean
  /** The only organization that the session has access to. */
  organizationId?: number
  /** Id of the identity provider that was used to sign in. */
  provider?: string
}

/** Completes a sign-in by any method, in the caller's transaction: creates the session, updates the user's last login and writes the audit entry. */
export type OpenSession = (statements: Statements, user: User, entry: Entry, guest: Guest) => Promise<SignedIn>

export function sessionOpening(options: { clock: Pick<Clock, "now">; sessions: Sessions; audit: Audit }): OpenSession {
  const { clock, sessions, audit } = options
  return async (statements, user, { method, mfa, organizationId, provider }, { actor, former, place }) => {
    if (former) await sessions.revoke(statements, former.id)
    const { userAgent, ipPrefix } = actor
    const client = { userAgent, ipPrefix, place: place ? placeName(place) : "" }
    const limits = { ...(organizationId !== undefined && { organizationId }), ...(provider !== undefined && { provider }) }
    const { token, session } = await sessions.create(statements, user, { method, mfa, client, ...limits })
    await updateLastLogin(statements, user.id, clock.now())
    await audit.write(statements, actorAs(actor, user), {
      action: "accounts.session.create",
      target: { type: "session", id: session.id, label: method },
    })
    return { user, session, token }
  }
}

/** Returns the display name of a location: `Berlin, Germany`. */
const placeName = ({ country, city }: { country: string; city: string }): string =>
  [city, country === "" ? "" : countryNameOrCode(country)].filter(Boolean).join(", ")

/** Returns the actor as this user, who has just been authenticated. */
export const actorAs = (actor: Actor, user: Pick<User, "id" | "email">): Actor => ({ ...actor, id: user.id, email: user.email })

/**
 * Ends the current session, and the admin's own session that waits in the same browser during an impersonation. If the session was
 * opened by an identity provider, resolves with the provider's logout URL.
 */
export type SignOut = (person: Person & { actor: Actor }, waitingToken: string | undefined) => Promise<string | undefined>

interface SignOutOptions {
  catalog: Catalog
  sessions: Sessions
  audit: Audit
  /** Returns the provider's logout URL, undefined if it has none or was removed. */
  logoutUrl(provider: string): Promise<string | undefined>
}

export const createSignOut =
  ({ catalog, sessions, audit, logoutUrl }: SignOutOptions): SignOut =>
  async ({ session, actor }, waitingToken) => {
    const waiting = waitingToken === undefined ? undefined : await sessions.find(waitingToken)
    await catalog.transaction(async (statements) => {
      for (const { id } of [session, ...(waiting ? [waiting.session] : [])]) {
        await sessions.revoke(statements, id)
        await audit.write(statements, actor, sessionEntry("accounts.session.end", id))
      }
    })
    return session.provider === null ? undefined : logoutUrl(session.provider)
  }

/** Records a failed sign-in or identity confirmation in the audit log, under the email address that was entered. */
export type NoteFailure = (actor: Actor, what: FailedStep, typed: string) => Promise<void>
export type FailedStep = "accounts.session.create" | "accounts.session.prove"

const MAX_LISTED_PER_NETWORK = 100
const DAY_MS = 86_400_000
/** Limit for all networks together, so that an attacker with many networks cannot fill the log. */
const MAX_LISTED_PER_DAY = 5_000
const MAX_NETWORKS = 50_000

/**
 * Creates the recorder of failures. It writes at most 100 audit entries per day and network, the last of which says that later ones are
 * not listed, and at most 5,000 per day in total.
 */
export function failureNotes({ clock, audit }: { clock: Pick<Clock, "now">; audit: Audit }): NoteFailure {
  let day = 0
  let counts = new Map<string, number>()
  let listed = 0
  return async (actor, action, typed) => {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today !== day) listed = 0
    if (today !== day || counts.size >= MAX_NETWORKS) counts = new Map()
    day = today
    const count = (counts.get(actor.ipPrefix) ?? 0) + 1
    counts.set(actor.ipPrefix, count)
    if (count > MAX_LISTED_PER_NETWORK || ++listed > MAX_LISTED_PER_DAY) return
    // A password that was typed into the wrong field must not end up in the log.
    const label = isEmail(typed) ? typed : ""
    const changes = count === MAX_LISTED_PER_NETWORK ? { later_ones_of_the_day: [null, "not listed"] as const } : {}
    await audit.writeAlone(actor, { action, target: { type: "user", id: "", label }, outcome: "failed", changes })
  }
}

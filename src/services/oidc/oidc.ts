import type { Session } from "../../domain/account.ts"
import { AppError } from "../../domain/error.ts"
import { domainOf, type IdentityProvider } from "../../domain/identity-provider.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { userOfIdentity } from "../../store/catalog/oidc.ts"
import { type Audit, sessionEntry } from "../audit/audit.ts"
import type { SignInLimits } from "../sign-in/limits.ts"
import { actorAs, type Guest, type NoteFailure, type SignedIn } from "../sign-in/session.ts"
import type { Person, Sessions } from "../sign-in/sessions.ts"
import { type OidcClaims, type OidcExchange, SKEW_SECONDS } from "./exchange.ts"
import type { OidcProviders } from "./providers.ts"
import {
  createOidcLink,
  type OidcEntryOptions,
  type OidcLink,
  type OidcLinkOptions,
  type OidcReception,
  type OidcReceptionOptions,
  type OidcRefusal,
  oidcEntry,
  oidcReception,
} from "./reception.ts"
import { createOidcRoundTrip, type OidcRedirect, type OidcReturn, type OidcRoundTripOptions } from "./round-trip.ts"

/** The next step of the browser after it returns from a provider. `unproved`: the user's identity was not confirmed. */
export type OidcOutcome = OidcReception | { go: "unproved"; error: OidcRefusal; next: string }

/**
 * Sign-in with identity providers. Users are identified by provider and subject. An existing account with the same email address is used
 * only if the provider has verified the address and the account's owner has confirmed the link once.
 */
export interface Oidc {
  /** Returns the providers that the sign-in page offers. With an email address this includes the providers of the organization that has verified its domain. */
  buttons(email: string | undefined): Promise<{ id: string; name: string }[]>
  /** Starts a sign-in and returns the URL of the provider, with a ticket that the browser must bring back. Throws `provider_not_found`, `rate_limited`, `unavailable`. */
  start(id: string | undefined, next: string | undefined, guest: Pick<Guest, "origin">): Promise<OidcRedirect>
  /** Starts the confirmation of a signed-in user's identity. Also throws `forbidden` if the provider cannot open such a session. */
  startProof(id: string | undefined, next: string | undefined, person: Person & Pick<Guest, "origin">): Promise<OidcRedirect>
  /** Completes a sign-in or confirmation. `search` is the query string that the provider added to our URL. */
  callback(id: string | undefined, search: string, ticket: string | undefined, guest: Guest): Promise<OidcOutcome>
  link: OidcLink["confirm"]
  logoutUrl(provider: string): Promise<string | undefined>
}

type PartOptions = OidcRoundTripOptions & OidcEntryOptions & Omit<OidcLinkOptions, "enter"> & Omit<OidcReceptionOptions, "enter" | "link">

interface OidcOptions extends PartOptions {
  limits: SignInLimits
  providers: OidcProviders
  exchange: OidcExchange
  proof: OidcProof
}

const STARTS_PER_MINUTE = 60

export function createOidc(options: OidcOptions): Oidc {
  const { limits, providers, exchange, proof, publicUrl } = options
  const enter = oidcEntry(options)
  const link = createOidcLink({ ...options, enter })
  const receive = oidcReception({ ...options, enter, link })
  const roundTrip = createOidcRoundTrip(options)

  async function find(id: string | undefined): Promise<IdentityProvider> {
    const provider = id === undefined ? undefined : await providers.get(id)
    if (!provider) throw new AppError("provider_not_found", "There is no identity provider with this id.")
    return provider
  }

  async function findToStart(id: string | undefined, { origin }: Pick<Guest, "origin">): Promise<IdentityProvider> {
    const provider = await find(id)
    limits.request(origin, "oidc", STARTS_PER_MINUTE)
    return provider
  }

  async function prove(provider: IdentityProvider, { claims, proof: wanted, next, error }: OidcReturn, guest: Guest): Promise<OidcOutcome> {
    const proved = claims && wanted && (await proof.finish(provider, claims, wanted, guest))
    return proved ? { go: "in", signedIn: proved, next } : { go: "unproved", error, next }
  }

  return {
    async buttons(email) {
      const found = await providers.listed(email === undefined ? undefined : domainOf(email))
      return found.map(({ id, name }) => ({ id, name }))
    },
    start: async (id, next, guest) => roundTrip.begin(await findToStart(id, guest), next),
    async startProof(id, next, { origin, ...person }) {
      const provider = await findToStart(id, { origin })
      return roundTrip.begin(provider, next, proof.begin(provider, person))
    },
    async callback(id, search, ticket, guest) {
      const provider = await find(id)
      const back = await roundTrip.end(provider, search, ticket)
      if (!back) return { go: "back", error: "oidc_failed" }
      if (back.proof) return prove(provider, back, guest)
      const { claims, error, next } = back
      return claims ? receive({ provider, claims, guest }, next) : { go: "back", error }
    },
    link: link.confirm,
    async logoutUrl(id) {
      // The user is signed out of Footfall in any case.
      const provider = await providers.get(id).catch(() => undefined)
      return provider && exchange.logoutUrl(provider, `${publicUrl()}/signin`)
    },
  }
}

/** A started identity confirmation: the session and the start time. */
export interface PendingProof {
  userId: number
  sessionId: number
  at: number
}

/**
 * Confirmation of a signed-in user's identity at an identity provider, for users without a password. The provider must authenticate the
 * user again and state when it did.
 */
interface OidcProof {
  /** Starts a confirmation. Throws `forbidden` if the provider cannot open such a session. */
  begin(provider: IdentityProvider, person: Person): PendingProof
  /** Confirms the identity and returns the session with a new token, undefined if the claims do not confirm it. */
  finish(provider: IdentityProvider, claims: OidcClaims, wanted: PendingProof, guest: Guest): Promise<SignedIn | undefined>
}

interface OidcProofOptions {
  catalog: Catalog
  clock: { now(): number }
  sessions: Pick<Sessions, "findById" | "prove">
  audit: Audit
  noteFailure: NoteFailure
}

export function createOidcProof({ catalog, clock, sessions, audit, noteFailure }: OidcProofOptions): OidcProof {
  return {
    begin(provider, person) {
      if (!mayConfirm(provider, person.session))
        throw new AppError("forbidden", "This identity provider cannot confirm your identity for this session. Use another method.")
      return { userId: person.user.id, sessionId: person.session.id, at: clock.now() }
    },
    async finish(provider, { subject, authenticatedAt }, { userId, sessionId, at }, guest) {
      const person = guest.former?.id === sessionId ? await sessions.findById(sessionId) : undefined
      if (!person || !mayConfirm(provider, person.session)) return undefined
      const { user, session } = person
      const isAsked = authenticatedAt !== undefined && authenticatedAt >= at - SKEW_SECONDS * 1_000
      if (!isAsked || (await userOfIdentity(catalog, provider.id, subject)) !== userId) {
        await noteFailure(guest.actor, "accounts.session.prove", user.email)
        return undefined
      }
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actorAs(guest.actor, user), sessionEntry("accounts.session.prove", session.id))
        return { user, session, token }
      })
    },
  }
}

/** Whether a provider could have opened this session. It never confirms an impersonation. */
const mayConfirm = ({ organizationId }: IdentityProvider, { organization_id, impersonator_id }: Session): boolean =>
  organizationId === organization_id && impersonator_id === null

import { timingSafeEqual } from "node:crypto"
import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../domain/clock.ts"
import { AppError, refuseFaults } from "../domain/error.ts"
import { domainOf, type IdentityProvider } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import { isOwnPath } from "../domain/profile.ts"
import { isObject } from "../domain/shape.ts"
import { parsed, typedFaults } from "../domain/sign-in-input.ts"
import { caseKey, cutTo, tidied } from "../domain/text.ts"
import { isEmail, type User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { provedDomain } from "../store/catalog/mail-domains.ts"
import { insertIdentity, updateIdentityUse, userOfIdentity } from "../store/catalog/oidc.ts"
import { insertUser, markEmailVerified, userByEmailKey, userById } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { OidcChecks, OidcClaims, OidcExchange } from "./oidc-exchange.ts"
import type { OidcProviders } from "./oidc-providers.ts"
import type { ApplyRoleMap } from "./oidc-roles.ts"
import { userDeed } from "./own-account.ts"
import type { Random } from "./secrets.ts"
import type { Person } from "./sessions.ts"
import { invalidCredentials, type SignIn } from "./sign-in.ts"
import type { SignInLimits } from "./sign-in-limits.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "./sign-in-session.ts"
import { type Tickets, ticketInvalid } from "./tickets.ts"

/** Why a sign-in at a provider came to nothing; the page says it in words. */
export type OidcRefusal = "oidc_failed" | "access_denied" | "email_not_verified" | "not_allowed"

/** Where a browser goes on: into the dashboard, to the page that links an account, or back to sign in. */
export type OidcOutcome =
  | { go: "in"; signedIn: SignedIn; next: string }
  | { go: "link"; ticket: string }
  | { go: "back"; error: OidcRefusal }

/**
 * Signing in by an identity provider. Somebody is known by (provider, subject) alone; an address leads to an account only when
 * the provider has verified it and its owner has confirmed the link once, by password or by being signed in.
 */
export interface Oidc {
  /** Those whose buttons a page shows; with an address also that of the organization that has proved its domain. */
  buttons(email: string | undefined): Promise<{ id: string; name: string }[]>
  /** Where to send the browser, and the ticket it must bring back. Throws `provider_not_found`, `rate_limited`. */
  start(id: string | undefined, next: string | undefined, guest: Pick<Guest, "origin">): Promise<{ url: string; ticket: string }>
  /** `search` is what the provider added to our address. */
  callback(id: string | undefined, search: string, ticket: string | undefined, guest: Guest): Promise<OidcOutcome>
  /** The body has `ticket`, and `password` for whoever is not signed in. Throws `ticket_invalid`, `invalid_credentials`. */
  link(body: unknown, guest: Guest, person: Person | undefined): Promise<SignedIn>
  logoutUrl(provider: string): Promise<string | undefined>
}

export interface OidcOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  audit: Audit
  log: Log
  tickets: Tickets
  limits: SignInLimits
  signIn: Pick<SignIn, "verifies">
  openSession: OpenSession
  providers: OidcProviders
  exchange: OidcExchange
  applyRoleMap: ApplyRoleMap
  publicUrl(): string
}

const TICKET_MS = 10 * 60_000
export const OIDC_TICKET_SECONDS = TICKET_MS / 1_000
const STARTS_PER_MINUTE = 60

interface Begun extends OidcChecks {
  provider: string
  next: string
}
interface Waiting {
  provider: string
  claims: OidcClaims
}

const LinkInput = t.Object({ ticket: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })

export function createOidc(options: OidcOptions): Oidc {
  const { catalog, clock, random, audit, log, tickets, limits, signIn, openSession, providers, exchange, applyRoleMap, publicUrl } = options
  const token = () => random(32).toBase64({ alphabet: "base64url", omitPadding: true })
  const redirectUri = (id: string): string => `${publicUrl()}/api/private/auth/oidc/${id}/callback`

  async function find(id: string | undefined): Promise<IdentityProvider> {
    const provider = id === undefined ? undefined : await providers.get(id)
    if (!provider) throw new AppError("provider_not_found", "There is no identity provider of this name.")
    return provider
  }

  /** What the ticket of the browser holds, if the answer is to it. It is used up either way. */
  async function begunWith(ticket: string | undefined, provider: IdentityProvider, state: string | null): Promise<Begun | undefined> {
    if (ticket === undefined) return undefined
    const found = await tickets.use(catalog, "oidc", ticket).catch(() => undefined)
    const begun = found?.payload as Begun | undefined // written below
    return begun && begun.provider === provider.id && state !== null && isSame(begun.state, state) ? begun : undefined
  }

  async function provedClaims(provider: IdentityProvider, search: string, begun: Begun): Promise<OidcClaims | undefined> {
    try {
      return await exchange.claims(provider, new URL(redirectUri(provider.id) + search), begun)
    } catch (error) {
      log.warn("a sign-in at an identity provider failed", { provider: provider.id, error })
      return undefined
    }
  }

  /** A provider of an organization speaks for addresses of domains that the organization has proved, and for no others. */
  async function speaksFor({ organizationId }: IdentityProvider, email: string, statements: Statements): Promise<boolean> {
    return organizationId === null || (await provedDomain(statements, domainOf(email)))?.organization_id === organizationId
  }

  async function refusalOf(provider: IdentityProvider, { email, isEmailVerified }: OidcClaims): Promise<OidcRefusal | undefined> {
    if (!isEmailVerified || email === undefined || !isEmail(email)) return "email_not_verified"
    return (await speaksFor(provider, email, catalog)) ? undefined : "not_allowed"
  }

  function enter(statements: Statements, provider: IdentityProvider, user: User, claims: OidcClaims, guest: Guest): Promise<SignedIn> {
    const { organizationId } = provider
    const entry = { method: "oidc", mfa: claims.mfa, provider: provider.id, ...(organizationId !== null && { organizationId }) } as const
    return openSession(statements, user, entry, guest)
  }

  async function known(provider: IdentityProvider, userId: number, claims: OidcClaims, guest: Guest): Promise<SignedIn | undefined> {
    return catalog.transaction(async (statements) => {
      const user = await userById(statements, userId)
      if (user?.status !== "active" || !(await speaksFor(provider, user.email, statements))) return undefined
      await updateIdentityUse(statements, provider.id, claims.subject, clock.now())
      await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
      return enter(statements, provider, user, claims, guest)
    })
  }

  /** The first time somebody comes, and nobody has the address. */
  async function made(provider: IdentityProvider, email: string, claims: OidcClaims, guest: Guest): Promise<SignedIn | undefined> {
    if (!provider.jit || !provider.allowedDomains.some((domain) => domain.toLowerCase() === domainOf(email))) return undefined
    return catalog.transaction(async (statements) => {
      const now = clock.now()
      const name = cutTo(tidied(claims.name ?? ""), 100) || email.split("@")[0]!
      const fields = { email, email_key: caseKey(email), name, password_hash: null, is_instance_admin: false, created_at: now }
      const user = await insertUser(statements, fields)
      if (!user) return undefined
      await markEmailVerified(statements, user.id, now)
      const identity = { userId: user.id, provider: provider.id, subject: claims.subject, email, now }
      if (!(await insertIdentity(statements, identity))) throw ticketInvalid()
      await audit.write(statements, actorAs(guest.actor, user), userDeed("accounts.user.create")(user))
      await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
      return enter(statements, provider, user, claims, guest)
    })
  }

  async function unknown(provider: IdentityProvider, claims: OidcClaims, guest: Guest, next: string): Promise<OidcOutcome> {
    const refusal = await refusalOf(provider, claims)
    if (refusal) return { go: "back", error: refusal }
    const email = claims.email! // refused just now if it is missing
    const owner = await userByEmailKey(catalog, caseKey(email))
    if (owner) {
      if (owner.status !== "active") return { go: "back", error: "oidc_failed" }
      const payload: Waiting = { provider: provider.id, claims }
      return { go: "link", ticket: await tickets.issue(catalog, { kind: "oidc_link", userId: owner.id, payload, lifeMs: TICKET_MS }) }
    }
    const signedIn = await made(provider, email, claims, guest)
    return signedIn ? { go: "in", signedIn, next } : { go: "back", error: "not_allowed" }
  }

  /** Being signed in as the very user, by themself, is as good as the password. */
  const isOwner = (user: User, person: Person | undefined): boolean =>
    person?.user.id === user.id && person.session.impersonator_id === null && person.session.organization_id === null

  return {
    async buttons(email) {
      const found = await providers.listed(email === undefined ? undefined : domainOf(email))
      return found.map(({ id, name }) => ({ id, name }))
    },
    async start(id, next, { origin }) {
      const provider = await find(id)
      limits.request(origin, "oidc", STARTS_PER_MINUTE)
      const checks: OidcChecks = { state: token(), nonce: token(), verifier: token() }
      const payload: Begun = { ...checks, provider: provider.id, next: next !== undefined && isOwnPath(next) ? next : "/" }
      const url = await exchange.authorizationUrl(provider, redirectUri(provider.id), checks).catch((error) => {
        log.warn("an identity provider cannot be reached", { provider: provider.id, error })
        throw new AppError("unavailable", "The identity provider cannot be reached.", { retry_after: 30 })
      })
      return { url: url.href, ticket: await tickets.issue(catalog, { kind: "oidc", userId: null, payload, lifeMs: TICKET_MS }) }
    },
    async callback(id, search, ticket, guest) {
      const provider = await find(id)
      const answer = new URLSearchParams(search)
      const begun = await begunWith(ticket, provider, answer.get("state"))
      if (!begun) return { go: "back", error: "oidc_failed" }
      if (answer.has("error")) return { go: "back", error: answer.get("error") === "access_denied" ? "access_denied" : "oidc_failed" }
      const claims = await provedClaims(provider, search, begun)
      if (!claims) return { go: "back", error: "oidc_failed" }
      const userId = await userOfIdentity(catalog, provider.id, claims.subject)
      if (userId === undefined) return unknown(provider, claims, guest, begun.next)
      // An organization's provider stays bound to the domains that the organization has proved.
      const refusal = provider.organizationId === null ? undefined : await refusalOf(provider, claims)
      if (refusal) return { go: "back", error: refusal }
      const signedIn = await known(provider, userId, claims, guest)
      return signedIn ? { go: "in", signedIn, next: begun.next } : { go: "back", error: "not_allowed" }
    },
    async link(body, guest, person) {
      const { password, ...rest } = isObject(body) ? body : {}
      const { ticket } = parsed(LinkInput, isObject(body) ? rest : body)
      const { user_id, payload } = await tickets.try("oidc_link", ticket)
      const { provider: id, claims } = payload as Waiting // written above
      const user = await userById(catalog, user_id ?? 0)
      const provider = await providers.get(id)
      if (user?.status !== "active" || !provider) throw ticketInvalid()
      if (!isOwner(user, person)) {
        refuseFaults(typedFaults(password, "/password"))
        if (!(await signIn.verifies(user, String(password).normalize("NFC"), guest))) throw invalidCredentials()
      }
      return catalog.transaction(async (statements) => {
        await tickets.use(statements, "oidc_link", ticket)
        if (!(await speaksFor(provider, user.email, statements))) throw ticketInvalid()
        const identity = { userId: user.id, provider: provider.id, subject: claims.subject, email: claims.email ?? "", now: clock.now() }
        if (!(await insertIdentity(statements, identity))) throw ticketInvalid()
        const deed = { ...userDeed("accounts.identity.link")(user), changes: { provider: [null, provider.id] as const } }
        await audit.write(statements, actorAs(guest.actor, user), deed)
        await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
        return enter(statements, provider, user, claims, guest)
      })
    },
    async logoutUrl(id) {
      const provider = await providers.get(id)
      return provider && exchange.logoutUrl(provider, `${publicUrl()}/signin`)
    },
  }
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

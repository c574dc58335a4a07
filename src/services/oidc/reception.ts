import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { domainOf, type IdentityProvider } from "../../domain/identity-provider.ts"
import { isObject } from "../../domain/shape.ts"
import { normalizePassword, parsed, typedFaults } from "../../domain/sign-in.ts"
import { caseKey, normalizeText, truncate } from "../../domain/text.ts"
import { isEmail, type User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { insertIdentity, updateIdentityUse, userOfIdentity, verifiedDomain } from "../../store/catalog/oidc.ts"
import { insertUser, markEmailVerified, userByEmailKey, userById } from "../../store/catalog/users.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import { type Tickets, ticketInvalid } from "../sign-in/one-time-tokens.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "../sign-in/session.ts"
import type { Person } from "../sign-in/sessions.ts"
import { invalidCredentials, type SignIn } from "../sign-in/sign-in.ts"
import { type SsoRule, ssoRequired } from "../sign-in/sso-rule.ts"
import type { OidcClaims } from "./exchange.ts"
import type { OidcProviders } from "./providers.ts"
import type { ApplyRoleMap } from "./roles.ts"
import { OIDC_TICKET_MS } from "./round-trip.ts"

/** A sign-in that an identity provider has authenticated. */
interface OidcArrival {
  provider: IdentityProvider
  claims: OidcClaims
  guest: Guest
}

/** Completes the sign-in of a known user and applies the roles that the provider's groups map to. Throws `sso_required`. */
type EnterByOidc = (statements: Statements, user: User, arrival: OidcArrival) => Promise<SignedIn>

export interface OidcEntryOptions {
  applyRoleMap: ApplyRoleMap
  sso: Pick<SsoRule, "isRequired">
  openSession: OpenSession
}

export function oidcEntry({ applyRoleMap, sso, openSession }: OidcEntryOptions): EnterByOidc {
  return async (statements, user, { provider, claims, guest }) => {
    await applyRoleMap(statements, provider, { user, groups: claims.groups, actor: guest.actor })
    const { organizationId } = provider
    if (organizationId === null && (await sso.isRequired(user, "instance_provider", statements))) throw ssoRequired()
    const entry = { method: "oidc", mfa: claims.mfa, provider: provider.id, ...(organizationId !== null && { organizationId }) } as const
    return openSession(statements, user, entry, guest)
  }
}

/** Whether a provider may authenticate an email address. An organization's provider may only for domains that the organization has verified. */
async function mayVouchFor(statements: Statements, { organizationId }: IdentityProvider, email: string): Promise<boolean> {
  return organizationId === null || (await verifiedDomain(statements, domainOf(email)))?.organization_id === organizationId
}

/** The reason why a sign-in at a provider failed. The sign-in page explains it. */
export type OidcRefusal = "oidc_failed" | "access_denied" | "email_not_verified" | "not_allowed" | "sso_required"

/** The next page of the browser: the dashboard, the page that links an account, or the sign-in page. */
export type OidcReception =
  | { go: "in"; signedIn: SignedIn; next: string }
  | { go: "link"; ticket: string }
  | { go: "back"; error: OidcRefusal }

/** Signs in a user authenticated by a provider: a linked user, a new user, or the owner of an account that must be linked first. */
type ReceiveByOidc = (arrival: OidcArrival, next: string) => Promise<OidcReception>

export interface OidcReceptionOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  link: Pick<OidcLink, "offer">
  enter: EnterByOidc
}

export function oidcReception({ catalog, clock, audit, link, enter }: OidcReceptionOptions): ReceiveByOidc {
  async function refusalOf({ provider, claims: { email, isEmailVerified } }: OidcArrival): Promise<OidcRefusal | undefined> {
    if (!isEmailVerified || email === undefined || !isEmail(email)) return "email_not_verified"
    return (await mayVouchFor(catalog, provider, email)) ? undefined : "not_allowed"
  }

  async function known(userId: number, arrival: OidcArrival): Promise<SignedIn | undefined> {
    const { provider, claims } = arrival
    return catalog.transaction(async (statements) => {
      const user = await userById(statements, userId)
      if (user?.status !== "active" || !(await mayVouchFor(statements, provider, user.email))) return undefined
      await updateIdentityUse(statements, provider.id, claims.subject, clock.now())
      return enter(statements, user, arrival)
    })
  }

  /** Creates a user on their first sign-in, if the provider allows it for their domain. */
  async function made(email: string, arrival: OidcArrival): Promise<SignedIn | undefined> {
    const { provider, claims, guest } = arrival
    if (!provider.jit || !provider.allowedDomains.some((domain) => domain.toLowerCase() === domainOf(email))) return undefined
    return catalog.transaction(async (statements) => {
      const now = clock.now()
      const name = truncate(normalizeText(claims.name ?? ""), 100) || email.split("@")[0]!
      const fields = { email, email_key: caseKey(email), name, password_hash: null, is_instance_admin: false, created_at: now }
      const user = await insertUser(statements, fields)
      if (!user) return undefined
      await markEmailVerified(statements, user.id, now)
      const identity = { userId: user.id, provider: provider.id, subject: claims.subject, email, now }
      if (!(await insertIdentity(statements, identity))) throw ticketInvalid()
      await audit.write(statements, actorAs(guest.actor, user), userEntry("accounts.user.create")(user))
      return enter(statements, user, arrival)
    })
  }

  async function unknown(arrival: OidcArrival, next: string): Promise<OidcReception> {
    const refusal = await refusalOf(arrival)
    if (refusal) return { go: "back", error: refusal }
    const email = arrival.claims.email! // present, because it was not refused
    const owner = await userByEmailKey(catalog, caseKey(email))
    if (owner?.status === "active") return { go: "link", ticket: await link.offer(owner.id, arrival) }
    if (owner) return { go: "back", error: "oidc_failed" }
    return inOrBack(await made(email, arrival), next)
  }

  async function received(arrival: OidcArrival, next: string): Promise<OidcReception> {
    const { provider, claims } = arrival
    const userId = await userOfIdentity(catalog, provider.id, claims.subject)
    if (userId === undefined) return unknown(arrival, next)
    // An organization's provider is limited to the domains that the organization has verified.
    const refusal = provider.organizationId === null ? undefined : await refusalOf(arrival)
    return refusal ? { go: "back", error: refusal } : inOrBack(await known(userId, arrival), next)
  }

  return (arrival, next) =>
    received(arrival, next).catch((error) => {
      if (error instanceof AppError && error.code === "sso_required") return { go: "back", error: "sso_required" }
      throw error
    })
}

const inOrBack = (signedIn: SignedIn | undefined, next: string): OidcReception =>
  signedIn ? { go: "in", signedIn, next } : { go: "back", error: "not_allowed" }

/** Links an existing account to an identity at a provider with the same email address, once the account's owner has confirmed it. */
export interface OidcLink {
  /** Issues the ticket that the owner needs to confirm the link. */
  offer(userId: number, arrival: OidcArrival): Promise<string>
  /**
   * Confirms a link and signs the user in. The body has `ticket`, and `password` unless the user is signed in. Throws `ticket_invalid`,
   * `invalid_credentials`, `sso_required`.
   */
  confirm(body: unknown, guest: Guest, person: Person | undefined): Promise<SignedIn>
}

export interface OidcLinkOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  tickets: Tickets
  signIn: Pick<SignIn, "verifies">
  providers: Pick<OidcProviders, "get">
  enter: EnterByOidc
}

interface Waiting {
  provider: string
  claims: OidcClaims
}

const LinkInput = t.Object({ ticket: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })

export function createOidcLink({ catalog, clock, audit, tickets, signIn, providers, enter }: OidcLinkOptions): OidcLink {
  async function waitingWith(ticket: string): Promise<{ user: User; provider: IdentityProvider; claims: OidcClaims }> {
    const { user_id, payload } = await tickets.try("oidc_link", ticket)
    const { provider: id, claims } = payload as Waiting // written below
    const user = await userById(catalog, user_id ?? 0)
    const provider = await providers.get(id)
    if (user?.status !== "active" || !provider) throw ticketInvalid()
    return { user, provider, claims }
  }

  async function refuseOthers(user: User, password: unknown, guest: Guest): Promise<void> {
    refuseFaults(typedFaults(password, "/password"))
    if (!(await signIn.verifies(user, normalizePassword(String(password)), guest))) throw invalidCredentials()
  }

  return {
    async offer(userId, { provider, claims }) {
      const payload: Waiting = { provider: provider.id, claims }
      return tickets.issue(catalog, { kind: "oidc_link", userId, payload, lifeMs: OIDC_TICKET_MS })
    },
    async confirm(body, guest, person) {
      const { password, ...rest } = isObject(body) ? body : {}
      const { ticket } = parsed(LinkInput, isObject(body) ? rest : body)
      const { user, provider, claims } = await waitingWith(ticket)
      if (!isOwner(user, person)) await refuseOthers(user, password, guest)
      return catalog.transaction(async (statements) => {
        await tickets.use(statements, "oidc_link", ticket)
        if (!(await mayVouchFor(statements, provider, user.email))) throw ticketInvalid()
        const identity = { userId: user.id, provider: provider.id, subject: claims.subject, email: claims.email ?? "", now: clock.now() }
        if (!(await insertIdentity(statements, identity))) throw ticketInvalid()
        const entry = { ...userEntry("accounts.identity.link")(user), changes: { provider: [null, provider.id] as const } }
        await audit.write(statements, actorAs(guest.actor, user), entry)
        return enter(statements, user, { provider, claims, guest })
      })
    },
  }
}

/** Whether the request comes from the user's own session, which is as good as the password. */
const isOwner = (user: User, person: Person | undefined): boolean =>
  person?.user.id === user.id && person.session.impersonator_id === null && person.session.organization_id === null

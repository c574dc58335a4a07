import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { domainOf } from "../../domain/identity-provider.ts"
import { caseKey, normalizeText, truncate } from "../../domain/text.ts"
import { isEmail } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { insertIdentity, updateIdentityUse, userOfIdentity } from "../../store/catalog/oidc.ts"
import { insertUser, markEmailVerified, userByEmailKey, userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit/audit.ts"
import { userEntry } from "../audit/entries.ts"
import { actorAs, type SignedIn } from "../sign-in/session.ts"
import { ticketInvalid } from "../sign-in/tickets.ts"
import { type EnterByOidc, mayVouchFor, type OidcArrival } from "./entry.ts"
import type { OidcLink } from "./link.ts"

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

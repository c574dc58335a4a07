import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { refuseFaults } from "../../domain/error.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import { normalizePassword } from "../../domain/password.ts"
import { isObject } from "../../domain/shape.ts"
import { parsed, typedFaults } from "../../domain/sign-in-input.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { insertIdentity } from "../../store/catalog/oidc.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit/audit.ts"
import { userEntry } from "../audit/entries.ts"
import { actorAs, type Guest, type SignedIn } from "../sign-in/session.ts"
import type { Person } from "../sign-in/sessions.ts"
import { invalidCredentials, type SignIn } from "../sign-in/sign-in.ts"
import { type Tickets, ticketInvalid } from "../sign-in/tickets.ts"
import { type EnterByOidc, mayVouchFor, type OidcArrival } from "./entry.ts"
import type { OidcClaims } from "./exchange.ts"
import type { OidcProviders } from "./providers.ts"
import { OIDC_TICKET_MS } from "./round-trip.ts"

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

import { AppError } from "../../domain/error.ts"
import { domainOf, type IdentityProvider } from "../../domain/identity-provider.ts"
import type { SignInLimits } from "../sign-in/limits.ts"
import type { Guest } from "../sign-in/session.ts"
import type { Person } from "../sign-in/sessions.ts"
import { type OidcEntryOptions, oidcEntry } from "./entry.ts"
import type { OidcExchange } from "./exchange.ts"
import { createOidcLink, type OidcLink, type OidcLinkOptions } from "./link.ts"
import type { OidcProof } from "./proof.ts"
import type { OidcProviders } from "./providers.ts"
import { type OidcReception, type OidcReceptionOptions, type OidcRefusal, oidcReception } from "./reception.ts"
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

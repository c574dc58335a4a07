import { AppError } from "../domain/error.ts"
import { domainOf, type IdentityProvider } from "../domain/identity-provider.ts"
import { type OidcEntryOptions, oidcEntry } from "./oidc-entry.ts"
import type { OidcExchange } from "./oidc-exchange.ts"
import { createOidcLink, type OidcLink, type OidcLinkOptions } from "./oidc-link.ts"
import type { OidcProof } from "./oidc-proof.ts"
import type { OidcProviders } from "./oidc-providers.ts"
import { type OidcReception, type OidcReceptionOptions, type OidcRefusal, oidcReception } from "./oidc-reception.ts"
import { createOidcRoundTrip, type OidcReturn, type OidcRoundTripOptions, type OidcWay } from "./oidc-round-trip.ts"
import type { Person } from "./sessions.ts"
import type { SignInLimits } from "./sign-in-limits.ts"
import type { Guest } from "./sign-in-session.ts"

/** Where a browser goes on; one that is signed in and has proved nothing more, to where it was. */
export type OidcOutcome = OidcReception | { go: "unproved"; error: OidcRefusal; next: string }

/**
 * Signing in by an identity provider. Somebody is known by (provider, subject) alone; an address leads to an account only when
 * the provider has verified it and its owner has confirmed the link once, by password or by being signed in.
 */
export interface Oidc {
  /** Those whose buttons a page shows; with an address also that of the organization that has proved its domain. */
  buttons(email: string | undefined): Promise<{ id: string; name: string }[]>
  /** Where to send the browser, and the ticket it must bring back. Throws `provider_not_found`, `rate_limited`, `unavailable`. */
  start(id: string | undefined, next: string | undefined, guest: Pick<Guest, "origin">): Promise<OidcWay>
  /** The same for whoever proves again who they are. Throws also `forbidden` where the provider cannot vouch for the session. */
  startProof(id: string | undefined, next: string | undefined, person: Person & Pick<Guest, "origin">): Promise<OidcWay>
  /** `search` is what the provider added to our address. */
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
    if (!provider) throw new AppError("provider_not_found", "There is no identity provider of this name.")
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
      // Whoever signs out has signed out here all the same.
      const provider = await providers.get(id).catch(() => undefined)
      return provider && exchange.logoutUrl(provider, `${publicUrl()}/signin`)
    },
  }
}

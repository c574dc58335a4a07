import { timingSafeEqual } from "node:crypto"
import { AppError } from "../../domain/error.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import { isOwnPath } from "../../domain/own-path.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { Random } from "../secrets/secrets.ts"
import type { Tickets } from "../sign-in/one-time-tokens.ts"
import type { OidcChecks, OidcClaims, OidcExchange } from "./exchange.ts"
import type { PendingProof } from "./oidc.ts"

/** The URL of the provider, and the ticket that the browser must bring back. */
export interface OidcRedirect {
  url: string
  ticket: string
}

/** The result of a browser's return from a provider. */
export interface OidcReturn {
  /** The page to open after the sign-in. */
  next: string
  /** Present if the trip was the confirmation of a signed-in user's identity. */
  proof?: PendingProof
  /** Undefined if the provider did not authenticate the user. */
  claims: OidcClaims | undefined
  /** The error to show if the sign-in fails. */
  error: "oidc_failed" | "access_denied"
}

/** The redirect of a browser to a provider and back. A ticket, which only this browser has, connects both. */
interface OidcRoundTrip {
  /** Starts a trip. Throws `unavailable` if the provider cannot be reached. */
  begin(provider: IdentityProvider, next: string | undefined, proof?: PendingProof): Promise<OidcRedirect>
  /** Completes a trip and uses up its ticket. `search` is the query string that the provider added to our URL. Returns undefined if the response does not belong to the ticket. */
  end(provider: IdentityProvider, search: string, ticket: string | undefined): Promise<OidcReturn | undefined>
}

export interface OidcRoundTripOptions {
  catalog: Catalog
  random: Random
  log: Log
  tickets: Tickets
  exchange: Pick<OidcExchange, "authorizationUrl" | "claims">
  publicUrl(): string
}

export const OIDC_TICKET_MS = 10 * 60_000
export const OIDC_TICKET_SECONDS = OIDC_TICKET_MS / 1_000

/** Returns the redirect URI of a provider. */
export const callbackAddress = (publicUrl: string, provider: string): string => `${publicUrl}/api/private/auth/oidc/${provider}/callback`

interface StartedTrip extends OidcChecks {
  provider: string
  next: string
  proof?: PendingProof
}

export function createOidcRoundTrip({ catalog, random, log, tickets, exchange, publicUrl }: OidcRoundTripOptions): OidcRoundTrip {
  const token = () => random(32).toBase64({ alphabet: "base64url", omitPadding: true })
  const redirectUri = (id: string): string => callbackAddress(publicUrl(), id)

  async function findTrip(ticket: string | undefined, provider: IdentityProvider, state: string | null): Promise<StartedTrip | undefined> {
    if (ticket === undefined) return undefined
    const found = await tickets.use(catalog, "oidc", ticket).catch(() => undefined)
    const trip = found?.payload as StartedTrip | undefined // written below
    return trip && trip.provider === provider.id && state !== null && isSame(trip.state, state) ? trip : undefined
  }

  async function provedClaims(provider: IdentityProvider, search: string, trip: StartedTrip): Promise<OidcClaims | undefined> {
    try {
      return await exchange.claims(provider, new URL(redirectUri(provider.id) + search), trip)
    } catch (error) {
      log.warn("a sign-in at an identity provider failed", { provider: provider.id, error })
      return undefined
    }
  }

  return {
    async begin(provider, next, proof) {
      const checks: OidcChecks = { state: token(), nonce: token(), verifier: token() }
      const page = next !== undefined && isOwnPath(next) ? next : "/"
      const payload: StartedTrip = { ...checks, provider: provider.id, next: page, ...(proof && { proof }) }
      const how = { reauthenticate: proof !== undefined }
      const url = await exchange.authorizationUrl(provider, redirectUri(provider.id), checks, how).catch((error) => {
        log.warn("an identity provider cannot be reached", { provider: provider.id, error })
        throw new AppError("unavailable", "The identity provider cannot be reached.", { retry_after: 30 })
      })
      return { url: url.href, ticket: await tickets.issue(catalog, { kind: "oidc", userId: null, payload, lifeMs: OIDC_TICKET_MS }) }
    },
    async end(provider, search, ticket) {
      const answer = new URLSearchParams(search)
      const trip = await findTrip(ticket, provider, answer.get("state"))
      if (!trip) return undefined
      const { next, proof } = trip
      const claims = answer.has("error") ? undefined : await provedClaims(provider, search, trip)
      const error = answer.get("error") === "access_denied" ? "access_denied" : "oidc_failed"
      return { next, ...(proof && { proof }), claims, error }
    },
  }
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

import { timingSafeEqual } from "node:crypto"
import { AppError } from "../domain/error.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import { isOwnPath } from "../domain/own-path.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { OidcChecks, OidcClaims, OidcExchange } from "./oidc-exchange.ts"
import type { WantedProof } from "./oidc-proof.ts"
import type { Random } from "./secrets.ts"
import type { Tickets } from "./tickets.ts"

/** Where to send a browser, and the ticket it must bring back. */
export interface OidcWay {
  url: string
  ticket: string
}

/** A browser that has come back from where we sent it. */
export interface OidcReturn {
  /** The page it wanted. */
  next: string
  /** Somebody signed in who was to prove again who they are. */
  proof?: WantedProof
  /** Undefined where the provider has proved nothing. */
  claims: OidcClaims | undefined
  /** What to say where nothing comes of it. */
  error: "oidc_failed" | "access_denied"
}

/** The way of a browser to a provider and back, tied together by a ticket that this browser alone has. */
interface OidcRoundTrip {
  /** Throws `unavailable`. */
  begin(provider: IdentityProvider, next: string | undefined, proof?: WantedProof): Promise<OidcWay>
  /** `search` is what the provider added to our address. The ticket is used up; undefined unless the answer is to it. */
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

/** Which page of ours a provider sends browsers back to. */
export const callbackAddress = (publicUrl: string, provider: string): string => `${publicUrl}/api/private/auth/oidc/${provider}/callback`

interface Begun extends OidcChecks {
  provider: string
  next: string
  proof?: WantedProof
}

export function createOidcRoundTrip({ catalog, random, log, tickets, exchange, publicUrl }: OidcRoundTripOptions): OidcRoundTrip {
  const token = () => random(32).toBase64({ alphabet: "base64url", omitPadding: true })
  const redirectUri = (id: string): string => callbackAddress(publicUrl(), id)

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

  return {
    async begin(provider, next, proof) {
      const checks: OidcChecks = { state: token(), nonce: token(), verifier: token() }
      const page = next !== undefined && isOwnPath(next) ? next : "/"
      const payload: Begun = { ...checks, provider: provider.id, next: page, ...(proof && { proof }) }
      const how = { anew: proof !== undefined }
      const url = await exchange.authorizationUrl(provider, redirectUri(provider.id), checks, how).catch((error) => {
        log.warn("an identity provider cannot be reached", { provider: provider.id, error })
        throw new AppError("unavailable", "The identity provider cannot be reached.", { retry_after: 30 })
      })
      return { url: url.href, ticket: await tickets.issue(catalog, { kind: "oidc", userId: null, payload, lifeMs: OIDC_TICKET_MS }) }
    },
    async end(provider, search, ticket) {
      const answer = new URLSearchParams(search)
      const begun = await begunWith(ticket, provider, answer.get("state"))
      if (!begun) return undefined
      const { next, proof } = begun
      const claims = answer.has("error") ? undefined : await provedClaims(provider, search, begun)
      const error = answer.get("error") === "access_denied" ? "access_denied" : "oidc_failed"
      return { next, ...(proof && { proof }), claims, error }
    },
  }
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

import { Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import { type ApiKey, hasScope, type Scope } from "../domain/key.ts"
import { API } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import type { Read } from "../plugin/body.ts"
import { type Call, guard } from "../plugin/guard.ts"
import type { Keys } from "../services/keys.ts"
import { type Maintenance, refuseWrites } from "../services/maintenance.ts"
import { tokenBuckets } from "../services/token-buckets.ts"
import { accepts } from "./accept.ts"
import { addressPrefix, callerName } from "./caller.ts"
import type { ApiLimits } from "./limits.ts"

export interface AuthOptions {
  /** The realm that a 401 names. */
  serverName: string
  now(): number
  keys: Pick<Keys, "find">
  /** Told of each request that comes with a live key. */
  onKey(request: Request, key: ApiKey): void
  sites: { visible(key: ApiKey, id: string | undefined): Promise<Site> }
  limits: ApiLimits
  /** Of the client, behind trusted proxies. */
  addressOf(call: Call): string | undefined
  /** While it is on, what people manage cannot be changed; events go on coming in. */
  maintenance(): Maintenance
}

/** What a route asks of a key: a scope, or more than that. */
export type Wanted = Scope | WantedFacts
interface WantedFacts {
  /** Any one of them is enough. */
  scopes: readonly Scope[]
  /** Only a key for all sites of the organization will do. */
  unrestricted?: boolean
  /** Throws when what else the path names below a site is not there: a caller learns that before anything of the rest. */
  finds?(site: Site, call: Call): Promise<unknown>
  /** Turns the body into a value; of JSON unless something else is said. */
  read?: Read
  /** Media types of the answer; JSON unless something else is said. */
  produces?: readonly string[]
}

export type ApiKeyAuth = ReturnType<typeof apiKeyAuth>
export type KeyGate = ReturnType<typeof keyGate>

/** Checks 3 to 6 of api.md section 2: whether a request's key is there, valid, sufficient, and not used too often. */
export function keyGate(options: AuthOptions) {
  const find = keyFinder(options)

  async function admit(call: Call, wanted: Wanted): Promise<ApiKey> {
    const key = await find(call)
    options.limits.show(key, call.set.headers)
    refuseScope(key, factsOf(wanted), call)
    options.limits.take(key, call.set.headers)
    if (isManaging(call, factsOf(wanted))) refuseWrites(options.maintenance(), "unavailable", options.now())
    return key
  }
  return { admit, siteOf: (key: ApiKey, call: Call) => options.sites.visible(key, call.params.site_id) }
}

/**
 * Public routes name what they ask of a key, and their handlers get it. `scope` stands on routes of the organization,
 * `siteScope` on those below `/sites/:site_id`, whose handlers also get the site. Of several scopes any one is enough.
 */
export function apiKeyAuth({ admit, siteOf }: KeyGate) {
  return new Elysia({ name: "apiKeyAuth" }).macro({
    scope: (wanted: Wanted) => ({
      detail: toldOf(wanted),
      ...guard(async (call) => {
        const apiKey = await admit(call, wanted)
        refuseFormat(call, factsOf(wanted))
        return { apiKey }
      }, factsOf(wanted).read),
    }),
    siteScope: (wanted: Wanted) => ({
      detail: toldOf(wanted),
      ...guard(async (call) => {
        const apiKey = await admit(call, wanted)
        const site = await siteOf(apiKey, call)
        await factsOf(wanted).finds?.(site, call)
        refuseFormat(call, factsOf(wanted))
        return { apiKey, site }
      }, factsOf(wanted).read),
    }),
  })
}

/** What the documents say of it. */
function toldOf(wanted: Wanted): object {
  const { scopes, unrestricted } = factsOf(wanted)
  return { "x-required-scopes": scopes, ...(unrestricted && { "x-unrestricted-key": true }) }
}

const factsOf = (wanted: Wanted): WantedFacts => (typeof wanted === "string" ? { scopes: [wanted] } : wanted)

/** Who guesses keys is slowed down by address; a valid key behind the same address is not. */
function keyFinder({ serverName, now, keys, addressOf, onKey }: AuthOptions) {
  const failures = tokenBuckets(API.failedAuthPerMinute, now)
  // Of a name of any text, what a quoted header value may hold.
  const realm = `Bearer realm="${serverName.replace(/[^ !#-[\]-~]/g, "_")}"`

  return async function find(call: Call): Promise<ApiKey> {
    const token = /^Bearer +(\S.*)$/i.exec(call.request.headers.get("authorization") ?? "")?.[1]
    const address = addressOf(call)
    const userAgent = call.request.headers.get("user-agent") ?? ""
    const key = token === undefined ? undefined : await keys.find(token, { address, ipPrefix: addressPrefix(address), userAgent })
    if (key) {
      onKey(call.request, key)
      return key
    }
    const failed = token === undefined ? undefined : failures.take(callerName(address))
    if (failed?.taken === false)
      throw new AppError("rate_limited", "Too many requests with keys that are not valid.", { retry_after: failed.retryAfter })
    call.set.headers["www-authenticate"] = failed ? `${realm}, error="invalid_token"` : realm
    if (!failed) throw new AppError("missing_api_key", "Send an API key: Authorization: Bearer ff_…")
    throw new AppError("invalid_api_key", "The key is unknown, revoked, expired, or used from an address outside its list.")
  }
}

/** Changes what people manage. Questions are asked by POST too, and events are collected. */
const isManaging = ({ request }: Call, { scopes }: WantedFacts): boolean =>
  request.method !== "GET" && request.method !== "HEAD" && scopes.some((scope) => scope.endsWith(":write") && scope !== "events:write")

function refuseScope(key: ApiKey, { scopes, unrestricted }: WantedFacts, { set }: Call): void {
  if (!hasScope(key, scopes)) {
    set.headers["www-authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`
    throw new AppError("insufficient_scope", `The key needs ${scopes.join(" or ")}.`, { required_scopes: scopes })
  }
  if (unrestricted && key.site_ids !== null) throw new AppError("unrestricted_key_required", "The key is limited to chosen sites.")
}

function refuseFormat({ request }: Call, { produces = ["application/json"] }: Pick<WantedFacts, "produces">): void {
  if (!produces.some((type) => accepts(request, type))) throw new AppError("not_acceptable", `The answer is ${produces.join(" or ")}.`)
}

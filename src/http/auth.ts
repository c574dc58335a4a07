import { AppError } from "../domain/error.ts"
import { type ApiKey, hasScope } from "../domain/key.ts"
import { API } from "../domain/limits.ts"
import type { CompatProduct, Site } from "../domain/site.ts"
import type { Keys } from "../services/api-keys/api-keys.ts"
import type { KeyUsage } from "../services/api-keys/key-usage.ts"
import { tokenBuckets } from "../services/api-keys/token-buckets.ts"
import { type Maintenance, refuseWrites } from "../services/instance/maintenance.ts"
import type { Call } from "../web/guard.ts"
import type { KeyGate, KeyRequirements, PublicRouter } from "../web/public-router.ts"
import { accepts } from "./accept.ts"
import { addressPrefix, callerName } from "./caller.ts"
import type { ApiLimits } from "./limits.ts"

export interface AuthOptions {
  /** The realm that a 401 names. */
  serverName: string
  now(): number
  keys: Pick<Keys, "find">
  /** Called for each request with a valid key. */
  onKey(request: Request, key: ApiKey): void
  sites: {
    visible(key: ApiKey, id: string | undefined): Promise<Site>
    /** Returns the site that a client of another product names by its host, or by the id that it has there. */
    named(key: ApiKey, name: string, product?: CompatProduct): Promise<Site>
  }
  limits: ApiLimits
  /** Returns the address of the client behind trusted proxies. */
  addressOf(call: Call): string | undefined
  /** Returns the maintenance mode, during which nothing but events can be written. */
  maintenance(): Maintenance
}

/** The router of public routes, whose macros state what a route requires of a key. */
export type ApiKeyAuth = PublicRouter

/** Creates checks 3 to 8 of api.md section 2: key, scope, rate limit, site and format of the response. */
export function keyGate(options: AuthOptions): KeyGate {
  const find = keyFinder(options)
  return {
    async admit(call, requirements) {
      const key = await find(call)
      options.limits.show(key, call.set.headers)
      refuseScope(key, requirements, call)
      options.limits.take(key, call.set.headers)
      if (isManaging(call, requirements)) refuseWrites(options.maintenance(), "unavailable", options.now())
      return key
    },
    siteOf(key, { params: { site_id, domain, website } }) {
      // A parameter with an invalid escape is null at run time, and no site has that name.
      if (website !== undefined) return options.sites.named(key, String(website), "umami")
      return domain === undefined ? options.sites.visible(key, site_id) : options.sites.named(key, String(domain))
    },
    refuseFormat,
    actorOf: ({ id, name }, call) => ({
      ...{ kind: "key", id, email: name, ipPrefix: addressPrefix(options.addressOf(call)) },
      userAgent: call.request.headers.get("user-agent") ?? "",
      requestId: String(call.set.headers["x-request-id"] ?? ""),
    }),
  }
}

/** Creates the lookup of keys. Failed attempts are limited by address; valid keys from the same address are not affected. */
function keyFinder({ serverName, now, keys, addressOf, onKey }: AuthOptions) {
  const failures = tokenBuckets(API.failedAuthPerMinute, now)
  // Replaces characters of the name that a quoted header value must not contain.
  const realm = `Bearer realm="${serverName.replace(/[^ !#-[\]-~]/g, "_")}"`

  return async function find(call: Call): Promise<ApiKey> {
    const { headers } = call.request
    // Clients of Umami send the key in a header of their own. Routes without parameters have no `params`.
    const own = call.params?.website === undefined ? null : headers.get("x-umami-api-key")
    const token = own ?? /^Bearer +(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1]
    const address = addressOf(call)
    const userAgent = headers.get("user-agent") ?? ""
    const key = token === undefined ? undefined : await keys.find(token, { address, ipPrefix: addressPrefix(address), userAgent })
    if (key) {
      onKey(call.request, key)
      return key
    }
    const failed = token === undefined ? undefined : failures.take(callerName(address))
    if (failed?.taken === false)
      throw new AppError("rate_limited", "Too many requests with invalid keys.", { retry_after: failed.retryAfter })
    call.set.headers["www-authenticate"] = failed ? `${realm}, error="invalid_token"` : realm
    if (!failed) throw new AppError("missing_api_key", "Send an API key in the header: Authorization: Bearer <API key>.")
    throw new AppError("invalid_api_key", "The key is unknown, revoked, expired, or used from an address outside its list.")
  }
}

/** Returns whether a request changes managed data. Queries and events also use POST, but do not count. */
const isManaging = ({ request }: Call, { scopes, reads = false }: KeyRequirements): boolean =>
  !reads &&
  request.method !== "GET" &&
  request.method !== "HEAD" &&
  scopes.some((scope) => MANAGING.test(scope) && scope !== "events:write")

const MANAGING = /:(write|erase)$/

function refuseScope(key: ApiKey, { scopes, unrestricted }: KeyRequirements, { set }: Call): void {
  if (!hasScope(key, scopes)) {
    set.headers["www-authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`
    throw new AppError("insufficient_scope", `The key needs ${scopes.join(" or ")}.`, { required_scopes: scopes })
  }
  if (unrestricted && key.site_ids !== null) throw new AppError("unrestricted_key_required", "This key is limited to selected sites.")
}

function refuseFormat({ request }: Call, { produces = ["application/json"] }: Pick<KeyRequirements, "produces">): void {
  if (!produces.some((type) => accepts(request, type)))
    throw new AppError("not_acceptable", `The response is only available as ${produces.join(" or ")}.`)
}

/** Counts responses to requests with a key, by route and status. */
export function keyRequests(usage: Pick<KeyUsage, "count">) {
  const keys = new WeakMap<Request, number>()
  return {
    onKey: (request: Request, { id }: Pick<ApiKey, "id">): void => void keys.set(request, id),
    onAnswer(request: Request, { status }: Pick<Response, "status">): void {
      const keyId = keys.get(request)
      if (keyId !== undefined) usage.count({ keyId, route: routeOf(request), status })
    },
  }
}

/** Returns the route for the statistics, with ids replaced, so that their number is limited. Only existing paths reach this point. */
const routeOf = ({ method, url }: Request): string =>
  `${method} ${new URL(url).pathname
    .replace(/\/$/, "")
    .replace(NAMED_SITE, "$1/:id")
    .replace(/\/\d+(?=\/|$)/g, "/:id")}`

/** Paths of other products name a site by any text. */
const NAMED_SITE = /^(\/api\/(?:websites|v1\/sites(?!\/(?:goals|shared-links|teams)(?:\/|$))))\/[^/]+/

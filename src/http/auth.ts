import { Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import { type ApiKey, hasScope, type Scope } from "../domain/key.ts"
import { API } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import type { Read } from "../plugin/body.ts"
import { type Call, guard } from "../plugin/guard.ts"
import { accepts } from "./accept.ts"
import { type ApiLimits, tokenBuckets } from "./limits.ts"

export interface AuthOptions {
  /** The realm that a 401 names. */
  serverName: string
  now(): number
  keys: { find(token: string): Promise<ApiKey | undefined> }
  sites: { visible(key: ApiKey, id: string | undefined): Promise<Site> }
  limits: ApiLimits
  /** Under which name failed authentications of a caller are counted: its address, of IPv6 the /64. */
  callerOf(call: Call): string
}

/** What a route asks of a key: a scope, or more than that. */
export type Wanted = Scope | { scopes: readonly Scope[]; unrestricted?: boolean; read?: Read }

export type ApiKeyAuth = ReturnType<typeof apiKeyAuth>

/**
 * Public routes name what they ask of a key, and their handlers get it. `scope` stands on routes of the organization,
 * `siteScope` on those below `/sites/:site_id`, whose handlers also get the site. Of several scopes any one is enough.
 */
export function apiKeyAuth(options: AuthOptions) {
  const find = keyFinder(options)

  async function admit(call: Call, wanted: Wanted): Promise<ApiKey> {
    const key = await find(call)
    options.limits.show(key.id, call.set.headers)
    refuseScope(key, wanted, call)
    options.limits.take(key.id, call.set.headers)
    return key
  }

  return new Elysia({ name: "apiKeyAuth" }).macro({
    scope: (wanted: Wanted) => ({
      detail: { "x-required-scopes": scopesOf(wanted) } as object,
      ...guard(async (call) => {
        const apiKey = await admit(call, wanted)
        refuseFormat(call)
        return { apiKey }
      }, readOf(wanted)),
    }),
    siteScope: (wanted: Wanted) => ({
      detail: { "x-required-scopes": scopesOf(wanted) } as object,
      ...guard(async (call) => {
        const apiKey = await admit(call, wanted)
        const site = await options.sites.visible(apiKey, call.params.site_id)
        refuseFormat(call)
        return { apiKey, site }
      }, readOf(wanted)),
    }),
  })
}

const scopesOf = (wanted: Wanted): readonly Scope[] => (typeof wanted === "string" ? [wanted] : wanted.scopes)
const readOf = (wanted: Wanted): Read | undefined => (typeof wanted === "string" ? undefined : wanted.read)

/** Who guesses keys is slowed down by address; a valid key behind the same address is not. */
function keyFinder({ serverName, now, keys, callerOf }: AuthOptions) {
  const failures = tokenBuckets(API.failedAuthPerMinute, now)
  // Of a name of any text, what a quoted header value may hold.
  const realm = `Bearer realm="${serverName.replace(/[^ !#-[\]-~]/g, "_")}"`

  return async function find(call: Call): Promise<ApiKey> {
    const token = /^Bearer +(\S.*)$/i.exec(call.request.headers.get("authorization") ?? "")?.[1]
    const key = token === undefined ? undefined : await keys.find(token)
    if (key) return key
    const failed = token === undefined ? undefined : failures.take(callerOf(call))
    if (failed?.taken === false)
      throw new AppError("rate_limited", "Too many requests with keys that are not valid.", { retry_after: failed.retryAfter })
    call.set.headers["www-authenticate"] = failed ? `${realm}, error="invalid_token"` : realm
    if (!failed) throw new AppError("missing_api_key", "Send an API key: Authorization: Bearer ff_…")
    throw new AppError("invalid_api_key", "The key is unknown, revoked or expired.")
  }
}

function refuseScope(key: ApiKey, wanted: Wanted, { set }: Call): void {
  const scopes = scopesOf(wanted)
  if (!hasScope(key, scopes)) {
    set.headers["www-authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`
    throw new AppError("insufficient_scope", `The key needs ${scopes.join(" or ")}.`, { required_scopes: scopes })
  }
  if (typeof wanted !== "string" && wanted.unrestricted && key.site_ids !== null)
    throw new AppError("unrestricted_key_required", "The key is limited to chosen sites.")
}

function refuseFormat({ request }: Call): void {
  if (!accepts(request, "application/json")) throw new AppError("not_acceptable", "The answer is application/json.")
}

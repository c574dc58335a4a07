import { Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import { leaveUnread } from "../web/body.ts"
import { guard } from "../web/guard.ts"
import { type KeyGate, publicRouter } from "../web/public-router.ts"
import { type Authorize, privateRouter } from "../web/router.ts"

/** Creates a router below a site. Handlers of routes with `can` receive `site`, `role`, `permissions`, `user`, `session` and `actor`. */
export const siteRouter = (authorize: Authorize, name: string) =>
  new Elysia({ prefix: "/api/private/sites/:site" }).use(privateRouter(authorize, name))

/** Creates a router of the instance. Its routes have `instanceAdmin`, `signedIn`, `canOrganization`, or `open` for callbacks. */
export const instanceRouter = (authorize: Authorize, name: string) =>
  new Elysia({ prefix: "/api/private" }).use(privateRouter(authorize, name))

/**
 * Creates a router for public routes below the plugin's paths. Callers are not identified, and bodies are not read: use `readBytes`
 * with a limit. While the plugin is disabled, these paths return 404.
 */
export function openRouter(isOn: () => boolean) {
  const { parse, transform } = guard(async () => refuseOff(isOn), leaveUnread)
  return new Elysia().guard({ parse, transform, detail: { "x-permission": "open" } as object })
}

/**
 * Creates a router of the public API below a site. Handlers of routes with `siteScope` receive `site`, `apiKey` and `actor`. While the plugin
 * is disabled, a valid key gets 404 `feature_disabled`.
 */
export function publicSiteRouter(gate: KeyGate, name: string, isOn: () => boolean) {
  const siteOf: KeyGate["siteOf"] = async (key, call) => {
    const site = await gate.siteOf(key, call)
    if (!isOn()) throw new AppError("feature_disabled", "This feature is disabled.")
    return site
  }
  return new Elysia({ prefix: PUBLIC_SITE }).use(publicRouter({ ...gate, siteOf }, name))
}

/** The path below which the public routes of plugins are. */
export const PUBLIC_SITE = "/api/public/v1/sites/:site_id"

async function refuseOff(isOn: () => boolean): Promise<object> {
  if (isOn()) return {}
  throw new AppError("not_found", "This address does not exist.")
}

export type SiteRouter = ReturnType<typeof siteRouter>
export type InstanceRouter = ReturnType<typeof instanceRouter>
export type OpenRouter = ReturnType<typeof openRouter>
export type PublicSiteRouter = ReturnType<typeof publicSiteRouter>

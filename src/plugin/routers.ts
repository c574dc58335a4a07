import { Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import { leaveUnread } from "./body.ts"
import { guard } from "./guard.ts"
import { type Authorize, privateRouter } from "./router.ts"

/** Below every site: the handler of a route with `can` gets `site`, `role`, `permissions`, `user`, `session` and `actor`. */
export const siteRouter = (authorize: Authorize, name: string) =>
  new Elysia({ prefix: "/api/private/sites/:site" }).use(privateRouter(authorize, name))

/** Below the instance: `instanceAdmin`, `signedIn`, `canOrganization`, or `open` for the return from somewhere else. */
export const instanceRouter = (authorize: Authorize, name: string) =>
  new Elysia({ prefix: "/api/private" }).use(privateRouter(authorize, name))

/**
 * Open to the world, below the plugin's own words. Nobody is asked who they are, and bodies are left unread: `readBytes` takes
 * one with a limit. While the plugin is off, nothing is at these addresses.
 */
export function openRouter(isOn: () => boolean) {
  const { parse, transform } = guard(async () => refuseOff(isOn), leaveUnread)
  return new Elysia().guard({ parse, transform, detail: { "x-permission": "open" } as object })
}

async function refuseOff(isOn: () => boolean): Promise<object> {
  if (isOn()) return {}
  throw new AppError("not_found", "Nothing is at this address.")
}

export type SiteRouter = ReturnType<typeof siteRouter>
export type InstanceRouter = ReturnType<typeof instanceRouter>
export type OpenRouter = ReturnType<typeof openRouter>

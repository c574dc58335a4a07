import { Elysia } from "elysia"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import type { Pinning, SitePins } from "../../../services/sites/sites.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/things.ts"
import { siteEntry } from "./site-audit.ts"

export interface SitePinRoutesOptions {
  sitePins: Pick<SitePins, "pin" | "unpin">
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["sites"] })
const auditEntry = (verb: string) => siteEntry(`sites.site.${verb}`)

/** Creates the routes for pinning sites to the top of your list. */
export const sitePinRoutes = (router: PrivateRouter, { sitePins, audit }: SitePinRoutesOptions) =>
  new Elysia({ prefix: "/api/private" })
    .use(router)
    .put(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.pin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => auditEntry("pin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: readNothing }, query: NoQuery, detail: operation("Pin a site") },
    )
    .delete(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.unpin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => auditEntry("unpin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: readNothing }, query: NoQuery, detail: operation("Unpin a site") },
    )

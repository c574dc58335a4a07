import { Elysia } from "elysia"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import type { Pinning, SitePins } from "../../services/site-pins.ts"
import { NoQuery } from "../public/things.ts"
import { deedOnSite } from "./site-deeds.ts"

export interface SitePinRoutesOptions {
  sitePins: Pick<SitePins, "pin" | "unpin">
  audit: Audit
}

const says = (summary: string) => ({ summary, tags: ["sites"] })
const deedOf = (verb: string) => deedOnSite(`sites.site.${verb}`)

/** Which sites stand first in somebody's own list. */
export const sitePinRoutes = (router: PrivateRouter, { sitePins, audit }: SitePinRoutesOptions) =>
  new Elysia({ prefix: "/api/private" })
    .use(router)
    .put(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.pin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => deedOf("pin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: leaveUnread }, query: NoQuery, detail: says("Put the site first in your list") },
    )
    .delete(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.unpin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => deedOf("unpin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: leaveUnread }, query: NoQuery, detail: says("Take the site from the top of your list") },
    )

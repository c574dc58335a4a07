import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import { isObject } from "../../domain/shape.ts"
import type { SiteDefaults } from "../../domain/site-input.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Setup } from "../../services/setup.ts"
import { type SiteFacts, SiteShown, shownSite } from "../public/shown.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { shownUser, UserShown } from "./auth-shown.ts"
import { BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface SetupRoutesOptions extends GuestOptions, SiteFacts {
  setup: Setup
  isSetUp(): Promise<boolean>
  siteDefaults: SiteDefaults
  /** Under which people reach the instance. */
  publicUrl(): string
}

const SetupShown = t.Object({
  needed: t.Boolean(),
  token_expires_at: t.Optional(t.String()),
  defaults: t.Object({ timezone: t.String(), currency: t.String(), base_url: t.String() }),
})
const MadeShown = t.Object({
  user: UserShown,
  organization: t.Object({ id: t.Integer(), name: t.String() }),
  site: t.Optional(SiteShown),
})
const FaultShown = t.Object({ pointer: t.String(), code: t.String(), detail: t.String(), allowed: t.Optional(t.Unknown()) })
/** Of a trial. */
const FaultsShown = t.Object({ errors: t.Array(FaultShown) })
const tags = ["setup"]

/** The first user of the instance, with the token that the console has printed. */
export function setupRoutes(router: PrivateRouter, options: SetupRoutesOptions) {
  const { setup, isSetUp, siteDefaults, cookie, publicUrl } = options
  const { guestOf, welcome } = guests(options)
  return new Elysia({ prefix: "/api/private/setup" })
    .use(router)
    .use(cookie.writer())
    .get(
      "",
      async () => {
        const needed = !(await isSetUp())
        const expires = needed ? setup.token.expiresAt() : undefined
        return {
          needed,
          ...(expires !== undefined && { token_expires_at: instantText(expires) }),
          defaults: { timezone: siteDefaults.timezone, currency: siteDefaults.revenue_currency, base_url: publicUrl() },
        }
      },
      { open: { beforeSetUp: true }, response: { 200: SetupShown }, detail: { summary: "Whether the instance is set up", tags } },
    )
    .post(
      "",
      async (context) => {
        const guest = guestOf(context)
        const { dry_run: isTrial, ...asked } = isObject(context.body.value) ? context.body.value : {}
        if (isTrial === true) return { errors: [...(await setup.faultsOf(asked))] }
        const made = await setup.overHttp(asked, guest)
        welcome(context, made)
        context.set.status = 201
        const { user, organization, site } = made
        return {
          user: shownUser(user),
          organization: { id: organization.id, name: organization.name },
          ...(site && { site: shownSite(site, options) }),
        }
      },
      {
        open: { beforeSetUp: true },
        body: Sent,
        response: { 200: FaultsShown, 201: MadeShown },
        detail: {
          summary: "Make the first user, who administers the instance",
          tags,
          ...refuses("setup_token_invalid", "already_set_up", "insecure_connection", "rate_limited"),
          ...BODIES.setUp,
        },
      },
    )
}

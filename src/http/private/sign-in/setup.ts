import { Elysia } from "elysia"
import { instantText } from "../../../domain/moment.ts"
import { isObject } from "../../../domain/shape.ts"
import { FaultsResponse, SetupCompletedResponse, SetupResponse } from "../../../domain/sign-in.ts"
import type { SiteDefaults } from "../../../domain/site-input.ts"
import type { Setup } from "../../../services/accounts/setup.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { type SiteFacts, toSiteResponse } from "../../public/responses.ts"
import { type GuestOptions, guests, toUserResponse } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { refuses } from "../responses.ts"

export interface SetupRoutesOptions extends GuestOptions, SiteFacts {
  setup: Setup
  isSetUp(): Promise<boolean>
  siteDefaults: SiteDefaults
  /** Returns the base URL of the instance. */
  publicUrl(): string
}

const tags = ["setup"]

/** Creates the routes that set up the first user with the token printed on the console. */
export function setupRoutes(router: PrivateRouter, options: SetupRoutesOptions) {
  const { setup, isSetUp, siteDefaults, cookie, publicUrl } = options
  const { guestOf, startSession } = guests(options)
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
      {
        open: { beforeSetUp: true },
        query: NoQuery,
        response: { 200: SetupResponse },
        detail: { summary: "Get whether the instance is set up", tags },
      },
    )
    .post(
      "",
      async (context) => {
        const guest = guestOf(context)
        const { dry_run: isDryRun, ...input } = isObject(context.body.value) ? context.body.value : {}
        if (isDryRun === true) return { errors: [...(await setup.faultsOf(input))] }
        const made = await setup.overHttp(input, guest)
        startSession(context, made)
        context.set.status = 201
        const { user, organization, site } = made
        return {
          user: toUserResponse(user),
          organization: { id: organization.id, name: organization.name },
          ...(site && { site: toSiteResponse(site, options) }),
        }
      },
      {
        open: { beforeSetUp: true },
        query: NoQuery,
        body: Sent,
        response: { 200: FaultsResponse, 201: SetupCompletedResponse },
        detail: {
          summary: "Create the first user, an instance admin",
          tags,
          ...refuses("setup_token_invalid", "already_set_up", "insecure_connection", "rate_limited"),
          ...BODIES.setUp,
        },
      },
    )
}

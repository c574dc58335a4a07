import { Elysia } from "elysia"
import { reachesSite } from "../../domain/key.ts"
import { SiteKeyInput } from "../../domain/key-input.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { keyDeed } from "../../services/deeds.ts"
import type { Keys, NewSecret } from "../../services/keys.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { CAN_WRITE_KEYS, KeyShown, newKey, pageOfKeys, readKeyPaging, SecretShown, says } from "./api-key-shown.ts"
import { Listed, ListQuery } from "./tagged.ts"

interface SiteApiKeyRoutesOptions {
  keys: Keys
  audit: Audit
}

/** The keys that reach a site. */
export const siteApiKeyRoutes = (router: PrivateRouter, create: ReturnType<typeof creation>, { keys, audit }: SiteApiKeyRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/api-keys" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const paging = readKeyPaging(`site-api-keys/${site.id}`, query)
        const reaching = (await keys.list(site.organization_id, paging.filters.state)).filter((key) => reachesSite(key, site))
        return pageOfKeys(keys, site.organization_id, paging, reaching)
      },
      { can: "keys:write", query: ListQuery, response: { 200: Listed(KeyShown) }, detail: says("List API keys of a site") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<NewSecret, SecretShown>(
          { ...call, user },
          (body, told) =>
            keys.create(site.organization_id, body, {
              by: user.id,
              site: site.id,
              alongside: recorded(audit, actor, keyDeed("create")),
              ...(told && { told }),
            }),
          (made) => newKey(made, user),
        ),
      {
        can: { ...CAN_WRITE_KEYS, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretShown },
        detail: { ...says("Make an API key of one site"), ...takes(SiteKeyInput) },
      },
    )

import { Elysia } from "elysia"
import { KeyResponse, reachesSite, SecretResponse } from "../../../domain/key.ts"
import { SiteKeyInput } from "../../../domain/key-input.ts"
import { Listed } from "../../../domain/response.ts"
import type { Keys, NewSecret } from "../../../services/api-keys/api-keys.ts"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import { keyEntry } from "../../../services/audit/entries.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { ListQuery } from "../responses.ts"
import { CAN_WRITE_KEYS, newKey, operation, pageOfKeys, readKeyPaging } from "./api-key-shown.ts"

interface SiteApiKeyRoutesOptions {
  keys: Keys
  audit: Audit
}

/** Creates the routes for the API keys with access to a site. */
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
      { can: "keys:write", query: ListQuery, response: { 200: Listed(KeyResponse) }, detail: operation("List API keys of a site") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<NewSecret, SecretResponse>(
          { ...call, user },
          (body, storeResponse) =>
            keys.create(site.organization_id, body, {
              by: user.id,
              site: site.id,
              alongside: recorded(audit, actor, keyEntry("create")),
              ...(storeResponse && { storeResponse }),
            }),
          (made) => newKey(made, user),
        ),
      {
        can: { ...CAN_WRITE_KEYS, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretResponse },
        detail: { ...operation("Create an API key for a site"), ...takes(SiteKeyInput) },
      },
    )

import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type ApiKey, impliedBy, KEY_STATES, reachesSite, SCOPE_TITLES, SCOPES } from "../../domain/key.ts"
import { KeyInput, KeyPatch, SiteKeyInput } from "../../domain/key-input.ts"
import { API } from "../../domain/limits.ts"
import { instantText } from "../../domain/moment.ts"
import type { Organization } from "../../domain/organization.ts"
import { etagOf } from "../../domain/version.ts"
import { leaveUnread, readOptionalJson } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { keyDeed } from "../../services/deeds.ts"
import type { KeyUsage } from "../../services/key-usage.ts"
import type { Keys, ListedKey, NewSecret } from "../../services/keys.ts"
import { type Paging, pageOfAll, readPaging } from "../../services/paging.ts"
import { expectedVersions } from "../public/conditions.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { PersonShown } from "./members.ts"
import { BODIES } from "./sent-bodies.ts"
import { Id, Instant, Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface ApiKeyRoutesOptions {
  keys: Keys
  keyUsage: KeyUsage
  audit: Audit
}

const InstantOrNull = t.Union([Instant, t.Null()])
const WordsOrNull = t.Union([t.String(), t.Null()])

const KEY = {
  id: Id,
  name: t.String(),
  prefix: t.String({ description: "How people tell keys apart" }),
  last4: t.String(),
  scopes: t.Array(t.String()),
  site_access: t.String(),
  site_ids: t.Union([t.Array(Id), t.Null()], { description: "null with site_access all" }),
  ip_allow: t.Array(t.String()),
  rate_limit: t.Union([t.Integer(), t.Null()]),
  personal: t.Boolean(),
  created_by: t.Union([PersonShown, t.Null()], { description: "null: the command line" }),
  created_at: Instant,
  expires_at: InstantOrNull,
  last_used_at: InstantOrNull,
  last_used_ip_prefix: WordsOrNull,
  last_used_agent: WordsOrNull,
  revoked_at: InstantOrNull,
  state: t.String(),
  owner_left: t.Boolean({ description: "Who made it is no member any more: nobody's rights bound it" }),
  version: t.Integer(),
}
const KeyShown = t.Object(KEY, { title: "ApiKey" })
type KeyShown = Static<typeof KeyShown>
const SecretShown = t.Object({ ...KEY, key: t.String({ description: "The whole key; shown this once" }) }, { title: "NewApiKey" })
type SecretShown = Static<typeof SecretShown>

const ScopesShown = t.Object({ data: t.Array(t.Object({ scope: t.String(), title: t.String(), implies: t.Array(t.String()) })) })
const UsageShown = t.Object({
  from: t.String(),
  to: t.String(),
  data: t.Array(t.Object({ day: t.String(), route: t.String(), status: t.String(), requests: t.Integer() })),
})

const says = (summary: string) => ({ summary, tags: ["api-keys"] })
const CAN = { permission: "keys:write", personal: true }

/** What scopes there are. */
export const scopeRoutes = (router: PrivateRouter) =>
  new Elysia({ prefix: "/api/private/api-scopes" })
    .use(router)
    .get("", () => ({ data: SCOPES.map((scope) => ({ scope, title: SCOPE_TITLES[scope], implies: [...impliedBy(scope)] })) }), {
      signedIn: true,
      query: NoQuery,
      response: { 200: ScopesShown },
      detail: says("List scopes of API keys"),
    })

/** The keys of an organization. */
export function apiKeyRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, { keys, keyUsage, audit }: ApiKeyRoutesOptions) {
  const show = async (key: ApiKey): Promise<KeyShown> => shownKey((await keys.listed(key.organization_id, [key]))[0]!)
  const find = ({ id }: Record<string, string | undefined>, { organization }: { organization?: Organization }) =>
    keys.get(organization!.id, id) // routes below an organization have one

  return new Elysia({ prefix: "/api/private/organizations/:organization/api-keys" })
    .use(router)
    .get(
      "",
      async ({ organization, query }) => {
        const paging = readStates(`api-keys/${organization.id}`, query)
        return listed(keys, organization.id, paging, await keys.list(organization.id, paging.filters.state))
      },
      { canOrganization: "keys:write", query: ListQuery, response: { 200: Listed(KeyShown) }, detail: says("List API keys") },
    )
    .post(
      "",
      ({ organization, user, actor, ...call }) =>
        create<NewSecret, SecretShown>(
          { ...call, user },
          (body, told) =>
            keys.create(organization.id, body, {
              by: user.id,
              alongside: recorded(audit, actor, keyDeed("create")),
              ...(told && { told }),
            }),
          (made) => newKey(made, user),
        ),
      {
        canOrganization: { ...CAN, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretShown },
        detail: { ...says("Make an API key"), ...takes(KeyInput) },
      },
    )
    .get(
      "/:id",
      async ({ organization, params, set }) => {
        const key = await keys.get(organization.id, params.id)
        return tagged(set, key, await show(key))
      },
      { canOrganization: "keys:write", query: NoQuery, response: { 200: KeyShown }, detail: says("Read an API key") },
    )
    .patch(
      "/:id",
      async ({ organization, user, params, actor, body, request, set }) => {
        const [before] = await keys.listed(organization.id, [await keys.get(organization.id, params.id)])
        const key = await keys.update(organization.id, params.id, body.value, {
          by: user.id,
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, keyDeed("update")),
          current: (now) => shownKey({ ...before!, ...now }),
        })
        return tagged(set, key, shownKey({ ...before!, ...key }))
      },
      {
        canOrganization: { ...CAN, find },
        query: NoQuery,
        body: Sent,
        response: { 200: KeyShown },
        detail: { ...says("Change an API key"), ...refuses("invalid_state"), ...takes(KeyPatch) },
      },
    )
    .delete(
      "/:id",
      async ({ organization, user, params, actor, request, status }) => {
        const terms = { by: user.id, expected: expectedVersions(request), alongside: recorded(audit, actor, keyDeed("revoke")) }
        await keys.revoke(organization.id, params.id, terms)
        return status(204, undefined)
      },
      {
        canOrganization: { ...CAN, read: leaveUnread },
        query: NoQuery,
        detail: { ...says("Revoke an API key"), ...refuses("invalid_state", "precondition_failed") },
      },
    )
    .post(
      "/:id/rotate",
      async ({ organization, user, params, actor, ...call }) => {
        const [before] = await keys.listed(organization.id, [await keys.get(organization.id, params.id)])
        return create<NewSecret, SecretShown>(
          { ...call, user },
          (body, told) =>
            keys.rotate(organization.id, params.id, body, {
              by: user.id,
              expected: expectedVersions(call.request),
              alongside: recorded(audit, actor, keyDeed("rotate")),
              ...(told && { told }),
            }),
          ({ key, secret }) => ({ status: 200, etag: etagOf(key), body: { ...shownKey({ ...before!, ...key }), key: secret } }),
        )
      },
      {
        canOrganization: { ...CAN, sudo: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 200: SecretShown },
        detail: {
          ...says("Give an API key another secret"),
          ...refuses("invalid_state", "precondition_failed", "limit_reached"),
          ...BODIES.rotation,
        },
      },
    )
    .get("/:id/usage", async ({ organization, params, query }) => keyUsage.list((await keys.get(organization.id, params.id)).id, query), {
      canOrganization: "keys:write",
      query: ListQuery,
      response: { 200: UsageShown },
      detail: says("Requests by day, route and status"),
    })
}

/** The keys that reach a site. */
export const siteApiKeyRoutes = (router: PrivateRouter, create: ReturnType<typeof creation>, { keys, audit }: ApiKeyRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/api-keys" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const paging = readStates(`site-api-keys/${site.id}`, query)
        const reaching = (await keys.list(site.organization_id, paging.filters.state)).filter((key) => reachesSite(key, site))
        return listed(keys, site.organization_id, paging, reaching)
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
        can: { ...CAN, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretShown },
        detail: { ...says("Make an API key of one site"), ...takes(SiteKeyInput) },
      },
    )

const readStates = (list: string, query: Record<string, unknown>) =>
  readPaging(list, query, ["state"], (reader) => ({ state: reader.choice("state", KEY_STATES) }))

async function listed(keys: Keys, organizationId: number, paging: Paging<unknown>, all: readonly ApiKey[]) {
  const page = await pageOfAll(paging, all)
  return { ...page, data: (await keys.listed(organizationId, page.data)).map(shownKey) }
}

/** Its creator is who asks. */
function newKey({ key, secret }: NewSecret, { id, name, email }: { id: number; name: string; email: string }) {
  const shown = shownKey({ ...key, state: "active", creator: { user_id: id, name, email }, owner_left: false })
  return {
    location: `/api/private/organizations/${key.organization_id}/api-keys/${key.id}`,
    etag: etagOf(key),
    body: { ...shown, key: secret },
  }
}

const shownKey = (key: ListedKey): KeyShown => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: [...key.scopes],
  site_access: key.site_ids === null ? "all" : "list",
  site_ids: key.site_ids && [...key.site_ids],
  ip_allow: [...key.ip_allow],
  rate_limit: key.rate_limit,
  personal: key.owner_user_id !== null,
  created_by: key.creator && { id: key.creator.user_id, name: key.creator.name, email: key.creator.email },
  created_at: instantText(key.created_at),
  expires_at: textOrNull(key.expires_at),
  last_used_at: textOrNull(key.last_used_at),
  last_used_ip_prefix: key.last_used_ip_prefix,
  last_used_agent: key.last_used_agent,
  revoked_at: textOrNull(key.revoked_at),
  state: key.state,
  owner_left: key.owner_left,
  version: key.version,
})

const textOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))

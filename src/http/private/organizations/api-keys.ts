import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type ApiKey, impliedBy, SCOPE_TITLES, SCOPES } from "../../domain/key.ts"
import { KeyInput, KeyPatch } from "../../domain/key-input.ts"
import { API } from "../../domain/limits.ts"
import type { Organization } from "../../domain/organization.ts"
import { etagOf } from "../../domain/version.ts"
import { leaveUnread, readOptionalJson } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { keyDeed } from "../../services/deeds.ts"
import type { KeyUsage } from "../../services/key-usage.ts"
import type { Keys, NewSecret } from "../../services/keys.ts"
import { expectedVersions } from "../public/conditions.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { CAN_WRITE_KEYS, KeyShown, newKey, pageOfKeys, readKeyPaging, SecretShown, says, shownKey } from "./api-key-shown.ts"
import { BODIES } from "./sent-bodies.ts"
import { Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface ApiKeyRoutesOptions {
  keys: Keys
  keyUsage: KeyUsage
  audit: Audit
}

const ScopesShown = t.Object({ data: t.Array(t.Object({ scope: t.String(), title: t.String(), implies: t.Array(t.String()) })) })
const UsageShown = t.Object({
  from: t.String(),
  to: t.String(),
  data: t.Array(t.Object({ day: t.String(), route: t.String(), status: t.String(), requests: t.Integer() })),
})

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
        const paging = readKeyPaging(`api-keys/${organization.id}`, query)
        return pageOfKeys(keys, organization.id, paging, await keys.list(organization.id, paging.filters.state))
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
        canOrganization: { ...CAN_WRITE_KEYS, sudo: true },
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
        canOrganization: { ...CAN_WRITE_KEYS, find },
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
        canOrganization: { ...CAN_WRITE_KEYS, read: leaveUnread },
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
        canOrganization: { ...CAN_WRITE_KEYS, sudo: true, find, read: readOptionalJson(API.privateBodyBytes) },
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

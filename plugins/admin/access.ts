import {
  AnyQuery,
  AppError,
  type AuditEntry,
  type Host,
  instantOrNull,
  instantText,
  KEY_STATES,
  keyState,
  NoQuery,
  Paged,
  pageOfAll,
  parseId,
  readNothing,
  readPaging,
} from "#plugin"
import { InvitationResponse, KeyResponse, SessionResponse } from "./account-responses.ts"
import { operation, readSearch } from "./routing.ts"

/** Routes for invitations, API keys and sessions of all organizations. */
export const accessRoutes = (host: Host) => {
  const { lists, invitations, endSession } = host.services.console
  const { keys } = host.services
  const one = async <Row extends { id: number }>(rows: Promise<readonly Row[]>, id: string | undefined, missing: () => AppError) => {
    const found = (await rows).find((row) => row.id === parseId(id))
    if (!found) throw missing()
    return found
  }
  const invitationOf = (id: string | undefined) =>
    one(lists.invitations(), id, () => new AppError("invitation_not_found", "This invitation doesn't exist or is no longer open."))
  const keyOf = (id: string | undefined) => one(lists.keys(), id, () => new AppError("api_key_not_found", "This API key doesn't exist."))
  const sessionOf = (id: string | undefined) =>
    one(lists.sessions(), id, () => new AppError("session_not_found", "This session doesn't exist or has ended."))
  type Params = Record<string, string | undefined>

  return host
    .instanceRouter()
    .get(
      "/admin/invitations",
      async ({ query }) => {
        const paging = readPaging("admin/invitations", query, ["q"], readSearch)
        const page = await pageOfAll(
          paging,
          (await lists.invitations()).filter(({ email, organization }) => paging.filters([email, organization])),
        )
        return { ...page, data: page.data.map(formatInvitation) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(InvitationResponse) }, detail: operation("List open invitations") },
    )
    .delete(
      "/admin/invitations/:id",
      async ({ actor, params, status }) => {
        const { id, organization_id } = await invitationOf(params.id)
        const describe = (invitation: { id: number; email: string }): AuditEntry => ({
          action: "admin.invitation.delete",
          target: { type: "invitation", id: invitation.id, label: invitation.email },
          organizationId: organization_id,
        })
        await invitations.remove(organization_id, String(id), host.audit.recorded(actor, describe))
        return status(204, undefined)
      },
      {
        instanceAdmin: { find: async ({ id }: Params) => void (await invitationOf(id)), read: readNothing },
        query: NoQuery,
        detail: operation("Withdraw an invitation"),
      },
    )
    .get(
      "/admin/api-keys",
      async ({ query }) => {
        const paging = readPaging("admin/api-keys", query, ["q", "state"], (reader) => ({
          fits: readSearch(reader),
          state: reader.choice("state", KEY_STATES),
        }))
        const { fits, state } = paging.filters
        const now = host.now()
        const page = await pageOfAll(
          paging,
          (await lists.keys()).filter(
            (key) =>
              (state === undefined || keyState(key, now) === state) &&
              fits([key.name, key.organization, prefixOf(key), key.last4, key.owner_email]),
          ),
        )
        return { ...page, data: page.data.map((key) => formatKey(key, now)) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(KeyResponse) }, detail: operation("List API keys") },
    )
    .post(
      "/admin/api-keys/:id/revoke",
      async ({ actor, user, params }) => {
        const { id, organization_id } = await keyOf(params.id)
        const describe = (key: { id: number; name: string }): AuditEntry => ({
          action: "admin.key.revoke",
          target: { type: "api_key", id: key.id, label: key.name },
          organizationId: organization_id,
        })
        await keys.revoke(organization_id, id, { by: user.id, alongside: host.audit.recorded(actor, describe) })
        return formatKey(await keyOf(params.id), host.now())
      },
      {
        instanceAdmin: { find: async ({ id }: Params) => void (await keyOf(id)), read: readNothing },
        query: NoQuery,
        response: { 200: KeyResponse },
        detail: operation("Revoke an API key"),
      },
    )
    .get(
      "/admin/sessions",
      async ({ query, session }) => {
        const paging = readPaging("admin/sessions", query, ["q", "user"], (reader) => ({
          fits: readSearch(reader),
          user: reader.integer("user", { min: 1, max: Number.MAX_SAFE_INTEGER }),
        }))
        const { fits, user } = paging.filters
        const page = await pageOfAll(
          paging,
          (await lists.sessions()).filter(
            ({ user_id, email, device, place, ip_prefix }) =>
              (user === undefined || user_id === user) && fits([email, device, place, ip_prefix]),
          ),
        )
        return { ...page, data: page.data.map((row) => formatSession(row, session.id)) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(SessionResponse) }, detail: operation("List active sessions") },
    )
    .delete(
      "/admin/sessions/:id",
      async ({ actor, params, status }) => {
        await endSession(actor, await sessionOf(params.id))
        return status(204, undefined)
      },
      {
        instanceAdmin: { find: async ({ id }: Params) => void (await sessionOf(id)), read: readNothing },
        query: NoQuery,
        detail: operation("End a session"),
      },
    )
}

type Lists = Host["services"]["console"]["lists"]
type Row<Name extends "invitations" | "keys" | "sessions"> = Awaited<ReturnType<Lists[Name]>>[number]

const prefixOf = ({ key_id }: { key_id: string }): string => `ff_${key_id}`

const formatInvitation = ({
  id,
  organization_id,
  organization,
  email,
  role,
  has_account,
  created_at,
  expires_at,
  sent_at,
}: Row<"invitations">) => ({
  id,
  organization: { id: organization_id, name: organization },
  email,
  role,
  has_account,
  created_at: instantText(created_at),
  expires_at: instantText(expires_at),
  sent_at: instantOrNull(sent_at),
})

function formatKey(
  { id, organization_id, organization, name, key_id, last4, scopes, site_ids, owner_email, ...times }: Row<"keys">,
  now: number,
) {
  return {
    id,
    organization: { id: organization_id, name: organization },
    name,
    prefix: prefixOf({ key_id }),
    last4,
    scopes,
    site_ids,
    owner_email,
    state: keyState(times, now),
    created_at: instantText(times.created_at),
    expires_at: instantOrNull(times.expires_at),
    last_used_at: instantOrNull(times.last_used_at),
  }
}

const formatSession = (row: Row<"sessions">, current: number) => ({
  id: row.id,
  user: { id: row.user_id, email: row.email },
  method: row.method,
  mfa: row.mfa,
  device: row.device,
  ip_prefix: row.ip_prefix,
  place: row.place,
  created_at: instantText(row.created_at),
  last_seen_at: instantText(row.last_seen_at),
  expires_at: instantText(row.expires_at),
  current: row.id === current,
  ...(row.impersonation_mode !== null && { impersonation: { by: row.impersonator_email ?? "", mode: row.impersonation_mode } }),
})

import {
  AnyQuery,
  ArgumentReader,
  type AuditEntry,
  type Console,
  failures,
  type Host,
  instantText,
  NoQuery,
  Paged,
  readNothing,
  refuseArguments,
  Sent,
  sortedPage,
} from "#plugin"
import { BODIES } from "./bodies.ts"
import { DisputeResponse } from "./responses.ts"
import { operation, readSearch } from "./routing.ts"

type Dispute = Awaited<ReturnType<Console["hostDisputes"]["get"]>>
type Params = Record<string, string | undefined>

/** Routes for hosts that sites of several organizations claim. */
export const hostDisputeRoutes = (host: Host) => {
  const { hostDisputes } = host.services.console
  const hostIn = ({ host: named }: Params): string => (named ?? "").toLowerCase()

  return host
    .instanceRouter()
    .get("/admin/host-disputes", async ({ query }) => pageOf(await hostDisputes.list(), query), {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: Paged(DisputeResponse) },
      detail: { ...operation("List host disputes"), ...failures("invalid_cursor") },
    })
    .put(
      "/admin/host-disputes/:host",
      async ({ actor, params, body }) =>
        formatDispute(
          await hostDisputes.decide(hostIn(params), body.value, actor.id ?? null, host.audit.recorded(actor, auditEntry("decide"))),
        ),
      {
        instanceAdmin: { find: async (params: Params) => void (await hostDisputes.get(hostIn(params))) },
        query: NoQuery,
        body: Sent,
        response: { 200: DisputeResponse },
        detail: { ...operation("Decide a host dispute", BODIES.hostDecision), ...failures("host_dispute_not_found") },
      },
    )
    .delete(
      "/admin/host-disputes/:host",
      async ({ actor, params, status }) => {
        await hostDisputes.withdraw(hostIn(params), host.audit.recorded(actor, auditEntry("withdraw")))
        return status(204, undefined)
      },
      {
        instanceAdmin: { read: readNothing },
        query: NoQuery,
        detail: { ...operation("Withdraw the decision of a host dispute"), ...failures("host_dispute_not_found") },
      },
    )
}

const PAGE = { min: 1, max: 200, default: 50 } as const

function pageOf(disputes: readonly Dispute[], query: Record<string, unknown>) {
  const reader = new ArgumentReader(query, ["limit", "cursor", "count", "q"])
  const limit = reader.integer("limit", PAGE) ?? PAGE.default
  const cursor = reader.text("cursor", { min: 1, max: 1_000 })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const fits = readSearch(reader)
  refuseArguments(reader, "text")
  const found = disputes.filter((dispute) => fits([dispute.host, ...dispute.organizations.map(({ name }) => name)]))
  const page = sortedPage(found, ({ host }) => [host], { list: `admin/host-disputes ${query.q ?? ""}`, cursor, limit, count })
  return { ...page, data: page.data.map(formatDispute) }
}

const formatDispute = ({ organizations, decision, ...dispute }: Dispute) => ({
  ...dispute,
  organizations: organizations.map(({ listed_at, ...organization }) => ({ ...organization, listed_at: instantText(listed_at) })),
  decision: decision && { ...decision, decided_at: instantText(decision.decided_at) },
})

const auditEntry =
  (verb: string) =>
  ({ host, organization_id }: { host: string; organization_id: number }): AuditEntry => ({
    action: `admin.host-dispute.${verb}`,
    target: { type: "host-dispute", id: host, label: host },
    organizationId: organization_id,
  })

import { Type as t } from "@sinclair/typebox"
import { type Host, instantText } from "#plugin"
import { answers } from "./sent.ts"
import { AnyQuery, fileHeaders, Id, Instant, NoQuery, orNull, Page, says, streamed } from "./shapes.ts"

const Words = orNull(t.String())
const Whole = orNull(t.Integer())

const AuditRowShown = t.Object(
  {
    id: Id,
    at: Instant,
    actor_kind: t.String(),
    actor_id: Whole,
    actor_email: t.String(),
    impersonator_id: Whole,
    impersonator_email: Words,
    action: t.String(),
    target_type: t.String(),
    target_id: t.String(),
    target_label: t.String(),
    organization_id: Whole,
    site_id: Whole,
    outcome: t.String(),
    ip_prefix: t.String(),
    user_agent: t.String(),
    request_id: t.String(),
    changes: t.Any({ description: "By field: before and after" }),
  },
  { title: "InstanceAuditRow" },
)

/** What happened on the whole instance. */
export const auditRoutes = (host: Host) => {
  const { audit } = host.services.console
  const shown = <Row extends { at: number }>({ at, ...row }: Row) => ({ ...row, at: instantText(at) })

  return host
    .instanceRouter()
    .get(
      "/admin/audit",
      async ({ query }) => {
        const page = await audit.list(query)
        return { ...page, data: page.data.map(shown) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Page(AuditRowShown) }, detail: says("Who changed what") },
    )
    .get(
      "/admin/audit/export.ndjson",
      async ({ query, actor }) => {
        const rows = await audit.open(actor, query)
        async function* lines() {
          for await (const part of rows) yield new TextEncoder().encode(part.map((row) => `${JSON.stringify(shown(row))}\n`).join(""))
        }
        return new Response(streamed(lines()), { headers: fileHeaders("application/x-ndjson; charset=utf-8", "audit.ndjson") })
      },
      { instanceAdmin: true, query: AnyQuery, detail: { ...says("The audit log as lines of JSON"), ...answers("application/x-ndjson") } },
    )
    .get("/admin/audit/verify", () => audit.verify(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ ok: t.Boolean(), rows: t.Integer(), first_broken_id: t.Optional(Id) }) },
      detail: says("Whether every row follows from the one before"),
    })
}

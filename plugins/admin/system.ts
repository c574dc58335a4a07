import { Type as t } from "@sinclair/typebox"
import { AnyQuery, type Host, Instant, instantText, NoQuery, orNull, Sent } from "#plugin"
import { answers, SENT } from "./sent.ts"
import { fileHeaders, says } from "./shapes.ts"

const CheckShown = t.Object({ name: t.String(), status: t.String(), detail: t.String(), fix: t.String() })
const StateShown = t.Object({ code: t.String(), since: Instant, remedy: t.String() })
const ModeShown = t.Object({ enabled: t.Boolean(), message: orNull(t.String()), until: orNull(Instant) })

/** What runs, whether it is well, what it says, and the switch that makes others wait. */
export const systemRoutes = (host: Host) => {
  const { system, health, states, maintenance, logLines, diagnostics } = host.services.console

  return host
    .instanceRouter()
    .get("/admin/system", () => system(), {
      instanceAdmin: true,
      query: NoQuery,
      detail: { ...says("Get system information"), ...answers() },
    })
    .get(
      "/admin/system/health",
      async ({ request }) => {
        const checks = await health(request.headers.get("host") ?? undefined)
        const worst = (["fail", "warn"] as const).find((status) => checks.some((check) => check.status === status)) ?? "ok"
        return { status: worst, checks }
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        response: { 200: t.Object({ status: t.String(), checks: t.Array(CheckShown) }) },
        detail: says("List health checks"),
      },
    )
    .get("/admin/system/state", () => ({ states: states(), maintenance: maintenance.shown() }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ states: t.Array(StateShown), maintenance: ModeShown }) },
      detail: says("List current problems"),
    })
    .get("/admin/logs", ({ query }) => ({ data: logLines(query).map(({ at, ...line }) => ({ at: instantText(at), ...line })) }), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...says("List the latest log lines without secrets"), ...answers() },
    })
    .get(
      "/admin/diagnostics.zip",
      async ({ actor }) => {
        const bytes = await diagnostics(actor)
        return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: fileHeaders("application/zip", "diagnostics.zip") })
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        detail: { ...says("Download diagnostics without secrets or personal data"), ...answers("application/zip") },
      },
    )
    .get("/admin/maintenance", () => maintenance.shown(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: ModeShown },
      detail: says("Get the maintenance mode"),
    })
    .post("/admin/maintenance", ({ actor, body }) => maintenance.change(actor, body.value), {
      instanceAdmin: true,
      query: NoQuery,
      body: Sent,
      response: { 200: ModeShown },
      detail: says("Turn maintenance mode on or off", SENT.maintenance),
    })
}

import { Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  etagOf,
  failures,
  field,
  type Job,
  type JobState,
  NoQuery,
  readNothing,
  refuseOtherVersion,
  Sent,
  textOf,
  versionsIn,
} from "#plugin"
import { type Area, operation } from "./area.ts"
import { readJsonOrCsv, SentTable } from "./bodies.ts"
import { readRates, readRatesCsv } from "./rates/rate-input.ts"
import { RatePage, RatesInput, RatesWritten } from "./rates/rates.ts"
import { type SettingsResponse as Settings, SettingsInput, SettingsResponse } from "./settings.ts"

const READ = "revenue:read"
const WRITE = "revenue:settings"
const MAX_RATES_BYTES = 2 * 1024 ** 2

const NO_BODY = { value: null, bytes: new Uint8Array() }

const RecomputeResponse = t.Object(
  {
    job_id: field.id("ID of the job."),
    state: textOf<JobState>({ description: "State of the job." }),
  },
  { title: "RevenueRecompute" },
)

/** Routes for settings, exchange rates and the recomputation that follows from changes of them. */
export function settingsRoutes({ host, settings, rates, recompute }: Area) {
  const tagged = ({ headers }: { headers: Record<string, unknown> }, found: Settings): Settings => {
    headers.etag = etagOf(found)
    return found
  }
  return host
    .siteRouter()
    .get("/revenue/settings", async ({ site, set }) => tagged(set, await settings.get(site)), {
      can: READ,
      query: NoQuery,
      response: { 200: SettingsResponse },
      detail: operation("Get the revenue settings"),
    })
    .put(
      "/revenue/settings",
      async ({ site, set, body, actor, request }) => {
        refuseOtherVersion(await settings.get(site), versionsIn(request.headers.get("if-match")))
        return tagged(set, await settings.put(site, body.value, actor))
      },
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 200: SettingsResponse },
        detail: { ...operation("Replace the revenue settings", SettingsInput), ...failures("version_conflict", "precondition_failed") },
      },
    )
    .get(
      "/revenue/rates",
      ({ site, query, request }) => rates.list(site, query, { organizationId: site.organization_id, signal: request.signal }),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: RatePage },
        detail: operation("List the exchange rates of the site and of the instance"),
      },
    )
    .put(
      "/revenue/rates",
      async ({ site, body, actor }) => {
        const written = body.csv ? readRatesCsv(body.csv) : readRates(body.value)
        await rates.put(site, written, body.csv ? "csv" : "manual", actor)
        return { written: written.length }
      },
      {
        can: { permission: WRITE, read: readJsonOrCsv(MAX_RATES_BYTES) },
        query: NoQuery,
        body: SentTable,
        response: { 200: RatesWritten },
        detail: operation("Write exchange rates, as JSON or as CSV with the columns date, base, quote and rate", RatesInput),
      },
    )
    .post(
      "/revenue/recompute",
      ({ site, actor, ...call }) =>
        host.create(
          { ...call, body: NO_BODY },
          (_, alongside) => recompute.start(site, actor, (statements, job) => alongside(statements, { after: job })),
          ({ id, state }: Job) => ({ status: 202, body: { job_id: id, state } }),
        ),
      {
        can: { permission: WRITE, read: readNothing },
        query: NoQuery,
        response: { 202: RecomputeResponse },
        detail: { ...operation("Convert and attribute all transactions again"), ...failures("recompute_running") },
      },
    )
}

import { Type as t } from "@sinclair/typebox"
import {
  examples,
  failures,
  isRevenueOpen,
  NoQuery,
  operationsOf,
  type PublicSiteRouter,
  pageOf,
  parameter,
  parseId,
  parseListing,
  queryWith,
  readJsonAsSent,
  Sent,
  type Site,
} from "#plugin"
import { type Area, showCohort } from "./area.ts"
import type { ReportCaller } from "./caller.ts"
import { ErasureInput, ErasureSelection, readErasure } from "./erasures.ts"
import { CohortResponse, ErasurePreviewResponse, ErasureResponse, formatErasure, RetentionResponse } from "./responses.ts"
import { RetentionInput } from "./retention.ts"

const PREVIEW =
  "Counts what an erasure of this person would remove, and names the pseudonyms, under which exported rows must be deleted too."
const ERASE = `Erases everything about a person: visits, events, clicks, opens, revenue, and the membership in saved cohorts. The work runs in the background, and is recorded in the
audit log without the person. An unknown person is accepted as well, so that a request can be repeated.`

const ofCohorts = operationsOf("cohorts")
const operation = operationsOf("people")
const readSent = readJsonAsSent(64 << 10)
/** Erasing needs a scope of its own, which no other scope implies. */
const scopes = ["people:erase"] as const

const CohortList = t.Object(
  {
    data: t.Array(CohortResponse, { description: "Cohorts of the page." }),
    has_more: t.Boolean({ description: "Whether more cohorts follow." }),
    next_cursor: t.Optional(
      t.String({ description: "Value for the parameter `cursor` of the next page. Present only if there are more cohorts." }),
    ),
  },
  { title: "CohortList", description: "Page of a list, sorted by id in ascending order." },
)

const RETENTION = `Follows the people who did something for the first time in a period, and counts how many of them came back in each later period. A number
that cannot be known, because the site does not recognize visitors for long enough or the period is not over, is null with a \`state\` that says why.`

const ERASURE = {
  ...{ id: 5, state: "done", requested_at: "2026-11-20T12:00:00Z", finished_at: "2026-11-20T12:00:21Z" },
  note: "Backups keep the data until they are removed, after 35 days at most.",
}
const COHORT = {
  ...{ id: 2, name: "Buyers", description: "", kind: "dynamic", restrict: null },
  definition: { match: "all", conditions: [{ type: "event", value: "purchase" }] },
  ...{ size: 318, pending: 0, coverage: 100, broken: false, identity_min_days: 1 },
  ...{ computed_at: "2026-11-20T03:00:00Z", compute_ms: 14, created_by: 1, version: 1 },
  ...{ created_at: "2026-01-05T10:00:00Z", updated_at: "2026-01-05T10:00:00Z" },
}
const RETENTION_EXAMPLE = {
  identity: { mode: "identified", horizon_days: null, coverage: 100, restricted: false, boundary_days: [] },
  rows: [
    {
      ...{ cohort: "2026-11-18", size: 120 },
      cells: [
        { period: 0, count: 120, rate: 100, state: "complete" },
        { period: 1, count: 31, rate: 25.8, state: "complete" },
      ],
    },
  ],
  average: [
    { period: 0, rate: 100, based_on_people: 120 },
    { period: 1, rate: 25.8, based_on_people: 120 },
  ],
  week_starts_on: "monday",
  suppressed: { below: 5, groups: 0 },
  meta: { range: { from: "2026-11-18", to: "2026-11-18", timezone: "Europe/Berlin" } },
}

/** What programs see of people: nothing about groups that are smaller than the site shows to viewers. */
const programOf = (site: Site, signal: AbortSignal): ReportCaller => ({
  site,
  least: site.settings.min_group,
  seesRevenue: isRevenueOpen(site),
  signal,
})

/** Adds the routes of the public API: cohorts, retention and the erasure of people. */
export function publicRoutes({ erasures, retention, settingOf }: Area, router: PublicSiteRouter) {
  return router
    .get(
      "/cohorts",
      async ({ site, query: given, request }) => {
        const list = `cohorts/${site.id}`
        const listing = parseListing(list, given)
        const setting = await settingOf(site)
        const caller = programOf(site, request.signal)
        const cohorts = [...setting.cohorts.values()].toSorted((a, b) => a.id - b.id)
        const page = await pageOf(list, listing, async ({ after, limit }) => cohorts.filter(({ id }) => id > after).slice(0, limit))
        return { ...page, data: page.data.map((cohort) => showCohort(cohort, caller, setting)) }
      },
      {
        siteScope: "stats:read",
        query: queryWith({
          limit: parameter.number(1, 100, "Maximum number of cohorts. Default: 50."),
          cursor: parameter.text("`next_cursor` of the previous page."),
        }),
        response: { 200: CohortList },
        detail: {
          ...ofCohorts("List cohorts"),
          operationId: "listCohorts",
          ...failures("feature_disabled"),
          ...examples({ response: { data: [COHORT], has_more: false } }),
        },
      },
    )
    .post("/retention", ({ site, body, request }) => retention(programOf(site, request.signal), body.value), {
      siteScope: { scopes: ["stats:read"], read: readSent },
      query: NoQuery,
      body: Sent,
      response: { 200: RetentionResponse },
      detail: {
        ...ofCohorts("Get the retention of visitors", RetentionInput),
        ...{ operationId: "getRetention", description: RETENTION },
        ...failures("feature_disabled", "identity_insufficient", "query_timeout", "broken_reference", "cohort_not_found"),
        ...examples({ request: { cohort_by: "day", periods: 2, from: "2026-11-18", to: "2026-11-18" }, response: RETENTION_EXAMPLE }),
      },
    })
    .post(
      "/people/erasure-preview",
      ({ site, body, request }) => erasures.preview(site, readErasure(body.value, ErasureSelection), request.signal),
      {
        siteScope: { scopes, reads: true, read: readSent },
        query: NoQuery,
        body: Sent,
        response: { 200: ErasurePreviewResponse },
        detail: {
          ...operation("Preview the erasure of a person", ErasureSelection),
          ...{ operationId: "previewPersonErasure", description: PREVIEW },
          ...failures("feature_disabled", "query_timeout"),
          ...examples({
            request: { user_id: "customer-4711" },
            response: {
              ...{ visitors: ["51be07c93fd8a2e4"], visits: 12, events: 41 },
              ...{ first_seen: "2026-09-02T07:41:09Z", last_seen: "2026-11-20T10:03:47Z" },
            },
          }),
        },
      },
    )
    .post(
      "/people/erasures",
      async ({ site, actor, body, status }) =>
        status(202, formatErasure(await erasures.start(site, readErasure(body.value, ErasureInput), { actor, userId: null }))),
      {
        siteScope: { scopes, read: readSent },
        query: NoQuery,
        body: Sent,
        response: { 202: ErasureResponse },
        detail: {
          ...operation("Erase a person", ErasureInput),
          ...{ operationId: "erasePerson", description: ERASE },
          ...failures("feature_disabled"),
          ...examples({
            request: { user_id: "customer-4711", confirm: true },
            response: { ...ERASURE, state: "queued", finished_at: null },
          }),
        },
      },
    )
    .get("/people/erasures/:id", async ({ site, params }) => formatErasure(await erasures.get(site, parseId(params.id) ?? 0)), {
      siteScope: {
        scopes,
        finds: (site: Site, { params }: { params: Record<string, string | undefined> }) => erasures.get(site, parseId(params.id) ?? 0),
      },
      query: NoQuery,
      response: { 200: ErasureResponse },
      detail: {
        ...operation("Get the progress of an erasure"),
        operationId: "getPersonErasure",
        ...failures("feature_disabled"),
        ...examples({ response: { ...ERASURE, found: { visits: 12, events: 41, clicks: 0, opens: 0, transactions: 1 } } }),
      },
    })
}

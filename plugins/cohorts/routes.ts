import { type TSchema, Type as t } from "@sinclair/typebox"
import {
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  Paged,
  pageOfAll,
  parameter,
  parseId,
  queryWith,
  readNothing,
  readPaging,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import type { ACTIVITY_ARGUMENTS } from "./activity.ts"
import { type Area, showCohort } from "./area.ts"
import { type ReportCaller, sightOf } from "./caller.ts"
import type { Cohort } from "./cohort.ts"
import { EraseInput, readErasure } from "./erasures.ts"
import { EvaluateInput, refuseRevenue } from "./evaluation.ts"
import { CohortInput, CohortPatch, FreezeInput, readFreeze } from "./input.ts"
import { LEADER_SORTS, MEMBER_SORTS } from "./people.ts"
import {
  CohortResponse,
  EngagementResponse,
  ErasureResponse,
  EvaluationResponse,
  formatCohort,
  formatErasure,
  HistogramResponse,
  LeaderResponse,
  MemberResponse,
  PersonResponse,
  RetentionResponse,
} from "./responses.ts"
import { RetentionInput } from "./retention.ts"

const ACTIVITY: Record<(typeof ACTIVITY_ARGUMENTS)[number], TSchema> = {
  window: parameter.choice(["7", "28"], "Days of the window. Default: 28."),
  as_of: parameter.text("Last day of the window, as YYYY-MM-DD. Default: yesterday."),
  cohort_id: parameter.number(1, Number.MAX_SAFE_INTEGER, "Counts only people of this cohort."),
  filters: parameter.text("Filters on visits, as a JSON string."),
  restrict: parameter.choice(["identified"], "Counts only people with a user ID or device ID."),
}

const operation = operationsOf("cohorts")
const PEOPLE_FAILURES = ["identity_insufficient", "query_timeout", "broken_reference", "cohort_not_found"] as const
const DEFINITION_FAILURES = ["too_many_conditions", "invalid_definition", "broken_reference", "cohort_cycle"] as const

/** Routes for cohorts, retention, power users, engagement and the erasure of people. */
export function cohortRoutes(area: Area) {
  const { host, writes, evaluation, frozen, settingOf } = area
  type Params = Record<string, string | undefined>
  const finding =
    (get: (site: Site, id: string | undefined) => Promise<unknown>) =>
    async ({ id }: Params, { site }: { site?: Site }): Promise<void> =>
      void (await get(site!, id)) // all routes are below a site
  const read = { permission: "cohorts:read", find: finding(writes.get) }
  const write = { permission: "cohorts:write", find: finding(writes.get) }

  const show = async (cohort: Cohort, caller: Sight) => showCohort(cohort, caller, await settingOf(caller.site))
  const tagged = async ({ headers }: { headers: Record<string, unknown> }, cohort: Cohort, caller: Sight) => {
    headers.etag = etagOf(cohort)
    return show(cohort, caller)
  }

  return host
    .siteRouter()
    .post("/cohorts/evaluate", ({ body, ...call }) => evaluation.evaluate(callerOf(call), body.value), {
      can: "cohorts:read",
      query: NoQuery,
      body: Sent,
      response: { 200: EvaluationResponse },
      detail: {
        ...operation("Evaluate a definition or a cohort, without storing anything", EvaluateInput),
        ...failures(...PEOPLE_FAILURES, ...DEFINITION_FAILURES),
      },
    })
    .get(
      "/cohorts",
      async ({ site, permissions, query: given }) => {
        const paging = readPaging("cohorts", given, ["q"], (reader) => reader.text("q", { min: 1, max: 120 })?.toLowerCase())
        const setting = await settingOf(site)
        const found = [...setting.cohorts.values()].filter(
          ({ name, description }) => paging.filters === undefined || `${name}\n${description}`.toLowerCase().includes(paging.filters),
        )
        const page = await pageOfAll(
          paging,
          found.toSorted((a, b) => a.id - b.id),
        )
        return { ...page, data: page.data.map((cohort) => showCohort(cohort, sightOf(site, permissions), setting)) }
      },
      {
        can: "cohorts:read",
        query: queryWith({ q: parameter.text("Text that the name or the description contains.") }),
        response: { 200: Paged(CohortResponse) },
        detail: operation("List cohorts"),
      },
    )
    .post(
      "/cohorts",
      ({ site, actor, permissions, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            writes.create(site, body, {
              actor,
              userId: call.user.id,
              seesRevenue: permissions.has("revenue:read"),
              alongside: (statements, cohort) => alongside(statements, { after: cohort }),
            }),
          (cohort: Cohort) => createdAt(site, cohort),
        ),
      {
        can: "cohorts:write",
        query: NoQuery,
        body: Sent,
        response: { 201: CohortResponse },
        detail: { ...operation("Create a cohort", CohortInput), ...failures(...DEFINITION_FAILURES, "cohort_exists", "limit_reached") },
      },
    )
    .get(
      "/cohorts/:id",
      async ({ site, params, set, permissions }) => tagged(set, await writes.get(site, params.id), sightOf(site, permissions)),
      {
        can: read,
        query: NoQuery,
        response: { 200: CohortResponse },
        detail: { ...operation("Get a cohort"), ...failures("cohort_not_found") },
      },
    )
    .patch(
      "/cohorts/:id",
      async ({ site, params, actor, body, request, set, permissions }) => {
        const expected = versionsIn(request.headers.get("if-match"))
        return tagged(
          set,
          await writes.update(site, params.id, body.value, { actor, seesRevenue: permissions.has("revenue:read"), expected }),
          sightOf(site, permissions),
        )
      },
      {
        can: write,
        query: NoQuery,
        body: Sent,
        response: { 200: CohortResponse },
        detail: {
          ...operation("Update a cohort", CohortPatch),
          ...failures(
            "cohort_not_found",
            "cohort_exists",
            "static_cohort",
            "version_conflict",
            "precondition_failed",
            ...DEFINITION_FAILURES,
          ),
        },
      },
    )
    .delete(
      "/cohorts/:id",
      async ({ site, params, actor, request, query: given, status }) => {
        const force = (given as { force?: string }).force === "true"
        await writes.remove(site, params.id, { actor, expected: versionsIn(request.headers.get("if-match")), force })
        return status(204, undefined)
      },
      {
        can: { ...write, read: readNothing },
        query: t.Object(
          {
            force: t.Optional(
              t.Union([t.Literal("true"), t.Literal("false")], { description: "Whether to delete a cohort that others refer to." }),
            ),
          },
          { additionalProperties: false },
        ),
        detail: {
          ...operation("Delete a cohort, which can be restored for 30 days"),
          ...failures("cohort_not_found", "in_use", "precondition_failed"),
        },
      },
    )
    .post(
      "/cohorts/:id/restore",
      async ({ site, params, actor, set, permissions }) =>
        tagged(set, await writes.restore(site, params.id, actor), sightOf(site, permissions)),
      {
        can: { permission: "cohorts:write", find: finding(writes.getDeleted), read: readNothing },
        query: NoQuery,
        response: { 200: CohortResponse },
        detail: {
          ...operation("Restore a deleted cohort"),
          ...failures("cohort_not_found", "cohort_exists", "cohort_cycle", "too_many_conditions", "limit_reached"),
        },
      },
    )
    .post(
      "/cohorts/:id/refresh",
      async ({ site, params, set, permissions, request }) => {
        const cohort = await writes.get(site, params.id)
        refuseRevenue(cohort.definition, sightOf(site, permissions), await settingOf(site))
        await evaluation.refresh(site, cohort, request.signal)
        return tagged(set, await writes.get(site, params.id), sightOf(site, permissions))
      },
      {
        can: { ...read, read: readNothing },
        query: NoQuery,
        response: { 200: CohortResponse },
        detail: { ...operation("Compute the size of a cohort again"), ...failures(...PEOPLE_FAILURES) },
      },
    )
    .post(
      "/cohorts/:id/freeze",
      async ({ site, params, actor, ...call }) => {
        const source = await writes.get(site, params.id)
        const [sight, setting] = [sightOf(site, call.permissions), await settingOf(site)]
        refuseRevenue(source.definition, sight, setting)
        return host.create(
          call,
          async (body, alongside) => {
            const { name } = readFreeze(body)
            const target = await writes.createStatic(site, source, name, {
              actor,
              userId: call.user.id,
              alongside: (statements, cohort) => alongside(statements, { after: cohort }),
            })
            await frozen.fill(site, source, target, call.request.signal).catch(async (error) => {
              await writes.discard(target)
              throw error
            })
            return writes.get(site, String(target.id))
          },
          (cohort: Cohort) => ({ ...createdAt(site, cohort), body: showCohort(cohort, sight, setting) }),
        )
      },
      {
        can: write,
        query: NoQuery,
        body: Sent,
        response: { 201: CohortResponse },
        detail: {
          ...operation("Copy a cohort with the people it has now", FreezeInput),
          ...failures(...PEOPLE_FAILURES, "cohort_exists", "limit_reached"),
        },
      },
    )
    .get(
      "/cohorts/:id/members",
      async ({ params, query: given, ...call }) => area.people.members(callerOf(call), await writes.get(call.site, params.id), given),
      {
        can: { permission: "people:read", find: finding(writes.get) },
        query: queryWith({ sort: parameter.choice(MEMBER_SORTS, "Order, largest or latest first. Default: `last_seen`.") }),
        response: { 200: Paged(MemberResponse) },
        detail: { ...operation("List the people of a cohort"), ...failures(...PEOPLE_FAILURES) },
      },
    )
    .post("/retention", ({ body, ...call }) => area.retention(callerOf(call), body.value), {
      can: "cohorts:read",
      query: NoQuery,
      body: Sent,
      response: { 200: RetentionResponse },
      detail: { ...operation("Report how many people came back", RetentionInput), ...failures(...PEOPLE_FAILURES) },
    })
    .get("/power-users/histogram", ({ query: given, ...call }) => area.activity.histogram(callerOf(call), given), {
      can: "cohorts:read",
      query: queryWith(ACTIVITY),
      response: { 200: HistogramResponse },
      detail: { ...operation("Report on how many days people are active"), ...failures(...PEOPLE_FAILURES) },
    })
    .get("/power-users", ({ query: given, ...call }) => area.people.leaders(callerOf(call), given), {
      can: "people:read",
      query: queryWith({ ...ACTIVITY, sort: parameter.choice(LEADER_SORTS, "Order, largest or latest first. Default: `active_days`.") }),
      response: { 200: Paged(LeaderResponse) },
      detail: { ...operation("List the most active people"), ...failures(...PEOPLE_FAILURES) },
    })
    .get("/power-users/:person", ({ params, query: given, ...call }) => area.people.person(callerOf(call), params.person, given), {
      can: "people:read",
      query: queryWith({
        limit: parameter.number(1, 200, "Visits per page. Default: 50."),
        cursor: parameter.text("Cursor of the next page: `recent.next_cursor` of the previous page."),
        window: ACTIVITY.window,
        as_of: ACTIVITY.as_of,
      }),
      response: { 200: PersonResponse },
      detail: { ...operation("Get a person with their visits"), ...failures("person_not_found", "query_timeout") },
    })
    .get("/engagement", ({ query: given, ...call }) => area.activity.engagement(callerOf(call), given), {
      can: "cohorts:read",
      query: queryWith({
        from: parameter.text("First day of the range, as YYYY-MM-DD. Default: 29 days before today."),
        to: parameter.text("Last day of the range, as YYYY-MM-DD. Default: today."),
        interval: parameter.choice(["auto", "day", "week", "month"], "Length of a point. Default: `day`."),
        metrics: parameter.text("Metrics, separated by commas. Default: all."),
        cohort_id: ACTIVITY.cohort_id,
        filters: ACTIVITY.filters,
        restrict: ACTIVITY.restrict,
      }),
      response: { 200: EngagementResponse },
      detail: { ...operation("Report active, new and returning people over time"), ...failures(...PEOPLE_FAILURES) },
    })
    .post(
      "/people/erase",
      async ({ site, actor, user, body, status }) =>
        status(202, formatErasure(await area.erasures.start(site, readErasure(body.value, EraseInput), { actor, userId: user.id }))),
      {
        can: "people:erase",
        query: NoQuery,
        body: Sent,
        response: { 202: ErasureResponse },
        detail: operation("Erase a person", EraseInput),
      },
    )
    .get("/people/erasures/:id", async ({ site, params }) => formatErasure(await area.erasures.get(site, parseId(params.id) ?? 0)), {
      can: "people:erase",
      query: NoQuery,
      response: { 200: ErasureResponse },
      detail: { ...operation("Get the state of an erasure"), ...failures("erasure_not_found") },
    })
    .get(
      "/people/:person/export",
      async ({ params, actor, ...call }) => {
        const { site } = call
        const archive = await area.people.archive(callerOf(call), params.person)
        await host.audit.writeAlone(actor, {
          action: "cohorts.person.export",
          target: { type: "person", id: 0, label: params.person ?? "" },
          organizationId: site.organization_id,
          siteId: site.id,
        })
        const headers = { "content-type": "application/zip", "content-disposition": `attachment; filename="person-${params.person}.zip"` }
        return new Response(archive, { headers })
      },
      {
        can: "people:read",
        query: NoQuery,
        detail: { ...operation("Download everything about a person as a zip archive"), ...failures("person_not_found", "query_timeout") },
      },
    )
}

/** A new cohort has no broken reference and no size yet. */
const createdAt = (site: Site, cohort: Cohort) => ({
  location: `/api/private/sites/${site.id}/cohorts/${cohort.id}`,
  etag: etagOf(cohort),
  body: formatCohort(cohort, { isBroken: false, hidesSize: true }),
})

type Sight = ReturnType<typeof sightOf>
interface SiteCall {
  site: Site
  permissions: ReadonlySet<string>
  user: { id: number }
  request: Request
}
const callerOf = ({ site, permissions, user, request }: SiteCall): ReportCaller => ({
  ...sightOf(site, permissions),
  userId: user.id,
  signal: request.signal,
})

import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AppError, refuseFaults } from "../../../domain/error.ts"
import type { Goal } from "../../../domain/goal.ts"
import { parseHost } from "../../../domain/host.ts"
import { type ApiKey, hasScope, type Scope } from "../../../domain/key.ts"
import { PLAUSIBLE, QUERY, THINGS } from "../../../domain/limits.ts"
import { fault, inDocumentOrder, inspect, isObject } from "../../../domain/shape.ts"
import type { Site } from "../../../domain/site.ts"
import { type Audit, definitionEntry, recorded, shareEntry, siteEntry } from "../../../services/audit/audit.ts"
import type { Goals } from "../../../services/definitions/goals.ts"
import type { Alongside } from "../../../services/definitions/site-things.ts"
import { placedPage } from "../../../services/lists/both-ways.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import { createExclusive } from "../../../services/runtime/tasks.ts"
import type { Shares } from "../../../services/sharing/shares.ts"
import type { Sites } from "../../../services/sites/sites.ts"
import type { Insights } from "../../../services/stats/insights.ts"
import { readNothing, type SentJson } from "../../../web/body.ts"
import type { ApiKeyAuth } from "../../auth.ts"
import { type Detail, describeRoute } from "../../openapi/route.ts"
import { expectedVersions, NoQuery, parameter, Sent } from "../requests.ts"
import { parameters, reportOptions } from "../stats.ts"
import { readForm, takesForm } from "./form.ts"
import {
  DELETED,
  Deleted,
  DomainInput,
  GoalFields,
  GoalShape,
  listOf,
  NoFields,
  OwnGoalShape,
  ofSite,
  ShareFields,
  ShareShape,
  SiteInput,
  SiteShape,
  Team,
  WholeSite,
} from "./site-schemas.ts"

export interface PlausibleSitesOptions {
  sites: Pick<Sites, "create" | "update" | "remove" | "named" | "listVisible">
  goals: Pick<Goals, "create" | "get" | "list" | "remove">
  shares: Pick<Shares, "create" | "list">
  organizations: Pick<Organizations, "get">
  insights: Pick<Insights, "properties">
  audit: Audit
  /** Returns the public URL of the instance. */
  publicUrl(): string
}

const PAGED = {
  after: parameter({ type: "string", description: "Cursor `after` of another page, for the page that follows it." }),
  before: parameter({ type: "string", description: "Cursor `before` of another page, for the page before it." }),
  limit: parameter({ type: "integer", ...bounds(), description: "Maximum number of items." }),
}
const SITE_NAME = parameter({ type: "string", description: "Host of the site, or its id.", examples: ["shop.example"] }, true)
const SITE_IN_QUERY = parameter({ type: "string", description: "Host of the site, instead of the field of the body." })
const TEAM = parameter({ type: "string", description: "Id of the organization of the key." })

function bounds() {
  const { min, max, default: usual } = PLAUSIBLE.listed
  return { minimum: min, maximum: max, default: usual }
}

const READ_SITES = ["sites:read", "stats:read"] as const
const READ_GOALS = ["goals:read", "stats:read"] as const
const writes = (...scopes: readonly Scope[]) => ({ scopes, read: readForm })
const operation = (operationId: string, summary: string, more: Detail = {}) =>
  describeRoute({ operationId, summary, tags: ["plausible"], ...more })
const NAMED: Pick<Detail, "x-failures"> = { "x-failures": ["site_not_found", "validation_failed"] }

/** Creates the routes of Plausible's sites API, at the paths of its clients. */
export function plausibleSiteRoutes(auth: ApiKeyAuth, options: PlausibleSitesOptions) {
  const { sites, goals, shares, organizations, insights, audit, publicUrl } = options

  const oneAtATime = createExclusive()
  return new Elysia({ prefix: "/api/v1/sites" })
    .use(auth)
    .get(
      "",
      async ({ apiKey, query }) => {
        const page = placedPage("plausible/sites", query, ["team_id"])
        if (isOtherTeam(query.team_id, apiKey)) refuseParameter("team_id", "invalid_choice", OTHER_TEAM)
        const { rows, meta } = page.of(await sites.listVisible(apiKey, { after: 0, limit: Number.MAX_SAFE_INTEGER }))
        return { sites: rows.map(toSite), meta }
      },
      {
        scope: { scopes: READ_SITES },
        query: parameters({ ...PAGED, team_id: TEAM }),
        response: { 200: listOf("sites", SiteShape) },
        detail: operation("listPlausibleSites", "List sites", { "x-failures": ["invalid_cursor"] }),
      },
    )
    .post(
      "",
      async ({ apiKey, actor, body }) => {
        const { domain, timezone, team_id } = read(SiteInput, body)
        if (isOtherTeam(team_id, apiKey)) refuseFaults([fault("/team_id", "invalid_choice", OTHER_TEAM)])
        await refuseTaken(sites, apiKey, domain)
        const input = { name: domain.slice(0, THINGS.siteNameChars), hosts: [domain], ...(timezone && { timezone }) }
        const site = await renamed({ hosts: "domain" }, () =>
          sites.create(apiKey.organization_id, input, recorded(audit, actor, siteEntry("sites.site.create"))),
        )
        return toSite(site)
      },
      {
        scope: { ...writes("sites:write"), unrestricted: true },
        query: NoQuery,
        body: Sent,
        response: { 200: SiteShape },
        detail: operation("createPlausibleSite", "Create a site", { ...takesForm(SiteInput), "x-failures": ["limit_reached"] }),
      },
    )
    .get(
      "/teams",
      async ({ apiKey, query }) => {
        const page = placedPage("plausible/teams", query)
        const { rows, meta } = page.of([(await organizations.get(apiKey.organization_id))!]) // a key has one
        return { teams: rows.map(({ id, name }) => ({ id: String(id), name, api_available: true })), meta }
      },
      {
        scope: { scopes: READ_SITES },
        query: parameters(PAGED),
        response: { 200: listOf("teams", Team) },
        detail: operation("listPlausibleTeams", "List the organization of the key as a team", { "x-failures": ["invalid_cursor"] }),
      },
    )
    .get(
      "/goals",
      async ({ apiKey, query }) => {
        const page = placedPage("plausible/goals", query, ["site_id"])
        const site = await sites.named(apiKey, siteName(query.site_id))
        const { rows, meta } = page.of(await goals.list(site, { after: 0, limit: THINGS.goals }))
        return { goals: rows.map(toGoal), meta }
      },
      {
        scope: { scopes: READ_GOALS },
        query: parameters({ site_id: SITE_NAME, ...PAGED }),
        response: { 200: listOf("goals", GoalShape) },
        detail: operation("listPlausibleGoals", "List the goals of a site", {
          "x-failures": ["site_not_found", "invalid_cursor", "validation_failed"],
        }),
      },
    )
    .put(
      "/goals",
      async ({ apiKey, actor, body }) => {
        const { site: name, ...fields } = readNamed(GoalFields, body)
        const site = await sites.named(apiKey, name)
        const alongside = recorded(audit, actor, definitionEntry("create", "goal", site))
        return { domain: domainOf(site), ...toGoal(await findOrCreateGoal(goals, site, fields, alongside)) }
      },
      {
        scope: writes("goals:write"),
        query: NoQuery,
        body: Sent,
        response: { 200: OwnGoalShape },
        detail: operation("putPlausibleGoal", "Find or create a goal", {
          ...takesForm(ofSite(GoalFields)),
          "x-failures": ["site_not_found", "goal_exists", "limit_reached"],
        }),
      },
    )
    .delete(
      "/goals/:goal_id",
      async ({ apiKey, actor, params, body, query, request }) => {
        const given = query.site_id === undefined ? readNamed(NoFields, body).site : siteName(query.site_id)
        const site = await sites.named(apiKey, given)
        const alongside = recorded(audit, actor, definitionEntry("delete", "goal", site))
        await goals.remove(site, params.goal_id, { expected: expectedVersions(request), alongside })
        return DELETED
      },
      {
        scope: writes("goals:write"),
        query: t.Object({ site_id: SITE_IN_QUERY }, { additionalProperties: false }),
        body: Sent,
        response: { 200: Deleted },
        detail: operation("deletePlausibleGoal", "Delete a goal", { ...takesForm(ofSite(NoFields)), "x-failures": ["site_not_found"] }),
      },
    )
    .put(
      "/shared-links",
      async ({ apiKey, actor, body }) => {
        const { site: named, name } = readNamed(ShareFields, body)
        const site = await sites.named(apiKey, named)
        // One after another, because two requests for a new name must get one view.
        const { slug } = await oneAtATime.run(async () => {
          const found = (await shares.list(site, { after: 0, limit: THINGS.shares })).find((share) => share.name === name)
          return found ?? shares.create(site, { name }, apiKey.created_by, recorded(audit, actor, shareEntry("create", site)))
        })
        return { name, url: `${publicUrl()}/share/s/${slug}` }
      },
      {
        scope: writes("shares:write", "sites:write"),
        query: NoQuery,
        body: Sent,
        response: { 200: ShareShape },
        detail: operation("putPlausibleSharedLink", "Find or create a shared view", {
          ...takesForm(ofSite(ShareFields)),
          "x-failures": ["site_not_found", "sharing_disabled", "password_required", "limit_reached"],
        }),
      },
    )
    .get(
      "/:domain",
      async ({ apiKey, site, request }) => {
        const properties = hasScope(apiKey, ["stats:read"]) ? await propertyKeys(insights, site, request) : []
        return { ...toSite(site), custom_properties: properties }
      },
      {
        siteScope: { scopes: READ_SITES },
        query: NoQuery,
        response: { 200: WholeSite },
        detail: operation("getPlausibleSite", "Get a site", { "x-failures": ["site_not_found", "validation_failed", "query_timeout"] }),
      },
    )
    .put(
      "/:domain",
      async ({ apiKey, actor, site, body }) => {
        const { domain } = read(DomainInput, body)
        await refuseTaken(sites, apiKey, domain, site)
        const [, ...others] = site.hosts
        const hosts = [domain, ...others.filter((host) => host !== domain)]
        const name = site.name === domainOf(site) ? { name: domain } : {}
        const alongside = recorded(audit, actor, siteEntry("sites.site.update"))
        return toSite(await renamed({ hosts: "domain" }, () => sites.update(site.id, { hosts, ...name }, { alongside })))
      },
      {
        siteScope: writes("sites:write"),
        query: NoQuery,
        body: Sent,
        response: { 200: SiteShape },
        detail: operation("updatePlausibleSite", "Change the host of a site", { ...takesForm(DomainInput), ...NAMED }),
      },
    )
    .delete(
      "/:domain",
      async ({ actor, site, request }) => {
        const alongside = recorded(audit, actor, siteEntry("sites.site.delete"))
        await sites.remove(site.id, { expected: expectedVersions(request), alongside })
        return DELETED
      },
      {
        siteScope: { scopes: ["sites:write"], unrestricted: true, read: readNothing },
        query: NoQuery,
        response: { 200: Deleted },
        detail: operation("deletePlausibleSite", "Delete a site", {
          ...NAMED,
          description: "The site can be restored in the dashboard for 30 days.",
        }),
      },
    )
}

/** Reads a form by its schema. Throws `validation_failed` with all faults at once. */
function read<T extends TObject>(schema: T, { value }: SentJson): Static<T> {
  const { fields, faults } = inspect(schema, value)
  refuseFaults(faults)
  return fields as Static<T> // complete, because there is no fault
}

/** Reads a form that names its site, by host or id, and has the fields of a schema. */
function readNamed<T extends TObject>(schema: T, { value }: SentJson): Static<T> & { site: string } {
  const { site_id: site } = isObject(value) ? value : {}
  const isName = Number.isSafeInteger(site) || (typeof site === "string" && site !== "")
  const missing = fault("/site_id", site === undefined || site === "" ? "required" : "invalid_type", "must be the host or id of a site")
  const { fields, faults } = inspect(schema, value)
  refuseFaults(inDocumentOrder([...faults, ...(isName ? [] : [missing])], value))
  return { ...(fields as Static<T>), site: String(site) } // complete, because there is no fault
}

function siteName(name: unknown): string {
  if (typeof name === "string" && name !== "") return name
  return refuseParameter("site_id", name === undefined ? "required" : "too_short", "is required")
}

const OTHER_TEAM = "must be the id of the organization of the key"
const isOtherTeam = (team: unknown, { organization_id }: ApiKey): boolean => team !== undefined && team !== String(organization_id)

function refuseParameter(name: string, code: string, predicate: string): never {
  throw new AppError("invalid_query", "1 parameter is not valid.", { errors: [fault(`/${name}`, code, predicate)] })
}

/** Refuses the host of another site of the key, because it would name both. */
async function refuseTaken(sites: PlausibleSitesOptions["sites"], key: ApiKey, domain: string, itself?: Site): Promise<void> {
  const host = parseHost(domain)
  const all = await sites.listVisible(key, { after: 0, limit: Number.MAX_SAFE_INTEGER })
  if (host !== undefined && all.some(({ id, hosts }) => id !== itself?.id && hosts.includes(host)))
    refuseFaults([fault("/domain", "not_unique", "is already the host of another site")])
}

/** Runs a write whose faults name fields of our API, and renames these to the fields of the form. */
async function renamed<Result>(names: Readonly<Record<string, string>>, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== "validation_failed") throw thrown
    const errors = (thrown.members.errors ?? []).map((found) => {
      const [, field = ""] = found.pointer.split("/")
      const name = names[field] ?? field
      return { ...found, pointer: `/${name}`, detail: found.detail.replace(/^(Item \d+ of )?\w+/, name) }
    })
    throw new AppError("validation_failed", thrown.message, { ...thrown.members, errors })
  }
}

async function findOrCreateGoal(
  goals: PlausibleSitesOptions["goals"],
  site: Site,
  fields: Static<typeof GoalFields>,
  alongside: Alongside<Goal>,
): Promise<Goal> {
  const { goal_type: kind, display_name } = fields
  const name = kind === "event" ? "event_name" : "page_path"
  const given = fields[name]
  if (given === undefined) return refuseField(name, `is required with goal_type ${kind}`)
  const isPattern = kind === "page" && given.includes("*")
  const value = isPattern ? given.replace(/\*+/g, "*") : given
  const match = isPattern ? "wildcard" : "exact"
  try {
    const input = { kind, match, value, ...(display_name !== undefined && { name: display_name }) }
    return await renamed({ value: name, name: "display_name" }, () => goals.create(site, input, alongside))
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== "goal_exists") throw thrown
    const found = await goals.get(site, thrown.members.existing_id as number) // goal_exists always names it
    if (found.kind === kind && found.match === match && found.value === value) return found
    throw thrown
  }
}

function refuseField(name: string, predicate: string): never {
  refuseFaults([fault(`/${name}`, "required", predicate)])
  throw new Error("unreachable") // the line above has thrown
}

const toSite = (site: Site): Static<typeof SiteShape> => ({ domain: domainOf(site), timezone: site.timezone })

/** Returns the keys of properties that events of the site have had lately. */
async function propertyKeys(insights: PlausibleSitesOptions["insights"], site: Site, request: Request): Promise<string[]> {
  const { data } = await insights.properties(site, { limit: String(QUERY.propertyKeys.max) }, reportOptions(request))
  return data.map(({ property }) => property)
}

/** Returns the host by which this API names a site: the first one, without the asterisk of one for all subdomains. */
const domainOf = ({ hosts }: Site): string => hosts[0]!.replace(/^\*\./, "")

function toGoal({ id, kind, match, value, name }: Goal): Static<typeof GoalShape> {
  const pattern = { exact: value, prefix: `${value}*`, contains: `*${value}*`, wildcard: value }[match]
  const isEvent = kind === "event"
  return {
    ...{ id: String(id), goal_type: kind, display_name: name },
    ...{ event_name: isEvent ? pattern : null, page_path: isEvent ? null : pattern },
  }
}

import { createHash } from "node:crypto"
import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AppError, type Fault } from "../../domain/error.ts"
import type { ApiKey } from "../../domain/key.ts"
import { COLLECT, GOATCOUNTER_HITS } from "../../domain/limits.ts"
import { fault } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { ServerEventCollector } from "../../ingest/collect/collect.ts"
import { goatcounterPage } from "../../ingest/payloads/goatcounter.ts"
import type { Sites } from "../../services/sites/sites.ts"
import { readJson } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { parameter, takes } from "./requests.ts"

const Hit = t.Object(
  {
    path: t.String({ minLength: 1, description: "Page, or name of the event." }),
    title: t.Optional(t.String({ description: "Title of the page." })),
    event: t.Optional(t.Boolean({ description: "Whether this is an event. Default: false." })),
    ref: t.Optional(t.String({ description: "URL of the referring page." })),
    query: t.Optional(t.String({ description: "Query string of the page, from which campaigns are read." })),
    bot: t.Optional(t.Integer({ description: "Code of a bot. From 150 on, the hit is dropped." })),
    user_agent: t.Optional(t.String({ description: "User agent of the visitor. Never stored." })),
    ip: t.Optional(t.String({ description: "IP address of the visitor. Never stored." })),
    session: t.Optional(t.String({ description: "Your id of the visit, for hits without `ip` and `user_agent`. Never stored." })),
    created_at: t.Optional(t.String({ format: "date-time", description: "Time of the hit. Default: now." })),
    size: t.Optional(t.Unknown({ description: "Size of the screen. Accepted and ignored." })),
    location: t.Optional(t.String({ description: "Country. Accepted and ignored: it follows from `ip`." })),
  },
  { title: "GoatCounterHit" },
)
const CountInput = t.Object(
  {
    no_sessions: t.Optional(
      t.Boolean({ description: "Accept hits without `session` and without `ip` and `user_agent`. Those of a day count as one visitor." }),
    ),
    filter: t.Optional(t.Array(t.String(), { description: "Accepted and ignored: the rules of the site always apply." })),
    hits: t.Array(Hit, { minItems: 1, maxItems: GOATCOUNTER_HITS, description: "Pageviews and events." }),
  },
  { title: "GoatCounterCount" },
)
const Counted = t.Object({ status: t.Literal("ok", { description: "Always `ok`." }) }, { title: "GoatCounterCounted" })
const COUNT = t.Object({ hits: t.Array(t.Unknown(), { minItems: 1, maxItems: GOATCOUNTER_HITS }) }, { additionalProperties: true })

export interface GoatCounterOptions {
  sites: Pick<Sites, "named" | "listVisible">
  collector: ServerEventCollector
}

/** Creates the route to which servers send hits as they send them to GoatCounter. */
export const goatcounterRoutes = (auth: ApiKeyAuth, { sites, collector }: GoatCounterOptions) =>
  new Elysia({ prefix: "/api/v0" }).use(auth).post(
    "/count",
    async ({ apiKey, query, body, set, status }) => {
      const site = await siteOf(sites, apiKey, query.site)
      const { no_sessions, hits } = body as { no_sessions?: unknown; hits: unknown[] }
      const read = hits.map((hit, i) => readHit(hit, i, no_sessions === true))
      const events = read.flatMap((one) => ("event" in one ? [one] : []))
      const answer =
        events.length > 0
          ? await collector.collectServerEvents(
              site,
              events.map(({ event }) => event),
            )
          : undefined
      const rejected = (answer?.rejected ?? []).map(({ index, code, detail }) => hitFault(events[index]!.index, code, detail))
      const faults = [...read.flatMap((one) => ("fault" in one ? [one.fault] : [])), ...rejected]
      const bots = read.flatMap((one) => ("bot" in one ? [one.bot] : []))
      const dropped = [...bots, ...(answer?.dropped ?? []).map(({ index }) => events[index]!.index)].sort((a, b) => a - b)
      if (dropped.length > 0) set.headers["x-goatcounter-filter"] = dropped.join(", ")
      if (faults.length > 0) throw invalidHits(faults)
      return status(202, { status: "ok" as const })
    },
    {
      scope: { scopes: ["events:write"], read: readJson(COLLECT.serverBodyBytes) },
      query: t.Object(
        { site: t.Optional(parameter({ type: "string", description: "Host or id of the site. Default: the only site of the key." })) },
        { additionalProperties: false },
      ),
      body: COUNT,
      response: { 202: Counted },
      detail: describeRoute({
        operationId: "countGoatCounter",
        summary: "Count pageviews and events at the path used by clients of GoatCounter",
        description:
          "Valid hits are stored even if others are not. The response to invalid ones lists them by index; do not send the others again. Hits that the rules of the site drop are listed in the header `X-Goatcounter-Filter`.",
        tags: ["events"],
        ...takes(CountInput),
        "x-failures": ["site_not_found", "invalid_event"],
      }),
    },
  )

/** Returns the site of the hits: the named one, or the only one of the key. GoatCounter has one key per site. */
async function siteOf(sites: GoatCounterOptions["sites"], key: ApiKey, name: unknown): Promise<Site> {
  if (typeof name === "string") return sites.named(key, name)
  const [site, ...others] = await sites.listVisible(key, { after: 0, limit: 2 })
  if (site && others.length === 0) return site
  const errors = [fault("/site", "required", "is required, because the key does not have exactly one site")]
  throw new AppError("invalid_query", "1 parameter is not valid.", { errors })
}

type ReadHit = { index: number; event: Record<string, unknown> } | { fault: Fault } | { bot: number }

/** The lowest code with which GoatCounter's clients report a bot. */
const FIRST_BOT = 150

/** Converts a hit to an event of a server, whose values are checked when it is collected. */
function readHit(hit: unknown, index: number, noSessions: boolean): ReadHit {
  if (typeof hit !== "object" || hit === null || Array.isArray(hit)) return { fault: hitFault(index, "invalid_type", "must be an object") }
  const { path, title, event, ref, query, bot, user_agent, ip, session, created_at } = hit as Record<string, unknown>
  if (typeof path !== "string" || path === "") return { fault: hitFault(index, "required", "must have a path") }
  if (typeof bot === "number" && bot >= FIRST_BOT) return { bot: index }
  const hasVisitor = isText(ip) && isText(user_agent)
  if (!hasVisitor && !isText(session) && !noSessions)
    return { fault: hitFault(index, "required", "must have a session, or an ip and user_agent, unless no_sessions is set") }
  return {
    index,
    event: {
      name: event === true ? path : "pageview",
      url: goatcounterPage(path, event === true, isText(query) ? query : ""),
      ...defined({ title, referrer: isText(ref) ? ref : undefined, timestamp: isText(created_at) ? created_at : undefined }),
      ...defined({ user_agent, ip: hasVisitor || !isText(session) ? ip : addressOf(session) }),
    },
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""
const defined = (members: Record<string, unknown>) => Object.fromEntries(Object.entries(members).filter(([, value]) => isText(value)))

/** Returns a private address for a session, by which hits of one session have the same rotating visitor id. Each has a /64 of its own. */
function addressOf(session: string): string {
  const hash = createHash("sha256").update(session).digest("hex")
  return `fd${hash.slice(0, 2)}:${hash.slice(2, 6)}:${hash.slice(6, 10)}:${hash.slice(10, 14)}::1`
}

const hitFault = (index: number, code: string, predicate: string): Fault => ({
  pointer: `/hits/${index}`,
  code,
  detail: `Hit ${index} ${predicate.replace(/\.$/, "")}.`,
})

function invalidHits(faults: readonly Fault[]): AppError {
  const count = faults.length === 1 ? "1 hit is" : `${faults.length} hits are`
  const inOrder = [...faults].sort((a, b) => Number(a.pointer.split("/")[2]) - Number(b.pointer.split("/")[2]))
  return new AppError("invalid_event", `${count} not valid. The others were counted.`, { errors: inOrder })
}

import { Type as t } from "@sinclair/typebox"
import { dayNumber, localDay, type OwnStatements } from "#plugin"
import { type IntegrationsHost, refuseOffline } from "../area.ts"
import { integrationError } from "../errors.ts"
import type { Kind, Target, TestReport } from "../kind.ts"
import { storeWithSecret } from "../lifecycle.ts"
import { integrationsOfKind } from "../rows.ts"
import { SearchFailure, searchFailureOf, searchFaultMessage } from "./failure.ts"
import { BingConnectInput, readBingConnect, readBingPatch } from "./input.ts"
import { parseLargeJson } from "./large-json.ts"
import { read } from "./properties.ts"
import type { DayData, Figures } from "./storage.ts"
import { enqueueForget, enqueueSync } from "./work.ts"

const BASE = "https://ssl.bing.com"
const TIMEOUT_MS = 20_000
const MAX_BYTES = 16 << 20

/** Site and API key of a request to Bing. `key` is undefined if it can't be decrypted. */
interface Source {
  key: string | undefined
  url: string
  signal?: AbortSignal
}

const count = t.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, multipleOf: 1 })
const DATE = t.String({ pattern: "^/Date\\(-?\\d{1,15}([+-]\\d{4})?\\)/$" })
/** Bing returns null for an empty list. The name of a page is in `Query`, too. */
const listOf = <Fields extends Parameters<typeof t.Object>[0]>(fields: Fields) =>
  t.Object({ d: t.Union([t.Array(t.Object(fields)), t.Null()]) })
const DETAILS = listOf({
  Query: t.String({ maxLength: 4_096 }),
  Impressions: count,
  Clicks: count,
  AvgImpressionPosition: t.Number(),
  Date: DATE,
})
const TRAFFIC = listOf({ Impressions: count, Clicks: count, Date: DATE })
const FAILURE = t.Object({ ErrorCode: t.Integer() })

async function ask(host: IntegrationsHost, method: string, { key, url, signal }: Source): Promise<unknown> {
  if (key === undefined) throw new SearchFailure("secret_unreadable")
  const configured = host.settings.bing_api_base
  const query = new URLSearchParams({ siteUrl: url, apikey: key })
  const { status, body, retryAfterMs } = await host.fetch(
    `${(configured ?? BASE).replace(/\/+$/, "")}/webmaster/api.svc/json/${method}?${query}`,
    {
      // The key is a part of the URL.
      ...{ follows: false, byOperator: configured !== undefined, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
      ...(signal && { signal }),
    },
  )
  const json = await parseLargeJson(body, "d")
  if (status >= 200 && status < 300 && json !== undefined) return json
  throw refusalOf(status, json, retryAfterMs)
}

/** Error codes of the service: an unknown or missing key, too many requests, a site that the key has no access to. */
const [KEY_CODES, THROTTLE_CODES, SITE_CODES]: readonly (readonly number[])[] = [
  [2, 3],
  [4, 5],
  [7, 8, 14],
]

function refusalOf(status: number, json: unknown, retryAfterMs: number | undefined): SearchFailure {
  const code = typeof json === "object" && json !== null && "ErrorCode" in json ? read(FAILURE, json).ErrorCode : undefined
  if (status === 429 || (code !== undefined && THROTTLE_CODES!.includes(code))) return new SearchFailure("quota", retryAfterMs)
  if (status === 401 || (code !== undefined && KEY_CODES!.includes(code))) return new SearchFailure("needs_reauth")
  if (status === 403 || status === 404 || (code !== undefined && SITE_CODES!.includes(code))) return new SearchFailure("property_lost")
  return new SearchFailure("unavailable")
}

/** A week, stored by its first day. */
export interface BingWeek {
  day: number
  data: DayData
}

/** Fetches all weeks that Bing has, newest first. */
export async function fetchWeeks(host: IntegrationsHost, source: Source): Promise<BingWeek[]> {
  const queries = read(DETAILS, await ask(host, "GetQueryStats", source)).d ?? []
  const pages = read(DETAILS, await ask(host, "GetPageStats", source)).d ?? []
  const traffic = read(TRAFFIC, await ask(host, "GetRankAndTrafficStats", source)).d ?? []
  const weeks = new Map<number, { totals: Figures | undefined; page: Map<string, Figures>; query: Map<string, Figures> }>()
  const weekOf = (date: string) => {
    const day = weekStart(date)
    const week = weeks.get(day) ?? { totals: undefined, page: new Map(), query: new Map() }
    weeks.set(day, week)
    return week
  }
  for (const [rows, detail] of [
    [queries, "query"],
    [pages, "page"],
  ] as const)
    for (const { Query, Date: date, Clicks, Impressions, AvgImpressionPosition } of rows) {
      const list = weekOf(date)[detail]
      // -1 stands for an unknown position.
      const position_sum = Math.round(Math.max(0, AvgImpressionPosition) * Impressions * 1_000)
      list.set(Query, added(list.get(Query), { clicks: Clicks, impressions: Impressions, position_sum }))
    }
  for (const { Date: date, Clicks, Impressions } of traffic) {
    const week = weekOf(date)
    week.totals = added(week.totals, { clicks: Clicks, impressions: Impressions, position_sum: 0 })
  }
  return [...weeks]
    .sort(([a], [b]) => b - a)
    .map(([day, { totals, page, query }]) => ({
      day,
      data: {
        // The traffic has no positions, and that of queries is not that of all impressions.
        totals: { ...(totals ?? [...query.values()].reduce(added, undefined) ?? NOTHING), position_sum: null },
        page: [...page].map(([text, figures]) => ({ ...figures, page: text })),
        place: [],
        query: [...query].map(([text, figures]) => ({ ...figures, query: text, page: "" })),
        fresh: false,
        cut: false,
      },
    }))
}

const NOTHING: Figures = { clicks: 0, impressions: 0, position_sum: 0 }
const added = (sum: Figures | undefined, { clicks, impressions, position_sum }: Figures): Figures => ({
  clicks: (sum?.clicks ?? 0) + clicks,
  impressions: (sum?.impressions ?? 0) + impressions,
  position_sum: (sum?.position_sum ?? 0) + position_sum,
})

/** Returns the number of the Monday of the week of a date such as `/Date(1316156400000-0700)/`, by the local day that it states. */
export function weekStart(date: string): number {
  const [, milliseconds = "0", sign = "+", hours = "00", minutes = "00"] = /\((-?\d+)(?:([+-])(\d\d)(\d\d))?\)/.exec(date) ?? []
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const day = localDay(Number(milliseconds) + offset, "UTC")
  return dayNumber(day.subtract({ days: day.dayOfWeek - 1 }).toString())
}

/** Bing as a kind of integrations: a site has one, with an API key of its own. */
export function bingKind(host: IntegrationsHost): Kind {
  const KIND = "bing-webmaster"
  async function test({ secret, config }: Pick<Target, "config"> & { secret: string | undefined }): Promise<TestReport> {
    const start = performance.now()
    const step = { name: "access", ok: true, detail: "Bing accepted the key and has data of the site." }
    try {
      read(TRAFFIC, await ask(host, "GetRankAndTrafficStats", { key: secret, url: String(config.site_url) }))
    } catch (error) {
      const failure = searchFailureOf(error)
      if (!failure) throw error
      Object.assign(step, { ok: false, detail: messageOf(failure) })
    }
    return { ok: step.ok, ms: Math.round(performance.now() - start), steps: [step] }
  }
  const messageOf = ({ code }: SearchFailure): string =>
    code === "needs_reauth"
      ? "Bing does not accept this API key. Create a new one in Bing Webmaster Tools."
      : (searchFaultMessage(code) ?? "")

  async function refuseUntested(target: Target): Promise<void> {
    const { ok, steps } = await test(target)
    if (!ok) throw integrationError("connection_failed", `Bing could not be connected. ${steps[0]!.detail}`, { steps }) // it has one step
  }

  return {
    ...{ kind: KIND, name: "Bing Webmaster Tools", category: "search" },
    connectBy: () => ["api_key"],
    connect: {
      summary: "Connect Bing Webmaster Tools, after a test request",
      input: BingConnectInput,
      failures: ["already_connected", "connection_failed", "outbound_disabled"],
      async run(author, body, alongside) {
        const { site } = author
        const { secret, name, config } = readBingConnect(body, `https://${site.hosts[0] ?? site.name}/`)
        const refuseSecond = async (statements: OwnStatements): Promise<void> => {
          const [present] = await integrationsOfKind(statements, site.id, KIND)
          if (present)
            throw integrationError("already_connected", "This site has a connection to Bing already. Change or remove that one.", {
              existing_id: present.id,
            })
        }
        await refuseSecond(host.db)
        refuseOffline(host)
        await refuseUntested({ secret, config })
        const fields = {
          kind: KIND,
          name: name ?? "Bing Webmaster Tools",
          scope: "site",
          account_label: config.site_url,
          secret,
          config,
        } as const
        const integration = await storeWithSecret(host, author, fields, {
          check: refuseSecond,
          nextRunAt: host.now(),
          async alongside(statements, made) {
            await enqueueSync(host, made, statements)
            await alongside(statements, made)
          },
        })
        return { integration }
      },
    },
    shownConfig: (config) => config,
    readPatch: readBingPatch,
    refuseUntested,
    test: ({ config }, secret) => test({ secret, config }),
    async onRemove(statements, { site_id }, { forgetData }) {
      if (forgetData) await enqueueForget(host, { siteId: site_id!, engine: "bing" }, statements) // connected by a site
    },
  }
}

import { type McpInstance, openMcp } from "./client.ts"

export const NOW = "2026-11-21T12:00:00Z"
const HOUR_MS = 3_600_000

type Page = string | { event: string; page: string; revenue?: string }

/** Visits of the last three days: hours before now, the visitor's address, the referrer, and the recorded pages and events. */
const VISITS: readonly [hoursAgo: number, address: string, referrer: string | undefined, did: readonly Page[]][] = [
  [50, "203.0.113.1", "https://www.google.com/", ["/", "/pricing"]],
  [49, "203.0.113.2", undefined, ["/"]],
  [26, "203.0.113.1", undefined, ["/pricing", { event: "signup", page: "/pricing" }]],
  [25, "203.0.113.3", "https://news.ycombinator.com/item", ["/", "/pricing", { event: "signup", page: "/join" }]],
  [3, "203.0.113.4", "https://www.google.com/", ["/blog"]],
  [2, "203.0.113.5", undefined, ["/pricing", { event: "purchase", page: "/cart", revenue: "19.90" }]],
  [0, "203.0.113.6", undefined, ["/"]],
]

/** Starts the endpoint with a site that has three days of visits, two goals (ids 1 and 2) and a saved funnel (id 1). The time is `NOW`. */
export async function openFilled(): Promise<McpInstance> {
  const mcp = await openMcp({ now: new Date(Date.parse(NOW) - 50 * HOUR_MS).toISOString(), settings: { api_rate_limit: "0" } })
  const { app, site, clock } = mcp
  await app.instance.goals.create(site, { kind: "event", value: "signup" })
  await app.instance.goals.create(site, { kind: "page", value: "/pricing" })
  const steps = [
    { type: "page", value: "/pricing" },
    { type: "event", value: "signup" },
  ]
  await app.instance.funnels.create(site, { name: "Signup", steps })
  for (const [hoursAgo, address, referrer, did] of VISITS) {
    clock.advance(Date.parse(NOW) - hoursAgo * HOUR_MS - clock.now())
    for (const what of did) await visit(mcp, address, referrer, what)
  }
  return mcp
}

async function visit({ collect, clock }: McpInstance, address: string, referrer: string | undefined, what: Page): Promise<void> {
  const { event, page, revenue } =
    typeof what === "string" ? { event: "pageview", page: what, revenue: undefined } : { revenue: undefined, ...what }
  const url = `https://shop.example${page}`
  const sent = {
    n: event,
    u: url,
    d: "shop.example",
    ...(referrer && { r: referrer }),
    ...(revenue && { $: { currency: "EUR", amount: revenue } }),
  }
  const answer = await collect(sent, { address })
  if (answer.status !== 202) throw new Error(`${page}: ${answer.status}`)
  if (clock.now() < Date.parse(NOW)) clock.advance(10_000)
}

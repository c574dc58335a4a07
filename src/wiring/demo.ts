import type { App } from "../app.ts"
import type { DemoShape } from "../cli/command.ts"
import type { Site } from "../domain/site.ts"
import type { DemoRequest } from "../plugin/contract.ts"
import { generateTraffic } from "../services/demo/data.ts"
import { type ReplayClock, type ReplayedRequest, replayTraffic, type SiteTraffic } from "../services/demo/demo.ts"
import type { Report } from "../services/runtime/control.ts"
import type { AppOptions } from "./settings.ts"

const DAY_MS = 86_400_000

/** A site of a demo. */
interface PlannedSite {
  name: string
  host: string
  /** Part of all events. */
  share: number
  goals: readonly object[]
  settings?: object
  traffic?: Pick<SiteTraffic, "sells" | "hasOrders" | "isLoyal" | "hasVitals" | "signedIn">
}

/** Fills a new instance for a demo: users, three sites with traffic, and examples of the plugins. */
export async function filledDemo(app: App, options: AppOptions & { clock: ReplayClock }, shape: DemoShape, report: Report) {
  const end = options.clock.now()
  options.clock.set(end - shape.days * DAY_MS)
  const { id, ...user } = await makeDemoUsers(app, options)
  const planned = await createSites(app, DEMO_SITES, { ...shape, to: end })
  const sites = planned.map(({ site }) => site)
  const demo = { site: sites[0]!, sites, userId: id }
  const requests = await app.plugins.beginDemo({ ...demo, events: () => generateTraffic(planned[0]!) })
  const made = await fillSites(app, options, { sites: planned, requests: requests.map((some) => replayed(app, some)), report })
  await defineExamples(app, demo.site, { userId: id, now: end })
  await app.plugins.fillDemo(demo)
  return { ...made, user }
}

/** Creates the user of a demo, who owns its organization, with a random password, and the other members, who have none. */
async function makeDemoUsers({ operations, instance }: App, { random }: Pick<AppOptions, "random">) {
  const user = { email: "demo@footfall.example", password: Buffer.from(random(12)).toString("base64url") }
  const { user: made } = await operations.setup({ ...user, name: "Demo", organization: "Demo" })
  const [organization] = await instance.organizations.list()
  for (const member of DEMO_MEMBERS)
    await operations["user.create"]({ ...member, organization_id: organization!.id, is_instance_admin: false })
  return { ...user, id: made.id }
}

/** Fills a new instance with the traffic of shops up to now. Afterwards the clock stands at the end of the traffic. */
export async function fillDemo(app: App, options: AppOptions & { clock: ReplayClock }, shape: DemoShape, report: Report) {
  const to = options.clock.now()
  options.clock.set(to - shape.days * DAY_MS)
  const count = shape.sites ?? 1
  const plan = Array.from({ length: count }, (_, index) => ({ ...SHOP, ...(index > 0 && numbered(index)), share: 1 / count }))
  return fillSites(app, options, { sites: await createSites(app, plan, { ...shape, to }), requests: [], report })
}

const numbered = (index: number) => ({ name: `Shop ${index + 1}`, host: `shop-${index + 1}.example` })

type CreatedSite = SiteTraffic & { site: Site }

async function createSites(
  { operations, instance }: App,
  plan: readonly PlannedSite[],
  { days, events, seed, to }: DemoShape & { to: number },
) {
  const sites: CreatedSite[] = []
  for (const [index, { name, host, share, goals, settings, traffic }] of plan.entries()) {
    const { site: made } = await operations["site.create"]({ site: { name, hosts: [host], revenue_currency: "EUR" } })
    const site = settings ? (await operations["site.set"]({ id: String(made.id), patch: settings })).site : made
    for (const goal of goals) await instance.goals.create(site, goal)
    const range = { from: to - days * DAY_MS, to, events: Math.round(events * share) }
    sites.push({ site, trackingId: site.tracking_id, seed: seed + index, host, currency: "EUR", ...range, ...traffic })
  }
  return sites
}

interface Filling {
  sites: readonly CreatedSite[]
  requests: readonly Iterable<ReplayedRequest>[]
  report: Report
}

/** Creates an API key, and replays the traffic. */
async function fillSites(app: App, { config, clock }: AppOptions & { clock: ReplayClock }, { sites, requests, report }: Filling) {
  const { operations, instance, collector } = app
  const wanted = {
    name: "Demo",
    scopes: ["stats:read", "events:write"],
    site_ids: null,
    expires_days: null,
    ip_allow: [],
    rate_limit: null,
  }
  const { key } = await operations["key.create"](wanted)
  const events = await replayTraffic({ sites, requests, clock, collector, instance, report })
  const { site } = sites[0]!
  return { site_id: site.id, tracking_id: site.tracking_id, key, events, data_dir: config.data_dir }
}

/** Converts requests of a plugin for the web server of the instance. */
function* replayed(app: App, requests: Iterable<DemoRequest>): Generator<ReplayedRequest> {
  for (const { at, path, userAgent, language, address } of requests) {
    const headers = { "user-agent": userAgent, "accept-language": language }
    const send = async () => app.fetch(new Request(`http://localhost${path}`, { headers }), { requestIP: () => ({ address }) })
    yield { at, send }
  }
}

/** Creates a funnel, a segment, notes on the campaigns of the shop, and a shared view. */
async function defineExamples({ instance }: App, site: Site, { userId, now }: { userId: number; now: number }): Promise<void> {
  const viewer = { userId, permissions: new Set(Object.keys(instance.permissions)) }
  await instance.funnels.create(site, DEMO_FUNNEL)
  const filters = [{ dimension: "channel", operator: "is", values: ["Organic Search"] }]
  await instance.segments.of(viewer).create(site, { name: "From search engines", scope: "site", filters })
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(site.timezone).toPlainDate()
  for (const months of [0, 1, 2]) {
    const start = today.subtract({ months }).with({ day: 1 })
    const text = `The sale of ${start.toLocaleString("en", { month: "long" })} begins`
    await instance.annotations.create(site, { at: start.toString(), text })
  }
  await instance.shares.create(site, { name: "Shop in public" }, userId)
}

const DEMO_FUNNEL = {
  name: "From product to order",
  steps: [
    { type: "page", match: "prefix", value: "/products/", name: "Product" },
    { type: "page", value: "/cart", name: "Cart" },
    { type: "page", value: "/checkout", name: "Checkout" },
    { type: "event", value: "purchase", name: "Order" },
  ],
}

const PAGES_GOAL = { kind: "page", value: "/subscribe" }
const SIGNUP_GOAL = { kind: "event", value: "signup" }
const SHOP_GOALS = [{ kind: "event", value: "purchase" }, SIGNUP_GOAL, { kind: "page", value: "/cart" }]

const SHOP = {
  ...{ name: "Shop", host: "shop.example", share: 0.7, goals: SHOP_GOALS },
  traffic: { hasOrders: true, hasVitals: true },
} as const satisfies PlannedSite

const DEMO_SITES: readonly PlannedSite[] = [
  // Some of its customers sign in, so that it knows who of them returns.
  { ...SHOP, settings: { identity_mode: "identified" }, traffic: { ...SHOP.traffic, isLoyal: true, signedIn: 4 } },
  { name: "Magazine", host: "magazine.example", share: 0.2, goals: [SIGNUP_GOAL, PAGES_GOAL], traffic: { sells: false, hasVitals: true } },
  // All of its customers sign in.
  {
    ...{ name: "Wholesale", host: "wholesale.example", share: 0.1, goals: SHOP_GOALS },
    settings: { identity_mode: "identified" },
    traffic: { isLoyal: true, signedIn: 10 },
  },
]

const DEMO_MEMBERS = [
  { name: "Amira Haddad", email: "amira@shop.example", role: "admin" },
  { name: "Jonas Weber", email: "jonas@shop.example", role: "editor" },
  { name: "Priya Nair", email: "priya@agency.example", role: "viewer" },
]

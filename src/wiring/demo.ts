import type { App } from "../app.ts"
import type { DemoShape } from "../cli/command.ts"
import type { Site } from "../domain/site.ts"
import { type ReplayClock, replayTraffic, type SiteTraffic } from "../services/demo/demo.ts"
import type { Report } from "../services/runtime/control.ts"
import type { AppOptions } from "./settings.ts"

/** Fills a new instance for a demo: a user, a shop with traffic, and examples of the plugins. */
export async function filledDemo(app: App, options: AppOptions & { clock: ReplayClock }, shape: DemoShape, report: Report) {
  const { id, ...user } = await makeDemoUser(app, options)
  const made = await fillDemo(app, options, shape, report)
  const site = app.instance.sites.directory.byId(made.site_id)
  if (site) {
    await defineExamples(app, site, { userId: id, now: options.clock.now() })
    await app.plugins.fillDemo({ site, userId: id })
  }
  return { ...made, user }
}

/** Creates the user of a demo, who owns its organization, with a random password. */
async function makeDemoUser({ operations }: App, { random }: Pick<AppOptions, "random">) {
  const user = { email: "demo@footfall.example", password: Buffer.from(random(12)).toString("base64url") }
  const { user: made } = await operations.setup({ ...user, name: "Demo", organization: "Demo" })
  return { ...user, id: made.id }
}

/** Fills a new instance with the traffic of shops up to now. Afterwards the clock stands at the end of the traffic. */
export async function fillDemo(app: App, { config, clock }: AppOptions & { clock: ReplayClock }, shape: DemoShape, report: Report) {
  const { operations, instance, collector } = app
  const to = clock.now()
  const from = to - shape.days * 86_400_000
  clock.set(from)
  const count = shape.sites ?? 1
  const sites: (SiteTraffic & { siteId: number })[] = []
  for (let index = 0; index < count; index++) {
    const [name, host] = index === 0 ? ["Shop", "shop.example"] : [`Shop ${index + 1}`, `shop-${index + 1}.example`]
    const { site } = await operations["site.create"]({ site: { name, hosts: [host], revenue_currency: "EUR" } })
    for (const goal of DEMO_GOALS) await instance.goals.create(site, goal)
    const events = Math.round(shape.events / count)
    const traffic = { seed: shape.seed + index, events, from, to, host, currency: "EUR", hasOrders: true }
    sites.push({ siteId: site.id, trackingId: site.tracking_id, ...traffic })
  }
  const wanted = {
    name: "Demo",
    scopes: ["stats:read", "events:write"],
    site_ids: null,
    expires_days: null,
    ip_allow: [],
    rate_limit: null,
  }
  const { key } = await operations["key.create"](wanted)
  const events = await replayTraffic({ sites, clock, collector, instance, report })
  const [first] = sites
  return { site_id: first!.siteId, tracking_id: first!.trackingId, key, events, data_dir: config.data_dir }
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

const DEMO_GOALS = [
  { kind: "event", value: "purchase" },
  { kind: "event", value: "signup" },
  { kind: "page", value: "/cart" },
]

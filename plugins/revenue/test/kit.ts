import { type AnyPlugin, definePlugin } from "#plugin"
import { startInstance, type TestInstance } from "#plugin/test"
import revenue from "../revenue.ts"

const SITE = "/api/private/sites/1"

type Sent = ReturnType<TestInstance["api"]["get"]>

/** An instance with revenue, an admin, an editor, a viewer, and short calls below the site. */
export interface Shop extends AsyncDisposable {
  instance: TestInstance
  admin: { cookie: string }
  editor: { cookie: string }
  viewer: { cookie: string }
  get(path: string, as?: Record<string, string>): Sent
  send(method: string, path: string, body?: unknown, as?: Record<string, string>): Sent
  /** Sends events as the shop's server. Each becomes a pageview or a sale of a person. */
  sell(events: readonly SentEvent[]): Promise<void>
  /** Sends an event as a browser of a visitor. */
  browse(event: { name?: string; path?: string; order?: string; revenue?: Revenue; referrer?: string; address?: string }): Promise<void>
  /** Publishes a payment object, as the area of integrations does, and lets it be consumed. */
  pay(payment: object): Promise<void>
  /** Returns all transactions, oldest first. */
  transactions(query?: string): Promise<Transaction[]>
}

export interface Revenue {
  amount: string | number
  currency?: string
}

export interface SentEvent {
  at: string
  /** Default: a purchase with revenue, otherwise a pageview. */
  name?: string
  url?: string
  referrer?: string
  user?: string
  order?: string
  revenue?: Revenue
}

/** A transaction as tests read it. */
export interface Transaction {
  id: number
  type: string
  provider: string
  external_id: string
  order_id: string | null
  parent_id: number | null
  amount: { amount: string; amount_minor: number; currency: string }
  base: { amount: { amount: string; currency: string }; rate: string; rate_day: string } | null
  trust: string
  flags: string[]
  source: string | null
  [name: string]: unknown
}

export interface ShopOptions {
  now?: string
  settings?: Record<string, string>
  /** Whether the site recognizes visitors by their user IDs. */
  identified?: boolean
  /** Whether the instance has all plugins of the program. */
  whole?: boolean
  /** Receives the product events of the area, which are published only while a consumer wants them. */
  listener?: AnyPlugin
  /** Whether the catalog is on a libSQL server. */
  hasCatalogServer?: boolean
  /** Whether the row tables are on a libSQL server. */
  hasRowServer?: boolean
}

export async function startShop({
  now = "2026-11-26T12:00:00Z",
  settings = {},
  identified = false,
  whole = false,
  listener,
  hasCatalogServer,
  hasRowServer,
}: ShopOptions = {}): Promise<Shop> {
  const plugins = whole ? {} : { plugins: [revenue, ...(listener ? [listener] : [])] }
  const instance = await startInstance({
    ...plugins,
    ...(hasCatalogServer !== undefined && { hasCatalogServer }),
    ...(hasRowServer !== undefined && { hasRowServer }),
    now,
    settings: { store_user_ids_allowed: "true", ...settings },
  })
  const signIn = async (role: "owner" | "editor" | "viewer") => ({ cookie: await instance.signIn({ role }) })
  const [admin, editor, viewer] = [await signIn("owner"), await signIn("editor"), await signIn("viewer")]
  const send: Shop["send"] = (method, path, body, as = admin) => instance.api.send(method, SITE + path, body, undefined, as)
  const { api, app, eventsKey, site } = instance
  if (identified) await send("PATCH", "/settings", { identity_mode: "identified", store_user_ids: true })
  // Consumers receive the events from their first delivery on.
  await instance.runJobs()
  const get: Shop["get"] = (path, as) => send("GET", path, undefined, as)
  return {
    ...{ instance, admin, editor, viewer, send, get },
    async sell(events) {
      const answer = await api.post("/api/public/v1/sites/1/events", { events: events.map(serverEvent) }, eventsKey)
      const { accepted } = answer.body as { accepted: number }
      if (events.length > 0 && accepted !== events.length) throw new Error(`Events were rejected: ${JSON.stringify(answer.body)}`)
      await settle()
    },
    async browse({ name, path = "/", order, revenue, referrer, address = "203.0.113.9" }) {
      const payload = {
        ...{ d: site.tracking_id, n: name ?? (revenue ? "purchase" : "pageview"), u: `https://${HOST}${path}` },
        ...(referrer !== undefined && { r: referrer }),
        ...(order !== undefined && { p: { order_id: order } }),
        ...(revenue && { $: revenue }),
      }
      const answer = await instance.collect(payload, { address })
      if (answer.status !== 202) throw new Error(`The event was rejected: ${JSON.stringify(answer)}`)
    },
    async pay(payment) {
      const event = { event: "internal.payment_received", organizationId: 1, siteId: 1, payload: payment }
      await app.instance.outbox.writeAlone(event)
      await settle()
    },
    async transactions(query = "") {
      const answer = await get(`/revenue/transactions?sort=occurred_at&limit=200${query}`)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return (answer.body as { data: Transaction[] }).data
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }

  /**
   * Lets jobs and consumers do what waits, as the running process does within seconds: ten if a run of folding took long, as it does for a
   * clock that `finish` moves meanwhile.
   */
  async function settle(): Promise<void> {
    instance.clock.advance(2_000)
    await instance.app.instance.lease?.renew()
    // Sales are folded once ClickHouse has their events, if these are there.
    await instance.app.instance.shipped?.shipping.settled()
    await instance.runJobs()
    instance.clock.advance(10_000)
    await instance.runJobs()
  }
}

/** An event of the area, as a consumer receives it. */
export interface Announced {
  event: string
  minor: number
}

/** Returns an area that wants some events of revenue, and adds what it receives to a list. */
export const listenerTo = (events: readonly string[], received: Announced[]): AnyPlugin =>
  definePlugin({
    id: "listener",
    title: "Listener",
    setup: () => ({
      consumers: {
        revenue: {
          events,
          async consume({ event, payload }) {
            received.push({ event, minor: (payload as { amount_minor: number }).amount_minor })
          },
        },
      },
    }),
  })

/** Runs jobs to completion, advancing the clock until replaced segments may be deleted. */
export async function finish({ instance }: Pick<Shop, "instance">): Promise<void> {
  let isOver = false
  const done = instance.runJobs().finally(() => {
    isOver = true
  })
  while (!isOver) {
    instance.clock.advance(5_000)
    await Bun.sleep(10)
  }
  await done
  // The clock has passed the end of the lease, without which no event is shipped.
  await instance.app.instance.lease?.renew()
}

/** Lets an instance admin remove what is older than some days. */
export async function retain(shop: Pick<Shop, "instance">, days: number): Promise<void> {
  const { api, clock, signIn } = shop.instance
  // On a busy machine the clock passes the time for which a confirmation of identity holds.
  const admin = { cookie: await signIn({ isInstanceAdmin: true, provedAt: clock.now() + 86_400_000 }) }
  const send = (path: string, body: object) => api.send("POST", `/api/private/admin/retention/${path}`, body, undefined, admin)
  const wanted = { site_id: 1, retention_days: days }
  const { at } = (await send("preview", wanted)).body as { at: string }
  const { status, body } = await send("run", { ...wanted, at })
  if (status !== 202) throw new Error(JSON.stringify(body))
  await finish(shop)
}

/** Erases the visits with a page. */
export async function erasePage(shop: Pick<Shop, "instance" | "send">, page: string, as?: { cookie: string }): Promise<void> {
  const request = { from: "2026-10-20", to: "2026-11-26", filters: [{ dimension: "page", operator: "is", values: [page] }] }
  const preview = await shop.send("POST", "/erase/preview", request, as)
  const { confirm } = preview.body as { confirm: string }
  const { status, body } = await shop.send("POST", "/erase", { ...request, confirm }, as)
  if (status !== 202) throw new Error(JSON.stringify(body))
  await finish(shop)
}

const HOST = "shop.example"

function serverEvent({ at, name, url = `https://${HOST}/`, referrer, user = "anna", order, revenue }: SentEvent): object {
  return {
    name: name ?? (revenue ? "purchase" : "pageview"),
    ...{ url, timestamp: at, ip: "203.0.113.7", user_agent: AGENT, user_id: user },
    ...(referrer !== undefined && { referrer }),
    ...(order !== undefined && { props: { order_id: order } }),
    ...(revenue && { revenue }),
  }
}

const AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

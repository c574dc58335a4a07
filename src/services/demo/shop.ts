import type { TrafficEvent } from "./data.ts"
import type { Person } from "./people.ts"
import type { Random } from "./random.ts"

/** Start of a visit: its referrer, its campaign tags, and the kind of its entry page. */
export interface Arrival {
  referrer: string
  query: string
  lands: "home" | "article" | "product"
}

export interface Shop {
  origin: string
  currency: string
  sells: boolean
  hasOrders: boolean
}

interface ShopOptions {
  host: string
  currency?: string
  sells?: boolean
  hasOrders?: boolean
}
export const shopOf = ({ host, currency = "EUR", sells = true, hasOrders = false }: ShopOptions): Shop => ({
  ...{ origin: `https://${host}`, currency, sells, hasOrders },
})

/** Returns the weighted arrivals of a day. Each month has a campaign in its first week, with emails and advertisements. */
export function arrivals(day: Date): readonly (readonly [number, Arrival])[] {
  const campaign = `${MONTHS[day.getUTCMonth()]}-sale`
  const push = day.getUTCDate() <= 7 ? 4 : 1
  return [
    [30, { referrer: "", query: "", lands: "home" }],
    [24, { referrer: "https://www.google.com/", query: "", lands: "article" }],
    [8, { referrer: "https://www.google.com/", query: "", lands: "product" }],
    [3, { referrer: "https://www.bing.com/", query: "", lands: "article" }],
    [3, { referrer: "https://duckduckgo.com/", query: "", lands: "article" }],
    [4, { referrer: "https://t.co/", query: "", lands: "article" }],
    [4, { referrer: "https://www.facebook.com/", query: "", lands: "product" }],
    [3, { referrer: "https://www.reddit.com/r/coffee/", query: "", lands: "article" }],
    [2, { referrer: "https://news.ycombinator.com/", query: "", lands: "article" }],
    [2, { referrer: "https://chatgpt.com/", query: "?utm_source=chatgpt.com", lands: "article" }],
    [2, { referrer: "https://blog.example.net/best-beans", query: "", lands: "product" }],
    [3 * push, { referrer: "", query: `?utm_source=newsletter&utm_medium=email&utm_campaign=${campaign}`, lands: "product" }],
    [
      2 * push,
      {
        referrer: "https://www.google.com/",
        query: `?utm_source=google&utm_medium=cpc&utm_campaign=${campaign}&utm_term=beans&gclid=x`,
        lands: "product",
      },
    ],
    [
      push,
      {
        referrer: "https://www.instagram.com/",
        query: `?utm_source=instagram&utm_medium=paid_social&utm_campaign=${campaign}`,
        lands: "product",
      },
    ],
  ]
}

/** Generates the events of a visit. Each page has a pageview, and an engagement report if it was read. */
export function* generateVisit(
  random: Random,
  shop: Shop,
  { person, client, at, arrival }: { person: number; client: Person; at: number; arrival: Arrival },
): Generator<TrafficEvent> {
  const inside = (path: string | undefined) => (shop.sells || path === undefined || !SHOP_PATH.test(path) ? path : article(random))
  let path = inside(landing(random, arrival.lands))
  let query = arrival.query
  let referrer = arrival.referrer
  while (path !== undefined) {
    const page = { person, client, url: `${shop.origin}${path}${query}`, title: titleOf(path), referrer }
    yield { ...page, at, name: "pageview" }
    const stay = 800 + random.around(client.mobile ? 22_000 : 41_000)
    for (const extra of customEvents(random, shop, path)) {
      const event = { ...page, ...extra, at: at + Math.min(stay, 2_000 + random.around(8_000)) }
      if (extra.revenue && shop.hasOrders) yield* order(random, shop, { ...event, revenue: extra.revenue })
      else yield event
    }
    at += stay
    if (random.chance(0.8)) yield { ...page, at, name: "engagement", engagement: { engagedMs: stay, scrollDepth: 10 + random.below(91) } }
    referrer = ""
    query = ""
    path = inside(nextPage(random, path, client.mobile))
  }
}

/** Currencies of customers abroad, by time zone, with the price of one euro and the number of decimals. */
const CURRENCIES: readonly (readonly [zone: string, currency: string, price: number, decimals: number])[] = [
  ["America/New_York", "USD", 1.15, 2],
  ["America/Los_Angeles", "USD", 1.15, 2],
  ["Europe/London", "GBP", 0.87, 2],
  ["Europe/Zurich", "CHF", 0.94, 2],
  ["Asia/Tokyo", "JPY", 172, 0],
]
const REFUNDED = 0.07
const DAY = 86_400_000

/** Generates an order, and its refund on a later visit to the account if there is one. */
function* order(
  random: Random,
  { origin }: Shop,
  event: TrafficEvent & { revenue: { amount: number; currency: string } },
): Generator<TrafficEvent> {
  const { person, client, at, props, revenue } = event
  const [, currency = revenue.currency, price = 1, decimals = 2] = CURRENCIES.find(([zone]) => zone === client.timezone) ?? []
  const paid = (amount: number) => ({ amount: Number(amount.toFixed(decimals)), currency })
  const order_id = `${person}-${Math.floor(at / 1_000) % 1_000_000}`
  const amount = revenue.amount * price
  yield { ...event, props: { ...props, order_id }, revenue: paid(amount) }
  if (!random.chance(REFUNDED)) return
  const account = { person, client, url: `${origin}/account`, title: "Account", referrer: "" }
  const later = at + DAY + random.below(6 * DAY)
  yield { ...account, at: later, name: "pageview" }
  const part = random.chance(0.4) ? 0.5 : 1
  yield { ...account, at: later + 20_000, name: "refund", props: { order_id }, revenue: paid(-amount * part) }
}

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
const ARTICLES = 240
const PRODUCTS = 60
const SHOP_PATH = /^\/(products|cart|checkout|thanks|account)\b/
const PLANS = ["monthly", "yearly", "gift"]

/** Returns the number of a page. As on real sites, a few pages get most of the traffic. */
const popular = (random: Random, count: number): number => Math.floor(count * random.next() ** 3) + 1
const article = (random: Random) => `/magazine/${popular(random, ARTICLES)}`
const product = (random: Random) => `/products/${popular(random, PRODUCTS)}`

function landing(random: Random, lands: Arrival["lands"]): string {
  if (lands === "home") return random.chance(0.8) ? "/" : article(random)
  return lands === "article" ? article(random) : product(random)
}

/** Returns the next page of a visit, or undefined at its end. An order takes the path /products → /cart → /checkout → /thanks. */
function nextPage(random: Random, path: string, mobile: boolean): string | undefined {
  const ends = mobile ? 0.06 : 0
  if (path === "/cart")
    return random.weighted([
      [48 - ends * 100, "/checkout"],
      [22, product(random)],
      [30, undefined],
    ])
  if (path === "/checkout")
    return random.weighted([
      [62 - ends * 100, "/thanks"],
      [8, "/cart"],
      [30, undefined],
    ])
  if (path === "/thanks") return random.chance(0.1) ? "/account" : undefined
  if (path.startsWith("/products/"))
    return random.weighted([
      [14, "/cart"],
      [30, product(random)],
      [6, "/subscribe"],
      [50, undefined],
    ])
  if (path.startsWith("/magazine/"))
    return random.weighted([
      [22, article(random)],
      [9, product(random)],
      [5, "/"],
      [64 + ends * 100, undefined],
    ])
  return random.weighted([
    [30, product(random)],
    [18, article(random)],
    [6, "/subscribe"],
    [4, "/about"],
    [42, undefined],
  ])
}

/** Returns the custom events on a page. */
function customEvents(random: Random, shop: Shop, path: string): Pick<TrafficEvent, "name" | "props" | "revenue">[] {
  if (path === "/thanks") {
    const amount = (900 + random.around(3_400)) / 100
    return [{ name: "purchase", props: { items: 1 + random.below(4) }, revenue: { amount, currency: shop.currency } }]
  }
  if (path === "/cart") return [{ name: "add_to_cart", props: { product: popular(random, PRODUCTS) } }]
  if (path === "/subscribe" && random.chance(0.3)) return [{ name: "signup", props: { plan: random.pick(PLANS) } }]
  if (path.startsWith("/magazine/") && random.chance(0.04))
    return [{ name: "Outbound Link: Click", props: { url: "https://en.wikipedia.org/wiki/Coffee" } }]
  if (path.startsWith("/products/") && random.chance(0.02))
    return [{ name: "File Download", props: { url: `${shop.origin}/files/brewing.pdf` } }]
  return []
}

function titleOf(path: string): string {
  const [, kind, number] = path.split("/")
  if (kind === "magazine") return `Magazine no. ${number}`
  if (kind === "products") return `Coffee no. ${number}`
  return kind === "" ? "Beans by post" : `${kind![0]!.toUpperCase()}${kind!.slice(1)}`
}

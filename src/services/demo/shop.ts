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
}
export const shopOf = (host: string, currency: string): Shop => ({ origin: `https://${host}`, currency })

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
  let path: string | undefined = landing(random, arrival.lands)
  let query = arrival.query
  let referrer = arrival.referrer
  while (path !== undefined) {
    const page = { person, client, url: `${shop.origin}${path}${query}`, title: titleOf(path), referrer }
    yield { ...page, at, name: "pageview" }
    const stay = 800 + random.around(client.mobile ? 22_000 : 41_000)
    for (const extra of customEvents(random, shop, path)) yield { ...page, ...extra, at: at + Math.min(stay, 2_000 + random.around(8_000)) }
    at += stay
    if (random.chance(0.8)) yield { ...page, at, name: "engagement", engagement: { engagedMs: stay, scrollDepth: 10 + random.below(91) } }
    referrer = ""
    query = ""
    path = nextPage(random, path, client.mobile)
  }
}

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
const ARTICLES = 240
const PRODUCTS = 60
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

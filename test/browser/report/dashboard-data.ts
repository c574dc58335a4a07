import type { TestInstance } from "../../kit.ts"

const DAY_MS = 86_400_000
const PAGES = ["/", "/pricing", "/blog/how-to-count-visitors-without-cookies", "/docs/install", "/shop/checkout/payment"]
const REFERRERS = ["", "https://www.google.com/", "https://news.ycombinator.com/item?id=1", "https://duckduckgo.com/", "https://t.co/x"]
const ZONES = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Europe/Paris", "Australia/Sydney"]
const AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
]

/** Attacks that visitors can put into a payload or a query. None may run or appear as anything but text. */
export const HOSTILE = [
  "<img src=x onerror=window.__hit=1>",
  '"><script>window.__hit=1</script>',
  "javascript:window.__hit=1",
  "{{constructor.constructor('window.__hit=1')()}}",
  "\u202egnp.exe",
  "../../../etc/passwd",
  "=cmd|'/c calc'!A1",
]

/**
 * Creates visits of the last ten days with varying pages, referrers, campaigns, devices and places, sign-ups with a plan, and
 * orders with revenue. With `hostile`, adds visits whose texts are attacks.
 */
export async function fillSite(instance: TestInstance, { days = 10, hostile = false } = {}): Promise<void> {
  for (let day = days - 1; day >= 0; day--) {
    for (let visit = 0; visit < 8; visit++) await makeVisit(instance, day * 8 + visit)
    if (day > 0) instance.clock.advance(DAY_MS)
  }
  if (hostile) for (const [index, text] of HOSTILE.entries()) await makeHostileVisit(instance, text, index)
}

async function makeVisit(instance: TestInstance, number: number): Promise<void> {
  const pick = <Value>(values: readonly Value[]): Value => values[number % values.length]!
  const sent = { address: `203.0.113.${number % 250}`, headers: { "user-agent": pick(AGENTS) } }
  const common = { d: "shop.example", tz: pick(ZONES), w: 1280 }
  const campaign = number % 4 === 0 ? "?utm_source=newsletter&utm_medium=email&utm_campaign=autumn" : ""
  const views = 1 + (number % 3)
  for (let view = 0; view < views; view++) {
    const page = PAGES[(number + view) % PAGES.length]
    const r = view === 0 ? pick(REFERRERS) : ""
    await instance.collect({ ...common, n: "pageview", u: `https://shop.example${page}${view === 0 ? campaign : ""}`, r }, sent)
    // A page is fast, average or slow by its number.
    const slow = 1 + ((number + view) % PAGES.length) / 2
    const f = { lcp: 1_500 * slow, inp: 120 * slow, cls: 0.05 * slow, fcp: 900 * slow, ttfb: 300 * slow }
    await instance.collect({ ...common, n: "vitals", u: `https://shop.example${page}`, f }, sent)
  }
  const u = "https://shop.example/pricing"
  if (number % 2 === 0) await instance.collect({ ...common, n: "signup", u, p: { plan: pick(["free", "team"]) } }, sent)
  if (number % 5 === 0) await instance.collect({ ...common, n: "order", u, $: { amount: 49.5, currency: "EUR" } }, sent)
}

async function makeHostileVisit(instance: TestInstance, text: string, index: number): Promise<void> {
  const sent = { address: `198.51.100.${index}` }
  const u = `https://shop.example/${encodeURIComponent(text)}?utm_campaign=${encodeURIComponent(text)}&utm_source=${encodeURIComponent(text)}`
  await instance.collect({ n: "pageview", d: "shop.example", u, r: `https://evil.example/${encodeURIComponent(text)}` }, sent)
  await instance.collect({ n: text, d: "shop.example", u, p: { [text]: text, plan: text } }, sent)
}

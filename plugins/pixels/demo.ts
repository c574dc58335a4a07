/** The pixels of the demo: in the newsletter, whose readers visit the shop, in the feed, on a partner's blog and in a README. */
import type { DemoRequest, DemoTraffic } from "#plugin"
import type { PixelsHost } from "./pixel.ts"
import type { createPixelWrites } from "./pixel-writes.ts"

type DemoEvent = ReturnType<DemoTraffic["events"]> extends Iterable<infer Event> ? Event : never

const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
const APPLE = "Mozilla/5.0"
const CAMO = "github-camo (1f6f6f6b)"

const PIXELS = [
  { name: "Newsletter", kind: "email", slug: "newsletter", allowed_params: ["issue"], recipient_mode: "hashed" },
  { name: "Feed of the magazine", kind: "rss", slug: "feed" },
  { name: "Review on a partner's blog", kind: "page", slug: "partner-review" },
  { name: "Brewing guide on GitHub", kind: "readme", slug: "brewing-guide", badge_public: true },
] as const

interface Terms {
  pixels: Pick<ReturnType<typeof createPixelWrites>, "create">
  prefix: string
}

/** Creates the pixels, and returns their opens. */
export async function beginDemo(host: PixelsHost, { pixels, prefix }: Terms, { site, userId, events }: DemoTraffic) {
  for (const pixel of PIXELS) await pixels.create(site, pixel, { actor: host.audit.system, userId }, async () => {})
  return opens(prefix, events())
}

const OPENED_BEFORE_MS = 20_000

function* opens(prefix: string, events: Iterable<DemoEvent>): Generator<DemoRequest> {
  for (const event of events) {
    if (event.name !== "pageview") continue
    const { client, person, referrer, url } = event
    const { userAgent, language, address } = client
    const open = (slug: string, more: Partial<DemoRequest> = {}) => ({
      ...{ at: event.at - OPENED_BEFORE_MS, path: `/${prefix}/${slug}.gif`, userAgent, language, address },
      ...more,
    })
    if (url.includes("utm_source=newsletter")) yield* newsletter(event, open)
    else if (referrer.startsWith("https://blog.example.net")) yield open("partner-review")
    else if (referrer.startsWith("https://news.ycombinator.com")) yield open("brewing-guide", { userAgent: CAMO, address: "140.82.115.9" })
    else if (url.includes("/magazine/") && person % 9 === 0) yield open("feed")
  }
}

/** Yields the opens around one reader who visits the shop: others read the email without visiting it, or not at all. */
function* newsletter({ at, person }: DemoEvent, open: (slug: string, more?: Partial<DemoRequest>) => DemoRequest): Generator<DemoRequest> {
  const issue = new Date(at).toISOString().slice(0, 7)
  const path = (recipient: number) => `${open("newsletter").path}?issue=${issue}&r=${recipient}`
  yield open("newsletter", { path: path(person) })
  yield open("newsletter", { path: path(person + 1_000_000), userAgent: GMAIL, address: `66.249.84.${1 + (person % 200)}` })
  if (person % 3 > 0)
    yield open("newsletter", { path: path(person + 2_000_000), userAgent: APPLE, address: `17.58.97.${1 + (person % 200)}` })
}

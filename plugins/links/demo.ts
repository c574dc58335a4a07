/** The short links of the demo: their clicks are the visits that came from a newsletter, a post, packaging or an advertisement. */
import type { DemoRequest, DemoTraffic } from "#plugin"
import type { Area } from "./area.ts"

type DemoEvent = ReturnType<DemoTraffic["events"]> extends Iterable<infer Event> ? Event : never

interface DemoLink {
  link: { slug: string; path: string } & Record<string, unknown>
  /** Query of its requests. */
  query?: string
  /** Returns whether a pageview is that of a visit that began with a click. */
  brings(event: DemoEvent): boolean
}

const DAY_MS = 86_400_000
const from = (text: string) => (event: DemoEvent) => event.url.includes(`utm_source=${text}`)

const linksFrom = (start: number): readonly DemoLink[] => [
  {
    link: {
      ...{ slug: "sale", path: "/products/1", title: "Sale of the month", tags: ["newsletter", "sale"] },
      utm: { utm_source: "newsletter", utm_medium: "email" },
      forward_query: true,
    },
    brings: from("newsletter"),
  },
  {
    link: {
      ...{ slug: "insta", path: "/products/2", title: "Instagram profile", tags: ["social"] },
      utm: { utm_source: "instagram", utm_medium: "paid_social" },
    },
    brings: from("instagram"),
  },
  {
    link: {
      ...{ slug: "beans", path: "/", title: "Label on the packaging", tags: ["print"], notes: "Printed on every bag of 250 g and 1 kg." },
      rules: [{ when: { country: ["FR"] }, destination: "https://shop.example/magazine/1" }],
    },
    query: "?qr=1",
    brings: ({ client, person, url }) => client.mobile && person % 4 === 0 && url.endsWith(".example/"),
  },
  {
    link: { slug: "show-hn", path: "/magazine/12", title: "Post on Hacker News" },
    brings: ({ referrer }) => referrer.startsWith("https://news.ycombinator.com"),
  },
  {
    link: {
      ...{ slug: "tasting", path: "/products/7", title: "Tasting in the shop", tags: ["sale", "social"] },
      expires_at: new Date(start + 60 * DAY_MS).toISOString(),
    },
    brings: ({ referrer, person }) => referrer.startsWith("https://www.facebook.com") && person % 2 === 0,
  },
]

const BOTS = ["Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "Twitterbot/1.0", "WhatsApp/2.23.20 A"]
/** One click in this number is followed by that of a bot. */
const BOT_EVERY = 9
const BEFORE_VISIT_MS = 1_500

/** Creates the links, and returns their clicks: each one shortly before the visit that it leads to. */
export async function beginDemo(
  { host, links }: Area,
  prefix: string,
  { site, userId, events }: DemoTraffic,
): Promise<Iterable<DemoRequest>> {
  const demo = linksFrom(host.now())
  const author = { site, userId, actor: host.audit.system, permissions: new Set<string>() }
  for (const { link } of demo) {
    const { path, ...fields } = link
    await links.create(author, { destination: `https://shop.example${path}`, ...fields })
  }
  return clicks(demo, prefix, events())
}

function* clicks(demo: readonly DemoLink[], prefix: string, events: Iterable<DemoEvent>): Generator<DemoRequest> {
  let count = 0
  for (const event of events) {
    const found = event.name === "pageview" ? demo.find(({ brings }) => brings(event)) : undefined
    if (!found) continue
    const { userAgent, language, address } = event.client
    const click = {
      at: event.at - BEFORE_VISIT_MS,
      path: `/${prefix}/${found.link.slug}${found.query ?? ""}`,
      userAgent,
      language,
      address,
    }
    yield click
    if (++count % BOT_EVERY === 0) yield { ...click, userAgent: BOTS[count % BOTS.length]!, address: "203.0.113.9" }
  }
}

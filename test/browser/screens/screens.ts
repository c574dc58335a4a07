import { existsSync } from "node:fs"
import type { Page } from "playwright-core"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, settled } from "../report/dashboard-stand.ts"

/** A screen in one of its states: with data, without data or without permission. */
export interface Screen {
  name: string
  path: string
  /** Opens the screen without a signed-in user. */
  guest?: true
  /** Opens a dialog or another part of the screen. */
  after?(page: Page): Promise<unknown>
  /** Expected rejections, such as for a shared view that does not exist. */
  refused?: readonly number[]
}

const SITE = "/sites/1"
const EMPTY = "/sites/2"

const CONSOLE = [
  ...["ingestion", "questions", "jobs", "schedules", "logs", "users", "organizations", "invitations", "keys", "sessions", "sites"],
  ...["host-disputes", "storage", "retention", "backups", "audit", "settings", "plugins", "maintenance"],
]

const press = (key: string) => (page: Page) => page.keyboard.press(key)
const click = (name: string) => async (page: Page) => {
  await page.getByRole("button", { name }).first().click()
  await settled(page)
}

const openFirstVisit = async (page: Page) => {
  await page.locator(".visits tbody th a").first().click()
  await page.locator(".timeline li").first().waitFor()
  await settled(page)
}

/** Every screen in its states. A new screen is added here and is then covered by all general checks. */
export const SCREENS: readonly Screen[] = [
  { name: "sign-in", path: "/signin", guest: true },
  { name: "forgotten password", path: "/forgot", guest: true },
  { name: "reset", path: "/reset/no-such-token", guest: true },
  { name: "invitation that is none", path: "/invite/no-such-token", guest: true, refused: [404] },
  { name: "shared view that is none", path: "/share/s/no-such-slug", guest: true, refused: [404] },
  { name: "all sites", path: "/sites" },
  { name: "new site", path: "/sites/new" },
  { name: "dashboard", path: `${SITE}?period=28d` },
  { name: "dashboard, filtered", path: `${SITE}?period=28d&f=page:is:/pricing&f=country:is_not:DE` },
  { name: "dashboard, filtered by a goal", path: `${SITE}?period=28d&f=goal:is:signup` },
  { name: "dashboard of today", path: `${SITE}?period=today` },
  { name: "dashboard without visits", path: `${SITE}?period=28d&f=page:is:/nowhere` },
  { name: "dashboard of a new site", path: EMPTY },
  { name: "dashboard with its filter editor", path: `${SITE}?period=28d`, after: press("/") },
  { name: "dashboard with its calendar", path: `${SITE}?period=28d`, after: press("c") },
  { name: "dashboard with its keys", path: `${SITE}?period=28d`, after: press("?") },
  { name: "dashboard with its chart as a table", path: `${SITE}?period=28d`, after: press("t") },
  { name: "goal dialog", path: `${SITE}/goals?period=28d`, after: click("Add goal") },
  { name: "key dialog", path: "/org/1/keys", after: click("Create API key") },
  { name: "details", path: `${SITE}/details/page?period=28d` },
  { name: "realtime", path: `${SITE}/realtime` },
  { name: "realtime of a new site", path: `${EMPTY}/realtime` },
  { name: "events", path: `${SITE}/events?period=28d` },
  { name: "events of a new site", path: `${EMPTY}/events` },
  { name: "campaigns", path: `${SITE}/campaigns?period=28d` },
  { name: "web vitals", path: `${SITE}/web-vitals?period=28d` },
  { name: "web vitals of a new site", path: `${EMPTY}/web-vitals` },
  { name: "visits", path: `${SITE}/visits?period=28d` },
  { name: "visits of a new site", path: `${EMPTY}/visits` },
  { name: "visit", path: `${SITE}/visits?period=28d`, after: openFirstVisit },
  { name: "visit that is none", path: `${SITE}/visits/0123456789abcdef?period=28d`, refused: [404] },
  { name: "goals", path: `${SITE}/goals?period=28d` },
  { name: "goals of a new site", path: `${EMPTY}/goals` },
  { name: "funnels", path: `${SITE}/funnels?period=28d` },
  { name: "funnel", path: `${SITE}/funnels/1?period=28d` },
  { name: "journeys", path: `${SITE}/journeys?period=28d` },
  { name: "search queries of a site without a search engine", path: `${SITE}/search-queries`, refused: [409] },
  { name: "email reports", path: `${SITE}/email-reports` },
  { name: "report dialog", path: `${SITE}/email-reports`, after: click("New report") },
  ...["", "/webhooks", "/alerts", "/payments"].map((section) => ({
    name: `integrations${section}`,
    path: `${SITE}/integrations${section}`,
  })),
  { name: "chat dialog", path: `${SITE}/integrations`, after: click("Connect Slack") },
  { name: "webhook dialog", path: `${SITE}/integrations/webhooks`, after: click("Create your first webhook") },
  { name: "alert dialog", path: `${SITE}/integrations/alerts`, after: click("Create your first alert") },
  ...["general", "tracking", "goals", "shields", "privacy", "sharing", "access", "danger"].map((section) => ({
    name: `site settings, ${section}`,
    path: `${SITE}/settings/${section}`,
  })),
  ...["members", "invitations", "keys", "mcp", "usage", "settings", "providers", "domains", "audit"].map((section) => ({
    name: `organization, ${section}`,
    path: `/org/1/${section}`,
  })),
  ...["profile", "security", "sessions", "preferences"].map((section) => ({
    name: `account, ${section}`,
    path: `/account/${section}`,
  })),
  ...["", "/api", "/mcp", "/keyboard"].map((topic) => ({ name: `help${topic}`, path: `/help${topic}` })),
  ...["", ...CONSOLE.map((section) => `/${section}`)].map((section) => ({ name: `console${section}`, path: `/admin${section}` })),
  { name: "nothing here", path: "/sites/999", refused: [404] },
]

/** A name with many words, one of which is longer than a phone is wide. */
const LONG_NAME = "The shop that sells shoes and boots to everyone, wholesale_and_in_large_quantities_beyond_limits"

export interface ScreenStand extends DashboardStand {
  /** The session of the owner. */
  cookie: string
}

/** Opens an instance with everything that screens can show. Its owner is an instance administrator. */
export async function openScreens(): Promise<ScreenStand> {
  const stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
  const { instance } = stand
  await fillSite(instance, { hostile: true })
  const { sites, goals, funnels, organizations } = instance.app.instance
  await sites.update(1, { name: LONG_NAME, timezone: "America/Argentina/ComodRivadavia" })
  await sites.create((await organizations.list())[0]!.id, { name: "New site", hosts: ["new.example", "*.new.example"] })
  const rival = await organizations.create({ name: "Mill" })
  await sites.create(rival.id, { name: "Rival", hosts: ["shop.example", "a-long-name-of-a-host-below.new.example", "*.new.example"] })
  await goals.create(instance.site, { kind: "event", value: "signup" })
  await goals.create(instance.site, { kind: "page", value: "/pricing", name: LONG_NAME })
  const steps = [
    { type: "page" as const, value: "/" },
    { type: "page" as const, value: "/pricing" },
    { type: "event" as const, value: "signup" },
  ]
  await funnels.create(instance.site, { name: `Sign-up: ${LONG_NAME}`, steps })
  const cookie = await stand.signIn({ role: "owner", isInstanceAdmin: true })
  return { ...stand, cookie }
}

const AXE = new URL("../../../node_modules/axe-core/axe.min.js", import.meta.url).pathname
if (!existsSync(AXE)) throw new Error("axe-core is not installed")

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
/** The rules whose result depends on the theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"]

/** Returns axe's findings for WCAG 2 A and AA, 2.1, 2.2 AA and best practices, or for the rules on colours only, with the elements. */
export async function violations(page: Page, { onlyColours = false } = {}): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await Bun.file(AXE).text())
  const options = { runOnly: onlyColours ? COLOUR_RULES : TAGS, resultTypes: ["violations"] }
  // Axe describes every element that it has checked, so the page returns only what is needed.
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`
  const found = await page.evaluate<[id: string, elements: string[]][]>(run)
  return found.map(([id, elements]) => `${id}: ${elements.map((html) => html.slice(0, 120)).join(" | ")}`)
}

/** A screen is checked in the first theme, and then its colours in the second. */
export type Themes = readonly ["light", "dark"] | readonly ["dark", "light"]

/** Returns the violations of a page by theme. In the second theme, only the rules on colours are checked. */
export async function violationsInThemes(page: Page, themes: Themes): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [index, colorScheme] of themes.entries()) {
    // No colour transition is running during the check.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    await settled(page)
    found[colorScheme] = await violations(page, { onlyColours: index > 0 })
  }
  return found
}

/** Returns the pixels by which the page is wider than the window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

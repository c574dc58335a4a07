import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import { pages } from "../../../plugins/pages.ts"
import type { SignInAs } from "../../kit.ts"
import { bySize } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, type WatchedPage } from "../report/dashboard-stand.ts"
import { trackRequests } from "../requests.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
let foreign: { site: number; organization: number }
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  await stand.signIn()
  await fillSite(stand.instance, { days: 3 })
  foreign = await fillInstance()
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** Creates a goal and a funnel on site 1, a second site, and a site of another organization. */
async function fillInstance() {
  const { instance } = stand
  const { sites, goals, funnels, organizations } = instance.app.instance
  await goals.create(instance.site, { kind: "event", value: "signup" })
  await funnels.create(instance.site, {
    name: "Sign-up",
    steps: [
      { type: "page", value: "/" },
      { type: "event", value: "signup" },
    ],
  })
  await sites.create(instance.site.organization_id, { name: "Beside", hosts: ["beside.example"] })
  const other = await organizations.create({ name: "Elsewhere" })
  const made = await sites.create(other.id, { name: "Foreign", hosts: ["foreign.example"] })
  return { site: made.id, organization: other.id }
}

const PEOPLE = {
  owner: { role: "owner" },
  admin: { role: "admin" },
  editor: { role: "editor" },
  viewer: { role: "viewer" },
  guest: { role: "guest", siteRole: "viewer" },
  "guest who edits": { role: "guest", siteRole: "editor" },
  "guest of another site": { role: "guest", siteRole: "viewer", siteId: 2 },
  "user without a role": {},
} as const satisfies Record<string, SignInAs>
type Person = keyof typeof PEOPLE
const EVERYONE = Object.keys(PEOPLE) as Person[]

/** Entries of the core in the groups of the rail. */
const OWN = {
  traffic: ["Overview", "Realtime", "Visits", "Campaigns", "Events"],
  behaviour: ["Goals", "Funnels", "Journeys"],
  tools: [],
}
/** Entries of the core that follow those of plugins. */
const LAST = { traffic: ["Web vitals"], behaviour: [], tools: [] }
type Group = keyof typeof OWN

const WRITERS: readonly Person[] = ["owner", "admin", "editor", "guest who edits"]
const READERS: readonly Person[] = [...WRITERS, "viewer", "guest"]
/** Returns the plugin pages of a group. All who may read a site may read them, except for the state of its integrations. */
const areasOf = (person: Person, group: Group): string[] =>
  pages
    .flatMap(({ areas = [] }) => areas)
    .filter((area) => area.group === group && (area.permission !== "integrations:read" || WRITERS.includes(person)))
    .map(({ label }) => label)
const MANAGERS: readonly Person[] = ["owner", "admin"]
const MEMBERS: readonly Person[] = ["owner", "admin", "editor", "viewer"]
const OF_ORGANIZATION = EVERYONE.filter((person) => person !== "user without a role")

interface DeepLink {
  path: string
  open: readonly Person[]
  /** People for whom the page does not exist, because they cannot see its site or organization. All others without access are told what they need. */
  hiddenFrom?: readonly Person[]
}

const OF_SITE = [
  ...["", "/details/page", "/realtime", "/events", "/campaigns", "/web-vitals"],
  ...["/goals", "/funnels", "/funnels/1", "/journeys"],
]
const SETTINGS = ["general", "tracking", "goals", "shields", "privacy", "access", "danger"]
const ORGANIZATION = ["members", "invitations", "keys", "settings", "providers", "domains", "audit"]
const NOT_OF_SITE: readonly Person[] = ["guest of another site", "user without a role"]
const onSite = (path: string, open: readonly Person[]): DeepLink => ({ path: `/sites/1${path}`, open, hiddenFrom: NOT_OF_SITE })
const inOrganization = (section: string, open: readonly Person[]): DeepLink => ({
  path: `/org/1/${section}`,
  open,
  hiddenFrom: ["user without a role"],
})

/** Section 6 of the specification, by path. */
const LINKS: readonly DeepLink[] = [
  { path: "/sites", open: EVERYONE },
  { path: "/sites/new", open: MANAGERS },
  ...OF_SITE.map((path) => onSite(path, READERS)),
  onSite("/visits", WRITERS),
  ...SETTINGS.map((section) => onSite(`/settings/${section}`, MANAGERS)),
  onSite("/settings/sharing", WRITERS),
  ...ORGANIZATION.map((section) => inOrganization(section, MANAGERS)),
  inOrganization("usage", MEMBERS),
  inOrganization("membership", OF_ORGANIZATION),
  inOrganization("mcp", OF_ORGANIZATION),
  inOrganization("danger", ["owner"]),
  { path: "/account/profile", open: EVERYONE },
  { path: "/admin", open: [] },
]

const expectedOf = (person: Person): Record<string, string> =>
  Object.fromEntries(
    LINKS.map(({ path, open, hiddenFrom }) => [path, open.includes(person) ? "open" : hiddenFrom?.includes(person) ? "missing" : "closed"]),
  )

/** Controls of a screen that change something, outside the sidebar, by the people who see them. Nobody else does. */
const OFFERED: Readonly<Record<string, { to: readonly Person[]; names: readonly string[] }[]>> = {
  "/sites": [{ to: MANAGERS, names: ["Add site"] }],
  "/sites/1": [
    { to: MANAGERS, names: ["Block source"] },
    { to: WRITERS, names: ["Share a view"] },
  ],
  "/sites/1/events": [{ to: WRITERS, names: ["Create goal"] }],
  "/sites/1/goals": [{ to: WRITERS, names: ["Add goal", "Delete signup", "Edit signup"] }],
  "/sites/1/funnels": [{ to: WRITERS, names: ["Add funnel"] }],
  "/sites/1/funnels/1": [{ to: WRITERS, names: ["Delete funnel", "Edit funnel"] }],
}
const WRITES = /^(Add|Create|Edit|Delete|Make|Share|Block|Remove|Reset|Change|Invite|Move)\b/
/** Screens on which all read-only controls are tried. */
const WALKED = ["/sites", ...OF_SITE.filter((path) => !path.startsWith("/details")).map((path) => `/sites/1${path}`)]

const offeredTo = (person: Person, path: string): string[] =>
  (OFFERED[path] ?? []).flatMap(({ to, names }) => (to.includes(person) ? names : [])).toSorted()

interface Walker extends WatchedPage {
  /** Loads a path and waits until all requests are answered. */
  type(path: string): Promise<void>
  /** Navigates without reloading the page. */
  go(path: string): Promise<void>
  answered(): Promise<void>
}

async function walkAs(person: Person): Promise<Walker> {
  const watched = await stand.look({ cookie: await stand.signIn(PEOPLE[person]) })
  const { page } = watched
  page.setDefaultTimeout(8_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  const type = async (path: string) => {
    await page.goto(stand.origin + path, { waitUntil: "domcontentloaded" })
    await answered()
  }
  const go = async (path: string) => {
    await page.evaluate((to) => {
      history.pushState(null, "", to)
      dispatchEvent(new PopStateEvent("popstate"))
    }, path)
    await answered()
  }
  return { ...watched, answered, type, go }
}

const SYSTEM: Readonly<Record<string, string>> = { "Page not found": "missing", "You don't have access to this page": "closed" }

async function outcomeOf(page: Page): Promise<string> {
  const heading = (await page.locator("h1").first().textContent()) ?? ""
  return SYSTEM[heading] ?? "open"
}

/** Tries all read-only controls of a screen and returns the names of those that would change something. */
async function readThrough({ page, answered }: Walker): Promise<string[]> {
  const names = await namesIn(page, "main button, main a.button")
  for (const table of (await page.locator("main table.ranked").all()).slice(0, 1))
    for (const menu of await table.locator("[aria-haspopup]").all()) names.push(...(await itemsOf(page, menu, answered)))
  for (const menu of await page.locator("main [aria-haspopup][aria-label='Export']").all())
    names.push(...(await itemsOf(page, menu, answered)))
  for (const file of await page.locator("main a[download]").all()) {
    const answer = await page.request.get(new URL((await file.getAttribute("href"))!, page.url()).href)
    expect({ file: answer.url(), status: answer.status() }).toMatchObject({ status: 200 })
  }
  for (const switched of await page.locator("main [role=tab][aria-selected=false], main button[aria-pressed=false]").all()) {
    // Another tab may have replaced this one.
    if (!(await switched.isVisible())) continue
    await switched.click()
    await answered()
  }
  return [...new Set(names.filter((name) => WRITES.test(name)))].toSorted()
}

const namesIn = (page: Page, selector: string): Promise<string[]> =>
  page.$$eval(selector, (all) => all.map((one) => one.getAttribute("aria-label") ?? one.textContent ?? ""))

async function itemsOf(page: Page, menu: Locator, answered: () => Promise<void>): Promise<string[]> {
  await menu.click()
  await answered()
  const names = await namesIn(page, "[role=menuitem]")
  await page.keyboard.press("Escape")
  return names
}

/** People who visit the screens. The check size includes an admin and a guest, whose roles differ most. */
const WALKERS = bySize<readonly Person[]>({ check: ["admin", "guest"], full: EVERYONE, release: EVERYONE })

test.skipIf(noBrowser).each(WALKERS)("%s: each screen is open, closed or missing according to the role", async (person) => {
  await using walker = await walkAs(person)
  const { page, type, go } = walker
  const expected = expectedOf(person)
  const found: Record<string, string> = {}
  await type("/account/profile")
  for (const { path } of LINKS) {
    // Closed pages are loaded by their URL, as with a shared link.
    await (expected[path] === "open" ? go(path) : type(path))
    found[path] = await outcomeOf(page)
    if (found[path] === "closed") expect(await page.locator("main").textContent()).toMatch(/You need the permission to .+ can grant it\./)
  }
  expect(found).toEqual(expected)
  // The document of a missing page is itself a 404. Nothing else may be rejected.
  const missing = LINKS.filter(({ path }) => found[path] === "missing").map(({ path }) => `404 ${path}`)
  expect(walker.refusals.filter((one) => !missing.includes(one))).toEqual([])
})

test.skipIf(noBrowser).each(WALKERS.filter((person) => ["admin", "editor", "viewer", "guest"].includes(person)))(
  "%s: all read-only controls work, and controls that change something appear only with the permission",
  async (person) => {
    await using walker = await walkAs(person)
    await walker.type("/account/profile")
    const offered: Record<string, string[]> = {}
    for (const path of WALKED) {
      await walker.go(path)
      offered[path] = await readThrough(walker)
    }
    expect(offered).toEqual(Object.fromEntries(WALKED.map((path) => [path, offeredTo(person, path)])))
    const rail = await namesIn(walker.page, "nav.rail a")
    const own = (group: Group) => OWN[group].filter((label) => label !== "Visits" || WRITERS.includes(person))
    const groups = (Object.keys(OWN) as Group[]).flatMap((group) => [...own(group), ...areasOf(person, group), ...LAST[group]])
    expect(rail).toEqual([...groups, ...(MANAGERS.includes(person) ? ["Settings"] : [])])
    expect({ refusals: walker.refusals, faults: walker.faults }).toEqual({ refusals: [], faults: [] })
  },
)

test.skipIf(noBrowser)("another organization and its site give exactly the same page as ones that do not exist", async () => {
  await using walker = await walkAs("owner")
  const { page, type } = walker
  const seenAt = async (path: string) => {
    const document = page.waitForResponse((response) => response.request().isNavigationRequest())
    await type(path)
    return { status: (await document).status(), title: await page.title(), text: await page.locator("#app").textContent() }
  }
  for (const path of ["/sites/:id", "/sites/:id/goals", "/sites/:id/settings/general", "/org/:id/members"]) {
    const others = await seenAt(path.replace(":id", String(path.startsWith("/org") ? foreign.organization : foreign.site)))
    expect(others).toEqual(await seenAt(path.replace(":id", "999")))
    expect(others).toMatchObject({ title: "Not found · Footfall", text: expect.stringContaining("Page not found") })
  }
})

test.skipIf(noBrowser)("a visitor without a session is asked to sign in, then sees the requested page", async () => {
  await using watched = await stand.look()
  for (const path of ["/sites/1?period=7d", "/sites/999", "/org/1/members", "/account/profile", "/admin"]) {
    await watched.page.goto(stand.origin + path)
    await watched.page.getByRole("heading", { name: "Sign in" }).waitFor()
    const { pathname, search } = new URL(watched.page.url())
    expect(pathname + search).toBe(`/signin?next=${encodeURIComponent(path)}`)
  }
})

test.skipIf(noBrowser)("offers no file if viewers may not export", async () => {
  const cookie = await stand.signIn({ role: "viewer" })
  const { body: me } = await stand.instance.api.get("/api/private/me", undefined, { cookie })
  const admin = await stand.signIn({ role: "owner" })
  const { id } = (me as { user: { id: number } }).user
  const path = `/api/private/organizations/1/members/${id}`
  const { body: member } = await stand.instance.api.get(path, undefined, { cookie: admin })
  const change = { denies: ["export:read"], version: (member as { version: number }).version }
  expect((await stand.instance.api.send("PATCH", path, change, undefined, { cookie: admin })).status).toBe(200)
  await using watched = await stand.look({ cookie })
  await watched.page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(watched.page)
  await watched.page.goto(`${stand.origin}/sites/1?period=7d`)
  await answered()
  expect(await watched.page.getByRole("link", { name: "CSV" }).count()).toBe(0)
  const items = await itemsOf(watched.page, watched.page.getByRole("button", { name: "Export" }), answered)
  expect(items).toEqual(["Copy link", "Copy as API call", "Copy as MCP prompt", "Print"])
  expect(watched.refusals).toEqual([])
})

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { sample } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { HOSTILE } from "../report/dashboard-data.ts"
import { trackRequests } from "../requests.ts"
import { openScreens, SCREENS, type ScreenStand } from "./screens.ts"

setDefaultTimeout(120_000)

let stand: ScreenStand
beforeAll(async () => {
  if (noBrowser) return
  stand = await openScreens()
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const [IMAGE, SCRIPT, ADDRESS, TEMPLATE, TURNED] = HOSTILE as [string, string, string, string, string]
/** The text as displayed: characters that change the direction become visible signs, and are removed from visitors' input. */
const TURNED_SHOWN = TURNED.replace("\u202e", "⟨U+202E⟩")
const TURNED_KEPT = TURNED.replace("\u202e", "")

/** Gives everything that users can name an attack as its name, in addition to visitors' input. Returns the URL of a shared view. */
async function nameThings(): Promise<string> {
  const { instance } = stand
  const ask = async (method: string, path: string, body: object) => {
    const answer = await instance.api.send(method, `/api/private${path}`, body, undefined, { cookie: stand.cookie })
    expect({ path, status: answer.status }).toEqual({ path, status: method === "PATCH" ? 200 : 201 })
    return answer.body as { slug: string }
  }
  const filters = [{ dimension: "page", operator: "is", values: [IMAGE] }]
  const steps = [
    { type: "event", value: SCRIPT },
    { type: "page", value: `/${TURNED}` },
  ]
  const provider = { name: IMAGE, issuer: "https://login.example.org", client_id: SCRIPT, client_secret: "between us two" }
  await ask("PATCH", "/me", { name: IMAGE })
  await ask("PATCH", "/organizations/1", { name: SCRIPT })
  const { version } = stand.instance.app.instance.sites.directory.byId(1)!
  await ask("PATCH", "/sites/1", { name: IMAGE, version })
  await ask("POST", "/sites/1/goals", { kind: "event", value: IMAGE, name: SCRIPT })
  await ask("POST", "/sites/1/goals", { kind: "page", value: `/${IMAGE}`, name: TEMPLATE })
  await ask("POST", "/sites/1/funnels", { name: IMAGE, steps })
  await ask("POST", "/sites/1/segments", { name: IMAGE, scope: "site", filters })
  await ask("POST", "/sites/1/annotations", { at: "2026-11-20", text: IMAGE, scope: "site" })
  await ask("POST", "/sites/1/shields", { kind: "page", value: `/${IMAGE}`, note: SCRIPT })
  await ask("POST", "/organizations/1/api-keys", { name: IMAGE, scopes: ["stats:read"], site_access: "all" })
  await ask("POST", "/organizations/1/providers", provider)
  // From a host that the site does not list, which is shown among the rejected ones.
  for (const text of HOSTILE)
    await instance.collect({ n: "pageview", d: "shop.example", u: `https://evil.example/${encodeURIComponent(text)}` })
  return `/share/s/${(await ask("POST", "/sites/1/shares", { name: IMAGE })).slug}`
}

const STATIC = /^\/help/
const DATED = "?period=28d"
const OTHER_TABS = ["sources:referrer", "sources:campaign", "sources:campaign-source", "pages:entry", "pages:exit", "acts:events"]
/** Every screen of a signed-in user that can show visitors' texts. */
const PATHS = [
  ...SCREENS.filter(({ guest, after, refused, path }) => !guest && !after && !refused && !STATIC.test(path)).map(({ path }) => path),
  ...OTHER_TABS.map((tab) => `/sites/1${DATED}&cards=${tab}`),
  ...["event", "source", "utm_campaign", "property:plan"].map((name) => `/sites/1/details/${name}${DATED}`),
  `/sites/1/funnels/2${DATED}`,
  "/admin/users/1",
  "/admin/organizations/1",
]

/** Screens on which an attack must be visible as text, otherwise the test would prove nothing. */
const SEEN: Readonly<Record<string, readonly string[]>> = {
  "/sites": [IMAGE],
  [`/sites/1${DATED}`]: [IMAGE, TEMPLATE],
  [`/sites/1${DATED}&cards=sources:campaign`]: [IMAGE, ADDRESS, TURNED_KEPT],
  [`/sites/1/details/event${DATED}`]: [IMAGE, SCRIPT, ADDRESS, TURNED_KEPT],
  [`/sites/1/details/property:plan${DATED}`]: [IMAGE, SCRIPT, ADDRESS, TURNED_KEPT],
  "/sites/1/realtime": [IMAGE, ADDRESS, TEMPLATE],
  [`/sites/1/events${DATED}`]: [IMAGE, SCRIPT, ADDRESS, TEMPLATE],
  [`/sites/1/campaigns${DATED}`]: [IMAGE, ADDRESS, TEMPLATE, TURNED_KEPT],
  [`/sites/1/visits${DATED}`]: [IMAGE, ADDRESS, TEMPLATE, TURNED_KEPT],
  [`/sites/1/goals${DATED}`]: [SCRIPT, TEMPLATE],
  [`/sites/1/funnels${DATED}`]: [IMAGE],
  [`/sites/1/funnels/2${DATED}`]: [SCRIPT, TURNED_SHOWN],
  "/sites/1/settings/shields": [IMAGE, SCRIPT, ADDRESS, TURNED_KEPT],
  "/org/1/members": [IMAGE, SCRIPT],
  "/org/1/keys": [IMAGE, SCRIPT],
  "/org/1/providers": [IMAGE, SCRIPT],
  "/org/1/audit": [IMAGE, SCRIPT, TEMPLATE],
  "/admin/ingestion": [IMAGE, ADDRESS, TURNED_KEPT],
  "/admin/users": [IMAGE],
  "/admin/organizations": [SCRIPT],
  "/admin/organizations/1": [SCRIPT],
  "/admin/audit": [IMAGE, SCRIPT, TEMPLATE],
}

/** Returns everything other than text that an attack has become: elements, attributes or executed code. */
const become = (page: Page) =>
  page.evaluate(() => {
    const led = [...document.querySelectorAll("[href], [src], [action]")].flatMap((element) =>
      ["href", "src", "action"].flatMap((name) => element.getAttribute(name) ?? []),
    )
    return {
      ran: "__hit" in window,
      elements: document.querySelectorAll("img[src=x], [onerror], body script:not([type='application/json'], [src^='/assets/'])").length,
      addresses: led.filter((one) => !["http:", "https:", "mailto:"].includes(new URL(one, location.href).protocol)),
      turned: [document.title, document.body.textContent].filter((text) => text!.includes("\u202e")),
    }
  })

const NOTHING = { ran: false, elements: 0, addresses: [], turned: [] }

test.skipIf(noBrowser)("visitors' input and users' names are text on every screen", async () => {
  const shared = await nameThings()
  await using looking = await stand.look({ cookie: stand.cookie })
  const { page } = looking
  page.setDefaultTimeout(15_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  await looking.open(`/sites/1${DATED}`)
  const answered = trackRequests(page)
  const unseen: Record<string, string[]> = {}
  for (const path of sample(PATHS)) {
    // Navigates within the dashboard, so that the effect of executed text would remain visible.
    await page.evaluate((to) => history.pushState(null, "", to), path)
    await answered()
    expect({ path, ...(await become(page)) }).toEqual({ path, ...NOTHING })
    const text = (await page.locator("body").textContent()) ?? ""
    const missing = SEEN[path]?.filter((one) => !text.includes(one)) ?? []
    if (missing.length > 0) unseen[path] = missing
  }
  expect(unseen).toEqual({})
  expect(Object.keys(SEEN).filter((path) => !PATHS.includes(path))).toEqual([])
  expect(looking.faults).toEqual([])
  expect(looking.refusals).toEqual([])

  // Reloads, because the server renders part of the page.
  await using guest = await stand.look()
  await guest.page.clock.setFixedTime(stand.instance.clock.now())
  await guest.open(shared)
  await guest.page.getByRole("heading", { name: IMAGE }).waitFor()
  expect(await become(guest.page)).toEqual(NOTHING)
  expect(guest.faults).toEqual([])
  for (const path of ["/sites", `/sites/1${DATED}`]) {
    await looking.open(path)
    expect(await become(page)).toEqual(NOTHING)
  }
})

import { expect, test } from "bun:test"
import type { OpenShareResponse } from "../../src/domain/share.ts"
import { DEFAULT_ADDRESS } from "../../src/domain/site-address.ts"
import type { ListedSiteResponse } from "../../src/domain/site-response.ts"
import { allowedAddress, allowedArguments } from "../../src/ui/screens/share/share-source.ts"
import { applyMessage, checksOf, type LiveState } from "../../src/ui/screens/sites/live-state.ts"
import { grouped, ordered, troubleOf } from "../../src/ui/screens/sites/site-list.ts"
import { snippetText } from "../../src/ui/screens/sites/snippets.tsx"

const NOW = Date.parse("2026-11-21T12:00:00Z")
const site = (id: number, more: Partial<ListedSiteResponse> = {}): ListedSiteResponse => ({
  id,
  name: `Site ${id}`,
  hosts: [`s${id}.example`],
  timezone: "Europe/Berlin",
  retention_days: null,
  revenue_currency: "EUR",
  tracking_id: `t-${id}`,
  snippet: "",
  organization: { id: 1, name: "Shop" },
  role: "owner",
  pinned: false,
  created_at: `2026-11-0${id}T00:00:00Z`,
  updated_at: `2026-11-0${id}T00:00:00Z`,
  version: 1,
  current_visitors: 0,
  last_event_at: "2026-11-21T11:00:00Z",
  ...more,
})
const ids = (sites: readonly ListedSiteResponse[]) => sites.map(({ id }) => id)

test("sorts sites with pinned ones first and those without a figure last", () => {
  const sites = [
    site(1, { visitors: 5, change_percent: -2 }),
    site(2),
    site(3, { visitors: 9, change_percent: 4 }),
    site(4, { pinned: true }),
  ]
  expect(ids(ordered(sites, "", "visitors"))).toEqual([4, 3, 1, 2])
  expect(ids(ordered(sites, "", "change"))).toEqual([4, 3, 1, 2])
  expect(ids(ordered(sites, "", "name"))).toEqual([4, 1, 2, 3])
  expect(ids(ordered(sites, "", "created"))).toEqual([4, 3, 2, 1])
  expect(ids(ordered(sites, " S3.EX", "name"))).toEqual([3])
})

test("groups sites by organization if there are several", () => {
  const other = site(2, { organization: { id: 2, name: "Bakery" } })
  expect(grouped([site(1), other, site(3)]).map(({ name, sites }) => [name, ids(sites)])).toEqual([
    ["Bakery", [2]],
    ["Shop", [1, 3]],
  ])
  expect(grouped([site(1), site(3)]).map(({ name }) => name)).toEqual([undefined])
})

test.each([
  [{ last_event_at: null }, "Waiting for the first event"],
  [{ last_event_at: "2026-11-20T12:00:01Z" }, undefined],
  [{ last_event_at: "2026-11-20T12:00:00Z" }, "No data for 1 day"],
  [{ last_event_at: "2026-11-18T12:00:00Z" }, "No data for 3 days"],
  [{ visitors_by_day: [50, 50, 50, 50, 50, 50, 151] }, "More visitors than usual today"],
  [{ visitors_by_day: [50, 50, 50, 50, 50, 50, 150] }, undefined],
  [{ visitors_by_day: [1, 1, 1, 1, 1, 1, 99] }, undefined],
] as const)("marks a site with %j: %p", (more, mark) => {
  expect(troubleOf(site(1, more as Partial<ListedSiteResponse>), NOW)).toBe(mark)
})

const HOSTS = { hosts: ["shop.example"], timezone: "Europe/Berlin" }
const QUIET: LiveState = { refused: [] }

test("the installation check proceeds from the script to the event, and a rejected host fails it until allowed", () => {
  const check = (state: LiveState, checked: object = HOSTS) => checksOf(checked as typeof HOSTS, state, "Europe/Paris", NOW)
  expect(check(QUIET)).toEqual({ script: "waiting", event: "waiting", host: "waiting", unknownHosts: [], zone: "ok" })
  const seen = applyMessage(QUIET, { type: "script_seen", data: { at: "2026-11-21T12:00:00Z", hostname: "shop.example" } })
  expect(check(seen)).toMatchObject({ script: "ok", event: "waiting" })
  const refused = applyMessage(seen, { type: "host_refused", data: { at: "2026-11-21T12:00:00Z", hostname: "foo.dev" } })
  expect(check(refused)).toMatchObject({ event: "waiting", host: "failed", unknownHosts: ["foo.dev"] })
  expect(applyMessage(refused, { type: "host_refused", data: { at: "2026-11-21T12:00:01Z", hostname: "foo.dev" } }).refused).toEqual([
    "foo.dev",
  ])
  expect(check(refused, { ...HOSTS, hosts: ["shop.example", "foo.dev"] })).toMatchObject({ host: "waiting", unknownHosts: [] })
  const data = { at: "2026-11-21T12:00:02Z", name: "pageview", page: "/", hostname: "shop.example" }
  expect(check(applyMessage(seen, { type: "event", data }))).toMatchObject({ event: "ok", host: "ok" })
  expect(checksOf(HOSTS, QUIET, "Asia/Tokyo", NOW).zone).toBe("failed")
})

test("the installation check explains why a loaded script sends nothing", () => {
  const at = "2026-11-21T12:00:00Z"
  const check = (state: LiveState, checked: object = HOSTS) => checksOf(checked as typeof HOSTS, state, "Europe/Berlin", NOW)
  const seenOn = (hostname: string) => applyMessage(QUIET, { type: "script_seen", data: { at, hostname } })
  const silentOn = (hostname: string): LiveState => ({ ...seenOn(hostname), isSilent: true })
  expect(check(silentOn("localhost"))).toMatchObject({ event: "failed", trouble: { kind: "local", hostname: "localhost" } })
  expect(check(silentOn("127.0.0.1"))).toMatchObject({ trouble: { kind: "local", hostname: "127.0.0.1" } })
  expect(check(silentOn("shop.example"))).toMatchObject({ event: "failed", trouble: { kind: "silent", hostname: "shop.example" } })
  expect(check(silentOn("shop.example"), { ...HOSTS, first_event_at: at })).toMatchObject({ event: "ok" })
  const dropped = (reason: string) =>
    applyMessage(seenOn("shop.example"), { type: "event_dropped", data: { at, hostname: "shop.example", reason } })
  expect(check(dropped("bot"))).toMatchObject({ event: "failed", trouble: { kind: "dropped", hostname: "shop.example", reason: "bot" } })
  expect(check(dropped("no_visit")).event).toBe("waiting")
  const event = { at, name: "pageview", page: "/", hostname: "shop.example" }
  expect(check(applyMessage(dropped("bot"), { type: "event", data: event }))).toMatchObject({ event: "ok", script: "ok" })
})

const VIEW: OpenShareResponse = {
  password_required: false,
  name: "For Ann",
  site: { name: "Shop", timezone: "UTC" },
  sections: ["summary"],
  allow_range: false,
  allow_filters: false,
  allow_export: false,
}

test("a shared view queries only what its owner allows", () => {
  const given = { period: "7d", compare: "previous_period", match_weekday: true, filters: [], metrics: ["visitors"] }
  expect(allowedArguments(VIEW, given)).toEqual({ metrics: ["visitors"] })
  expect(allowedArguments({ ...VIEW, allow_range: true, allow_filters: true }, given)).toEqual(given)
  const filters = [{ dimension: "page" as const, operator: "is" as const, values: ["/"] }]
  const address = { ...DEFAULT_ADDRESS, period: "custom" as const, from: "2026-11-01", to: "2026-11-02", filters, segment: 7 }
  expect(allowedAddress(VIEW, address)).toEqual({ ...DEFAULT_ADDRESS, filters: [] })
  const { segment: _, ...open } = address
  expect(allowedAddress({ ...VIEW, allow_range: true, allow_filters: true }, address)).toEqual(open)
})

test("snippets contain the site and the collection URL", () => {
  const snippet = '<script defer src="https://stats.example/js/script.js" data-site="t-1"></script>'
  const shown = { id: 7, hosts: ["*.shop.example"], tracking_id: "t-1", snippet }
  expect(snippetText("html", shown)).toBe(snippet)
  expect(snippetText("npm", shown)).toContain('endpoint: "https://stats.example/api/event"')
  expect(snippetText("server", shown)).toContain("https://stats.example/api/public/v1/sites/7/events")
  expect(snippetText("server", shown)).toContain('"url": "https://www.shop.example/"')
  expect(snippetText("tag-manager", shown)).toContain('setAttribute("data-site", "t-1")')
  expect(snippetText("wordpress", shown)).toContain(`echo '${snippet}';`)
  expect(snippetText("npm", shown)).not.toContain("captureOnLocalhost")
  const local = { ...shown, hosts: ["localhost"] }
  expect(snippetText("npm", local)).toContain("captureOnLocalhost: true,")
  expect(snippetText("tag-manager", local)).toContain('setAttribute("data-local", "")')
  expect(snippetText("server", local)).toContain('"url": "http://localhost/"')
})

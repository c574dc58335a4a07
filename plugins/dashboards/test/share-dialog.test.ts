import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { type DashboardStand, noBrowser, openDashboard, overflow, settled, tabTo, violations } from "#plugin/test/browser"
import dashboards from "../dashboards.ts"
import { SITE, widget } from "./kit.ts"

// A member creates, edits and revokes public links, and a stranger sees the effect in another browser.

setDefaultTimeout(60_000)

let stand: DashboardStand
let cookie: string
let blog: number
let board: number

beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard({ plugins: [dashboards] })
  cookie = await stand.signIn({ role: "owner" })
  const { api, app } = stand.instance
  blog = (await app.instance.sites.create(1, { name: "Blog", hosts: ["blog.example"] })).id
  for (const site of [1, blog]) await api.send("PATCH", `/api/private/sites/${site}/settings`, { min_group: 1 }, undefined, { cookie })
  const events = ["/", "/pricing"].map((path) => ({ name: "pageview", url: `https://example.com${path}` }))
  await api.post("/api/public/v1/sites/1/events", { events }, stand.instance.eventsKey)
  const widgets = [widget("metric", { metric: "pageviews" }, { w: 4, title: "Views" })]
  const body = { name: "Partners", visibility: "site", range: { period: "7d" }, widgets }
  board = ((await api.post(`${SITE}/dashboards`, body, undefined, { cookie })).body as { id: number }).id
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

interface Share {
  id: number
  name: string
  slug: string
  allow_range: boolean
}
const shares = async (): Promise<Share[]> =>
  ((await stand.instance.api.get(`${SITE}/dashboards/${board}/shares`, undefined, { cookie })).body as { data: Share[] }).data
const newShare = async (fields: object): Promise<Share> =>
  (await stand.instance.api.post(`${SITE}/dashboards/${board}/shares`, fields, undefined, { cookie })).body as Share
const figure = (page: Page) => page.getByRole("region", { name: "Views", exact: true }).locator(".figure-value").textContent()

async function openDialog(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Actions for Partners" }).click()
  await page.getByRole("menuitem", { name: "Share" }).click()
  await settled(page)
}

test.skipIf(noBrowser)("a public link is created with the keyboard alone, and focus returns to where it was", async () => {
  await using member = await stand.look({ cookie })
  const { page } = member
  await member.open(`/sites/1/dashboards/${board}`)
  const menu = page.getByRole("button", { name: "Actions for Partners" })
  await menu.focus()
  await page.keyboard.press("Enter")
  const item = page.getByRole("menuitem", { name: "Share" })
  for (let presses = 0; presses < 20 && !(await item.evaluate((one) => one === document.activeElement)); presses++)
    await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "Share Partners" }).waitFor()
  await settled(page)
  await tabTo(page, "New public link")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "New public link" }).waitFor()
  await page.keyboard.type("By keys")
  await tabTo(page, "Change the period")
  await page.keyboard.press("Space")
  await tabTo(page, "Create public link")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "By keys" }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("New public link")
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  expect((await shares()).find(({ name }) => name === "By keys")).toMatchObject({ allow_range: false })
  expect(member.faults).toEqual([])
})

test.skipIf(noBrowser).each([
  [375, "light"],
  [375, "dark"],
  [1280, "dark"],
] as const)("%i px, %s: the dialog, its form and the question before revoking are accessible and fit", async (width, theme) => {
  const { name } = await newShare({ name: `Seen at ${width} ${theme}`, embed_origins: ["https://www.example.com"] })
  await using member = await stand.look({ cookie, width, theme })
  const { page } = member
  await member.open(`/sites/1/dashboards/${board}`)
  await openDialog(page)
  const seen = async () => ({ found: await violations(page), beside: await overflow(page) })
  expect(await seen()).toEqual({ found: [], beside: 0 })
  await page.getByRole("button", { name: "New public link" }).click()
  expect(await seen()).toEqual({ found: [], beside: 0 })
  await page.getByRole("dialog", { name: "New public link" }).getByRole("button", { name: "Cancel" }).click()
  await page.getByRole("button", { name: `Revoke link to ${name}` }).click()
  expect(await seen()).toEqual({ found: [], beside: 0 })
})

test.skipIf(noBrowser)("the preview of a link shows the figures that its viewers see", async () => {
  const { name } = await newShare({ name: "Narrow", locked_filters: [{ dimension: "page", values: ["/pricing"] }] })
  const { name: locked } = await newShare({ name: "With password", password: "correct horse" })
  await using member = await stand.look({ cookie })
  const { page } = member
  await member.open(`/sites/1/dashboards/${board}`)
  await openDialog(page)
  const entry = (title: string) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title, exact: true }) })
  await entry(name).getByText("Preview").click()
  await settled(page)
  expect(await entry(name).locator(".figure-value").textContent()).toBe("1")
  await entry(locked).getByText("Preview").click()
  await entry(locked).getByText("This link asks for its password first.").waitFor()
  expect(await violations(page)).toEqual([])
  expect(member.faults).toEqual([])
})

test.skipIf(noBrowser)("an edited link shows the change to the stranger who has it, and a revoked one leads nowhere", async () => {
  const { slug } = await newShare({ name: "Changing" })
  await using stranger = await stand.look()
  await stranger.open(`/share/d/${slug}`)
  expect(await figure(stranger.page)).toBe("2")
  await using member = await stand.look({ cookie })
  const { page } = member
  await member.open(`/sites/1/dashboards/${board}`)
  await openDialog(page)
  await page.getByRole("button", { name: "Edit Changing" }).click()
  const form = page.getByRole("dialog", { name: "Edit public link" })
  await form.getByLabel("Require a password").check()
  await form.getByLabel("Password", { exact: true }).fill("correct horse")
  await form.getByRole("button", { name: "Save changes" }).click()
  await form.waitFor({ state: "detached" })
  await stranger.open(`/share/d/${slug}`)
  await stranger.page.getByLabel("Password").waitFor()
  await page.getByRole("button", { name: "Revoke link to Changing" }).click()
  await page.getByRole("dialog", { name: "Revoke this link?" }).getByRole("button", { name: "Revoke link" }).click()
  await page.getByRole("heading", { name: "Changing" }).waitFor({ state: "detached" })
  await stranger.open(`/share/d/${slug}`)
  await stranger.page.getByText("This shared view doesn't exist or was removed.").waitFor()
})

test.skipIf(noBrowser)("viewers choose among the sites of a link, and the URL keeps the choice", async () => {
  await using member = await stand.look({ cookie })
  const { page } = member
  await member.open(`/sites/1/dashboards/${board}`)
  await openDialog(page)
  await page.getByRole("button", { name: "New public link" }).click()
  await page.getByLabel("Name", { exact: true }).fill("Two sites")
  await page.getByLabel("Blog").check()
  await page.getByRole("button", { name: "Create public link" }).click()
  await page.getByRole("heading", { name: "Two sites" }).waitFor()
  const { slug } = (await shares()).find(({ name }) => name === "Two sites")!
  await using stranger = await stand.look()
  await stranger.open(`/share/d/${slug}`)
  expect(await figure(stranger.page)).toBe("2")
  await stranger.page.getByRole("button", { name: /^Site: / }).click()
  await stranger.page.getByRole("menuitemradio", { name: "Blog" }).click()
  await settled(stranger.page)
  expect([new URL(stranger.page.url()).searchParams.get("site"), await figure(stranger.page)]).toEqual(["1", "0"])
  await stranger.page.reload()
  await settled(stranger.page)
  await stranger.page.getByRole("button", { name: "Site: Blog" }).waitFor()
  expect(await figure(stranger.page)).toBe("0")
})

import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { BrowserContext, Page } from "playwright-core"
import { canMountDisk } from "../../../scripts/reliability/disk-full.ts"
import { groupRow } from "../../../src/store/events/bytes/columns.ts"
import { type Serving, serving } from "../../cli/footfall.ts"
import { send } from "../../cli/load.ts"
import { temporaryFolder } from "../../kit.ts"
import { noBrowser, openContext } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { openDashboard } from "../report/dashboard-stand.ts"

setDefaultTimeout(120_000)

const ADA = { name: "Ada Byron", email: "ada@example.org", password: "correct horse battery staple", organization: "Engines" }
const SITE = { name: "Shop", hosts: ["shop.example"], timezone: "UTC" }

const post = (context: BrowserContext, { address }: Serving, path: string, data: object) =>
  context.request.post(`${address}/api/private/${path}`, { headers: { origin: address }, data })

async function openPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  return page
}

/** Signs in the first administrator of a new instance with a site. */
async function firstAdmin(server: Serving): Promise<Page> {
  const context = await openContext({ locale: "en-GB" })
  const { setup } = server.printed as { setup: { token: string } }
  const answer = await post(context, server, "setup", { token: setup.token, ...ADA, site: SITE })
  expect(answer.status()).toBe(201)
  return openPage(context)
}

/** Reloads today's dashboard and returns the status bar and the visitors. */
async function look(page: Page, { address }: Serving): Promise<{ bar: string[]; visitors: string | null }> {
  const answered = page.waitForResponse((response) => response.url().endsWith("/admin/system/state"))
  await page.goto(`${address}/sites/1?period=today`)
  await page.getByRole("heading", { name: "Sources" }).waitFor()
  await answered
  await page.waitForLoadState("networkidle")
  const states = await page.locator(".state-bar p").allTextContents()
  return {
    bar: states.map((text) => text.replace(/ Since .*$/, "")).sort(),
    visitors: await page
      .locator(".figure", { hasText: /^Visitors/ })
      .locator(".figure-value")
      .textContent(),
  }
}

const LOCKED =
  "Another process has locked a store. Recorded data is safe, but new events are rejected until the lock is released. Find the process with fuser on catalog.db and events.db in the data folder (often a second Footfall, sqlite3, or a program that copies files) and end it. Events are then accepted again without a restart."
const DAMAGED =
  "A store is damaged. Intact data is still shown. Nothing is repaired or deleted automatically. Run footfall backup list, then footfall backup restore <id>."
const FULL =
  "The disk is full. Recorded data is safe and reports still work, but new events are rejected until there is space. Free disk space. Events are then accepted again without a restart."
/** Message below a form that could not be submitted: what is safe and what to do. */
const KEPT = "Nothing was saved. Your input is kept; try again later."

/** Locks a store as another program does. */
function hold(folder: string, name: "events.db" | "catalog.db"): Disposable {
  const other = new Database(join(folder, name))
  other.run("begin immediate")
  return {
    [Symbol.dispose]() {
      other.run("rollback")
      other.close()
    },
  }
}

/** Overwrites half a kilobyte of a page of the file while no process uses it. */
function damage(folder: string): void {
  const path = join(folder, "events.db")
  const db = new Database(path)
  db.run("pragma wal_checkpoint(truncate)")
  const { page_size } = db.query<{ page_size: number }, []>("pragma page_size").get()!
  const { rootpage } = db.query<{ rootpage: number }, []>("select rootpage from sqlite_master where name = 'drop_samples_site'").get()!
  db.close()
  const file = openSync(path, "r+")
  writeSync(file, new Uint8Array(512).fill(0xff), 0, 512, (rootpage - 1) * page_size)
  closeSync(file)
}

test.skipIf(noBrowser)("reports a locked and a damaged store on every page, with what is safe and what to do", async () => {
  using folder = temporaryFolder()
  await using server = await serving(folder.path)
  const page = await firstAdmin(server)
  expect(await send(server.address, "/page-before", 1)).toBe(202)
  expect(await look(page, server)).toEqual({ bar: [], visitors: "1" })
  {
    using _held = hold(folder.path, "events.db")
    expect(await send(server.address, "/page-refused", 2)).toBe(503)
    expect(await look(page, server)).toEqual({ bar: [LOCKED], visitors: "1" })
    await page.goto(`${server.address}/admin/jobs`)
    await page.locator(".state-bar").getByText("Another process has locked a store.").waitFor()
  }
  expect(await send(server.address, "/page-after", 1)).toBe(202)
  expect(await look(page, server)).toEqual({ bar: [], visitors: "1" })

  await page.goto(`${server.address}/sites/1/goals`)
  await page.getByRole("button", { name: "Add goal" }).first().click()
  const dialog = page.getByRole("dialog", { name: "Add goal" })
  await dialog.getByLabel("Event name", { exact: true }).fill("signup")
  {
    using _held = hold(folder.path, "catalog.db")
    await dialog.getByRole("button", { name: "Add goal" }).click()
    await dialog.getByRole("alert").waitFor()
    expect(await dialog.getByRole("alert").locator("p").allTextContents()).toEqual([
      "Another program has locked a store. Recorded data is safe. If this persists, the operator of Footfall has to end that program.",
      KEPT,
    ])
  }
  // The input is kept and can be submitted again.
  await dialog.getByRole("button", { name: "Add goal" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "signup", exact: true }).waitFor()

  await server.end("SIGKILL")
  damage(folder.path)
  await using again = await serving(folder.path)
  // After a crash both stores are checked; until then their state is unknown.
  while ((await fetch(`${again.address}/health`)).ok) await Bun.sleep(50)
  expect(await send(again.address, "/page-refused", 3)).toBe(503)
  const context = await openContext({ locale: "en-GB" })
  expect((await post(context, again, "auth/login", { email: ADA.email, password: ADA.password })).status()).toBe(200)
  expect(await look(await openPage(context), again)).toEqual({ bar: [DAMAGED], visitors: "1" })
})

test.skipIf(noBrowser || !canMountDisk())("reports a full disk while reports keep working, until there is space", async () => {
  using folder = temporaryFolder()
  if (!Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", folder.path]).success)
    throw new Error("tmpfs cannot be mounted")
  try {
    await using server = await serving(folder.path, "--limit-visitor-events", "0")
    const page = await firstAdmin(server)
    expect(await send(server.address, "/page-before", 1)).toBe(202)
    const ballast = join(folder.path, "ballast")
    for (let size = 8 << 20; size >= 1_024; size >>= 1) {
      try {
        writeFileSync(ballast, new Uint8Array(size), { flag: "a" })
      } catch {
        // A smaller write may still fit.
      }
    }
    let sent = 0
    while ((await send(server.address, `/page-${++sent}-x`, 1)) !== 503) expect(sent).toBeLessThan(20_000)
    // A warning that it is almost full may also appear.
    expect(await look(page, server)).toEqual({ bar: expect.arrayContaining([FULL]), visitors: "1" })
    rmSync(ballast)
    while ((await send(server.address, `/page-${++sent}-x`, 1)) !== 202) await Bun.sleep(50)
    // The catalog notices the space at its next write.
    while ((await look(page, server)).bar.includes(FULL)) await Bun.sleep(50)
  } finally {
    Bun.spawnSync(["umount", "-l", folder.path])
  }
})

test.skipIf(noBrowser)("a card reports damage to its part of the store, and the others keep working", async () => {
  await using stand = await openDashboard()
  const { instance } = stand
  await fillSite(instance, { days: 2 })
  instance.clock.advance(3 * 3_600_000)
  await instance.app.instance.events.seal(instance.clock.now())
  const db = new Database(join(instance.dataDir, "events.db"))
  const column = groupRow(0, "clients")
  const spoil = db.query("update segment_columns set data = cast(substr(data, 1, length(data) - 1) || x'00' as blob) where id % 128 = ?")
  expect(spoil.run(column).changes).toBeGreaterThan(0)
  db.close()
  await using looking = await stand.look({ cookie: await stand.signIn({ role: "owner", isInstanceAdmin: true }) })
  const { page } = looking
  page.setDefaultTimeout(15_000)
  await page.clock.setFixedTime(instance.clock.now())
  await page.goto(`${stand.origin}/sites/1?period=7d`)
  await page.getByRole("alert").first().waitFor()
  const cardOf = (title: string) => page.locator(".card", { has: page.getByRole("heading", { name: title, exact: true }) })
  expect(await cardOf("Devices").getByRole("alert").locator("p").first().textContent()).toBe("A part of the stored data is damaged")
  for (const title of ["Sources", "Pages", "Locations", "Busy hours"]) {
    await cardOf(title).locator("tbody tr").first().waitFor()
    expect({ title, alerts: await cardOf(title).getByRole("alert").count() }).toEqual({ title, alerts: 0 })
  }
})

test.skipIf(noBrowser)("maintenance blocks other users' changes with an explanation, and keeps their input", async () => {
  await using stand = await openDashboard()
  const { api } = stand.instance
  const admin = await stand.signIn({ isInstanceAdmin: true })
  const mode = { enabled: true, message: "New disks are put in.", until: "2026-11-21T13:00:00Z" }
  expect(await api.post("/api/private/admin/maintenance", mode, undefined, { cookie: admin })).toMatchObject({ status: 200 })
  await using looking = await stand.look({ cookie: await stand.signIn({ role: "owner" }) })
  const { page } = looking
  page.setDefaultTimeout(8_000)
  await looking.open("/sites/1/goals")
  expect(await page.locator(".state-bar").count()).toBe(0)
  await page.getByRole("button", { name: "Add goal" }).first().click()
  const dialog = page.getByRole("dialog", { name: "Add goal" })
  await dialog.getByLabel("Event name", { exact: true }).fill("signup")
  await dialog.getByRole("button", { name: "Add goal" }).click()
  await dialog.getByRole("alert").waitFor()
  expect(await dialog.getByRole("alert").locator("p").allTextContents()).toEqual([
    "The instance is in maintenance. New disks are put in.",
    KEPT,
  ])
  await api.post("/api/private/admin/maintenance", { enabled: false }, undefined, { cookie: admin })
  await dialog.getByRole("button", { name: "Add goal" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "signup", exact: true }).waitFor()
})

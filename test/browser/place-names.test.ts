import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { placeFileBytes } from "../ingest/place-file.ts"
import { temporaryFolder } from "../kit.ts"
import { noBrowser, openBrowser } from "./browser.ts"
import { openDashboard } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)
let browser: Browser
beforeAll(async () => {
  if (!noBrowser) browser = await openBrowser()
}, 30_000)
afterAll(async () => {
  await browser?.close()
})

test.skipIf(noBrowser)("a city that is stored by its number has its name in the card, in the filter, and after a reload", async () => {
  using folder = temporaryFolder()
  const geo_db = join(folder.path, "places.mmdb")
  const oakland = { country: { iso_code: "US" }, city: { geoname_id: 5_378_538, names: { en: "Oakland" } } }
  writeFileSync(geo_db, placeFileBytes({ "192.0.2.1": oakland }))
  await using stand = await openDashboard(browser, { settings: { geo_db, private_rate: "100000" } })
  const { instance } = stand
  for (const address of ["192.0.2.1", "192.0.2.9"]) await instance.collect({ n: "pageview", u: "https://shop.example/" }, { address })
  await using looking = await stand.look({ cookie: await stand.signIn({ role: "viewer" }) })
  const { page, open } = looking
  page.setDefaultTimeout(20_000)
  await open("/sites/1?period=today&cards=locations:city")
  await page.getByRole("link", { name: "Oakland", exact: true }).click()
  await page.waitForURL("**f=city:is:5378538**")
  const pill = page.getByRole("button", { name: "City is Oakland", exact: true })
  await pill.waitFor()
  await page.reload()
  await pill.click()
  const dialog = page.getByRole("dialog", { name: "Change filter" })
  await dialog.getByRole("button", { name: "Remove Oakland" }).click()
  await dialog.getByRole("combobox", { name: "Values" }).fill("oakl")
  await dialog.getByRole("option", { name: /^Oakland/ }).click()
  await dialog.getByRole("button", { name: "Remove Oakland" }).waitFor()
  expect(await dialog.getByText("5378538").count()).toBe(0)
  expect(looking.faults).toEqual([])
})

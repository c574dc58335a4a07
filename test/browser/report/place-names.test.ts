import { expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { placeFileBytes } from "../../ingest/place-file.ts"
import { temporaryFolder } from "../../kit.ts"
import { noBrowser } from "../browser.ts"
import { openDashboard, settled, type WatchedPage } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

const us = { iso_code: "US" }
const OAKLAND = { country: us, city: { geoname_id: 5_378_538, names: { en: "Oakland" } } }

/** Opens a site with one visitor from each of the addresses as a viewer. */
async function placesStand(entries: Record<string, Record<string, unknown>>, from: readonly string[] = Object.keys(entries)) {
  const folder = temporaryFolder()
  const geo_db = join(folder.path, "places.mmdb")
  writeFileSync(geo_db, placeFileBytes(entries))
  const stand = await openDashboard({ settings: { geo_db } })
  for (const address of from) await stand.instance.collect({ n: "pageview", u: "https://shop.example/" }, { address })
  const cookie = await stand.signIn({ role: "viewer" })
  const look = async (width?: number): Promise<WatchedPage> => {
    const looking = await stand.look({ cookie, ...(width !== undefined && { width }) })
    looking.page.setDefaultTimeout(20_000)
    return looking
  }
  const dispose = async () => {
    await stand[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  }
  return { look, [Symbol.asyncDispose]: dispose }
}

test.skipIf(noBrowser)("shows the name of a city stored by number in the card, in the filter and after a reload", async () => {
  await using stand = await placesStand({ "192.0.2.1": OAKLAND }, ["192.0.2.1", "192.0.2.9"])
  await using looking = await stand.look()
  const { page, open } = looking
  await open("/sites/1?period=today&cards=locations:city")
  await page.getByRole("link", { name: "Oakland", exact: true }).click()
  await page.waitForURL("**f=city:is:5378538**")
  const pill = page.getByRole("button", { name: "City is Oakland", exact: true })
  await pill.waitFor()
  await page.reload()
  await pill.click()
  const dialog = page.getByRole("dialog", { name: "Edit filter" })
  await dialog.getByRole("button", { name: "Remove Oakland" }).click()
  await dialog.getByRole("combobox", { name: "Value" }).fill("oakl")
  await dialog.getByRole("option", { name: /^Oakland/ }).click()
  await dialog.getByRole("button", { name: "Remove Oakland" }).waitFor()
  expect(await dialog.getByText("5378538").count()).toBe(0)
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser).each([1280, 375])("segments show cities by name at %i px", async (width) => {
  await using stand = await placesStand({ "192.0.2.1": OAKLAND })
  await using looking = await stand.look(width)
  const { page, open } = looking
  await open("/sites/1?period=today&f=city:is:5378538")
  await page.getByRole("button", { name: "Save as segment" }).click()
  const dialog = page.getByRole("dialog", { name: "Save as segment" })
  await dialog.getByText("City is Oakland", { exact: true }).waitFor()
  await dialog.getByRole("textbox", { name: "Name" }).fill("Bay")
  await dialog.getByRole("button", { name: "Save" }).click()
  await page.waitForURL("**segment=1")
  await page.getByRole("button", { name: "Segment is Bay" }).and(page.getByTitle("Edit filters: City is Oakland")).waitFor()
  await open("/sites/1?period=today")
  await page.keyboard.press("/")
  const saved = page.getByRole("dialog", { name: "Filter" }).getByRole("button", { name: "Bay", exact: true })
  await saved.and(page.getByTitle("City is Oakland")).waitFor()
  await open("/sites/1/realtime?f=city:is:5378538")
  await page.getByText("City is Oakland", { exact: true }).waitFor()
  expect(looking.faults).toEqual([])
})

/** 52 cities: one more with the same word than a filter accepts, and one with another word. */
const many = Object.fromEntries(
  Array.from({ length: 51 }, (_, i) => [`192.0.2.${i + 2}`, { country: us, city: { geoname_id: 9_000 + i, names: { en: `San ${i}` } } }]),
)

test.skipIf(noBrowser).each([1280, 375])("details find cities by name and by number at %i px", async (width) => {
  await using stand = await placesStand({ "192.0.2.1": OAKLAND, ...many })
  await using looking = await stand.look(width)
  const { page, open } = looking
  await open("/sites/1/details/city?period=today")
  const dialog = page.getByRole("dialog", { name: "City" })
  const foot = dialog.getByRole("status")
  const csv = async () => decodeURIComponent((await dialog.getByRole("link", { name: "CSV" }).getAttribute("href"))!)
  await dialog.getByText("1 to 52 of 52", { exact: true }).waitFor()
  for (const text of ["oakl", "537853"]) {
    await dialog.getByRole("searchbox").fill(text)
    await foot.getByText("1 to 1 of 1", { exact: true }).waitFor()
    await dialog.getByRole("link", { name: "Oakland", exact: true }).waitFor()
  }
  await dialog.getByRole("searchbox").fill("oakl")
  await settled(page)
  expect(await csv()).toContain('[{"dimension":"city","operator":"is","values":["5378538"]}]')
  await dialog.getByRole("searchbox").fill("san")
  await foot.getByText("1 to 50 of 50, those with the most visitors. Type more to find others.").waitFor()
  await dialog.getByRole("searchbox").fill("nowhere")
  await foot.getByText("No matches").waitFor()
  expect(looking.faults).toEqual([])
})

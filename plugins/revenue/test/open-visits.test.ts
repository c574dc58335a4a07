import { expect, test } from "bun:test"
import { type Shop, startShop } from "./kit.ts"

/** A transaction follows its visit until that is closed. */
const EUR = (amount: string) => ({ amount, currency: "EUR" })
const MINUTE = 60_000

/** Lets time pass, in which the visits that are still open are followed. */
async function wait({ instance }: Shop, minutes: number): Promise<void> {
  instance.clock.advance(minutes * MINUTE)
  await instance.app.instance.lease?.renew()
  await instance.runJobs()
}

const detail = async (shop: Shop) => {
  const { body } = await shop.get("/revenue/transactions/1")
  type Dimensions = Record<string, string>
  const { dimensions, touches, person } = body as { dimensions: Dimensions; touches: { dimensions: Dimensions }[]; person: string | null }
  return { entryPage: dimensions.entry_page ?? null, sources: touches.map((touch) => touch.dimensions.source ?? null), person }
}

test("a transaction gets the entry page of a visit that is still open, and keeps that of a closed one", async () => {
  await using shop = await startShop()
  await shop.browse({ name: "purchase", path: "/thanks", order: "1", revenue: EUR("5") })
  await shop.sell([])
  expect(await detail(shop)).toMatchObject({ entryPage: null })
  await shop.browse({ path: "/late" })
  await wait(shop, 5)
  expect(await detail(shop)).toMatchObject({ entryPage: "/late" })
  await wait(shop, 31)
  await shop.browse({ path: "/another" })
  await wait(shop, 5)
  expect(await detail(shop)).toMatchObject({ entryPage: "/late" })
})

test("a transaction follows its visit to an earlier start, whose source it is credited to", async () => {
  await using shop = await startShop({ identified: true })
  const at = (minute: number) => new Date(Date.parse("2026-11-26T11:50:00Z") + minute * MINUTE).toISOString()
  await shop.sell([{ at: at(5), user: "anna", order: "1", revenue: EUR("5") }])
  expect(await detail(shop)).toMatchObject({ sources: [null] })
  await shop.sell([{ at: at(0), user: "anna", url: "https://shop.example/tea", referrer: "https://www.google.com/" }])
  await wait(shop, 5)
  expect(await detail(shop)).toMatchObject({ entryPage: "/tea", sources: ["Google"] })
})

test("a transaction whose visit stays as it is has the touches before it once the visit is closed", async () => {
  await using shop = await startShop({ identified: true })
  await shop.sell([{ at: "2026-11-26T11:55:00Z", user: "anna", order: "1", revenue: EUR("5") }])
  const before = await detail(shop)
  await wait(shop, 5)
  expect(await detail(shop)).toEqual(before)
  // A visit of the day before that is reported late.
  await shop.sell([{ at: "2026-11-25T10:00:00Z", user: "anna", referrer: "https://www.google.com/" }])
  await wait(shop, 40)
  expect(await detail(shop)).toMatchObject({ sources: ["Google", null], person: before.person })
})

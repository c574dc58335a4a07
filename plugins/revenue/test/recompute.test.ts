import { expect, test } from "bun:test"
import { raw } from "#plugin"
import { type Shop, startShop } from "./kit.ts"

const at = (time: string) => `2026-11-26T${time}:00Z`
const settingsOf = async (shop: Shop) => (await shop.get("/revenue/settings")).body as { recomputing: boolean; recompute_failed: boolean }
const notesOf = async (shop: Shop) => ((await shop.get("/revenue/report?period=7d")).body as { meta: { notes: string[] } }).meta.notes
const reratedBy = (shop: Shop, rate: string) =>
  shop.send("PUT", "/revenue/rates", { rates: [{ day: "2026-11-26", base: "EUR", quote: "USD", rate }] })

async function shopWithSale(): Promise<Shop> {
  const shop = await startShop()
  await shop.sell([
    { at: at("10:00"), referrer: "https://www.google.com/" },
    { at: at("10:05"), order: "1", revenue: { amount: "12.50", currency: "USD" } },
  ])
  return shop
}

/** Lets a job be tried as often as it may. Half a minute passes before the second attempt, and twice as much before each further one. */
async function runAllAttempts({ instance }: Shop): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt++) {
    await instance.runJobs()
    instance.clock.advance(600_000)
  }
}

test("a recomputation that fails for good says so until it is repeated", async () => {
  await using shop = await shopWithSale()
  const rename = (from: string, to: string) => shop.instance.rows(({ run }) => run(raw(`alter table ${from} rename to ${to}`)))
  await rename("revenue_transactions", "revenue_transactions_away")
  expect(await shop.send("POST", "/revenue/recompute", {})).toMatchObject({ status: 202 })
  await shop.instance.runJobs()
  expect(await settingsOf(shop)).toMatchObject({ recomputing: true, recompute_failed: false })
  await runAllAttempts(shop)
  expect(await settingsOf(shop)).toMatchObject({ recomputing: false, recompute_failed: true })
  await rename("revenue_transactions_away", "revenue_transactions")
  expect(await notesOf(shop)).toContainEqual(expect.stringContaining("The last recomputation failed."))
  expect(await shop.send("POST", "/revenue/recompute", {})).toMatchObject({ status: 202 })
  expect(await settingsOf(shop)).toMatchObject({ recomputing: true, recompute_failed: false })
  await shop.instance.runJobs()
  expect(await settingsOf(shop)).toMatchObject({ recomputing: false, recompute_failed: false })
  expect(await notesOf(shop)).not.toContainEqual(expect.stringContaining("recomputation"))
})

test("a new rate repeats what a cancelled recomputation has left", async () => {
  await using shop = await shopWithSale()
  const { jobs } = shop.instance.app.instance
  const settings = (await shop.get("/revenue/settings")).body as Record<string, unknown>
  await shop.send("PUT", "/revenue/settings", { ...settings, ignored_referrers: ["google.com"] })
  const [job] = await jobs.list({ kind: "revenue.recompute-transactions" }, { before: Number.MAX_SAFE_INTEGER, limit: 1 })
  await jobs.cancel(job!.id)
  expect(await settingsOf(shop)).toMatchObject({ recomputing: false, recompute_failed: true })
  await reratedBy(shop, "1.25")
  await shop.instance.runJobs()
  expect(await settingsOf(shop)).toMatchObject({ recomputing: false, recompute_failed: false })
  const [sale] = await shop.transactions()
  expect(sale).toMatchObject({ base: { amount: { amount: "10.00", currency: "EUR" } } })
  const { breakdown } = (await shop.get("/revenue/report?period=7d&group_by=source")).body as { breakdown: { key: string }[] }
  expect(breakdown).toMatchObject([{ key: "Direct" }])
})

import { expect, test } from "bun:test"
import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import { restoreBackup } from "../../../src/services/backup/restore.ts"
import { temporaryFolder } from "../../kit.ts"
import { backupWorkerUrl, NOW, openWithSite, quiet } from "../stores-kit.ts"

const traits = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits
const at = Date.parse(NOW)
const day = NOW.slice(0, 10)

/** Stores a visit with a sale. */
function sell({ events }: Awaited<ReturnType<typeof openWithSite>>, number: number, amount: number): void {
  const money = { amount, currency: "EUR" }
  const event: NewEvent = {
    ...{ at: at + number, name: "purchase", page: "/thanks", hostname: "shop.example", title: "", interactive: true, revenue: money },
    props: [["order_id", `O-${number}`]],
    sale: { ...money, orderId: `O-${number}`, trust: "server", isRepeated: false },
  }
  events.write(event.at, (writer) => {
    const visitor = writer.visitor(1, day, { high: number, low: 1 })
    writer.add(1, writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits }, day), event, day)
  })
}

const salesOf = ({ events }: Awaited<ReturnType<typeof openWithSite>>) =>
  events.salesAfter(1, 0, 10).map(({ sequence, order_id, amount_minor, trust }) => [sequence, order_id, amount_minor, trust])

test("a restored backup has the sale events it was created with, and new ones follow them", async () => {
  using folder = temporaryFolder()
  let id = ""
  let before: unknown[] = []
  {
    await using instance = await openWithSite(folder.path)
    sell(instance, 1, 1_000)
    sell(instance, 2, 9_007_199_254)
    before = salesOf(instance)
    expect(before.map((row) => (row as unknown[]).slice(1))).toEqual([
      ["O-1", 1_000, "server"],
      ["O-2", 9_007_199_254, "server"],
    ])
    id = (await instance.backups.create("manual")).id
    sell(instance, 3, 5)
    expect(salesOf(instance)).toHaveLength(3)
  }
  const options = { dataDir: folder.path, version: "1.0.0", workerUrl: backupWorkerUrl, log: quiet, remoteCatalog: false, plugins: [] }
  await restoreBackup({ ...options, now: () => at + 60_000 }, id, () => {})
  await using restored = await openWithSite(folder.path)
  expect(salesOf(restored)).toEqual(before as never)
  sell(restored, 4, 7)
  const after = salesOf(restored)
  expect(after.map(([, order]) => order)).toEqual(["O-1", "O-2", "O-4"])
  expect(Number(after[2]![0])).toBeGreaterThan(Number(after[1]![0]))
})

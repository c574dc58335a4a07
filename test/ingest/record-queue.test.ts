import { expect, test } from "bun:test"
import { createRecordQueue } from "../../src/ingest/collect/record-queue.ts"
import type { ArrivedRecord } from "../../src/ingest/collect/records.ts"

/** Creates a queue over a store that holds all groups until `release` is called. */
function startQueue() {
  const stored: ArrivedRecord[] = []
  const lost: ArrivedRecord[] = []
  const disk = Promise.withResolvers<void>()
  const queue = createRecordQueue({
    async store(records) {
      await disk.promise
      stored.push(...records)
    },
    commit() {},
    onLost: (record) => lost.push(record),
    now: () => performance.now(),
  })
  // The queue does not look into records.
  const add = (count: number) => Array.from({ length: count }, (_, place) => queue.add({ at: place } as ArrivedRecord))
  return { queue, add, stored, lost, release: disk.resolve }
}

test("a thousand records are answered before they are on disk, and the next ones wait for room", async () => {
  const { queue, add, stored, lost, release } = startQueue()
  expect(add(1_000).filter((wait) => wait !== undefined)).toEqual([])
  const waits = add(5)
  let answered = 0
  for (const wait of waits) void wait!.then(() => answered++)
  await Bun.sleep(20)
  expect(answered).toBe(0)
  release()
  await Promise.all(waits)
  await queue.settled()
  expect(stored).toHaveLength(1_005)
  expect(lost).toEqual([])
})

test("a record that finds no room within 100 ms is lost and counted, and its request is answered", async () => {
  const { queue, add, stored, lost, release } = startQueue()
  add(1_000)
  await Promise.all(add(3))
  expect(lost).toHaveLength(3)
  release()
  await queue.settled()
  expect(stored).toHaveLength(1_000)
  add(1)
  await queue.settled()
  expect(stored).toHaveLength(1_001)
})
